"""The UCI engine: reads commands, has a player search, answers.

Stefan Meyer-Kahlen's Universal Chess Interface (April 2006). What cannot be understood is ignored, as it requires, and
a line `info string` says why.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sog.agents.opening import warm_up
from sog.algorithms.student.player import SogPlayer
from sog.errors import SogError
from sog.games.boards.chess import WHITE, Chess
from sog.play.player import ENDLESS, Limits, Player, PlayerSearch, Thought, think
from sog.protocols.chess_setup import ChessBoard, read_position
from sog.protocols.clock import share_of_clock
from sog.protocols.lines import Lines
from sog.protocols.words import read_whole, shown
from sog.searches.gtcfr.settings import Budget
from sog.version import VERSION

__all__ = ["GoCommand", "UciEngine", "centipawns", "limits_of", "read_go"]

# Seconds between two reports of a search.
_REPORT: Final = 0.5
# Lines that are heard while one search runs; a client that sends more is heard again after it.
_HEARD: Final = 10_000
# Options with their least and largest values.
_SPINS: Final = {"MultiPV": (1, 256), "Simulations": (1, 10_000_000), "PerUpdate": (1, 1000), "Threads": (1, 1)}
_NUMBERS: Final = ("nodes", "movetime", "wtime", "btime", "winc", "binc", "movestogo", "depth", "mate")
_FLAGS: Final = ("infinite", "ponder")


def centipawns(value: float) -> int:
    """The score of a value in [-1, 1], as Leela Chess Zero reports it: 90 tan(1.5637541897 value)."""
    return round(90.0 * math.tan(1.5637541897 * max(-1.0, min(1.0, value))))


@dataclass(frozen=True)
class GoCommand:
    """The limits of a `go` command: numbers by their names, times in milliseconds; endless: until `stop`."""

    numbers: dict[str, int] = field(default_factory=dict)
    endless: bool = False
    only: tuple[str, ...] = ()


def read_go(words: Sequence[str]) -> GoCommand:
    """A `go` command's words; those that cannot be understood are left out."""
    numbers: dict[str, int] = {}
    only: list[str] = []
    at = ""
    for word in words:
        if word in (*_NUMBERS, *_FLAGS, "searchmoves"):
            at = word
        elif at == "searchmoves":
            only.append(word)
        elif at in _NUMBERS and (number := read_whole(word)) is not None:
            numbers[at] = number
    return GoCommand(numbers, any(flag in words for flag in _FLAGS), tuple(only))


def limits_of(go: GoCommand, simulations: int, white: bool) -> Limits:
    """When the search ends; simulations: how many where the command limits nothing."""
    side = "w" if white else "b"
    seconds = None
    if "movetime" in go.numbers:
        seconds = go.numbers["movetime"] / 1000.0
    elif f"{side}time" in go.numbers:
        left, more = go.numbers[f"{side}time"] / 1000.0, go.numbers.get(f"{side}inc", 0) / 1000.0
        seconds = share_of_clock(left, more, go.numbers.get("movestogo"))
    if "nodes" in go.numbers:
        return Limits(max(1, go.numbers["nodes"]), None if go.endless else seconds)
    if go.endless:
        return Limits(ENDLESS)
    unlimited = seconds is not None or "depth" in go.numbers
    return Limits(ENDLESS if unlimited else simulations, seconds)


