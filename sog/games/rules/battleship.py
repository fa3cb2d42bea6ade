"""Battleship on small grids: fleets are placed in secret, then shots and their results are public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias, cast

import numpy as np

from sog.arrays import Array, Float32, Float64, Int32, Int64
from sog.errors import GameError
from sog.games.base import (
    NATURE,
    TERMINAL,
    Carry,
    Fan,
    Game,
    Moves,
    Operator,
    Scaled,
    State,
    forward_links,
    plain_moves,
)
from sog.games.strings import number_text

MISS: Final = 0
HIT: Final = 1
SUNK: Final = 2
MAX_FLEETS: Final = 2_000  # pair operators have the square of this many entries

# OpenSpiel's action of each ship placed so far: cells + cell is horizontal, 2 cells + cell vertical.
Fleet: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class BattleshipParameters:
    """Battleship in which no cell is shot at twice. GameError for ships, values or shots that cannot be.

    values: what a sunk ship pays, as in OpenSpiel with loss_multiplier 1; None: whoever sinks the whole fleet wins 1
    (SePoT B.3), which OpenSpiel does not have.
    """

    width: int
    height: int
    sizes: tuple[int, ...]
    values: tuple[float, ...] | None
    num_shots: int

    def __post_init__(self) -> None:
        if min(self.width, self.height) < 1:
            raise GameError(f"battleship needs a board of at least 1 x 1, not {self.width} x {self.height}")
        if not self.sizes or min(self.sizes) < 1:
            raise GameError(f"battleship needs ships of at least one cell, not {list(self.sizes)}")
        if sum(self.sizes) > self.cells:
            raise GameError(f"battleship's ships of {sum(self.sizes)} cells do not fit on {self.cells}")
        if self.values is not None and (len(self.values) != len(self.sizes) or not min(self.values) > 0):
            raise GameError("battleship needs one positive ship value for each ship size")
        if not 1 <= self.num_shots <= self.cells:
            raise GameError(f"battleship on {self.cells} cells has 1 to {self.cells} shots, not {self.num_shots}")

    @staticmethod
    def of(
        width: int, height: int, sizes: Sequence[int], values: Sequence[float] | None, num_shots: int | None
    ) -> BattleshipParameters:
        """num_shots: None for all cells."""
        paid = None if values is None else tuple(float(value) for value in values)
        return BattleshipParameters(
            width, height, tuple(sizes), paid, width * height if num_shots is None else num_shots
        )

    @property
    def cells(self) -> int:
        return self.width * self.height

    @property
    def u_max(self) -> float:
        return 1.0 if self.values is None else sum(self.values)

    @property
    def name(self) -> str:
        """The game string."""
        sizes = ";".join(map(str, self.sizes))
        board = f"board_width={self.width},board_height={self.height},ship_sizes=[{sizes}]"
        shots = f"num_shots={self.num_shots},allow_repeated_shots=False"
        if self.values is None:
            return f"battleship({board},{shots},returns_type=win_loss)"
        values = ";".join(number_text(value) for value in self.values)
        return f"battleship({board},ship_values=[{values}],{shots},loss_multiplier=1.0)"


def one_shot_a_cell(given: Mapping[str, Any]) -> tuple[Any, ...]:
    """What both forms of the game are made from; GameError for OpenSpiel's rules that neither has."""
    if given["allow_repeated_shots"]:
        raise GameError("no cell is shot at twice in this battleship: add allow_repeated_shots=False")
    if given["loss_multiplier"] != 1:
        raise GameError("battleship is zero-sum only with loss_multiplier=1.0")
    sizes, values, shots = given["ship_sizes"], None, given["num_shots"]
    if given["returns_type"] == "ship_values":
        values = given["ship_values"] or (1.0,) * len(sizes)
        shots = 50 if shots is None else shots
    return given["board_width"], given["board_height"], sizes, values, shots


class Battle(NamedTuple):
    """A public state.

    placed: ships on both boards together; the players place one each in turn.
    shots: (cell, MISS, HIT or SUNK) of every shot, player 0's first and then by turns.
    fired: the cell of a shot whose result is not announced yet, else -1.
    """

    placed: int
    shots: tuple[tuple[int, int], ...]
    fired: int


