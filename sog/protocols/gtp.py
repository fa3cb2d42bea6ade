"""The GTP engine: reads commands, has a player search, answers.

Gunnar Farnebäck's Go Text Protocol, version 2 (draft 2, 2002), with the extensions of GoGui, KGS and Leela Zero that
programs for people use.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sog.errors import GameError, SogError
from sog.games.boards.go import Go
from sog.play.player import ENDLESS, Candidate, Limits, Player, PlayerSearch, Thought, think
from sog.protocols.clock import share_of_clock
from sog.protocols.go_setup import GoBoard, read_colour, read_vertex, write_score, write_vertex
from sog.protocols.lines import Lines
from sog.protocols.words import read_number, read_whole, shown
from sog.version import VERSION

__all__ = ["GtpClock", "GtpEngine", "read_command"]

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LINE: Final = re.compile(r"([0-9]+)?\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class GtpClock:
    """GTP's time settings, in seconds. None of both: no limit."""

    main: float
    period: float
    stones: int


class GtpEngine:
    """A player behind GTP; `serve` runs it until `quit` or the end of its input."""

    def __init__(self, player: Player, game: Go, say: Callable[[str], None], simulations: int = 800) -> None:
        """game: the board size and komi it begins with.  say: writes one line.  simulations: of a move."""
        self.player, self.say, self.simulations = player, say, simulations
        self.fits = game.size  # the network was made for this size
        self.clock: GtpClock | None = None
        self.left: dict[int, tuple[float, int]] = {}
        self.playing: Go | None = None  # the game that the player was given
        self.thought: Thought | None = None
        self._start(game)

    def serve(self, lines: Lines) -> None:
        """Answer one command after another. Raises nothing for any input."""
        self.lines = lines
        while (line := lines.next()) is not None:
            number, words = read_command(line)
            if not words:
                continue
            try:
                if line.endswith("\n"):
                    raise GameError("the line is too long")
                answer = self._answer(words[0], words[1:], number)
            except SogError as error:
                self._reply("?", number, shown(str(error), 300))
                continue
            if answer is not None:
                self._reply("=", number, answer)
            if words[0] == "quit":
                return

    def _answer(self, command: str, words: Sequence[str], number: str) -> str | None:
        """What to reply; None where that was done already. GameError for the protocol's own error answers."""
        if command not in _COMMANDS:
            raise GameError("unknown command")
        least, most, run = _COMMANDS[command]
        if not least <= len(words) <= most:
            raise GameError("syntax error")
        if command == "lz-analyze":
            self._analyze(words, number)
            return None
        return run(self, words)

    def _reply(self, mark: str, number: str, text: str) -> None:
        self.say(f"{mark}{number} {text}".rstrip() + "\n")

    # --- about the engine ---

    def _version(self, words: Sequence[str]) -> str:
        return f"{VERSION} {self.player.name}"

    def _known(self, words: Sequence[str]) -> str:
        return "true" if words[0] in _COMMANDS else "false"

    # --- the game ---

    def _boardsize(self, words: Sequence[str]) -> str:
        size = _whole(words[0])
        if size != self.fits:
            raise GameError(f"unacceptable size: this network plays {self.fits}x{self.fits}")
        return self._clear(words)

    def _clear(self, words: Sequence[str]) -> str:
        self.left = {}  # of the last game
        self._start(self.board.game)
        return ""

    def _komi(self, words: Sequence[str]) -> str:
        """Another komi is another game, with the moves that were played."""
        moves = self.board
        try:
            game = Go(self.fits, _number(words[0]))
        except GameError:
            raise GameError("syntax error") from None
        self._start(game)
        self.board.take_over(moves)
        return ""

    def _play(self, words: Sequence[str]) -> str:
        self.board.play(read_colour(words[0]), read_vertex(words[1], self.fits))
        return ""

    def _undo(self, words: Sequence[str]) -> str:
        self.board.undo()
        return ""

    def _genmove(self, words: Sequence[str]) -> str:
        """Search and make the move that it finds; a pass where the game is over."""
        started = time.monotonic()
        vertex = self._reg_genmove(words)
        self._spend(read_colour(words[0]), time.monotonic() - started)
        if not self.board.over:
            self.board.play(read_colour(words[0]), read_vertex(vertex, self.fits))
        return vertex

    def _reg_genmove(self, words: Sequence[str]) -> str:
        colour = read_colour(words[0])
        moves = self.board.turned(colour)
        if self.board.over or self.board.tree.result(self.board.tree.node_after(moves)) is not None:
            return "pass"
        seconds = self._seconds(colour)
        self.thought = self._think(moves, Limits(self.simulations if seconds is None else ENDLESS, seconds))
        legal = [c for c in self.thought.candidates if not self.board.repeats([*moves, c.action])]
        return write_vertex(legal[0].action, self.fits) if legal else "pass"

    # --- time ---

    def _time_settings(self, words: Sequence[str]) -> str:
        main, period, stones = _number(words[0]), _number(words[1]), _whole(words[2])
        self.left = {}
        self.clock = None if period > 0 and stones == 0 else GtpClock(main, period, stones)
        return ""

    def _kgs_time_settings(self, words: Sequence[str]) -> str:
        kinds = {"none": 1, "absolute": 2, "byoyomi": 4, "canadian": 4}
        if kinds.get(words[0]) != len(words):
            raise GameError("syntax error")
        main, period = ([_number(word) for word in words[1:3]] + [0.0, 0.0])[:2]
        last = _whole(words[3]) if len(words) == 4 else 0  # byo-yomi's periods or a period's stones
        stones = last if words[0] == "canadian" else min(last, 1)
        self.left, self.clock = {}, GtpClock(main, period, stones) if words[0] != "none" else None
        return ""

    def _time_left(self, words: Sequence[str]) -> str:
        self.left[read_colour(words[0])] = _number(words[1]), _whole(words[2])
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

    def _final_score(self, words: Sequence[str]) -> str:
        return write_score(self.board.score())

    def _final_status_list(self, words: Sequence[str]) -> str:
        """All stones on the board are alive by our rules."""
        if words[0] not in ("alive", "dead", "seki"):
            raise GameError("syntax error")
        if words[0] != "alive":
            return ""
        return "\n".join(write_vertex(int(action), self.fits) for action in self.board.stones.ravel().nonzero()[0])

    def _showboard(self, words: Sequence[str]) -> str:
        return "\n" + self.board.drawing()

    def _analyze_commands(self, words: Sequence[str]) -> str:
        return "dboard/Policy of the last search/sog-policy\nstring/Value of the last search/sog-value"

    def _policy(self, words: Sequence[str]) -> str:
        shares = {c.action: c.share for c in self._last().candidates}
        rows = range(self.fits - 1, -1, -1)
        return "\n".join(
            " ".join(f"{shares.get(row * self.fits + k, 0.0):.3f}" for k in range(self.fits)) for row in rows
        )

    def _value(self, words: Sequence[str]) -> str:
        return f"{self._last().value:+.3f}"

    def _last(self) -> Thought:
        if self.thought is None:
            raise GameError("nothing was searched yet")
        return self.thought

    # --- searching ---

    def _think(
        self, moves: Sequence[int], limits: Limits, watch: Callable[[PlayerSearch], bool] = lambda search: False
    ) -> Thought:
        game = self.board.game
        if self.playing is not game:
            self.player.new_game(game)
            self.playing = game
        return think(self.player, moves, limits, watch)

    def _analyze(self, words: Sequence[str], number: str) -> None:
        """Leela Zero's lz-analyze [colour] [hundredths of a second]: lines of all moves until anything is sent."""
        words = [word for word in words if word.lower() != "interval"]
        named = bool(words) and read_whole(words[0]) is None
        colour = read_colour(words[0]) if named else len(self.board.moves) % 2
        if len(words) > named + 1:
            raise GameError("syntax error")
        moves = self.board.turned(colour)
        if self.board.tree.result(self.board.tree.node_after(moves)) is not None:
            raise GameError("the game is over")
        interval = (_whole(words[-1]) if len(words) > named else 50) / 100.0
        self.say(f"={number}")
        printed = time.monotonic()

        def watch(search: PlayerSearch) -> bool:
            nonlocal printed
            if time.monotonic() - printed >= interval:
                rows = [self._row(k, c) for k, c in enumerate(search.thought().candidates) if c.visits]
                if rows:
                    self.say(" ".join(rows))
                printed = time.monotonic()
            return self.lines.arrived()

        self.thought = self._think(moves, Limits(ENDLESS), watch)
        self.say("")

    def _row(self, order: int, candidate: Candidate) -> str:
        """One move as Leela Zero writes it: chances in ten thousandths."""
        line = " ".join(write_vertex(action, self.fits) for action in candidate.line)
        winrate, share = round(5000 * (1 + candidate.value)), round(10_000 * candidate.share)
        move = write_vertex(candidate.action, self.fits)
        return f"info move {move} visits {candidate.visits} winrate {winrate} prior {share} order {order} pv {line}"

    def _start(self, game: Go) -> None:
        self.board = GoBoard(game)
        self.playing = self.thought = None


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


