"""Training settings and their presets by game; they know no rules and run nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sog.errors import SettingError
from sog.games.base import Game
from sog.nets.cvpn import NetworkShape, shape_for
from sog.play.resolver import ResolveSettings
from sog.search.gtcfr import PAPER, Budget, SearchSettings
from sog.train.learner import LearnerSettings
from sog.train.queries import QuerySettings
from sog.train.selfplay import SelfPlaySettings

PRESETS = ("demo", "full", "paper")


@dataclass(frozen=True)
class TrainSettings:
    """Everything that decides a training run but its seed and its number of workers.

    games: self-play games a worker plays a round.  rounds: the run's length.  replay: rows in the window.
    side_by_side: games and query solves that a worker runs at once, their leaf batches joined.
    """

    selfplay: SelfPlaySettings
    queries: QuerySettings
    learner: LearnerSettings
    shape: NetworkShape
    replay: int = 300_000
    games: int = 64
    side_by_side: int = 64
    rounds: int = 240


def preset(game: Game, name: str) -> TrainSettings:
    """The settings called demo (about three minutes on two cores), full, or paper; SettingError for others."""
    if name not in PRESETS:
        raise SettingError(f"no preset is called {name}; known: {', '.join(PRESETS)}")
    settings = _small(game)
    if name == "demo":
        learner = replace(settings.learner, decay_steps=500)
        return replace(settings, rounds=100, games=16, learner=learner)
    return settings if name == "full" else _paper(game)


def _small(game: Game) -> TrainSettings:
    """Small networks and searches of (100, 1): what two cores learn Leduc with."""
    budget, search = Budget(100, 1.0), SearchSettings()
    return TrainSettings(
        selfplay=SelfPlaySettings(ResolveSettings(budget, search), queries_per_search=8.0, uniform_mix=0.25),
        queries=QuerySettings(budget, search, recursive=0.2),
        learner=LearnerSettings(batch=512, learning_rate=2e-3, decay=0.5, decay_steps=4_000, updates_per_example=20.0),
        shape=shape_for(game, width=256, depth=3, crossed=game.crossed),
    )


def _paper(game: Game) -> TrainSettings:
    """PoG, Table 3, the column of no-limit hold'em (for games without one of their own); a cluster's size."""
    budget = Budget(100, 1.0)
    return TrainSettings(
        selfplay=SelfPlaySettings(ResolveSettings(budget, PAPER, alpha=0.5), queries_per_search=0.9, uniform_mix=0.1),
        queries=QuerySettings(budget, PAPER, recursive=0.1),
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
