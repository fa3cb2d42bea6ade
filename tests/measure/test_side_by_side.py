"""Games side by side: results for both seats, openings, players with networks of their own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sog.algorithms.alphazero.player import AlphaZeroPlayer
from sog.algorithms.student.player import SogPlayer
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.opponents.random_player import RandomPlayer
from sog.play.move_tree import MoveTree
from sog.play.player import Player
from sog.play.side_by_side import Seating, openings, play_games
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import Beliefs, Evaluations, zero_answer, zero_evaluator

GAME = make_game("tic_tac_toe")


def alphazero(simulations: int = 200) -> Player:
    return AlphaZeroPlayer("alphazero", zero_evaluator, simulations)


def sog() -> Player:
    return SogPlayer("sog", zero_evaluator, Budget(50, 1.0))


def test_results_are_player_0s() -> None:
    about_to_win = (0, 3, 1, 4)  # x is to move and wins with 2
    assert play_games(GAME, [Seating((alphazero, RandomPlayer), about_to_win)]) == [1.0]
    about_to_win = (0, 3, 1, 4, 8)  # o is to move and wins with 5
    assert play_games(GAME, [Seating((RandomPlayer, alphazero), about_to_win)]) == [-1.0]
    assert play_games(GAME, [Seating((alphazero, sog), (0, 4, 8, 1, 7, 6, 2, 5))]) == [0.0]


@pytest.mark.parametrize("width", [1, 7])
def test_games_do_not_depend_on_each_other(width: int) -> None:
    seatings = [Seating((alphazero, sog), opening) for opening in openings(GAME, 7, 2, 0)]
    alone = [play_games(GAME, [seating])[0] for seating in seatings]
    assert play_games(GAME, seatings, width) == alone


def test_each_player_asks_its_own_network() -> None:
    class Named:
        """Zero answers, and how often it was called and asked."""

        def __init__(self) -> None:
            self.calls, self.asked = 0, 0

        def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
            self.calls += 1
            self.asked += sum(len(beliefs.nodes) for beliefs in requests)
            return [zero_answer(beliefs) for beliefs in requests]

    small, large = Named(), Named()
    players = (lambda: AlphaZeroPlayer("s", small, 5), lambda: AlphaZeroPlayer("l", large, 50))
    play_games(GAME, [Seating(players)] * 6)
    assert 0 < small.asked < large.asked
    assert small.calls < small.asked and large.calls < large.asked  # games at once share calls


def test_a_game_cut_short_is_a_draw() -> None:
    assert play_games(GAME, [Seating((alphazero, RandomPlayer))], moves_max=4) == [0.0]


def test_openings_are_different_open_and_the_same_for_a_seed() -> None:
    found = openings(GAME, 30, 3, 5)
    assert len(set(found)) == 30 and found == openings(GAME, 30, 3, 5) != openings(GAME, 30, 3, 6)
    tree = MoveTree(GAME)
    for moves in openings(GAME, 50, 7, 0):
        assert len(moves) == 7 and tree.result(tree.node_after(moves)) is None


def test_too_many_openings_are_refused() -> None:
    with pytest.raises(SettingError, match="fewer than 10 openings"):
        openings(GAME, 10, 1, 0)
