"""Any agent: composed, measured and played against by its class alone; asked in any order it answers the same."""

from __future__ import annotations

import builtins
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from sog.agents.loaded import Recalled
from sog.agents.own import agent_class, checked_policies
from sog.agents.uniform import UniformAgent
from sog.algorithms.rebel.agent import RebelAgent, RebelSettings
from sog.arrays import Float64
from sog.cli.app import main
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.measure.exploitability import agent_policy, composed_policy
from sog.play.agent import Agent, SearchAgent
from sog.play.resolver import ResolveSettings
from sog.searches.cfr import exact
from sog.searches.depth_limited.solve import SolveSettings
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree

LEDUC = PublicTree(make_game("leduc_poker")).list_all()
KUHN = PublicTree(make_game("kuhn_poker")).list_all()
SMALL = ResolveSettings(Budget(4, 1.0))
UNIFORM = "sog.agents.uniform:UniformAgent"

# What OpenSpiel's nash_conv says of uniform play: in Leduc 4.747 chips, in Kuhn 11/12.
UNIFORM_EXPLOITABILITY = {"leduc_poker": 2.3736111111111, "kuhn_poker": 11 / 24}


@pytest.mark.parametrize("public", [LEDUC, KUHN], ids=lambda public: public.game.name)
def test_the_uniform_agent_is_uniform_play(public: PublicTree) -> None:
    policy = composed_policy((UniformAgent(public, 0), UniformAgent(public, 1)))
    for node, expected in exact.uniform_policy(public).items():
        np.testing.assert_allclose(policy[node], expected, atol=1e-12)
    found = exact.measure_policy(public, policy).exploitability
    assert found == pytest.approx(UNIFORM_EXPLOITABILITY[public.game.name])


class Plain(SearchAgent):
    """The search agent as any other: asked node by node."""

    policies = Agent.policies  # type: ignore[assignment]


@pytest.mark.slow
def test_asking_node_by_node_is_searching_all_at_once() -> None:
    plain = [Plain(LEDUC, player, SMALL, zero_evaluator, 3) for player in (0, 1)]
    by_node = composed_policy((plain[0], plain[1]))
    at_once = agent_policy(LEDUC, SMALL, zero_evaluator, 3)
    assert by_node.keys() == at_once.keys()
    assert all(by_node[node].tobytes() == at_once[node].tobytes() for node in at_once)


@pytest.mark.parametrize("kept", [1, 256])
def test_an_agent_asked_out_of_order_answers_as_in_play(kept: int) -> None:
    measured = agent_policy(LEDUC, SMALL, zero_evaluator, 3)
    nodes = [node for node in measured if LEDUC.game.actor(LEDUC.states[node]) == 1]
    recalled = Recalled(SearchAgent(LEDUC, 1, SMALL, zero_evaluator, 3), kept)
    for node in np.random.default_rng(0).permutation(nodes)[:60]:
        assert recalled.policy(int(node)).tobytes() == measured[int(node)].tobytes()


def test_rebel_is_measured_like_any_agent_and_near_an_equilibrium_where_nothing_is_cut() -> None:
    """Kuhn in one subgame: a playthrough plays one iteration's policy; many of them average to an equilibrium."""
    settings = RebelSettings(SolveSettings(depth=0, updates=64))
    policies = []
    for seed in range(40):
        agents = [RebelAgent(KUHN, player, settings, zero_evaluator, seed) for player in (0, 1)]
        policies.append(composed_policy((agents[0], agents[1])))
    again = composed_policy((RebelAgent(KUHN, 0, settings, zero_evaluator, 0), agents[1]))
    assert all(again[s].tobytes() == policies[0][s].tobytes() for s in again if KUHN.game.actor(KUHN.states[s]) == 0)
    first = np.mean([policy[0] for policy in policies], axis=0)
    assert len({policy[0].tobytes() for policy in policies}) > 5
    assert first[1, 1] < 0.15  # with the middle card player 0 hardly ever bets first


class Shifty(Agent):
    """Says what it is made to say."""

    answer: Float64

    def policy(self, node: int) -> Float64:
        return self.answer


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (np.full((3, 3), 1 / 3), r"shape \(3, 3\), not \(2, 3\)"),
        (np.array([[2.0] * 3, [-1.0] * 3]), "below 0"),
        (np.full((2, 3), 0.4), "do not sum to 1"),
    ],
)
def test_what_is_no_policy_is_refused(answer: Float64, why: str) -> None:
    agent = Shifty(KUHN, 0)
    agent.answer = answer
    with pytest.raises(SettingError, match=why):
        list(checked_policies(agent))


