"""The policy learners R-NaD, MMD and NashPG as learning algorithms: their network's policy is played without search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sog.algorithms.base import Algorithm, Asked, MakeAgent, Measured, Rules
from sog.algorithms.policy.presets import PolicySettings, mmd_preset, nashpg_preset, rnad_preset
from sog.algorithms.policy.settings import ActionCriticSettings, PpoSettings, RnadSettings
from sog.errors import needs_pytorch
from sog.games.catalog import make_history_game
from sog.games.histories.base import HistoryGame
from sog.progress import OpenBar
from sog.training.shipped import find_checkpoint

if TYPE_CHECKING:
    from sog.cluster.placement import Placement
    from sog.nets.network import Network
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.curve import Point
    from sog.training.opened import Opened

__all__ = ["Mmd", "NashPg", "PolicyAlgorithm", "Rnad", "history_rules"]


def history_rules(game: Rules) -> HistoryGame:
    """The game by histories, whichever of its two forms is given."""
    return game if isinstance(game, HistoryGame) else make_history_game(game.name)


@dataclass(frozen=True, kw_only=True)
class PolicyAlgorithm(Algorithm):
    """What the policy learners share: they learn games by histories in one process, and play what the network says."""

    measure_is: ClassVar[str] = "the network's policy"
    measured_with: ClassVar[tuple[str, ...]] = ("best_response", "limit_gb")
    plays_hidden: ClassVar[bool] = True
    alone: ClassVar[bool] = True

    def rules(self, game: str) -> HistoryGame:
        return make_history_game(game)

    @needs_pytorch("training")
    def loop(self, placement: Placement | None = None) -> Callable[..., Point]:
        """Training without workers."""
        from sog.algorithms.policy.loop import train_policy

        return train_policy

    @needs_pytorch("a policy network")
    def measure(self, public: PublicTree, network: Network, preset: str) -> float:
        """Exploitability of the policy that the network itself plays."""
        from sog.algorithms.policy.agent import policy_exploitability

        return policy_exploitability(public, network)

    @needs_pytorch("a policy network")
    def agents(self, public: PublicTree, opened: Opened) -> MakeAgent:
        from sog.algorithms.policy.agent import PolicyAgent

        return lambda player, seed: PolicyAgent(public, player, opened.network, seed)

    @needs_pytorch("a policy network")
    def exploit(self, checkpoint: str | Path, asked: Asked, bar: OpenBar) -> Measured:
        """Exploitability of a checkpoint's policy network; there is one policy, so there are no seeds."""
        from sog.algorithms.policy.measure import measure_network

        return measure_network(find_checkpoint(str(checkpoint), self.name), asked, bar)


@dataclass(frozen=True, kw_only=True)
class Rnad(PolicyAlgorithm):
    """R-NaD: regularised Nash dynamics with neural replicator dynamics (DeepNash, Science 2022; SePoT, Table 2)."""

    name: ClassVar[str] = "rnad"
    title: ClassVar[str] = "R-NaD"
    learns_with: ClassVar[tuple[type, ...]] = (PolicySettings, RnadSettings, ActionCriticSettings)

    def preset(self, game: Rules, name: str) -> PolicySettings:
        return rnad_preset(history_rules(game), name)


@dataclass(frozen=True, kw_only=True)
class Mmd(PolicyAlgorithm):
    """MMD: PPO pulled towards a uniform magnet (Sokota et al., ICLR 2023; arXiv 2502.08938)."""

    name: ClassVar[str] = "mmd"
    title: ClassVar[str] = "MMD"
    learns_with: ClassVar[tuple[type, ...]] = (PolicySettings, PpoSettings)

    def preset(self, game: Rules, name: str) -> PolicySettings:
        return mmd_preset(history_rules(game), name)


@dataclass(frozen=True, kw_only=True)
class NashPg(PolicyAlgorithm):
    """NashPG: PPO pulled towards a magnet that is copied from the policy now and then (arXiv 2510.18183)."""

    name: ClassVar[str] = "nashpg"
    title: ClassVar[str] = "NashPG"
    learns_with: ClassVar[tuple[type, ...]] = (PolicySettings, PpoSettings)

    def preset(self, game: Rules, name: str) -> PolicySettings:
        return nashpg_preset(history_rules(game), name)
