"""A Go game as GTP's commands build it: colours, vertices, undo."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from sog.arrays import Array
from sog.errors import GameError
from sog.games.base import TERMINAL, Game
from sog.games.boards.go import Go
from sog.games.boards.go_area import area
from sog.games.boards.go_life import attacks, chain
from sog.games.boards.go_resumed import resumed
from sog.games.boards.positions import BoardPosition

__all__ = [
    "BLACK",
    "COLOURS",
    "GoBoard",
    "ReachedPosition",
    "fixed_handicap",
    "read_colour",
    "read_vertex",
    "write_score",
    "write_vertex",
]

BLACK, WHITE = 0, 1
COLOURS: Final = ("black", "white")
_LETTERS: Final = "ABCDEFGHJKLMNOPQRST"
_VERTEX: Final = re.compile(r"([a-hj-t])([1-9][0-9]?)", re.IGNORECASE)


@dataclass(eq=False)
class ReachedPosition:
    """A position: a game, the actions played in it, and where they lead.

    before: the position that the last `play` changed, None at the start.  played: what it played, colour and action.
    """

    game: Game
    moves: tuple[int, ...]
    position: BoardPosition
    before: ReachedPosition | None = None
    played: tuple[int, int] | None = None
    turned: ReachedPosition | None = None  # the same stones with the other colour to move, once somebody asked

    @property
    def over(self) -> bool:
        return self.position.actor == TERMINAL


class GoBoard:
    """The moves of one game of Go, whoever makes them: GTP has no turns and no end.

    Our rules alternate colours and end a game after two passes. Where a client continues otherwise, the stones become
    the start of a new game, in which no pass was made (go_resumed).
    """

    def __init__(self, game: Go) -> None:
        self.game = game
        self.at = ReachedPosition(game, (), cast(BoardPosition, game.root()))

    @property
    def next_colour(self) -> int:
        """The colour that did not move last."""
        return BLACK if self.at.played is None else 1 - self.at.played[0]

    @property
    def stones(self) -> Array:
        """int8[N, N]: 1 for Black's stones, 2 for White's, row 0 at the bottom."""
        return self.game.board(self.at.position)

    def turned(self, colour: int) -> ReachedPosition:
        """The position with this colour to move, whoever moved last and however often."""
        at = self.at
        if at.position.actor == colour:
            return at
        if at.turned is None or at.turned.position.actor != colour:
            game = resumed(self.game, at.position, colour)
            at.turned = ReachedPosition(game, (), cast(BoardPosition, game.root()), at.before, at.played)
        return at.turned

    def play(self, colour: int, action: int) -> None:
        """Add a move; GameError where it is illegal, and then nothing changed.

        Bringing a whole-board position back is illegal here (positional superko), as in other Go programs.
        """
        at = self.turned(colour)
        if action not in at.position.legal or self.repeats(at, action):
            raise GameError("illegal move")
        self.at = ReachedPosition(at.game, (*at.moves, action), at.position.play(action), self.at, (colour, action))

    def repeats(self, at: ReachedPosition, action: int) -> bool:
        """Whether a legal action brings back a whole board that was there; a pass may."""
        if action == self.game.size**2 or (after := at.position.play(action)).actor != TERMINAL:
            return False
        board, past = self.game.board(after), after.parent
        while past is not None and (self.game.board(past) != board).any():
            past = past.parent
        return past is not None

    def attack(self, at: ReachedPosition, order: Sequence[int]) -> int:
        """The first of these actions that helps to take stones which may be taken, else a pass.

        It fills a liberty of theirs, or else a point of an empty region beside them, and takes stones or is no
        self-atari. So it fills no eye, and no liberty of a seki.
        """
        before, colour = self.stones, 1 + at.position.actor
        taken = (before == 3 - colour).sum()
        for points in attacks(before, colour):
            for action in order:
                if action in points:
                    after = self.game.board(at.position.play(action))
                    if (after == 3 - colour).sum() < taken or len(chain(after, action)[1]) > 1:
                        return action
        return self.game.size**2

    def undo(self) -> None:
        """Take the last move back; GameError before the first."""
        if self.at.before is None:
            raise GameError("cannot undo")
        self.at = self.at.before

    def take_over(self, other: GoBoard) -> None:
        """The moves of the same game under another komi."""
        at, plays = other.at, list[tuple[int, int]]()
        while at.before is not None and at.played is not None:
            plays.append(at.played)
            at = at.before
        for colour, action in reversed(plays):
            self.play(colour, action)

    def score(self) -> float:
        """Black's points less White's, all stones alive, komi counted."""
        black, white = area(self.stones)
        return black - white - self.game.komi

    def drawing(self) -> str:
        """The board in letters, Black X, White O."""
        size, stones = self.game.size, self.stones
        letters = "   " + " ".join(_LETTERS[:size])
        rows = [f"{row + 1:2} {' '.join('.XO'[stones[row, k]] for k in range(size))} {row + 1}" for row in range(size)]
        return "\n".join([letters, *rows[::-1], letters])


def fixed_handicap(size: int, count: int) -> list[int]:
    """The points of GTP's fixed handicap; GameError where the board has fewer of them."""
    most = 0 if size < 7 else 4 if size == 7 or size % 2 == 0 else 9
    if not 2 <= count <= most:
        raise GameError("invalid number of stones")
    low, middle = 3 if size >= 13 else 2, size // 2
    high = size - 1 - low
    points = [(low, low), (high, high), (high, low), (low, high)][:count]  # row, column
    points += [(middle, low), (middle, high)] * (count > 5) + [(low, middle), (high, middle)] * (count > 7)
    points += [(middle, middle)] * (count > 4 and count % 2)
    return [row * size + column for row, column in points]


def read_vertex(word: str, size: int) -> int:
    """The action of GTP's vertex, such as C3 or pass; GameError where it is not on this board."""
    if word.lower() == "pass":
        return size * size
    match = _VERTEX.fullmatch(word)
    column, row = (_LETTERS.index(match[1].upper()), int(match[2]) - 1) if match else (size, size)
    if not (column < size and row < size):
        raise GameError("invalid coordinate")
    return row * size + column


def write_vertex(action: int, size: int) -> str:
    """GTP's vertex of an action."""
    return "pass" if action == size * size else f"{_LETTERS[action % size]}{action // size + 1}"


def read_colour(word: str) -> int:
    """0 for Black, 1 for White; GameError for others."""
    for colour, name in enumerate(COLOURS):
        if word.lower() in (name, name[0]):
            return colour
    raise GameError("invalid color")


def write_score(score: float) -> str:
    """GTP's words for a score, such as B+3.5, W+0.5 or 0."""
    return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"