NEWCOMER = """
from sog import Agent

class Caller(Agent):
    def policy(self, node):
        names = [self.game.action_name(self.state(node), int(a)) for a in self.game.actions(self.state(node))]
        legal = self.legal(node)
        wish = legal * [[1.0 if "call" in name.lower() or "pass" in name.lower() else 1e-9] for name in names]
        return wish / wish.sum(axis=0)

class NoAgent:
    pass

class TooMuch(Agent):
    def policy(self, node):
        return self.legal(node) * 1.0

class Acts(Agent):
    def policy(self, node):
        return self.legal(node) / self.legal(node).sum(axis=0)

    def act(self, node, infostate, rng):
        return 0

class ActsWildly(Acts):
    def act(self, node, infostate, rng):
        return 7
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A newcomer's module in the current folder."""
    (tmp_path / "newcomer_of_test.py").write_text(NEWCOMER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "newcomer_of_test", raising=False)
    return "newcomer_of_test"


def test_a_class_of_ones_own_is_measured_and_played_against(
    module: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["exploit", "leduc_poker", "--agent", f"{module}:Caller", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["game"], found["unit"], found["seeds"]) == ("leduc_poker", "mbb/h", 1)
    assert found["exploitability"]["mean"] > 1000
    monkeypatch.setattr(builtins, "input", lambda question: "1")
    assert main(["play", "kuhn_poker", "--agent", f"{module}:Caller", "--hands", "2", "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert "after 2 hands" in out and "100.0%" in out and "you might hold" not in out


@pytest.mark.parametrize(
    ("name", "why"),
    [("TooMuch", "the probabilities of an infostate do not sum to 1"), ("ActsWildly", "act returned 7, not the index")],
)
def test_in_play_too_what_is_no_policy_is_one_line_and_code_2(
    module: str, name: str, why: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builtins, "input", lambda question: "1")
    line = ["play", "kuhn_poker", "--agent", f"{module}:{name}", "--seat", "1", "--hands", "1", "--seed", "0"]
    assert main(line) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"sog: {name} at start: ") and why in error and error.count("\n") == 1


def test_an_agent_with_an_act_of_its_own_is_played_against(
    module: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["no such action", "²", *["1"] * 10])  # a digit to str.isdigit, and no number
    monkeypatch.setattr(builtins, "input", lambda question: next(answers))
    line = ["play", "kuhn_poker", "--agent", f"{module}:Acts", "--seat", "1", "--hands", "2", "--seed", "0"]
    assert main(line) == 0
    out = capsys.readouterr().out
    assert "after 2 hands" in out and out.count("agent: pass") == 2
    assert out.count("please answer with a number of this list, a name or its beginning, or q") == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("newcomer_of_test", "MODULE:CLASS"), ("newcomer_of_test:Nobody", "has no Nobody"),
        ("no_such_module:X", "No module named"), ("newcomer_of_test:NoAgent", "not a class derived from sog.Agent"),
    ],
)  # fmt: skip
def test_what_names_no_agent_is_refused(module: str, text: str, why: str) -> None:
    with pytest.raises(SettingError, match=why):
        agent_class(text)


def test_uniform_play_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exploit", "kuhn_poker", "--agent", UNIFORM, "--seeds", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["exploitability"]
    assert found["min"] == found["max"] == pytest.approx(found["mean"])
    assert (found["by_seed"], found["deviation"]) == ([found["min"]] * 2, 0.0)
    assert main(["exploit", "kuhn_poker", "--agent", UNIFORM]) == 0
    assert ", 1 seed, " in capsys.readouterr().out
    assert main(["exploit", "kuhn_poker", "--agent", UNIFORM, "-s", "5"]) == 2
    assert "only --seeds" in capsys.readouterr().err


def test_rebel_plays_at_the_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "input", lambda question: "1")
    line = "play kuhn_poker --algorithm rebel(updates=8) --seat 1 --hands 1 --seed 0"
    assert main(line.split()) == 0
    assert "after 1 hand," in capsys.readouterr().out
