"""Packed rows come back as they were, to what is promised, in every game; what would not is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.errors import CheckpointError, GameError
from sog.games.boards.positions import BoardPosition
from sog.games.catalog import make_game
from sog.nets.shape import NetworkShape, shape_for
from sog.training.packing import PackedRows, join_packed, pack, pack_all, unpack
from sog.training.rows import Rows, blank_rows

EXACT = ("value_mask", "policy_mask", "owners", "owners_mask")


def board_rows(name: str, count: int, seed: int = 0) -> tuple[NetworkShape, Rows]:
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


def belief_rows(shape: NetworkShape, count: int, rng: np.random.Generator, own_actions: bool = True) -> Rows:
    """Rows with random beliefs, masks and policies of infostates, some of them impossible.

    own_actions: each infostate has legal actions of its own.
    """
    rows, slots, features = blank_rows(shape, count), shape.num_values, shape.features
    ranges = rng.random((count, slots)) * (rng.random((count, slots)) < 0.6)
    rows.inputs[:, :features] = rng.choice([0.0, 0.0, 1.0, 0.3, -7.25], (count, features))
    rows.inputs[:, features : features + slots] = ranges
    for k, column in enumerate(shape.crossed, 1):
        start = features + k * slots
        rows.inputs[:, start : start + slots] = ranges * rows.inputs[:, column : column + 1]
    sides = rows.inputs[:, shape.seen :]
    sides[:] = rng.random(sides.shape)
    rows.value_mask[:] = rng.random((count, slots)) < 0.5
    rows.values[:] = rng.normal(0.0, 3.0, (count, slots)) * rows.value_mask
    rows.policy_mask[:] = rng.random(rows.policy_mask.shape) < 0.5
    rows.legal[:] = rng.random(rows.legal.shape if own_actions else (count, 1, shape.actions)) < 0.6
    rows.legal[:, :, 0] = True
    policies = (rng.random(rows.policies.shape) ** 4 + 1e-9) * rows.legal
    rows.policies[:] = policies / policies.sum(axis=2, keepdims=True)
    return rows


def assert_alike(rows: Rows, again: Rows, share: float) -> None:
    """Equal where exactness is promised, within rounding elsewhere."""
    for name in EXACT:
        np.testing.assert_array_equal(getattr(again, name), getattr(rows, name))
    np.testing.assert_allclose(again.inputs, rows.inputs, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(again.values, rows.values * rows.value_mask, rtol=5e-4, atol=1e-6)
    trained = rows.policy_mask > 0
    np.testing.assert_array_equal(again.legal[trained], rows.legal[trained])
    assert np.abs(again.policies[trained] - rows.policies[trained]).max(initial=0.0) <= share
    np.testing.assert_allclose(again.policies[trained].sum(axis=1), 1.0, atol=1e-5)
    assert not again.policies[~trained].any()


@pytest.mark.parametrize("name", ["chess", "go(board_size=19)", "connect_four"])
def test_rows_of_boards_come_back(name: str) -> None:
    shape, rows = board_rows(name, 70)
    again = unpack(shape, pack(shape, rows))
    np.testing.assert_array_equal(again.inputs, rows.inputs)
    assert_alike(rows, again, 1 / 65_535 + 1e-6)


@given(
    st.integers(0, 20), st.tuples(st.integers(1, 9), st.integers(1, 20)), st.integers(1, 40), st.integers(1, 3),
    st.booleans(), st.booleans(), st.booleans(), st.integers(0, 99),
)  # fmt: skip
def test_rows_of_beliefs_come_back(
    features: int, slots: tuple[int, int], actions: int, count: int, own: bool, apart: bool, matchups: bool, seed: int
) -> None:
    crossed = (0,) if features else ()
    shape = NetworkShape(features, slots, actions, crossed=crossed, matchups=matchups, policies_apart=apart)
    rows = belief_rows(shape, count, np.random.default_rng(seed), own)
    assert_alike(rows, unpack(shape, pack(shape, rows)), 1 / 65_535 + 1e-6)


def test_rows_of_many_slots_keep_shares_to_a_byte() -> None:
    shape = NetworkShape(2, (80, 80), 3)
    rows = belief_rows(shape, 5, np.random.default_rng(1))
    assert_alike(rows, unpack(shape, pack(shape, rows)), 1 / 255 + 1e-6)


@pytest.mark.parametrize(("slots", "whole"), [((3, 3), 65_535), ((80, 80), 255)])
def test_shares_are_rounded_and_not_cut(slots: tuple[int, int], whole: int) -> None:
    """Sums up to an action are within half of the smallest share, as often above as below, so that none gains."""
    shape = NetworkShape(2, slots, 5)
    rows = belief_rows(shape, 40, np.random.default_rng(1))
    again = unpack(shape, pack(shape, rows))
    moved = (np.cumsum(again.policies - rows.policies, axis=2) * whole)[rows.policy_mask > 0]
    assert np.abs(moved).max() < 0.51
    assert abs(np.sign(moved[np.abs(moved) > 0.02]).mean()) < 0.2


def test_rows_that_were_written_with_a_byte_a_share_are_read() -> None:
    """Until 29 November 2026 all rows had them. Two slots have the same legal actions, then each its own."""
    first = "00000000000f0f0038003e003c003c0034003400340034010303000000010002004080" + "4080" + "00"
    second = "00000000000f0f0038003e003c003c00340034003400340203020000000200bf0300000001000200408000"
    content = np.frombuffer(bytes.fromhex(first + second), dtype=np.uint8)
    rows = unpack(NetworkShape(1, (2, 2), 3), PackedRows(content, np.array([38, 81])))
    wanted = np.array([[[0.25, 0.25, 0.5], [0.25, 0.25, 0.5]], [[0.75, 0.0, 0.25], [0.25, 0.25, 0.5]]])
    np.testing.assert_allclose(rows.policies, wanted, atol=1 / 255)
    np.testing.assert_array_equal(rows.legal[1], [[True, False, True], [True, True, True]])


def test_features_come_back_exactly() -> None:
    shape = NetworkShape(9, (3, 2), 4)
    rows = belief_rows(shape, 20, np.random.default_rng(1))
    np.testing.assert_array_equal(unpack(shape, pack(shape, rows)).inputs[:, :9], rows.inputs[:, :9])


def test_a_hand_of_many_actions_keeps_small_shares() -> None:
    """Above 16 legal actions a share is kept to 1 / 65,535; an action that is never played stays at 0."""
    shape = NetworkShape(1, (1, 1), 300)
    rows = blank_rows(shape, 1)
    rows.inputs[:, -2:], rows.policy_mask[:], rows.legal[:] = 1.0, 1.0, True
    rows.policies[0, 0, :200] = 1.0 / 200.0
    again = unpack(shape, pack(shape, rows))
    assert np.abs(again.policies - rows.policies).max() < 1 / 65_535
    assert not again.policies[0, 0, 200:].any()


def test_owners_come_back() -> None:
    shape = replace(board_rows("go(board_size=9)", 1)[0], ownership=True)
    rows = blank_rows(shape, 3)
    rows.owners[1], rows.owners_mask[1] = np.arange(81) % 3 - 1, 1.0
    again = unpack(shape, pack(shape, rows))
    np.testing.assert_array_equal(again.owners, rows.owners)
    np.testing.assert_array_equal(again.owners_mask, rows.owners_mask)


@pytest.mark.parametrize("name", ["inputs", "values", "policies"])
def test_a_nan_is_refused(name: str) -> None:
    shape = NetworkShape(3, (2, 2), 3)
    rows = belief_rows(shape, 2, np.random.default_rng(0))
    rows.policy_mask[:] = rows.value_mask[:] = 1.0
    getattr(rows, name)[1, 0] = np.nan
    with pytest.raises(GameError, match=r"NaN|distribution"):
        pack(shape, rows)


def test_what_would_come_back_as_something_else_is_refused() -> None:
    """A plane of two values; a mask between 0 and 1; a policy without an action; a value above float16's largest."""
    shape, rows = board_rows("connect_four", 3)
    rows.inputs[1, :42], rows.inputs[1, 5] = 1.0, 0.5
    with pytest.raises(GameError, match="a plane"):
        pack(shape, rows)
    shape = NetworkShape(3, (2, 2), 3)
    for name, value, match in (("value_mask", 0.5, "mask"), ("policy_mask", 2.0, "mask"), ("values", 1e5, "65,504")):
        rows = belief_rows(shape, 2, np.random.default_rng(0))
        getattr(rows, name)[1, 1] = value
        with pytest.raises(GameError, match=match):
            pack(shape, rows)
    rows = belief_rows(shape, 1, np.random.default_rng(0))
    rows.policy_mask[:], rows.legal[:] = 1.0, False
    with pytest.raises(GameError, match="legal action"):
        pack(shape, rows)


