"""Presets of Student of Games: what two cores learn small games with, and which others there are; they run nothing."""

from __future__ import annotations

from dataclasses import replace

from sog.games.base import Game
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings
from sog.search.gtcfr.search import Budget, SearchSettings
from sog.train.boards.presets import board_preset
from sog.train.boards.searches import GtcfrSearch
from sog.train.learner import LearnerSettings
from sog.train.settings import TrainSettings
from sog.train.sog.actor import SogActing
from sog.train.sog.presets_paper import papers_preset
from sog.train.sog.queries import QuerySettings
from sog.train.sog.selfplay import SelfPlaySettings

__all__ = ["sog_preset"]


def sog_preset(game: Game, name: str) -> TrainSettings:
    """The settings called demo (about three minutes on two cores), full, paper (SoG's) or pog."""
    if name in ("paper", "pog"):
        return papers_preset(game, pog=name == "pog")
    if game.planes is not None:
        return board_preset(game, name, GtcfrSearch(per_update=8.0))
    settings = _small(game)
    if name == "full":
        return settings
    learner = replace(settings.learner, decay_steps=350)
    return replace(settings, rounds=70, games=16, learner=learner)


def _small(game: Game) -> TrainSettings:
    """Small networks and searches of (100, 1): what two cores learn Leduc with."""
    budget, search = Budget(100, 1.0), SearchSettings()
    return TrainSettings(
        acting=SogActing(
            SelfPlaySettings(ResolveSettings(budget, search), queries_per_search=8.0, uniform_mix=0.25),
            QuerySettings(budget, search, recursive=0.2),
        ),
        learner=LearnerSettings(batch=512, learning_rate=2e-3, decay=0.5, decay_steps=4_000, updates_per_example=20.0),
        shape=shape_for(game, width=256, depth=3, crossed=game.crossed),
    )
