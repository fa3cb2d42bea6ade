"""A line of play as an agent would play both seats of it: its policies, and what they say of who holds what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sog.arrays import Float64
from sog.games.base import NATURE, Game, State
from sog.games.edges import range_over
from sog.play.agent import Agent
from sog.play.sampled_chance import carried
from sog.searches.tree.public_tree import PublicTree

__all__ = ["SeenState", "seen_along", "shares"]

_Ranges = tuple[Float64, Float64]


@dataclass(frozen=True, eq=False)
class SeenState:
    """A public state on a line, as one sees it who knows the agent's policy.

    actor: who acts.  likely: the probability of the action that led here, given the state before; None at the root,
    after a chance event and where the agent never comes.  ranges: both players', float64[I0] and float64[I1], each
    summing to 1 where anything of it is left.  policy: float64[A, I] of whoever acts; None where nobody does.
    values: of both players by infostate, float64[I0] and float64[I1] in utilities, as the actor's search has them;
    None without a search.  mean: the actor's over both ranges; None without values, and where the agent never comes.
    """

    state: State
    actor: int
    likely: float | None
    ranges: _Ranges
    policy: Float64 | None
    values: _Ranges | None
    mean: float | None


def seen_along(
    game: Game,
    seats: Callable[[int], Agent],
    public: PublicTree,
    states: Sequence[State],
    report: Callable[[int], None] = lambda done: None,
) -> Iterator[SeenState]:
    """The states of a line, the root's first, each after the agent of its actor has decided there.

    seats: makes the agent of a player on `public`.  report: takes the states done.
    """
    agents, node, ranges, policy, held = [seats(0), seats(1)], 0, game.root_ranges(), None, 0.0
    for agent in agents:
        agent.new_game()
    for done, state in enumerate(states):
        acted, before = policy is not None, held
        if done:
            child = _child(public, node, state)
            ranges, node = _carried(public, node, child, ranges, policy), child
        masses = public.masses(node, *ranges)
        held = float(ranges[0] @ masses[0])
        likely = held / before if acted and before > 0 else None
        actor, values, mean = public.actor(node), None, None
        policy = None
        if actor < NATURE:
            policy, values = agents[actor].policy(node), agents[actor].values()
            if values is not None and held > 0:
                mean = float((ranges[actor] * masses[actor]) @ values[actor]) / held
        yield SeenState(state, actor, likely, (shares(ranges[0]), shares(ranges[1])), policy, values, mean)
        report(done + 1)


def _child(public: PublicTree, node: int, state: State) -> int:
    """The child of a node that is a state, added where the game's fan is too large to list."""
    if not public.list_fan(node):
        return public.add(state, node)
    return public.child(node, _edge(public, node, state))


def _edge(public: PublicTree, node: int, state: State) -> int:
    return list(public.game.fan(public.states[node]).children).index(state)


def _carried(public: PublicTree, node: int, child: int, ranges: _Ranges, policy: Float64 | None) -> _Ranges:
    """Both players' ranges at a node's child.  policy: of whoever acts at the node; None at a chance event."""
    if not public.list_fan(node):
        return carried(public, node, child, ranges)
    fan, edge = public.game.fan(public.states[node]), _edge(public, node, public.states[child])
    actor, widths = public.actor(node), public.num_infostates(child)
    zero, one = (range_over(fan, edge, p, ranges[p], widths[p], policy if p == actor else None) for p in (0, 1))
    return zero, one


def shares(weights: Float64) -> Float64:
    """The weights divided by their sum, where there is any."""
    total = float(weights.sum())
    return weights / total if total > 0 else weights.copy()
