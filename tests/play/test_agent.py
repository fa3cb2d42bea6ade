"""The search agent: its chain is the one that is measured, it sees public things, its belief is Bayes'."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc, LeducState
from sog.measure.exploitability import agent_policy
from sog.play.agent import SearchAgent
from sog.play.referee import Referee
from sog.play.resolver import ResolveSettings, paper_settings
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Infostate

LEDUC = PublicTree(Leduc()).list_all()
SMALL = ResolveSettings(Budget(6, 1.0))
COMPLETE = ResolveSettings(Budget(300, 1.0), alpha=1.0, complete=True)


def agent(player: int, public: PublicTree = LEDUC, settings: ResolveSettings = SMALL, seed: int = 5) -> SearchAgent:
    return SearchAgent(public, player, settings, zero_evaluator, seed)


@pytest.mark.parametrize("settings", [SMALL, paper_settings(Budget(6, 1.0))], ids=["ours", "papers"])
@pytest.mark.parametrize("game", [Leduc(), Goofspiel(3, "random")], ids=lambda game: game.name)
def test_the_agent_plays_the_policy_that_is_measured(game: Leduc | Goofspiel, settings: ResolveSettings) -> None:
    """In any game that comes up, whatever was played before, its policies are those of `agent_policy`, to the bit."""
    public = PublicTree(game).list_all()
    measured = agent_policy(public, settings, zero_evaluator, 5)
    referee, rng = Referee(public), np.random.default_rng(0)
    agents = [agent(p, public, settings) for p in (0, 1)]
    seen = 0
    for _ in range(12):
        for one in agents:
            one.new_game()
        world = referee.deal(rng)
        while referee.actor(world) != TERMINAL:
            policy = agents[referee.actor(world)].policy(world.node)
            assert policy.tobytes() == measured[world.node].tobytes()
            world = referee.act(world, int(rng.choice(referee.legal(world))), rng)
            seen += 1
    assert seen > 30


def test_actions_that_are_unlikely_beside_the_likeliest_are_not_played() -> None:
    """By each infostate, in the policy at a node and in the whole one; beliefs follow the average policy."""
    settings = replace(SMALL, purify=0.5)
    pure, mixed = agent(0, settings=settings), agent(0)
    node = next(s for s in range(LEDUC.size) if LEDUC.actor(s) == 0)
    average, played = mixed.policy(node), pure.policy(node)
    keeps = average >= 0.5 * average.max(axis=0)
    assert not keeps.all() and np.array_equal(played > 0, keeps & (average > 0))
    assert np.allclose(played, np.where(keeps, average, 0) / np.where(keeps, average, 0).sum(axis=0))
    assert played.tobytes() == agent_policy(LEDUC, settings, zero_evaluator, 5)[node].tobytes()
    assert np.array_equal(pure.belief(0), mixed.belief(0))
    assert (agent(0, settings=replace(SMALL, purify=1.0)).policy(node).max(axis=0) >= 0.5).all()


def test_the_agent_is_told_public_nodes_and_its_own_infostate() -> None:
    def told(function: object) -> list[str]:
        return list(inspect.signature(function).parameters)  # type: ignore[arg-type]

    assert told(SearchAgent.__init__) == ["self", "public", "player", "settings", "evaluator", "seed"]
    assert told(SearchAgent.new_game) == ["self"] and told(SearchAgent.belief) == ["self", "infostate"]
    assert told(SearchAgent.policy) == ["self", "node"]
    assert told(SearchAgent.act) == ["self", "node", "infostate", "rng"]


def test_its_own_card_does_not_enter_the_search() -> None:
    trees = []
    for card in (0, 5):
        one = agent(0)
        one.act(0, card, np.random.default_rng(0))
        assert one.solved is not None
        trees.append(one.solved.tree)
    assert trees[0].entries.tobytes() == trees[1].entries.tobytes()
    assert trees[0].infostates.tobytes() == trees[1].infostates.tobytes()


def test_another_line_of_play_needs_a_new_game() -> None:
    public = PublicTree(Kuhn()).list_all()
    one, nodes = agent(1, public), [public.states.index(line) for line in ("p", "b")]
    one.policy(nodes[0])
    with pytest.raises(GameError, match=r"another line of play than .*; call new_game first"):
        one.policy(nodes[1])
    one.new_game()
    one.policy(nodes[1])


def test_actions_are_drawn_from_its_row() -> None:
    one = agent(0, PublicTree(Kuhn()).list_all())
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(600):
        one.new_game()
        draws.append(one.act(0, 0, rng))
    assert one.solved is not None
    share = one.solved.policy()[1, 0]
    assert 0.05 < share < 0.95
    assert np.mean(draws) == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 600))


def test_a_belief_is_conditioned_on_the_agents_own_card() -> None:
    """Infostates weigh W * mean range; the card on the board, the agent's own and nothing else are ruled out."""
    one = agent(1, settings=COMPLETE)
    one.policy(LEDUC.states.index(LeducState("c")))
    node = LEDUC.states.index(LeducState("crc", 2, "r"))
    one.policy(node)
    assert one.solved is not None
    tree, n = one.solved.tree, one.solved.start
    r0 = tree.infostates[Infostate.REACH_SUM, tree.span(n, 0)].copy()
    w = LEDUC.game.weights(LEDUC.states[node]).dense()
    for own in (0, 5):
        belief = one.belief(own)
        np.testing.assert_allclose(belief, r0 * w[:, own] / (r0 @ w[:, own]), rtol=1e-9)
        assert belief[2] == belief[own] == 0.0 and belief.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(tree.infostates[Infostate.REACH_SUM, tree.span(n, 0)], r0)  # looking changes nothing


def test_beliefs_of_an_equilibrium_follow_the_betting() -> None:
    """In Kuhn poker player 0 bets the king three times as often as the jack and the queen hardly ever."""
    public = PublicTree(Kuhn()).list_all()
    one = agent(1, public, ResolveSettings(Budget(3_000, 1.0), complete=True))
    one.policy(public.states.index("b"))
    jack, queen, king = one.belief(1)
    assert queen == 0.0 and king == pytest.approx(3 * jack, rel=0.2)
    assert one.belief(2)[1] < 0.1  # with the king: hardly ever a bet with the queen


@pytest.mark.parametrize("make", [ResolveSettings, paper_settings])
def test_a_decision_that_was_searched_is_not_searched_again(make: Callable[[Budget], ResolveSettings]) -> None:
    """What is shown is what is played from."""
    public = PublicTree(Kuhn()).list_all()
    agent = SearchAgent(public, 0, make(Budget(10, 1.0)), zero_evaluator, 0)
    first = agent.policy(0)
    solved = agent.solved
    np.testing.assert_array_equal(agent.policy(0), first)
    assert agent.solved is solved
