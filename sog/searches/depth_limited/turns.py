"""Numba kernels of depth-limited solving: what lies between two evaluations of the leaves of many subgames.

They work on arrays alone. A turn is of one player or of both.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sog.arrays import Float64, Int32
from sog.searches.cfr import fictitious, sweeps
from sog.searches.depth_limited.batching import Blocks
from sog.searches.kernels.dispatch import same_types
from sog.searches.kernels.jit import inlined, njit
from sog.searches.leaves import kernels, weighing
from sog.searches.leaves.kernels import Leaves, Look, Request
from sog.searches.tree import pairs
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.players import Players, only, opponents, within
from sog.searches.tree.records import Entry, Infostate

# Subgames go through a sweep this many at a time: few enough for the cache, and enough that the next sweep does not
# read at once what the last one has just written.
AT_ONCE: Final = 16


class Schedule(NamedTuple):
    """How a rule of the CFR family goes through its turns.

    steps: float64[T, 4] of rules.Rule.steps.  together: both players update in each turn.
    origin: the first turn that is played, after a warm start.  average: beliefs are those of the average policies.
    """

    steps: Float64
    together: bool
    origin: int
    average: bool


class Stretch(NamedTuple):
    """The turns between two requests.

    first: the turn that the last request's answers are for.  last: the turn before which the next one is made, or the
    number of turns.  look: what is collected; nothing where it has no users.
    """

    first: int
    last: int
    look: Look


class Answered(NamedTuple):
    """A request with its answers.

    request: as it was made.  num_beliefs: how many it has.  values: float64[B, *], as leaves.kernels.absorb takes
    them.  players: the Players whose values are kept, as a plain number.
    """

    request: Request
    num_beliefs: int
    values: Float64
    players: int


class Games(NamedTuple):
    """The subgames of a solve.  blocks: where each of them lies.  leaves: of all of them, in order."""

    blocks: Blocks
    leaves: Leaves


class Turns(NamedTuple):
    """Some turns of a solve.  answered: the last request.  The next one is written where stretch.look says."""

    schedule: Schedule
    stretch: Stretch
    answered: Answered


@inlined
def players_of(j: int, together: bool) -> Players:
    """The players who update in turn j."""
    return Players.BOTH if together else only(j & 1)


@inlined
def iteration_of(j: int, together: bool) -> int:
    """The iteration, from 0, that turn j belongs to."""
    return j if together else j >> 1


@inlined
def _sum_roots(tree: Tree, blocks: Blocks, first: int, last: int, players: Players, weight: float) -> None:
    """CFV_SUM[i] += weight * CFV[i] of the players at the roots of subgames first .. last - 1."""
    for k in range(first, last):
        root = tree.nodes[blocks[k].node]
        for p in range(2):
            if within(p, players):
                own = root.offset[p]
                for i in range(root.width[p]):
                    tree.infostates[Infostate.CFV_SUM, own + i] += weight * tree.infostates[Infostate.CFV, own + i]


@inlined
def _keep(public: Public, tree: Tree, leaves: Leaves, answered: Answered, used: int, last: int) -> int:
    """Keep the answers from number `used` on that belong to leaves before `last`; the number of the next."""
    request = answered.request
    while used < answered.num_beliefs and request.places[used] < last:
        kernels.absorb(public, tree, leaves, request, used, answered.values, answered.players)
        used += 1
    return used


@same_types
@njit
def advance(public: Public, tree: Tree, games: Games, turns: Turns) -> int:
    """End the stretch's first turn with the answers, play the turns between, begin the last; the request's size.

    A turn is one update of rules.Rule at the players' decisions: ranges down, payoffs, leaves' values, values up. It
    is cut in two where the leaves are evaluated, and a call holds the second half of one and the first of the next.
    Turns before the schedule's origin are not played. Where `last` is the number of turns, no turn is begun.
    """
    schedule, stretch, blocks, leaves = turns.schedule, turns.stretch, games.blocks, games.leaves
    steps, together = schedule.steps, schedule.together
    used, count = 0, 0
    # All turns of a few subgames, then of the next few: no subgame reads another's numbers.
    for k in range(0, len(blocks) - 1, AT_ONCE):
        after = min(k + AT_ONCE, len(blocks) - 1)
        first, end = blocks[k], blocks[after]
        # Answers lie in the order of leaves, and blocks do too: `used` is where this block's begin.
        used = _keep(public, tree, leaves, turns.answered, used, end.leaf)
        for j in range(stretch.first, stretch.last):
            # The second half of turn j: the leaves' values, then all values up.
            moved = Players.BOTH
            if j >= schedule.origin:
                moved, step = players_of(j, together), steps[iteration_of(j, together)]
                weighing.weigh(public, tree, leaves, first.leaf, end.leaf, moved, step[2])
                sweeps.backward(public, tree, first.node, end.node, moved, moved, step, False)
                _sum_roots(tree, blocks, k, after, moved, step[2])
            t = iteration_of(j + 1, together)
            if t == len(steps):
                break
            # The first half of the next: ranges down, payoffs at the ends.
            players = players_of(j + 1, together)
            sweeps.forward(public, tree, first.node, end.node, Entry.POLICY, moved)
            pairs.payoffs(public, tree, first.end, end.end, players)
            # The average beliefs at leaves. The players' values depend on their opponents' ranges only.
            if schedule.average:
                kernels.sum_reaches(tree, leaves, first.leaf, end.leaf, opponents(players), steps[t, 2])
        if stretch.look.users:
            count = kernels.collect(public, tree, leaves, first.leaf, end.leaf, count, stretch.look)
    return count


# --- fictitious play, and the value of a policy ---


class Mix(NamedTuple):
    """The reaches that a turn of fictitious play answers (fictitious.mix_reaches).

    bottom: int32[*], the ends and the leaves.  total: the sum of the weights so far.  recent: the last policy's share.
    look: what is collected.
    """

    bottom: Int32
    total: float
    recent: float
    look: Look


@same_types
@njit
def look_at_average(public: Public, tree: Tree, leaves: Leaves, players: Players, mix: Mix, collect: bool) -> int:
    """Before a turn of fictitious play: the opponents' average reaches, payoffs, and beliefs where `collect` is set."""
    # r = (1 - recent) * REACH_SUM / total + recent * r: what a best response answers.
    for p in range(2):
        if within(p, opponents(players)):
            fictitious.mix_reaches(tree, mix.bottom, p, mix.total, mix.recent)
    pairs.payoffs(public, tree, 0, tree.counts[0].ends, players)
    if not collect:
        return 0
    return kernels.collect(public, tree, leaves, 0, len(leaves.nodes), 0, mix.look)  # type: ignore[no-any-return]


