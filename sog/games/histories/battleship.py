"""Battleship history by history (SePoT, 5.1 and B.3): hidden fleets, public shots that miss, hit or sink."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Bool, Float32, Float64, Int32, Int64
from sog.errors import GameError
from sog.games.histories.base import HistoryGame, TooManyHistories
from sog.games.kernels import kernel
from sog.games.rules.battleship import BattleshipParameters

__all__ = ["BattleshipHistories"]

MOST_CELLS: Final = 62  # a board is the bits of an integer

_TERMINAL: Final = 3
_MISS: Final = 0
_HIT: Final = 1
_SUNK: Final = 2

# A state: how many ships lie on both boards and how many shots were fired; player 0's placements [ships], player 1's
# [ships], the shots' cells [2 shots] and their results [2 shots]. -1 where nothing is yet.
_PLACED: Final = 0
_FIRED: Final = 1
_FLEETS: Final = 2


class _Rules(NamedTuple):
    """What kernels need of the rules: masks is int64[ships, 3 cells], the cells that each placement covers."""

    cells: int
    ships: int
    shots: int
    masks: Int64
    values: Float64


class BattleshipHistories(HistoryGame):
    """Battleship with OpenSpiel's order of play and numbers, no cell being shot at twice.

    Ships are placed in turns: action cells + c lays a ship to the right of cell c, 2 cells + c downwards; action c
    shoots at it. With `ship_values` a sunk ship pays its value, as in OpenSpiel with loss_multiplier 1; without
    them whoever sinks the whole fleet wins 1. `inputs`, from the viewer's side: where the own board was shot at with
    each result [3][cells], where the opponent's was [3][cells], the share of ships that lie on each board [2], the
    share of shots that are left [1]; then where each own ship lies [ships][cells] and the seat [2].
    """

    def __init__(
        self,
        width: int,
        height: int,
        ship_sizes: Sequence[int],
        ship_values: Sequence[float] | None = None,
        num_shots: int | None = None,
    ) -> None:
        """Rules on a board of `width` x `height` cells; by default every cell may be shot at. GameError as below."""
        chosen = BattleshipParameters.of(width, height, ship_sizes, ship_values, num_shots)
        cells, ships, shots = chosen.cells, len(chosen.sizes), chosen.num_shots
        if cells > MOST_CELLS:
            raise GameError(f"battleship by histories has boards of 1 to {MOST_CELLS} cells, not {width} x {height}")
        self.name, self.u_max = chosen.name, chosen.u_max
        self.width, self.height, self.cells = width, height, cells
        self.sizes, self.values, self.num_shots = chosen.sizes, chosen.values, shots
        self.num_actions = 3 * cells
        self.num_outcomes = 0
        self.longest = 2 * ships + 2 * shots
        self.num_private = ships * cells + 2
        self.num_inputs = 6 * cells + 3 + self.num_private
        masks = np.array([_masks(width, height, size) for size in self.sizes], dtype=np.int64)
        self._rules = _Rules(cells, ships, shots, masks, np.array(self.values or (), dtype=np.float64))
        if not self.legal(self.begin(1)).any():
            raise GameError(f"ships {list(ship_sizes)} do not fit on a board of {width} x {height}")

    def begin(self, count: int) -> Int32:
        states = np.full((count, _FLEETS + 2 * len(self.sizes) + 4 * self.num_shots), -1, dtype=np.int32)
        states[:, :_FLEETS] = 0
        return states

    def actors(self, states: Int32) -> Int32:
        out = np.empty(len(states), dtype=np.int32)
        _actors(self._rules, states, out)
        return out

    def legal(self, states: Int32) -> Bool:
        out = np.zeros((len(states), self.num_actions), dtype=np.bool_)
        _legal(self._rules, states, out)
        return out

    def chances(self, states: Int32) -> Float64:
        return np.zeros((len(states), 0))

    def step(self, states: Int32, actions: Array) -> None:
        _step(self._rules, states, actions)

    def utilities(self, states: Int32) -> Float64:
        out = np.zeros(len(states))
        _utilities(self._rules, states, out)
        return out

    def inputs(self, states: Int32, viewers: Int32) -> Float32:
        out = np.zeros((len(states), self.num_inputs), dtype=np.float32)
        _inputs(self._rules, states, viewers, out)
        return out

    def public(self, states: Int32) -> Int32:
        """3 cells for each ship that is placed; then 3 * cell + result for each shot."""
        ships, shots = len(self.sizes), self.num_shots
        placed = np.where(np.arange(2 * ships) < states[:, :1], 3 * self.cells, -1).astype(np.int32)
        cells, results = states[:, _FLEETS + 2 * ships :].reshape(-1, 2, 2 * shots).transpose(1, 0, 2)
        return np.concatenate((placed, np.where(cells < 0, -1, 3 * cells + results).astype(np.int32)), axis=1)

    def consistent(self, public: Int32, most: int) -> Array | None:
        """Every pair of fleets that explains the shots, each player's being found apart (SePoT, 4.2).

        A ship explains the shots at its cells by itself: the last of them sank it if they are all its cells, the
        others hit. So fleets are disjoint ships that each do, and together hold every cell that was hit.
        """
        ships = len(self.sizes)
        if (public[: 2 * ships] < 0).any():
            return None
        shots = public[2 * ships :]
        shots = shots[shots >= 0]
        fleets = [self._fleets(shots[1 - p :: 2], most) for p in (0, 1)]
        count = len(fleets[0]) * len(fleets[1])
        if count > most:
            raise TooManyHistories(f"{self.name}: {count:,} pairs of fleets are possible, more than {most:,}")
        out = np.full((count, self.longest), -1, dtype=np.int16)
        out[:, : 2 * ships : 2] = np.repeat(fleets[0], len(fleets[1]), axis=0)
        out[:, 1 : 2 * ships : 2] = np.tile(fleets[1], (len(fleets[0]), 1))
        out[:, 2 * ships : 2 * ships + len(shots)] = shots // 3
        return out

    def _fleets(self, shots: Int32, most: int) -> Int64:
        """int64[*, ships]: the placements of fleets that explain shots, 3 * cell + result.

        Raises TooManyHistories above `most`.
        """
        masks, cells, results = self._rules.masks, (shots // 3).astype(np.int64), shots % 3
        struck = np.bitwise_or.reduce(np.int64(1) << cells[results != _MISS], initial=0)
        fleets, taken = np.zeros((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
        for ship in range(len(self.sizes)):
            options = np.array([a for a, mask in enumerate(masks[ship].tolist()) if _explains(mask, cells, results)])
            row, option = np.nonzero(taken[:, None] & masks[ship, options][None, :] == 0)
            fleets = np.concatenate((fleets[row], options[option][:, None]), axis=1)
            taken = taken[row] | masks[ship, options[option]]
            if len(fleets) > most:
                raise TooManyHistories(f"{self.name}: more than {most:,} fleets of one player are possible")
        explaining: Int64 = fleets[taken & struck == struck]
        return explaining

    def private(self, states: Int32, viewers: Int32) -> Int32:
        columns = _FLEETS + len(self.sizes) * viewers[:, None] + np.arange(len(self.sizes))
        return np.take_along_axis(states, columns, axis=1)


def _explains(mask: int, cells: Int64, results: Int32) -> bool:
    """Whether a ship on these cells, as bits, explains the results of the shots at them, in order."""
    if not mask:
        return False
    own = [int(result) for cell, result in zip(cells.tolist(), results.tolist(), strict=True) if mask >> cell & 1]
    sunk = len(own) == mask.bit_count()
    return own == [_HIT] * (len(own) - sunk) + [_SUNK] * sunk


def _masks(width: int, height: int, size: int) -> list[int]:
    """The cells, as bits, that a ship covers with each action; 0 where it may not lie. One cell lies to the right."""
    cells = width * height
    out = [0] * (3 * cells)
    for cell in range(cells):
        if cell % width + size <= width:
            out[cells + cell] = sum(1 << (cell + k) for k in range(size))
        if size > 1 and cell // width + size <= height:
            out[2 * cells + cell] = sum(1 << (cell + width * k) for k in range(size))
    return out


@kernel
def _fleet(rules: _Rules, row: Array, p: int) -> np.int64:
    """The cells of player p's ships, as bits."""
    taken = np.int64(0)
    for k in range(rules.ships):
        action = row[_FLEETS + rules.ships * p + k]
        if action >= 0:
            taken |= rules.masks[k, action]
    return taken


