"""The rules of Scotland Yard as kernels on a compact position: which moves are legal, and what each of them changes.

A position may know Mr X's station or not. Beside it, if asked for, the set of his possible stations is updated by the
public part of each move alone: his ticket, a station that he shows, a double card, and every detective's move.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from sog.arrays import Array, Int64
from sog.games.scotland_yard.rules import BLACK, DOUBLE
from sog.opponents.scotland_yard import bits
from sog.opponents.scotland_yard.board import ORDINARY, TAXI, CityBoard
from sog.searches.kernels.jit import njit

__all__ = [
    "Cell",
    "ChasePosition",
    "Ending",
    "begin_turn",
    "copy_position",
    "empty_position",
    "list_detective_moves",
    "list_x_moves",
    "play_detective",
    "play_double",
    "play_ticket",
    "play_x",
]


class Cell(IntEnum):
    """Places in a position's cells."""

    STATION = 0  # Mr X's, -1 where it is not known
    TURN = 1  # 0 Mr X, k the k-th detective
    MOVED = 2  # Mr X's moves so far
    OWED = 3  # moves of a double card that are still to be made
    ENDING = 4
    CATCHER = 5  # the detective who caught Mr X, or 0
    TICKETS = 6  # five numbers: Mr X's
    PLACES = 11  # the detectives' stations, then three numbers of tickets for each


class Ending(IntEnum):
    """How the chase ended."""

    NONE = 0
    ESCAPED = 1
    CAUGHT = 2
    STUCK = 3


class ChasePosition(NamedTuple):
    """cells: int64[11 + 4 D].  possible: uint64[W], where Mr X can be.  held: uint64[W], where detectives are.

    spare: uint64[W], to work in.
    """

    cells: Int64
    possible: Array
    held: Array
    spare: Array


def empty_position(b: CityBoard) -> ChasePosition:
    """A position to be filled."""
    words = np.zeros((3, b.near.shape[2]), dtype=np.uint64)
    return ChasePosition(np.zeros(Cell.PLACES + 4 * b.detectives, dtype=np.int64), *words)


@njit
def copy_position(source: ChasePosition, target: ChasePosition) -> None:
    """Copy all but the spare set."""
    for k in range(len(source.cells)):
        target.cells[k] = source.cells[k]
    for w in range(len(source.held)):
        target.held[w], target.possible[w] = source.held[w], source.possible[w]


# --- legal moves ---


@njit
def list_detective_moves(b: CityBoard, s: ChasePosition, k: Any, moves: Int64) -> Any:
    """List the k-th detective's actions (from 1), ascending; how many."""
    station, cards = s.cells[Cell.PLACES + k - 1], Cell.PLACES + b.detectives + ORDINARY * (k - 1)
    count = 0
    for at in range(b.first[station], b.first[station + 1]):
        a = b.moves[at]
        t = b.ticket_of[a]
        if t == BLACK:
            break
        if s.cells[cards + t] > 0 and not bits.has(s.held, b.dest_of[a]):
            moves[count] = a
            count += 1
    return count


@njit
def _can_move(b: CityBoard, s: ChasePosition, k: Any) -> Any:
    """Whether the k-th detective has a move."""
    station, cards = s.cells[Cell.PLACES + k - 1], Cell.PLACES + b.detectives + ORDINARY * (k - 1)
    for at in range(b.first[station], b.first[station + 1]):
        a = b.moves[at]
        t = b.ticket_of[a]
        if t < BLACK and s.cells[cards + t] > 0 and not bits.has(s.held, b.dest_of[a]):
            return True
    return False


@njit
def _next_turn(b: CityBoard, s: ChasePosition, k: Any) -> Any:
    """The first detective after the k-th who can move, or 0 for Mr X."""
    for j in range(k + 1, b.detectives + 1):
        if _can_move(b, s, j):
            return j
    return 0


@njit
def _can_leave(b: CityBoard, s: ChasePosition, station: Any, spent: Any) -> Any:
    """Whether Mr X could leave a station, with one ticket of the kind `spent` less; -1 for none less."""
    for at in range(b.first[station], b.first[station + 1]):
        a = b.moves[at]
        t = b.ticket_of[a]
        if s.cells[Cell.TICKETS + t] > (1 if t == spent else 0) and not bits.has(s.held, b.dest_of[a]):
            return True
    return False


@njit
def _may_double(b: CityBoard, s: ChasePosition) -> Any:
    """Whether a double card can be played here, as far as the station does not decide it."""
    return s.cells[Cell.TICKETS + DOUBLE] > 0 and s.cells[Cell.OWED] == 0 and s.cells[Cell.MOVED] + 2 <= b.rounds


@njit
def _can_move_twice(b: CityBoard, s: ChasePosition, station: Any) -> Any:
    """Whether two moves in a row are possible from a station."""
    for at in range(b.first[station], b.first[station + 1]):
        a = b.moves[at]
        t, dest = b.ticket_of[a], b.dest_of[a]
        if s.cells[Cell.TICKETS + t] > 0 and not bits.has(s.held, dest) and _can_leave(b, s, dest, t):
            return True
    return False


@njit
def list_x_moves(b: CityBoard, s: ChasePosition, moves: Int64) -> Any:
    """List Mr X's actions from his station, ascending, the double card last; how many."""
    station, count = s.cells[Cell.STATION], 0
    first_of_two = s.cells[Cell.OWED] == 2
    for at in range(b.first[station], b.first[station + 1]):
        a = b.moves[at]
        t, dest = b.ticket_of[a], b.dest_of[a]
        if s.cells[Cell.TICKETS + t] > 0 and not bits.has(s.held, dest):
            # Of the first move of a double card he must be able to move on.
            if first_of_two and not _can_leave(b, s, dest, t):
                continue
            moves[count] = a
            count += 1
    if count > 0 and _may_double(b, s) and _can_move_twice(b, s, station):
        moves[count] = b.double
        count += 1
    return count


