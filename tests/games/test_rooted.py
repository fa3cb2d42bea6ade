"""A game from a later public state on: it answers as the whole game does, in everything that is asked of a game."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.base import NATURE, Game, Links
from sog.games.catalog import make_game
from sog.games.checks.public_states import check_game
from sog.games.rooted import Rooted
from sog.searches.tree.public_tree import PublicTree

# What is its own: where it begins, what it is called, and what self-play and records of whole games are made of.
OWN = {"root", "drawn", "random_start", "write_record"}


def test_every_question_is_answered_by_the_whole_game() -> None:
    """A method that a game may define and that is not passed on would silently be the base class's."""
    asked = {name for name, _ in inspect.getmembers(Game, inspect.isfunction) if not name.startswith("__")}
    assert asked - OWN <= set(vars(Rooted)) and asked >= OWN


def test_attributes_are_the_whole_games() -> None:
    for name in ("connect_four", "leduc_poker", "go(board_size=5,komi=5)", "scotland_yard(map=glasses)"):
        game = make_game(name)
        rooted = Rooted(game, game.root())
        own = {"name", "start", "game", "record_suffix", "draws"}
        for field in inspect.get_annotations(Game).keys() - own:
            assert getattr(rooted, field) == getattr(game, field), (name, field)
        assert rooted.family == game.family


def test_chance_that_is_not_listed_is_drawn_by_the_whole_game() -> None:
    """Hold'em's flops are too many to list, so that the game draws them and says how hands go on."""
    game = make_game("holdem(pot=4,stacks=10,bets=1)")
    s = game.root()
    while game.actor(s) != NATURE:
        s = game.child(s, 0)
    rooted = Rooted(game, s)
    assert not rooted.listable(s)
    found = rooted.sample_chance(s, 0, 1325, np.random.default_rng(0))
    assert found == game.sample_chance(s, 0, 1325, np.random.default_rng(0))
    for ours, wanted in zip(rooted.chance_carry(s, found[0]), game.chance_carry(s, found[0]), strict=True):
        assert isinstance(ours, Links) and isinstance(wanted, Links)
        np.testing.assert_array_equal(ours.source, wanted.source)
        assert len(ours.source) == 1176  # hands that share no card with the flop


def test_ranges_at_a_later_root_are_the_callers() -> None:
    """A game's own are kept at its own root; at another nobody else knows them."""
    game = make_game('holdem(board=2s2h2d7c9c,pot=100,stacks=100,bets=allin,range0="AA,QQ",range1="KK")')
    same = Rooted(game, game.root())
    for own, kept in zip(game.root_ranges(), same.root_ranges(), strict=True):
        np.testing.assert_array_equal(own, kept)
    after = game.fan(game.root()).children[0]
    with pytest.raises(GameError, match="ranges of its own"):
        Rooted(game, after)
    given = game.root_ranges()
    assert Rooted(game, after, given).root_ranges() is given
    leduc = make_game("leduc_poker")
    assert all((own == 1.0).all() for own in Rooted(leduc, leduc.fan(leduc.root()).children[0]).root_ranges())


def test_a_later_root_has_no_symmetries() -> None:
    game = make_game("connect_four")
    assert Rooted(game, game.root()).symmetries
    side = Rooted(game, game.child(game.root(), 0))
    assert not side.symmetries and not check_game(side, 20).complete


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "liars_dice", "tic_tac_toe", "connect_four", "rps"])
@pytest.mark.parametrize("start", ["nonsense", 3, None, [1], np.ones(2)])
def test_what_is_no_state_of_the_game_is_no_root(name: str, start: object) -> None:
    """Kuhn poker took every word for a state, and called it by its letters."""
    with pytest.raises(GameError, match="has no public state"):
        Rooted(make_game(name), start)  # type: ignore[arg-type]


def test_every_state_of_a_game_is_a_root() -> None:
    for name in ("kuhn_poker", "leduc_poker", "rps"):
        game = make_game(name)
        for s in PublicTree(game).list_all().states:
            assert Rooted(game, s).root() == s
    with pytest.raises(GameError, match="Rooted takes a game"):
        Rooted("leduc_poker", game.root())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("zero", "one"),
    [
        (np.ones(3), np.ones(6)),
        (np.ones((6, 1)), np.ones(6)),
        (1.0, 2.0),
        (np.full(6, np.nan), np.ones(6)),
        (np.ones(6), -np.ones(6)),
        (np.zeros(6), np.ones(6)),
    ],
)
def test_ranges_that_are_none_are_refused(zero: object, one: object) -> None:
    """Their values were NaN, 0, or those of other ranges."""
    game = make_game("leduc_poker")
    with pytest.raises(GameError, match=r"ranges at start are float64\[6\]|every number is finite and at least 0"):
        Rooted(game, game.root(), (zero, one))  # type: ignore[arg-type]
