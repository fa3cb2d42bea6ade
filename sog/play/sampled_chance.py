"""Re-solving after a chance event that no search lists, such as a flop: what is known at the state that came of it.

The search before ended at the chance event or above it, so nobody has solved for the opponent's counterfactual values
at the state that was drawn. They are estimated: one call of the network on that state, moved so that its mean over
drawn siblings is what the search before stored at the chance event. Bounds on exploitability do not cover the step.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from sog.arrays import Array, Float64
from sog.games.base import NATURE, Carry
from sog.search.gtcfr import trajectories as simulate
from sog.search.leaves.evaluator import Beliefs, Evaluations
from sog.search.tree import columns as f
from sog.search.tree.lookahead import Lookahead
from sog.search.tree.public_tree import PublicTree
from sog.search.tree.slots import node_mass, ranges_by_slot, slots_of

__all__ = ["SIBLINGS", "Estimate", "Ranges", "carried", "first_after"]

SIBLINGS = 15  # further children drawn at the chance event, to compare the network with what was stored there

Ranges = tuple[Float64, Float64]


def first_after(public: PublicTree, path: list[int]) -> int:
    """Where on a path of public nodes the state after its last unlisted chance event stands; 0 where there is none."""
    for k in range(len(path) - 1, 0, -1):
        if public.nodes[path[k - 1], f.ACTOR] == NATURE and not public.list_fan(path[k - 1]):
            return k
    return 0


def carried(public: PublicTree, chance: int, child: int, ranges: Ranges) -> Ranges:
    """Both players' ranges at a child of an unlisted chance event, from those at the event."""
    carry = public.game.chance_carry(public.states[chance], public.states[child])
    out = [_moved(carry[p], ranges[p], int(public.nodes[child, f.I0 + p])) for p in (0, 1)]
    return out[0], out[1]


def _moved(carry: Carry, before: Float64, width: int) -> Float64:
    if carry is None:
        return before.copy()
    after = np.zeros(width)
    np.add.at(after, carry.target, before[carry.source])
    return after


@dataclass(frozen=True, eq=False)
class Estimate:
    """What to ask about the opponent's values at public node `child`, drawn at the unlisted event `chance`.

    ranges: at the event.  stored: float64[I], the opponent's values there, conditional on the infostate; None where
    the search before did not reach the event, and then the network's answer is left as it is.
    """

    public: PublicTree
    chance: int
    child: int
    opponent: int
    ranges: Ranges
    stored: Float64 | None

    def values(self, rng: Array) -> Generator[Beliefs, Evaluations, Float64]:
        """Ask the evaluator; returns float64[I], the opponent's counterfactual values at the child.

        rng: uint64[1], draws the siblings.
        """
        children = [self.child]
        if self.stored is not None:
            children += self._siblings(rng)
        ranges = [carried(self.public, self.chance, c, self.ranges) for c in children]
        by_slot = [ranges_by_slot(self.public, c, r) for c, r in zip(children, ranges, strict=True)]
        answer = yield Beliefs(self.public, np.array(children, dtype=np.int32), np.array(by_slot))
        conditional = [self._of_opponent(c, answer.values[b]) for b, c in enumerate(children)]
        masses = [node_mass(self.public, c, *r)[self.opponent] for c, r in zip(children, ranges, strict=True)]
        values = conditional[0]
        if self.stored is not None:
            values = values + self._shift(children, conditional, masses, self.stored)
        out: Float64 = np.where(masses[0] > 0, masses[0] * values, 0.0)
        return out

    def _siblings(self, rng: Array) -> list[int]:
        """More children, drawn as chance draws them for hands in the players' ranges."""
        public, out = self.public, []
        tree, pair = Lookahead(public, self.chance, self.ranges, room=1), np.zeros(2, dtype=np.int64)
        generator = np.random.default_rng(int(rng[0]))
        for _ in range(SIBLINGS):
            if not simulate.sample_pair(
                public.nodes, public.scales, public.operators, public.operator_values, tree.nodes,
                tree.slots[f.REACH], 0, rng, pair,
            ):  # fmt: skip
                return []
            state, _, _ = public.game.sample_chance(public.states[self.chance], int(pair[0]), int(pair[1]), generator)
            out.append(public.add(state, self.chance))
        return out

    def _of_opponent(self, node: int, values: Float64) -> Float64:
        """float64[I] by infostate from values by slot."""
        first = self.public.game.num_slots[0] if self.opponent else 0
        picked: Float64 = values[first + slots_of(self.public, node, self.opponent)]
        return picked

    def _shift(
        self, children: list[int], conditional: list[Float64], masses: list[Float64], stored: Float64
    ) -> Float64:
        """float64[I] at the first child: the stored values less the network's mean over the children.

        A child is drawn in proportion to its whole mass, so an infostate weighs it by its own share of that.
        """
        total, weight = np.zeros_like(stored), np.zeros_like(stored)
        states, game = self.public.states, self.public.game
        carry = [game.chance_carry(states[self.chance], states[c])[self.opponent] for c in children]
        for links, values, mass in zip(carry, conditional, masses, strict=True):
            source, target = _links(links, len(stored))
            share = np.maximum(mass[target], 0.0) / max(mass.sum(), 1e-300)
            np.add.at(total, source, share * values[target])
            np.add.at(weight, source, share)
        shift = stored - np.divide(total, weight, out=stored.copy(), where=weight > 0)
        return _moved(carry[0], shift, len(conditional[0]))


def _links(carry: Carry, width: int) -> tuple[Array, Array]:
    """(source, target) of a carry, None written out."""
    same = np.arange(width)
    return (same, same) if carry is None else (carry.source, carry.target)
