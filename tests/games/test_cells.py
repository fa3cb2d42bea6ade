"""Rules as kernels play them, beside OpenSpiel's: legal moves, ends, results and planes of whole random games."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import numpy as np
import pyspiel
import pytest

from sog.arrays import Array, Float32
from sog.games.base import TERMINAL, Game
from sog.games.boards.chess import START, TACTICS, Chess
from sog.games.boards.connect_four import THREATS, ConnectFour
from sog.games.boards.go import STONES, Go
from sog.games.boards.positions import BoardPosition, PositionGame
from sog.games.catalog import make_game
from sog.games.checks.perft import POSITIONS
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


ENDGAMES = [
    "8/8/3k4/8/3N1n2/8/3K4/8 w - - 0 1",
    "8/8/2kb4/3p4/8/5b2/3K4/8 w - - 0 1",
    "8/2k5/3b4/8/8/5B2/3K4/7n w - - 90 1",
    "8/PPPk4/8/8/8/8/4Kppp/8 b - - 0 1",
    "1k6/8/8/8/8/5Q2/5R1K/8 w - - 0 1",
    "8/8/8/1k1pP1K1/8/8/8/2r5 w - d6 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
]


@pytest.mark.parametrize("fen", [START, *ENDGAMES])
def test_random_games_of_chess_beside_openspiel(fen: str) -> None:
    rng, public = np.random.default_rng(3), PublicTree(Chess(fen))
    for _ in range(8):
        spiel = pyspiel.load_game("chess").new_initial_state(fen)
        for way in played(public, spiel, rng, 1.0):
            agree(public, way[-1], spiel)


SIXTH = "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10"
COUNTS: dict[str, tuple[Game, tuple[int, ...]]] = {
    **{name: (Chess(position.fen), position.counts[:3]) for name, position in POSITIONS.items()},
    "position 6": (Chess(SIXTH), (46, 2_079, 89_890)),
    "connect four": (make_game("connect_four"), (7, 49, 343, 2_401, 16_807)),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_positions(name: str) -> None:
    """Perft: positions after each number of moves."""
    game, counts = COUNTS[name]
    public, level = PublicTree(game), [0]
    for count in counts:
        level = [public.child(node, e) for node in level for e in range(public.num_edges(node))]
        assert len(level) == count


def test_a_false_right_to_take_en_passant_hides_no_repetition() -> None:
    """The pawn on e4 is pinned, so the position after d2d4 is the one that comes again twice."""
    game = Chess("4k3/8/8/8/4p3/8/3P4/K3R3 w - - 0 1")
    public, node = PublicTree(game), 0
    for move in ["d2d4", *["e8d8", "a1b1", "d8e8", "b1a1"] * 2]:
        assert public.actor(node) != TERMINAL
        node = public.child(node, public.actions(node).tolist().index(game.action(public.states[node], move)))
    assert public.actor(node) == TERMINAL and public.utility(node, (0, 0)) == 0.0


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


def chains(stones: set[tuple[int, int]]) -> list[set[tuple[int, int]]]:
    """Stones of one colour that hang together."""
    found, left = list[set[tuple[int, int]]](), set(stones)
    while left:
        chain = {left.pop()}
        while beside := {q for p in chain for q in neighbours(p)} & left:
            chain |= beside
            left -= beside
        found.append(chain)
    return found


def neighbours(point: tuple[int, int]) -> set[tuple[int, int]]:
    row, column = point
    return {(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)}


def liberties_planes(game: Go, line: list[pyspiel.State]) -> Float32:
    """Go's planes with those of chains that have one to three liberties, from OpenSpiel's states of the line."""
    plain, few = go_planes(game, line), np.zeros((6, game.size, game.size), dtype=np.float32)
    empty = {(int(r), int(c)) for r, c in np.argwhere(plain[0] + plain[2] == 0)}
    for side in range(2):
        for chain in chains({(int(r), int(c)) for r, c in np.argwhere(plain[2 * side] > 0)}):
            free = len({q for p in chain for q in neighbours(p)} & empty)
            for point in chain if free <= 3 else ():
                few[3 * side + free - 1][point] = 1.0
    return np.concatenate([plain[:4], few, plain[4:]])


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


def chess_planes(line: list[pyspiel.State]) -> Float32:
    """Chess's planes from the FENs of OpenSpiel's states of the line."""
    out, white = np.zeros((119, 8, 8), dtype=np.float32), line[-1].current_player() == 1
    for t, spiel in enumerate(line[: -9 if len(line) > 8 else None : -1]):
        rows = "".join("." * int(c) if c.isdigit() else c for c in spiel.board().to_fen().split()[0]).split("/")
        for k, letter in enumerate("PNBRQKpnbrqk" if white else "pnbrqkPNBRQK"):
            for file, rank in itertools.product(range(8), range(8)):
                out[14 * t + k, file, rank] = rows[7 - rank if white else rank][file] == letter
        stood = [past.board().to_fen().split()[:4] for past in line[: len(line) - t]]
        out[14 * t + 12], out[14 * t + 13] = stood.count(stood[-1]) >= 2, stood.count(stood[-1]) >= 3
    _, _, castling, _, quiet, number = line[-1].board().to_fen().split()
    for k, right in enumerate("KQkq" if white else "kqKQ"):
        out[112 + k] = right in castling
    out[116], out[117], out[118] = int(quiet) / 100.0, min(int(number) / 100.0, 2.55), not white
    return out


def attacks_of(board: dict[tuple[int, int], str], at: tuple[int, int]) -> set[tuple[int, int]]:
    """The squares that the piece on a square attacks; a board has squares (file, rank from White's side)."""
    piece, lines = board[at].upper(), {"B": (2,), "R": (1,), "Q": (1, 2), "K": (1, 2)}
    inside = set(itertools.product(range(8), range(8)))
    if piece == "P":
        return {(at[0] + side, at[1] + (1 if board[at] == "P" else -1)) for side in (-1, 1)} & inside
    if piece == "N":
        return {(f, r) for f, r in inside if sorted((abs(f - at[0]), abs(r - at[1]))) == [1, 2]}
    found = set[tuple[int, int]]()
    for step in itertools.product((-1, 0, 1), repeat=2):
        # Straight steps move in one coordinate, diagonal ones in two.
        if sum(map(abs, step)) not in lines[piece]:
            continue
        for k in range(1, 2 if piece == "K" else 8):
            square = at[0] + k * step[0], at[1] + k * step[1]
            found |= {square} & inside
            if square in board:
                break
    return found


def tactics_planes(line: list[pyspiel.State]) -> Float32:
    """Chess's planes of attacks and material from the FENs of OpenSpiel's states of the line."""
    out, white = np.zeros((38, 8, 8), dtype=np.float32), line[-1].current_player() == 1
    placed, _, castling, passed, quiet, _ = line[-1].board().to_fen().split()
    ranks = ["".join("." * int(c) if c.isdigit() else c for c in row) for row in placed.split("/")][::-1]
    board = {(f, r): letter for r, row in enumerate(ranks) for f, letter in enumerate(row) if letter != "."}

    def seen(square: tuple[int, int]) -> tuple[int, int]:
        return square[0], square[1] if white else 7 - square[1]

    groups, times = ("P", "NB", "R", "Q", "K"), np.zeros((2, 8, 8))
    for at, letter in board.items():
        side = int(letter.isupper() != white)
        out["PNBRQK".index(letter.upper()) + 6 * side][seen(at)] = 1.0
        if letter.upper() != "K":
            out[32 + "PNBRQ".index(letter.upper())] += 0.5 - side
        for square in attacks_of(board, at):
            group = next(k for k, letters in enumerate(groups) if letter.upper() in letters)
            out[20 + 5 * side + group][seen(square)] = 1.0
            times[side][seen(square)] += 1
    out[30:32] = times >= 2
    stood = [past.board().to_fen().split()[:4] for past in line]
    out[12], out[13] = stood.count(stood[-1]) >= 2, stood.count(stood[-1]) >= 3
    for k, right in enumerate("KQkq" if white else "kqKQ"):
        out[14 + k] = right in castling
    if passed != "-":
        out[18]["abcdefgh".index(passed[0]), 5] = 1.0
    out[19], out[37] = int(quiet) / 100.0, not white
    return out


def expected_planes(game: PositionGame, line: list[pyspiel.State]) -> Float32:
    if isinstance(game, Go):
        return go_planes(game, line) if game.inputs == STONES else liberties_planes(game, line)
    if isinstance(game, Chess):
        return tactics_planes(line) if game.inputs == TACTICS else chess_planes(line)
    planes = connect_four_planes(line)
    return planes if isinstance(game, ConnectFour) and game.inputs == THREATS else planes[[0, 1, 5]]


SEEN_OTHERWISE = ["connect_four(inputs=stones)", "chess(inputs=paper)", "go(board_size=5,komi=7.5,inputs=liberties)"]
BOARDS = ["connect_four", "chess", *SEEN_OTHERWISE, "go(board_size=5,komi=7.5)", "go(board_size=9,komi=-13.0)"]


@pytest.mark.parametrize("name", BOARDS)
def test_planes_beside_openspiel(name: str) -> None:
    """Of the tree's rows, and of the game's states, which are made when they are asked for."""
    game, rng = make_game(name), np.random.default_rng(1)
    assert isinstance(game, PositionGame)
    for _ in range(1 if isinstance(game, Chess) else 3):
        public, line = PublicTree(game), list[pyspiel.State]()
        spiel = pyspiel.load_game(re.sub(r"\(inputs=\w+\)|,inputs=\w+", "", name)).new_initial_state()
        for way in played(public, spiel, rng, 0.2):
            line.append(spiel.clone())
            if len(line) > 30 and rng.random() < 0.9 and not spiel.is_terminal():
                continue
            if spiel.is_terminal():
                expected = np.zeros(game.planes, dtype=np.float32)
            else:
                expected = expected_planes(game, line)
            np.testing.assert_array_equal(public.features(np.array(way[-1:]))[0], expected.ravel())
        state = public.states[way[-2]]
        assert isinstance(state, BoardPosition) and state.spiel.history() == spiel.history()[:-1]
        assert state is public.states[way[-2]] and state.parent is public.states[way[-3]]
        line.pop()
        expected = expected_planes(game, line)
        np.testing.assert_array_equal(game.features(state), expected.ravel())


@pytest.mark.parametrize("name", ["connect_four", "go(board_size=3,komi=0.5)", "chess"])
def test_a_tree_from_a_later_position_knows_what_was_there(name: str) -> None:
    game, rng = make_game(name), np.random.default_rng(2)
    for _ in range(20):
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
