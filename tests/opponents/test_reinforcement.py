"""Agents in self-play: what they learn of Kuhn, OpenSpiel's exploitability of them, seeds, generators."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
import torch
from open_spiel.python.algorithms.exploitability import exploitability
from open_spiel.python.pytorch.losses.rl_losses import BatchA2CLoss
from open_spiel.python.rl_agent_policy import JointRLAgentPolicy

from sog.errors import GameError
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.games.rules.rps import RockPaperScissors
from sog.searches.cfr import exact
from sog.searches.tree.public_tree import PublicTree
from soglab.baselines import reinforcement
from soglab.baselines.dqn import DQNSettings
from soglab.baselines.reinforcement import AGENTS, AgentName, SelfPlay

KUHN = PublicTree(Kuhn()).list_all()
QUICK = DQNSettings(learning_rate=0.01, learn_every=2, batch=32, target_every=50, epsilon_steps=400)


@pytest.mark.parametrize("agent", ["q-learning", "dqn"])
def test_kings_call_and_jacks_fold(agent: AgentName) -> None:
    """Facing a bet in Kuhn, where another answer is never better."""
    run = SelfPlay(KUHN, agent, 0, QUICK)
    run.train(800)
    call = run.policy()[KUHN.states.index("b")][1]
    assert (call[0], call[2]) == (0.0, 1.0)


def test_a2c_becomes_less_exploitable() -> None:
    run = SelfPlay(KUHN, "a2c", 0, QUICK)
    before = exact.measure_policy(KUHN, run.policy()).exploitability
    run.train(800)
    assert exact.measure_policy(KUHN, run.policy()).exploitability < 0.9 * before


@pytest.mark.parametrize(
    ("name", "agent"), [("kuhn", "q-learning"), ("kuhn", "dqn"), ("kuhn", "a2c"), ("leduc", "dqn")]
)
def test_exploitability_is_openspiels(name: str, agent: AgentName) -> None:
    public = KUHN if name == "kuhn" else PublicTree(Leduc()).list_all()
    run = SelfPlay(public, agent, 1, QUICK)
    run.train(60)
    game = pyspiel.load_game(public.game.name)
    theirs = exploitability(game, JointRLAgentPolicy(game, dict(enumerate(run.agents)), use_observation=False))
    assert exact.measure_policy(public, run.policy()).exploitability == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_seed_decides_and_measuring_changes_nothing(agent: AgentName) -> None:
    def trained(seed: int, measured: bool) -> exact.Policy:
        run = SelfPlay(KUHN, agent, seed, QUICK)
        for _ in range(4):
            run.train(40)
            if measured:
                run.policy()
            np.random.rand()  # noqa: NPY002  # others may draw from the global generators meanwhile
            torch.rand(1)
        return run.policy()

    plain, measured, other = trained(3, False), trained(3, True), trained(4, False)
    assert all((plain[node] == measured[node]).all() for node in plain)
    assert any((plain[node] != other[node]).any() for node in plain)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_global_generators_are_left_as_they_were(agent: AgentName) -> None:
    np.random.seed(5)  # noqa: NPY002
    torch.manual_seed(5)
    expected = np.random.rand(), float(torch.rand(1))  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    torch.manual_seed(5)
    run = SelfPlay(KUHN, agent, 0, QUICK)
    run.train(20)
    run.policy()
    assert (np.random.rand(), float(torch.rand(1))) == expected  # noqa: NPY002


def test_openspiels_entropy_cost_has_the_sign_that_we_give_it() -> None:
    """Where the advantage is zero, a step down our loss must raise the policy's entropy."""
    logits = torch.tensor([[1.0, 0.0]], requires_grad=True)
    one = torch.ones(1)
    loss = BatchA2CLoss(reinforcement._ENTROPY_COST).loss(logits, one, torch.tensor([0]), one)
    loss.backward()
    after = logits.detach() - logits.grad
    assert 0.0 < float(after[0, 0] - after[0, 1]) < 1.0


def test_games_that_openspiel_lacks() -> None:
    with pytest.raises(GameError, match="OpenSpiel has no game"):
        SelfPlay(PublicTree(RockPaperScissors()).list_all(), "q-learning", 0, QUICK)
