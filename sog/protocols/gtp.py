"""The commands of a GTP engine.

Gunnar Farnebäck's Go Text Protocol, version 2 (draft 2, 2002), with the extensions of GoGui, KGS and Leela Zero that
programs for people use.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from pathlib import Path
from typing import Final

from sog.errors import GameError
from sog.files import open_regular, read_bounded
from sog.games.boards.go import Go
from sog.games.boards.sgf_reader import read_sgf
from sog.play.player import ENDLESS, Candidate, Limits, Player, PlayerSearch, Thought
from sog.protocols.engine import Engine, reporting
from sog.protocols.go_setup import (
    BLACK,
    GoBoard,
    ReachedPosition,
    fixed_handicap,
    read_colour,
    read_vertex,
    write_score,
    write_vertex,
)
from sog.protocols.gtp_analysis import Analysis, Row, kata_row, lz_row, read_analysis
from sog.protocols.gtp_clock import UNSEEN, GtpClock, TimeSettings
from sog.protocols.words import read_number, read_whole
from sog.version import VERSION

__all__ = ["GtpEngine", "read_command"]

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LINE: Final = re.compile(r"([0-9]+)?\s*(.*)", re.DOTALL)
# The clocks of kgs-time_settings, with how many numbers each takes.
_KGS_CLOCKS: Final = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}
# Bytes of an SGF file; stones of a handicap that the engine places by itself.
_LARGEST_FILE: Final = 2**20
_MOST_PLACED: Final = 9
# What GoGui's menu shows, and the command of each.
_VIEWS: Final = "dboard/Policy of the last search/sog-policy\nstring/Value of the last search/sog-value"


class GtpEngine(Engine):
    """A player behind GTP."""

    def __init__(self, player: Player, game: Go, say: Callable[[str], None], simulations: int = 800) -> None:
        """game: the board size and komi it begins with.  say: writes one line.  simulations: of a move."""
        super().__init__(player, say, simulations)
        self.fits = game.size  # the network was made for this size
        self.clock = GtpClock()
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
        self.board = GoBoard(self.board.game)
        self.clock.restart()
        self.playing = self.thought = None  # the player forgets the last game, too
        return ""

    def _komi(self, komi: str) -> str:
        """Another komi is another game, with the moves that were played."""
        try:
            board = GoBoard(self.board.game.at_komi(_number(komi)))
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
        """Search and make the move that it finds."""
        started = time.monotonic()
        vertex = self._reg_genmove(colour)
        self._spend(read_colour(colour), started)
        return self._made(colour, vertex)

    def _made(self, colour: str, vertex: str) -> str:
        self._play(colour, vertex)
        return vertex

    def _reg_genmove(self, colour: str) -> str:
        return self._best(*self._searched(read_colour(colour)))

    def _best(self, at: ReachedPosition, candidates: Sequence[Candidate]) -> str:
        """The best move that repeats no position; a pass only where no stone of the other colour can be taken."""
        order, passed = [c.action for c in candidates if not self.board.repeats(at, c.action)], self.fits**2
        best = order[0] if order else passed
        # All stones on the board count, so that dead ones are taken first, as a controller may ask for them to be.
        return write_vertex(self.board.attack(at, order) if best == passed else best, self.fits)

    def _searched(self, colour: int) -> tuple[ReachedPosition, tuple[Candidate, ...]]:
        """A colour's position and its moves there, best first, after a search within the limits of a move."""
        at, seconds = self.board.turned(colour), self.clock.seconds(colour)
        limits = Limits(self.simulations if seconds is None else ENDLESS, seconds)
        self.thought = self.think(at.game, at.moves, limits)
        return at, self.thought.candidates

    def _cleanup(self, colour: str) -> str:
        """As `genmove`, and no pass while a stone of the other colour can be taken."""
        started = time.monotonic()
        at, candidates = self._searched(read_colour(colour))
        order = [c.action for c in candidates if not self.board.repeats(at, c.action)]
        self._spend(read_colour(colour), started)
        return self._made(colour, write_vertex(self.board.attack(at, order), self.fits))

    # --- handicap and games from files ---

    def _fixed_handicap(self, count: str) -> str:
        return self._placed(fixed_handicap(self.fits, self._handicap(count)))

    def _place_free_handicap(self, count: str) -> str:
        """Stones where searches want them, one after another; fewer than asked for, as GTP allows, beyond nine."""
        wanted, points = min(self._handicap(count), _MOST_PLACED), list[int]()
        for _ in range(wanted):
            _, candidates = self._searched(BLACK)
            points.append(next(c.action for c in candidates if c.action != self.fits**2))
            self._placed(points[-1:])
        return _vertices(points, self.fits)

    def _set_free_handicap(self, *vertices: str) -> str:
        self._handicap("2")
        try:
            points = [read_vertex(vertex, self.fits) for vertex in vertices]
        except GameError:
            points = []
        if len(points) < 2 or len(set(points)) < len(points) or self.fits**2 in points:
            raise GameError("bad vertex list")
        self._placed(points)
        return ""

    def _handicap(self, count: str) -> int:
        """A number of stones, where the board is empty and has room for them."""
        number = _whole(count)
        if self.board.stones.any():
            raise GameError("board not empty")
        if not 2 <= number < self.fits**2:
            raise GameError("invalid number of stones")
        return number

    def _placed(self, points: Sequence[int]) -> str:
        for action in points:
            self.board.play(BLACK, action)
        return _vertices(points, self.fits)

    def _loadsgf(self, name: str, before: str = str(2**31 - 1)) -> str:
        """The main line of a file up to the position before a move; nothing changes where it cannot be read."""
        try:
            with open_regular(Path(name), _LARGEST_FILE) as (file, size):
                record = read_sgf(read_bounded(file, size).decode("utf-8", "replace"))
            game = self.board.game
            board, moves = GoBoard(game if record.komi is None else game.at_komi(record.komi)), 0
            for colour, action, is_move in record.plays if record.size == self.fits else ():
                moves += is_move
                if moves >= max(1, _whole(before)):
                    break
                board.play(colour, action)
        except (OSError, GameError):
            raise GameError("cannot load file") from None
        if record.size != self.fits:
            raise GameError(f"cannot load file: its board is not {self.fits}x{self.fits}")
        self._clear()
        self.board = board
        return ""

    # --- time ---

    def _time_settings(self, main: str, period: str, stones: str) -> str:
        settings = TimeSettings(_seconds(main), _seconds(period), _whole(stones))
        self.clock = GtpClock(None if settings.period > 0 and settings.stones == 0 else settings)
        return ""

    def _kgs_time_settings(self, kind: str, *numbers: str) -> str:
        if _KGS_CLOCKS.get(kind) != len(numbers):
            raise GameError("syntax error")
        main, period = ([_seconds(word) for word in numbers[:2]] + [0.0, 0.0])[:2]
        count = _whole(numbers[2]) if len(numbers) == 3 else 0
        counts = (0, count) if kind == "byoyomi" else (count, 0)
        settings = TimeSettings(main, period if count else 0.0, *counts)
        self.clock = GtpClock(None if kind == "none" else settings)
        return ""

    def _spend(self, colour: int, started: float) -> None:
        """Take a move's time from a colour's clock, with what only the client sees of it."""
        self.clock.spend(colour, time.monotonic() - started + UNSEEN)

    def _time_left(self, colour: str, seconds: str, count: str) -> str:
        self.clock.say(read_colour(colour), _number(seconds), _whole(count))
        return ""

    # --- the end, and what people look at ---

    def _final_status_list(self, status: str) -> str:
        """All stones on the board are alive by our rules."""
        if status not in ("alive", "dead", "seki"):
            raise GameError("syntax error")
        return _vertices(self.board.stones.ravel().nonzero()[0] if status == "alive" else [], self.fits, "\n")

    def _policy(self) -> str:
        shares, size = {c.action: c.share for c in self._last().candidates}, self.fits
        rows = [[shares.get(row * size + k, 0.0) for k in range(size)] for row in reversed(range(size))]
        return "\n".join(" ".join(f"{share:.3f}" for share in row) for row in rows)

    def _last(self) -> Thought:
        if self.thought is None:
            raise GameError("nothing was searched yet")
        return self.thought

    # --- searching ---

    def _lz_analyze(self, *given: str) -> None:
        """Leela Zero's lz-analyze [colour] [hundredths of a second]: lines of all moves until anything is sent."""
        self._analyze(given, lz_row)

    def _kata_analyze(self, *given: str) -> None:
        """KataGo's kata-analyze with the same words."""
        self._analyze(given, kata_row)

    def _analyze(self, given: Sequence[str], row: Row) -> None:
        asked = read_analysis(given, self.board.next_colour)
        at = self.board.turned(asked.colour)
        self.say(f"={self.number}")
        watch = reporting(self._rows_of(asked, row), asked.seconds, lambda search: self.lines.arrived())
        self.thought = self.think(at.game, at.moves, Limits(ENDLESS), watch)
        self.say("")

    def _lz_genmove(self, *given: str) -> None:
        """`genmove` with lz-analyze's lines while it searches; "play" and the move at the end."""
        self._genmove_analyze(given, lz_row)

    def _kata_genmove(self, *given: str) -> None:
        self._genmove_analyze(given, kata_row)

    def _genmove_analyze(self, given: Sequence[str], row: Row) -> None:
        asked, started = read_analysis(given, self.board.next_colour), time.monotonic()
        at, seconds = self.board.turned(asked.colour), self.clock.seconds(asked.colour)
        self.say(f"={self.number}")
        report, limits = self._rows_of(asked, row), Limits(self.simulations if seconds is None else ENDLESS, seconds)
        self.thought = self.think(at.game, at.moves, limits, reporting(report, asked.seconds, lambda search: False))
        self._say_rows(self.thought, asked, row)
        self._spend(asked.colour, started)
        vertex = self._best(at, self.thought.candidates)
        self.board.play(asked.colour, read_vertex(vertex, self.fits))
        self.say(f"play {vertex}\n")

    def _rows_of(self, asked: Analysis, row: Row) -> Callable[[PlayerSearch], None]:
        return lambda search: self._say_rows(search.thought(), asked, row)

    def _say_rows(self, thought: Thought, asked: Analysis, row: Row) -> None:
        """One line of the moves that were searched, and of others up to the number that was asked for."""
        shown = [(k, c) for k, c in enumerate(thought.candidates) if c.visits or k < asked.least]
        if rows := [row(k, c, thought.value_of(c), self.fits) for k, c in shown[: asked.most]]:
            self.say(" ".join(rows))


