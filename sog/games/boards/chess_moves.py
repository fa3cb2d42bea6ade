"""Chess moves between OpenSpiel's action numbers (AlphaZero's 8 x 8 x 73) and coordinates.

An action is square * 73 + plane for the piece's square, file * 8 + rank, from the mover's side of the board (ranks
are counted from the far side for Black). Planes 0..8 are underpromotions to rook, bishop and knight, three
directions each; 9..64 the lines of a queen, promotions to a queen among them; 65..72 knights' jumps (AlphaZero,
"Representation"). Castling to the queen's and the king's side are OpenSpiel's two extra numbers.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sog.errors import GameError

PLANES: Final = 73
QUEENSIDE: Final = 64 * PLANES
KINGSIDE: Final = QUEENSIDE + 1
NUM_ACTIONS: Final = KINGSIDE + 1

_UNDER: Final = "rbn"
_SIDEWAYS: Final = (0, 1, -1)  # files that an underpromoting pawn moves by
_LINES: Final = ((0, 1), (1, 0), (1, 1), (1, -1))  # each with steps of -7..-1, then 1..7
_JUMPS: Final = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (2, -1), (2, 1), (1, -2), (1, 2))


class ChessStep(NamedTuple):
    """Squares are file * 8 + rank as White sees the board; promotion: one of q, r, b, n, or ""."""

    start: int
    end: int
    promotion: str = ""


def _plane_steps() -> list[tuple[int, int]]:
    """(files, ranks) that each plane moves a piece by."""
    under = [(side, 1) for _ in _UNDER for side in _SIDEWAYS]
    lines = [(d[0] * k, d[1] * k) for d in _LINES for k in (*range(-7, 0), *range(1, 8))]
    return [*under, *lines, *_JUMPS]


PLANE_STEPS: Final = _plane_steps()
_PLANE_OF: Final = {step: plane for plane, step in enumerate(PLANE_STEPS) if plane >= 9}


def step_of(action: int, black: bool, pawn: bool) -> ChessStep:
    """What an action moves; `pawn`: whether a pawn is on its square, which then may become a queen."""
    if action >= QUEENSIDE:
        rank = 7 if black else 0
        return ChessStep(4 * 8 + rank, (2 if action == QUEENSIDE else 6) * 8 + rank)
    square, plane = divmod(action, PLANES)
    files, ranks = PLANE_STEPS[plane]
    end = (square // 8 + files) * 8 + square % 8 + ranks
    promotion = _UNDER[plane // 3] if plane < 9 else "q" if pawn and end % 8 == 7 else ""
    return ChessStep(square ^ 7, end ^ 7, promotion) if black else ChessStep(square, end, promotion)


def action_of(step: ChessStep, black: bool, king: bool) -> int:
    """The action that moves so; `king`: whether a king moves, of which a jump by two files is castling.

    GameError where no piece moves like that.
    """
    start, end = (step.start ^ 7, step.end ^ 7) if black else step[:2]
    files, ranks = end // 8 - start // 8, end % 8 - start % 8
    if king and abs(files) == 2 and start == 4 * 8:
        return KINGSIDE if files > 0 else QUEENSIDE
    if step.promotion and step.promotion in _UNDER and files in _SIDEWAYS:
        return start * PLANES + 3 * _UNDER.index(step.promotion) + _SIDEWAYS.index(files)
    if (files, ranks) not in _PLANE_OF:
        raise GameError(f"no chess piece moves {write_step(step)}")
    return start * PLANES + _PLANE_OF[files, ranks]


def write_step(step: ChessStep) -> str:
    """UCI's notation, such as e2e4 or a7a8q."""
    return f"{_square_name(step.start)}{_square_name(step.end)}{step.promotion}"


def read_step(text: str) -> ChessStep:
    """The step that UCI's notation names; GameError for a malformed one."""
    letters = text.lower()
    fits = len(letters) in (4, 5) and letters[0] in _FILES and letters[2] in _FILES
    if not fits or letters[1] not in _RANKS or letters[3] not in _RANKS or letters[4:] not in ("", *"qrbn"):
        raise GameError(f"not a move such as e2e4 or a7a8q: {text!r}")
    start, end = (_FILES.index(letters[k]) * 8 + _RANKS.index(letters[k + 1]) for k in (0, 2))
    return ChessStep(start, end, letters[4:])


_FILES: Final = "abcdefgh"
_RANKS: Final = "12345678"


def _square_name(square: int) -> str:
    return _FILES[square // 8] + _RANKS[square % 8]
