"""Positions of Scotland Yard a move or two before the end, from games of half-random players, solved exactly.

Most such positions are decided: Mr X is out of reach. Those of this file are close: several detectives who can still
move are within a move of one of his possible stations, and these are few.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sog.arrays import Array, Float64, Int64
from sog.errors import TooLarge
from sog.games.base import NATURE
from sog.games.rooted import Rooted
from sog.games.scotland_yard.game import Chase, ScotlandYard
from sog.opponents.scotland_yard import bits
from sog.opponents.scotland_yard.board import CityBoard, make_board
from sog.opponents.scotland_yard.matches import deal
from sog.opponents.scotland_yard.moves import (
    Cell,
    ChasePosition,
    Ending,
    empty_position,
    list_detective_moves,
    play_detective,
    play_x,
)
from sog.opponents.scotland_yard.playouts import PlayoutPolicy, pick_detective, pick_x
from sog.opponents.scotland_yard.replay import place_detective, start_cells, starting_set
from sog.searches.cfr import exact
from sog.searches.cfr.rules import DCFR
from sog.searches.kernels.jit import njit
from sog.searches.tree.public_tree import PublicTree

__all__ = ["LatePosition", "late_positions", "solved"]

# Both sides: half of the moves random. Mr X moves far from the closest detective, each detective near a possible
# station; double cards 0.3, as in PimBot's playouts.
_PLAY: Final = PlayoutPolicy(1, 2, 0.5, 0.3, 0, 0.0, 1)
_NEAR: Final = 2  # detectives, at least, who can move and are within a move of a possible station
_POSSIBLE: Final = 10  # stations, at most
_STATES: Final = 20_000  # public states, at most, of what is left of the game
_DECIDED: Final = 0.95  # positions whose value is beyond this are left out


@dataclass(frozen=True, eq=False)
class LatePosition:
    """public: what is left of the game from the position, which is node 0.

    values: float64[I0], float64[I1], exact, conditional on the infostate, from a uniform belief over Mr X's possible
    stations.  value: Mr X's.  exploitability: of the solution, in utilities of a game that begins there.
    """

    public: PublicTree
    values: tuple[Float64, Float64]
    value: float
    exploitability: float


def late_positions(game: ScotlandYard, left: int, seed: int, iterations: int) -> Iterator[LatePosition]:
    """Positions at Mr X's turn with `left` moves left, one a game, without end.

    iterations: of DCFR, from which their values are.
    """
    b, rng = make_board(game), np.random.default_rng((seed, left))
    s, actions = empty_position(b), np.zeros((b.detectives + 2) * (b.rounds + 1), dtype=np.int64)
    moves, draws = np.zeros(b.double + 1, dtype=np.int64), np.zeros(1, dtype=np.uint64)
    while True:
        station, places = deal(game, rng)
        _begin(game, b, s, station, places)
        draws[0] = rng.integers(2**63)
        count = _play(b, s, moves, draws, left, actions)
        if count < 0 or _close(b, s, moves) < _NEAR:
            continue
        position = solved(game, _state_after(game, station, places, actions[:count].tolist()), iterations)
        if position is not None and abs(position.value) < _DECIDED:
            yield position


def solved(game: ScotlandYard, start: Chase, iterations: int) -> LatePosition | None:
    """The rest of the game from a public state by DCFR; None where it has too many public states."""
    public = PublicTree(Rooted(game, start))

    def watch(listed: int) -> None:
        if public.size > _STATES:
            raise TooLarge(f"more than {_STATES:,} public states")

    try:
        public.list_all(watch)
    except TooLarge:
        return None
    tree = exact.solve(public, DCFR, iterations)
    # Chance's weights are the whole game's; a game that begins here has a sum of 1.
    measure, all_weights = exact.measure(tree), start.scale * len(start.hidden)
    tree.evaluate()
    zero, one = public.conditional(0, tree.cfvs(0), tree.root_ranges)
    return LatePosition(public, (zero, one), measure.value / all_weights, measure.exploitability / all_weights)


def _begin(game: ScotlandYard, b: CityBoard, s: ChasePosition, station: int, places: tuple[int, ...]) -> None:
    """A position at the start of a game."""
    s.cells[:] = start_cells(game, b)
    s.cells[Cell.STATION] = station
    s.possible[:], s.held[:] = 0, 0
    for k in starting_set(game).tolist():
        s.possible[k // 64] |= np.uint64(1) << np.uint64(k % 64)
    for place in places:
        place_detective(b, s, place)


@njit
def _play(b: CityBoard, s: ChasePosition, moves: Int64, rng: Array, left: Any, actions: Int64) -> Any:
    """Play until Mr X is to move with `left` moves left; how many actions, -1 where the game ends before."""
    count = 0
    while s.cells[Cell.ENDING] == Ending.NONE:
        if s.cells[Cell.TURN] == 0:
            if s.cells[Cell.OWED] == 0 and s.cells[Cell.MOVED] + left >= b.rounds:
                return count if s.cells[Cell.MOVED] + left == b.rounds else -1
            a = pick_x(b, s, _PLAY, moves, rng)
            if a < 0:
                return -1
            play_x(b, s, a, 1)
        else:
            a = pick_detective(b, s, _PLAY, moves, rng)
            play_detective(b, s, a, 1)
        actions[count] = a
        count += 1
    return -1


@njit
def _close(b: CityBoard, s: ChasePosition, moves: Int64) -> Any:
    """How many detectives can move and are within a move of a station where Mr X can be; 0 where he can be at many."""
    if bits.count(s.possible) > _POSSIBLE:
        return 0
    near = 0
    for k in range(1, b.detectives + 1):
        if list_detective_moves(b, s, k, moves) > 0:
            beside = False
            for station in range(b.stations):
                if bits.has(s.possible, station) and b.steps[s.cells[Cell.PLACES + k - 1], station] <= 1:
                    beside = True
            near += beside
    return near


def _state_after(game: ScotlandYard, station: int, places: tuple[int, ...], actions: list[int]) -> Chase:
    """The public state of a game, by Mr X's start, the detectives' and all actions."""
    s, here = _as_chase(game.root()), station
    waiting = list(places) if not s.detectives else []
    actions = list(actions)
    while actions or game.actor(s) == NATURE:
        children = game.fan(s)
        if game.actor(s) == NATURE:
            if waiting:
                place = waiting.pop(0)
                s = next(c for c in map(_as_chase, children.children) if c.detectives[-1] == place)
            else:
                s = next(c for c in map(_as_chase, children.children) if here in c.hidden)
            continue
        action = actions.pop(0)
        column = int(np.searchsorted(game.actions(s), action))
        assert children.moves is not None
        infostate = s.hidden.index(here) if s.turn == 0 else 0
        edge = int(children.moves.edge[infostate, column])
        if s.turn == 0:
            after = _as_chase(children.children[edge])
            target = children.moves.target
            here = after.hidden[infostate if target is None else int(target[infostate, column])]
        s = _as_chase(children.children[edge])
    return s


def _as_chase(s: Any) -> Chase:
    assert isinstance(s, Chase)
    return s
