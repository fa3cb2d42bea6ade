"""Chess on OpenSpiel's rules, with planes for the network: hand-made ones or AlphaZero's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

import numpy as np
import pyspiel

from sog.arrays import Array, Float32, Int64
from sog.errors import GameError
from sog.games.base import TERMINAL, State
from sog.games.boards import chess_moves
from sog.games.boards.chess_cells import chess_cells, row_of, write_planes
from sog.games.boards.chess_moves import ChessStep
from sog.games.boards.chess_positions import ChessPosition
from sog.games.boards.chess_starts import random_endgame, uneven_start
from sog.games.boards.chess_tactics import TACTICS_PLANES, write_tactics
from sog.games.boards.fen import checked_fen
from sog.games.boards.pgn import pgn_record
from sog.games.boards.positions import HISTORY, BoardPosition, PositionGame
from sog.games.cells import CellRules
from sog.games.game_records import GameRecord
from sog.games.parameters import require_inputs
from sog.games.strings import write_game

TACTICS: Final = "tactics"
PAPER: Final = "paper"
INPUTS: Final = (TACTICS, PAPER)  # what networks see

START: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
WHITE: Final = 1  # the player numbers are OpenSpiel's
BLACK: Final = 0

_PIECES: Final = "PNBRQKpnbrqk"  # board codes 1 to 12
_PAWNS: Final = (1, 7)
_KINGS: Final = (6, 12)
_CODES: Final = np.zeros(256, dtype=np.int8)
_CODES[[ord(letter) for letter in _PIECES]] = np.arange(1, 13)
_BLANKS: Final = str.maketrans({str(k): "." * k for k in range(1, 9)} | {"/": None})
# FENs list ranks from 8 down and files from a; squares here are file * 8 + rank.
_FROM_FEN: Final = np.array([(7 - square % 8) * 8 + square // 8 for square in range(64)])
_STEP_PLANES: Final = 14  # of each position: six own pieces, six of the opponent, two of repetition


def _name(fen: str, inputs: str) -> str:
    """The game string of chess from a position."""
    values = {"fen": (fen, START), "inputs": (inputs, TACTICS)}
    return write_game("chess", {key: value for key, (value, usual) in values.items() if value != usual})


@dataclass(frozen=True, eq=False)
class ChessView:
    """What the planes need of a position.

    board: int8[64], codes by square file * 8 + rank.  castling: FEN's letters.  quiet: half moves since a capture
    or a pawn's move.  number: the full move's.  repetitions: how often the position has stood, this time included.
    """

    board: Array
    castling: str
    quiet: int
    number: int
    repetitions: int


class Chess(PositionGame):
    """Chess; a public state is a BoardPosition. Player 1 is White and moves first, player 0 Black, as OpenSpiel has it.

    Rules are OpenSpiel's: the third repetition of a position, 100 half moves without a capture or a pawn's move,
    and material that cannot mate end the game as a draw at once, without a claim. Positions before the root of
    another FEN do not count as repetitions. A right to take en passant makes a position another one only where the
    capture is legal (FIDE 9.2.3), which OpenSpiel does not ask: see chess_positions.

    Actions: see chess_moves. Planes, files by ranks, from the mover's side. With inputs=tactics float32[38, 8, 8], made
    by hand (chess_tactics). With inputs=paper float32[119, 8, 8] (AlphaZero, "Representation"): 8 positions of 14
    planes (own and opposing pawn, knight, bishop, rook, queen, king; occurred twice, occurred three times), the mover's
    castling rights to the king's and the queen's side, the opponent's, half moves without progress in hundreds, full
    moves in hundreds, and ones where Black acts.
    """

    longest = 512
    drawn_out = True
    record_suffix = ".pgn"

    def __init__(self, fen: str = START, inputs: str = TACTICS) -> None:
        """fen: where play begins.  inputs: one of INPUTS. GameError where either is something else."""
        require_inputs("chess", inputs, INPUTS)
        spiel = pyspiel.load_game("chess")
        start = spiel.new_initial_state(checked_fen(fen))
        planes = TACTICS_PLANES if inputs == TACTICS else _STEP_PLANES * HISTORY + 7
        super().__init__(_name(fen, inputs), spiel, start, (planes, 8, 8), chess_moves.PLANES)
        self._root = ChessPosition(start)
        self.fen, self.inputs = fen, inputs
        self._write_planes = write_tactics if inputs == TACTICS else write_planes

    @property
    def family(self) -> str:
        return _name(START, self.inputs)

    def random_start(self, rng: np.random.Generator) -> Chess | None:
        """A position where one side has more, which games between beginners hardly win; None from another FEN.

        Half are king and queens or rooks against king, and half of these near their end (chess_starts), where a small
        search finds wins that values then spread from. The others are the first position without some pieces.
        """
        if self.fen != START:
            return None
        while True:
            kind = int(rng.integers(4))
            game = Chess(uneven_start(rng) if kind > 1 else random_endgame(rng, near=kind == 1), self.inputs)
            if game.actor(game.root()) != TERMINAL:
                return game

    def write_planes(self, position: BoardPosition, out: Float32) -> None:
        past = position.latest()
        before = [*range(1, len(past)), -1]
        rows = [self._row(seen, position.actor ^ t % 2, before[t]) for t, seen in enumerate(past)]
        numbers, cells = (np.stack(part) for part in zip(*rows, strict=True))
        self._write_planes(numbers, cells, np.zeros(1, dtype=np.int64), out[None])

    def cell_rules(self, s: State) -> CellRules:
        return chess_cells(self._row(self._root, self._root.actor, -1), self.history(s, 0, 0), self._write_planes)

    def _row(self, position: BoardPosition, actor: int, before: int) -> tuple[Int64, Array]:
        """A position's row.  before: which row is that of the position before."""
        seen, passed = self.seen(position), position.spiel.board().to_fen().split(" ")[3]
        rights = [right in seen.castling for right in ("KQkq" if actor == WHITE else "kqKQ")]
        castling = sum(2**k * right for k, right in enumerate(rights))
        file = -1 if passed == "-" else "abcdefgh".index(passed[0])
        return row_of(seen.board, actor, before, (castling, file, seen.quiet, seen.number, seen.repetitions))

    def write_record(self, record: GameRecord) -> str:
        return pgn_record(self, record, self.fen, START)

    def seen(self, s: State) -> ChessView:
        """A position's board and counters."""
        position = cast(BoardPosition, s)
        if position.view is None:
            placed, _, castling, _, quiet, number = position.spiel.board().to_fen().split(" ")
            letters = np.frombuffer(placed.translate(_BLANKS).encode(), dtype=np.uint8)
            repetitions = position.spiel.num_repetitions(position.spiel)
            position.view = ChessView(_CODES[letters][_FROM_FEN], castling, int(quiet), int(number), repetitions)
        return cast(ChessView, position.view)

    def step(self, s: State, action: int) -> ChessStep:
        """What an action moves, as White sees the board."""
        position = cast(BoardPosition, s)
        black, board = position.actor == BLACK, self.seen(s).board
        square = action // chess_moves.PLANES
        pawn = square < 64 and int(board[square ^ 7 if black else square]) in _PAWNS
        return chess_moves.step_of(action, black, pawn)

    def action(self, s: State, move: str) -> int:
        """The legal action that UCI's notation names; GameError where it is malformed or illegal."""
        position, step = cast(BoardPosition, s), chess_moves.read_step(move)
        king = int(self.seen(s).board[step.start]) in _KINGS
        action = chess_moves.action_of(step, position.actor == BLACK, king)
        if action not in position.legal or self.step(s, action) != step:
            raise GameError(f"{move} is not legal in {self.state_name(s)}")
        return action

    def history(self, s: State, i0: int, i1: int) -> list[int]:
        return [*cast(ChessPosition, s).earlier, *super().history(s, i0, i1)]

    def state_name(self, s: State) -> str:
        """The position's FEN."""
        return str(cast(BoardPosition, s).spiel.board().to_fen())

    def picture(self, s: State) -> str:
        """The board, White's pieces in capitals."""
        placed, mover = self.state_name(s).split()[:2]
        rows = ["".join("." * int(c) if c.isdigit() else c for c in row) for row in placed.split("/")]
        lines = [f"{8 - k} {' '.join(row)}" for k, row in enumerate(rows)]
        return "\n".join([*lines, f"  a b c d e f g h   {'White' if mover == 'w' else 'Black'} to move"])

    def action_name(self, s: State, action: int) -> str:
        """UCI's notation, such as e2e4 or a7a8q."""
        return chess_moves.write_step(self.step(s, action))
