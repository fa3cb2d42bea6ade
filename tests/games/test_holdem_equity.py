"""Scores of hands against phevaluator's order, and win chances against counts by hand and published ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sog.games.holdem import equity, scores
from sog.games.holdem.cards import CARDS, HANDS, HIGH, LOW, disjoint_pairs, hand_number, live_hands, parse_cards
from sog.games.holdem.equity import BOARDS, against_each, against_range, preflop_signs
from sog.games.holdem.strength import ladder, showdown_signs

SPECIAL = (
    "2c3c4c5c6c",
    "AcKcQcJcTc",
    "AcAdAhAsKc",
    "2c3d4h5sAc",
    "KcKdQcQdJc",
    "2c4c6c8d9d",
    "AsKs7s7h7d",
    "5c5d5h2c2d",
)


def hand(text: str) -> int:
    return hand_number(*parse_cards(text))


def scored(board: tuple[int, ...]) -> np.ndarray:
    out = np.empty(HANDS, dtype=np.int32)
    scores.score_board(np.array(board, dtype=np.int64), out)
    return out


@pytest.mark.parametrize("text", [*SPECIAL, *(str(k) for k in range(30))])
def test_hands_are_in_phevaluators_order(text: str) -> None:
    drawn = np.random.default_rng(int(text)).choice(CARDS, 5, replace=False) if text.isdigit() else parse_cards(text)
    board = tuple(int(c) for c in drawn)
    found, places = scored(board), ladder(board).places()
    assert ((found < 0) == (places < 0)).all()
    live = places >= 0
    assert (np.unique(found[live], return_inverse=True)[1] == places[live]).all()


@pytest.mark.parametrize("text", ["2s7hTdKs5c", "3s7hTdKs", "AcAdKc"])
def test_a_hand_against_each_is_counted_over_all_boards(text: str) -> None:
    board, own = parse_cards(text), hand("9c9d")
    found = against_each(board, own)
    others = [hand(each) for each in ("AsKh", "2c2d", "9h8h", "QcQh")]
    for other in others:
        gone = {*board, *(int(side[h]) for side in (LOW, HIGH) for h in (own, other))}
        left = [c for c in range(CARDS) if c not in gone]
        more = 5 - len(board)
        boards = (
            [()] if more == 0 else [(a,) for a in left] if more == 1 else [(a, b) for a in left for b in left if a < b]
        )
        signs = [np.sign(int(s[own]) - int(s[other])) for s in (scored((*board, *cards)) for cards in boards)]
        assert found[other] == pytest.approx((1 + np.mean(signs)) / 2, abs=1e-12)
    shared = disjoint_pairs(board)[own] == 0
    assert (found[shared] == 0).all()


@pytest.mark.parametrize("text", ["", "2s7hTd", "3s7hTdKs", "2s7hTdKs5c"])
def test_a_range_is_the_sum_of_its_hands(text: str) -> None:
    board = parse_cards(text)
    weights = np.random.default_rng(1).random(HANDS) * live_hands(board)
    found = against_range(board, weights)
    for own in (hand("AcKd"), hand("4h4c")):
        apart = weights * disjoint_pairs(board)[own]
        assert found[own] == pytest.approx(apart @ against_each(board, own) / apart.sum(), abs=1e-12)
    assert (found[~live_hands(board)] == 0).all()


def test_on_a_full_board_it_is_the_showdown() -> None:
    board = parse_cards("2s2h2d7c9c")
    signs, own = showdown_signs(board), hand("AcKd")
    apart = disjoint_pairs(board)[own] > 0
    assert (against_each(board, own)[apart] == (1 + signs[own][apart]) / 2).all()


def test_the_table_before_the_flop() -> None:
    """Published figures, to their last digit; and one pair by drawn boards, within four standard errors."""
    table = preflop_signs()
    assert (table == -table.T).all()
    everyone = against_range((), np.ones(HANDS))
    assert [round(100 * everyone[hand(h)], 1) for h in ("AsAh", "AsKs", "7c2d", "3c2d")] == [85.2, 67.0, 34.6, 32.3]
    one, other = hand("JsTs"), hand("3h3d")
    rng, gone = np.random.default_rng(0), {*parse_cards("JsTs3h3d")}
    left = [c for c in range(CARDS) if c not in gone]
    drawn = [scored(tuple(int(c) for c in rng.choice(left, 5, replace=False))) for _ in range(2000)]
    signs = np.array([np.sign(int(s[one]) - int(s[other])) for s in drawn])
    assert abs(signs.mean() - table[one, other] / BOARDS) < 4 * signs.std() / len(signs) ** 0.5


def test_the_table_is_kept_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(equity, "_table", [])
    counted = np.zeros((HANDS, HANDS), dtype=np.int32)
    monkeypatch.setattr(equity, "_counted", lambda report: counted)
    assert preflop_signs() is counted
    monkeypatch.setattr(equity, "_counted", None)
    equity._table.clear()
    assert (preflop_signs() == counted).all()
    (kept,) = (tmp_path / "sog").iterdir()
    kept.write_bytes(kept.read_bytes()[:100])
    equity._table.clear()
    monkeypatch.setattr(equity, "_counted", lambda report: counted + 1)
    assert (preflop_signs() == counted + 1).all()
