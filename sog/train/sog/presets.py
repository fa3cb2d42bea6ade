"""Presets of Student of Games: what two cores learn small games with, and the papers' own; they run nothing."""

from __future__ import annotations

from dataclasses import replace

from sog.games.base import Game
from sog.nets.cvpn import shape_for
from sog.play.resolver import ResolveSettings
from sog.search.gtcfr.search import PAPER, Budget, SearchSettings
from sog.train.learner import LearnerSettings
from sog.train.settings import TrainSettings
from sog.train.sog.actor import SogActing
from sog.train.sog.presets_planes import planes_preset
from sog.train.sog.queries import QuerySettings
from sog.train.sog.selfplay import SelfPlaySettings

__all__ = ["sog_preset"]


def sog_preset(game: Game, name: str) -> TrainSettings:
    """The settings called demo (about three minutes on two cores), full, or paper."""
    if game.planes is not None:
        return planes_preset(game, name)
    if name == "paper":
        return _paper(game)
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


def _paper(game: Game) -> TrainSettings:
    """PoG, Table 3, the column of no-limit hold'em (for games without one of their own); a cluster's size."""
    budget = Budget(100, 1.0)
    return TrainSettings(
        acting=SogActing(
            SelfPlaySettings(
                ResolveSettings(budget, PAPER, alpha=0.5),
                queries_per_search=0.9,
                uniform_mix=0.1,
                resolve_positions=True,
            ),
            QuerySettings(budget, PAPER, recursive=0.1),
        ),
        learner=LearnerSettings(
            batch=1024,
            learning_rate=1e-4,
            decay=0.5,
            decay_steps=2_000_000,
            policy_weight=0.01,
            updates_per_example=10.0,
        ),
        shape=shape_for(game, width=2048, depth=6),
        replay=1_000_000,
        rounds=1_000_000,
    )