class UciEngine:
    """A player behind UCI; `serve` runs it until `quit` or the end of its input."""

    def __init__(self, player: Player, game: Chess, say: Callable[[str], None], simulations: int = 800) -> None:
        """game: where play begins.  say: writes one line.  simulations: of a `go` without limits."""
        self.player, self.game, self.say, self.simulations = player, game, say, simulations
        self.multipv, self.warm = 1, False
        self._start(game)

    def serve(self, lines: Lines) -> None:
        """Answer one command after another. Raises nothing for any input."""
        while (line := lines.next()) is not None:
            if line.endswith("\n"):
                self._remark("a line that is too long is ignored")
                continue
            words = _command(line)
            if not words:
                continue
            if words[0] == "quit" or (words[0] == "go" and not self._go(read_go(words[1:]), lines)):
                return
            _COMMANDS[words[0]](self, words[1:])

    # --- commands ---

    def _uci(self, words: Sequence[str]) -> None:
        self.say(f"id name sog {VERSION} {self.player.name}")
        self.say("id author the sog authors")
        for name, (low, high) in self._options().items():
            now = {"MultiPV": 1, "Simulations": self.simulations, "Threads": 1, "PerUpdate": self._per_update()}[name]
            self.say(f"option name {name} type spin default {now} min {low} max {high}")
        self.say("uciok")

    def _isready(self, words: Sequence[str]) -> None:
        """Ready means compiled and loaded, so that this does not come out of the first move's time."""
        if not self.warm:
            warm_up(self.player, self.game)
            self.warm = True
        self.say("readyok")

    def _ucinewgame(self, words: Sequence[str]) -> None:
        self._start(self.game)

    def _setoption(self, words: Sequence[str]) -> None:
        name, _, value = " ".join(words[1:]).partition(" value ")
        option = {known.lower(): known for known in self._options()}.get(name.lower())
        if words[:1] != ["name"] or option is None:
            return self._remark(f"no option is called {shown(name)}")
        low, high = _SPINS[option]
        number = read_whole(value)
        if number is None or not low <= number <= high:
            return self._remark(f"{option} is a whole number from {low} to {high}, not {shown(value)}")
        if option == "MultiPV":
            self.multipv = number
        elif option == "Simulations":
            self.simulations = number
        elif option == "PerUpdate" and isinstance(self.player, SogPlayer):
            self.player.budget = Budget(self.player.budget.simulations, float(number))
        return None

    def _position(self, words: Sequence[str]) -> None:
        try:
            self.board.set_up(*read_position(words))
        except SogError as error:
            self._remark(str(error))

    def _nothing(self, words: Sequence[str]) -> None:
        """`stop` and `ponderhit` without a search, `debug` and `register`; `go` has been answered by then."""

    # --- searching ---

    def _go(self, go: GoCommand, lines: Lines) -> bool:
        """Search and answer with a move; False where `quit` came meanwhile."""
        at = self.board.setup
        if at.tree.result(at.node) is not None:
            self._remark("the game is over")
            self.say("bestmove (none)")
            return True
        self._enter(at.game)
        limits = limits_of(go, self.simulations, at.tree.actor(at.node) == WHITE)
        watch = _Watch(self, go, lines)
        thought = watch.allowed(think(self.player, at.moves, limits, watch))
        watch.wait()
        self.report(watch, thought)
        self.say(f"bestmove {at.write([thought.action])[0]}")
        watch.put_back()
        return not watch.quit

    def report(self, watch: _Watch, thought: Thought) -> None:
        """One `info` line for each of the best moves, as many as MultiPV says."""
        seconds = time.monotonic() - watch.started
        done = watch.simulations
        for k, candidate in enumerate(thought.candidates[: self.multipv], start=1):
            line = " ".join(self.board.setup.write(candidate.line))
            self.say(
                f"info depth {len(candidate.line)} multipv {k} score cp {centipawns(candidate.value)} nodes {done} "
                f"nps {round(done / max(seconds, 1e-3))} time {round(1000 * seconds)} pv {line}"
            )

    def _start(self, game: Chess) -> None:
        self.board = ChessBoard(game)
        self.playing: Chess | None = None

    def _enter(self, game: Chess) -> None:
        """Tell the player which game it is, unless it knows: then it continues from its last search."""
        if self.playing is not game:
            self.player.new_game(game)
            self.playing = game
        self.warm = True

    def _options(self) -> dict[str, tuple[int, int]]:
        return {name: span for name, span in _SPINS.items() if name != "PerUpdate" or self._per_update()}

    def _per_update(self) -> int:
        """c, rounded up; 0 where the player has none."""
        return self.player.budget.expansions if isinstance(self.player, SogPlayer) else 0

    def _remark(self, text: str) -> None:
        self.say(f"info string {shown(text, 300)}")


def _command(line: str) -> list[str]:
    """A line's words from the first that is a command: unknown ones before it are skipped; [] where there is none."""
    words = line.split()
    at = next((k for k, word in enumerate(words) if word in _COMMANDS), len(words))
    return words[at:]


class _Watch:
    """Looks after a running search: its reports, its depth, and what the client says meanwhile."""

    def __init__(self, engine: UciEngine, go: GoCommand, lines: Lines) -> None:
        self.engine, self.go, self.lines = engine, go, lines
        self.started = self.reported = time.monotonic()
        self.simulations = 0
        self.stopped = self.quit = False
        self._later: list[str | None] = []

    def __call__(self, search: PlayerSearch) -> bool:
        """Whether to stop; reports twice a second."""
        self.simulations = search.simulations
        while self.lines.arrived() and self._listening():
            self._hear(self.lines.next())
        if "depth" in self.go.numbers and self._is_deep(search, self.go.numbers["depth"]):
            return True
        if time.monotonic() - self.reported >= _REPORT:
            self.engine.report(self, self.allowed(search.thought()))
            self.reported = time.monotonic()
        return self.stopped

    def _is_deep(self, search: PlayerSearch, depth: int) -> bool:
        """Whether the best line has this many moves, or ends the game sooner after a search of the usual size."""
        line = self.allowed(search.thought()).candidates[0].line
        if len(line) >= depth or search.simulations < self.engine.simulations:
            return len(line) >= depth
        setup = self.engine.board.setup
        return setup.tree.result(setup.tree.node_after([*setup.moves, *line])) is not None

    def allowed(self, thought: Thought) -> Thought:
        """The thought with those candidates alone that `searchmoves` names; as it is where it names none of them."""
        write, only = self.engine.board.setup.write, self.go.only
        named = tuple(one for one in thought.candidates if only and write([one.action])[0] in only)
        return replace(thought, candidates=named) if named else thought

    def wait(self) -> None:
        """After a search that ended by itself: an endless one answers only after `stop`."""
        while self.go.endless and self._listening():
            self._hear(self.lines.next())

    def put_back(self) -> None:
        """What came meanwhile and is to be answered after the search."""
        self.lines.hold(self._later)

    def _listening(self) -> bool:
        return not self.stopped and self._later[-1:] != [None] and len(self._later) < _HEARD

    def _hear(self, line: str | None) -> None:
        command = [] if line is None else _command(line)[:1]
        if line is None:
            self._later.append(line)
            self.stopped |= self.go.endless  # nobody is left who could say stop
        elif command == ["isready"]:
            self.engine.say("readyok")
        elif command in (["stop"], ["ponderhit"], ["quit"]):
            self.stopped, self.quit = True, command == ["quit"]
        else:
            self._later.append(line)


_COMMANDS: Final[dict[str, Callable[[UciEngine, Sequence[str]], None]]] = {
    "uci": UciEngine._uci,
    "isready": UciEngine._isready,
    "ucinewgame": UciEngine._ucinewgame,
    "setoption": UciEngine._setoption,
    "position": UciEngine._position,
    "go": UciEngine._nothing,
    "quit": UciEngine._nothing,
    "stop": UciEngine._nothing,
    "ponderhit": UciEngine._nothing,
    "debug": UciEngine._nothing,
    "register": UciEngine._nothing,
}
