"""Exploitability of the search agent in turn spots of hold'em: the turn searched as in play, rivers solved anew."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sog.errors import GameError, SettingError
from sog.games.holdem.game import Holdem
from sog.games.strings import parse_game
from sog.measure.endgame import RIVERS, SAFE, SEARCHED, EndgameMeasure, EndgamePolicy, played_by, searched_turn
from sog.play.agent import SearchAgent
from sog.play.resolver import ResolveSettings
from sog.searches.leaves.evaluator import Evaluator
from sog.searches.tree.public_tree import PublicTree

__all__ = ["RiverSolving", "TurnSpotResult", "measure_turn_spot"]

_ITERATIONS: Final = 200


@dataclass(frozen=True)
class RiverSolving:
    """How rivers are played where a turn spot is measured.

    method: safe (the default), unsafe or search (sog.measure.endgame).  iterations: of DCFR in each river's solve.
    """

    method: str = SAFE
    iterations: int = _ITERATIONS

    @classmethod
    def read(cls, text: str | None) -> RiverSolving:
        """Of a text such as safe or unsafe(iterations=500); SettingError where it is neither."""
        if text is None:
            return cls()
        try:
            method, settings = parse_game(text)
        except GameError:
            method, settings = text, {}
        iterations = settings.pop("iterations", _ITERATIONS)
        if method not in RIVERS or settings or not isinstance(iterations, int) or iterations < 1:
            raise SettingError(f"--river is safe, unsafe or search, or such as safe(iterations=200), not {text}")
        return cls(method, iterations)

    def __str__(self) -> str:
        return SEARCHED if self.method == SEARCHED else f"{self.method}(iterations={self.iterations})"


@dataclass(frozen=True)
class TurnSpotResult:
    """One seed's figures, and the seconds that its searches took."""

    measure: EndgameMeasure
    search_seconds: float


def measure_turn_spot(
    game: Holdem,
    settings: ResolveSettings,
    evaluator: Evaluator,
    seed: int,
    river: RiverSolving,
    listed: Callable[[], PublicTree],
    threads: int | None = None,
) -> TurnSpotResult:
    """The figures of the search agent for one seed.

    listed: the game's whole public tree, asked for where the agent searches rivers too.  threads: of the solver; by
    default as many as there are cores, which changes no number.
    """
    whole = EndgamePolicy(game, threads or os.cpu_count() or 1)
    started = time.perf_counter()

    def seat(public: PublicTree, player: int) -> SearchAgent:
        return SearchAgent(public, player, settings, evaluator, seed)

    if river.method == SEARCHED:
        whole.play(played_by(seat(listed(), player) for player in (0, 1)))
        searched = time.perf_counter() - started
    else:
        turn = searched_turn(game, seat)
        searched = time.perf_counter() - started
        whole.solve_rivers(turn, river.method, river.iterations, settings.alpha)
    return TurnSpotResult(whole.measure(), searched)
