"""The commands of a GTP engine.

Gunnar Farnebäck's Go Text Protocol, version 2 (draft 2, 2002), with the extensions of GoGui, KGS and Leela Zero that
programs for people use.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Final

from sog.errors import GameError
from sog.games.boards.go import Go
from sog.play.player import ENDLESS, Candidate, Limits, Player, PlayerSearch, Thought
from sog.protocols.engine import Engine, reporting, share_of_clock
from sog.protocols.go_setup import GoBoard, read_colour, read_vertex, write_score, write_vertex
from sog.protocols.words import read_number, read_whole
from sog.version import VERSION

__all__ = ["GtpClock", "GtpEngine", "read_command"]

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LINE: Final = re.compile(r"([0-9]+)?\s*(.*)", re.DOTALL)
# What GoGui's menu shows, and the command of each.
_VIEWS: Final = "dboard/Policy of the last search/sog-policy\nstring/Value of the last search/sog-value"


@dataclass(frozen=True)
class GtpClock:
    """GTP's time settings, in seconds. None of both: no limit."""

    main: float
    period: float
    stones: int


class GtpEngine(Engine):
    """A player behind GTP."""

    def __init__(self, player: Player, game: Go, say: Callable[[str], None], simulations: int = 800) -> None:
        """game: the board size and komi it begins with.  say: writes one line.  simulations: of a move."""
        super().__init__(player, say, simulations)
        self.fits = game.size  # the network was made for this size
        self.clock: GtpClock | None = None
        self.left: dict[int, tuple[float, int]] = {}
        self.thought: Thought | None = None
        self.board = GoBoard(game)

    def read(self, line: str) -> list[str]:
        self.number, words = read_command(line)
        if words and line.endswith("\n"):
            raise GameError("the line is too long")
        return words

    def run(self, command: str, words: list[str]) -> None:
        """GameError for the protocol's own error answers."""
        if command not in _COMMANDS:
            raise GameError("unknown command")
        try:
            call = signature(_COMMANDS[command]).bind(self, *words)
        except TypeError:  # too few words, or too many
            raise GameError("syntax error") from None
        if (answer := _COMMANDS[command](*call.args)) is not None:
            self._reply("=", answer)

    def refuse(self, why: str) -> None:
        self._reply("?", why)

    def _reply(self, mark: str, text: str) -> None:
        self.say(f"{mark}{self.number} {text}".rstrip() + "\n")

    # --- the game ---

    def _boardsize(self, size: str) -> str:
        if _whole(size) != self.fits:
            raise GameError(f"unacceptable size: this network plays {self.fits}x{self.fits}")
        return self._clear()

    def _clear(self) -> str:
        self.left, self.board = {}, GoBoard(self.board.game)
        self.playing = self.thought = None  # the player forgets the last game, too
        return ""

    def _komi(self, komi: str) -> str:
        """Another komi is another game, with the moves that were played."""
        try:
            board = GoBoard(Go(self.fits, _number(komi)))
        except GameError:
            raise GameError("syntax error") from None
        board.take_over(self.board)
        self.board, self.thought = board, None
        return ""

    def _play(self, colour: str, vertex: str) -> str:
        self.board.play(read_colour(colour), read_vertex(vertex, self.fits))
        return ""

    def _undo(self) -> str:
        self.board.undo()
        return ""

    def _genmove(self, colour: str) -> str:
        """Search and make the move that it finds; a pass where the game is over."""
        started = time.monotonic()
        vertex = self._reg_genmove(colour)
        self._spend(read_colour(colour), time.monotonic() - started)
        if not self.board.over:
            self._play(colour, vertex)
        return vertex

    def _reg_genmove(self, word: str) -> str:
        colour = read_colour(word)
        moves = self.board.turned(colour)
        if self.board.over or self.board.is_over(moves):
            return "pass"
        seconds = self._seconds(colour)
        limits = Limits(self.simulations if seconds is None else ENDLESS, seconds)
        self.thought = self.think(self.board.game, moves, limits)
        legal = [c for c in self.thought.candidates if not self.board.repeats([*moves, c.action])]
        return write_vertex(legal[0].action, self.fits) if legal else "pass"

    # --- time ---

    def _time_settings(self, main: str, period: str, stones: str) -> str:
        clock = GtpClock(_number(main), _number(period), _whole(stones))
        self.left, self.clock = {}, None if clock.period > 0 and clock.stones == 0 else clock
        return ""

    def _kgs_time_settings(self, kind: str, *numbers: str) -> str:
        if {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}.get(kind) != len(numbers):
            raise GameError("syntax error")
        main, period = ([_number(word) for word in numbers[:2]] + [0.0, 0.0])[:2]
        last = _whole(numbers[2]) if len(numbers) == 3 else 0  # byo-yomi's periods or a period's stones
        stones = last if kind == "canadian" else min(last, 1)
        self.left, self.clock = {}, None if kind == "none" else GtpClock(main, period, stones)
        return ""

    def _time_left(self, colour: str, seconds: str, stones: str) -> str:
        self.left[read_colour(colour)] = _number(seconds), _whole(stones)
        return ""

    def _seconds(self, colour: int) -> float | None:
        """How long a move may take; None where no clock runs."""
        left = self._left(colour)
        return None if left is None else share_of_clock(left[0], moves_to_go=left[1] or None)

    def _left(self, colour: int) -> tuple[float, int] | None:
        """Seconds and stones left: as the client said last, and less what was spent since; None without a clock."""
        clock = self.clock
        if colour in self.left or clock is None:
            return self.left.get(colour)
        return (clock.main, 0) if clock.main > 0 else (clock.period, clock.stones)

    def _spend(self, colour: int, seconds: float) -> None:
        """Take a move's time from what is left; of byo-yomi every move has its share anew."""
        left, clock = self._left(colour), self.clock
        if left is None or left[1]:
            return
        over = left[0] <= seconds and clock is not None and clock.period > 0
        self.left[colour] = (clock.period, clock.stones) if over and clock is not None else (left[0] - seconds, 0)

    # --- the end, and what people look at ---

    def _final_status_list(self, status: str) -> str:
        """All stones on the board are alive by our rules."""
        if status not in ("alive", "dead", "seki"):
            raise GameError("syntax error")
        stones = self.board.stones.ravel().nonzero()[0].tolist() if status == "alive" else []
        return "\n".join(write_vertex(action, self.fits) for action in stones)

    def _policy(self) -> str:
        shares, size = {c.action: c.share for c in self._last().candidates}, self.fits
        rows = [[shares.get(row * size + k, 0.0) for k in range(size)] for row in reversed(range(size))]
        return "\n".join(" ".join(f"{share:.3f}" for share in row) for row in rows)

    def _last(self) -> Thought:
        if self.thought is None:
            raise GameError("nothing was searched yet")
        return self.thought

    # --- searching ---

    def _analyze(self, *given: str) -> None:
        """Leela Zero's lz-analyze [colour] [hundredths of a second]: lines of all moves until anything is sent."""
        words = [word for word in given if word.lower() != "interval"]
        named = bool(words) and read_whole(words[0]) is None
        colour = read_colour(words[0]) if named else len(self.board.moves) % 2
        if len(given) > 3 or len(words) > named + 1:
            raise GameError("syntax error")
        moves = self.board.turned(colour)
        if self.board.is_over(moves):
            raise GameError("the game is over")
        interval = (_whole(words[-1]) if len(words) > named else 50) / 100.0
        self.say(f"={self.number}")
        watch = reporting(self._report, interval, lambda search: self.lines.arrived())
        self.thought = self.think(self.board.game, moves, Limits(ENDLESS), watch)
        self.say("")

    def _report(self, search: PlayerSearch) -> None:
        """A line of all moves that were looked at."""
        if rows := [self._row(k, c) for k, c in enumerate(search.thought().candidates) if c.visits]:
            self.say(" ".join(rows))

    def _row(self, order: int, candidate: Candidate) -> str:
        """One move as Leela Zero writes it: chances in ten thousandths."""
        line = " ".join(write_vertex(action, self.fits) for action in candidate.line)
        winrate, share = round(5000 * (1 + candidate.value)), round(10_000 * candidate.share)
        move = write_vertex(candidate.action, self.fits)
        return f"info move {move} visits {candidate.visits} winrate {winrate} prior {share} order {order} pv {line}"


