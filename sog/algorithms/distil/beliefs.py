"""Beliefs to distil a critic at: public states that a policy reaches, with ranges of policies around it.

A search evaluates ranges that its own policies of the moment lead to: at first those of any policy, since regrets
begin anywhere, often of one that is certain of its action; later those of policies near an equilibrium. So the ranges
here are those of the policy made sharper or flatter and more likely here than there at random, each player's otherwise
than the other's. With much noise a policy is nearly pure and has little to do with the one that it began as.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sog.arrays import Float64, Int32
from sog.games.base import TERMINAL
from sog.searches.cfr import exact
from sog.searches.tree.public_tree import PublicTree

__all__ = ["BeliefDraws", "Drawing"]

_NEVER = 1e-12  # of a probability that noise and powers may still make larger


@dataclass(frozen=True)
class Drawing:
    """How beliefs are drawn.

    plain: the share of players who play the policy as it is.  sharpest: policies are raised to powers drawn, by their
    logarithms, between 1 / sharpest and sharpest.  noise: the most that logits are disturbed by (standard deviation).
    each: beliefs drawn from one pair of policies.
    """

    plain: float = 0.1
    sharpest: float = 4.0
    noise: float = 4.0
    each: int = 1_024


class BeliefDraws:
    """Draws public states of a listed game with ranges of both players, where a player or chance acts.

    States are drawn, all different, by how likely the policy reaches them plus how likely uniform play does. A
    game that has no more than `Drawing.each` states is drawn whole.
    """

    def __init__(self, public: PublicTree, policy: exact.Policy, drawing: Drawing, rng: np.random.Generator) -> None:
        """policy: float64[A, I] at each decision of the tree."""
        self.public, self.drawing, self.rng = public, drawing, rng
        self.tree = exact.full_tree(public)
        self.acting = np.array([n for n in range(self.tree.size) if self.tree.actor(n) != TERMINAL])
        self.decisions = list(self.tree.decisions())
        shown = [self.tree.public_node(n) for n in self.decisions]
        # Where play by the policy goes, and where uniform play does.
        likely = self._chances(policy) + self._chances(exact.uniform_policy(public))
        self.likely = likely / likely.sum()
        flat = [np.where(public.legal(s) > 0, np.maximum(policy[s], _NEVER), 0.0).ravel() for s in shown]
        sizes = [len(x) for x in flat]
        self.ends = np.cumsum(sizes)
        self.actors = np.repeat([public.actor(s) for s in shown], sizes)
        with np.errstate(divide="ignore"):
            self.logits = np.log(np.concatenate(flat))

    def draw(self) -> tuple[Int32, Float64]:
        """int32[K], the public nodes, and float64[K, S0 + S1], ranges by slot: those of one pair of policies."""
        self._disturb()
        self.tree.play_average()
        count = min(self.drawing.each, len(self.acting))
        chosen = self.rng.choice(self.acting, count, replace=False, p=self.likely).tolist()
        nodes = np.array([self.tree.public_node(n) for n in chosen], dtype=np.int32)
        ranges = [self.public.ranges_by_slot(int(s), self.tree.ranges(n)) for s, n in zip(nodes, chosen, strict=True)]
        return nodes, np.array(ranges)

    def _disturb(self) -> None:
        """Both players' policies made others, for the whole game."""
        drawing, rng = self.drawing, self.rng
        powers = drawing.sharpest ** rng.uniform(-1.0, 1.0, 2)
        noises = drawing.noise * rng.random(2)
        plain = rng.random(2) < drawing.plain
        powers[plain], noises[plain] = 1.0, 0.0
        # p' = p^power * exp(noise), normalised node by node.
        moved = noises[self.actors] * rng.normal(size=len(self.logits))
        weights = np.exp(powers[self.actors] * self.logits + moved)
        for n, part in zip(self.decisions, np.split(weights, self.ends[:-1]), strict=True):
            self.tree.policy_sum(n)[:] = part.reshape(self.tree.policy_sum(n).shape)
        self.tree.update_average_policy()

    def _chances(self, policy: exact.Policy) -> Float64:
        """float64[K]: how likely play by a policy reaches each node of `acting`."""
        exact.set_policy(self.tree, policy)
        self.tree.play_average()
        held = [(self.tree.public_node(n), self.tree.ranges(n)) for n in self.acting]
        return np.array([float(zero @ self.public.masses(s, zero, one)[0]) for s, (zero, one) in held])
