"""Decisions of a public tree that are offered more actions: numbers stay, children come back, searches go there."""

from __future__ import annotations

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.catalog import make_game
from sog.games.holdem.game import Holdem, HoldemState
from sog.play.agent import SearchAgent
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.offered import replace_state
from sog.searches.tree.public_tree import PublicTree

RIVER = "holdem(board=2s2h2d7c9c,pot=1000,stacks=5000,bets=0.5;allin)"


def tree() -> tuple[Holdem, PublicTree, HoldemState]:
    game = make_game(RIVER)
    assert isinstance(game, Holdem)
    return game, PublicTree(game), game.root()


def test_children_keep_their_numbers() -> None:
    game, public, root = tree()
    public.list_fan(0)
    before = [public.child(0, e) for e in range(public.num_edges(0))]
    replace_state(public, 0, game.offer(root, 700))
    assert public.actions(0).tolist() == [1, 2, 3, game.first_extra]
    assert [public.child(0, e) for e in range(3)] == before
    seven = public.child(0, 3)
    assert game.state_name(public.states[seven]).endswith("bet 700")
    replace_state(public, 0, game.offer(root, 900))
    nine = public.child(0, 3)
    assert nine != seven and public.path(nine) == [0, nine]
    replace_state(public, 0, game.offer(root, 700))
    assert public.child(0, 3) == seven
    replace_state(public, 0, root)
    assert public.num_edges(0) == 3 and public.children(0) == before
    assert public.legal(0).shape == (3, 1326)


def test_what_is_another_decision_is_refused() -> None:
    game, public, root = tree()
    with pytest.raises(GameError, match="another decision"):
        replace_state(public, 0, game.after(root, 1))


def test_a_search_answers_a_bet_that_its_tree_had_not() -> None:
    """The chain's second search begins at a decision that was offered a bet after the first one had opened it."""
    game, public, root = tree()
    agent = SearchAgent(public, 1, ResolveSettings(Budget(3, 1.0)), zero_evaluator)
    public.list_fan(0)
    replace_state(public, 0, game.offer(root, 700))
    bet = public.child(0, 3)
    policy = agent.policy(bet)
    assert policy.shape == (len(game.actions(public.states[bet])), 1326)
    np.testing.assert_allclose(policy.sum(axis=0), 1.0)
    raised = public.child(bet, 2)
    public.list_fan(raised)
    state = public.states[raised]
    assert isinstance(state, HoldemState)
    replace_state(public, raised, game.offer(state, 4000))
    again = public.child(raised, public.num_edges(raised) - 1)
    np.testing.assert_allclose(agent.policy(again).sum(axis=0), 1.0)
    assert agent.solved is not None and agent.solved.node == again