@pytest.mark.parametrize(
    ("features", "slots", "actions", "possible", "legal", "most"),
    [
        (57, (1326, 1326), 9, 1326, 4, (12_000, 16_000)),  # hold'em before the flop
        (57, (1326, 1326), 9, 1128, 6, (12_000, 16_000)),  # on the turn
        (1224, (199, 1), 475, 30, 10, (5_000, 5_000)),  # London, where Mr X may be at 30 stations
    ],
)
def test_rows_of_the_largest_games_are_small(
    features: int, slots: tuple[int, int], actions: int, possible: int, legal: int, most: tuple[int, int]
) -> None:
    shape = NetworkShape(features, slots, actions)
    rows = blank_rows(shape, 1)
    rows.inputs[:, : min(features, 40)] = 0.3
    for first, count in ((0, slots[0]), (slots[0], slots[1])):
        rows.inputs[:, features + first : features + first + min(possible, count)] = 1.0
    rows.value_mask[:] = rows.inputs[:, features:] > 0
    assert len(pack(shape, rows).content) <= most[0]
    rows.policy_mask[:, :possible], rows.legal[:, :possible, :legal] = 1.0, True
    rows.policies[:, :possible, :legal] = 1.0 / legal
    assert len(pack(shape, rows).content) <= most[1]