def read_command(line: str) -> tuple[str, list[str]]:
    """A command line's id ("" where it has none) and words, without comments and control characters."""
    text = _CONTROL.sub("", line).partition("#")[0].replace("\t", " ").strip()
    match = _LINE.fullmatch(text)
    assert match is not None
    if match[1] and match[2] and not text[len(match[1])].isspace():
        return "", text.split()
    return match[1] or "", match[2].split()


def _whole(word: str) -> int:
    """GTP's int, from 0 to 2^31 - 1."""
    number = read_whole(word)
    if number is None or not 0 <= number < 2**31:
        raise GameError("syntax error")
    return number


def _number(word: str) -> float:
    """GTP's float."""
    number = read_number(word)
    if number is None:
        raise GameError("syntax error")
    return number


# What each command answers; None where it has answered itself. Its parameters are the words that it takes.
_COMMANDS: Final[dict[str, Callable[..., str | None]]] = {
    "protocol_version": lambda engine: "2",
    "name": lambda engine: "sog",
    "version": lambda engine: f"{VERSION} {engine.player.name}",
    "known_command": lambda engine, name: "true" if name in _COMMANDS else "false",
    "list_commands": lambda engine: "\n".join(_COMMANDS),
    "quit": GtpEngine.end,
    "boardsize": GtpEngine._boardsize,
    "clear_board": GtpEngine._clear,
    "komi": GtpEngine._komi,
    "play": GtpEngine._play,
    "genmove": GtpEngine._genmove,
    "kgs-genmove_cleanup": GtpEngine._genmove,
    "reg_genmove": GtpEngine._reg_genmove,
    "undo": GtpEngine._undo,
    "time_settings": GtpEngine._time_settings,
    "kgs-time_settings": GtpEngine._kgs_time_settings,
    "time_left": GtpEngine._time_left,
    "final_score": lambda engine: write_score(engine.board.score()),
    "final_status_list": GtpEngine._final_status_list,
    "showboard": lambda engine: "\n" + engine.board.drawing(),
    "lz-analyze": GtpEngine._analyze,
    "gogui-analyze_commands": lambda engine: _VIEWS,
    "sog-policy": GtpEngine._policy,
    "sog-value": lambda engine: f"{engine._last().value:+.3f}",
}