# --- the set of possible stations ---


@njit
def _spread(b: CityBoard, s: ChasePosition, t: Any) -> None:
    """Every possible station by every move that ticket t pays for, into stations that no detective holds."""
    first_of_two = s.cells[Cell.OWED] == 2
    for w in range(len(s.spare)):
        s.spare[w] = np.uint64(0)
    for v in range(len(s.spare)):
        word = s.possible[v]
        while word != np.uint64(0):
            station = 64 * v + bits.position(word)
            word = bits.without_lowest(word)
            for w in range(len(s.spare)):
                s.spare[w] |= b.near[t, station, w]
    for w in range(len(s.spare)):
        s.possible[w] = s.spare[w] & ~s.held[w]
    if first_of_two:
        for station in range(b.stations):
            if bits.has(s.possible, station) and not _can_leave(b, s, station, t):
                bits.remove(s.possible, station)


@njit
def _drop_stuck(b: CityBoard, s: ChasePosition) -> None:
    """Take out the stations that Mr X could not leave: he would have lost."""
    taxi = s.cells[Cell.TICKETS + TAXI] > 0
    for v in range(len(s.possible)):
        word = s.possible[v]
        if taxi:  # he can take one, unless a detective is beside: links go both ways
            beside = b.roadless[v]
            for k in range(b.detectives):
                beside |= b.near[TAXI, s.cells[Cell.PLACES + k], v]
            word &= beside
        while word != np.uint64(0):
            station = 64 * v + bits.position(word)
            word = bits.without_lowest(word)
            free = np.uint64(0)
            for t in range(DOUBLE):
                if s.cells[Cell.TICKETS + t] > 0:
                    for w in range(len(s.held)):
                        free |= b.near[t, station, w] & ~s.held[w]
                    if free != np.uint64(0):
                        break
            if free == np.uint64(0):
                bits.remove(s.possible, station)


# --- what moves change ---


@njit
def begin_turn(b: CityBoard, s: ChasePosition, track: Any) -> None:
    """Mr X's turn after all detectives have moved or been placed: the chase ends here or continues."""
    cells = s.cells
    cells[Cell.TURN] = 0
    if cells[Cell.MOVED] == b.rounds:
        cells[Cell.ENDING] = Ending.ESCAPED
        return
    if cells[Cell.STATION] >= 0 and not _can_leave(b, s, cells[Cell.STATION], -1):
        cells[Cell.ENDING] = Ending.STUCK
    if track:
        _drop_stuck(b, s)


@njit
def play_double(b: CityBoard, s: ChasePosition, track: Any) -> None:
    """Mr X plays a double card."""
    if track:
        for station in range(b.stations):
            if bits.has(s.possible, station) and not _can_move_twice(b, s, station):
                bits.remove(s.possible, station)
    s.cells[Cell.TICKETS + DOUBLE] -= 1
    s.cells[Cell.OWED] = 2


@njit
def play_ticket(b: CityBoard, s: ChasePosition, t: Any, shown: Any, track: Any) -> None:
    """What all see of Mr X's move: ticket t, and the station where he shows himself, or -1."""
    cells = s.cells
    if track:
        _spread(b, s, t)
        if shown >= 0:
            for w in range(len(s.possible)):
                s.possible[w] = np.uint64(0)
            bits.add(s.possible, shown)
    cells[Cell.TICKETS + t] -= 1
    cells[Cell.MOVED] += 1
    owed = cells[Cell.OWED]
    cells[Cell.OWED] = max(owed - 1, 0)
    if owed != 2:
        cells[Cell.TURN] = _next_turn(b, s, 0)
        if cells[Cell.TURN] == 0:
            cells[Cell.ENDING] = Ending.ESCAPED  # no detective can move


@njit
def play_x(b: CityBoard, s: ChasePosition, a: Any, track: Any) -> None:
    """Mr X's action, his station known."""
    if a == b.double:
        play_double(b, s, track)
        return
    dest = b.dest_of[a]
    s.cells[Cell.STATION] = dest
    shown = dest if b.reveals[s.cells[Cell.MOVED] + 1] else -1
    play_ticket(b, s, b.ticket_of[a], shown, track)


@njit
def play_detective(b: CityBoard, s: ChasePosition, a: Any, track: Any) -> None:
    """The action of the detective whose turn it is; the set of possible stations loses the one that he enters."""
    cells = s.cells
    k, t, dest = cells[Cell.TURN], b.ticket_of[a], b.dest_of[a]
    bits.remove(s.held, cells[Cell.PLACES + k - 1])
    bits.add(s.held, dest)
    cells[Cell.PLACES + k - 1] = dest
    cells[Cell.PLACES + b.detectives + ORDINARY * (k - 1) + t] -= 1
    cells[Cell.TICKETS + t] += 1
    if dest == cells[Cell.STATION]:
        cells[Cell.ENDING], cells[Cell.CATCHER] = Ending.CAUGHT, k
        return
    if track:
        bits.remove(s.possible, dest)
    cells[Cell.TURN] = _next_turn(b, s, k)
    if cells[Cell.TURN] == 0:
        begin_turn(b, s, track)
