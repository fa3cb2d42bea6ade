"""Presets of Student of Games for games of planes: what boards are learnt with here, and PoG's Table 3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from sog.games.base import Game
from sog.games.names import parse_game
from sog.nets.cvpn import shape_for
from sog.play.resolver import ResolveSettings
from sog.search.gtcfr.search import PAPER, Budget
from sog.train.boards.presets import board_preset
from sog.train.boards.searches import GtcfrSearch
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
    return board_preset(game, name, GtcfrSearch(per_update=8.0))


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
