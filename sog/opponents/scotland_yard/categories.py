"""Location categories: classes of Mr X's possible stations, how often he was in each, and a draw weighed by that.

A table's entry is a / n: a counts how often Mr X was on a station of the class right after his move, n how often the
class had a possible station then.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sog.arrays import Array, Float64, Int64
from sog.opponents.scotland_yard import bits
from sog.opponents.scotland_yard.board import CityBoard
from sog.opponents.scotland_yard.moves import Cell, ChasePosition
from sog.searches.kernels.jit import njit
from sog.searches.tree.draws import random

__all__ = [
    "AVERAGE",
    "CLASSES",
    "KINDS",
    "MINIMUM",
    "NO_CATEGORIES",
    "PUBLISHED",
    "TYPE",
    "classify",
    "count_classes",
    "draw_station",
    "weigh_stations",
]

NO_CATEGORIES, MINIMUM, AVERAGE, TYPE = range(4)
KINDS: Final = ("none", "minimum", "average", "type")
CLASSES: Final = 5  # the most that a kind has
# By minimum distance 1, 2, 3, 4, 5 and more; as two programs that cite the paper have it.
PUBLISHED: Final = (2454 / 12523, 9735 / 14502, 4047 / 7491, 1109 / 2890, 344 / 1756)


@njit
def class_of(b: CityBoard, s: ChasePosition, kind: Any, station: Any) -> Any:
    """The class of a station, from 0.

    minimum: moves to the nearest detective, 1 to 5 or more. average: the mean over detectives, at most 2, 3, 4, 5 or
    more (our choice). type: taxis only, buses too, the underground too.
    """
    if kind == TYPE:
        return b.service[station]
    nearest: Any = 255
    total: Any = 0
    for k in range(b.detectives):
        far = np.int64(b.steps[s.cells[Cell.PLACES + k], station]) if s.cells[Cell.PLACES + k] >= 0 else 0
        nearest = min(nearest, far)
        total += far
    if kind == MINIMUM:
        return min(max(nearest, 1), 5) - 1
    if kind == AVERAGE:
        # The mean, rounded up: 2 and less are class 0, more than 5 class 4.
        return min(max((total + b.detectives - 1) // b.detectives, 2), 6) - 2
    return 0


@njit
def classify(b: CityBoard, s: ChasePosition, kind: Any, classes: Int64) -> None:
    """Write each possible station's class."""
    for station in range(b.stations):
        if bits.has(s.possible, station):
            classes[station] = class_of(b, s, kind, station)


@njit
def count_classes(b: CityBoard, s: ChasePosition, kind: Any, station: Any, counts: Int64) -> None:
    """Count one of Mr X's moves, unless all know where he is (ours).

    counts: int64[2, 5], a and n of each class.  station: where he is.
    """
    if bits.count(s.possible) < 2:
        return
    there = 0
    for other in range(b.stations):
        if bits.has(s.possible, other):
            there |= 1 << class_of(b, s, kind, other)
    for c in range(CLASSES):
        counts[1, c] += (there >> c) & 1
    counts[0, class_of(b, s, kind, station)] += 1


@njit
def weigh_stations(
    s: ChasePosition, classes: Int64, table: Float64, by_class: Any, stations: Int64, sums: Float64
) -> Any:
    """List the possible stations that no detective holds, with running sums of their weights; how many.

    A station's weight is its class's entry of the table; by_class: shared among the stations of its class.
    """
    count, total = 0, 0.0
    for w in range(len(s.possible)):
        word = s.possible[w] & ~s.held[w]
        while word != np.uint64(0):
            stations[count] = 64 * w + bits.position(word)
            word = bits.without_lowest(word)
            count += 1
    for i in range(count):
        c, others = classes[stations[i]], 1
        if by_class:
            others = 0
            for j in range(count):
                others += classes[stations[j]] == c
        total += table[c] / others
        sums[i] = total
    if total <= 0.0:
        for i in range(count):
            sums[i] = i + 1.0
    return count


@njit
def draw_station(stations: Int64, sums: Float64, count: Any, rng: Array) -> Any:
    """A station in proportion to its weight."""
    target, low, high = random(rng) * sums[count - 1], 0, count - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > target:
            high = middle
        else:
            low = middle + 1
    return stations[low]
