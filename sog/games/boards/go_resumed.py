"""Go from a position that alternating moves do not make: a colour that moved twice, or play after two passes.

Such a position is its stones in the order in which they were placed, and whose turn it is. OpenSpiel's state of them
has the board, the ko and every whole board that was there; between two stones of one colour it has a pass, which ends
nothing. The last move may be such a pass, and then OpenSpiel would take the next pass for the second: so passes are
counted here.
"""

from __future__ import annotations

from typing import Any, Final

import pyspiel

from sog.games.boards.go import Go
from sog.games.boards.positions import BoardPosition
from sog.games.rooted import Rooted

__all__ = ["resumed"]

_ENDLESS: Final = 2**30  # moves: OpenSpiel scores no game that was resumed for its length, `_Resumed` does
_OVER: Final = int(pyspiel.PlayerId.TERMINAL)


def resumed(game: Go, at: BoardPosition, player: int) -> Rooted:
    """The game from the stones of `at`, as if nobody had passed, with this player to move and 2 * N * N moves left."""
    spiel = pyspiel.load_game("go", {"board_size": game.size, "komi": game.komi, "max_game_length": _ENDLESS})
    state, passing = spiel.new_initial_state(), game.size**2
    placed: list[int] = at.spiel.history()
    while placed and placed[-1] == passing:
        placed.pop()
    for action in placed:
        state.apply_action(action)
    if state.current_player() != player:
        state.apply_action(passing)
    return Rooted(game, BoardPosition(_Resumed(state, passing, 2 * passing), _before_last_stone(game, at)))


def _before_last_stone(game: Go, at: BoardPosition) -> BoardPosition | None:
    """What the planes show as the position before: a pass that counts for nothing is not shown."""
    before = at.parent
    while before is not None and (game.board(before) == game.board(at)).all():
        before = before.parent
    return before


class _Resumed:
    """A state with what BoardPosition asks of a pyspiel.State; never changed.

    spiel: OpenSpiel's state, without two passes at its end.  left: moves until the board is scored.
    passed: whether the move before was a pass that was made, so that a pass ends the game.
    """

    __slots__ = ("left", "over", "passed", "passing", "spiel")

    def __init__(self, spiel: Any, passing: int, left: int, passed: bool = False, over: bool = False) -> None:
        self.spiel, self.passing, self.left, self.passed = spiel, passing, left, passed
        self.over = over or left == 0 or spiel.is_terminal()

    def current_player(self) -> int:
        return _OVER if self.over else int(self.spiel.current_player())

    def legal_actions(self) -> list[int]:
        actions: list[int] = [] if self.over else self.spiel.legal_actions()
        return actions

    def child(self, action: int) -> _Resumed:
        passes = action == self.passing
        spiel = self._turned() if passes else self.spiel.child(action)
        return _Resumed(spiel, self.passing, self.left - 1, passes, passes and self.passed)

    def _turned(self) -> Any:
        """OpenSpiel's state with the other player to move: one pass more, or the one that it ends with taken back."""
        if self.spiel.history()[-1:] != [self.passing]:
            return self.spiel.child(self.passing)
        turned = self.spiel.clone()
        turned.undo_action(1 - turned.current_player(), self.passing)
        return turned

    def player_return(self, player: int) -> float:
        """A board that came again is a draw; any other end is scored, for which OpenSpiel takes two passes."""
        if not self.over or self.spiel.is_terminal():
            return float(self.spiel.player_return(player))
        ended = self.spiel.clone()
        while not ended.is_terminal():
            ended.apply_action(self.passing)
        return float(ended.player_return(player))

    def history(self) -> list[int]:
        """The stones in order, with the passes that OpenSpiel's turns take."""
        actions: list[int] = self.spiel.history()
        return actions

    def __str__(self) -> str:
        return str(self.spiel)
