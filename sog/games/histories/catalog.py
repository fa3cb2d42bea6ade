"""The table of games by histories: from a game string to the game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sog.errors import GameError
from sog.games.base import Game
from sog.games.catalog import known_names, make_game
from sog.games.histories.base import HistoryGame
from sog.games.histories.battleship import BattleshipHistories
from sog.games.histories.goofspiel import GoofspielHistories
from sog.games.histories.kuhn import KuhnHistories
from sog.games.histories.leduc import LeducHistories
from sog.games.histories.liars_dice import LiarsDiceHistories
from sog.games.own import is_own, make_own, own_games, refuse_class, refuse_taken
from sog.games.parameters import BattleshipParameters, GoofspielParameters, dice_parameters
from sog.games.strings import (
    OPENSPIEL,
    Parameters,
    parse_game,
    refuse_unknown,
)

__all__ = ["has_histories", "make_history_game", "public_face"]


def make_history_game(name: str) -> HistoryGame:
    """The game by histories that a game string names; after `openspiel:` it may be any game string of OpenSpiel's.

    Raises GameError, in one line that names what is known, for another game or parameter.
    """
    if name.startswith(OPENSPIEL):
        from sog.games.histories.spiel import SpielHistories

        return SpielHistories(name.removeprefix(OPENSPIEL))
    refuse_class(name)
    short, parameters = parse_game(name)
    if short in _GAMES:
        refuse_taken(short, "HISTORY_GAMES")
        return _GAMES[short](parameters)
    own = own_games("HISTORY_GAMES")
    if short not in own:
        raise GameError(f"no game by histories is called {short}; {known_names(short, (*_GAMES, *own))}")
    game: HistoryGame = make_own(short, own[short], parameters, HistoryGame)
    return game


def has_histories(name: str) -> bool:
    """Whether the game that a game string names is one by histories here, without making it."""
    short = name.partition("(")[0]
    return name.startswith(OPENSPIEL) or short in _GAMES or short in own_games("HISTORY_GAMES")


def public_face(game: Game | HistoryGame) -> Game | None:
    """The same game by public states; None where it is too large or there is none."""
    if isinstance(game, Game):
        return game
    if is_own(game.name, "GAMES"):
        return make_game(game.name)  # whose faults are no lack of one
    try:
        return make_game(game.name)
    except GameError:
        return None


def _kuhn(parameters: Parameters) -> HistoryGame:
    refuse_unknown("kuhn_poker", parameters, ())
    return KuhnHistories()


def _leduc(parameters: Parameters) -> HistoryGame:
    refuse_unknown("leduc_poker", parameters, ())
    return LeducHistories()


def _liars_dice(parameters: Parameters) -> HistoryGame:
    return LiarsDiceHistories(*dice_parameters(parameters))


def _goofspiel(parameters: Parameters) -> HistoryGame:
    found = GoofspielParameters.read(parameters)
    return GoofspielHistories(found.num_cards, found.points_order, found.returns_type)


def _battleship(parameters: Parameters) -> HistoryGame:
    found = BattleshipParameters.read(parameters)
    return BattleshipHistories(found.width, found.height, found.sizes, found.values, found.num_shots)


_GAMES: Final[Mapping[str, Callable[[Parameters], HistoryGame]]] = {
    "kuhn_poker": _kuhn,
    "leduc_poker": _leduc,
    "liars_dice": _liars_dice,
    "goofspiel": _goofspiel,
    "battleship": _battleship,
}
