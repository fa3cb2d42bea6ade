"""Plays Go, and OpenSpiel's boards such as Othello, through another program's GTP engine."""

from __future__ import annotations

from collections.abc import Sequence

from sog.errors import SettingError
from sog.games.base import Game
from sog.games.boards.go import Go
from sog.play.match import ContestantFault
from sog.play.move_tree import MoveTree
from sog.play.player import Limits
from sog.protocols.engine_process import LONGEST, STARTING, EngineProcess
from sog.protocols.words import shown

__all__ = ["GtpContestant", "GtpPipe"]


class GtpPipe(EngineProcess):
    """A GTP program on pipes."""

    def __init__(self, command: Sequence[str], patience: float = 60.0) -> None:
        """Raises SettingError where it does not start.  patience: seconds for each answer."""
        super().__init__(command)
        self.patience = patience

    def send(self, command: str, at_least: float = 0.0) -> str:
        """The answer to one command; ContestantFault for an error answer, none in time, or a program that has ended.

        at_least: seconds for it, whatever the patience.
        """
        self.allow(max(at_least, self.patience))
        try:
            self.say(command)
            answer = self._answer()
        except ContestantFault as fault:
            raise ContestantFault(f"{command}: {fault}") from fault
        if not answer.startswith("="):
            raise ContestantFault(f"{command}: answered {shown(answer)}")
        return answer[1:].strip()

    def _answer(self) -> str:
        """Lines up to the empty one that ends an answer."""
        lines: list[str] = []
        size = 0
        while size <= LONGEST:
            line = self.line()
            if line.strip():
                lines.append(line)
                if lines[0][:1] not in ("=", "?"):  # what speaks no GTP may never print an empty line
                    break
                size += len(line) + 1
            elif lines:
                break
        if size <= LONGEST:
            return "\n".join(lines)
        raise ContestantFault(f"printed more than {LONGEST:,} bytes without the empty line that ends an answer")


def _setup(game: Game) -> Sequence[str]:
    """The commands that begin a game: OpenSpiel's boards have no komi."""
    if isinstance(game, Go):
        return f"boardsize {game.size}", "clear_board", f"komi {game.komi:g}"
    return (*((f"boardsize {game.planes[1]}",) if game.planes else ()), "clear_board")


class GtpContestant:
    """An engine started by a command line; it is killed, and has lost, when an answer takes too long.

    `begin` and `meet` raise SettingError where its program does not start, `meet` also where it speaks no GTP.
    """

    def __init__(self, name: str, command: Sequence[str], limits: Limits, patience: float) -> None:
        """limits.seconds: sent to the engine as time for each move; the engine's own options limit the rest."""
        self.name, self.command, self.limits, self.patience = name, command, limits, patience
        self._pipe: GtpPipe | None = None

    def meet(self) -> None:
        """Start the program and hear whether it speaks GTP."""
        try:
            self._started().send("protocol_version", STARTING)
        except ContestantFault as fault:
            self.close()
            raise SettingError(f"agent {self.name} speaks no GTP: {fault}") from fault

    def begin(self, game: Game, seed: int) -> None:
        self.tree, self.sent = MoveTree(game), 0
        self._started()
        for command in _setup(game):
            self._send(command)
        if self.limits.seconds is not None:
            self._send(f"time_settings 0 {max(1, round(self.limits.seconds))} 1")

    def move(self, moves: Sequence[int]) -> int | None:
        for k in range(self.sent, len(moves)):
            node = self.tree.node_after(moves[:k])
            if not self._must_pass(node):
                self._send(f"play {self._colour(node)} {self._vertices(node)[moves[k]]}")
        node = self.tree.node_after(moves)
        if self._must_pass(node):
            self.sent = len(moves) + 1
            return self.tree.actions(node)[0]
        vertex = self._send(f"genmove {self._colour(node)}")
        self.sent = len(moves) + 1
        if vertex.lower() == "resign":
            return None
        for action, name in self._vertices(node).items():
            if name.lower() == vertex.lower():
                return action
        raise ContestantFault(f"names {shown(vertex)}: illegal move")

    def _must_pass(self, node: int) -> bool:
        """Whether a pass is forced, as in Othello, and not said: GTP has it only for Go."""
        return not isinstance(self.tree.public.game, Go) and [*self._vertices(node).values()] == ["pass"]

    def _colour(self, node: int) -> str:
        return "bw"[self.tree.actor(node)]

    def _vertices(self, node: int) -> dict[int, str]:
        """What the legal actions at a node are called, which is as GTP has it: C3, or pass."""
        public = self.tree.public
        return {action: public.game.action_name(public.states[node], action) for action in self.tree.actions(node)}

    def close(self) -> None:
        if self._pipe is not None:
            self._pipe.kill()
            self._pipe = None

    def _started(self) -> GtpPipe:
        self._pipe = self._pipe or GtpPipe(self.command, self.patience + (self.limits.seconds or 0.0))
        return self._pipe

    def _send(self, command: str) -> str:
        assert self._pipe is not None
        return self._pipe.send(command)
