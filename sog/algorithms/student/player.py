"""Student of Games as a player of perfect-information games: GT-CFR from the position itself, its tree kept."""

from __future__ import annotations

import math
from typing import Final

from sog.play.player import Candidate, Player, Stopped, Thought, never
from sog.play.position import PositionSearch
from sog.play.proofs import proven_first
from sog.play.resolver import derive_generator
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.evaluator import Evaluator, SearchGenerator

__all__ = ["BOARDS", "SogPlayer", "SogSearch", "thought_at"]

# How positions are searched in play. PoG's Table 3 has this temperature for chess and Go.
BOARDS: Final = SearchSettings(prior_temperature=1.5, paths=True)


class SogPlayer(Player):
    """Student of Games on a game of perfect information: GT-CFR from the position, greedy in its average policy.

    Moves that its tree proves to win come first, those that it proves to lose last.

    last: the tree of the last search.
    """

    last: Lookahead | None

    def __init__(
        self,
        name: str,
        evaluator: Evaluator,
        budget: Budget,
        settings: SearchSettings | None = None,
        seed: int = 0,
        reuse: bool = True,
    ) -> None:
        """settings: of the search, by default BOARDS.

        reuse: begin a search with the part of the last search's tree that is below the position.
        """
        super().__init__(name, evaluator, seed, reuse)
        self.budget, self.settings = budget, settings or BOARDS

    def search_at(self, node: int, simulations: int | None) -> SogSearch:
        budget = Budget(simulations or self.budget.simulations, self.budget.per_update)
        rng = derive_generator(self.seed, self.tree.actor(node), node)
        searching = PositionSearch(self.tree.public, node, self.last, budget, self.settings, rng)
        self.last = searching.tree
        return SogSearch(searching)


class SogSearch:
    """What a GT-CFR search of a position thinks of its moves."""

    def __init__(self, searching: PositionSearch) -> None:
        self.searching, self.tree, self.simulations = searching, searching.tree, 0

    def steps(self, stopped: Stopped = never) -> SearchGenerator:
        def after_round() -> bool:
            budget = self.searching.budget
            self.simulations = min(self.simulations + budget.expansions, budget.simulations)
            return stopped()

        yield from self.searching.steps(after_round)

    def thought(self) -> Thought:
        tree = self.tree
        return proven_first(thought_at(tree, 0), tree.public, tree.public_node(0))


def thought_at(tree: Lookahead, n: int) -> Thought:
    """What a search thinks of the moves at node n of its tree, where a player acts."""
    actions: list[int] = tree.actions(n).tolist()
    children, shares, mover = tree.children_by_action(n), _shares(tree, n), tree.actor(n)
    visits = [int(count) for count in tree.visits(n)[:, 0]]
    known = [_value(tree, c, mover) if c >= 0 else None for c in children]
    prior = tree.prior(n)[:, 0]  # of which the largest is 1
    total = float(prior.sum())
    # The policy's mean; moves without a value yet have hardly any share and count as 0.
    value = sum(share * v for share, v in zip(shares, known, strict=True) if v is not None)
    order = sorted(range(len(actions)), key=lambda a: (-shares[a], -visits[a], actions[a]))
    candidates = tuple(
        Candidate(
            actions[a],
            shares[a],
            known[a],
            visits[a],
            (actions[a], *_line(tree, children[a])),
            float(prior[a]) / total if total else None,
        )
        for a in order
    )
    return Thought(value, tree.size, candidates)


def _shares(tree: Lookahead, n: int) -> list[float]:
    """The average policy at node n; before the first update the prior, before that uniform."""
    for weights in (tree.policy_sum(n)[:, 0], tree.prior(n)[:, 0]):
        if weights.sum() > 0:
            shares: list[float] = (weights / weights.sum()).tolist()
            return shares
    return [1.0 / len(weights)] * len(weights)


def _value(tree: Lookahead, n: int, p: int) -> float | None:
    """Player p's value at node n, a share of the largest utility, over all iterations; None before the first."""
    share = tree.mean_share(n, p)
    return None if math.isnan(share) else share


def _line(tree: Lookahead, n: int) -> list[int]:
    """The likeliest actions from node n on, while they are in the tree."""
    line: list[int] = []
    while n >= 0 and tree.is_open(n):
        children, shares = tree.children_by_action(n), _shares(tree, n)
        best = max(range(len(children)), key=lambda a: (children[a] >= 0, shares[a]))
        line.append(int(tree.actions(n)[best]))
        n = children[best]
    return line
