"""Presets of Student of Games: what two cores learn small games with, and which others there are; they run nothing."""

from __future__ import annotations

from typing import Final

from sog.algorithms.boards.presets import board_preset, is_board, small_preset
from sog.algorithms.boards.searches import GtcfrSearch
from sog.algorithms.student.actor import SogActing
from sog.algorithms.student.presets_holdem import holdem_preset
from sog.algorithms.student.presets_paper import papers_preset
from sog.algorithms.student.presets_scotland_yard import scotland_yard_preset
from sog.algorithms.student.queries import QuerySettings
from sog.algorithms.student.selfplay import SelfPlaySettings
from sog.games.base import Game
from sog.games.holdem.hand_inputs import has_hand_inputs
from sog.games.scotland_yard.station_inputs import has_station_inputs
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.training.settings import TrainSettings

__all__ = ["sog_preset"]


def sog_preset(game: Game, name: str) -> TrainSettings:
    """The settings called demo (about three minutes on two cores), full, paper (SoG's) or pog."""
    if name in ("paper", "pog"):
        return papers_preset(game, pog=name == "pog")
    if is_board(game):
        return board_preset(game, name, GtcfrSearch(per_update=8.0))
    if has_hand_inputs(game):
        return holdem_preset(game, name)
    if has_station_inputs(game):
        return scotland_yard_preset(game, name)
    return small_preset(game, name, _ACTING)


_BUDGET: Final = Budget(100, 1.0)
_ACTING: Final = SogActing(
    SelfPlaySettings(ResolveSettings(_BUDGET), queries=8.0, uniform_mix=0.25),
    QuerySettings(_BUDGET, SearchSettings(), recursive=0.2),
)
