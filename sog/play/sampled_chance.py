"""Re-solving after a chance event that no search opens, such as a flop: what is known at its outcome.

The search before ended at the chance event or above it, so the opponent's counterfactual values at the outcome
were not solved for. They are estimated: one call of the network on that state, moved so that its mean over
drawn siblings is what the search before stored at the chance event. Bounds on exploitability do not cover the step.
"""

from __future__ import annotations

from copy import copy
from itertools import pairwise

import numpy as np

from sog.arrays import Array, Float64
from sog.games.base import NATURE, Carry, Game, carried_down
from sog.games.edges import range_over
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.leaves.evaluator import Beliefs, SearchGenerator, Wanted, refuse_infinite
from sog.searches.tree.links import read_carry
from sog.searches.tree.public_tree import PublicTree

__all__ = ["SIBLINGS", "Estimate", "Ranges", "baselines", "carried", "carried_along", "first_after", "plain_beliefs"]

SIBLINGS = 15  # further children drawn at the chance event, to compare the network with what was stored there

Ranges = tuple[Float64, Float64]


def first_after(public: PublicTree, path: list[int], closed: bool) -> int:
    """The place on a path of public nodes of the state after its last unopened chance event; 0 without such an event.

    closed: searches open no chance events. One of a few outcomes is opened all the same: siblings cost it no more.
    """
    for k in range(len(path) - 1, 0, -1):
        event = path[k - 1]
        if public.actor(event) != NATURE:
            continue
        if not public.list_fan(event) or (closed and public.num_edges(event) > SIBLINGS + 1):
            return k
    return 0


def carried(public: PublicTree, chance: int, child: int, ranges: Ranges) -> Ranges:
    """Both players' ranges at a child of a chance event, from those at the event."""
    carry = _carry(public, chance, child)
    zero, one = (carried_down(carry[p], ranges[p], width) for p, width in enumerate(public.num_infostates(child)))
    return zero, one


def carried_along(public: PublicTree, path: list[int], ranges: Ranges) -> Ranges:
    """Both players' ranges at the last public node of a path, from those at its first.

    Where a player's infostates differ in what they may do, each takes all of its moves that lead along the path.
    """
    for above, below in pairwise(path):
        if (actor := public.actor(above)) == NATURE:
            ranges = carried(public, above, below, ranges)
            continue
        fan, edge = public.game.fan(public.states[above]), public.line(below)[-1]
        zero, one = (
            range_over(fan, edge, p, ranges[p], width, np.ones_like(public.legal(above)) if p == actor else None)
            for p, width in enumerate(public.num_infostates(below))
        )
        ranges = zero, one
    return ranges


def _carry(public: PublicTree, chance: int, child: int) -> tuple[Carry, Carry]:
    """What the infostates of players 0 and 1 at a chance event become at its outcome, both public nodes."""
    if public.list_fan(chance):
        first = int(public.nodes.edge0.item(chance))
        edges = np.flatnonzero(public.edges.child[first : first + public.num_edges(chance)] == child)
        if len(edges):  # an outcome of hold'em may have been added beside those that are listed
            row = first + int(edges[0])
            return read_carry(public.links, public.edges, row, 0), read_carry(public.links, public.edges, row, 1)
    return public.game.chance_carry(public.states[chance], public.states[child])


def plain_beliefs(public: PublicTree, nodes: list[int], by_slot: Float64) -> Beliefs:
    """A request for a network's values alone, float64[B, S0 + S1], without the game's baseline.

    nodes: [B], of `public`.  by_slot: float64[B, S0 + S1], ranges.
    """
    game = _without_baseline(public.game)
    if game is public.game:
        return Beliefs(public, np.array(nodes, dtype=np.int32), by_slot, Wanted.VALUES)
    plain = PublicTree(game)
    asked = [plain.add(public.states[node], 0) for node in nodes]
    return Beliefs(plain, np.array(asked, dtype=np.int32), by_slot, Wanted.VALUES)


def baselines(public: PublicTree, nodes: list[int], by_slot: Float64) -> Float64:
    """float64[B, S0 + S1]: the game's baseline at these beliefs, in utilities; 0 where it has none."""
    beliefs = Beliefs(public, np.array(nodes, dtype=np.int32), by_slot, Wanted.VALUES)
    return beliefs.above_baseline(np.zeros_like(by_slot))


