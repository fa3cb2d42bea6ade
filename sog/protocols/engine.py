"""The loop of an engine, the same for every protocol: lines become commands, a player searches, errors are answered."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from sog.errors import SogError
from sog.games.base import Game
from sog.play.player import Limits, Player, PlayerSearch, Thought, think
from sog.protocols.lines import Lines
from sog.protocols.words import shown

__all__ = ["Engine", "Watch", "reporting", "share_of_clock", "within"]

# Called again and again while a search runs; true ends it.
Watch: TypeAlias = Callable[[PlayerSearch], bool]

# Seconds of what is left that no move takes, and the share of it: for what happens between our answer and the other
# side's clock, and for a machine whose processors are busy with something else.
_MARGIN: Final = 0.1
_LOAD: Final = 0.1
# Moves that a game is expected to last where the client names no next time control.
_MOVES_LEFT: Final = 30


class Engine(ABC):
    """A player behind a protocol; `serve` runs it until `quit` or the end of its input.

    A protocol's own class has a table of commands. A line that cannot be run raises SogError in `read` or `run`.
    """

    def __init__(self, player: Player, say: Callable[[str], None], simulations: int) -> None:
        """say: writes one line.  simulations: of a search that the client does not limit."""
        self.player, self.say, self.simulations = player, say, simulations
        self.playing: Game | None = None  # the game that the player was given

    def serve(self, lines: Lines) -> None:
        """Run one command after another. Raises nothing for any input."""
        self.lines, self.ended = lines, False
        while not self.ended and (line := lines.next()) is not None:
            try:
                if words := self.read(line):
                    self.run(words[0], words[1:])
            except SogError as error:
                self.refuse(shown(str(error), 300))

    @abstractmethod
    def read(self, line: str) -> list[str]:
        """The words of a line from its command on; none where there is nothing to run or to refuse."""

    @abstractmethod
    def run(self, command: str, words: list[str]) -> None:
        """Run a command with the words after it, and answer it."""

    @abstractmethod
    def refuse(self, why: str) -> None:
        """Answer a line that was not run."""

    def end(self) -> str:
        """Run no more commands; the answer is empty."""
        self.ended = True
        return ""

    def think(self, game: Game, moves: Sequence[int], limits: Limits, watch: Watch = lambda search: False) -> Thought:
        """Search the position after these moves; a player that plays this game already continues its last search."""
        if self.playing is not game:
            self.player.new_game(game)
            self.playing = game
        return think(self.player, moves, limits, watch)


def reporting(report: Callable[[PlayerSearch], None], seconds: float, ends: Watch) -> Watch:
    """A watch that calls `report` every `seconds`, and ends the search when `ends` is true."""
    reported = time.monotonic()

    def watch(search: PlayerSearch) -> bool:
        nonlocal reported
        if time.monotonic() - reported >= seconds:
            report(search)
            reported = time.monotonic()
        return ends(search)

    return watch


def share_of_clock(left: float, increment: float = 0.0, moves_to_go: int | None = None) -> float:
    """Seconds for this move, with `left` seconds on the clock, `increment` more a move or `moves_to_go` to make.

    Never more than `within` allows, never below a millisecond.
    """
    return max(0.001, min(left / max(1, moves_to_go or _MOVES_LEFT) + 0.8 * increment, within(left)))


def within(left: float) -> float:
    """The most seconds that a move may take of these that are left, at least a millisecond."""
    return max(0.001, (1.0 - _LOAD) * left - _MARGIN)