def read_command(line: str) -> tuple[str, list[str]]:
    """A command line's id ("" where it has none) and words, without comments and control characters."""
    text = _CONTROL.sub("", line).partition("#")[0].replace("\t", " ").strip()
    match = _LINE.fullmatch(text)
    assert match is not None
    if match[1] and match[2] and not text[len(match[1])].isspace():
        return "", text.split()
    return match[1] or "", match[2].split()


def _vertices(actions: Iterable[int], size: int, between: str = " ") -> str:
    return between.join(write_vertex(int(action), size) for action in actions)


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


def _seconds(word: str) -> float:
    """A float of at least 0."""
    if (number := _number(word)) < 0:
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
    "kgs-genmove_cleanup": GtpEngine._cleanup,
    "reg_genmove": GtpEngine._reg_genmove,
    "undo": GtpEngine._undo,
    "fixed_handicap": GtpEngine._fixed_handicap,
    "place_free_handicap": GtpEngine._place_free_handicap,
    "set_free_handicap": GtpEngine._set_free_handicap,
    "loadsgf": GtpEngine._loadsgf,
    "time_settings": GtpEngine._time_settings,
    "kgs-time_settings": GtpEngine._kgs_time_settings,
    "time_left": GtpEngine._time_left,
    "final_score": lambda engine: write_score(engine.board.score()),
    "final_status_list": GtpEngine._final_status_list,
    "showboard": lambda engine: "\n" + engine.board.drawing(),
    "lz-analyze": GtpEngine._lz_analyze,
    "kata-analyze": GtpEngine._kata_analyze,
    "lz-genmove_analyze": GtpEngine._lz_genmove,
    "kata-genmove_analyze": GtpEngine._kata_genmove,
    "gogui-analyze_commands": lambda engine: _VIEWS,
    "sog-policy": GtpEngine._policy,
    "sog-value": lambda engine: f"{engine._last().value:+.3f}",
}
