"""The public history of a chase as rows of numbers, and the position that it leads to, replayed by a kernel.

This is the location filter: the stations where Mr X can be, narrowed by every ticket, every station shown and every
single move of a detective. It reads what all have seen and nothing else, so that no secret can reach a search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Any

import numpy as np

from sog.arrays import Int64
from sog.errors import GameError
from sog.games.scotland_yard.game import ScotlandYard
from sog.games.scotland_yard.rules import TICKETS, starting_stations
from sog.opponents.scotland_yard import bits
from sog.opponents.scotland_yard.board import CityBoard
from sog.opponents.scotland_yard.categories import classify
from sog.opponents.scotland_yard.moves import (
    Cell,
    ChasePosition,
    begin_turn,
    play_detective,
    play_double,
    play_ticket,
)
from sog.searches.kernels.jit import njit

__all__ = ["EVENT_NUMBERS", "Event", "events_of", "place_detective", "replay", "start_cells", "starting_set"]

EVENT_NUMBERS = 3  # a row is the kind of event, the action or ticket, and a station or -1


class Event(IntEnum):
    """What all see. The second and third number of its row are in the comment."""

    START = 0  # 0, the station that the next detective draws
    TICKET = 1  # Mr X's ticket, the station that he shows or -1
    DOUBLE = 2  # 0, -1
    DETECTIVE = 3  # the action, -1


def events_of(game: ScotlandYard, log: Sequence[str]) -> Int64:
    """int64[E, 3]: the rows of a public history, which is the `log` of the game's public state.

    GameError for a word that this game lacks.
    """
    _, placed = starting_stations(game.rules, game.city)
    rows = [(int(Event.START), 0, station) for station in placed]
    actions = _action_words(game)
    for word in log:
        ticket, _, station = word.partition("@")
        _, _, move = word.partition(":")
        if word in ("at large", "caught", "stuck"):
            continue
        if move.startswith("starts@"):
            rows.append((int(Event.START), 0, game.city.index(int(station))))
        elif move and move in actions:
            rows.append((int(Event.DETECTIVE), actions[move], -1))
        elif word == TICKETS[-1]:
            rows.append((int(Event.DOUBLE), 0, -1))
        elif ticket in TICKETS:
            rows.append((int(Event.TICKET), TICKETS.index(ticket), game.city.index(int(station)) if station else -1))
        else:
            raise GameError(f"{game.name}: no public history has the word {word!r}")
    return np.array(rows, dtype=np.int64).reshape(-1, EVENT_NUMBERS)


@lru_cache(maxsize=8)
def _action_words(game: ScotlandYard) -> Mapping[str, int]:
    """Each action by how a log writes it as a detective's move."""
    names = (game.action_name(game.root(), a) for a in range(game.num_actions))
    return {name.replace(" to ", "@"): a for a, name in enumerate(names)}


def starting_set(game: ScotlandYard) -> Int64:
    """int64[*]: the stations where Mr X can start, before any card of a detective is seen."""
    return np.array(starting_stations(game.rules, game.city)[0], dtype=np.int64)


def start_cells(game: ScotlandYard, b: CityBoard) -> Int64:
    """int64[11 + 4 D]: the cells before any detective is placed, Mr X's station unknown."""
    tickets = np.tile(game.rules.tickets, b.detectives)
    head = np.zeros(Cell.PLACES, dtype=np.int64)
    head[Cell.STATION] = -1
    head[Cell.TICKETS : Cell.PLACES] = game.rules.x_tickets
    return np.concatenate([head, np.full(b.detectives, -1), tickets], dtype=np.int64)


@njit
def place_detective(b: CityBoard, s: ChasePosition, station: Any) -> None:
    """The next detective's first station; after the last one Mr X begins."""
    k = 0
    while s.cells[Cell.PLACES + k] >= 0:
        k += 1
    s.cells[Cell.PLACES + k] = station
    bits.add(s.held, station)
    bits.remove(s.possible, station)
    if k + 1 == b.detectives:
        begin_turn(b, s, True)


@njit
def replay(b: CityBoard, s: ChasePosition, events: Int64, narrow: Any, kind: Any, classes: Int64) -> None:
    """Play public events on a starting position.

    narrow: whether a detective's move takes his new station out of the set. kind: of the categories (categories.py).
    classes: int64[N], each possible station's category when Mr X last moved, counted from 0.
    """
    classify(b, s, kind, classes)
    for e in range(len(events)):
        event, number, station = events[e, 0], events[e, 1], events[e, 2]
        if event == Event.START:
            place_detective(b, s, station)
            classify(b, s, kind, classes)
        elif event == Event.DOUBLE:
            play_double(b, s, True)
        elif event == Event.TICKET:
            play_ticket(b, s, number, station, True)
            classify(b, s, kind, classes)
        else:
            play_detective(b, s, number, narrow)
