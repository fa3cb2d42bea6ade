"""`import sog`: it is quick, every name is there with words and an example, and each does what it says."""

from __future__ import annotations

import inspect
import math
import pydoc
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyspiel
import pytest
import torch
from open_spiel.python.algorithms.exploitability import nash_conv

import sog
from sog.errors import GameError, SettingError
from sog.games.base import Links, Moves, State, plain_moves
from sog.games.rules.kuhn import Kuhn
from sog.searches.cfr import exact
from sog.searches.leaves.evaluator import Beliefs, Evaluations, zero_answer, zero_evaluator

ROOT = Path(__file__).parents[1]


def test_importing_sog_imports_nothing_heavy() -> None:
    code = "import sys, sog; sys.exit(bool({'torch', 'numba', 'numpy', 'pyspiel'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("name", sog.__all__)
def test_every_name_is_there_with_words(name: str) -> None:
    found = getattr(sog, name)
    assert name in dir(sog)
    assert isinstance(found, int) or inspect.getdoc(found)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "solve",
            "exploitability",
            "load_agent",
            "load_run",
            "openspiel_bot",
            "search",
            "to_tabular_policy",
            "train",
            "Agent",
        )
    ],
)
def test_the_front_doors_functions_have_examples(name: str) -> None:
    assert "    " in (inspect.getdoc(getattr(sog, name)) or "") and "sog." in str(inspect.getdoc(getattr(sog, name)))


def test_a_name_that_there_is_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'solver'"):
        sog.solver  # noqa: B018


def test_search_and_train_are_plain_functions() -> None:
    assert inspect.isfunction(sog.search) and inspect.isfunction(sog.train)
    assert "leaves" in inspect.signature(sog.search).parameters
    assert "Growing-tree CFR" in pydoc.render_doc(sog.search)


def test_solve_finds_the_value_of_kuhn_poker() -> None:
    solution = sog.solve("kuhn_poker", algorithm="dcfr", iterations=1000)
    assert solution.value == pytest.approx(-1 / 18, abs=1e-4) and solution.exploitability < 1e-3
    assert sog.exploitability(solution) == solution.exploitability
    assert sog.exploitability(solution.policy, "kuhn_poker") == solution.exploitability
    assert solution.policy[0].shape == (2, 3) and solution.game.name == "kuhn_poker"


def test_exploitability_is_in_utilities_and_takes_agents() -> None:
    assert sog.exploitability(sog.UniformAgent, sog.make_game("leduc_poker")) == pytest.approx(2.3736111111111)


def test_search_of_a_whole_small_game_finds_its_policy() -> None:
    found = sog.search("rps", sog.Budget(200, 0.1))
    np.testing.assert_allclose(found.policy[:, 0], [0.4, 0.4, 0.2], atol=0.02)
    assert found.states > 3 and found.values[0] == pytest.approx(0.0, abs=0.02)
    tree = found.tree
    assert tree.size == found.states and tree.public_node(0) == 0 and len(tree.children(0)) == 1
    np.testing.assert_array_equal(tree.policy(0), found.policy)


def test_solve_takes_a_rule_of_ones_own() -> None:
    dcfr = sog.solve("kuhn_poker", "dcfr", iterations=50)
    same = sog.solve("kuhn_poker", sog.Rule("mine", alpha=1.5, beta=0.0, gamma=2.0), iterations=50)
    other = sog.solve("kuhn_poker", sog.Rule("mine", alpha=0.5, beta=0.0, gamma=2.0), iterations=50)
    assert same.exploitability == dcfr.exploitability != other.exploitability


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": 3}, "a rule's name is a word, not 3"),
        ({"alpha": math.nan}, "alpha of the rule mine is a number, not nan"),
        ({"beta": "1"}, "beta of the rule mine is a number, not '1'"),
        ({"gamma": math.inf}, "gamma of the rule mine is a number from -20 to 20, not inf"),
        ({"gamma": True}, "gamma of the rule mine is a number from -20 to 20, not True"),
        ({"predictive": 3}, "predictive of the rule mine is True or False, not 3"),
        ({"delay": -5}, "delay of the rule mine is a whole number of at least 0, not -5"),
    ],
)
def test_a_rule_of_ones_own_is_checked_when_it_is_made(fields: dict[str, Any], said: str) -> None:
    """Before, a rule that is not a number stopped in the middle of solving, or solved something else without a word."""
    with pytest.raises(SettingError) as error:
        sog.Rule(**({"name": "mine"} | fields))
    assert str(error.value) == said


