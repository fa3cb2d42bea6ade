"""What a network that treats stations alike sees of each: detectives near and far, links, free neighbours, the range.

It reads encoded beliefs (sog.nets.encode) of `inputs=stations`. Distances are in moves with the kinds of tickets that
a detective has; how many of a kind he has left is not counted, so that scarce tickets look plentiful. Hand-made inputs.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeGuard

import numpy as np

from sog.arrays import Array, Bool, Float32, Int64
from sog.games.base import Game
from sog.games.kernels import kernel
from sog.games.scotland_yard.features import PER_DETECTIVE, PLAIN, UNIT
from sog.games.scotland_yard.game import ScotlandYard
from sog.games.scotland_yard.rules import STATIONS
from sog.games.scotland_yard.station_map import StationMap, station_map

__all__ = [
    "AROUND",
    "CONTEXT",
    "DETECTIVE",
    "WIDTH",
    "Pairs",
    "StationInputs",
    "has_station_inputs",
    "pairs_of",
    "station_inputs",
]

WIDTH: Final = 39  # numbers a station, see `_fill`
AROUND: Final = 2  # and more of a station that is entered, see `_around`
CONTEXT: Final = 24  # numbers a belief, see `_context`
DETECTIVE: Final = 16  # numbers a detective, see `_detective`

_UNITS: Final = 1024.0  # 1 in UNITs, for kernels


class StationInputs(NamedTuple):
    """B beliefs, R stations of theirs, D detectives.

    belief, station: int64[R].  share: float32[R], of the range, which sums to 1.  rows: float32[R, WIDTH].
    first: int64[B + 1], where each belief's stations begin.  context: float32[B, CONTEXT].
    detectives: float32[B, D, DETECTIVE], zeros for one without a station.
    turn: int64[B], who moves, as in the features; -1 where nobody does.  places: int64[B, D], each detective's station.
    """

    belief: Int64
    station: Int64
    share: Float32
    rows: Float32
    first: Int64
    context: Float32
    detectives: Float32
    turn: Int64
    places: Int64


def has_station_inputs(game: Game) -> TypeGuard[ScotlandYard]:
    """Whether it is Scotland Yard with `inputs=stations`."""
    return isinstance(game, ScotlandYard) and game.rules.inputs == STATIONS


def station_inputs(x: Float32, game: ScotlandYard, moves: bool = False) -> tuple[StationInputs, Float32]:
    """Of the stations where Mr X can be; moves: and of those that whoever moves can leave and enter.

    x: float32[B, >= F + N], encoded beliefs: features, then Mr X's range by slot. The second answer is float32[R,
    AROUND], see `_around`, without rows unless `moves`.
    """
    city, count = station_map(game), len(x)
    n, d = city.stations, city.detectives
    seen = x[:, PER_DETECTIVE * d + PLAIN : PER_DETECTIVE * d + PLAIN + n] > 0
    if moves:
        seen = seen | _entered(x, city, seen)
    belief, station = (part.astype(np.int64) for part in np.nonzero(seen))
    first = np.concatenate(([0], np.cumsum(seen.sum(axis=1)))).astype(np.int64)
    inputs = StationInputs(
        belief,
        station,
        np.zeros(len(belief), dtype=np.float32),
        np.zeros((len(belief), WIDTH), dtype=np.float32),
        first,
        np.zeros((count, CONTEXT), dtype=np.float32),
        np.zeros((count, d, DETECTIVE), dtype=np.float32),
        np.zeros(count, dtype=np.int64),
        np.zeros((count, d), dtype=np.int64),
    )
    around = np.zeros((len(belief) if moves else 0, AROUND), dtype=np.float32)
    _fill(np.ascontiguousarray(x), tuple(city), tuple(inputs), around)
    return inputs, around


def _entered(x: Float32, city: StationMap, possible: Bool) -> Bool:
    """bool[B, N]: the stations a link away from where Mr X can be, or where he does not move, from the detective's."""
    d = city.detectives
    turn = np.rint(x[:, PER_DETECTIVE * d + 5] / UNIT).astype(np.int64)
    chasing = np.flatnonzero(turn > 0)
    left = possible.astype(np.float32)
    at = np.rint(x[chasing, turn[chasing] - 1] / UNIT).astype(np.int64) - 1
    left[chasing] = 0.0
    left[chasing, at] = 1.0
    out: Bool = left @ city.linked > 0
    return out


