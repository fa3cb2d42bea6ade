"""A tournament's opponents of fixed strength, which need no network: what each is called and which keys it takes.

    openspiel_mcts = 1000      OpenSpiel's C++ MCTS, so many random rollouts a move; or 0 and seconds = 0.1
    alphabeta = 5              alpha-beta of so many moves; the horizon counts material in chess, nothing elsewhere
    captures = true            Go: takes stones in atari and saves its own, otherwise random
    rollouts = 1000            Go: plain MCTS of ours, so many random rollouts a move
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sog.baselines.alpha_beta import alpha_beta, material, nothing
from sog.baselines.go_captures import captures
from sog.baselines.go_rollouts import rollouts
from sog.baselines.openspiel_mcts import openspiel_mcts
from sog.baselines.rating import Rate
from sog.errors import SettingError
from sog.games.base import Game
from sog.games.boards.chess import Chess
from sog.games.boards.go import Go

__all__ = ["OPPONENTS", "Opponent"]


@dataclass(frozen=True)
class Opponent:
    """takes: keys beside the opponent's own.  rate: of (the value of its own key, seconds a move or None, game)."""

    takes: frozenset[str]
    rate: Callable[[Any, float | None, Game], Rate]


def _mcts(simulations: Any, seconds: float | None, game: Game) -> Rate:
    if simulations == 0 and seconds is None:
        raise SettingError("openspiel_mcts = 0 needs seconds")
    return openspiel_mcts(_count("openspiel_mcts", simulations, 0) or None, seconds)


def _alpha_beta(depth: Any, seconds: float | None, game: Game) -> Rate:
    return alpha_beta(_count("alphabeta", depth, 1), material if isinstance(game, Chess) else nothing)


def _captures(value: Any, seconds: float | None, game: Game) -> Rate:
    if value is not True:
        raise SettingError(f"captures cannot be {value!r}")
    _go("captures", game)
    return captures


def _rollouts(count: Any, seconds: float | None, game: Game) -> Rate:
    _go("rollouts", game)
    return rollouts(_count("rollouts", count, 1))


def _go(name: str, game: Game) -> None:
    if not isinstance(game, Go):
        raise SettingError(f"{name} plays Go only, not {game.name}")


def _count(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise SettingError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return value


# By the key that names it in the file.
OPPONENTS: Final[Mapping[str, Opponent]] = {
    "openspiel_mcts": Opponent(frozenset({"seconds"}), _mcts),
    "alphabeta": Opponent(frozenset(), _alpha_beta),
    "captures": Opponent(frozenset(), _captures),
    "rollouts": Opponent(frozenset(), _rollouts),
}
