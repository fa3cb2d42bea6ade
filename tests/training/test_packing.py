"""Packed rows come back as they were, to what is promised, and a window of them goes on identically."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from sog.errors import CheckpointError, GameError
from sog.games.boards.positions import BoardPosition
from sog.games.catalog import make_game
from sog.nets.shape import NetworkShape, shape_for
from sog.training.packing import pack, unpack, window_for
from sog.training.replay import Rows, blank_rows


def random_rows(name: str, count: int, seed: int = 0) -> tuple[NetworkShape, Rows]:
    """Rows of the positions of random games with random targets."""
    game, rng = make_game(name), np.random.default_rng(seed)
    shape = shape_for(game, 8, 1, "resnet")
    rows = blank_rows(shape, count)
    position = cast(BoardPosition, game.root())
    for k in range(count):
        rows.inputs[k, :-2], rows.inputs[k, -2:] = game.features(position), 1.0
        rows.legal[k, 0, position.legal] = True
        rows.policies[k, 0, position.legal] = rng.dirichlet(np.full(len(position.legal), 0.3))
        after = position.play(int(rng.choice(position.legal)))
        position = cast(BoardPosition, game.root()) if not len(after.legal) else after
    rows.values[:], rows.value_mask[:] = rng.uniform(-1, 1, (count, 2)), rng.random((count, 2)) < 0.5
    rows.policy_mask[:] = rng.random((count, 1)) < 0.5
    return shape, rows


@pytest.mark.parametrize("name", ["chess", "go(board_size=19)", "connect_four"])
def test_rows_come_back(name: str) -> None:
    shape, rows = random_rows(name, 40)
    again = unpack(shape, pack(shape, rows))
    for column in ("inputs", "values", "value_mask", "policy_mask", "legal"):
        np.testing.assert_array_equal(getattr(again, column), getattr(rows, column))
    np.testing.assert_allclose(again.policies, rows.policies, atol=1e-4)
    np.testing.assert_allclose(again.policies.sum(axis=2), 1.0, atol=1e-6)


@pytest.mark.parametrize("value", [0.004, -1.0, 0.5])
def test_what_would_come_back_as_something_else_is_refused(value: float) -> None:
    """Planes too faint, negative or of several values; more legal actions than there is room for."""
    shape, rows = random_rows("connect_four", 3)
    rows.inputs[1, :42] = 1.0 if value == 0.5 else 0.0
    rows.inputs[1, 5] = value
    with pytest.raises(GameError, match="a plane"):
        pack(shape, rows)
    wide, many = random_rows("chess", 2)
    many.legal[1, 0, :300] = True
    with pytest.raises(GameError, match="at most 256 are legal"):
        pack(wide, many)


def test_a_chess_row_is_small() -> None:
    shape, rows = random_rows("chess", 3)
    packed = pack(shape, rows)
    assert sum(column[0].nbytes for column in packed.columns().values()) < 2_200


def test_a_restored_window_goes_on_identically() -> None:
    shape, rows = random_rows("connect_four", 9)
    window, restored = window_for(shape, 7), window_for(shape, 7)
    window.add(rows)
    restored.restore(window.state())
    first, second = (w.sample(np.random.default_rng(1), 20) for w in (window, restored))
    for name, column in first.columns().items():
        np.testing.assert_array_equal(column, second.columns()[name])
    assert restored.added == window.added == 9 and len(restored) == 7


@pytest.mark.parametrize("spoil", ["bits", "legal", "added"])
def test_damaged_rows_are_refused(spoil: str) -> None:
    shape, rows = random_rows("connect_four", 3)
    window = window_for(shape, 7)
    window.add(rows)
    state = window.state()
    state[spoil] = np.zeros(5, dtype=np.uint8)
    with pytest.raises(CheckpointError):
        window_for(shape, 7).restore(state)
