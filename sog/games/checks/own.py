"""Checks a user-defined game before anything is solved or learned on it."""

from __future__ import annotations

from typing import Final

from sog.games.base import Game
from sog.games.catalog import as_game, public_face
from sog.games.checks.histories import check_history_game
from sog.games.checks.public_states import check_game
from sog.games.histories.base import HistoryGame
from sog.games.own import is_own

__all__ = ["check_own", "checked_game"]

_STATES: Final = 2_000  # public states that are looked at: a second or two
_GAMES: Final = 100
_GLANCE: Final = 200  # public states of a game that is given from Python: a tenth of a second
_OURS: Final = __name__.partition(".")[0]


def check_own(game: Game | HistoryGame) -> None:
    """GameError where a user-defined game breaks a promise of its interface; games of this program are not checked.

    A sample of it, in both of its forms where it is one by histories; `sog.check_game` looks at more.
    """
    if type(game).__module__.partition(".")[0] == _OURS:
        return
    if isinstance(game, HistoryGame):
        if is_own(game.name, "HISTORY_GAMES"):
            check_history_game(game, public_face(game), games=_GAMES)
    elif is_own(game.name, "GAMES"):
        check_game(game, _STATES)


def checked_game(game: Game | str) -> Game:
    """`as_game`; GameError, too, where a game of a user's own class breaks a promise of its interface in a sample.

    Without it wrong shapes and numbers of edges are read past the ends of arrays, with wrong values or a crash.
    """
    rules = as_game(game)
    if type(rules).__module__.partition(".")[0] != _OURS:
        check_game(rules, _GLANCE)
    return rules