def test_a_chess_row_is_small() -> None:
    shape, rows = board_rows("chess", 3)
    assert len(pack(shape, rows).content) < 3 * 1_200


def test_joined_rows_are_those_of_their_parts() -> None:
    shape = NetworkShape(3, (2, 2), 3)
    rows = belief_rows(shape, 150, np.random.default_rng(2))
    whole, parts = pack(shape, rows), pack_all(shape, (rows.take(slice(k, k + 1)) for k in range(150)))
    np.testing.assert_array_equal(whole.content, parts.content)
    np.testing.assert_array_equal(whole.ends, parts.ends)
    assert len(join_packed([])) == len(pack(shape, rows.take(slice(0)))) == 0
    assert whole.row(7).tobytes() == pack(shape, rows.take(slice(7, 8))).content.tobytes()


@given(st.data())
def test_damaged_bytes_are_refused_or_read_as_rows(data: st.DataObject) -> None:
    """Whatever the bytes are, reading neither crashes nor writes outside the rows."""
    shape = NetworkShape(5, (3, 4), 6, policies_apart=True)
    rows = belief_rows(shape, 2, np.random.default_rng(3))
    packed = pack(shape, rows)
    content = packed.content.copy()
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    ends = np.minimum(packed.ends, cut)
    try:
        again = unpack(shape, PackedRows(content[:cut], ends))
    except CheckpointError:
        return
    assert again.legal.shape == rows.legal.shape


def test_rows_of_another_network_are_refused() -> None:
    shape = NetworkShape(5, (3, 4), 6)
    packed = pack(shape, belief_rows(shape, 3, np.random.default_rng(3)))
    with pytest.raises(CheckpointError):
        unpack(NetworkShape(5, (30, 40), 6), packed)
