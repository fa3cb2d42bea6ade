"""Lines of play in words: names and numbers lead there, forced ways may be left out, wrong words are answered."""

from __future__ import annotations

import pytest

from sog.errors import GameError
from sog.games.base import TERMINAL, Game, State
from sog.games.catalog import make_game
from sog.games.public_lines import moves_along, new_words, next_steps, states_along

GAMES = (
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=3)",
    "goofspiel(imp_info=True,num_cards=3,points_order=random)",
    "rps",
    "openspiel:kuhn_poker",
)


def walked(game: Game, line: list[str], state: State, depth: int) -> int:
    """Every line of a game to a depth, by the number of each way; how many states were met."""
    along = states_along(game, ", ".join(line))
    assert game.state_name(along[-1]) == game.state_name(state) and len(along) == len(line) + 1
    met = 1
    for k, step in enumerate(next_steps(game, state) if depth else (), start=1):
        met += walked(game, [*line, f"#{k}"], game.child(state, step.edge), depth - 1)
    return met


@pytest.mark.parametrize("name", GAMES)
def test_numbers_of_ways_lead_to_every_state(name: str) -> None:
    game = make_game(name)
    assert walked(game, [], game.root(), 4) > 4


@pytest.mark.parametrize("name", GAMES[:3])
def test_names_of_ways_lead_there(name: str) -> None:
    game, state, line = make_game(name), make_game(name).root(), list[str]()
    while game.actor(state) != TERMINAL:
        step = next_steps(game, state)[-1]
        state = game.child(state, step.edge)
        line.append(step.name.upper())
    assert states_along(game, " , ".join(line))[-1] == state


def test_ways_that_are_the_only_ones_may_be_left_out() -> None:
    game = make_game("goofspiel(imp_info=True,num_cards=4,points_order=descending)")
    assert [game.state_name(s) for s in states_along(game, "4:1 3:")] == ["4:", "4:?", "4:??", "4:1 3:"]
    assert states_along(game, "?, ?, 4:1 3:") == states_along(game, "4:1 3:")


def test_wrong_words_are_answered_with_the_ways_there_are() -> None:
    leduc = make_game("leduc_poker")
    with pytest.raises(GameError, match="no way 'bet' at start; there are: check, raise"):
        states_along(leduc, "bet")
    with pytest.raises(GameError, match="the game is over there"):
        states_along(leduc, "raise, fold, check")
    with pytest.raises(GameError, match="no way '#3' at start"):
        states_along(leduc, "#3")
    with pytest.raises(GameError, match="no action 'bet 7'"):
        states_along(make_game("holdem(bets=random)"), "call, bet 7")
    with pytest.raises(GameError, match=r"there are: A1, .*, \.\.\."):
        moves_along(make_game("go(board_size=5,komi=7.5)"), "k9")


def test_moves_of_a_board() -> None:
    chess = make_game("chess")
    moves = moves_along(chess, "e2e4, e7e5, G1F3")
    state = chess.root()
    for move in moves:
        state = chess.child(state, chess.actions(state).tolist().index(move))
    assert chess.state_name(state).startswith("rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/")
    assert moves_along(make_game("connect_four"), "4,4,#1") == [3, 3, 0]


def test_new_words_are_what_a_name_has_more() -> None:
    assert new_words("raise", "raise call | board Jh") == "call | board Jh"
    assert new_words("4:??", "4:1 3:") == "4:1 3:"
