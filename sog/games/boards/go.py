"""Go on OpenSpiel's rules, with planes for the network that show the komi."""

from __future__ import annotations

import math
from typing import Final, cast

import numpy as np
import pyspiel

from sog.arrays import Array, Float32, Int64
from sog.errors import GameError
from sog.games.base import State
from sog.games.boards.go_area import owners
from sog.games.boards.go_cells import first_row, go_cells, write_boards, write_liberties, write_stones
from sog.games.boards.positions import BoardPosition, PositionGame
from sog.games.boards.sgf import sgf_record
from sog.games.cells import CellRules
from sog.games.game_records import GameRecord
from sog.games.parameters import require_inputs
from sog.games.strings import write_game
from sog.games.symmetries import of_square

STONES: Final = "stones"
LIBERTIES: Final = "liberties"
INPUTS: Final = (STONES, LIBERTIES)  # what networks see
WHITE: Final = 1  # the player numbers are OpenSpiel's

_LETTERS: Final = "ABCDEFGHJKLMNOPQRST"
_LARGEST_KOMI: Final = 1000.0
_HISTORY: Final = 2  # positions that the planes show
_SHOWN_KOMI: Final = 12.5  # points: the planes show larger komi as this one
_SPREAD: Final = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)  # points by which the variants' komi differs
_CODES: Final = np.zeros(256, dtype=np.int8)
_CODES[[ord("X"), ord("O")]] = 1, 2


class Go(PositionGame):
    """Go on N x N with area scoring (Chinese); action row * N + column, row 0 at the bottom; N * N passes.

    Player 0 is Black and moves first. Rules are OpenSpiel's: two passes end the game, all stones on the board count
    as alive, suicide and retaking a ko at once are illegal, a whole-board position that comes up again ends the game as
    a draw, and after 2 * N * N moves the board is scored as it is. A tied score is a draw.

    Planes, float32[6, N, N]: the mover's stones in the 2 latest positions, the opponent's, the komi as the mover sees
    it, and ones where Black acts. Two positions show the ko and whether the move before was a pass. The komi's plane
    has one value, 1 + k / 12.5 to the nearest hundredth: k is what the mover is given, komi points as White and -komi
    points as Black, at most 12.5 either way. With inputs=liberties float32[12, N, N]: before the komi's plane the
    mover's stones in chains with 1, 2 and 3 liberties, and the opponent's.

    One network plays a board size at any komi: the variants are the nine komis within two points of this game's.
    """

    longest = 722
    ownership = True
    record_suffix = ".sgf"

    def __init__(self, size: int = 19, komi: float = 7.5, inputs: str = STONES) -> None:
        """GameError unless 2 <= size <= 19, the komi is a number of points, and inputs one of INPUTS."""
        require_inputs("go", inputs, INPUTS)
        if not 2 <= size <= 19:
            raise GameError(f"go is played on board_size=2 to 19, not {size}")
        if not math.isfinite(komi) or abs(komi) > _LARGEST_KOMI:
            raise GameError(f"go: komi is a number of points such as 7.5, not {komi}")
        self.size, self.komi, self.inputs = size, float(komi), inputs
        own = {} if inputs == STONES else {"inputs": inputs}
        self._family = write_game("go", {"board_size": size, **own})
        spiel = pyspiel.load_game("go", {"board_size": size, "komi": self.komi})
        count = 2 * _HISTORY + (2 if inputs == STONES else 8)
        name = write_game("go", {"board_size": size, "komi": self.komi, **own})
        super().__init__(name, spiel, spiel.new_initial_state(), (count, size, size), policy_planes=1)
        self.symmetries = of_square(size, count, cell_free=1)
        self._write_planes = write_stones if inputs == STONES else write_liberties
        self.draws = True
        self._variants: tuple[Go, ...] = ()  # made when the first is drawn

    @property
    def family(self) -> str:
        return self._family

    def at_komi(self, komi: float) -> Go:
        """The same game with other points for White; GameError where that is no komi."""
        return Go(self.size, komi, self.inputs)

    def variants(self) -> tuple[Go, ...]:
        """The games that self-play draws from, each with the same chance."""
        komis = [self.komi + points for points in _SPREAD]
        return tuple(self.at_komi(komi) for komi in komis if abs(komi) <= _LARGEST_KOMI)

    def drawn(self, rng: np.random.Generator) -> Go:
        self._variants = self._variants or self.variants()
        return self._variants[int(rng.integers(len(self._variants)))]

    def write_planes(self, position: BoardPosition, out: Float32) -> None:
        boards = [self.board(past) for past in position.latest(_HISTORY)]
        write_boards(self._write_planes, self._first_row(), position.actor, boards, out)

    def cell_rules(self, s: State) -> CellRules | None:
        position = cast(BoardPosition, s)
        if not isinstance(position.spiel, pyspiel.State):  # with turns of its own: see go_resumed
            return None
        return go_cells(self._first_row(), self.history(s, 0, 0), self._write_planes)

    def _first_row(self) -> tuple[Int64, Array]:
        return first_row(self.size, self.komi, (self._shown(WHITE), self._shown(1 - WHITE)))

    def _shown(self, player: int) -> int:
        """The komi's plane as a player sees it, in hundredths."""
        given = max(-_SHOWN_KOMI, min(_SHOWN_KOMI, self.komi if player == WHITE else -self.komi))
        return round(100.0 * (1.0 + given / _SHOWN_KOMI))

    def owners(self, s: State) -> Float32 | None:
        owned = owners(self.board(s)).ravel().astype(np.float32)
        score = float(owned.sum()) - self.komi
        decided = self.payoff(s).scale == self.u_max * np.sign(score)
        return owned if decided else None  # otherwise the board had been there before, which is a draw

    def write_record(self, record: GameRecord) -> str:
        return sgf_record(record, self.size, self.komi)

    def board(self, s: State) -> Array:
        """int8[N, N]: 1 for Black's stones, 2 for White's; row 0 at the bottom, column 0 at the left."""
        position = cast(BoardPosition, s)
        if position.view is None:
            letters = np.frombuffer(str(position.spiel).encode(), dtype=np.uint8)[-_picture(self.size) :]
            points = letters.reshape(-1, self.size + 4)[:, 3:-1][: self.size]
            position.view = np.ascontiguousarray(_CODES[points[::-1]])
        return cast(Array, position.view)

    def state_name(self, s: State) -> str:
        position = cast(BoardPosition, s)
        moves = [self.action_name(s, int(action)) for action in position.spiel.history()]
        return " ".join(moves) or "start"

    def picture(self, s: State) -> str:
        rows = [f"{r + 1:2} {' '.join('.XO'[stone] for stone in row)}" for r, row in enumerate(self.board(s))]
        return "\n".join([*reversed(rows), f"   {' '.join(_LETTERS[: self.size])}"])

    def action_name(self, s: State, action: int) -> str:
        """GTP's vertex, such as C3, or pass."""
        if action == self.size * self.size:
            return "pass"
        return f"{_LETTERS[action % self.size]}{action // self.size + 1}"


def _picture(size: int) -> int:
    """Length of the board in OpenSpiel's words: size rows of `NN ` and size letters, then a line of letters."""
    return (size + 1) * (size + 4)
