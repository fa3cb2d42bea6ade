"""SePoT's agent: a policy network's policy, searched where the subgame is small enough."""

from __future__ import annotations

from collections.abc import Callable

from sog.algorithms.policy.agent import infostates_of, policy_at, refuse_no_policy
from sog.algorithms.policy.own_policy import NetworkPolicy
from sog.algorithms.sepot.below import DepthLimit
from sog.algorithms.sepot.search import PAPERS, Critic, SepotSearch, SepotSearchSettings
from sog.algorithms.sepot.trained_critic import critic_from
from sog.arrays import Float64
from sog.games.catalog import make_history_game
from sog.games.histories.base import HistoryGame
from sog.games.histories.leduc import LeducHistories
from sog.measure.exploitability import composed_policy
from sog.nets.network import Network
from sog.play.agent import Agent
from sog.searches.cfr import exact
from sog.searches.tree.public_tree import PublicTree
from sog.training.checkpoint import WithCritic

__all__ = ["SepotAgent", "papers_limit", "search_exploitability", "search_of", "searching"]


def papers_limit(game: HistoryGame) -> DepthLimit:
    """Where the paper's subgames end where it names no depth: after an action of each, Leduc's at the public card."""
    return DepthLimit(0, at_chance=True) if isinstance(game, LeducHistories) else PAPERS.limit


def search_of(game: HistoryGame, network: Network, critic: Critic, settings: SepotSearchSettings) -> SepotSearch:
    """The search on a network's policy, with a critic's values at its leaves; errors of `refuse_no_policy`."""
    refuse_no_policy(game, network)
    return SepotSearch(game, NetworkPolicy(game, network), critic, settings)


def searching(opened: WithCritic, settings: SepotSearchSettings) -> SepotSearch:
    """The search on a network's policy with its critic; CheckpointError where that is not one for the game."""
    game = make_history_game(opened.game)
    return search_of(game, opened.network, critic_from(game, opened.critic), settings)


class SepotAgent(Agent):
    """Plays what the search finds at a public state of a listed game, or the network's policy where it is too large."""

    def __init__(self, public: PublicTree, player: int, search: SepotSearch, seed: int = 0) -> None:
        super().__init__(public, player, seed)
        self.search = search

    def policy(self, node: int) -> Float64:
        """float64[A, I]: see `Agent.policy`."""
        seen = infostates_of(self.public)
        first, stop = seen.starts[node]
        return policy_at(self.public, node, self.search.policy(seen.states[first:stop], self.player))


def search_exploitability(
    public: PublicTree, search: SepotSearch, report: Callable[[int], None] = lambda done: None
) -> float:
    """How much a best response wins, in utilities, against SePoT's play at every public state of a listed game.

    report: called with the decisions done. Errors: of `composed_policy`.
    """
    agents = SepotAgent(public, 0, search), SepotAgent(public, 1, search)
    return exact.measure_policy(public, composed_policy(agents, report)).exploitability