def test_what_was_solved_and_found_is_said_in_a_line() -> None:
    """At Python's prompt and in an error a result is a line, not the policy of every state."""
    solved = sog.solve("kuhn_poker", iterations=10)
    assert repr(solved).startswith("Solution('kuhn_poker', value=-0.0") and "\n" not in repr(solved)
    assert repr(sog.search("kuhn_poker", sog.Budget(4, 1.0))).startswith("SearchResult('kuhn_poker', states=")
    with pytest.raises(SettingError, match=r"a text, not a value of type SearchResult$"):
        sog.match(sog.search("kuhn_poker", sog.Budget(4, 1.0)), "random", "kuhn_poker", hands=2)  # type: ignore[arg-type]


def test_a_solution_plays_a_match() -> None:
    """What it wins a hand from uniform play lies around the exact value of its policy against that."""
    solved = sog.solve("kuhn_poker", iterations=500)
    figures = sog.match(solved, "random", "kuhn_poker", hands=4_000, seed=3)
    uniform = {node: np.full(policy.shape, 1 / len(policy)) for node, policy in solved.policies()}
    mixed = [
        {node: (solved.policy if solved.public.actor(node) == seat else uniform)[node] for node in uniform}
        for seat in (0, 1)
    ]
    values = [exact.measure_policy(solved.public, policy).value for policy in mixed]
    expected = (values[0] - values[1]) / 2
    assert figures.interval95 is not None
    half = (figures.interval95[1] - figures.interval95[0]) / 2
    assert abs(figures.mean - expected) < 2 * half < 0.2
    with pytest.raises(SettingError, match="A is a solution of kuhn_poker, not of leduc_poker"):
        sog.match(solved, "random", "leduc_poker", hands=2)


def test_a_seat_is_one_of_two() -> None:
    agent = sog.load_agent("leduc_poker", simulations=5)
    assert agent.seat(1).player == 1
    for player in (2, -1, "0"):
        with pytest.raises(SettingError, match="a seat is player 0's or 1's, not"):
            agent.seat(player)  # type: ignore[arg-type]


def test_exploitability_over_seeds() -> None:
    agent = sog.load_agent("leduc_poker", simulations=5, seed=3)
    spread = sog.exploitability(agent, seeds=3)
    alone = [sog.exploitability(sog.load_agent("leduc_poker", simulations=5, seed=seed)) for seed in (3, 4, 5)]
    assert list(spread.by_seed) == alone and len(set(alone)) == 3
    assert spread.mean == pytest.approx(sum(alone) / 3)
    assert spread.standard_error == pytest.approx(np.std(alone, ddof=1) / math.sqrt(3))
    assert sog.exploitability(sog.UniformAgent, "kuhn_poker", seeds=2).deviation == 0.0
    with pytest.raises(SettingError, match="seeds"):
        sog.exploitability(agent, seeds=1)
    with pytest.raises(SettingError, match="the same for every seed"):
        sog.exploitability(sog.solve("kuhn_poker", iterations=1), seeds=2)


def test_a_solution_and_an_agent_become_openspiels_policies() -> None:
    solution = sog.solve("kuhn_poker", iterations=100)
    game = pyspiel.load_game("kuhn_poker")
    assert nash_conv(game, sog.to_tabular_policy(solution)) == pytest.approx(2 * solution.exploitability, abs=1e-9)
    agent = sog.load_agent("leduc_poker", simulations=2)
    theirs = nash_conv(pyspiel.load_game("leduc_poker"), sog.to_tabular_policy(agent))
    assert theirs == pytest.approx(2 * sog.exploitability(agent), abs=1e-9)


def test_what_an_agent_answers_may_be_changed() -> None:
    agent = sog.load_agent("leduc_poker", simulations=2)
    first = agent.policy(0)
    expected = first.copy()
    first[:] = 7.0
    np.testing.assert_array_equal(agent.policy(0), expected)


