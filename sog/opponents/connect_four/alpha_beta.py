"""The kernel of connect four's exact search: null-window alpha-beta that can stop at any node and continue.

Boards are bits (bitboards.py); a table keeps bounds from search to search.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.arrays import Int64
from sog.opponents.connect_four.bitboards import BOTTOM, COLUMNS, FULL, ROWS, counted, legal, threats
from sog.searches.kernels.jit import njit

__all__ = ["CELLS", "DONE", "FRAMES", "NODES", "VALUE", "begin", "new_stack", "search"]

CELLS: Final = ROWS * COLUMNS
FRAMES: Final = CELLS + 2

# Columns of a frame, one frame for each stone put down in the search; the moves come after the last.
_OWN: Final = 0
_MASK: Final = 1
_ALPHA: Final = 2
_BETA: Final = 3
_COUNT: Final = 4
_NEXT: Final = 5
_MOVES: Final = 6
_WIDTH: Final = _MOVES + COLUMNS

# The last frame holds what the search is at.
_DEPTH: Final = 0  # the frame being searched; -1 once the search is done
VALUE: Final = 1  # what the last frame left returned
NODES: Final = 2  # positions entered
_STONES: Final = 3  # on the board at the root
_ENTER: Final = 4  # 1 where the frame is new, 0 where a child has returned to it
DONE: Final = -1

_LEAST: Final = -(CELLS // 2) + 3  # the lowest and highest scores there are, four stones a side at the earliest
_MOST: Final = (CELLS + 1) // 2 - 3
_SHIFT: Final = 8  # a table's entry is key << 8 | bound
_MIX: Final = np.int64(-7046029254386353131)  # 2^64 / golden ratio, odd
_CENTRE_FIRST: Final = np.array([((1 << ROWS) - 1) << (7 * c) for c in (3, 4, 2, 5, 1, 6, 0)], dtype=np.int64)


def new_stack() -> Int64:
    """int64[FRAMES, *]: room for one search."""
    return np.zeros((FRAMES, _WIDTH), dtype=np.int64)


def begin(stack: Int64, own: int, mask: int, alpha: int, beta: int) -> None:
    """Make the stack ready to search a position, where the next stone cannot win, in a window."""
    stack[0, :_COUNT] = own, mask, alpha, beta
    stack[-1, _DEPTH], stack[-1, _ENTER] = 0, 1
    stack[-1, _STONES] = int(mask).bit_count()


@njit
def search(stack, table, bits, budget):  # type: ignore[no-untyped-def]
    """Search until done (true) or until this many more positions were entered (false: call again to continue).

    table: int64[2 ** bits], kept from search to search: bounds hold whatever the window was.
    The score is positive where the mover wins: 22 less the stones the winner has put down at the end.
    """
    state = stack[-1]
    depth, value, nodes, stones = state[_DEPTH], state[VALUE], state[NODES], state[_STONES]
    enter = state[_ENTER] == 1
    limit = nodes + budget
    slots = np.int64((1 << bits) - 1)
    shift = np.int64(64 - bits)
    while depth >= 0:
        frame = stack[depth]
        own, mask = frame[_OWN], frame[_MASK]
        key = own + mask + BOTTOM
        slot = ((key * _MIX) >> shift) & slots
        if enter:
            if nodes >= limit:
                break
            nodes += 1
            alpha, beta, on_board = frame[_ALPHA], frame[_BETA], stones + depth
            # Only moves after which the opponent does not win at once.
            danger = threats(mask ^ own, mask)
            moves = legal(mask)
            forced = moves & danger
            if forced != 0:
                moves = 0 if forced & (forced - 1) else forced
            moves &= ~(danger >> 1)
            if moves == 0:
                value, enter, depth = -((CELLS - on_board) // 2), False, depth - 1
                continue
            if on_board >= CELLS - 2:
                value, enter, depth = 0, False, depth - 1
                continue
            alpha = max(alpha, -((CELLS - 2 - on_board) // 2))
            beta = min(beta, (CELLS - 1 - on_board) // 2)
            entry = table[slot]
            if entry >> _SHIFT == key:
                bound = entry & 255
                if bound > _MOST - _LEAST + 1:
                    alpha = max(alpha, bound + 2 * _LEAST - _MOST - 2)
                else:
                    beta = min(beta, bound + _LEAST - 1)
            if alpha >= beta:
                value, enter, depth = alpha, False, depth - 1
                continue
            # Most threats first, the centre first among equals.
            count = 0
            for c in range(COLUMNS):
                move = moves & _CENTRE_FIRST[c]
                if move != 0:
                    rank = (counted(threats(own | move, mask)) << 52) | move
                    at = count
                    while at > 0 and (frame[_MOVES + at - 1] >> 52) < (rank >> 52):
                        frame[_MOVES + at] = frame[_MOVES + at - 1]
                        at -= 1
                    frame[_MOVES + at] = rank
                    count += 1
            frame[_ALPHA], frame[_BETA], frame[_COUNT], frame[_NEXT] = alpha, beta, count, 0
        else:
            score = -value
            if score >= frame[_BETA]:
                table[slot] = (key << _SHIFT) | (score + _MOST - 2 * _LEAST + 2)
                value, depth = score, depth - 1
                continue
            if score > frame[_ALPHA]:
                frame[_ALPHA] = score
            frame[_NEXT] += 1
        if frame[_NEXT] == frame[_COUNT]:
            value = frame[_ALPHA]
            table[slot] = (key << _SHIFT) | (value - _LEAST + 1)
            enter, depth = False, depth - 1
            continue
        move = frame[_MOVES + frame[_NEXT]] & FULL
        child = stack[depth + 1]
        child[_OWN], child[_MASK] = mask ^ own, mask | move
        child[_ALPHA], child[_BETA] = -frame[_BETA], -frame[_ALPHA]
        enter, depth = True, depth + 1
    state[_DEPTH], state[VALUE], state[NODES], state[_ENTER] = depth, value, nodes, 1 if enter else 0
    return depth < 0
