"""The two searches of self-play on boards, GT-CFR and MCTS, behind one interface; each keeps its tree.

Noise is put on the root's priors while it is searched, and is gone afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sog.algorithms.boards.halving import Halving, log_of, root_statistics
from sog.algorithms.boards.targets import RootStatistics, TargetSettings
from sog.arrays import Float64
from sog.errors import check_not_negative
from sog.games.base import NATURE
from sog.play.position import PositionSearch
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.search import SearchLog
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.evaluator import SearchGenerator
from sog.searches.mcts.search import PuctSettings, PuctTree, search
from sog.searches.tree.public_tree import PublicTree

__all__ = ["GameSearches", "GtcfrSearch", "MctsSearch", "Searching"]


class GameSearches(Protocol):
    """One game's searches, one after the other, on what the last one left below the position.

    grown: whether the last search grew its budget or all that was left of the game.
    """

    grown: bool

    def steps(self, node: int, simulations: int, noise: Float64 | None) -> SearchGenerator:
        """Search public node `node`.  noise: float64[A], added to the root's logits."""
        ...

    def root(self) -> RootStatistics:
        """What the last search says of its root."""
        ...

    def met(self) -> list[int]:
        """The public nodes below the root of the last search at which a player acts."""
        ...


class Searching(Protocol):
    """How positions are searched: a frozen dataclass that every game begins its searches from."""

    def begin(self, public: PublicTree, rng: np.random.Generator) -> GameSearches:
        """The searches of a game on this public tree."""
        ...


@dataclass(frozen=True)
class GtcfrSearch:
    """Student of Games' search.  per_update: c of its budget (s, c)."""

    settings: SearchSettings = field(default_factory=SearchSettings)
    per_update: float = 2.0

    def begin(self, public: PublicTree, rng: np.random.Generator) -> GameSearches:
        return _Gtcfr(public, self, rng)


@dataclass(frozen=True)
class MctsSearch:
    """AlphaZero's search.

    considered: with noise, sequential halving divides the root's simulations among at most this many actions; 0 for
    PUCT at the root too.  sigma: of the values by which halving compares.
    """

    settings: PuctSettings = field(default_factory=PuctSettings)
    considered: int = 0
    sigma: TargetSettings = field(default_factory=TargetSettings)

    def __post_init__(self) -> None:
        check_not_negative("considered", self.considered)

    def begin(self, public: PublicTree, rng: np.random.Generator) -> GameSearches:
        return _Mcts(public, self, rng)


class _Gtcfr:
    def __init__(self, public: PublicTree, method: GtcfrSearch, rng: np.random.Generator) -> None:
        self.public, self.method, self.rng = public, method, rng
        self.tree: Lookahead | None = None
        self.grown = True

    def steps(self, node: int, simulations: int, noise: Float64 | None) -> SearchGenerator:
        seed = self.rng.integers(2**63, size=1).astype(np.uint64)
        method, log = self.method, SearchLog()
        settings, budget = method.settings, Budget(simulations, method.per_update)
        if noise is None:
            search = PositionSearch(self.public, node, self.tree, budget, settings, seed, log)
            yield from search.steps()
        else:
            look = PositionSearch(self.public, node, self.tree, Budget(1, 1.0), settings, seed)
            yield from look.steps()  # which gives the root its prior
            search = PositionSearch(self.public, node, look.tree, budget, settings, seed, log)
            clean = search.tree.prior(0)[:, 0].copy()
            noisy = clean * np.exp(noise - noise.max())
            # P' = P * exp(noise), scaled to the same sum: PUCT normalises, and opening children goes by the order
            # alone.
            search.tree.prior(0)[:, 0] = noisy * (clean.sum() / noisy.sum())
            yield from search.steps()
            search.tree.prior(0)[:, 0] = clean
        self.tree, self.grown = search.tree, log.grown
        self.tree.update_average_policy()

    def root(self) -> RootStatistics:
        tree = self._searched
        mover = tree.actor(0)
        prior = tree.prior(0)[:, 0]
        values = np.full(len(prior), np.nan)
        for a, child in enumerate(tree.children_by_action(0)):
            if child >= 0:
                # Mean values may pass the bounds a little where the network's do.
                values[a] = np.clip(tree.mean_share(child, mover), -1.0, 1.0)
        return RootStatistics(
            log_of(prior / prior.sum()),
            tree.policy(0)[:, 0].copy(),
            tree.visits(0)[:, 0].copy(),
            values,
            float(tree.values(0)[mover][0]) / tree.public.game.u_max,
        )

    def met(self) -> list[int]:
        return _met(self._searched)

    @property
    def _searched(self) -> Lookahead:
        assert self.tree is not None
        return self.tree


class _Mcts:
    def __init__(self, public: PublicTree, method: MctsSearch, rng: np.random.Generator) -> None:
        self.public, self.method, self.rng = public, method, rng
        self.tree: PuctTree | None = None
        self.grown = True

    def steps(self, node: int, simulations: int, noise: Float64 | None) -> SearchGenerator:
        if self.tree is None:
            self.tree = PuctTree(self.public, node)
        else:
            self.tree.advance(node)
        tree, settings = self.tree, self.method.settings
        # Halving and noise need the root's prior: it is evaluated first.
        if tree.size == 0:
            yield from search(tree, 0, settings, self.rng)
        if noise is None:
            yield from search(tree, simulations, settings, self.rng)
        elif self.method.considered:
            halving = Halving(tree, noise, self.method.sigma, self.method.considered, simulations)
            yield from search(tree, simulations, settings, self.rng, root=halving)
        else:
            clean = tree.priors()
            noisy = clean * np.exp(noise - noise.max())
            tree.set_priors(noisy / noisy.sum())
            yield from search(tree, simulations, settings, self.rng)
            tree.set_priors(clean)

    def root(self) -> RootStatistics:
        return root_statistics(self._searched)

    def met(self) -> list[int]:
        return _met(self._searched)

    @property
    def _searched(self) -> PuctTree:
        assert self.tree is not None
        return self.tree


def _met(tree: Lookahead | PuctTree) -> list[int]:
    """The positions below the searched one in its tree at which somebody acts."""
    return [tree.public_node(n) for n in range(1, tree.size) if tree.actor(n) < NATURE]