def test_a_solution_is_measured_on_the_game_that_is_named() -> None:
    """The name of a game from other ranges says nothing of these."""
    kuhn = sog.make_game("kuhn_poker")
    even, sure = (np.ones(3) / 3, np.ones(3) / 3), (np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]))
    one, other = sog.Rooted(kuhn, kuhn.root(), even), sog.Rooted(kuhn, kuhn.root(), sure)
    solution = sog.solve(one, iterations=10)
    assert one.name == other.name and sog.exploitability(solution, one) == solution.exploitability
    assert sog.exploitability(solution, other) == sog.exploitability(solution.policy, other) != solution.exploitability
    with pytest.raises(SettingError, match="from other ranges"):
        sog.match(solution, "random", other, hands=2)


def test_a_run_is_read_back(tmp_path: Path) -> None:
    sog.train(sog.Run("kuhn_poker", seed=2, algorithm="sog(games=4)"), tmp_path / "run", rounds=3)
    run = sog.load_run(tmp_path / "run")
    assert (run.game, run.algorithm, run.preset, run.seed) == ("kuhn_poker", "sog(games=4)", "demo", 2)
    assert run.round == 3 and run.curve["round"].tolist() == [1, 2, 3] and (np.diff(run.curve["rows"]) > 0).all()
    for damaged in ("round,minutes\n1\n", "hello\n", "round,minutes\n"):
        (tmp_path / "run" / "curve.csv").write_text(damaged)
        with pytest.raises(sog.CheckpointError, match=r"curve\.csv cannot be read: it is damaged"):
            sog.load_run(tmp_path / "run")
    with pytest.raises(sog.CheckpointError, match="no run is there"):
        sog.load_run(tmp_path)


def test_games_and_agents_say_what_they_are() -> None:
    assert repr(sog.make_game("leduc_poker")) == "<Leduc: leduc_poker>"
    said = repr(sog.load_agent("leduc_poker", simulations=50, seed=7))
    assert said == "LoadedAgent('leduc_poker', sog, simulations=50, per_update=1.0, seed=7)"


def test_train_leaves_a_checkpoint_that_load_agent_opens(tmp_path: Path) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        point = sog.train(sog.Run("kuhn_poker"), tmp_path / "run", rounds=1)
        assert torch.get_num_threads() == 2  # as the user's program had it
    finally:
        torch.set_num_threads(before)
    assert point.round == 1
    agent = sog.load_agent(str(tmp_path / "run"), simulations=5)
    assert agent.trained and agent.policy(0).shape == (2, 3)
    assert 0 <= sog.exploitability(agent) < 0.5


