"""A tournament's opponents that are not ours to train: what each is called and which keys it takes.

openspiel_mcts = 1000              OpenSpiel's C++ MCTS, this many random rollouts a move; or 0 and seconds = 0.1
openspiel_alphazero = "runs/az"    OpenSpiel's own AlphaZero, trained by soglab.baselines.openspiel_alphazero.train;
                                   simulations = 100, or seconds = 0.1: as many as fit
alphabeta = 5                      alpha-beta of this many moves; counts material in chess, nothing elsewhere
captures = true                    Go: takes stones in atari and saves its own, otherwise random
rollouts = 1000                    Go: plain MCTS of ours, this many random rollouts a move
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

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
from sog.protocols.words import Keys, shown, switch, whole

__all__ = ["OPPONENTS", "Opponent"]

_MOST: Final = 10**9  # rollouts a move
_DEEPEST: Final = 64  # moves

# Rates the moves of a game; SettingError for a game that it does not play.
RateOf: TypeAlias = Callable[[Game], Rate]


@dataclass(frozen=True)
class Opponent:
    """takes: keys beside the opponent's own.

    read: an agent's keys with the limits of a move, as what plays; SettingError where a value cannot be.
    """

    takes: frozenset[str]
    read: Callable[[Keys, Limits], RateOf]


def _mcts(agent: Keys, limits: Limits) -> RateOf:
    simulations = whole(agent, "openspiel_mcts", 0, _MOST, 0)
    if simulations == 0 and limits.seconds is None:
        raise SettingError("openspiel_mcts = 0 needs seconds")
    return _by_openspiel("openspiel_mcts", lambda game: openspiel_mcts(simulations or None, limits.seconds))


def _alphazero(agent: Keys, limits: Limits) -> RateOf:
    folder = agent["openspiel_alphazero"]
    if not isinstance(folder, str) or not folder:
        raise SettingError(f"openspiel_alphazero names a folder, not {shown(str(folder))}")
    if limits.simulations is not None and limits.seconds is not None:
        raise SettingError("openspiel_alphazero takes simulations or seconds, not both")
    return lambda game: openspiel_alphazero(Path(folder), game, limits.seconds)


def _alpha_beta(agent: Keys, limits: Limits) -> RateOf:
    depth = whole(agent, "alphabeta", 1, _DEEPEST, 1)
    return _by_openspiel("alphabeta", lambda game: alpha_beta(depth, material if isinstance(game, Chess) else nothing))


def _captures(agent: Keys, limits: Limits) -> RateOf:
    switch(agent, "captures")
    return _of_go("captures", captures)


def _rollouts(agent: Keys, limits: Limits) -> RateOf:
    return _of_go("rollouts", rollouts(whole(agent, "rollouts", 1, _MOST, 1)))


def _of_go(name: str, rate: Rate) -> RateOf:
    def rate_of(game: Game) -> Rate:
        if not isinstance(game, Go):
            raise SettingError(f"{name} plays Go only, not {game.name}")
        return rate

    return rate_of


def _by_openspiel(name: str, make: RateOf) -> RateOf:
    def rate_of(game: Game) -> Rate:
        try:
            spiel_state(game, game.root())
        except GameError as error:
            raise SettingError(f"{name} plays by OpenSpiel's rules: {error}") from error
        return make(game)

    return rate_of


# By the key that names it in the file.
OPPONENTS: Final = {
    "openspiel_mcts": Opponent(frozenset({"seconds"}), _mcts),
    "openspiel_alphazero": Opponent(frozenset({"simulations", "seconds"}), _alphazero),
    "alphabeta": Opponent(frozenset(), _alpha_beta),
    "captures": Opponent(frozenset(), _captures),
    "rollouts": Opponent(frozenset(), _rollouts),
}
