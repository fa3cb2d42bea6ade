"""From a checkpoint with a critic to a value network for search: what is opened, chosen and recorded."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sog.algorithms.base import SOG
from sog.algorithms.distil.distil import Distilled, DistilSettings, Report, distil
from sog.algorithms.distil.teacher import CriticTeacher
from sog.algorithms.policy.agent import network_policy
from sog.algorithms.sepot.trained_critic import critic_from
from sog.algorithms.student.presets import sog_preset
from sog.games.catalog import make_game, make_history_game
from sog.measure.listed import listed_with_bar
from sog.nets.one_core import one_core
from sog.nets.shape import sized
from sog.progress import OpenBar
from sog.training.checkpoint import Meta, WithCritic, load_with_critic
from sog.training.memory import check_memory
from sog.training.shipped import find_checkpoint

if TYPE_CHECKING:
    from sog.searches.tree.public_tree import PublicTree

__all__ = ["Distillation", "distillation", "teacher_of"]


@dataclass(frozen=True, eq=False)
class Distillation:
    """A distillation about to be run.  run: its name, by which its checkpoint is known.  meta: of the critic's."""

    teacher: CriticTeacher
    settings: DistilSettings
    meta: Meta
    seed: int

    @property
    def run(self) -> str:
        return f"{self.meta.game} distilled from {self.meta.files['critic'].sha256[:16]} seed {self.seed}"

    def work(self, minutes: float | None, report: Report) -> tuple[Distilled, dict[str, Any]]:
        """The network, and what its checkpoint says of itself."""
        started = time.monotonic()
        with one_core():
            distilled = distil(self.teacher, self.settings, self.seed, minutes, report)
        description = {
            "game": self.meta.game,
            "algorithm": SOG,
            "seed": self.seed,
            "minutes": (time.monotonic() - started) / 60.0,
            "made_of": repr(self.settings),
            "distilled": {
                "run": self.meta.run,
                "algorithm": self.meta.algorithm,
                "steps": self.meta.step,
                "minutes": float(self.meta.settings.get("minutes", 0.0)),
                "values": self.teacher.kind,
            },
        }
        return distilled, description


def distillation(
    checkpoint: str, limit_gb: float | None, values: str, network: str | None, steps: int, seed: int, bar: OpenBar
) -> Distillation:
    """What a run's folder is distilled by: its critic, its policy, and a network of the size that the game's demo has.

    limit_gb: memory for listing the game.  network: hidden layers x width, None for the demo's.
    Raises CheckpointError for a checkpoint without a critic, GameError for a game that cannot be listed by public
    states, SettingError for unknown values or a malformed size.
    """
    trained = load_with_critic(find_checkpoint(checkpoint))
    settings = sog_preset(make_game(trained.game), "demo")
    if network is not None:
        settings = replace(settings, shape=sized(settings.shape, network))
    wanted = DistilSettings(settings.shape, steps)
    needed = replace(settings, learner=wanted.learner, replay=wanted.window).needed_memory()
    check_memory(needed, trained.game)
    public = listed_with_bar(trained.game, limit_gb, bar)
    return Distillation(teacher_of(public, trained, values), wanted, trained.meta, seed)


def teacher_of(public: PublicTree, trained: WithCritic, values: str) -> CriticTeacher:
    """The critic and the policy of a checkpoint as an evaluator of the listed game."""
    game = make_history_game(trained.game)
    critic = critic_from(game, trained.critic)
    return CriticTeacher(public, game, critic, network_policy(public, trained.network), values)
