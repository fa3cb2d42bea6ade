"""What a network over stations sees, beside plain counts over the map."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from sog.arrays import Float32
from sog.games.base import TERMINAL
from sog.games.catalog import make_game
from sog.games.scotland_yard.game import Chase, ScotlandYard
from sog.games.scotland_yard.station_inputs import station_inputs

FERRY, FAR = 3, 8


def chase(text: str) -> ScotlandYard:
    game = make_game(text)
    assert isinstance(game, ScotlandYard)
    return game


def states_of(game: ScotlandYard, count: int) -> list[Chase]:
    """Where somebody moves, in random games."""
    rng, found = np.random.default_rng(1), list[Chase]()
    while len(found) < count:
        s = game.root()
        while game.actor(s) != TERMINAL:
            assert isinstance(s, Chase)
            if s.kind == "act" and rng.random() < 0.3:
                found.append(s)
            children = game.fan(s).children
            s = children[int(rng.integers(len(children)))]
    return found[:count]


def encoded(game: ScotlandYard, s: Chase, ranges: Float32) -> Float32:
    return np.concatenate([game.features(s), ranges * len(ranges), [1.0]]).astype(np.float32)[None, :]


def steps(game: ScotlandYard, start: int, tickets: tuple[int, ...]) -> list[int]:
    """Moves to each station by the kinds of tickets in hand, 8 at most."""
    far, waiting = {start: 0}, deque([start])
    while waiting:
        here = waiting.popleft()
        for a, b, kind in game.city.links:
            if kind != FERRY and tickets[kind] and here in (a, b):
                there = b if here == a else a
                if there not in far:
                    far[there] = far[here] + 1
                    waiting.append(there)
    return [min(FAR, far.get(k, FAR)) for k in range(len(game.city.stations))]


@pytest.mark.parametrize("text", ["scotland_yard(map=london20)", "scotland_yard(map=london40)"])
def test_inputs_are_what_plain_counts_say(text: str) -> None:
    game, rng = chase(text), np.random.default_rng(2)
    n = len(game.city.stations)
    for s in states_of(game, 40):
        ranges = np.zeros(n, dtype=np.float32)
        ranges[list(s.hidden)] = rng.random(len(s.hidden)) + 0.1
        ranges /= ranges.sum()
        found, _ = station_inputs(encoded(game, s, ranges), game)
        away = [steps(game, at, tickets) for at, tickets in zip(s.detectives, s.tickets, strict=True)]
        to_move = [k + 1 >= s.turn for k in range(len(away))]  # before Mr X does again
        later = [far for far, moves in zip(away, to_move, strict=True) if moves]
        pays = [s.x_tickets[3] > 0 or (kind < FERRY and s.x_tickets[kind] > 0) for kind in range(4)]
        assert found.station.tolist() == list(s.hidden)
        for row, station in zip(found.rows, s.hidden, strict=True):
            nearest = [[*sorted(far[station] for far in group), FAR, FAR, FAR][:3] for group in (away, later)]
            ways = [(b if station == a else a, kind) for a, b, kind in game.city.links if station in (a, b)]
            exits = {there for there, kind in ways if pays[kind] and there not in s.detectives}
            near = {there: min((far[there] for far in later), default=FAR) for there in exits}
            beside = {there for there, _ in ways} | {station}
            any_ticket, taxi = steps(game, station, (1, 1, 1)), steps(game, station, (1, 0, 0))
            within = (any_ticket, 2, 20), (any_ticket, 3, 50), (any_ticket, 4, 90), (taxi, 2, 12), (taxi, 4, 25)
            expected = {
                0: ranges[station],
                1: np.log1p(len(s.hidden) * ranges[station]),
                **{3 + k: nearest[0][k] / 8 for k in range(3)},
                **{11 + k: nearest[1][k] / 8 for k in range(3)},
                16: sum(far[station] == 1 for far in away) / 2,
                17: sum(far[station] <= 2 for far in away) / 4,
                18: sum(far[station] == 1 for far in later) / 2,
                **{20 + kind: sum(k == kind for _, k in ways) / 4 for kind in range(4)},
                24: len(exits) / 8,
                25: not exits,
                26: sum(far > 1 for far in near.values()) / 8,
                28: sum(far > 2 for far in near.values()) / 8,
                29: max(near.values(), default=0) / 8,
                31: sum(ranges[there] for there in beside),
                **{34 + k: sum(x <= far for x in reach) / unit for k, (reach, far, unit) in enumerate(within)},
            }
            for column, value in expected.items():
                assert row[column] == pytest.approx(float(value), abs=1e-5), (column, s)
        for row, far, tickets in zip(found.detectives[0], away, s.tickets, strict=True):
            mean = sum(ranges[k] * far[k] for k in s.hidden)
            one = sum(ranges[k] for k in s.hidden if far[k] == 1)
            assert row[9] == pytest.approx(mean / 8, abs=1e-5) and row[10] == pytest.approx(one, abs=1e-5)
            assert row[0] == pytest.approx(min(tickets[0], 8) / 8)
        left = game.rules.rounds - s.moved
        assert found.context[0, 4] == pytest.approx(left / 24) and found.context[0, 13] == (s.x_tickets[3] > 0)
        reveal = min((k - s.moved for k in game.rules.reveals if k > s.moved), default=0)
        assert found.context[0, 3] == pytest.approx(min(reveal, 6) / 6)