def test_a_loaded_agent_thinks_about_positions_of_a_board() -> None:
    agent = sog.load_agent("tic_tac_toe", simulations=100, per_update=10.0)
    assert agent.think([0, 3, 1, 4]).action == agent.think([0, 3, 1, 4]).action == 2  # three in a row
    with pytest.raises(GameError, match="illegal"):
        agent.think([0, 0])


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(SettingError, match="at least 1"):
        sog.solve("kuhn_poker", iterations=0)
    with pytest.raises(SettingError, match="which game"):
        sog.exploitability({})
    with pytest.raises(SettingError, match="have no policy"):
        sog.exploitability({}, "kuhn_poker")
    with pytest.raises(SettingError, match="train takes a game string, a game by public states or a Run, not 3"):
        sog.train(3, "runs/never")  # type: ignore[arg-type]
    with pytest.raises(GameError, match="no game is called"):
        sog.load_agent("no_game")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sog.search("kuhn_poker", leaves="leduc_poker"), "does not play kuhn_poker"),
        (lambda: sog.search("liars_dice(numdice=1,dice_sides=6)", leaves="leduc_poker"), "does not play liars_dice"),
        (lambda: sog.search("leduc_poker", (100, 1)), r"a search budget is sog\.Budget"),  # type: ignore[arg-type]
        (lambda: sog.search("kuhn_poker", leaves="kuhn_poker"), "no checkpoint is shipped for kuhn_poker"),
        (lambda: sog.exploitability(sog.solve("kuhn_poker", iterations=1), "leduc_poker"), "plays kuhn_poker, not"),
        (lambda: sog.exploitability("leduc_poker"), "not a name; sog.load_agent.*opens one"),  # type: ignore[call-overload]
        (lambda: sog.exploitability([[0.5]], "kuhn_poker"), "a policy is float64"),  # type: ignore[call-overload]
        (lambda: sog.load_agent(Path("no/such/folder")), "no such checkpoint"),
        (lambda: sog.load_agent("kuhn_poker").policy(9), "kuhn_poker has the public nodes 0 to 8, not 9"),
        (lambda: sog.load_agent("kuhn_poker").policy(-1), "a public node is a whole number of at least 0"),
        (lambda: sog.search("goofspiel(imp_info=True,num_cards=3,points_order=random)"), r"no player .*sog\.Rooted"),
        (lambda: sog.load_agent(3), "opened by a folder or a game string, not int"),  # type: ignore[arg-type]
        (lambda: sog.solve(Kuhn), "the class Kuhn; make an object"),  # type: ignore[arg-type]
        (lambda: sog.train("kuhn_poker", "/nowhere", minutes=-1.0), "minutes are a number above 0, not -1"),
        (lambda: sog.train("kuhn_poker", "/nowhere", rounds=0), "rounds is a whole number of at least 1, not 0"),
        (lambda: sog.Run("kuhn_poker", workers=0), "workers is a whole number of at least 1, not 0"),
        (lambda: sog.solve("kuhn_poker", "external-mccfr", seed=2**63), "seed is at most 9,223,372"),
        (lambda: sog.Run("kuhn_poker", seed=-1), "seed is a whole number of at least 0, not -1"),
        (lambda: sog.solve("kuhn_poker", iterations=1e3), r"iterations is .* not 1000\.0"),  # type: ignore[arg-type]
        (lambda: sog.Budget(True), "simulations is a whole number of at least 1, not True"),
        (lambda: sog.make_game(3), "a game string is a text, not 3"),  # type: ignore[arg-type]
        (lambda: sog.Run(3), "a run's game is a text, not 3"),  # type: ignore[arg-type]
        (lambda: sog.Run("kuhn_poker", algorithm=""), "a run's algorithm is a text, not ''"),
        (lambda: sog.load_run(3), "a run is read from its folder, not from 3"),  # type: ignore[arg-type]
        (lambda: sog.to_tabular_policy("kuhn_poker"), "takes a solution or a loaded agent"),  # type: ignore[arg-type]
        (
            lambda: sog.solve("kuhn_poker", sog.Rule("late", delay=9), 9),
            "after 9 iterations a delay of 9 leaves no pol",
        ),
        (lambda: sog.exploitability(sog.UniformAgent, "kuhn_poker", seed=-1), "seed is a whole number of at least 0"),
        (lambda: sog.exploitability(sog.Agent, "kuhn_poker"), "abstract class Agent"),
        (lambda: sog.Budget(10, "1"), "simulations per update are a finite number above 0, not '1'"),  # type: ignore[arg-type]
        (lambda: sog.load_agent("leduc_poker", 7, algorithm="sog(simulations=5)"), "simulations is given twice, as 5"),
        (lambda: sog.train("kuhn_poker", "x", minutes="1"), "a number above 0, not '1'"),  # type: ignore[arg-type]
        (lambda: sog.load_agent("leduc_poker", algorithm=5), "an algorithm is a text, not 5"),  # type: ignore[arg-type]
        (lambda: sog.train("kuhn_poker", ""), "out is a folder's name, not ''"),
        (lambda: sog.load_agent("kuhn_poker", simulations=0), "simulations is a whole number of at least 1, not 0"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(call: Callable[[], object], says: str) -> None:
    with pytest.raises(sog.SogError, match=says) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (np.full((2, 3), np.nan), "not a number"),
        (np.full((2, 3), 0.25), "do not sum to 1"),
        (np.float64(0.5), "of shape"),
        (np.full((2, 1), 0.5), "of shape"),
        (np.array([[3.0], [-2.0]]) * np.ones((1, 3)), "below 0"),
        (np.full((2, 3), 0.5 + 1j), "complex"),
    ],
)
def test_what_is_no_policy_is_not_measured(row: np.ndarray, says: str) -> None:
    """NaN was once taken for the uniform policy, and best responses to it for 0."""
    policy = {node: np.full((2, 3), 0.5) for node in sog.solve("kuhn_poker", iterations=1).policy}
    assert sog.exploitability(policy, "kuhn_poker") == pytest.approx(0.4583333)
    for node in policy:
        with pytest.raises(sog.SogError, match=says):
            sog.exploitability({**policy, node: row}, "kuhn_poker")


