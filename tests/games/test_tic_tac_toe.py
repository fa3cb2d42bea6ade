"""Tic-tac-toe: perfect play draws, and lines end the game."""

from __future__ import annotations

import pytest

from sog.games.base import TERMINAL, State
from sog.games.boards.tic_tac_toe import TicTacToe


def minimax(game: TicTacToe, s: State, known: dict[bytes, float]) -> float:
    """Player 0's value under perfect play; boards reached in another order are looked up."""
    key = game.features(s).tobytes()
    if key not in known:
        if game.actor(s) == TERMINAL:
            known[key] = float(game.payoff(s).dense()[0, 0])
        else:
            best = max if game.actor(s) == 0 else min
            known[key] = best(minimax(game, child, known) for child in game.fan(s).children)
    return known[key]


def test_perfect_play_draws() -> None:
    known: dict[bytes, float] = {}
    assert minimax(TicTacToe(), (), known) == 0.0
    assert len(known) == 5478  # every board that play can reach


@pytest.mark.parametrize(
    ("squares", "utility"),
    [
        ((0, 3, 1, 4, 2), 1.0),
        ((0, 3, 1, 4, 8, 5), -1.0),
        ((0, 1, 4, 2, 8), 1.0),
        ((2, 0, 4, 1, 6), 1.0),
        ((0, 1, 2, 4, 3, 5, 7, 6, 8), 0.0),
    ],
)
def test_ends(squares: tuple[int, ...], utility: float) -> None:
    game = TicTacToe()
    assert game.actor(squares) == TERMINAL
    assert game.actor(squares[:-1]) == (len(squares) - 1) % 2
    assert game.payoff(squares).dense()[0, 0] == utility


def test_features_show_the_board_and_the_turn() -> None:
    game = TicTacToe()
    for s, shown in (((), [18]), ((4,), [4, 19]), ((4, 0), [4, 9, 18])):
        assert game.features(s).nonzero()[0].tolist() == shown


def test_words() -> None:
    game = TicTacToe()
    assert game.state_name((4, 0)) == "o../.x./..."
    assert [game.action_name((), a) for a in (0, 4, 8)] == ["a3", "b2", "c1"]
