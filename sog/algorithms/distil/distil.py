"""Distils a critic of histories into a counterfactual value-and-policy network: beliefs, targets, learning, saving."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sog.algorithms.distil.beliefs import BeliefDraws, Drawing
from sog.algorithms.distil.teacher import CriticTeacher
from sog.arrays import Float64, Int32
from sog.errors import CheckpointError, SettingError
from sog.files import shown
from sog.games.base import NATURE
from sog.nets.cvpn import CVPN
from sog.nets.encode import encode
from sog.nets.shape import NetworkShape
from sog.searches.kernels.compiling import working_time
from sog.searches.leaves.evaluator import Beliefs
from sog.training import checkpoint
from sog.training.learner import Learner
from sog.training.lock import held
from sog.training.packing import pack, unpack
from sog.training.replay import ReplayWindow
from sog.training.rows import Rows, blank_rows, write_policy, write_values
from sog.training.settings import LearnerSettings

__all__ = ["DistilSettings", "Distilled", "distil", "distil_into", "refuse_used", "taught"]

Report = Callable[[int, str], None]


@dataclass(frozen=True)
class DistilSettings:
    """What decides a distillation but its teacher and its seed.

    steps: of the learner; its rate falls to a hundredth until the last.  window: rows that steps draw from.
    """

    shape: NetworkShape
    steps: int = 4_000
    window: int = 30_000
    drawing: Drawing = field(default_factory=Drawing)
    learner: LearnerSettings = field(
        default_factory=lambda: LearnerSettings(batch=512, learning_rate=2e-3, updates_per_example=4.0)
    )

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise SettingError(f"a distillation takes at least one step, not {self.steps}")


@dataclass(frozen=True, eq=False)
class Distilled:
    """The network, the steps and rows it learned from, and the mean losses of the last steps."""

    network: CVPN
    steps: int
    rows: int
    value_loss: float
    policy_loss: float


def distil(
    teacher: CriticTeacher,
    settings: DistilSettings,
    seed: int = 0,
    minutes: float | None = None,
    report: Report = lambda done, note: None,
) -> Distilled:
    """A network that answers beliefs as the teacher does; without `minutes` the seed decides it to the bit.

    minutes: after this many it stops, schedules unchanged, but not before its first step.  report: takes the steps done
    and the latest losses.
    """
    rng = np.random.default_rng(seed)
    draws = BeliefDraws(teacher.public, teacher.policy, settings.drawing, rng)
    learner = Learner(CVPN(settings.shape, seed), _scheduled(settings))
    window = ReplayWindow(settings.shape, settings.window)
    deadline = math.inf if minutes is None else working_time() + 60.0 * minutes
    lately: list[tuple[float, float]] = []
    # Beliefs and steps in turn: as many steps as the rows allow (updates_per_example).
    while not learner.steps or (learner.steps < settings.steps and working_time() < deadline):
        window.add(pack(settings.shape, taught(teacher, *draws.draw(), settings.shape)))
        for _ in range(min(learner.allowed(window.added), settings.steps) - learner.steps):
            losses = learner.step(unpack(settings.shape, window.sample(rng, settings.learner.batch)))
            lately = [*lately[-99:], (losses.value, losses.policy)]
        if lately:
            report(learner.steps, f"value loss {np.mean(lately, axis=0)[0]:.5f}")
    value, policy = np.mean(lately, axis=0)
    return Distilled(learner.averaged, learner.steps, window.added, float(value), float(policy))


def _scheduled(settings: DistilSettings) -> LearnerSettings:
    """The learner's settings with a rate that falls to a hundredth over the steps."""
    return replace(settings.learner, decay=0.01, decay_steps=settings.steps)


def taught(teacher: CriticTeacher, nodes: Int32, ranges: Float64, shape: NetworkShape) -> Rows:
    """A training row for each belief: the teacher's values of both players and the actor's policy.

    nodes: int32[K].  ranges: float64[K, S0 + S1], by slot.
    """
    public, rows = teacher.public, blank_rows(shape, len(nodes))
    rows.inputs[:] = encode(Beliefs(public, nodes, ranges), shape.crossed, shape.matchups)
    for k, node in enumerate(nodes.tolist()):
        believed = public.ranges_of_slots(node, ranges[k])
        write_values(rows, k, public, node, teacher.values(node, believed), believed)
        if public.actor(node) < NATURE:
            write_policy(rows, k, public, node, teacher.policy[node])
    return rows


def distil_into(
    out: Path,
    work: Callable[[], tuple[Distilled, dict[str, Any]]],
    game: str,
    run: str,
    note: Callable[[str], None] = lambda text: None,
) -> Distilled:
    """Save what `work` distils, with what it says of itself, as a checkpoint in out/checkpoint.

    run: the checkpoint's run, which begins with the game string.  note: see `sog.training.lock.held`.
    Raises CheckpointError where there is a checkpoint already or the folder cannot be written to.
    """
    refuse_used(out)
    with held(out, note):
        refuse_used(out)  # whoever held it may have saved one
        distilled, description = work()
        checkpoint.save(out / "checkpoint", distilled.network, game, run, distilled.steps, description)
    return distilled


def refuse_used(out: Path) -> None:
    """CheckpointError where a folder is a checkpoint or holds one."""
    if checkpoint.is_begun(out / "checkpoint") or checkpoint.is_begun(out):
        raise CheckpointError(f"{shown(out)} holds a checkpoint already; choose another --out or remove it")
