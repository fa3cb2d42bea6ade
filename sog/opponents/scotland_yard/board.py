"""A map and its rules as flat arrays, as the kernels of Scotland Yard's opponents read them.

Actions have the game's numbers: the (ticket, station entered) pairs of the map in ascending order, then the double
card. Distances are counted in the detectives' moves: ferries are left out and tickets are not counted.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Int64
from sog.games.scotland_yard.game import ScotlandYard
from sog.games.scotland_yard.map import TRANSPORTS, CityMap
from sog.games.scotland_yard.rules import BLACK, DOUBLE

__all__ = ["BUS", "ORDINARY", "TAXI", "UNDERGROUND", "CityBoard", "make_board"]

TAXI, BUS, UNDERGROUND = 0, 1, 2
ORDINARY: Final = 3  # kinds of tickets that detectives have
_FERRY: Final = TRANSPORTS.index("ferry")


class CityBoard(NamedTuple):
    """N stations, A moves, W words of a set of stations (bits.py).

    first: int64[N + 1], where each station's moves begin in `moves`.  moves: int64[L], actions, ascending a station.
    ticket_of, dest_of: int64[A + 1], the last is the double card's.  near: uint64[4, N, W], where a ticket leads.
    steps: uint8[N, N], distances; unreachable stations count one more than the largest.
    beyond: uint64[N, W, K], the stations further than k from each.  richer, roadless: uint64[W], those with more than
    taxis, and with none.
    service: int64[N], 0 taxis only, 1 also buses, 2 also the underground.  reveals: uint8[rounds + 2].
    """

    first: Int64
    moves: Int64
    ticket_of: Int64
    dest_of: Int64
    near: Array
    steps: Array
    beyond: Array
    richer: Array
    roadless: Array
    service: Int64
    reveals: Array
    stations: int
    detectives: int
    rounds: int
    double: int


def make_board(game: ScotlandYard) -> CityBoard:
    """The arrays of a game."""
    city, rules = game.city, game.rules
    n = len(city.stations)
    ways = _ways(city, rules.x_tickets[BLACK] > 0)
    identities = sorted({(ticket, dest) for _, ticket, dest in ways})
    number = {identity: k for k, identity in enumerate(identities)}
    own: list[list[int]] = [[] for _ in range(n)]
    near = np.zeros((DOUBLE, n, _words(n)), dtype=np.uint64)
    for source, ticket, dest in sorted(ways):
        own[source].append(number[ticket, dest])
        near[ticket, source] |= _bits([dest], n)
    steps = _distances(city)
    reveals = np.zeros(rules.rounds + 2, dtype=np.uint8)
    reveals[[k for k in rules.reveals if k <= rules.rounds]] = 1
    offers = [{t for a, b, t in city.links if s in (a, b)} for s in range(n)]
    return CityBoard(
        first=np.cumsum([0, *map(len, own)], dtype=np.int64),
        moves=np.array([a for actions in own for a in actions], dtype=np.int64),
        ticket_of=np.array([ticket for ticket, _ in identities] + [DOUBLE], dtype=np.int64),
        dest_of=np.array([dest for _, dest in identities] + [0], dtype=np.int64),
        near=near,
        steps=steps,
        beyond=np.array(
            [[_bits(np.flatnonzero(row > k).tolist(), n) for k in range(int(steps.max()))] for row in steps]
        )
        .transpose(0, 2, 1)
        .copy(),
        richer=_bits([s for s in range(n) if offers[s] - {TAXI}], n),
        roadless=_bits([s for s in range(n) if TAXI not in offers[s]], n),
        service=np.array([2 if UNDERGROUND in o else 1 if BUS in o else 0 for o in offers], dtype=np.int64),
        reveals=reveals,
        stations=n,
        detectives=rules.detectives,
        rounds=rules.rounds,
        double=len(identities),
    )


def _ways(city: CityMap, black: bool) -> set[tuple[int, int, int]]:
    """(from, ticket, to) of every move of the map."""
    ways: set[tuple[int, int, int]] = set()
    for a, b, transport in city.links:
        tickets = [transport] if transport != _FERRY else []
        for ticket in [*tickets, BLACK] if black else tickets:
            ways |= {(a, ticket, b), (b, ticket, a)}
    return ways


def _distances(city: CityMap) -> Array:
    """uint8[N, N]: moves between stations without ferries, by breadth-first search from each."""
    n = len(city.stations)
    beside: list[set[int]] = [set() for _ in range(n)]
    for a, b, transport in city.links:
        if transport != _FERRY:
            beside[a].add(b)
            beside[b].add(a)
    steps = np.full((n, n), -1, dtype=np.int64)
    for s in range(n):
        reached, far = {s}, 0
        while reached:
            steps[s, list(reached)] = far
            reached = {b for a in reached for b in beside[a] if steps[s, b] < 0}
            far += 1
    return np.where(steps < 0, steps.max() + 1, steps).clip(max=255).astype(np.uint8)


def _words(n: int) -> int:
    return (n + 63) // 64


def _bits(stations: list[int], n: int) -> Array:
    """uint64[W]: the set of these stations."""
    words = [0] * _words(n)
    for k in stations:
        words[k // 64] |= 1 << (k % 64)
    return np.array(words, dtype=np.uint64)
