"""Turn endgame hold'em in the laboratory: leaves by equity, the anchors, ReBeL's Fig. 5, each on a small game."""

from __future__ import annotations

import numpy as np
import pytest

from sog.games.holdem.cards import disjoint_mass, disjoint_pairs, live_hands
from sog.games.holdem.strength import showdown_signs
from sog.measure.endgame import turn_tree
from sog.play.turn_chain import public_state
from sog.searches.leaves.evaluator import Beliefs
from soglab.papers import rebel_endgame, rebel_fig5_teh, teh_anchors
from soglab.papers.teh import ENDGAME, SMALL_ENDGAME, CheckedDown, turn_game
from soglab.study import Options, StudyPoint


def test_the_game_is_the_one_that_full_game_cfr_is_measured_on() -> None:
    assert ENDGAME == rebel_endgame.ENDGAME


def test_equity_by_arithmetic() -> None:
    """A leaf's values: chips times what the hand wins less what it loses over all river cards, by plain matrices."""
    game = turn_game(SMALL_ENDGAME)
    public, evaluator = turn_tree(game), CheckedDown(game)
    node = next(n for n in range(public.size) if public_state(public, n) == evaluator.states[0])
    board = game.spot.board
    rng = np.random.default_rng(0)
    zero, one = (rng.random(1326) * live_hands(board) for _ in range(2))
    ranges = public.ranges_by_slot(node, (zero, one))
    (found,) = evaluator([Beliefs(public, np.array([node], dtype=np.int32), ranges[None])])
    won, apart = np.zeros(1326), disjoint_pairs(board)
    for card in (c for c in range(52) if c not in board):
        signs = showdown_signs((*board, card))
        won += (signs * apart) @ one / 44
    chips = game.spot.pot / 2 + evaluator.states[0].betting.matched
    expected = chips * won / np.maximum(disjoint_mass(one), 1e-300) * live_hands(board)
    assert found.values[0, public.places_of(node, 0)] == pytest.approx(expected, abs=0.01)


def test_anchors_in_order() -> None:
    """The better the leaves, the better the turn: worth nothing, worth their equity, solved."""
    points = [StudyPoint(key, teh_anchors.compute(key)) for key in teh_anchors.plan(Options(quick=True), print)]
    zero, equity, solved, cfr = (p.result["safe"]["exploitability"] for p in points)
    assert zero > 3 * equity > 9 * solved and solved < 0.01 * 2000 and cfr < equity
    assert points[2].result["own"]["exploitability"] < solved
    outcome = teh_anchors.present(points)
    assert len(outcome.rows) == 10 and "(its own)" in outcome.beside[2].ours


def test_fig_5s_solvers_on_the_turn() -> None:
    """CFR-D, CFR-AVE and fictitious play improve within eight iterations."""
    points = [StudyPoint(key, rebel_fig5_teh.compute(key)) for key in rebel_fig5_teh.plan(Options(quick=True), print)]
    curves = {p.key["solver"]: p.curve() for p in points}
    assert all(list(curve) == [1, 2, 4, 8] and min(curve.values()) > 0 for curve in curves.values())
    assert all(curves[name][8] < curves[name][1] / 2 for name in ("cfr-d", "cfr-ave", "fp"))
    assert rebel_fig5_teh.present(points).beside[0].what.startswith("cfr-d")
