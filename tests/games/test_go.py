"""Go: results, ko and repetition as OpenSpiel has them, planes, and games that are refused."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.boards.go import Go
from sog.games.boards.positions import BoardPosition
from sog.games.catalog import make_game
from sog.games.checks.public_states import check_game
from sog.nets.shape import is_for, shape_for
from sog.training.packing import pack, unpack
from sog.training.rows import blank_rows


def after(game: Go, moves: str) -> BoardPosition:
    position = cast(BoardPosition, game.root())
    for move in moves.split():
        (action,) = (a for a in position.legal.tolist() if game.action_name(position, a) == move)
        position = position.play(action)
    return position


@pytest.mark.parametrize(("komi", "result"), [(8.5, 1.0), (9.0, 0.0), (9.5, -1.0)])
def test_area_and_komi(komi: float, result: float) -> None:
    game = Go(3, komi)
    over = after(game, "B2 pass pass")
    assert over.actor == TERMINAL and game.payoff(over).scale == result
    owned = game.owners(over)
    assert owned is not None and owned.sum() == 9.0


def test_captured_stones_leave_the_board() -> None:
    game = Go(5, 0.5)
    board = game.board(after(game, "A2 A1 B1"))
    assert board[0].tolist() == [0, 1, 0, 0, 0] and board[1, 0] == 1 and board.sum() == 2


def test_suicide_and_ko_are_illegal() -> None:
    game = Go(5, 0.5)
    assert 0 not in after(game, "B1 E5 A2").legal and 0 in after(game, "B1 E5 A2 E4").legal
    ko = after(game, "B1 C1 A2 D2 B3 C3 C2 B2")  # White took C2 from B2
    assert game.board(ko)[1, 2] == 0 and 1 * 5 + 2 not in ko.legal


def test_a_board_that_comes_again_is_a_draw() -> None:
    game = Go(2, 0.5)
    rng = np.random.default_rng(0)
    for _ in range(200):
        position, seen = cast(BoardPosition, game.root()), set()
        while position.actor != TERMINAL:
            board = game.board(position).tobytes()
            seen.add(board)
            stones = [a for a in position.legal.tolist() if a != 4]
            position = position.play(int(rng.choice(stones)) if stones else 4)
        passes = position.spiel.history()[-2:] == [4, 4]
        if not passes and game.board(position).tobytes() in seen and len(position.spiel.history()) < 8:
            assert game.payoff(position).scale == 0.0
            return
    raise AssertionError("no repetition in 200 games")


def test_planes() -> None:
    game = Go(5, 0.5)
    own, own_before, other, other_before, komi, black = game.features(after(game, "A1 B2 C3")).reshape(game.planes)
    assert own[1, 1] == 1 and own.sum() == own_before.sum() == 1  # White moves: its stone is B2
    assert other.sum() == 2 and other[0, 0] == other[2, 2] == 1
    assert other_before.sum() == 1 and other_before[0, 0] == 1
    assert not black.any() and (komi == np.float32(1.04)).all()
    first = game.features(game.root()).reshape(game.planes)
    assert first[5].all() and (first[4] == np.float32(0.96)).all() and not first[:4].any()


def test_the_komi_shows_from_the_movers_side_and_survives_packing() -> None:
    """Every variant's level is different, the mover's and the other's lie evenly around 1, packing keeps them."""
    seen = []
    for game in Go(7, 9.0).variants():
        shape = shape_for(game, 8, 1, "resnet")
        rows = blank_rows(shape, 2)
        for k, s in enumerate((game.root(), game.child(game.root(), 0))):
            rows.inputs[k, :-2], rows.inputs[k, -2:] = game.features(s), 1.0
        np.testing.assert_array_equal(unpack(shape, pack(shape, rows)).inputs, rows.inputs)
        black, white = rows.inputs[:, :-2].reshape(2, *game.planes)[:, 4]
        assert (black == black[0, 0]).all() and (white == white[0, 0]).all()
        assert black[0, 0] + white[0, 0] == pytest.approx(2.0)
        seen.append(float(white[0, 0]))
    assert seen == sorted(set(seen)) == pytest.approx([1 + k / 12.5 for k in np.arange(7.0, 11.5, 0.5)])


@pytest.mark.parametrize(("komi", "white"), [(1000.0, 2.0), (-1000.0, 0.0), (6.33, 1.51)])
def test_komis_beyond_what_a_plane_can_show(komi: float, white: float) -> None:
    game = Go(3, komi)
    assert game.features(after(game, "B2")).reshape(game.planes)[4, 0, 0] == np.float32(white)


def test_variants_are_of_one_family_and_fit_one_network() -> None:
    game = Go(7, 7.5)
    komis = [variant.komi for variant in game.variants()]
    assert komis == [5.5, 6.0, 6.5, 7.0, 7.5, 8.0, 8.5, 9.0, 9.5]
    assert {variant.family for variant in game.variants()} == {game.family} != {Go(9, 7.5).family}
    assert all(is_for(shape_for(game, 8, 1, "resnet"), variant) for variant in game.variants())
    assert not is_for(shape_for(game, 8, 1, "resnet"), Go(9, 7.5))


def test_a_pass_and_a_ko_show() -> None:
    """The same stones: after a pass the board before is the board; after a capture it had the stone that was taken."""
    game = Go(5, 0.5)
    own, own_before, other, other_before = game.features(after(game, "A1 pass")).reshape(game.planes)[:4]
    assert (own == own_before).all() and (other == other_before).all()
    ko = game.features(after(game, "B1 C1 A2 D2 B3 C3 C2 B2")).reshape(game.planes)
    assert ko[1, 1, 2] == 1 and ko[0, 1, 2] == 0  # Black's stone on C2 was there before


def test_every_row_of_the_largest_board() -> None:
    game = Go(19)
    board = game.board(after(game, "A1 T1 A19 T19 J10"))
    assert [(r, c) for r, c in np.argwhere(board == 1).tolist()] == [(0, 0), (9, 8), (18, 0)]
    assert [(r, c) for r, c in np.argwhere(board == 2).tolist()] == [(0, 18), (18, 18)]


@pytest.mark.parametrize("text", ["go(board_size=1)", "go(board_size=20)", "go(komi=much)", "go(komi=1e9)", "go(s=9)"])
def test_refused(text: str) -> None:
    with pytest.raises(GameError):
        make_game(text)


def test_the_interface_holds() -> None:
    assert check_game(Go(3, 0.5), 60).pairs == 60
