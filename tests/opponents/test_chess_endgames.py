"""Three pieces on a chess board: counts and lengths known from the literature, and OpenSpiel's rules move by move."""

from __future__ import annotations

from typing import cast

import numpy as np
import pyspiel
import pytest

from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.boards.chess import BLACK, PAPER, START, WHITE, Chess
from sog.games.boards.chess_starts import fen_of, random_endgame, uneven_start
from sog.games.boards.positions import BoardPosition
from sog.opponents.chess.best_play import best_play, random_wins, standing
from sog.opponents.chess.tablebase import DRAWN, ILLEGAL, endgame
from sog.opponents.rating import RatingPlayer
from sog.play.match import PlayerContestant, play_match_game
from sog.play.player import Limits

# How many moves before mate the lone king, to move, is, over all positions but for symmetry (Bain, 1994: King-Rook vs.
# King of the UCI repository); -1 draws.
ROOK = {-1: 2796, 0: 27, 1: 78, 2: 246, 3: 81, 4: 198, 5: 471, 6: 592, 7: 683, 8: 1433, 9: 1712, 10: 1985, 11: 2854}
ROOK |= {12: 3597, 13: 4194, 14: 4553, 15: 2166, 16: 390}


@pytest.mark.parametrize(("piece", "strong", "longest"), [("Q", 144_508, 10), ("R", 175_168, 16)])
def test_counts_and_lengths(piece: str, strong: int, longest: int) -> None:
    """Legal positions by who moves; the stronger side wins all of its own, in at most 10 and 16 moves."""
    plies = endgame(piece).plies
    assert [(plies[side] != ILLEGAL).sum() for side in (0, 1)] == [223_944, strong]
    assert not (plies[1] == DRAWN).any() and endgame(piece).longest == 2 * longest - 1 and plies[0].max() == 2 * longest


