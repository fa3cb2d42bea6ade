"""The commands of a UCI engine.

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
from sog.errors import GameError, SettingError
from sog.games.boards.chess import WHITE, Chess
from sog.play.move_tree import MoveTree
from sog.play.player import ENDLESS, Limits, Player, PlayerSearch, Thought
from sog.play.proofs import Proofs
from sog.protocols.chess_setup import ChessBoard, Setup, read_position
from sog.protocols.engine import Engine, reporting, share_of_clock
from sog.protocols.lines import size_of
from sog.protocols.words import read_whole, shown
from sog.searches.gtcfr.settings import Budget
from sog.version import VERSION

__all__ = ["GoCommand", "UciEngine", "centipawns", "limits_of", "mate_in", "read_go", "wins_draws_losses"]

# Seconds between two reports of a search.
_REPORT: Final = 0.5
# Characters of lines that are kept while one search runs, to be run after it; a client that sends more has lost them.
_MOST_BYTES: Final = 2**22
# Options: the engine's attribute, its least and its largest value.
_SPINS: Final = {
    "MultiPV": ("multipv", 1, 256),
    "Simulations": ("simulations", 1, 10_000_000),
    "PerUpdate": ("per_update", 1, 1000),
    "Threads": ("threads", 1, 1),
}
_WDL: Final = "UCI_ShowWDL"
_NUMBERS: Final = ("nodes", "movetime", "wtime", "btime", "winc", "binc", "movestogo", "depth", "mate")
_FLAGS: Final = ("infinite", "ponder")


def centipawns(value: float) -> int:
    """The score of a value in [-1, 1], as Leela Chess Zero reports it: 90 tan(1.5637541897 value)."""
    return round(90.0 * math.tan(1.5637541897 * max(-1.0, min(1.0, value))))


def mate_in(proofs: Proofs, node: int, action: int) -> int | None:
    """UCI's mate score of a move: moves until mate, negative where the mover is mated; None where neither is forced."""
    child, mover = proofs.after(node, action), proofs.public.actor(node)
    if child not in proofs.winner:
        return None
    plies = proofs.plies[child]
    return plies // 2 + 1 if proofs.winner[child] == mover else -((plies + 1) // 2)


def wins_draws_losses(value: float) -> tuple[int, int, int]:
    """Thousandths of wins, draws and losses of the player to move, for a value in [-1, 1].

    A value is wins less losses and says nothing of draws, which are therefore not estimated: each counts as half a win
    and half a loss, as Leela Chess Zero has it for networks without a head for draws.
    """
    wins = round(500.0 + 500.0 * max(-1.0, min(1.0, value)))
    return wins, 0, 1000 - wins


@dataclass(frozen=True)
class GoCommand:
    """The limits of a `go` command: numbers by their names, times in milliseconds; endless: until `stop`."""

    numbers: dict[str, int] = field(default_factory=dict)
    endless: bool = False
    only: tuple[str, ...] = ()
    ponder: bool = False  # endless until `ponderhit`


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
    return GoCommand(numbers, any(flag in words for flag in _FLAGS), tuple(only), "ponder" in words)


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


