"""Matches between two players of Scotland Yard: both roles on each deal of the start cards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sog.arrays import Array, Bool, Int64
from sog.games.scotland_yard.game import ScotlandYard
from sog.games.scotland_yard.rules import starting_stations
from sog.opponents.scotland_yard.board import CityBoard
from sog.opponents.scotland_yard.categories import CLASSES, KINDS, count_classes
from sog.opponents.scotland_yard.moves import Cell, Ending, empty_position, play_detective, play_x
from sog.opponents.scotland_yard.player import ChasePlayer
from sog.opponents.scotland_yard.replay import EVENT_NUMBERS, Event, place_detective, start_cells, starting_set
from sog.searches.kernels.jit import njit

__all__ = ["ChaseMatches", "PlayedChase", "deal", "play_chase", "play_chases"]


@dataclass(frozen=True, eq=False)
class PlayedChase:
    """A finished chase.

    ending: how.  actions: int64[M], with stations: int64[M], Mr X's before each.  counts: int64[3, 2, 5], a and n of
    each class of the three kinds of categories.
    """

    ending: Ending
    actions: Int64
    stations: Int64
    counts: Int64


@dataclass(frozen=True, eq=False)
class ChaseMatches:
    """Wins of the first of two players. wins: bool[P, 2], of each deal as Mr X and as the detectives.

    counts: int64[3, 2, 5], of all games together (PlayedChase).
    """

    wins: Bool
    counts: Int64


def deal(game: ScotlandYard, rng: np.random.Generator) -> tuple[int, tuple[int, ...]]:
    """Mr X's station and the detectives', drawn as the rules say."""
    hidden, placed = starting_stations(game.rules, game.city)
    if placed:
        return int(rng.choice(hidden)), placed
    drawn = rng.choice(hidden, size=1 + game.rules.detectives, replace=False).tolist()
    return drawn[0], tuple(drawn[1:])


def play_chase(
    game: ScotlandYard, players: tuple[ChasePlayer, ChasePlayer], start: tuple[int, Sequence[int]], seed: int = 0
) -> PlayedChase:
    """One chase: players[0] is Mr X, players[1] the detectives. They read public events, and Mr X his own station."""
    b = players[0].board
    s = empty_position(b)
    station, places = start
    s.cells[:] = start_cells(game, b)
    s.cells[Cell.STATION] = station
    for k in starting_set(game).tolist():
        s.possible[k // 64] |= np.uint64(1) << np.uint64(k % 64)
    events = np.zeros((b.detectives + (b.detectives + 2) * (b.rounds + 1), EVENT_NUMBERS), dtype=np.int64)
    for e, place in enumerate(places):
        place_detective(b, s, place)
        events[e] = Event.START, 0, place
    count = len(places)
    for p, player in enumerate(players):
        player.new_game(2 * seed + p)
    counts = np.zeros((len(KINDS) - 1, 2, CLASSES), dtype=np.int64)
    actions: list[tuple[int, int]] = []
    while s.cells[Cell.ENDING] == Ending.NONE:
        side, here = min(int(s.cells[Cell.TURN]), 1), int(s.cells[Cell.STATION])
        action = players[side].move_after(events[:count], here if side == 0 else None)
        actions.append((action, here))
        _carry_out(b, s, action, events[count], counts)
        count += 1
    played = np.array(actions, dtype=np.int64).reshape(-1, 2)
    return PlayedChase(Ending(int(s.cells[Cell.ENDING])), played[:, 0], played[:, 1], counts)


@njit
def _carry_out(b: CityBoard, s: Any, a: Any, event: Array, counts: Int64) -> None:
    """Play an action, write what all see of it, and count Mr X's categories."""
    event[1], event[2] = 0, -1
    if s.cells[Cell.TURN] > 0:
        event[0], event[1] = Event.DETECTIVE, a
        play_detective(b, s, a, 1)
        return
    play_x(b, s, a, 1)
    if a == b.double:
        event[0] = Event.DOUBLE
        return
    event[0], event[1] = Event.TICKET, b.ticket_of[a]
    if b.reveals[s.cells[Cell.MOVED]]:
        event[2] = s.cells[Cell.STATION]
    for kind in range(len(counts)):
        count_classes(b, s, kind + 1, s.cells[Cell.STATION], counts[kind])


def play_chases(
    game: ScotlandYard,
    first: ChasePlayer,
    second: ChasePlayer,
    deals: Sequence[int],
    seed: int = 0,
    report: Callable[[int], None] = lambda done: None,
) -> ChaseMatches:
    """Two chases on each deal, the roles swapped. A deal's number and the seed decide its start cards and its draws."""
    wins, counts = np.zeros((len(deals), 2), dtype=np.bool_), np.zeros((len(KINDS) - 1, 2, CLASSES), dtype=np.int64)
    for k, number in enumerate(deals):
        start = deal(game, np.random.default_rng((seed, number)))
        for role, players in enumerate(((first, second), (second, first))):
            played = play_chase(game, players, start, 2 * number + role + 1_000_003 * seed)
            wins[k, role] = (played.ending == Ending.ESCAPED) == (role == 0)
            counts += played.counts
        report(k + 1)
    return ChaseMatches(wins, counts)
