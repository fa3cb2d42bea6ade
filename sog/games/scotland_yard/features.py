"""What networks see of a public state of Scotland Yard besides the ranges: `inputs=stations` or `inputs=paper`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from sog.arrays import Float32

if TYPE_CHECKING:
    from sog.games.scotland_yard.game import Chase
    from sog.games.scotland_yard.rules import ScotlandYardRules

__all__ = ["PER_DETECTIVE", "PLAIN", "UNIT", "num_features", "paper_features", "station_features"]

UNIT: Final = 1.0 / 1024.0  # of the numbers that `station_features` writes; a power of two, so that they are exact
PER_DETECTIVE: Final = 4  # of these numbers: station and tickets
PLAIN: Final = 9  # and besides: Mr X's cards, turn, owed moves, moves made, what is waited for


def num_features(rules: ScotlandYardRules, stations: int, paper: bool) -> int:
    """How many features there are on a map of this many stations."""
    d = rules.detectives
    if paper:
        return d * stations + 3 * d + 5 + (d + 1) + 3
    return PER_DETECTIVE * d + PLAIN + stations


def paper_features(c: Chase, rules: ScotlandYardRules, stations: int, nature: bool) -> Float32:
    """float32[F]: Player of Games, table 2, each in [0, 1].

    Every detective's station as a 1 of N; each detective's cards; Mr X's five kinds of cards; who
    moves next; whether a double move is on; the rounds played; and whether nature is to act. Cards
    are parts of all tickets of their kind in the game.
    """
    n, d = stations, rules.detectives
    places = np.zeros((d, n), dtype=np.float32)
    places[range(len(c.detectives)), list(c.detectives)] = 1.0
    issued = np.array(rules.x_tickets, dtype=np.float32)
    issued[:3] += d * np.array(rules.tickets, dtype=np.float32)
    issued = np.maximum(issued, 1.0)
    cards = np.array(c.tickets, dtype=np.float32) / np.maximum(rules.tickets, 1)
    last = (c.owed > 0, c.moved / rules.rounds, nature)
    parts = (places.ravel(), cards.ravel(), c.x_tickets / issued, np.arange(d + 1) == c.turn, last)
    return np.concatenate(parts, dtype=np.float32)


def station_features(c: Chase, rules: ScotlandYardRules, stations: int, waits: int) -> Float32:
    """float32[F]: the public state in numbers, for `station_inputs`, and a bit for each station where Mr X can be.

    In UNITs: each detective's station (from 1, 0 before he has one); each detective's taxi, bus and underground
    tickets; Mr X's five kinds of cards; who moves next; the moves of a double card that are owed; Mr X's moves so far;
    and `waits`: 0 for a move, 1 for a look whether Mr X is there, 2 for a start card.
    """
    d, placed = rules.detectives, len(c.detectives)
    plain = [x + 1 for x in c.detectives] + [0] * (d - placed)
    for cards in c.tickets:
        plain += cards
    plain += (*c.x_tickets, c.turn, c.owed, c.moved, waits)
    out = np.zeros(len(plain) + stations, dtype=np.float32)
    out[: len(plain)] = plain
    out[: len(plain)] *= UNIT
    out[len(plain) :][list(c.hidden)] = 1.0
    return out