def test_every_distance_of_the_rook_is_as_often_as_it_is_known_to_be() -> None:
    plies, squares = endgame("R").plies[0], np.arange(64).reshape(8, 8)
    images = [np.rot90(side, k).ravel() for side in (squares, squares[:, ::-1]) for k in range(4)]
    found = np.argwhere(plies != ILLEGAL).T
    least = np.min([(4096 * m[found[0]] + 64 * m[found[1]] + m[found[2]]) for m in images], axis=0)
    _, first = np.unique(least, return_index=True)
    distances, counts = np.unique(plies[tuple(found[:, first])], return_counts=True)
    assert {int(d) // 2 if d >= 0 else -1: int(n) for d, n in zip(distances, counts, strict=True)} == ROOK


@pytest.mark.parametrize("piece", ["Q", "R"])
def test_each_distance_follows_from_those_after_openspiels_moves(piece: str) -> None:
    plies, rng = endgame(piece).plies, np.random.default_rng(0)
    for side in (0, 1):
        legal = np.argwhere(plies[side] != ILLEGAL)
        for king, own, weak in legal[rng.choice(len(legal), 400, replace=False)].tolist():
            white = bool(rng.integers(2))
            game = Chess(fen_of(piece, (king, own, weak), white, white == bool(side)))
            root, winner = cast(BoardPosition, game.root()), WHITE if white else BLACK
            ends = [root] if root.actor == TERMINAL else [root.play(int(action)) for action in root.legal]
            after = [_distance(game, position, winner) for position in ends]
            if root.actor == TERMINAL:
                expected = after[0]
            elif side:
                expected = 1 + min(n for n in after if n >= 0)
            else:
                expected = DRAWN if min(after) < 0 else 1 + max(after)
            assert plies[side, king, own, weak] == expected, game.name


def _distance(game: Chess, position: BoardPosition, winner: int) -> int:
    if position.actor == TERMINAL:
        return 0 if game.payoff(position).scale == (1.0 if winner == 0 else -1.0) else DRAWN
    return standing(game, position).plies


@pytest.mark.parametrize("piece", ["Q", "R"])
def test_best_play_mates_in_exactly_the_moves_of_the_table(piece: str) -> None:
    for fen in random_wins(piece, 6, 1):
        game = Chess(fen)
        start = standing(game, game.root())
        seats = tuple(PlayerContestant(RatingPlayer("perfect", best_play), Limits()) for _ in range(2))
        played = play_match_game(game, (seats[0], seats[1]))
        assert len(played.moves) == start.plies and played.utility == (1.0 if start.strong == 0 else -1.0)


def test_random_wins_are_the_same_again_and_of_both_colours() -> None:
    starts = random_wins("Q", 40, 0)
    assert starts == random_wins("Q", 40, 0) != random_wins("Q", 40, 1) and len(set(starts)) == 40
    found = [standing(game, game.root()) for game in map(Chess, starts)]
    assert all(s.at.strong_moves and s.plies > 0 for s in found) and {s.strong for s in found} == {WHITE, BLACK}


def test_random_endgames_are_uniform_over_what_is_legal() -> None:
    """Queens and rooks, colours and movers as often as their legal positions; a third has one of them, as many two."""
    rng, tables = np.random.default_rng(0), {piece: endgame(piece) for piece in "QR"}
    drawn, counts = [], np.zeros(6, dtype=int)
    for _ in range(12_000):
        fen = random_endgame(rng)
        count = sum(letter in "KQRkqr" for letter in fen.split()[0])
        counts[count] += 1
        if count > 3:
            continue
        game = Chess(fen)
        board = game.seen(game.root()).board
        assert (board > 0).sum() == 3
        state = pyspiel.load_game("chess").new_initial_state(game.fen)
        if not state.is_terminal():
            s = standing(game, game.root())
            assert tables[s.piece].distance(s.at) == s.plies != ILLEGAL
            drawn.append((s.piece, s.strong, s.at.strong_moves))
    assert counts[3] > counts[4] > counts[5] > 2_000  # more pieces give check more often, which is illegal
    strong = [d for d in drawn if d[2]]
    share = sum(d[0] == "R" for d in strong) / len(strong)
    assert abs(share - 175_168 / (175_168 + 144_508)) < 0.04
    assert abs(sum(d[1] == WHITE for d in drawn) / len(drawn) - 0.5) < 0.04


def test_uneven_starts_leave_out_pieces_of_both_sides_alike() -> None:
    """Each side keeps 0 to 100% of its pieces, half on average, all where they begin, and its king."""
    rng, shares = np.random.default_rng(0), list[tuple[float, float]]()
    first = Chess().seen(Chess().root()).board
    for _ in range(400):
        game = Chess(uneven_start(rng))
        view = game.seen(game.root())
        assert set(view.board[view.board != first]) <= {0} and view.board[[32, 39]].tolist() == [6, 12]
        shares.append(tuple(float(((view.board > low) & (view.board < low + 6)).sum() / 15) for low in (0, 6)))
    mean = np.mean(shares, axis=0)
    assert np.abs(mean - 0.5).max() < 0.05 and np.corrcoef(np.array(shares).T)[0, 1] < 0.2


def test_half_of_the_named_starts_are_endgames() -> None:
    rng, game = np.random.default_rng(0), Chess(inputs=PAPER)
    starts = [game.random_start(rng) for _ in range(200)]
    assert all(start is not None and start.inputs == PAPER for start in starts)
    ends = sum(start is not None and sum(map(str.isalpha, start.fen.split()[0])) <= 5 for start in starts)
    assert 70 < ends < 130 and Chess("7k/P7/8/8/8/8/8/K7 w - - 0 1").random_start(rng) is None


def test_near_endgames_are_won_soon() -> None:
    """The lone king on the rim, the other near it: most wins are within four moves, of all positions few are."""
    rng, soon = np.random.default_rng(0), {True: [], False: []}
    for near, found in soon.items():
        while len(found) < 150:
            fen = random_endgame(rng, near)
            placed = fen.split()[0]
            if sum(letter in "Qq" for letter in placed) != 1 or any(letter in "Rr" for letter in placed):
                continue
            game = Chess(fen)
            if game.actor(game.root()) > 1:
                continue
            s = standing(game, game.root())
            if near:
                lone, king = divmod(s.at.weak, 8), divmod(s.at.king, 8)
                assert {0, 7} & set(lone) and max(abs(a - b) for a, b in zip(lone, king, strict=True)) <= 3
            if s.at.strong_moves and s.plies > 0:
                found.append(s.plies <= 7)
    assert np.mean(soon[True]) > 0.8 and np.mean(soon[False]) < 0.4


def test_other_positions_have_no_table() -> None:
    for fen in (START, *(f"4k3/8/8/8/8/8/8/4K{pieces} w - - 0 1" for pieces in ("2N", "RR1", "3"))):
        game = Chess(fen)
        with pytest.raises(GameError, match="no table"):
            standing(game, game.root())
    with pytest.raises(GameError, match="table of R and Q"):
        endgame("B")
