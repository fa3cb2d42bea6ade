"""Information set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012) on listed games; PoG, C.4.1.

Every infostate is searched by itself. A simulation draws a world that the infostate allows, by chance alone, since
nothing is assumed of how the opponent has played, and gathers visits and returns by infostate of whoever acts. It
uses no ranges and no network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from sog.arrays import Bool, Float64
from sog.errors import SettingError
from sog.searches.cfr import exact
from sog.searches.mcts.ismcts import Simulator
from sog.searches.tree.public_tree import PublicTree

__all__ = ["FINAL_POLICIES", "ISMCTS", "FinalPolicy", "InfosetStatistics", "Searcher", "composed"]

# How a policy is made of the statistics (PoG, Table 5): normalised visits, most visits, highest mean return.
FinalPolicy: TypeAlias = Literal["mvd", "mvis", "mval"]
FINAL_POLICIES: Final[tuple[FinalPolicy, ...]] = ("mvd", "mvis", "mval")


@dataclass(frozen=True)
class ISMCTS:
    """The settings of IS-MCTS.

    simulations: of each search.  c: UCT's exploration constant, utilities.  seed: of all draws.
    As in OpenSpiel, the simulation that meets an infostate first opens it and continues at random, one rollout; so the
    searched infostate's visits are one fewer than the simulations. SettingError where a number is out of range.
    """

    simulations: int
    c: float
    seed: int = 0

    def __post_init__(self) -> None:
        if self.simulations < 1:
            raise SettingError(f"simulations: {self.simulations}, must be at least 1")
        if not (0.0 <= self.c < np.inf):
            raise SettingError(f"UCT constant: {self.c}, must be 0 or more")


@dataclass(frozen=True, eq=False)
class InfosetStatistics:
    """What the searches of one public state found. visits, returns: float64[A, I]; legal: bool[A, I].

    returns: the sum of what the actor earned after each action, utilities.
    """

    visits: Float64
    returns: Float64
    legal: Bool

    def policy(self, final: FinalPolicy) -> Float64:
        """float64[A, I]: the policy by one of PoG's three rules; ties share, as legal actions do without visits."""
        if final == "mvd":
            score = self.visits
        elif final == "mvis":
            score = _best(self.visits, self.visits > 0)
        else:
            mean = np.divide(self.returns, self.visits, out=np.zeros_like(self.returns), where=self.visits > 0)
            score = _best(mean, self.visits > 0)
        score = np.where(score.sum(axis=0) > 0, score, self.legal)
        total = score.sum(axis=0)
        policy: Float64 = np.divide(score, total, out=np.zeros_like(self.visits), where=total > 0)
        return policy


def _best(score: Float64, among: Bool) -> Float64:
    """float64[A, I]: 1 at each infostate's highest scores of the actions `among`, 0 elsewhere."""
    candidates = np.where(among, score, -np.inf)
    best: Float64 = ((candidates == candidates.max(axis=0)) & among).astype(np.float64)
    return best


class Searcher:
    """Searches infostates of one listed game; a search depends on its infostate, the settings and the seed alone."""

    def __init__(self, public: PublicTree) -> None:
        """public: a tree that lists the whole game (`list_all`)."""
        self.public = public
        self._tree = exact.full_tree(public)
        self._at = self._tree.by_public_node()
        self._legal = {node: uniform > 0 for node, uniform in exact.uniform_policy(public).items()}
        # Ranges in which every action was sure to be taken: what is left is which infostates can be held.
        exact.set_policy(self._tree, {node: legal.astype(np.float64) for node, legal in self._legal.items()})
        self._tree.play_average()
        self._simulator = Simulator(self._tree)

    def search(self, node: int, settings: ISMCTS) -> InfosetStatistics:
        """Search every infostate of the public decision node `node` that has a choice and can be held at all."""
        legal, n = self._legal[node], self._at[node]
        statistics = InfosetStatistics(np.zeros(legal.shape), np.zeros(legal.shape), legal)
        for i in np.flatnonzero((legal.sum(axis=0) > 1) & self._can_hold(node)).tolist():
            rng = np.random.SeedSequence((settings.seed, node, i)).generate_state(1, np.uint64)
            searched = self._simulator.search(n, i, settings.simulations, settings.c, rng)
            statistics.visits[:, i], statistics.returns[:, i] = searched
        return statistics

    def search_all(self, settings: ISMCTS) -> dict[int, InfosetStatistics]:
        """Search every infostate of the game, by public decision node."""
        return {node: self.search(node, settings) for node in self._legal}

    def _can_hold(self, node: int) -> Bool:
        """bool[I]: the actor's infostates that chance allows beside some infostate of the opponent."""
        actor, ranges = self.public.actor(node), self._tree.ranges(self._at[node])
        weights, own, other = self.public.weights(node), ranges[actor], ranges[1 - actor]
        held: Bool = (own > 0) & ((weights if actor == 0 else weights.T) @ other > 0)
        return held


def composed(statistics: Mapping[int, InfosetStatistics], final: FinalPolicy) -> exact.Policy:
    """The policy that all the searches make together, by one of PoG's three rules."""
    return {node: infosets.policy(final) for node, infosets in statistics.items()}