@same_types
@njit
def respond(public: Public, tree: Tree, leaves: Leaves, players: Players, answered: Answered) -> None:
    """After a turn's leaves are evaluated: the players' best responses in the POLICY row and their reaches."""
    _values_at_leaves(public, tree, leaves, players, answered)
    # Best responses below give the value of each action; then the actions, then where they lead.
    sweeps.evaluate(public, tree, Entry.POLICY, players)
    fictitious.respond(tree, players)
    sweeps.forward(public, tree, 0, tree.counts[0].nodes, Entry.POLICY, players)


@njit
def value_average(public: Public, tree: Tree, leaves: Leaves, answered: Answered) -> None:
    """Both players' values of the average policies, whose ranges, payoffs and leaf answers are there."""
    _values_at_leaves(public, tree, leaves, Players.BOTH, answered)
    sweeps.evaluate(public, tree, Entry.AVERAGE_POLICY, Players.NOBODY)


@njit
def _values_at_leaves(public: Public, tree: Tree, leaves: Leaves, players: Players, answered: Answered) -> None:
    """Keep the answers; the players' counterfactual values at all leaves."""
    _keep(public, tree, leaves, answered, 0, len(leaves.nodes))
    # Weight 1: PLAIN values, as fictitious play has them, are not differences of sums.
    weighing.weigh(public, tree, leaves, 0, len(leaves.nodes), players, 1.0)
