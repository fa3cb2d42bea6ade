"""A map and its rules as the tables that `station_inputs` reads: distances by ticket, links, reveals, legal pairs."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Bool, Float32, Int64
from sog.games.scotland_yard.game import ScotlandYard
from sog.games.scotland_yard.map import TRANSPORTS, CityMap
from sog.games.scotland_yard.rules import DOUBLE

__all__ = ["FAR", "StationMap", "station_map"]

FAR: Final = 255  # moves to a station that cannot be reached
_ORDINARY: Final = 3  # kinds of tickets that detectives have
_WITHIN: Final = ((7, 2, 20), (7, 3, 50), (7, 4, 90), (1, 2, 12), (1, 4, 25))  # tickets as in `steps`, moves, unit
_MAPS: Final = 16  # in hand; London's takes 0.4 MB


class StationMap(NamedTuple):
    """N stations, D detectives, P legal pairs (Game.legal_pairs).

    steps: uint8[8, N, N], moves between stations with taxi tickets (bit 0), bus (bit 1) and underground (bit 2) at
    hand, as many of each as needed; FAR where there is no way.
    first: int64[N + 1], where each station's links begin.  to, by: int64[L], the other end and the transport.
    kinds: float32[N, 4], links of each transport.  reveal_in: int64[R + 2], moves until Mr X shows himself after this
    many moves, 0 for never again.
    pair0: int64[N + 2], where the pairs of each of Mr X's stations begin, then the detectives'.
    ticket, dest: int64[P], of each pair; the double card enters no station, -1.
    leads: bool[N, Q], whether each of the detectives' Q pairs is a link that begins at a station.
    linked: float32[N, N], 1 for a station itself and where any link leads from it.
    within: float32[N, 5], how many stations are at most 2, 3 and 4 moves away by any ticket, and 2 and 4 by taxi, in
    units of about London's mean: how well a station is connected.
    """

    steps: Array
    first: Int64
    to: Int64
    by: Int64
    kinds: Float32
    reveal_in: Int64
    pair0: Int64
    ticket: Int64
    dest: Int64
    leads: Bool
    linked: Float32
    within: Float32
    stations: int
    detectives: int
    rounds: int


@lru_cache(maxsize=_MAPS)
def station_map(game: ScotlandYard) -> StationMap:
    """The tables of a game, computed once."""
    city, rules, n = game.city, game.rules, len(game.city.stations)
    links = sorted({way for a, b, t in city.links for way in ((a, b, t), (b, a, t))})
    kinds = np.zeros((n, len(TRANSPORTS)), dtype=np.float32)
    for a, _, t in links:
        kinds[a, t] += 1.0
    reveal_in = np.zeros(rules.rounds + 2, dtype=np.int64)
    for moved in range(rules.rounds + 1):
        reveal_in[moved] = min((k - moved for k in rules.reveals if moved < k <= rules.rounds), default=0)
    linked = np.eye(n, dtype=np.float32)
    linked[[a for a, _, _ in links], [b for _, b, _ in links]] = 1.0
    pairs = game.legal_pairs
    assert pairs is not None
    steps = np.stack([_steps(city, mask) for mask in range(2**_ORDINARY)])
    return StationMap(
        steps=steps,
        first=np.searchsorted([a for a, _, _ in links], np.arange(n + 1)).astype(np.int64),
        to=np.array([b for _, b, _ in links], dtype=np.int64),
        by=np.array([t for _, _, t in links], dtype=np.int64),
        kinds=kinds,
        reveal_in=reveal_in,
        pair0=np.cumsum([0, *pairs.counts], dtype=np.int64),
        ticket=np.append(game.ticket_of, DOUBLE)[pairs.action].astype(np.int64),
        dest=np.append(game.dest_of, -1)[pairs.action].astype(np.int64),
        leads=game.reach[:, pairs.action[pairs.player == 1]],
        linked=linked,
        within=np.stack([(steps[by] <= far).sum(axis=1) / unit for by, far, unit in _WITHIN], axis=1).astype(
            np.float32
        ),
        stations=n,
        detectives=rules.detectives,
        rounds=rules.rounds,
    )


def _steps(city: CityMap, mask: int) -> Array:
    """uint8[N, N]: moves by the transports in the mask, by breadth-first search from all stations at once."""
    n = len(city.stations)
    beside: Bool = np.zeros((n, n), dtype=np.bool_)
    for a, b, t in city.links:
        beside[a, b] |= t < _ORDINARY and bool(mask >> t & 1)
    beside |= beside.T
    steps = np.full((n, n), FAR, dtype=np.uint8)
    reached: Bool = np.eye(n, dtype=np.bool_)
    newest = reached
    for far in range(FAR):
        steps[newest] = far
        newest = ((newest.astype(np.float32) @ beside.astype(np.float32)) > 0) & ~reached
        if not newest.any():
            break
        reached = reached | newest
    return steps