@kernel
def _has_room(rules: _Rules, taken: np.int64, first: int) -> bool:
    """Whether the ships from `first` on fit on the free cells; a search that goes back where one does not."""
    chosen = np.full(rules.ships + 1, -1, dtype=np.int64)
    free = np.zeros(rules.ships + 1, dtype=np.int64)
    ship = first
    free[ship] = taken
    while first <= ship < rules.ships:
        chosen[ship] += 1
        while chosen[ship] < 3 * rules.cells:
            mask = rules.masks[ship, chosen[ship]]
            if mask != 0 and mask & free[ship] == 0:
                break
            chosen[ship] += 1
        if chosen[ship] == 3 * rules.cells:
            chosen[ship] = -1
            ship -= 1
        else:
            free[ship + 1] = free[ship] | rules.masks[ship, chosen[ship]]
            ship += 1
    return ship == rules.ships


@kernel
def _sunk(rules: _Rules, row: Array, p: int) -> int:
    """How many of player p's ships are sunk."""
    shots, count = _FLEETS + 2 * rules.ships, 0
    for k in range(1 - p, row[_FIRED], 2):
        count += row[shots + 2 * rules.shots + k] == _SUNK
    return count


@kernel
def _actor(rules: _Rules, row: Array) -> int:
    if row[_PLACED] < 2 * rules.ships:
        return int(row[_PLACED] % 2)
    if row[_FIRED] == 2 * rules.shots or max(_sunk(rules, row, 0), _sunk(rules, row, 1)) == rules.ships:
        return _TERMINAL
    return int(row[_FIRED] % 2)


