"""Plays Go through another program's GTP engine."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
from collections.abc import Sequence

from sog.errors import GameError
from sog.games.base import Game
from sog.games.boards.go import Go
from sog.play.match import ContestantFault
from sog.play.player import Limits
from sog.protocols.go_setup import read_vertex, write_vertex
from sog.protocols.lines import Lines

__all__ = ["GtpContestant", "GtpPipe"]


class GtpPipe:
    """A GTP program on pipes."""

    def __init__(self, command: str, patience: float = 60.0) -> None:
        """Raises ContestantFault where it does not start.  patience: seconds for any answer."""
        try:
            self.process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        except OSError as error:
            raise ContestantFault(f"does not start: {error.strerror}") from error
        assert self.process.stdout is not None
        self.lines, self.patience = Lines(self.process.stdout), patience

    def ask(self, command: str) -> str:
        """The answer to one command; ContestantFault for an error answer, silence or a dead program."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            answer = self._answer()
        except OSError as error:
            raise ContestantFault("has ended") from error
        except TimeoutError as error:
            raise ContestantFault(f"{command}: said nothing in time") from error
        if not answer.startswith("="):
            raise ContestantFault(f"{command}: {' '.join(answer.split())}")
        return answer[1:].strip()

    def kill(self) -> None:
        """End the program, whatever it does."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _answer(self) -> str:
        """Lines up to the empty one that ends an answer."""
        said: list[str] = []
        while True:
            line = self.lines.next(self.patience)
            if line is None:
                raise ContestantFault("has ended")
            if line.strip():
                said.append(line)
            elif said:
                return "\n".join(said)


class GtpContestant:
    """An engine started by a command line; it is killed, and has lost, when it says nothing for too long."""

    def __init__(self, name: str, command: str, limits: Limits, patience: float = 60.0) -> None:
        """limits.seconds: told to the engine as time for each move; the engine's own options limit the rest."""
        self.name, self.command, self.limits, self.patience = name, command, limits, patience
        self._pipe: GtpPipe | None = None

    def begin(self, game: Game, seed: int) -> None:
        if not isinstance(game, Go):
            raise ContestantFault(f"GTP engines play Go, not {game.name}")
        self.game, self.told = game, 0
        if self._pipe is None:
            self._pipe = GtpPipe(self.command, self.patience + (self.limits.seconds or 0.0))
        for command in (f"boardsize {game.size}", "clear_board", f"komi {game.komi:g}"):
            self._ask(command)
        if self.limits.seconds is not None:
            self._ask(f"time_settings 0 {max(1, round(self.limits.seconds))} 1")

    def move(self, moves: Sequence[int]) -> int | None:
        for k in range(self.told, len(moves)):
            self._ask(f"play {'bw'[k % 2]} {write_vertex(moves[k], self.game.size)}")
        vertex = self._ask(f"genmove {'bw'[len(moves) % 2]}")
        self.told = len(moves) + 1
        if vertex.lower() == "resign":
            return None
        try:
            return read_vertex(vertex, self.game.size)
        except GameError as error:
            raise ContestantFault(f"names {vertex}: {error}") from error

    def close(self) -> None:
        if self._pipe is not None:
            self._pipe.kill()
            self._pipe = None

    def _ask(self, command: str) -> str:
        assert self._pipe is not None
        return self._pipe.ask(command)
