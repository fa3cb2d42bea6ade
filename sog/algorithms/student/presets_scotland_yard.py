"""Student of Games' presets for Scotland Yard with inputs=stations: small searches, one network for every map."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sog.algorithms.student.actor import SogActing
from sog.algorithms.student.queries import QuerySettings
from sog.algorithms.student.selfplay import SelfPlaySettings
from sog.games.scotland_yard.game import ScotlandYard
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.training.learner import LearnerSettings
from sog.training.settings import TrainSettings

__all__ = ["scotland_yard_preset"]

# Eight updates a search: (30, 1) costs three times as much on London, nearly all of it values of leaves.
_BUDGET: Final = Budget(16, 2.0)


def scotland_yard_preset(game: ScotlandYard, name: str) -> TrainSettings:
    """The settings called demo or full."""
    acting = SogActing(
        SelfPlaySettings(ResolveSettings(_BUDGET), queries=0.5, uniform_queries=True, uniform_mix=0.15, td1=0.5),
        QuerySettings(_BUDGET, SearchSettings(), recursive=0.1),
        side_by_side=8,
    )
    learner = LearnerSettings(
        batch=128, learning_rate=2e-3, decay=0.5, decay_steps=2_500, policy_weight=0.1, updates_per_example=8.0
    )
    full = TrainSettings(acting, learner, shape_for(game, 64, 1, "stations"), games=0, rounds=3_000)
    if name == "full":
        return full
    return replace(full, rounds=10, learner=replace(learner, decay_steps=500))
