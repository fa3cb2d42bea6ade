"""Agents in a process of their own: one that is made anew in mid-game continues as it would have."""

from __future__ import annotations

import numpy as np
import pytest

from sog.errors import SogError
from sog.games.catalog import make_game
from sog.web.asked import Chair, MoveAsked, PositionAsked
from sog.web.tables import PlayTable
from sog.web.thinker import Thinker

NETWORK = Chair("leduc_poker", "the network", 20, 1.0)


def played(game: str, chairs: tuple[Chair, Chair], thinkers: list[Thinker], seed: int) -> list[int]:
    """The columns of a game between two agents, whose moves the thinkers make in turn."""
    table = PlayTable("0" * 32, make_game(game), chairs, seed)
    while not table.is_over:
        found = thinkers[len(table.made) % len(thinkers)].move(table.asked())
        table.move(found.column, found)
    return [made.column for made in table.made]


@pytest.mark.parametrize("seed", range(4))
def test_a_new_process_continues_the_game(seed: int) -> None:
    """Whichever process is asked, a game between the same agents with the same seed is the same."""
    one = played("leduc_poker", (NETWORK, NETWORK), [Thinker()], seed)
    assert played("leduc_poker", (NETWORK, NETWORK), [Thinker(), Thinker(), Thinker()], seed) == one


def test_asked_again_it_answers_the_same() -> None:
    table = PlayTable("0" * 32, make_game("leduc_poker"), (NETWORK, NETWORK), 3)
    thinker = Thinker()
    first = thinker.move(table.asked())
    assert thinker.move(table.asked()) == first and first.belief


def test_an_agent_is_asked_with_its_own_infostates_alone() -> None:
    """What it is sent is the same whatever the opponent holds."""
    asked: set[MoveAsked] = set()
    for seed in range(200):
        table = PlayTable("0" * 32, make_game("leduc_poker"), (NETWORK, NETWORK), seed)
        table.move(1)
        if table.world.pair[1] == 2:
            sent = table.asked()
            asked.add(MoveAsked(sent.table, sent.game, sent.chair, sent.player, 0, sent.way, sent.own))
    assert len(asked) == 1


def test_a_belief_is_a_part_of_one() -> None:
    table = PlayTable("0" * 32, make_game("liars_dice(numdice=2,dice_sides=3)"), (Chair("random", "r"),) * 2, 0)
    assert Thinker().move(table.asked()).belief == ()
    table = PlayTable("0" * 32, make_game("leduc_poker"), (NETWORK, NETWORK), 0)
    belief = dict(Thinker().move(table.asked()).belief)
    assert sum(belief.values()) == pytest.approx(1.0, abs=0.01) and table.world.pair[0] not in belief


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (PositionAsked("leduc_poker", (), "kuhn_poker", 10, 1.0, 0), "cannot play leduc_poker"),
        (PositionAsked("leduc_poker", (0, 0), "leduc_poker", 10, 1.0, 0), "no player is to move"),
        (PositionAsked("leduc_poker", (9,), "leduc_poker", 10, 1.0, 0), "none is 9"),
    ],
)
def test_what_cannot_be_searched_is_said(asked: PositionAsked, why: str) -> None:
    with pytest.raises(SogError, match=why):
        Thinker().look(asked)


def test_chance_is_the_seeds_and_the_moves() -> None:
    """So a game's file needs no deal."""
    worlds = [PlayTable("0" * 32, make_game("leduc_poker"), (NETWORK, NETWORK), seed).first.pair for seed in range(300)]
    assert (
        len(set(worlds)) == 30
        and worlds[7] == PlayTable("1" * 32, make_game("leduc_poker"), (NETWORK,) * 2, 7).first.pair
    )
    assert np.bincount([pair[0] for pair in worlds], minlength=6).min() > 25
