"""Student of Games' presets for Scotland Yard with inputs=stations: many games by tiny searches, and their outcomes."""

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
from sog.training.settings import LearnerSettings, TrainSettings

__all__ = ["scotland_yard_preset"]

# Four updates a search. A game has a hundred searches and one outcome, so that many games teach more than searches that
# see another move of the six in a round.
_BUDGET: Final = Budget(8, 2.0)
# Moves differ by a few hundredths of a value unit: with regrets worth a whole one, four updates hardly move a policy.
_SEARCH: Final = SearchSettings(warm_start=0.2)


def scotland_yard_preset(game: ScotlandYard, name: str) -> TrainSettings:
    """The settings called demo or full."""
    acting = SogActing(
        SelfPlaySettings(ResolveSettings(_BUDGET, _SEARCH), queries=0.0, uniform_mix=0.02, td1=1.0),
        QuerySettings(_BUDGET, _SEARCH, recursive=0.0),
        side_by_side=32,
    )
    learner = LearnerSettings(
        batch=128,
        learning_rate=2e-3,
        decay=0.5,
        decay_steps=6_000,
        policy_weight=0.3,
        policies_by_row=True,
        updates_per_example=2.0,
        average=2e-3,
    )
    full = TrainSettings(acting, learner, shape_for(game, 96, 2, "stations"), games=0, rounds=3_000)
    if name == "full":
        return full
    return replace(full, rounds=10, learner=replace(learner, decay_steps=500))
