"""`sog play`: games with a board, from the first question to the result."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from sog.cli import play
from sog.cli.app import main
from sog.cli.play_board import play_board
from sog.games.base import TERMINAL, Scaled, State
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.catalog import make_game
from sog.games.rules.kuhn import Kuhn
from sog.opponents.random_player import RandomPlayer

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes `input` give these answers, then end."""

    def tell(*answers: str) -> None:
        rest: Iterator[str] = iter(answers)

        def read(question: str) -> str:
            try:
                return next(rest)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr(builtins, "input", read)

    return tell


def test_hands_are_summed_in_chips_and_their_mean_is_in_the_games_unit(
    told: Callable[..., None], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two chips won and one lost are half a chip a hand, which is 500 mbb/h."""
    won = iter((2.0, -1.0))
    monkeypatch.setattr(play, "_hand", lambda agent, listed, person, rng: next(won))
    assert main(["play", "leduc_poker", "--hands", "2"]) == 0
    out = capsys.readouterr().out
    assert "You win 2 chips; +2 chips after 1 hand, +2000 mbb/h a hand." in out
    assert "You lose 1 chip; +1 chip after 2 hands, +500 mbb/h a hand." in out


def test_a_game_on_a_board_goes_on_to_its_end(told: Callable[..., None], capsys: Capture) -> None:
    """Whoever names every square, taken or not, gets each free one in turn; the shipped agent does not lose."""
    squares = [f"{column}{row}" for column in "abc" for row in "321"]
    told(*squares)
    assert main(["play", "tic_tac_toe", "--seat", "0", "--hands", "1", "--seed", "0"]) == 0
    out = capsys.readouterr().out
    assert "you move first" in out and "3 . . .\n2 . . .\n1 . . .\n  a b c" in out
    assert "agent: " in out and ("You lose; -1 after 1 game." in out or "A draw; +0 after 1 game." in out)


def test_what_is_won_and_lost_is_said_in_utilities(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A game whose wins pay 10: its result is 10 and not the share 1."""

    class Dear(TicTacToe):
        def __init__(self) -> None:
            super().__init__()
            self.u_max = 10.0

        def payoff(self, s: State) -> Scaled:
            paid = super().payoff(s)
            return Scaled(paid.operator, 10.0 * paid.scale)

    monkeypatch.setattr("sog.cli.play_board._ask", lambda game, tree, node: tree.actions(node)[-1])
    play_board(Dear(), RandomPlayer(), 0, 1, np.random.default_rng(0))
    assert re.search(r"You (win; \+10|lose; -10) after 1 game", capsys.readouterr().out)


def test_no_game_on_a_board_is_the_one_before_again(told: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    monkeypatch.setattr("sog.cli.play_board._game", lambda game, player, person: float(seeds.append(player.seed) or 0))
    told("q")
    assert main(["play", "tic_tac_toe", "--hands", "3", "--seed", "0"]) == 0
    assert len(set(seeds)) == 3


def test_the_person_may_leave_and_answers_that_mean_nothing_are_asked_again(
    told: Callable[..., None], capsys: Capture
) -> None:
    told("9", "", "q")
    assert main(["play", "connect_four", "--seat", "0"]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("one of: 1  2  3  4  5  6  7") == 2 and "after 1 game" not in printed.out
    assert "untrained" not in printed.err


@pytest.mark.parametrize(
    "words",
    [
        ["go(board_size=7,komi=9)"],
        ["go(board_size=7)", "--game", "go(board_size=7,komi=9)"],
        ["chess(fen=4k3/8/8/8/8/8/8/4K2R w K - 0 1)"],
    ],
)
def test_a_network_plays_the_other_games_of_its_family(
    told: Callable[..., None], capsys: Capture, words: list[str]
) -> None:
    told("q")
    assert main(["play", *words, "--seat", "0"]) == 0
    assert "untrained" not in capsys.readouterr().err


def test_a_game_with_nothing_hidden_is_shown_by_its_picture_alone(told: Callable[..., None], capsys: Capture) -> None:
    """Whoever plays it: nobody holds anything, and there is nothing to believe."""
    told(*(f"{column}{row}" for column in "abc" for row in "321"))
    assert main(["play", "tic_tac_toe", "--seat", "0", "--hands", "1", "--agent", "sog:UniformAgent"]) == 0
    out = capsys.readouterr().out
    assert "  3 . . .\n  2 . . .\n  1 . . .\n    a b c" in out
    assert "hold" not in out and "held" not in out and "believe" not in out and "after 1 hand" in out


def test_names_that_are_numbers_are_no_places_in_a_list(told: Callable[..., None], capsys: Capture) -> None:
    """A bid of 2 is the card 2, though it stands first of those that are left."""
    told("1", "2", "q")
    game = "goofspiel(imp_info=True,num_cards=4,points_order=descending)"
    assert main(["play", game, "--seat", "0", "--agent", "sog:UniformAgent"]) == 0
    assert "you hold 1,2" in capsys.readouterr().out


def test_a_game_of_another_family_is_refused(told: Callable[..., None], capsys: Capture) -> None:
    assert main(["play", "connect_four", "--game", "tic_tac_toe"]) == 2
    assert "a network of connect_four, which cannot play tic_tac_toe" in capsys.readouterr().err
    assert main(["play", "tic_tac_toe", "--game", "tic_tac_toe", "--agent", "sog:Agent"]) == 2


def test_games_without_a_checkpoint_are_played_by_an_untrained_network(
    told: Callable[..., None], capsys: Capture
) -> None:
    told("q")
    assert main(["play", "go(board_size=3,komi=0.5)", "--seat", "0"]) == 0
    assert "untrained" in capsys.readouterr().err


def test_in_chess_the_second_player_is_white_and_moves_first(told: Callable[..., None], capsys: Capture) -> None:
    told("e2e4", "q")
    assert main(["play", "chess", "--seat", "1", "-s", "4", "-c", "2"]) == 0
    out = capsys.readouterr().out
    assert "you move first" in out and "8 r n b q k b n r" in out and "4 . . . . P . . ." in out


@pytest.mark.parametrize(
    ("name", "moves", "lines"),
    [
        ("tic_tac_toe", [0, 4], ["3 x . .", "2 . o .", "1 . . .", "  a b c"]),
        ("connect_four", [3, 3], [*["1 2 3 4 5 6 7"], ". . . x . . .", ". . . o . . ."]),
        ("go(board_size=3,komi=0.5)", [0, 8], [" 3 . . O", " 2 . . .", " 1 X . .", "   A B C"]),
    ],
)
def test_boards_look_as_people_draw_them(name: str, moves: list[int], lines: list[str]) -> None:
    game = make_game(name)
    state = game.root()
    for action in moves:
        state = game.child(state, game.actions(state).tolist().index(action))
    drawn = game.picture(state).split("\n")
    assert all(line in drawn for line in lines)


def test_states_of_other_games_are_pictured_by_their_names() -> None:
    game = make_game("kuhn_poker")
    assert game.picture(game.root()) == game.state_name(game.root())


def test_hands_that_are_over_where_they_begin_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """They would follow one another without end, and nobody would ever be asked."""
    monkeypatch.setattr(Kuhn, "actor", lambda game, s: TERMINAL)
    assert main(["play", "kuhn_poker", "--agent", "sog:UniformAgent", "--hands", "2"]) == 2
    assert "kuhn_poker is over where it begins" in capsys.readouterr().err
