"""Queries where a flop or a turn card comes: the mean of the network's values over drawn outcomes.

A search could not open the flop's 22,100 outcomes, and the turn's 49 cost it more than a search of a decision. After
DeepStack's auxiliary network (Moravcik et al., Science 2017), which learns the end of the first round so.
"""

from __future__ import annotations

import numpy as np

from sog.algorithms.student.queries import Query, encoded
from sog.arrays import Float64
from sog.games.base import NATURE
from sog.games.holdem.cards import CARDS
from sog.games.holdem.game import Holdem, HoldemState
from sog.nets.shape import NetworkShape
from sog.play.sampled_chance import baselines, carried, plain_beliefs
from sog.play.tally import PLAYED
from sog.searches.leaves.evaluator import SearchGenerator, refuse_infinite
from sog.searches.tree.public_tree import PublicTree
from sog.training.rows import Rows, write_values

__all__ = ["ChanceSolving", "is_early_chance"]


def is_early_chance(public: PublicTree, node: int) -> bool:
    """Whether a flop or a turn card comes at a public node of hold'em, to which a baseline is added."""
    state = public.states[node]
    if not isinstance(state, HoldemState) or public.actor(node) != NATURE or not public.game.has_baseline:
        return False
    assert isinstance(public.game, Holdem)
    return len(state.board) + public.game.cards_to_deal(state) < 5


class ChanceSolving:
    """One query valued by drawn outcomes. Drive `steps()`, then read `row`.

    v[i] = b[i] + (sum over outcomes c of m_c[i] d_c[i]) / (sum over c of m_c[i]); b: the baseline at the event, which
    is the mean of the outcomes'; d_c: the network's values, to be added to c's baseline; m_c[i]: the weight of the
    opponent's range that i may meet after c.
    """

    def __init__(self, query: Query, outcomes: int, rng: np.random.Generator) -> None:
        """outcomes: how many are drawn, each alike likely."""
        self.query, self.outcomes, self.rng = query, outcomes, rng
        self._values: tuple[Float64, Float64] | None = None

    def steps(self) -> SearchGenerator:
        """All outcomes as one batch of beliefs."""
        public, node = self.query.public, self.query.node
        ranges = public.ranges_of_slots(node, self.query.ranges)
        children = self._drawn()
        below = [carried(public, node, child, ranges) for child in children]
        by_slot = np.array([public.ranges_by_slot(c, r) for c, r in zip(children, below, strict=True)])
        answer = yield plain_beliefs(public, children, by_slot)
        refuse_infinite("values", answer.values)
        total, weight = np.zeros((2, 2, len(ranges[0])))
        for child, here, values in zip(children, below, answer.values, strict=True):
            for p, mass in enumerate(public.masses(child, *here)):
                total[p] += mass * values[public.places_of(child, p)]
                weight[p] += mass
        above = baselines(public, [node], self.query.ranges[None, :])[0]
        learned = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
        zero, one = (above[public.places_of(node, p)] + learned[p] for p in (0, 1))
        self._values = zero, one
        PLAYED.add(queries=1)

    def followers(self) -> list[Query]:
        """None: nothing was searched."""
        return []

    def row(self, shape: NetworkShape, policies: bool) -> Rows:
        """The training row: both players' values; no policy."""
        assert self._values is not None
        row, public, node = encoded(self.query, shape), self.query.public, self.query.node
        write_values(row, 0, public, node, self._values, public.ranges_of_slots(node, self.query.ranges))
        return row

    def _drawn(self) -> list[int]:
        """Public nodes of drawn outcomes."""
        public, node = self.query.public, self.query.node
        game, state = public.game, public.states[node]
        assert isinstance(game, Holdem) and isinstance(state, HoldemState)
        left = [card for card in range(CARDS) if card not in state.board]
        drawn = (self.rng.choice(left, game.cards_to_deal(state), replace=False) for _ in range(self.outcomes))
        return [public.add(game.deal(state, tuple(sorted(int(card) for card in cards))), node) for cards in drawn]
