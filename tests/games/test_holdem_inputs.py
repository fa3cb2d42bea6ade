"""What networks see of hold'em: the same whichever suits there are, and each hand by its strength."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import torch

from sog.games.catalog import make_game
from sog.games.holdem.cards import HANDS, live_hands, parse_cards, permuted_hands
from sog.games.holdem.equity import against_range
from sog.games.holdem.game import Holdem
from sog.games.holdem.inputs import slots
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.shape import shape_for
from sog.searches.leaves.evaluator import Beliefs
from sog.searches.tree.public_tree import PublicTree

FAMILY = "holdem(board=turn,pot=2000,stacks=5000:50000,bets=0.5;1;allin,raises=0.75;allin,noise=0.1)"


def permuted(board: tuple[int, ...], suits: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(4 * (card // 4) + suits[card % 4] for card in board)


def game_at(board: str, more: str = "") -> Holdem:
    at = f"board={board}," if board else ""
    game = make_game(f"holdem({at}pot=1000,stacks=3000,bets=0.5;allin{more})")
    assert isinstance(game, Holdem)
    return game


@pytest.mark.parametrize("text", ["3s7hTdKs", "2s2h7s9c", "AhKhQhJh", "2s7sTdKs3c", "4c4d4h9s9c"])
def test_an_exchange_of_suits_changes_nothing(text: str) -> None:
    """Features are equal, and so is the strength in each slot; where the board tells all suits apart, the hands too."""
    board = parse_cards(text)
    place, strength = slots("strength", board), against_range(board, np.ones(HANDS))
    for suits in permutations(range(4)):
        other = permuted(board, suits)
        names = ["".join("23456789TJQKA"[c // 4] + "cdhs"[c % 4] for c in cards) for cards in (board, other)]
        games = [game_at(name) for name in names]
        np.testing.assert_array_equal(*(game.features(game.root()) for game in games))
        moved, elsewhere = permuted_hands(suits), slots("strength", other)
        by_slot = [np.empty(HANDS), np.empty(HANDS)]
        by_slot[0][place], by_slot[1][elsewhere] = strength, against_range(other, np.ones(HANDS))
        np.testing.assert_allclose(*by_slot, atol=1e-9)
        told_apart = len({tuple(c // 4 for c in board if c % 4 == suit) for suit in range(4)}) == 4
        if told_apart:
            np.testing.assert_array_equal(elsewhere[moved], place)


def test_slots_are_by_strength_with_dead_hands_last() -> None:
    board = parse_cards("3s7hTdKs")
    place, strength, live = slots("strength", board), against_range(board, np.ones(HANDS)), live_hands(board)
    ordered = np.empty(HANDS)
    ordered[place] = strength
    assert sorted(place.tolist()) == list(range(HANDS)) and (np.diff(ordered) <= 1e-9).all()
    assert place[live].max() == live.sum() - 1
    np.testing.assert_array_equal(slots("paper", board), np.arange(HANDS))


def test_hands_are_drawn_from_the_family() -> None:
    """The name is the family's; what is drawn has a name of its own, the same sizes for a network, and its features."""
    family, rng = make_game(FAMILY), np.random.default_rng(0)
    assert family.draws and make_game(family.name).name == family.name and "board=turn" in family.name
    drawn = [family.drawn(rng) for _ in range(20)]
    for game in drawn:
        assert isinstance(game, Holdem) and not game.draws and game.family == family.family
        assert (game.num_features, game.num_actions) == (family.num_features, family.num_actions)
        assert len(game.spot.board) == 4 and 5000 <= game.spot.stacks[0] <= 50_000
        assert make_game(game.name).name == game.name
    assert len({game.name for game in drawn}) == 20
    seen = {game.features(game.root()).tobytes() for game in drawn}
    assert len(seen) == 20


def test_one_member_stays_itself() -> None:
    game = game_at("3s7hTdKs")
    assert not game.draws and game.drawn(np.random.default_rng(0)) is game


@pytest.mark.parametrize("text", ["", "3s7hTd", "3s7hTdKs", "3s7hTdKs2c"])
def test_the_baseline_is_what_hands_win_checked_down(text: str) -> None:
    """By slot, in halves of the pot: twice the win chance less one, against either player's range."""
    game, rng = game_at(text), np.random.default_rng(0)
    place, live = slots("strength", game.spot.board), live_hands(game.spot.board)
    weights = rng.random((2, HANDS)) * live
    ranges = np.zeros((1, 2 * HANDS))
    ranges[0, place], ranges[0, HANDS + place] = weights
    found = game.baseline([game.root()], ranges)
    assert found is not None
    for p in (0, 1):
        expected = 2.0 * against_range(game.spot.board, weights[1 - p]) - 1.0
        np.testing.assert_allclose(found[0, p * HANDS + place][live], expected[live], atol=1e-5)
    assert not game_at(text, ",inputs=paper").has_baseline


def test_a_networks_values_are_added_to_the_baseline() -> None:
    """A network that answers 0 everywhere says what checking down wins, in chips."""
    game = game_at("3s7hTdKs")
    network = CVPN(shape_for(game, 8, 1))
    with torch.no_grad():
        for weight in network.parameters():
            weight.zero_()
    public = PublicTree(game)
    ranges = public.ranges_by_slot(0, game.root_ranges())[None, :]
    (answer,) = network_evaluator(network)([Beliefs(public, np.zeros(1, dtype=np.int32), ranges)])
    expected = game.baseline([game.root()], ranges)
    assert expected is not None
    np.testing.assert_allclose(answer.values, expected * game.value_unit(game.root()))
    assert np.abs(answer.values).max() > 100.0
