"""Plays chess through another program's UCI engine. The only file that imports python-chess, which is GPL-3.

python-chess (`pip install 'sog[chess]'`) is an optional extra: sog itself stays under its own licence without it.
"""

from __future__ import annotations

import contextlib
import logging
import shlex
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from sog.errors import SettingError
from sog.games.base import Game
from sog.games.boards.chess import Chess
from sog.play.match import ContestantFault
from sog.play.player import Limits, MoveTree

__all__ = ["UciContestant"]


class UciContestant:
    """An engine started by a command line; it is killed, and has lost, when it says nothing for too long."""

    def __init__(
        self, name: str, command: str, limits: Limits, options: Mapping[str, Any] | None = None, patience: float = 60.0
    ) -> None:
        """patience: seconds for a move beyond `limits.seconds`, and for the start.

        Raises SettingError where python-chess is not installed.
        """
        try:
            import chess.engine
        except ImportError as error:
            raise SettingError("playing UCI engines needs python-chess: pip install 'sog[chess]'") from error
        self.name, self.command, self.limits, self.patience = name, shlex.split(command), limits, patience
        self.options = dict(options or {})
        logging.getLogger("chess.engine").setLevel(logging.ERROR)  # what engines say on stderr is theirs
        self._chess: Any = chess
        self._engine: Any = None

    def begin(self, game: Game, seed: int) -> None:
        if not isinstance(game, Chess):
            raise ContestantFault(f"UCI engines play chess, not {game.name}")
        self.game, self.tree, self._token = game, MoveTree(game), object()
        if self._engine is None:
            try:
                self._engine = self._chess.engine.SimpleEngine.popen_uci(self.command, timeout=self.patience)
                self._engine.configure(self.options)
            except (OSError, TimeoutError, self._chess.engine.EngineError) as error:
                self.close()
                raise ContestantFault(f"does not start: {_told(error)}") from error

    def move(self, moves: Sequence[int]) -> int | None:
        board = self._chess.Board(self.game.fen)
        for k, action in enumerate(moves):
            board.push_uci(self.game.action_name(self._state(moves[:k]), action))
        limit = self._chess.engine.Limit(nodes=self.limits.simulations, time=self.limits.seconds)
        late = threading.Event()
        watchdog = threading.Timer((self.limits.seconds or 0.0) + self.patience, self._give_up, [late])
        watchdog.start()
        try:
            result = self._engine.play(board, limit, game=self._token)
        except (TimeoutError, self._chess.engine.EngineError) as error:
            raise ContestantFault("said nothing in time" if late.is_set() else _told(error)) from error
        finally:
            watchdog.cancel()
        if result.resigned:
            return None
        if result.move is None:
            raise ContestantFault("names no move")
        return self.game.action(self._state(moves), result.move.uci())

    def close(self) -> None:
        if self._engine is not None:
            engine, self._engine = self._engine, None
            _kill(engine)
            engine.close()

    def _state(self, moves: Sequence[int]) -> Any:
        return self.tree.public.states[self.tree.node_after(moves)]

    def _give_up(self, late: threading.Event) -> None:
        late.set()
        _kill(self._engine)


def _kill(engine: Any) -> None:
    with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
        engine.transport.kill()


def _told(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