class Pairs(NamedTuple):
    """Legal pairs of beliefs where a player moves, int64[K] each.

    belief, pair: where each logit lies.  source, dest: rows of the station that is left and of the one entered, which a
    double card does not leave.  ticket: as in rules.TICKETS.
    """

    belief: Int64
    pair: Int64
    source: Int64
    dest: Int64
    ticket: Int64


def pairs_of(known: StationInputs, game: ScotlandYard) -> tuple[Pairs, Pairs]:
    """The pairs of Mr X's possible stations where he moves, and of the detective who moves elsewhere.

    known: with `moves`. A detective has the pairs whose links begin at his station, whatever his tickets.
    """
    city = station_map(game)
    n, row = city.stations, np.zeros((len(known.turn), city.stations), dtype=np.int64)
    row[known.belief, known.station] = np.arange(len(known.belief))
    # Mr X's: those of each possible station.
    mine = np.flatnonzero((known.rows[:, 2] > 0) & (known.turn[known.belief] == 0))
    lengths = np.diff(city.pair0)[known.station[mine]]
    source = np.repeat(mine, lengths)
    pair = np.arange(len(source)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    pair += city.pair0[known.station[source]]
    belief = known.belief[source]
    dest = np.where(city.dest[pair] >= 0, row[belief, city.dest[pair]], source)
    first = Pairs(belief, pair, source, dest, city.ticket[pair])
    # The detective's: of all that any detective has, those that leave his station.
    whose = np.flatnonzero(known.turn > 0)
    at = known.places[whose, known.turn[whose] - 1]
    index, offset = np.nonzero(city.leads[at])
    belief, pair = whose[index], offset + city.pair0[n]
    return first, Pairs(belief, pair, row[belief, at[index]], row[belief, city.dest[pair]], city.ticket[pair])


@kernel
def _fill(x: Array, city: Array, out: Array, around: Array) -> None:
    """Write all of `StationInputs` but belief, station and first, which say which stations have rows.

    city, out: the fields of StationMap and StationInputs in their order.  around: float32[R, 2], or empty.
    """
    steps, links, to, by, kinds, reveal_in, _, _, _, _, _, within, n, d, rounds = city
    _, station, share, rows, first, context, detectives, turn, places = out
    cards, plain = d, 4 * d
    bits = plain + 9
    mask, later = np.zeros(d, dtype=np.int64), np.zeros(d, dtype=np.int64)
    ranges, possible = np.zeros(n), np.zeros(n, dtype=np.int64)
    # The nearest detective to each station: of those who move before Mr X does again, and of those who have moved.
    near = np.zeros((2, n), dtype=np.uint8)
    held, pays = np.zeros(n, dtype=np.bool_), np.zeros(4, dtype=np.bool_)
    for b in range(len(x)):
        who, waits = _read(x[b, plain + 5]), _read(x[b, plain + 8])
        turn[b] = who if waits == 0 else -1
        # The range's shares of the possible stations, and what they are: a range of nothing is taken as uniform.
        m, total = 0, 0.0
        for s in range(n):
            ranges[s], held[s] = 0.0, False
            near[0, s] = near[1, s] = 255
            if x[b, bits + s] > 0:
                possible[m] = s
                m += 1
                total += x[b, bits + n + s]
        for k in range(m):
            s = possible[k]
            ranges[s] = x[b, bits + n + s] / total if total > 0 else 1.0 / m
        # Detectives: the kinds of tickets they have, and 0 moved already, 1 now, 2 later in this round.
        for k in range(d):
            places[b, k] = _read(x[b, k]) - 1
            mask[k] = 0
            for t in range(3):
                if x[b, cards + 3 * k + t] > 0:
                    mask[k] |= 1 << t
            later[k] = 1 if k + 1 == who else 2 if k + 1 > who or waits == 2 else 0
            if places[b, k] >= 0:
                held[places[b, k]] = True
                group, h, at = 0 if later[k] else 1, mask[k], places[b, k]
                for s in range(n):
                    near[group, s] = min(near[group, s], steps[h, at, s])
        for t in range(4):
            # A black ticket takes any link.
            pays[t] = x[b, plain + 3] > 0 or (t < 3 and x[b, plain + t] > 0)
        for r in range(first[b], first[b + 1]):
            s = station[r]
            share[r] = ranges[s]
            rows[r, 0], rows[r, 1] = ranges[s], np.log1p(m * ranges[s])
            rows[r, 2] = x[b, bits + s]
            _nearest(steps, places, b, mask, later, s, rows, r)
            for t in range(4):
                rows[r, 20 + t] = 0.25 * kinds[s, t]
            _exits((links, to, by), pays, held, near, ranges, s, rows[r])
            rows[r, 32] = 0.125 * _capped(near[1, s])
            rows[r, 33] = near[1, s] == 1
            for k in range(within.shape[1]):
                rows[r, 34 + k] = within[s, k]
        for r in range(first[b], first[b + 1] if len(around) else first[b]):
            _around(steps, possible, m, ranges, station[r], around, r)
        for k in range(d):
            if places[b, k] >= 0:
                ways = _ways(links, to, by, mask[k], held, places[b, k])
                reach = steps[mask[k], places[b, k]]
                own = x[b, cards + 3 * k : cards + 3 * k + 3]
                _detective(own, later[k], ways, reach, possible[:m], ranges, detectives[b, k])
        left = rounds - _read(x[b, plain + 7])
        _context(x[b, plain:bits], reveal_in[rounds - left], left, possible[:m], ranges, d, context[b])


@kernel
def _capped(far: int) -> np.int64:
    """A distance, 8 where it is more."""
    return np.int64(8) if far > 8 else np.int64(far)


@kernel
def _read(number: float) -> int:
    """A number that `station_features` wrote in UNITs."""
    return int(np.rint(_UNITS * number))


@kernel
def _nearest(steps: Array, places: Array, b: int, mask: Array, later: Array, s: int, rows: Array, r: int) -> None:
    """Columns 3 to 19: the three nearest detectives of all and of those still to move, and how many are 1 or 2 away.

    Distances in eighths, 8 moves and more as 8.
    """
    # The three smallest distances, in order: of all, and of those still to move.
    a0 = a1 = a2 = b0 = b1 = b2 = 8
    one = two = one_later = two_later = 0
    for k in range(places.shape[1]):
        if places[b, k] < 0:
            continue
        far = _capped(steps[mask[k], places[b, k], s])
        one += far == 1
        two += far <= 2
        a2 = min(a2, max(a1, far))
        a1 = min(a1, max(a0, far))
        a0 = min(a0, far)
        if later[k]:
            one_later += far == 1
            two_later += far <= 2
            b2 = min(b2, max(b1, far))
            b1 = min(b1, max(b0, far))
            b0 = min(b0, far)
    rows[r, 3], rows[r, 4], rows[r, 5] = 0.125 * a0, 0.125 * a1, 0.125 * a2
    rows[r, 6], rows[r, 7], rows[r, 8] = a0 == 0, a0 == 1, a0 == 2
    rows[r, 9], rows[r, 10] = a1 == 1, a1 == 2
    rows[r, 11], rows[r, 12], rows[r, 13] = 0.125 * b0, 0.125 * b1, 0.125 * b2
    rows[r, 14], rows[r, 15] = b0 == 1, b0 == 2
    rows[r, 16], rows[r, 17] = 0.5 * one, 0.25 * two
    rows[r, 18], rows[r, 19] = 0.5 * one_later, 0.25 * two_later


@kernel
def _exits(
    city: tuple[Array, Array, Array], pays: Array, held: Array, near: Array, ranges: Array, s: int, row: Array
) -> None:
    """Columns 24 to 31: the free stations that Mr X's tickets lead to, and how near detectives still to move are there.

    free; safe: no such detective enters it at once; safe for two moves; the furthest and the mean distance. Then the
    range's share within a link of the station.  city: links, to and by of StationMap.  row: the station's.
    """
    links, to, by = city
    free, safe, calm, best, total, share = 0, 0, 0, 0, 0, ranges[s]
    last, counted = -1, -1
    for at in range(links[s], links[s + 1]):
        t = to[at]
        # Links to one station follow each other: it counts once.
        if t != counted:
            share += ranges[t]
            counted = t
        if t == last or held[t] or not pays[by[at]]:
            continue
        last = t
        far = _capped(near[0, t])
        free += 1
        safe += far > 1
        calm += far > 2
        best = max(best, far)
        total += far
    row[24], row[25] = 0.125 * free, free == 0
    row[26], row[27] = 0.125 * safe, safe == 0
    row[28], row[29] = 0.125 * calm, 0.125 * best
    row[30] = 0.125 * total / max(free, 1)
    row[31] = share


@kernel
def _around(steps: Array, possible: Array, m: int, ranges: Array, s: int, around: Array, r: int) -> None:
    """The range's share within two moves of a station, and its mean distance in eighths."""
    two, mean = 0.0, 0.0
    for k in range(m):
        h = possible[k]
        far = _capped(steps[7, s, h])
        two += ranges[h] * (far <= 2)
        mean += ranges[h] * far
    around[r, 0], around[r, 1] = two, 0.125 * mean


@kernel
def _ways(links: Array, to: Array, by: Array, mask: int, held: Array, s: int) -> int:
    """How many free stations a detective's tickets lead to."""
    ways, last = 0, -1
    for at in range(links[s], links[s + 1]):
        t = to[at]
        if t != last and not held[t] and by[at] < 3 and mask >> by[at] & 1:
            last = t
            ways += 1
    return ways


@kernel
def _detective(cards: Array, later: int, ways: int, reach: Array, possible: Array, ranges: Array, row: Array) -> None:
    """A detective's tickets (0 to 5), whether he moves now, later or has moved (6 to 8), and how he is to the range.

    mean distance (9); the share that he is on, that he enters in one and in two moves (15, 10, 11); the nearest
    possible station (12); his ways (13, 14).  reach: uint8[N], his moves to each station.
    """
    for t in range(3):
        row[t], row[3 + t] = min(_UNITS * cards[t], 8.0) / 8.0, cards[t] > 0
    row[6], row[7], row[8] = later == 1, later == 2, later == 0
    mean, here, one, two, least = 0.0, 0.0, 0.0, 0.0, 8
    for k in range(len(possible)):
        h = possible[k]
        far = _capped(reach[h])
        mean += ranges[h] * far
        here += ranges[h] * (far == 0)
        one += ranges[h] * (far == 1)
        two += ranges[h] * (far <= 2)
        least = min(least, far)
    row[9], row[10], row[11], row[12] = mean / 8.0, one, two, least / 8.0
    row[13], row[14], row[15] = ways / 5.0, ways == 0, here


@kernel
def _context(
    plain: Array, reveal_in: int, left: int, possible: Array, ranges: Array, detectives: int, row: Array
) -> None:
    """The next reveal (0 to 3), moves left (4 to 7), cards (8 to 14), the turn (15 to 20), how wide the range is (21 to
    22: logarithms of the possible stations and of 1 / (sum of squared shares), in fifths) and the detectives (23).

    plain: the features between the detectives' and the stations', in UNITs.
    """
    row[0], row[1], row[2] = reveal_in == 0, reveal_in == 1, reveal_in == 2
    row[3] = min(reveal_in, 6) / 6.0
    row[4], row[5] = left / 24.0, 1.0 / (1.0 + left)
    row[6], row[7] = left == 0, left == 1
    for t in range(3):
        row[8 + t] = min(_UNITS * plain[t], 8.0) / 8.0
    row[11], row[12] = _UNITS * plain[3] / 5.0, _UNITS * plain[4] / 2.0
    row[13], row[14] = plain[3] > 0, plain[4] > 0
    who, owed, waits = _read(plain[5]), _read(plain[6]), _read(plain[8])
    row[15], row[16] = owed == 1, owed == 2
    row[17] = who == 0 and waits == 0
    row[18] = (detectives - who + 1) / detectives if who > 0 and waits < 2 else 0.0
    row[19], row[20] = waits == 1, waits == 2
    squares = 0.0
    for k in range(len(possible)):
        squares += ranges[possible[k]] * ranges[possible[k]]
    row[21], row[22] = np.log(len(possible)) / 5.0, -np.log(squares) / 5.0
    row[23] = detectives / 5.0
