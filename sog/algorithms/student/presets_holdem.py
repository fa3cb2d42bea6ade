"""Student of Games' presets for hold'em from the turn on: small searches, exact queries, one network for every hand."""

from __future__ import annotations

from dataclasses import replace

from sog.algorithms.student.actor import SogActing
from sog.algorithms.student.queries import QuerySettings
from sog.algorithms.student.selfplay import SelfPlaySettings
from sog.games.holdem.game import Holdem
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.training.learner import LearnerSettings
from sog.training.settings import TrainSettings

__all__ = ["late_holdem_preset"]


def late_holdem_preset(game: Holdem, name: str) -> TrainSettings:
    """The settings called demo or full; of the turn's 28 decisions a search opens as many as it can."""
    budget, search = Budget(30, 1.0), SearchSettings(chance_leaves=True)
    acting = SogActing(
        SelfPlaySettings(ResolveSettings(budget, search), queries=60.0, uniform_queries=True, uniform_mix=0.25),
        QuerySettings(budget, search, recursive=0.0, exact_iterations=32, searched=0.1),
        side_by_side=4,
    )
    # A row has targets for 2,256 hands, so that small batches do; a step costs what they cost.
    learner = LearnerSettings(
        batch=32,
        learning_rate=2e-3,
        decay=0.5,
        decay_steps=1_500,
        policy_weight=0.01,
        updates_per_example=16.0,
        average=3e-3,
    )
    full = TrainSettings(acting, learner, shape_for(game, 64, 2, "hands"), games=0, rounds=600)
    if name == "full":
        return full
    return replace(full, rounds=10, learner=replace(learner, decay_steps=150))
