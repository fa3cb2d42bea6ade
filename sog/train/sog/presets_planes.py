"""Presets of Student of Games for games of planes: small residual networks, and PoG's Table 3 for chess and Go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from sog.games.base import Game
from sog.games.names import parse_game
from sog.nets.cvpn import shape_for
from sog.play.resolver import ResolveSettings
from sog.search.gtcfr.search import PAPER, Budget, SearchSettings
from sog.train.learner import LearnerSettings
from sog.train.settings import TrainSettings
from sog.train.sog.actor import SogActing
from sog.train.sog.queries import QuerySettings
from sog.train.sog.selfplay import SelfPlaySettings

__all__ = ["planes_preset"]


def planes_preset(game: Game, name: str) -> TrainSettings:
    """The settings called demo (two cores, minutes), full (two cores, hours), or paper."""
    if name == "paper":
        return _PAPER.get(parse_game(game.name)[0], _paper_go)(game)
    demo = _demo(game)
    if name == "demo":
        return demo
    learner = replace(demo.learner, decay_steps=20_000)
    return replace(demo, shape=shape_for(game, 64, 6, "resnet"), learner=learner, replay=100_000, rounds=2_000)


def _demo(game: Game) -> TrainSettings:
    """Four blocks of 32 channels; policies from the main line's searches, values from outcomes and queries."""
    budget, search = Budget(60, 2.0), SearchSettings()
    long = game.drawn_out
    together = 16 if long else 64  # large batches: twice the searches a second of a quarter as many games
    return TrainSettings(
        acting=SogActing(
            SelfPlaySettings(
                ResolveSettings(budget, search),
                queries_per_search=0.3,
                uniform_mix=0.05,
                td1=0.5,
                main_line_policies=True,
                greedy_after=30 if long else 20,
                moves_max=160 if long else 0,
                resign_below=-0.95 if long else -2.0,
            ),
            QuerySettings(budget, search, recursive=0.1),
            side_by_side=together,
        ),
        learner=LearnerSettings(
            batch=256, learning_rate=1e-3, decay=0.5, decay_steps=4_000, policy_weight=1.0, updates_per_example=4.0
        ),
        shape=shape_for(game, 32, 4, "resnet"),
        replay=30_000,
        games=together,
        rounds=100,
    )


def _paper_chess(game: Game) -> TrainSettings:
    """PoG, Table 3, chess; SoG(400, 1) in training; AlphaZero's 19 blocks of 256 channels; a cluster's size."""
    search, budget = replace(PAPER, prior_temperature=1.5), Budget(400, 1.0)
    selfplay = SelfPlaySettings(
        ResolveSettings(budget, search, alpha=0.5),
        queries_per_search=1.0,
        uniform_mix=0.0,
        td1=0.0,
        greedy_after=30,
        moves_max=game.longest,
        resign_below=-0.9,
        no_resign=0.2,
        resolve_positions=True,
    )
    return TrainSettings(
        acting=SogActing(selfplay, QuerySettings(budget, search, recursive=0.2)),
        learner=LearnerSettings(
            batch=2048,
            optimiser="sgd",
            learning_rate=0.1,
            decay=0.8,
            decay_steps=40_000,
            value_weight=0.25,
            policy_weight=1.0,
            updates_per_example=1.0,
        ),
        shape=shape_for(game, 256, 19, "resnet"),
        replay=50_000_000,
        rounds=1_000_000,
    )


def _paper_go(game: Game) -> TrainSettings:
    """PoG, Table 3, Go (also for connect four): no queries, so policies come from the main line's searches."""
    chess = _paper_chess(game)
    search, budget = replace(PAPER, prior_temperature=1.5), Budget(400, 1.0)
    selfplay = SelfPlaySettings(
        ResolveSettings(budget, search, alpha=0.5),
        queries_per_search=0.0,
        uniform_mix=0.0,
        td1=0.2,
        main_line_policies=True,
        greedy_after=30,
        moves_max=game.longest,
        resign_below=-0.9,
        no_resign=0.2,
        resolve_positions=True,
    )
    learner = replace(
        chess.learner,
        learning_rate=0.02,
        decay=0.1,
        decay_steps=200_000,
        value_weight=0.5,
        updates_per_example=0.2,
    )
    return replace(chess, acting=SogActing(selfplay, QuerySettings(budget, search, recursive=0.0)), learner=learner)


# Columns of Table 3 by the short name of the game; other games take Go's.
_PAPER: Final[dict[str, Callable[[Game], TrainSettings]]] = {"chess": _paper_chess, "go": _paper_go}
