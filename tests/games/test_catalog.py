"""Every game in the table is made from its string, and what is unknown is refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from sog.errors import GameError
from sog.games.base import Game
from sog.games.boards.chess import Chess
from sog.games.boards.connect_four import ConnectFour
from sog.games.boards.go import Go
from sog.games.catalog import known_games, make_game
from sog.games.holdem.bets import parse_sizes
from sog.games.holdem.game import Holdem, HoldemSpot

EXAMPLES = [example for example, _ in known_games()]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_name_of_a_game_makes_it_again(example: str) -> None:
    game = make_game(example)
    again = make_game(game.name)
    assert again.name == game.name
    assert (again.u_max, again.num_actions, again.num_slots) == (game.u_max, game.num_actions, game.num_slots)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("liars_dice", "liars_dice(numdice=1,dice_sides=6)"),
        ("liars_dice(dice_sides=3,numdice=2)", "liars_dice(numdice=2,dice_sides=3)"),
        ("goofspiel(num_cards=3,imp_info=True)", "goofspiel(imp_info=True,num_cards=3,points_order=random)"),
        (
            "goofspiel(returns_type=point_difference,points_order=ascending,imp_info=True,num_cards=5)",
            "goofspiel(imp_info=True,num_cards=5,points_order=ascending,returns_type=point_difference)",
        ),
    ],
)
def test_canonical_names(text: str, name: str) -> None:
    assert make_game(text).name == name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("poker", "no game is called poker; did you mean kuhn_poker?"),
        ("nothing", "no game is called nothing; known: kuhn_poker, leduc_poker"),
        ("kuhn_poker(players=3)", "kuhn_poker has no parameter players; it takes none"),
        ("liars_dice(dice=2)", "liars_dice has no parameter dice; known: numdice, dice_sides"),
        ("liars_dice(numdice=two)", "numdice is a whole number"),
        ("liars_dice(numdice=0)", "numdice >= 1"),
        ("liars_dice(numdice=12,dice_sides=12)", "more than 1000 rolls"),
        ("goofspiel(num_cards=4)", "add imp_info=True"),
        ("goofspiel(imp_info=True)", "2 to 6 cards here, not num_cards=13"),
        ("goofspiel(imp_info=True,num_cards=1)", "2 to 6 cards"),
        ("goofspiel(imp_info=True,num_cards=4,points_order=up)", "random, descending, ascending, not up"),
        ("goofspiel(imp_info=True,num_cards=4,returns_type=total_points)", "win_loss, point_difference"),
    ],
)
def test_refusals(text: str, says: str) -> None:
    with pytest.raises(GameError) as error:
        make_game(text)
    assert says in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("make", [Chess, ConnectFour, Go, partial(Holdem, HoldemSpot(), parse_sizes("1"))])
def test_a_game_made_in_python_refuses_inputs_that_it_has_not(make: Callable[..., Game]) -> None:
    with pytest.raises(GameError, match=r"inputs is one of .*, not pictures"):
        make(inputs="pictures")
