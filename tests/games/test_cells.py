"""Rules as kernels play them, beside OpenSpiel's: legal moves, ends, results and planes of whole random games."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyspiel
import pytest

from sog.arrays import Array, Float32
from sog.games.base import TERMINAL
from sog.games.boards.go import Go
from sog.games.boards.positions import BoardPosition, PositionGame
from sog.games.catalog import make_game
from sog.games.rooted import Rooted
from sog.searches.tree.public_tree import PublicTree

SMALL_GO = [f"go(board_size={size},komi={komi})" for size in (2, 3, 4) for komi in (0.5, 1.0, -2.0, 6.99999999)]


def played(public: PublicTree, spiel: pyspiel.State, rng: np.random.Generator, passes: float) -> Iterator[list[int]]:
    """A random game: the tree's nodes so far, at each position, with OpenSpiel's state advanced alike.

    passes: how likely a position's last move is left in, where it has others.
    """
    way = [0]
    while not spiel.is_terminal():
        yield way
        legal = spiel.legal_actions()
        column = int(rng.integers(len(legal) - (len(legal) > 1 and rng.random() >= passes)))
        spiel.apply_action(legal[column])
        way.append(public.child(way[-1], column))
    yield way


def agree(public: PublicTree, node: int, spiel: pyspiel.State) -> None:
    if spiel.is_terminal():
        assert public.actor(node) == TERMINAL and len(public.actions(node)) == 0
        assert public.utility(node, (0, 0)) == spiel.player_return(0)
    else:
        assert public.actor(node) == spiel.current_player()
        assert public.actions(node).tolist() == spiel.legal_actions()


@pytest.mark.parametrize("passes", [0.0, 0.05, 1.0])
@pytest.mark.parametrize(
    ("name", "games"),
    [*((name, 100) for name in SMALL_GO), ("go(board_size=9)", 5), ("go(board_size=19)", 1), ("connect_four", 200)],
)
def test_random_games_beside_openspiel(name: str, games: int, passes: float) -> None:
    game, rng = make_game(name), np.random.default_rng(len(name))
    public, ends = PublicTree(game), set[float]()
    assert public.lists_alone
    for _ in range(games):
        spiel = pyspiel.load_game(name).new_initial_state()
        for way in played(public, spiel, rng, passes):
            agree(public, way[-1], spiel)
        ends.add(spiel.player_return(0))
    assert len(ends) > 1 or games < 100


def test_connect_four_counts() -> None:
    """Positions after each number of moves (perft)."""
    public, level, counts = PublicTree(make_game("connect_four")), [0], []
    for _ in range(5):
        level = [public.child(node, e) for node in level for e in range(public.num_edges(node))]
        counts.append(len(level))
    assert counts == [7, 49, 343, 2401, 16807]


def stones(spiel: pyspiel.State, letters: str) -> tuple[Array, Array]:
    """Where the first and the second player's pieces are, float32[H, W], from OpenSpiel's picture."""
    rows = [row.split()[-1] for row in str(spiel).split("\n") if row and set(row.split()[-1]) <= {*letters, ".", "+"}]
    board = np.array([list(row) for row in rows])
    return tuple((board == letter).astype(np.float32) for letter in letters)


def go_planes(game: Go, line: list[pyspiel.State]) -> Float32:
    """Go's planes from OpenSpiel's states of the line."""
    mover, out = line[-1].current_player(), np.zeros((6, game.size, game.size), dtype=np.float32)
    for t, spiel in enumerate(line[: -3 if len(line) > 2 else None : -1]):
        both = [part[::-1] for part in stones(spiel, "XO")]
        out[t], out[2 + t] = both[mover], both[1 - mover]
    komi = game.komi if mover == 1 else -game.komi
    out[4] = round(100.0 * (1.0 + max(-12.5, min(12.5, komi)) / 12.5)) / 100.0
    out[5] = mover == 0
    return out


def connect_four_planes(line: list[pyspiel.State]) -> Float32:
    """Connect four's planes from OpenSpiel's states of the line."""
    mover, out = line[-1].current_player(), np.zeros((6, 6, 7), dtype=np.float32)
    both = stones(line[-1], "xo")
    for k in range(2):
        own = out[k] = both[mover if k == 0 else 1 - mover]
        for row, column in np.argwhere(both[0] + both[1] == 0):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                for first in range(-3, 1):
                    cells = [(row + (first + i) * down, column + (first + i) * right) for i in range(4)]
                    inside = all(0 <= r < 6 and 0 <= c < 7 for r, c in cells)
                    if inside and sum(own[r, c] for r, c in cells) == 3:
                        out[2 + k, row, column] = 1.0
    out[4, 1::2], out[5] = 1.0, mover == 0
    return out


@pytest.mark.parametrize("name", ["connect_four", "go(board_size=5,komi=7.5)", "go(board_size=9,komi=-13.0)"])
def test_planes_beside_openspiel(name: str) -> None:
    """Of the tree's rows, and of the game's states, which are made when they are asked for."""
    game, rng = make_game(name), np.random.default_rng(1)
    assert isinstance(game, PositionGame)
    for _ in range(3):
        public, spiel, line = PublicTree(game), pyspiel.load_game(name).new_initial_state(), list[pyspiel.State]()
        for way in played(public, spiel, rng, 0.2):
            line.append(spiel.clone())
            if spiel.is_terminal():
                expected = np.zeros(game.planes, dtype=np.float32)
            else:
                expected = go_planes(game, line) if isinstance(game, Go) else connect_four_planes(line)
            np.testing.assert_array_equal(public.features(np.array(way[-1:]))[0], expected.ravel())
        state = public.states[way[-2]]
        assert isinstance(state, BoardPosition) and state.spiel.history() == spiel.history()[:-1]
        assert state is public.states[way[-2]] and state.parent is public.states[way[-3]]
        line.pop()
        expected = go_planes(game, line) if isinstance(game, Go) else connect_four_planes(line)
        np.testing.assert_array_equal(game.features(state), expected.ravel())


@pytest.mark.parametrize("name", ["connect_four", "go(board_size=3,komi=0.5)"])
def test_a_tree_from_a_later_position_knows_what_was_there(name: str) -> None:
    game, rng = make_game(name), np.random.default_rng(2)
    for _ in range(100):
        spiel, start = pyspiel.load_game(name).new_initial_state(), game.root()
        for _ in range(6):
            if not spiel.is_terminal():
                column = int(rng.integers(len(spiel.legal_actions())))
                spiel.apply_action(spiel.legal_actions()[column])
                start = game.child(start, column)
        public = PublicTree(Rooted(game, start))
        np.testing.assert_array_equal(public.features(np.zeros(1, dtype=np.int32))[0], game.features(start))
        for way in played(public, spiel, rng, 0.05):
            agree(public, way[-1], spiel)
