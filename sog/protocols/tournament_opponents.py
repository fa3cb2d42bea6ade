"""A tournament's opponents that are not ours to train: what each is called and which keys it takes.

openspiel_mcts = 1000              OpenSpiel's C++ MCTS, this many random rollouts a move; or 0 and seconds = 0.1
openspiel_alphazero = "runs/az"    OpenSpiel's own AlphaZero, trained by soglab.baselines.openspiel_alphazero.train;
                                   simulations = 100, or seconds = 0.1: as many as fit
alphabeta = 5                      alpha-beta of this many moves; counts material in chess, nothing elsewhere
captures = true                    Go: takes stones in atari and saves its own, otherwise random
rollouts = 1000                    Go: plain MCTS of ours, this many random rollouts a move
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sog.errors import GameError, SettingError
from sog.games.base import Game
from sog.games.boards.chess import Chess
from sog.games.boards.go import Go
from sog.opponents.alpha_beta import alpha_beta, material, nothing
from sog.opponents.go_captures import captures
from sog.opponents.go_rollouts import rollouts
from sog.opponents.openspiel_alphazero.player import openspiel_alphazero
from sog.opponents.openspiel_mcts import openspiel_mcts
from sog.opponents.rating import Rate, spiel_state
from sog.play.player import Limits
from sog.protocols.words import shown

__all__ = ["OPPONENTS", "Opponent"]


@dataclass(frozen=True)
class Opponent:
    """takes: keys beside the opponent's own.

    check: SettingError where (the value of its own key, limits of a move) cannot be.
    rate: of the same and the game; SettingError where it does not play that game.
    """

    takes: frozenset[str]
    check: Callable[[Any, Limits], None]
    rate: Callable[[Any, Limits, Game], Rate]


def _check_mcts(simulations: Any, limits: Limits) -> None:
    _check_count("openspiel_mcts", simulations, 0, _MOST)
    if simulations == 0 and limits.seconds is None:
        raise SettingError("openspiel_mcts = 0 needs seconds")


def _mcts(simulations: Any, limits: Limits, game: Game) -> Rate:
    _check_openspiel("openspiel_mcts", game)
    return openspiel_mcts(simulations or None, limits.seconds)


def _check_alphazero(folder: Any, limits: Limits) -> None:
    if not isinstance(folder, str) or not folder:
        raise SettingError(f"openspiel_alphazero names a folder, not {shown(str(folder))}")
    if limits.simulations is not None and limits.seconds is not None:
        raise SettingError("openspiel_alphazero takes simulations or seconds, not both")


def _alphazero(folder: Any, limits: Limits, game: Game) -> Rate:
    return openspiel_alphazero(Path(folder), game, limits.seconds)


def _check_depth(depth: Any, limits: Limits) -> None:
    _check_count("alphabeta", depth, 1, _DEEPEST)


def _alpha_beta(depth: Any, limits: Limits, game: Game) -> Rate:
    _check_openspiel("alphabeta", game)
    return alpha_beta(depth, material if isinstance(game, Chess) else nothing)


def _check_captures(value: Any, limits: Limits) -> None:
    if value is not True:
        raise SettingError(f"captures can only be true, not {shown(str(value))}")


def _captures(value: Any, limits: Limits, game: Game) -> Rate:
    _check_go("captures", game)
    return captures


def _check_rollouts(count: Any, limits: Limits) -> None:
    _check_count("rollouts", count, 1, _MOST)


def _rollouts(count: Any, limits: Limits, game: Game) -> Rate:
    _check_go("rollouts", game)
    return rollouts(count)


def _check_go(name: str, game: Game) -> None:
    if not isinstance(game, Go):
        raise SettingError(f"{name} plays Go only, not {game.name}")


def _check_openspiel(name: str, game: Game) -> None:
    try:
        spiel_state(game, game.root())
    except GameError as error:
        raise SettingError(f"{name} plays by OpenSpiel's rules: {error}") from error


def _check_count(name: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise SettingError(f"{name} must be a whole number from {least} to {most:,}, not {shown(str(value))}")


_MOST: Final = 10**9  # rollouts a move
_DEEPEST: Final = 64  # moves

# By the key that names it in the file.
OPPONENTS: Final[Mapping[str, Opponent]] = {
    "openspiel_mcts": Opponent(frozenset({"seconds"}), _check_mcts, _mcts),
    "openspiel_alphazero": Opponent(frozenset({"simulations", "seconds"}), _check_alphazero, _alphazero),
    "alphabeta": Opponent(frozenset(), _check_depth, _alpha_beta),
    "captures": Opponent(frozenset(), _check_captures, _captures),
    "rollouts": Opponent(frozenset(), _check_rollouts, _rollouts),
}
