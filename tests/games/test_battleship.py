"""Battleship is OpenSpiel's where the rules agree, and its own results and infostates elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, step
from sog.games.catalog import make_game
from sog.games.checks.openspiel import compare_with_openspiel
from sog.games.checks.public_states import check_game
from sog.games.openspiel.game import OpenSpielGame
from sog.games.rules.battleship import HIT, MISS, SUNK, Battle, Battleship
from sog.searches.cfr import exact
from sog.searches.cfr.rules import DCFR
from sog.searches.tree.public_tree import PublicTree

WIN_LOSS = "battleship(board_width={},board_height={},ship_sizes={},allow_repeated_shots=False,returns_type=win_loss)"
VALUED = (
    "battleship(board_width={},board_height={},ship_sizes={},ship_values={},num_shots={},"
    "allow_repeated_shots=False,loss_multiplier=1.0)"
)


@pytest.mark.parametrize(
    ("game", "histories", "infostates"),
    [
        (Battleship(2, 2, [1], [1], 2), 1573, 162),
        (Battleship(2, 2, [2], [1.5], 3), 10069, 3286),
        (Battleship(2, 2, [1, 2], [1, 2.5], 1), 1397, 50),
        (Battleship(3, 1, [1, 1], [1, 3], 2), 2011, 284),
        (Battleship(3, 1, [1, 2], [1, 1], 2), 279, 104),  # the middle leaves no room for the second ship
        (Battleship(2, 2, [2, 2], [2, 1], 2), 3445, 286),
        (Battleship(2, 2, [1, 1, 1], [1, 2, 3], 1), 12597, 154),
    ],
)
def test_the_whole_game_is_openspiels(game: Battleship, histories: int, infostates: int) -> None:
    seen = compare_with_openspiel(game)
    assert seen.complete
    assert (seen.histories, seen.infostates, seen.openspiel_infostates) == (histories, infostates, infostates)


def test_compiled_from_openspiel_it_has_the_same_value() -> None:
    native = Battleship(2, 2, [1], [1], 2)
    a, b = (
        exact.measure(exact.solve(PublicTree(game).list_all(), DCFR, 300))
        for game in (native, OpenSpielGame(native.name))
    )
    for measure in (a, b):
        # Each shot finds the ship with chance 1/4 and then 1/3, player 0's before player 1's.
        assert measure.exploitability < 5e-3
        assert abs(measure.value - 1 / 8) <= measure.exploitability + 1e-12


@pytest.mark.parametrize("name", [WIN_LOSS.format(3, 3, "[2;2]"), WIN_LOSS.format(2, 3, "[3;1]")])
def test_conforms(name: str) -> None:
    assert check_game(make_game(name), max_states=250).largest_value <= 1


def test_results_are_told_by_nature_and_drop_placements() -> None:
    game = Battleship(3, 1, [2])
    s = Battle(2, (), 0)  # player 0 shot at the left cell of a board of three
    assert game.actor(s) == NATURE
    assert [game.infostate_name(s, 1, i) for i in range(2)] == ["2 across a1", "2 across b1"]
    fan = game.fan(s)
    assert fan.children == [Battle(2, ((0, MISS),), -1), Battle(2, ((0, HIT),), -1)]
    assert [game.num_infostates(child) for child in fan.children] == [(2, 1), (2, 1)]
    assert game.infostate_name(fan.children[0], 1, 0) == "2 across b1"
    assert game.slot(fan.children[0], 1).tolist() == [1]


def test_the_game_ends_when_a_fleet_is_sunk() -> None:
    game = Battleship(3, 1, [2])
    hit_and_missed = ((0, HIT), (0, MISS))
    sunk = game.fan(Battle(2, hit_and_missed, 1))
    assert sunk.children == [Battle(2, (*hit_and_missed, (1, SUNK)), -1)]
    assert game.actor(sunk.children[0]) == TERMINAL
    np.testing.assert_array_equal(game.payoff(sunk.children[0]).dense(), [[1.0]])


def test_sunk_ships_pay_their_values() -> None:
    game = Battleship(2, 1, [1, 1], [1, 3], 1)
    s = Battle(4, ((0, SUNK), (1, SUNK)), -1)
    assert game.actor(s) == TERMINAL
    # Infostates: the first ship left and the second right, or the other way round.
    np.testing.assert_array_equal(game.payoff(s).dense(), [[1 - 3, 3 - 3], [1 - 1, 3 - 1]])


@given(st.integers(0, 2**32 - 1), st.sampled_from([(3, 3, (2, 2)), (4, 2, (3, 1)), (2, 3, (2,))]))
def test_a_game_played_out_keeps_to_the_placements(seed: int, rules: tuple[int, int, tuple[int, ...]]) -> None:
    """What is told agrees with the fleets of the pair, counted on the boards by hand."""
    game, rng = Battleship(*rules), np.random.default_rng(seed)
    s, pair = game.root(), (0, 0)
    while (actor := game.actor(s)) != TERMINAL:
        if actor == NATURE:
            s, *after = game.sample_chance(s, *pair, rng)
            pair = (after[0], after[1])
            continue
        fan = game.fan(s)
        assert fan.moves is not None
        columns = np.flatnonzero(fan.moves.edge[pair[actor]] >= 0)
        edge, pair = step(fan, actor, pair, int(rng.choice(columns)))
        s = fan.children[edge]
    assert isinstance(s, Battle)
    for p in (0, 1):
        ships = [_cells(placement) for placement in game.infostate_name(s, p, pair[p]).split(", ")]
        assert len(set().union(*ships)) == sum(rules[2])
        shot: set[str] = set()
        for action, result in s.shots[1 - p :: 2]:
            cell = game.action_name(s, action).removeprefix("shoot ")
            assert cell not in shot
            shot.add(cell)
            struck = [ship for ship in ships if cell in ship]
            assert result == (MISS if not struck else SUNK if struck[0] <= shot else HIT)


def _cells(placement: str) -> set[str]:
    """The cells of a ship such as `2 across b1`."""
    size, way, corner = placement.split()
    column, row = ord(corner[0]), int(corner[1:])
    if way == "across":
        return {f"{chr(column + k)}{row}" for k in range(int(size))}
    return {f"{chr(column)}{row + k}" for k in range(int(size))}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("battleship", "add allow_repeated_shots=False"),
        ("battleship(allow_repeated_shots=False,loss_multiplier=2.0)", "zero-sum only with loss_multiplier=1.0"),
        ("battleship(allow_repeated_shots=False)", "more than 2,000 fleets"),
        (VALUED.format(2, 2, "[1;x]", "[1;1]", 1), "ship_sizes is a list such as"),
        (VALUED.format(2, 2, "[1;2]", "[1]", 1), "one positive ship value for each"),
        (VALUED.format(2, 2, "[1]", "[-1]", 1), "one positive ship value for each"),
        (VALUED.format(2, 2, "[1]", "[1]", 5), "1 to 4 shots, not 5"),
        (VALUED.format(2, 2, "[3]", "[1]", 1), "do not fit on a board of 2 x 2"),
        (WIN_LOSS.format(2, 2, "[0]"), "ships of at least one cell"),
        (WIN_LOSS.format(0, 2, "[1]"), "at least 1 x 1"),
        (WIN_LOSS.format(5, 5, "[3;2;2]"), "more than 2,000 fleets"),
    ],
)
def test_refusals(name: str, says: str) -> None:
    with pytest.raises(GameError) as error:
        make_game(name)
    assert says in str(error.value) and "\n" not in str(error.value)
