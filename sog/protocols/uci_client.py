"""Plays chess through another program's UCI engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sog.errors import GameError, SettingError
from sog.games.base import Game
from sog.games.boards.chess import START, Chess
from sog.play.match import ContestantFault
from sog.play.move_tree import MoveTree
from sog.play.player import Limits
from sog.protocols.engine_process import STARTING, EngineProcess
from sog.protocols.words import shown

__all__ = ["UciContestant"]

# Lines of no known kind that a program may print before it says what it is.
_STRANGE: Final = 1000


class UciContestant:
    """An engine started by a command line; it is killed, and has lost, when an answer takes too long.

    `begin` and `meet` raise SettingError where its program does not start or lacks an option, `meet` also where it
    speaks no UCI.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        limits: Limits,
        options: Mapping[str, str | int | float],
        patience: float,
    ) -> None:
        """patience: seconds for a move beyond `limits.seconds`, and for the start."""
        self.name, self.command, self.limits, self.patience = name, command, limits, patience
        self.options = options
        self._process: EngineProcess | None = None

    def begin(self, game: Game, seed: int) -> None:
        assert isinstance(game, Chess)
        self.game, self.tree = game, MoveTree(game)
        self._named: list[str] = []  # the game's moves so far, in UCI's notation
        self._start()
        self._ready("ucinewgame")

    def meet(self) -> None:
        """Start the program and hear whether it speaks UCI."""
        try:
            self._start()
        except ContestantFault as fault:
            self.close()
            raise SettingError(f"agent {self.name} speaks no UCI: {fault}") from fault

    def move(self, moves: Sequence[int]) -> int | None:
        states = self.tree.public.states
        for k in range(len(self._named), len(moves)):
            self._named.append(self.game.action_name(states[self.tree.node_after(moves[:k])], moves[k]))
        start = "startpos" if self.game.fen == START else f"fen {self.game.fen}"
        self._ready(" ".join(["position", start, *(["moves"] if moves else []), *self._named]))
        name = self._search()
        try:
            return self.game.action(states[self.tree.node_after(moves)], name)
        except GameError as error:
            raise ContestantFault(f"names {shown(name)}: illegal move") from error

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _start(self) -> None:
        """The handshake, once for a program; SettingError for an option that the engine does not have."""
        if self._process is not None:
            return
        process = self._process = EngineProcess(self.command)
        process.allow(max(STARTING, self.patience))
        process.say("uci")
        has, strange = set[str](), 0
        while (words := (line := process.line()).split())[:1] != ["uciok"]:
            strange += words[:1] not in (["id"], ["option"], ["info"])
            if words == ["uci"] or strange > _STRANGE:
                raise ContestantFault("repeats what it hears" if words == ["uci"] else "says other things than uciok")
            if line.startswith("option name "):
                has.add(line.removeprefix("option name ").partition(" type ")[0].strip().lower())
        for name, value in self.options.items():
            if name.lower() not in has:
                raise SettingError(f"{self.name} has no option {shown(name)}")
            process.say(f"setoption name {name} value {str(value).lower() if isinstance(value, bool) else value}")

    def _ready(self, line: str) -> None:
        """Say a line that has no answer, and wait until the engine has understood it. What it still printed is past."""
        assert self._process is not None
        self._process.allow(self.patience)
        self._process.say(line)
        self._process.say("isready")
        while self._process.line().split()[:1] != ["readyok"]:
            pass

    def _search(self) -> str:
        """The move that the engine names."""
        assert self._process is not None
        limits = {"nodes": self.limits.simulations, "movetime": self.limits.seconds and 1000 * self.limits.seconds}
        self._process.allow(self.patience + (self.limits.seconds or 0.0))
        self._process.say(" ".join(["go", *(f"{name} {max(1, round(n))}" for name, n in limits.items() if n)]))
        while (words := self._process.line().split())[:1] != ["bestmove"]:
            pass
        return words[1] if len(words) > 1 else "no move"