def test_an_evaluator_that_answers_nonsense_is_refused() -> None:
    def nan(requests: Sequence[Beliefs]) -> list[Evaluations]:
        return [answer._replace(values=answer.values * math.nan) for answer in map(zero_answer, requests)]

    for evaluator, says in (
        (nan, "values that are not finite"),
        (7, "a checkpoint, a game or a function, not int"),
        (lambda requests: None, "a list of Evaluations, not NoneType"),
        (lambda requests: [None], "a list of Evaluations, not a list with NoneType"),
        (lambda requests: [], "answered 0 of 1 requests"),
        (Beliefs, "a checkpoint, a game or a function, not type"),
        (lambda requests: [Evaluations(cast(Any, None), np.zeros(1))], "values that are no NumPy array, but NoneType"),
        (
            lambda requests: [each._replace(values=each.values.tolist()) for each in zero_evaluator(requests)],
            "but list",
        ),
        (lambda requests: [each._replace(values=each.values + 1j) for each in zero_evaluator(requests)], "complex128"),
        (lambda requests: [each._replace(logits=each.logits.astype(str)) for each in zero_evaluator(requests)], "<U32"),
    ):
        with pytest.raises(SettingError, match=says):
            sog.search("leduc_poker", sog.Budget(4, 1.0), leaves=cast(Any, evaluator))


def test_a_budget_that_the_algorithm_has_not_is_refused() -> None:
    with pytest.raises(SettingError, match="rebel has no simulations"):
        sog.load_agent("leduc_poker", algorithm="rebel", simulations=10)


def test_an_untrained_agent_says_so() -> None:
    with pytest.warns(UserWarning, match="kuhn_poker has no trained network"):
        sog.load_agent("kuhn_poker")


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"weights": lambda self, s: sog.Scaled(sog.Operator(np.ones((2, 2)) / 4))}, "weights are not float64"),
        ({"payoff": lambda self, s: sog.Scaled(sog.Operator(np.full((3, 3), np.nan)))}, "payoffs are not finite"),
        ({"fan": lambda self, s: sog.Fan(Kuhn.fan(self, s).children, plain_moves(3, 1))}, "moves' edges are not int32"),
        ({"fan": lambda self, s: sog.Fan(*each(self, s, [0, 1, 99]))}, "link sources of player 1 over edge 0 leave"),
        ({"fan": lambda self, s: sog.Fan(*each(self, s, [0, 1, -1]))}, "link sources of player 1 over edge 0 leave"),
        ({"fan": lambda self, s: sog.Fan(["b"], Kuhn.fan(self, s).moves)}, "the moves' edges leave"),
    ],
)
def test_a_game_of_ones_own_that_is_broken_is_refused_before_it_is_used(broken: dict[str, Any], says: str) -> None:
    """Each was solved to some value, or ended the process with a segmentation fault."""
    game = type("Broken", (Kuhn,), broken)()
    for call in (
        lambda: sog.solve(game, iterations=2),
        lambda: sog.search(game, sog.Budget(4, 1.0)),
        lambda: sog.exploitability(sog.UniformAgent, game),
        lambda: sog.match("random", "random", game, hands=2),
    ):
        with pytest.raises(GameError, match=says):
            call()


def each(game: Kuhn, s: State, source: list[int]) -> tuple[Sequence[State], Moves | None, list[tuple[Links, Links]]]:
    """A fan's parts, in which both players' infostates go over every edge as these sources say."""
    fan, links = Kuhn.fan(game, s), Links(np.array(source, np.int32), np.arange(3, dtype=np.int32))
    return fan.children, fan.moves, [(links, links)] * len(fan.children)
