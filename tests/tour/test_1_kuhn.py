"""Tour, 1 of 6. A game: Kuhn poker by public states, what an infostate is, and a world that is dealt and played.

Next: test_2_cfr.py. The game itself is sog/games/rules/kuhn.py, 73 lines.
"""

from __future__ import annotations

import numpy as np

import sog
from sog.games.rules.kuhn import Kuhn
from sog.play.referee import Referee
from sog.searches.tree.public_tree import PublicTree

GAME = Kuhn()


def test_a_public_state_is_what_both_players_see() -> None:
    """In Kuhn poker that is the betting: "pb" is a pass and a bet. The cards are hidden."""
    states = PublicTree(GAME).list_all().states
    assert states[0] == "" and {"p", "b", "pb", "pp", "bp", "bb", "pbp", "pbb"} < set(states)
    assert [GAME.actor(s) for s in ("", "p", "pb")] == [0, 1, 0] and GAME.actor("bb") == sog.TERMINAL


def test_an_infostate_is_what_one_player_knows() -> None:
    """The public state and the own card: three for each player, at every public state."""
    assert GAME.num_infostates("p") == (3, 3)
    assert [GAME.infostate_name("p", 1, card) for card in range(3)] == ["J", "Q", "K"]


def test_weights_are_how_chance_deals_pairs_of_infostates() -> None:
    """Six deals of two of the three cards, each as likely; the same card twice is impossible."""
    deal = GAME.weights("").operator.matrix
    assert deal.sum() == 1.0 and np.diag(deal).tolist() == [0.0, 0.0, 0.0]


def test_a_payoff_is_utility_times_weight() -> None:
    """After pass, pass the higher card wins the ante: king against jack pays player 0 one chip, in one of six deals."""
    assert GAME.payoff("pp").operator.matrix[2, 0] == 1.0 / 6.0


def test_the_referee_alone_knows_the_world() -> None:
    """A world is a public state and one infostate of each player; players are asked for actions."""
    referee, rng = Referee(PublicTree(GAME)), np.random.default_rng(0)
    world = referee.deal(rng)
    assert world.pair[0] != world.pair[1]
    while referee.actor(world) != sog.TERMINAL:
        world = referee.act(world, referee.legal(world)[0], rng)  # both always pass
    assert abs(referee.utility(world)) == 1.0


def test_a_game_keeps_promises_that_are_checked() -> None:
    assert sog.check_game(GAME).complete