class Battleship(Game):
    """Battleship with OpenSpiel's order of play and action numbers, no cell being shot at twice.

    Infostates are one's own placements that agree with the results announced so far. The game ends when a
    fleet is sunk or after `num_shots` shots each. With `ship_values` a sunk ship pays its value to who
    sank it, as in OpenSpiel with loss_multiplier 1; without them whoever sinks the whole fleet wins 1
    (SePoT B.3), which OpenSpiel does not have.
    """

    def __init__(
        self,
        width: int,
        height: int,
        ship_sizes: Sequence[int],
        ship_values: Sequence[float] | None = None,
        num_shots: int | None = None,
    ) -> None:
        """Rules on a board of `width` x `height` cells; by default every cell may be shot at.

        Raises GameError for ships that do not fit, more than MAX_FLEETS placements of the fleet, values that are
        not one positive number a ship, or more shots than cells.
        """
        chosen = BattleshipParameters.of(width, height, ship_sizes, ship_values, num_shots)
        self.name, self.u_max = chosen.name, chosen.u_max
        self.width, self.height, self.cells = width, height, chosen.cells
        self.sizes, self.values, self.num_shots = chosen.sizes, chosen.values, chosen.num_shots
        self._fleets = _all_fleets(self)
        self._covered = np.array([[_covers(self, n, a) for n, a in enumerate(f)] for f in self._fleets[-1]])
        self._index = [{fleet: i for i, fleet in enumerate(fleets)} for fleets in self._fleets]
        self.num_actions = 3 * self.cells
        most = max(len(fleets) for fleets in self._fleets)
        self.num_slots = (most, most)
        self.num_features = 7 * self.cells + 5
        self._consistent: dict[tuple[tuple[int, int], ...], Int64] = {(): np.arange(len(self._fleets[-1]))}
        self._operators: dict[bytes, Operator] = {}

    # --- fleets ---

    def _placed_by(self, battle: Battle, p: int) -> int:
        """How many ships player p has placed."""
        return (battle.placed + 1 - p) // 2

    def received(self, battle: Battle, p: int) -> tuple[tuple[int, int], ...]:
        """The shots at player p's board and their results."""
        return battle.shots[1 - p :: 2]

    def _possible(self, battle: Battle, p: int) -> Int64:
        """int64[I_p]: the placements of player p that agree with what is public, by number."""
        count = self._placed_by(battle, p)
        if count < len(self.sizes):
            return np.arange(len(self._fleets[count]))
        received = self.received(battle, p)
        if received not in self._consistent:
            before = self._possible(battle._replace(shots=battle.shots[: 2 * len(received) - 1 - p]), p)
            results = self._results(before, [cell for cell, _ in received])
            self._consistent[received] = before[results == received[-1][1]]
        return self._consistent[received]

    def _results(self, fleets: Int64, cells: Sequence[int]) -> Int64:
        """int64[K]: what the last shot of `cells` does to each fleet that has received the others."""
        ships = self._covered[fleets]
        struck = ships[:, :, cells[-1]]
        sunk = ships[:, :, list(cells)].sum(axis=2) == np.array(self.sizes)
        return np.where(struck.any(axis=1), np.where((struck & sunk).any(axis=1), SUNK, HIT), MISS)

    # --- the interface ---

    def root(self) -> State:
        return Battle(0, (), -1)

    def actor(self, s: State) -> int:
        battle = cast(Battle, s)
        if battle.placed < 2 * len(self.sizes):
            return battle.placed % 2
        if battle.fired >= 0:
            return NATURE
        return TERMINAL if self._is_over(battle) else len(battle.shots) % 2

    def _is_over(self, battle: Battle) -> bool:
        return len(battle.shots) == 2 * self.num_shots or any(self._lost(battle, p) for p in (0, 1))

    def _lost(self, battle: Battle, p: int) -> bool:
        """Whether player p's whole fleet is sunk."""
        return sum(result == SUNK for _, result in self.received(battle, p)) == len(self.sizes)

    def num_infostates(self, s: State) -> tuple[int, int]:
        battle = cast(Battle, s)
        return len(self._possible(battle, 0)), len(self._possible(battle, 1))

    def actions(self, s: State) -> Int32:
        battle, actor = cast(Battle, s), self.actor(s)
        if actor not in (0, 1):
            return np.zeros(0, dtype=np.int32)
        if battle.placed < 2 * len(self.sizes):
            count = self._placed_by(battle, actor)
            return np.unique([fleet[-1] for fleet in self._fleets[count + 1]]).astype(np.int32)
        tried = [cell for cell, _ in self.received(battle, 1 - actor)]
        return np.setdiff1d(np.arange(self.cells), tried).astype(np.int32)

    def fan(self, s: State) -> Fan:
        battle = cast(Battle, s)
        if battle.fired >= 0:
            return self._announce(battle)
        if battle.placed < 2 * len(self.sizes):
            return self._place(battle)
        cells = self.actions(s).tolist()
        children = [battle._replace(fired=cell) for cell in cells]
        return Fan(children, plain_moves(self.num_infostates(s)[self.actor(s)], len(cells)))

    def _place(self, battle: Battle) -> Fan:
        """One public edge, "a ship is placed"; the infostate grows by where."""
        count = self._placed_by(battle, battle.placed % 2)
        index, actions = self._index[count + 1], self.actions(battle).tolist()
        target = np.array([[index.get((*f, a), -1) for a in actions] for f in self._fleets[count]], dtype=np.int32)
        edge = np.where(target >= 0, np.int32(0), np.int32(-1))
        return Fan([battle._replace(placed=battle.placed + 1)], Moves(edge, target))

    def _announce(self, battle: Battle) -> Fan:
        """NATURE announces the result: the edge is fixed by the fleet that was shot at."""
        target = 1 - len(battle.shots) % 2
        cells = [*(cell for cell, _ in self.received(battle, target)), battle.fired]
        results = self._results(self._possible(battle, target), cells)
        children: list[State] = []
        carry: list[tuple[Carry, Carry]] = []
        for result in np.unique(results).tolist():
            agrees = results == result
            links = None if agrees.all() else forward_links(np.where(agrees, np.cumsum(agrees) - 1, -1))
            children.append(Battle(battle.placed, (*battle.shots, (battle.fired, result)), -1))
            carry.append((links, None) if target == 0 else (None, links))
        return Fan(children, None, carry)

    def weights(self, s: State) -> Scaled:
        return Scaled(self._shared(np.ones(self.num_infostates(s))))

    def payoff(self, s: State) -> Scaled:
        battle = cast(Battle, s)
        if self.values is None:
            return Scaled(self.weights(s).operator, float(self._lost(battle, 1)) - float(self._lost(battle, 0)))
        won, lost = self._sunk_value(battle, 1), self._sunk_value(battle, 0)
        return Scaled(self._shared(won[None, :] - lost[:, None]))

    def _sunk_value(self, battle: Battle, p: int) -> Float64:
        """float64[I_p]: the value of player p's sunk ships for each placement."""
        cells = [cell for cell, _ in self.received(battle, p)]
        sunk = self._covered[self._possible(battle, p)][:, :, cells].sum(axis=2) == np.array(self.sizes)
        return np.asarray(sunk @ np.array(self.values))

    def _shared(self, matrix: Float64) -> Operator:
        return self._operators.setdefault(repr(matrix.shape).encode() + matrix.tobytes(), Operator(matrix))

    def features(self, s: State) -> Float32:
        """float32[7 cells + 5]: both boards as seen from outside, and what happens now.

        For each board, which cells were shot at with each result [2][3][cells]; the cell of a shot not yet
        announced [cells]; who acts [3] (NATURE last); the share of ships placed [2].
        """
        battle = cast(Battle, s)
        boards = np.zeros((2, 3, self.cells), dtype=np.float32)
        for k, (cell, result) in enumerate(battle.shots):
            boards[1 - k % 2, result, cell] = 1.0
        fired = np.zeros(self.cells, dtype=np.float32)
        if battle.fired >= 0:
            fired[battle.fired] = 1.0
        rest = np.zeros(5, dtype=np.float32)
        if self.actor(s) != TERMINAL:
            rest[self.actor(s)] = 1.0
        rest[3:] = [self._placed_by(battle, p) / len(self.sizes) for p in (0, 1)]
        return np.concatenate([boards.ravel(), fired, rest])

    def slot(self, s: State, p: int) -> Int32:
        """The number of the placement, which it keeps while shots are fired."""
        return self._possible(cast(Battle, s), p).astype(np.int32)

    def state_name(self, s: State) -> str:
        battle = cast(Battle, s)
        if battle.placed < 2 * len(self.sizes):
            return f"{battle.placed} ships placed"
        shots = [f"{self._cell(cell)}{'-x#'[result]}" for cell, result in battle.shots]
        return " ".join([*shots, f"{self._cell(battle.fired)}?"] if battle.fired >= 0 else shots) or "no shots"

    def action_name(self, s: State, action: int) -> str:
        way = ("shoot", "across", "down")[action // self.cells]
        return f"{way} {self._cell(action % self.cells)}"

    def _cell(self, cell: int) -> str:
        """Column letter and row number, from the top left corner."""
        return f"{chr(ord('a') + cell % self.width)}{cell // self.width + 1}"

    def infostate_name(self, s: State, p: int, i: int) -> str:
        fleet = self._fleet(cast(Battle, s), p, i)
        named = [f"{n} {self.action_name(s, action)}" for n, action in zip(self.sizes, fleet, strict=False)]
        return ", ".join(named) or "nothing"

    def _fleet(self, battle: Battle, p: int, i: int) -> Fleet:
        return self._fleets[self._placed_by(battle, p)][int(self._possible(battle, p)[i])]

    def ships(self, s: State, p: int, i: int) -> list[int]:
        """The cells on which player p's ships lie with an infostate."""
        placed = enumerate(self._fleet(cast(Battle, s), p, i))
        return [int(cell) for ship, action in placed for cell in np.flatnonzero(_covers(self, ship, action))]

    def history(self, s: State, i0: int, i1: int) -> list[int]:
        """OpenSpiel's actions; with its board, not its utilities, where whoever sinks the fleet wins 1."""
        battle = cast(Battle, s)
        fleets = self._fleet(battle, 0, i0), self._fleet(battle, 1, i1)
        placed = [fleets[k % 2][k // 2] for k in range(battle.placed)]
        fired = [battle.fired] if battle.fired >= 0 else []
        return [*placed, *(cell for cell, _ in battle.shots), *fired]


def _covers(game: Battleship, ship: int, action: int) -> Array:
    """bool[cells]: where a ship lies that was placed with this action."""
    way, cell = divmod(action, game.cells)
    out = np.zeros(game.cells, dtype=np.bool_)
    out[cell + (1 if way == 1 else game.width) * np.arange(game.sizes[ship])] = True
    return out


def _all_fleets(game: Battleship) -> list[list[Fleet]]:
    """Every placement of the first 0, 1, ... ships that leaves room for the others, in lexicographic order."""
    fleets: list[Fleet] = [()]
    longer: list[list[Fleet]] = [fleets]
    for ship in range(len(game.sizes)):
        more = ((*fleet, a) for fleet in fleets for a in _room(game, fleet, ship))
        fleets = list(islice(more, MAX_FLEETS + 1))
        if len(fleets) > MAX_FLEETS:
            raise GameError(
                f"battleship with ships {list(game.sizes)} on {game.width} x {game.height} cells has more than "
                f"{MAX_FLEETS:,} fleets: too many for matrices over pairs"
            )
        longer.append(fleets)
    if not fleets:
        raise GameError(f"ships {list(game.sizes)} do not fit on a board of {game.width} x {game.height}")
    for ship in range(len(game.sizes) - 1, -1, -1):  # a placement after which the next ship has no room is illegal
        extendable = {fleet[:-1] for fleet in longer[ship + 1]}
        longer[ship] = [fleet for fleet in longer[ship] if fleet in extendable]
    return longer


def _room(game: Battleship, fleet: Fleet, ship: int) -> list[int]:
    """The actions that place the ship on free cells; a ship of one cell lies horizontally."""
    taken = np.zeros(game.cells, dtype=np.bool_)
    for k, action in enumerate(fleet):
        taken |= _covers(game, k, action)
    out = []
    for action in range(game.cells, (2 if game.sizes[ship] == 1 else 3) * game.cells):
        way, cell = divmod(action, game.cells)
        start, end = (cell % game.width, game.width) if way == 1 else (cell // game.width, game.height)
        if start + game.sizes[ship] <= end and not (taken & _covers(game, ship, action)).any():
            out.append(action)
    return out