class UciEngine(Engine):
    """A player behind UCI."""

    def __init__(self, player: Player, game: Chess, say: Callable[[str], None], simulations: int = 800) -> None:
        """game: where play begins.  say: writes one line.  simulations: of a `go` without limits."""
        super().__init__(player, say, simulations)
        self.game, self.board = game, ChessBoard(game)
        self.multipv, self.threads, self.warm, self.shows_wdl = 1, 1, False, False
        now = {name: getattr(self, attribute) for name, (attribute, _, _) in _SPINS.items()}
        self.defaults = {name: value for name, value in now.items() if value}  # some players have no PerUpdate

    def read(self, line: str) -> list[str]:
        if line.endswith("\n"):
            raise GameError("a line that is too long is ignored")
        return _from_command(line)

    def run(self, command: str, words: list[str]) -> None:
        _COMMANDS[command](self, words)

    def refuse(self, why: str) -> None:
        self.say(f"info string {why}")

    @property
    def per_update(self) -> int:
        """c, rounded up; 0 where the player has none."""
        return self.player.budget.expansions if isinstance(self.player, SogPlayer) else 0

    @per_update.setter
    def per_update(self, expansions: int) -> None:
        if isinstance(self.player, SogPlayer):
            self.player.budget = Budget(self.player.budget.simulations, float(expansions))

    # --- commands ---

    def _uci(self, words: Sequence[str]) -> None:
        self.say(f"id name sog {VERSION} {self.player.name}")
        self.say("id author the sog authors")
        for name, default in self.defaults.items():
            self.say(f"option name {name} type spin default {default} min {_SPINS[name][1]} max {_SPINS[name][2]}")
        for check in ("Ponder", _WDL):
            self.say(f"option name {check} type check default false")
        self.say("uciok")

    def _isready(self, words: Sequence[str]) -> None:
        """Ready means compiled and loaded, so that this does not come out of the first move's time."""
        if not self.warm:
            warm_up(self.player, self.game)
            self.warm = True
        self.say("readyok")

    def _ucinewgame(self, words: Sequence[str]) -> None:
        self.board, self.playing = ChessBoard(self.game), None

    def _setoption(self, words: Sequence[str]) -> None:
        name, _, value = " ".join(words[1:]).partition(" value ")
        if words[:1] == ["name"] and name.lower() == "ponder":
            return  # `go ponder` says when
        if words[:1] == ["name"] and name.lower() == _WDL.lower():
            if value.lower() not in ("true", "false"):
                raise SettingError(f"{_WDL} is true or false, not {shown(value)}")
            self.shows_wdl = value.lower() == "true"
            return
        option = {known.lower(): known for known in self.defaults}.get(name.lower())
        if words[:1] != ["name"] or option is None:
            raise SettingError(f"no option is called {shown(name)}")
        attribute, low, high = _SPINS[option]
        number = read_whole(value)
        if number is None or not low <= number <= high:
            raise SettingError(f"{option} is a whole number from {low} to {high}, not {shown(value)}")
        setattr(self, attribute, number)

    def _position(self, words: Sequence[str]) -> None:
        self.board.forget()
        self.board.set_up(*read_position(words))

    def _go(self, words: Sequence[str]) -> None:
        """Search and answer with a move; with none where the game is over or the position could not be read."""
        at, go = self.board.setup, read_go(words)
        running = _Running(self, go, at)
        if at is None or at.tree.result(at.node) is not None:
            self.refuse("the game is over" if at else "no position was read")
            best = "(none)"
            running.wait_for_stop()
        else:
            limits = limits_of(go, self.simulations, running.white)
            thought = self.think(at.game, at.moves, limits, reporting(running.report, _REPORT, running.ends))
            self.warm = True
            running.wait_for_stop()
            # The move and, where one is expected, the answer on which a client may let it ponder.
            best = " ponder ".join(at.write(running.say_best(thought).candidates[0].line[:2]))
        self.say(f"bestmove {best}")
        self.lines.hold(running.later)


def _from_command(line: str) -> list[str]:
    """A line's words from the first that is a command: unknown ones before it are skipped."""
    words = line.split()
    return words[next((k for k, word in enumerate(words) if word in _COMMANDS), len(words)) :]