@kernel
def _actors(rules: _Rules, states: Array, out: Array) -> None:
    for b in range(len(states)):
        out[b] = _actor(rules, states[b])


@kernel
def _shot_at(rules: _Rules, row: Array, p: int) -> np.int64:
    """The cells of player p's board that were shot at, as bits."""
    cells = np.int64(0)
    for k in range(1 - p, row[_FIRED], 2):
        cells |= np.int64(1) << row[_FLEETS + 2 * rules.ships + k]
    return cells


@kernel
def _legal(rules: _Rules, states: Array, out: Array) -> None:
    for b in range(len(states)):
        row = states[b]
        actor = _actor(rules, row)
        if actor == _TERMINAL:
            continue
        if row[_PLACED] < 2 * rules.ships:
            ship, taken = row[_PLACED] // 2, _fleet(rules, row, actor)
            for action in range(rules.cells, 3 * rules.cells):
                mask = rules.masks[ship, action]
                out[b, action] = mask != 0 and mask & taken == 0 and _has_room(rules, taken | mask, ship + 1)
        else:
            tried = _shot_at(rules, row, 1 - actor)
            for cell in range(rules.cells):
                out[b, cell] = tried >> cell & 1 == 0


@kernel
def _result(rules: _Rules, row: Array, target: int, cell: int) -> int:
    """What the shot at a cell of a player's board does; the shots before it are in the row."""
    struck = _shot_at(rules, row, target) | np.int64(1) << cell
    for k in range(rules.ships):
        mask = rules.masks[k, row[_FLEETS + rules.ships * target + k]]
        if mask >> cell & 1:
            return _SUNK if mask & ~struck == 0 else _HIT
    return _MISS


@kernel
def _step(rules: _Rules, states: Array, actions: Array) -> None:
    for b in range(len(states)):
        row, action = states[b], actions[b]
        if action < 0:
            continue
        if row[_PLACED] < 2 * rules.ships:
            row[_FLEETS + rules.ships * (row[_PLACED] % 2) + row[_PLACED] // 2] = action
            row[_PLACED] += 1
        else:
            shots, fired = _FLEETS + 2 * rules.ships, row[_FIRED]
            result = _result(rules, row, 1 - fired % 2, action)
            row[shots + fired] = action
            row[shots + 2 * rules.shots + fired] = result
            row[_FIRED] += 1


@kernel
def _won(rules: _Rules, row: Array, target: int) -> float:
    """The value of player `target`'s sunk ships."""
    struck, total = _shot_at(rules, row, target), 0.0
    for k in range(rules.ships):
        if rules.masks[k, row[_FLEETS + rules.ships * target + k]] & ~struck == 0:
            total += rules.values[k]
    return total


@kernel
def _utilities(rules: _Rules, states: Array, out: Array) -> None:
    for b in range(len(states)):
        row = states[b]
        if _actor(rules, row) != _TERMINAL:
            continue
        if len(rules.values) > 0:
            out[b] = _won(rules, row, 1) - _won(rules, row, 0)
        else:
            lost = _sunk(rules, row, 0) == rules.ships, _sunk(rules, row, 1) == rules.ships
            out[b] = (1.0 if lost[1] else 0.0) - (1.0 if lost[0] else 0.0)


@kernel
def _inputs(rules: _Rules, states: Array, viewers: Array, out: Array) -> None:
    cells, ships = rules.cells, rules.ships
    for b in range(len(states)):
        row, viewer, x = states[b], viewers[b], out[b]
        shots = _FLEETS + 2 * ships
        for k in range(row[_FIRED]):
            board = 1 if k % 2 == viewer else 0
            x[(3 * board + row[shots + 2 * rules.shots + k]) * cells + row[shots + k]] = 1.0
        x[6 * cells] = ((row[_PLACED] + 1 - viewer) // 2) / ships
        x[6 * cells + 1] = ((row[_PLACED] + viewer) // 2) / ships
        x[6 * cells + 2] = 1.0 - row[_FIRED] / (2 * rules.shots)
        for k in range(ships):
            action = row[_FLEETS + ships * viewer + k]
            if action >= 0:
                for cell in range(cells):
                    x[6 * cells + 3 + cells * k + cell] = float(rules.masks[k, action] >> cell & 1)
        x[len(x) - 2 + viewer] = 1.0
