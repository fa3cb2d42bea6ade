"""Connect four's exact solver against plain minimax, mirrors and OpenSpiel's rules."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sog.cli.app import main
from sog.errors import GameError
from sog.opponents.connect_four.alpha_beta import begin, new_stack, search
from sog.opponents.connect_four.bitboards import mirrored
from sog.opponents.connect_four.solver import Board, ConnectFourSolver, GivenUp, plies_to_end, value_of

SOLVER = ConnectFourSolver(bits=16)
CELLS = 42


@cache
def minimax(board: Board) -> int:
    """The score by the definition alone: 22 less the winner's stones at the end, for the player to move."""
    found = []
    for column in board.columns():
        after = board.play(column)
        if not after.over:
            found.append(-minimax(after))
        elif board.wins_with(column):
            found.append(22 - (after.stones + 1) // 2)
        else:
            found.append(0)
    return max(found)


def played(seed: int, stones: int) -> Board:
    """A board that random moves lead to: with so many stones, or as it stands where every move would end the game."""
    rng, board = np.random.default_rng(seed), Board()
    while board.stones < stones:
        going = [after for column in board.columns() if not (after := board.play(column)).over]
        if not going:
            break
        board = going[int(rng.integers(len(going)))]
    return board


@settings(deadline=None, max_examples=150)
@given(seed=st.integers(0, 2**32), stones=st.integers(30, 41))
def test_scores_are_minimax_of_the_rest_of_the_game(seed: int, stones: int) -> None:
    board = played(seed, stones)
    assert SOLVER.score(board) == minimax(board)
    scores = SOLVER.scores(board)
    assert list(scores) == board.columns() and max(scores.values()) == minimax(board)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32), stones=st.integers(20, 36))
def test_mirrors_score_alike(seed: int, stones: int) -> None:
    board = played(seed, stones)
    seen = Board(*mirrored(board.own, board.mask))
    assert Board(*mirrored(seen.own, seen.mask)) == board
    assert {6 - column: score for column, score in SOLVER.scores(seen).items()} == SOLVER.scores(board)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32), stones=st.integers(24, 34))
def test_best_play_ends_when_the_score_says(seed: int, stones: int) -> None:
    """Both sides follow best moves to the end under OpenSpiel's rules."""
    rng, state, moves = np.random.default_rng(seed), pyspiel.load_game("connect_four").new_initial_state(), list[int]()
    while len(moves) < stones:
        going = [action for action in state.legal_actions() if not state.child(action).is_terminal()]
        if not going:
            break
        moves.append(int(rng.choice(going)))
        state.apply_action(moves[-1])
    stones = len(moves)
    score = SOLVER.score(Board.after(moves))
    left, mover = plies_to_end(Board.after(moves), score), state.current_player()
    while not state.is_terminal():
        scores = SOLVER.scores(Board.after(moves))
        moves.append(max(scores, key=scores.__getitem__))
        state.apply_action(moves[-1])
    assert len(moves) - stones == left and state.player_return(mover) == value_of(score)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32), stones=st.integers(20, 34), plies=st.integers(1, 20))
def test_whether_a_game_ends_soon_agrees_with_its_score(seed: int, stones: int, plies: int) -> None:
    board = played(seed, stones)
    score = SOLVER.score(board)
    soon = score != 0 and plies_to_end(board, score) <= plies
    assert SOLVER.ends_within(board, plies) == (soon or stones + plies > CELLS)


def test_boards_are_openspiels() -> None:
    """Legal columns and ends of 200 random games, position by position."""
    for seed in range(200):
        rng, state, board = np.random.default_rng(seed), pyspiel.load_game("connect_four").new_initial_state(), Board()
        while not state.is_terminal():
            assert board.columns() == state.legal_actions() and not board.over
            column = int(rng.choice(board.columns()))
            won = board.wins_with(column)
            mover = state.current_player()
            state.apply_action(column)
            board = board.play(column)
            assert won == (state.is_terminal() and state.player_return(mover) > 0)
        assert board.over and board.columns() == []


def test_a_search_that_stops_goes_on_to_the_same_score() -> None:
    board = played(3, 18)
    assert not board.wins_at_once()
    whole, bits = ConnectFourSolver(bits=16), 16
    whole._bounded(board, 0, None)
    stack, table = new_stack(), np.zeros(1 << bits, dtype=np.int64)
    begin(stack, board.own, board.mask, 0, 1)
    calls = 1
    while not search(stack, table, bits, 50):
        calls += 1
    assert calls > 10 and (stack[-1, 1], stack[-1, 2]) == (whole._stack[-1, 1], whole.nodes)


def test_the_size_of_the_table_does_not_change_scores() -> None:
    board = played(11, 20)
    assert ConnectFourSolver(bits=4).scores(board) == ConnectFourSolver(bits=18).scores(board)


def test_a_search_can_be_given_up() -> None:
    with pytest.raises(GivenUp):
        ConnectFourSolver(bits=16).score(Board(), lambda searched: searched > 0)


def test_illegal_moves_are_refused() -> None:
    for moves in ([7], [0] * 7, [0, 1, 0, 1, 0, 1, 0, 1]):
        with pytest.raises(GameError):
            Board.after(moves)


LATE = "75356662152656336435"  # 20 stones


def test_solve_says_values_best_moves_and_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", f"connect_four(moves={LATE})", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    board = Board.after([int(letter) - 1 for letter in LATE])
    scores = SOLVER.scores(board)
    assert {move["column"] - 1: move["score"] for move in said["moves"]} == scores
    assert said["score"] == max(scores.values()) and said["value"] == value_of(said["score"])  # player 0 moves
    assert said["best"] == [column + 1 for column, score in scores.items() if score == said["score"]]
    assert said["plies_to_end"] == plies_to_end(board, said["score"])
    assert main(["solve", f"connect_four(moves={LATE})"]) == 0
    assert f"in {said['plies_to_end']} moves" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["connect_four(moves=48)"], "move 2"),
        (["connect_four(moves=4444444)"], "move 7"),
        (["connect_four(moves=1212121)"], "ends the game"),
        (["connect_four(moves=a)"], "move 1"),
        (["connect_four(moves=44)", "--algorithm", "cfr"], "--algorithm"),
    ],
)
def test_solve_refuses_in_one_line(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", *words]) == 2
    assert says in capsys.readouterr().err


def test_hours_are_refused_with_an_estimate(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sog.cli.connect_four._LOOK_SECONDS", 0.0)
    assert main(["solve", "connect_four"]) == 2
    assert "hours" in capsys.readouterr().err
