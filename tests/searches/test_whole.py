"""Whole public trees: games far too large are refused at once, no listable game is, and memory ends in time."""

from __future__ import annotations

import random

import numpy as np
import pytest

import sog
from sog.arrays import Int32
from sog.errors import GameError, TooLarge
from sog.games.base import TERMINAL, Fan, Scaled, State, plain_moves
from sog.games.catalog import make_game
from sog.games.rooted import Rooted
from sog.games.rules.kuhn import Kuhn
from sog.searches.tree import whole
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import check_listable, listed_tree, whole_tree
from soglab.bench.cfr import GAMES

# All that are solved in the docs, and others up to 70,000 public states.
LISTED = sorted(
    {
        *GAMES,
        "kuhn_poker",
        "rps",
        "scotland_yard(map=glasses)",
        "liars_dice(numdice=2,dice_sides=3)",
        "go(board_size=2,komi=0.5)",
        "battleship(board_width=2,board_height=2,ship_sizes=[1],num_shots=4,allow_repeated_shots=False,returns_type=win_loss)",
        "openspiel:oshi_zumo(coins=4,size=1,horizon=4)",
        "openspiel:dark_hex(board_size=2)",
    }
)
ENDLESS = [
    "connect_four",
    "chess",
    "go(board_size=5,komi=0.5)",
    "scotland_yard(map=london)",
    "battleship(board_width=3,board_height=3,ship_sizes=[2;2],num_shots=9,allow_repeated_shots=False,returns_type=win_loss)",
]


@pytest.mark.parametrize("name", LISTED)
def test_games_that_are_solved_are_not_refused(name: str) -> None:
    check_listable(make_game(name))


@pytest.mark.parametrize("name", ENDLESS)
def test_games_far_too_large_are_refused_in_a_few_fans(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in fans, not seconds: chess takes about 9 a line."""
    game = make_game(name)
    fans, fan = [0], game.fan

    def counted(s: State) -> Fan:
        fans[0] += 1
        return fan(s)

    monkeypatch.setattr(game, "fan", counted)
    with pytest.raises(GameError, match="too large to list: far more than 20,000,000 public states"):
        whole_tree(game)
    assert fans[0] < 300


def test_an_openspiel_game_that_no_code_names_is_refused() -> None:
    with pytest.raises(GameError, match="too large to enumerate"):
        make_game("openspiel:dark_hex(num_rows=4,num_cols=4)")


def test_the_estimate_follows_the_size_below_a_state() -> None:
    """Tic-tac-toe has 549,946 lines: far above a limit of 1,000 and not above one of 10,000."""
    check_listable(make_game("tic_tac_toe"), 10_000)
    with pytest.raises(GameError):
        check_listable(make_game("tic_tac_toe"), 1_000)


def test_connect_four_near_its_end_can_be_listed() -> None:
    game = make_game("connect_four")
    chance = random.Random(1)
    while True:
        line = [game.root()]
        while game.actor(line[-1]) != TERMINAL:
            line.append(game.child(line[-1], chance.randrange(len(game.actions(line[-1])))))
        if len(line) > 37:  # at most seven free squares before the last two moves
            break
    start = Rooted(game, line[-3])
    assert whole_tree(start).size == PublicTree(start).list_all().size


def test_the_tree_is_the_one_that_was_listed_before() -> None:
    game = make_game("leduc_poker")
    ours, plain = whole_tree(game), PublicTree(game).list_all()
    assert ours.size == plain.size
    assert (ours.nodes[: ours.size] == plain.nodes[: plain.size]).all()


def test_a_chance_event_too_large_to_list_is_refused() -> None:
    with pytest.raises(GameError, match="a chance event too large to list"):
        whole_tree(make_game("holdem"))


def test_memory_that_ends_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "held_bytes", lambda: 2e9)
    assert whole_tree(Kuhn(), limit_gb=2.5).size == PublicTree(Kuhn()).list_all().size
    with pytest.raises(GameError, match=r"kuhn_poker is too large to list: more than 1.5 GB of memory"):
        whole_tree(Kuhn(), limit_gb=1.5)


def test_listing_reports_on_the_way() -> None:
    told: list[int] = []
    size = whole_tree(make_game("liars_dice(numdice=1,dice_sides=6)"), report=told.append).size
    assert told == list(range(0, size, 1024))


def test_large_games_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = listed_tree(Kuhn())
    assert tree is not None and tree.size == 9
    monkeypatch.setattr(whole, "LISTED", 8)
    assert listed_tree(Kuhn()) is None


def test_a_game_that_fails_is_not_taken_for_a_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(game: Kuhn, s: State) -> Fan:
        raise GameError("its rules are broken")

    monkeypatch.setattr(Kuhn, "fan", broken)
    with pytest.raises(GameError, match="its rules are broken"):
        listed_tree(Kuhn())


class Lasting(Kuhn):
    """Every state is ended by one of two moves: no line has to end, and nearly all random ones do."""

    def root(self) -> State:
        return 0

    def actor(self, s: State) -> int:
        return TERMINAL if s == "pp" else 0

    def fan(self, s: State) -> Fan:
        return Fan(["pp", int(str(s)) + 1], plain_moves(3, 2))

    def actions(self, s: State) -> Int32:
        return np.arange(2, dtype=np.int32)

    def weights(self, s: State) -> Scaled:
        return super().weights("")

    def state_name(self, s: State) -> str:
        return str(s)


def test_a_game_whose_lines_need_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "_LONGEST", 1_000)
    check_listable(Lasting())
    with pytest.raises(TooLarge, match="a line of 1,000 public states does not end"):
        sog.solve(Lasting())
    assert listed_tree(Lasting()) is None
