"""Tickets and the moves of a map, without rules: which there are, what pays for them, which stations are left."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sog.arrays import Array, Bool
from sog.games.base import Links
from sog.games.scotland_yard.map import TRANSPORTS, CityMap
from sog.games.scotland_yard.rules import BLACK, DOUBLE

__all__ = ["kinds_of", "links_of_those_left", "move_table", "spend"]


def spend(tickets: tuple[int, ...], ticket: int) -> tuple[int, ...]:
    """The tickets after one of this kind is played."""
    return (*tickets[:ticket], tickets[ticket] - 1, *tickets[ticket + 1 :])


@lru_cache(maxsize=4096)
def kinds_of(tickets: tuple[int, ...]) -> int:
    """The kinds of tickets there are, as bits; double cards left out."""
    return sum(1 << t for t, count in enumerate(tickets[:DOUBLE]) if count)


def links_of_those_left(before: tuple[int, ...], after: tuple[int, ...]) -> Links:
    """Links of the stations that stay possible, where each of the others ends."""
    stay = set(after)
    source = np.array([k for k, x in enumerate(before) if x in stay], dtype=np.int32)
    return Links(source, np.arange(len(after), dtype=np.int32))


def move_table(city: CityMap, black: bool) -> tuple[Array, Array, Bool]:
    """int64[M] ticket and int64[M] station entered of each move, bool[N, M] from where it can be made."""
    ways: dict[tuple[int, int], set[int]] = {}
    for a, b, transport in city.links:
        tickets = [transport] if TRANSPORTS[transport] != "ferry" else []
        for ticket in [*tickets, BLACK] if black else tickets:
            ways.setdefault((ticket, b), set()).add(a)
            ways.setdefault((ticket, a), set()).add(b)
    table = np.array(sorted(ways), dtype=np.int64).reshape(-1, 2)
    reach = np.zeros((len(city.stations), len(table)), dtype=bool)
    for move, key in enumerate(sorted(ways)):
        reach[list(ways[key]), move] = True
    return table[:, 0], table[:, 1], reach
