"""Simple opponents of poker games: what they do with each hand, and that their policies are policies."""

from __future__ import annotations

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.catalog import make_game
from sog.games.holdem.cards import hand_number, parse_cards
from sog.games.holdem.game import Holdem
from sog.measure.exploitability import composed_policy
from sog.opponents.holdem.simple import AlwaysCall, AlwaysFold, EquityThreshold
from sog.searches.cfr import exact
from sog.searches.tree.public_tree import PublicTree

RIVER = "holdem(board=2s2h2d7c9c,pot=1000,stacks=5000,bets=0.5;allin)"


@pytest.mark.parametrize("kind", [AlwaysCall, AlwaysFold])
@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", RIVER])
def test_policies_are_policies(name: str, kind: type[AlwaysCall]) -> None:
    public = PublicTree(make_game(name)).list_all()
    agents = kind(public, 0), kind(public, 1)
    policy = composed_policy(agents)
    for node in public.decisions():
        assert not exact.flaw_of(policy[node], public.legal(node))


def test_who_always_folds_gives_its_ante_away() -> None:
    public = PublicTree(make_game("leduc_poker")).list_all()
    policy = composed_policy((AlwaysFold(public, 0), AlwaysFold(public, 1)))
    assert exact.measure_policy(public, policy).exploitability == pytest.approx(1.0)


def test_the_equity_player_bets_good_hands_and_folds_bad_ones() -> None:
    game = make_game(RIVER)
    assert isinstance(game, Holdem)
    public = PublicTree(game).list_all()
    quads, air = hand_number(*parse_cards("2cAc")), hand_number(*parse_cards("3c4d"))
    policy = EquityThreshold(public, 0).policy(0)
    assert policy[:, quads].tolist() == [0.0, 1.0, 0.0] and policy[:, air].tolist() == [1.0, 0.0, 0.0]
    bet = public.child(0, 1)
    answer = EquityThreshold(public, 1).policy(bet)
    assert answer[0, air] == 1.0 and answer[2, quads] == 1.0
    np.testing.assert_allclose(answer.sum(axis=0), 1.0)
    raised = public.child(bet, 2)
    again = EquityThreshold(public, 0).policy(raised)
    assert again[1, quads] == 1.0  # no third raise


def test_equities_are_holdems_alone() -> None:
    with pytest.raises(GameError, match="hold'em's"):
        EquityThreshold(PublicTree(make_game("leduc_poker")), 0)