class Estimate:
    """The opponent's values at the outcome of an unopened chance event: drive `steps()`, then read `values`.

    v[i] = net(outcome)[i] + stored[i] - (mean of net(c)[i] over the outcome and its siblings c),
    leave[i] = mass[i] * v[i].  values: float64[I], these counterfactual values.
    Where the game has a baseline, the network's values are compared without it, and stored[i] without the event's,
    which is the mean of the outcomes'. So siblings' baselines need not be made and add no noise.
    """

    def __init__(
        self,
        public: PublicTree,
        event: int,
        outcome: int,
        opponent: int,
        ranges: Ranges,
        stored: Float64 | None,
        rng: Array,
    ) -> None:
        """event, outcome: public nodes.  ranges: at the event.

        stored: float64[I], the opponent's values at the event, conditional on the infostate; None where the search
        before did not reach it, and then the network's answer is left as it is.  rng: uint64[1], draws siblings.
        """
        self.public, self.opponent, self.ranges, self.stored, self.rng = public, opponent, ranges, stored, rng
        self.event, self.outcome = event, outcome
        self.values: Float64 = np.zeros(0)

    def steps(self) -> SearchGenerator:
        """The beliefs to evaluate, in one batch."""
        children = [self.outcome]
        if self.stored is not None:
            children += self._siblings()
        ranges = [carried(self.public, self.event, c, self.ranges) for c in children]
        by_slot = [self.public.ranges_by_slot(c, r) for c, r in zip(children, ranges, strict=True)]
        answer = yield plain_beliefs(self.public, children, np.array(by_slot))
        refuse_infinite("values", answer.values)
        # The network answers conditional on the infostate.
        conditional = [self._of_opponent(c, answer.values[b]) for b, c in enumerate(children)]
        masses = [self.public.masses(c, *r)[self.opponent] for c, r in zip(children, ranges, strict=True)]
        values = conditional[0] + self._baseline(self.outcome, by_slot[0])
        if self.stored is not None:
            drawn_by = [float(mass @ r[self.opponent]) for mass, r in zip(masses, ranges, strict=True)]
            at_event = self._baseline(self.event, self.public.ranges_by_slot(self.event, self.ranges))
            values = values + self._shift(children, conditional, masses, drawn_by, self.stored - at_event)
        self.values = np.where(masses[0] > 0, masses[0] * values, 0.0)

    def _siblings(self) -> list[int]:
        """More children, drawn as chance draws them for hands in the players' ranges."""
        public, out = self.public, []
        tree, generator = Lookahead(public, self.event, self.ranges, room=1), np.random.default_rng(int(self.rng[0]))
        event = public.states[self.event]
        outcomes = list(public.game.fan(event).children) if public.list_fan(self.event) else []
        for _ in range(SIBLINGS):
            # Hands in proportion to both ranges, and then an outcome that chance allows with them.
            pair = tree.draw_pair(0, self.rng)
            if pair is None:
                return []
            state, _, _ = public.game.sample_chance(event, *pair, generator)
            out.append(public.child(self.event, outcomes.index(state)) if outcomes else public.add(state, self.event))
        return out

    def _of_opponent(self, node: int, values: Float64) -> Float64:
        """float64[I] by infostate from values by slot."""
        picked: Float64 = values[self.public.places_of(node, self.opponent)]
        return picked

    def _baseline(self, node: int, by_slot: Float64) -> Float64:
        """float64[I]: the opponent's baseline at a node for ranges float64[S0 + S1], in utilities."""
        return self._of_opponent(node, baselines(self.public, [node], by_slot[None, :])[0])

    def _shift(
        self,
        children: list[int],
        conditional: list[Float64],
        masses: list[Float64],
        drawn_by: list[float],
        stored: Float64,
    ) -> Float64:
        """float64[I] at the first child: the stored values less the network's mean over the children.

        masses: float64[I] by child, the weight of each infostate of the opponent against the agent's range.
        drawn_by: by child, the weight of all pairs under both ranges, in proportion to which a child is drawn. An
        infostate's own mean weighs children by its mass: each sample counts mass / drawn_by.
        """
        total, weight = np.zeros_like(stored), np.zeros_like(stored)
        carry = [_carry(self.public, self.event, c)[self.opponent] for c in children]
        for links, values, mass, whole in zip(carry, conditional, masses, drawn_by, strict=True):
            # An infostate of the event may have no part in a child, such as a hand with a card that is dealt there.
            source, target = _links(links, len(stored))
            # Importance weights: drawn by the pairs' weight, wanted by the infostate's.
            share = np.maximum(mass[target], 0.0) / max(whole, 1e-300)
            np.add.at(total, source, share * values[target])
            np.add.at(weight, source, share)
        # Where no child is known of an infostate the mean is what was stored: no shift.
        shift = stored - np.divide(total, weight, out=stored.copy(), where=weight > 0)
        return carried_down(carry[0], shift, len(conditional[0]))


def _links(carry: Carry, width: int) -> tuple[Array, Array]:
    """(source, target) of a carry, None written out."""
    same = np.arange(width)
    return (same, same) if carry is None else (carry.source, carry.target)


def _without_baseline(game: Game) -> Game:
    """The game without its baseline: a network's values are read as they are. The game itself if it has none."""
    if not game.has_baseline:
        return game
    plain = copy(game)
    plain.has_baseline = False
    return plain
