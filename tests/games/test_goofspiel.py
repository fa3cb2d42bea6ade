"""Goofspiel: ties, hidden bids, NATURE's split of the pairs, and slots that keep their meaning."""

from __future__ import annotations

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.checks.public_states import walk
from sog.games.rules.goofspiel import TIED, Goofspiel, GoofspielRounds


def test_nature_splits_the_pairs() -> None:
    game = Goofspiel(3, "descending")
    s = GoofspielRounds((2,), (), 2)
    assert game.actor(s) == NATURE
    fan = game.fan(s)
    assert fan.children == [GoofspielRounds((2, 1), (result,), 0) for result in (0, 1, TIED)]
    bids = [[game.infostate_name(child, 0, i) for i in range(game.num_infostates(child)[0])] for child in fan.children]
    assert bids == [["2", "3"], ["1", "2"], ["1", "2", "3"]]
    np.testing.assert_array_equal(game.weights(fan.children[0]).dense(), [[1, 0], [1, 1]])
    np.testing.assert_array_equal(game.weights(fan.children[2]).dense(), np.eye(3))


def test_bids_are_hidden_and_the_last_cards_fall_by_themselves() -> None:
    game = Goofspiel(3, "descending")
    s = game.root()
    seen = []
    while game.actor(s) != TERMINAL:
        seen.append(game.actor(s))
        s = game.fan(s).children[-1]
    assert seen == [0, 1, NATURE, 0, 1]
    assert game.state_name(s) == "3:= 2:??"


@pytest.mark.parametrize(
    ("bids", "returns_type", "utility"),
    [
        # Rounds are worth 3, 2 and 1 points.
        (((0, 2), (1, 0)), "win_loss", -1.0),  # 1:2 lost, 3:1 won, 2:3 lost
        (((0, 2), (1, 0)), "point_difference", (-3 + 2 - 1) / 2),
        (((2, 0), (2, 1)), "point_difference", (0 - 2 + 1) / 2),  # a tie discards three points
        (((1, 2), (0, 1)), "point_difference", (3 + 2 - 1) / 2),
        (((0, 1), (0, 1)), "win_loss", 0.0),
    ],
)
def test_utilities(bids: tuple[tuple[int, int], tuple[int, int]], returns_type: str, utility: float) -> None:
    game = Goofspiel(3, "descending", returns_type)
    first = (bids[0][0] > bids[1][0], bids[0][0] < bids[1][0], True).index(True)
    s = GoofspielRounds((2, 1), (first,), 2)
    names = [",".join(str(card + 1) for card in side) for side in bids]
    sizes = game.num_infostates(s)
    i0, i1 = ([game.infostate_name(s, p, i) for i in range(sizes[p])].index(names[p]) for p in (0, 1))
    assert game.weights(s).dense()[i0, i1] == 1.0
    assert game.payoff(s).dense()[i0, i1] == pytest.approx(utility)


@pytest.mark.parametrize("num_cards", [2, 3, 4])
@pytest.mark.parametrize("order", ["random", "descending", "ascending"])
def test_u_max_is_reached_in_points(num_cards: int, order: str) -> None:
    game = Goofspiel(num_cards, order, "point_difference")
    best = 0.0
    for visit in walk(game, 10_000):
        if game.actor(visit.state) == TERMINAL:
            payoff, w = game.payoff(visit.state).dense(), game.weights(visit.state).dense()
            best = max(best, float(np.max(payoff[w > 0] / w[w > 0])))
    assert best == pytest.approx(game.u_max)


def test_an_order_of_bids_keeps_its_slot() -> None:
    game = Goofspiel(4, "descending")
    slots: dict[str, int] = {}
    taken = set()
    for visit in walk(game, 10_000):
        for p in (0, 1):
            for i, slot in enumerate(game.slot(visit.state, p).tolist()):
                name = game.infostate_name(visit.state, p, i)
                assert slots.setdefault(name, slot) == slot
                taken.add(slot)
    assert taken == set(range(24)) and game.num_slots == (24, 24)


def test_point_cards_are_drawn_alike() -> None:
    game = Goofspiel(3, "random")
    fan = game.fan(game.root())
    assert [game.weights(child).dense().item() for child in fan.children] == [pytest.approx(1 / 3)] * 3
    rng = np.random.default_rng(1)
    drawn = [game.sample_chance(game.root(), 0, 0, rng)[0] for _ in range(300)]
    assert min(drawn.count(GoofspielRounds((card,), (), 0)) for card in range(3)) > 60


def test_states_with_the_same_utilities_share_a_payoff_matrix() -> None:
    game = Goofspiel(4, "random")
    one, other = GoofspielRounds((0, 1, 2), (0, 0), 2), GoofspielRounds((1, 0, 2), (0, 0), 2)
    assert game.payoff(one).operator is game.payoff(other).operator


@pytest.mark.parametrize("num_cards", [0, 1, 7])
def test_other_numbers_of_cards_are_refused(num_cards: int) -> None:
    with pytest.raises(GameError, match=f"not num_cards={num_cards}"):
        Goofspiel(num_cards)
