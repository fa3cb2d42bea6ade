"""What decides a run of a policy learner, and its settings for a game: demo, full and paper; they run nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from sog.algorithms.policy.settings import ActionCriticSettings, LearnsPolicy, PpoSettings, RnadSettings
from sog.errors import check_whole
from sog.games.histories.base import HistoryGame
from sog.games.histories.battleship import BattleshipHistories
from sog.nets.shape import NetworkShape, policy_shape, sized
from sog.training.memory import NeededMemory, learning_bytes

__all__ = ["PolicySettings", "mmd_preset", "nashpg_preset", "rnad_preset"]


@dataclass(frozen=True)
class PolicySettings:
    """Everything that decides a run of a policy learner but its game and its seed.

    games: games played at once for each learner step.  steps: learner steps a round.
    rounds: how many rounds a run has.
    """

    learning: LearnsPolicy
    shape: NetworkShape
    games: int = 64
    steps: int = 100
    rounds: int = 10_000

    def __post_init__(self) -> None:
        for name, least in (("games", 1), ("steps", 1), ("rounds", 0)):
            check_whole(name, getattr(self, name), least)

    def needed_memory(self) -> NeededMemory:
        """The network, those of former steps, and what the learner has beside; there is no replay window."""
        return NeededMemory(learning_bytes(self.shape, networks=2 + self.learning.networks_beside))

    def with_network(self, size: str) -> PolicySettings:
        """With other hidden layers, such as 2x256; SettingError as of `sized`."""
        return replace(self, shape=sized(self.shape, size))


def rnad_preset(game: HistoryGame, name: str) -> PolicySettings:
    """SePoT's Table 2 is `paper`: 1024 x 1024, 75,000 steps of 64 games, V-trace, whose ratios only Battleship 7x7
    clips at 3; NeuRD's threshold is 2.

    `demo` and `full` have smaller networks and 32 times the games a step, which cost little where they meet the same
    infostates; long phases and a small learning rate that falls, so that play settles in the first of them; a critic
    of whole histories; and a threshold that Leduc's equilibrium fits in.  eta: 0.5 chips on Leduc, 0.15 where 1 is won,
    near what works best there with exact values of actions (docs/notes.md).
    """
    paper = PolicySettings(RnadSettings(rho=_papers_rho(game)), policy_shape(game, 1024, 2), games=64, rounds=750)
    if name == "paper":
        return paper
    learning = RnadSettings(
        # 0.54 chips on Leduc, where up to 13 are won.
        eta=_ETA * math.sqrt(game.u_max),
        short=4_000,
        shorts=_ALL,
        learning_rate=3e-4,
        rate_steps=8_000,
        threshold=3.0,
        visit_power=0.5,
        critic=ActionCriticSettings(game.name, heaviest=8.0),
        average=3.0,
    )
    shape = policy_shape(game, 256, 2)
    return PolicySettings(learning, shape, games=2_048, steps=20, rounds=300 if name == "demo" else 10_000)


def _papers_rho(game: HistoryGame) -> float:
    """SePoT, Table 2: the largest ratio of V-trace."""
    wide = isinstance(game, BattleshipHistories) and min(game.width, game.height) >= 7
    return 3.0 if wide else math.inf


def mmd_preset(game: HistoryGame, name: str) -> PolicySettings:
    """PPO with much entropy and damping (arXiv 2502.08938); rewards in units of the largest utility.

    `paper`: constant entropy 0.05 and KL weight 0.05, 8 games' worth of 128 steps, 10 million decisions.
    `demo` and `full` play more games a step, let the entropy's weight fall slowly, as MMD's theory needs it to, and
    the learning rate faster, since play goes around where that weight is small, and keep the mean of their networks.
    Its weight begins where R-NaD's eta is.
    """
    scale = 1.0 / game.u_max
    if name == "paper":
        ppo = PpoSettings(entropy=0.05, damping=0.05, anneal=10_000, scale=scale)
        return PolicySettings(ppo, policy_shape(game, 512, 3), games=256, rounds=100)
    return PolicySettings(
        replace(_SLOWLY, entropy=_ETA * scale**0.5, entropy_steps=1_000, damping=0.02, scale=scale),
        policy_shape(game, 256, 2),
        games=2_048,
        steps=20,
        rounds=300 if name == "demo" else 10_000,
    )


def nashpg_preset(game: HistoryGame, name: str) -> PolicySettings:
    """PPO pulled to a magnet that is copied again and again (arXiv 2510.18183); rewards and rate as of MMD.

    `demo` and `full` pull as much as R-NaD's eta does, in phases of 3,000 steps.
    `paper` has the settings of the authors' program, of about 4,096 decisions a step in games of four, and the network
    of arXiv 2502.08938, since that program's is a matter of the game.
    """
    scale = 1.0 / game.u_max
    if name == "paper":
        ppo = PpoSettings(learning_rate=3e-4, clip=0.2, pull=0.2, magnet_every=1_000, scale=scale)
        return PolicySettings(ppo, policy_shape(game, 512, 3), games=1_024, rounds=500)
    return PolicySettings(
        replace(_SLOWLY, entropy=0.0, pull=_ETA * scale**0.5, magnet_every=3_000, scale=scale),
        policy_shape(game, 256, 2),
        games=2_048,
        steps=20,
        rounds=300 if name == "demo" else 10_000,
    )


_ALL: Final = 10**9  # more phases than any run has
_ETA: Final = 0.15  # what regularisation counts where the largest utility is 1; it grows with that one's root
_FALL: Final = 4_000  # steps after which PPO's learning rate has fallen to half of what it was
# Advantages are not normalised: where play becomes pure their deviation goes to 0, and with it what entropy and magnet
# count. An infostate counts as the root of its visits: on policy play goes around (docs/notes.md).
_SLOWLY: Final = PpoSettings(epochs=2, rate_steps=_FALL, rate_power=1.0, normalised=False, visit_power=0.5, average=3.0)