class _Running:
    """A search while it runs: what the client says meanwhile, what it is sent, and when the search ends."""

    def __init__(self, engine: UciEngine, go: GoCommand, at: Setup | None) -> None:
        """at: the position that is searched, None without one."""
        self.engine, self.go = engine, go
        self.setup = at or Setup(MoveTree(engine.game))
        self.started, self.simulations, self.stopped, self.endless = time.monotonic(), 0, False, go.endless
        self.since_hit: tuple[float, Limits] | None = None  # when `ponderhit` was heard, and what limits the move since
        self.later: list[str | None] = []  # lines that are answered after the search
        self.size = 0  # of them

    @property
    def white(self) -> bool:
        return self.setup.tree.actor(self.setup.node) == WHITE

    def ends(self, search: PlayerSearch) -> bool:
        self.simulations = search.simulations
        while self.engine.lines.arrived() and self._is_listening():
            self._hear()
        return self.stopped or self._is_spent() or self._is_deep(search)

    def report(self, search: PlayerSearch) -> None:
        self.simulations = search.simulations
        self.say_best(search.thought())

    def say_best(self, thought: Thought) -> Thought:
        """One `info` line for each of the best moves that `searchmoves` allows, as many as MultiPV says."""
        tree = self.engine.player.tree
        node = tree.node_after(self.setup.moves)
        proofs = Proofs.of(tree.public, node)
        thought, seconds = self._allowed(thought), time.monotonic() - self.started
        for k, candidate in enumerate(thought.candidates[: self.engine.multipv], start=1):
            mate = mate_in(proofs, node, candidate.action)
            value = thought.value_of(candidate)
            score = f"cp {centipawns(value)}" if mate is None else f"mate {mate}"
            if self.engine.shows_wdl:
                shares = wins_draws_losses(value if mate is None else math.copysign(1.0, mate))
                score += f" wdl {' '.join(map(str, shares))}"
            self.engine.say(
                f"info depth {len(candidate.line)} multipv {k} score {score} "
                f"nodes {self.simulations} nps {round(self.simulations / max(seconds, 1e-3))} "
                f"time {round(1000 * seconds)} pv {' '.join(self.setup.write(candidate.line))}"
            )
        return thought

    def wait_for_stop(self) -> None:
        """After a search that ended by itself: an endless one answers only after `stop`, a ponder after its hit."""
        while self.endless and self._is_listening():
            self._hear()

    def _is_spent(self) -> bool:
        """Whether the time or the simulations of a move are over, counted from `ponderhit` where it was heard."""
        if self.since_hit is None:
            return False
        hit, limits = self.since_hit
        late = limits.seconds is not None and time.monotonic() - hit >= limits.seconds
        return late or self.simulations >= (limits.simulations or 0)

    def _is_deep(self, search: PlayerSearch) -> bool:
        """Whether the best line has as many moves as asked, or ends the game after a search of the usual size."""
        if (depth := self.go.numbers.get("depth")) is None or self.endless:
            return False
        line = self._allowed(search.thought()).candidates[0].line
        if len(line) >= depth or search.simulations < self.engine.simulations:
            return len(line) >= depth
        return self.setup.tree.result(self.setup.tree.node_after([*self.setup.moves, *line])) is not None

    def _allowed(self, thought: Thought) -> Thought:
        """The thought with those candidates alone that `searchmoves` names; as it is where it names none of them."""
        write, only = self.setup.write, self.go.only
        named = tuple(one for one in thought.candidates if only and write([one.action])[0] in only)
        return replace(thought, candidates=named) if named else thought

    def _is_listening(self) -> bool:
        return not self.stopped and self.later[-1:] != [None]

    def _hear(self) -> None:
        """Answer the client's next line, or keep it for later."""
        line = self.engine.lines.next()
        command = "".join(_from_command(line or "")[:1])
        if command == "isready":
            self.engine.say("readyok")
        elif command == "ponderhit":
            self._hit()
        elif command == "stop":
            self.stopped = True
        elif command == "quit" and not self.later:
            self.stopped = self.engine.ended = True
        else:
            self._keep(line)
            # After `quit`, and after a client that has left, nobody says stop.
            self.stopped |= command == "quit" or (line is None and self.endless)

    def _hit(self) -> None:
        """The move that was expected has been made: from now on the clock runs."""
        if self.go.ponder and self.since_hit is None:
            self.endless = False
            limits = limits_of(replace(self.go, endless=False), self.engine.simulations, self.white)
            self.since_hit = time.monotonic(), limits

    def _keep(self, line: str | None) -> None:
        """Keep a line for later; too many are dropped, but for those that end us."""
        room, ends = _MOST_BYTES - self.size, line is None or _from_command(line)[:1] == ["quit"]
        if room >= 0 or ends:
            self.later.append(line)
            self.size += size_of(line)
            if self.size > _MOST_BYTES and room >= 0 and not ends:
                self.engine.refuse("too many lines during a search: what comes before its end is ignored")


_COMMANDS: Final[dict[str, Callable[[UciEngine, Sequence[str]], object]]] = {
    "uci": UciEngine._uci,
    "isready": UciEngine._isready,
    "ucinewgame": UciEngine._ucinewgame,
    "setoption": UciEngine._setoption,
    "position": UciEngine._position,
    "go": UciEngine._go,
    "quit": lambda engine, words: engine.end(),
    **dict.fromkeys(("stop", "ponderhit", "debug", "register"), lambda engine, words: None),  # where no search runs
}