# Each command with the fewest and the most words after it.
_COMMANDS: Final[dict[str, tuple[int, int, Callable[[GtpEngine, Sequence[str]], str]]]] = {
    "protocol_version": (0, 0, lambda engine, words: "2"),
    "name": (0, 0, lambda engine, words: "sog"),
    "version": (0, 0, GtpEngine._version),
    "known_command": (1, 1, GtpEngine._known),
    "list_commands": (0, 0, lambda engine, words: "\n".join(_COMMANDS)),
    "quit": (0, 0, lambda engine, words: ""),
    "boardsize": (1, 1, GtpEngine._boardsize),
    "clear_board": (0, 0, GtpEngine._clear),
    "komi": (1, 1, GtpEngine._komi),
    "play": (2, 2, GtpEngine._play),
    "genmove": (1, 1, GtpEngine._genmove),
    "kgs-genmove_cleanup": (1, 1, GtpEngine._genmove),
    "reg_genmove": (1, 1, GtpEngine._reg_genmove),
    "undo": (0, 0, GtpEngine._undo),
    "time_settings": (3, 3, GtpEngine._time_settings),
    "kgs-time_settings": (1, 4, GtpEngine._kgs_time_settings),
    "time_left": (3, 3, GtpEngine._time_left),
    "final_score": (0, 0, GtpEngine._final_score),
    "final_status_list": (1, 1, GtpEngine._final_status_list),
    "showboard": (0, 0, GtpEngine._showboard),
    "lz-analyze": (0, 3, lambda engine, words: ""),
    "gogui-analyze_commands": (0, 0, GtpEngine._analyze_commands),
    "sog-policy": (0, 0, GtpEngine._policy),
    "sog-value": (0, 0, GtpEngine._value),
}
