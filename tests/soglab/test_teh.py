"""Turn endgame hold'em in the laboratory: leaves by equity, the anchors, ReBeL's Fig. 5, each on a small game."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import sog
from sog.agents.opening import open_network
from sog.algorithms.student.algorithm import Student
from sog.errors import CheckpointError, SettingError
from sog.games.base import NATURE
from sog.games.catalog import make_game
from sog.games.holdem.cards import disjoint_mass, disjoint_pairs, live_hands, permuted_hands
from sog.games.holdem.game import Holdem
from sog.games.holdem.strength import showdown_signs
from sog.measure.endgame import SAFE, EndgamePolicy, turn_tree
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.shape import shape_for
from sog.play.agent import SearchAgent
from sog.play.turn_chain import public_state
from sog.searches.cfr.rules import Rule
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import Beliefs
from sog.searches.tree.public_tree import PublicTree
from sog.training import checkpoint
from sog.training.checkpoint import load_network
from sog.training.opened import refuse_other
from sog.training.shipped import find_checkpoint, named_checkpoint
from soglab.papers import rebel_endgame, rebel_fig2, rebel_fig5_teh, teh_anchors, teh_network
from soglab.papers.teh import ENDGAME, SMALL_ENDGAME, CheckedDown, turn_game, turn_solved_by
from soglab.study import Options, StudyPoint


def test_the_game_is_the_one_that_full_game_cfr_is_measured_on() -> None:
    assert ENDGAME == rebel_endgame.ENDGAME


def test_equity_by_arithmetic() -> None:
    """A leaf's values: chips times what the hand wins less what it loses over all river cards, by plain matrices."""
    game = turn_game(SMALL_ENDGAME)
    public, evaluator = turn_tree(game), CheckedDown(game)
    node = next(n for n in range(public.size) if public_state(public, n) == evaluator.states[0])
    board = game.spot.board
    rng = np.random.default_rng(0)
    zero, one = (rng.random(1326) * live_hands(board) for _ in range(2))
    ranges = public.ranges_by_slot(node, (zero, one))
    (found,) = evaluator([Beliefs(public, np.array([node], dtype=np.int32), ranges[None])])
    won, apart = np.zeros(1326), disjoint_pairs(board)
    for card in (c for c in range(52) if c not in board):
        signs = showdown_signs((*board, card))
        won += (signs * apart) @ one / 44
    chips = game.spot.pot / 2 + evaluator.states[0].betting.matched
    expected = chips * won / np.maximum(disjoint_mass(one), 1e-300) * live_hands(board)
    assert found.values[0, public.places_of(node, 0)] == pytest.approx(expected, abs=0.01)


def test_anchors_in_order() -> None:
    """The better the leaves, the better the turn: worth nothing, worth their equity, solved."""
    points = [StudyPoint(key, teh_anchors.compute(key)) for key in teh_anchors.plan(Options(quick=True), print)]
    zero, equity, solved, cfr = (p.result["safe"]["exploitability"] for p in points)
    assert zero > 3 * equity > 9 * solved and solved < 0.01 * 2000 and cfr < equity
    assert points[2].result["own"]["exploitability"] < solved
    outcome = teh_anchors.present(points)
    assert len(outcome.rows) == 10 and "(its own)" in outcome.beside[2].ours


def test_the_papers_anchor_is_full_game_linear_cfr_of_125_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    def whole(game: Holdem, rule: Rule, iterations: int) -> None:
        asked.append((rule.name, iterations))
        raise StopIteration

    monkeypatch.setattr(teh_anchors, "_whole", whole)
    for key in teh_anchors.plan(Options(), print)[2:]:
        with pytest.raises(StopIteration):
            teh_anchors.compute(key)
    assert asked == [("dcfr", 1000), ("lcfr", 125)]


def test_fig_5s_solvers_on_the_turn() -> None:
    """CFR-D, CFR-AVE and fictitious play improve within eight iterations."""
    points = [StudyPoint(key, rebel_fig5_teh.compute(key)) for key in rebel_fig5_teh.plan(Options(quick=True), print)]
    curves = {p.key["solver"]: p.curve() for p in points}
    assert all(list(curve) == [1, 2, 4, 8] and min(curve.values()) > 0 for curve in curves.values())
    assert all(curves[name][8] < curves[name][1] / 2 for name in ("cfr-d", "cfr-ave", "fp"))
    assert rebel_fig5_teh.present(points).beside[0].what.startswith("cfr-d")


def test_fig_2s_lines(tmp_path: Path) -> None:
    """Perfect values; a run of self-play, with and without the policies it learned; a run of random beliefs."""
    options, runs = "network=1x8,updates=8,games=2", (tmp_path / "policies", tmp_path / "random")
    for run, setting in zip(runs, ("warm=2", "random_beliefs=true"), strict=True):
        sog.train(
            sog.Run(SMALL_ENDGAME.replace("3s7hTdKs", "turn"), algorithm=f"rebel({options},{setting})"), run, rounds=1
        )
    keys = rebel_fig2.plan(Options(quick=True, runs=runs), print)
    lines = ["perfect values", "self-play, values", "self-play, values and policies", "random beliefs"]
    assert [key["line"] for key in keys] == lines and keys[2]["warm"] == 2
    points = [StudyPoint(key, rebel_fig2.compute(key)) for key in keys]
    assert [list(p.curve()) for p in points] == [[1, 2, 4], [1, 2, 4], [4], [1, 2, 4]]
    assert all(min(p.curve().values()) > 0 for p in points)
    assert [beside.what for beside in rebel_fig2.present(points).beside] == [f"{line}: chips" for line in lines]
    with pytest.raises(CheckpointError, match="has learned on since"):
        rebel_fig2.compute({**keys[1], "network": "another"})
    with pytest.raises(SettingError, match="does not play holdem"):
        rebel_fig2.plan(Options(runs=(find_checkpoint("leduc_poker"),)), print)


def test_a_network_beside_what_needs_no_learning(tmp_path: Path) -> None:
    """A new network's values are those of hands checked down; its errors at beliefs of self-play are theirs."""
    family = make_game(ENDGAME.replace("3s7hTdKs", "turn"))
    network = CVPN(shape_for(family, 8, 1, "hands"))
    checkpoint.save(tmp_path / "new", network, family.name, "run", 0, {})
    options = Options(quick=True, runs=(tmp_path / "new",))
    points = [StudyPoint(key, teh_network.compute(key)) for key in teh_network.plan(options, print)]
    turn, played, drawn = (point.result for point in points)
    assert turn["safe"]["exploitability"] > 0 and played != drawn
    for errors in (played, drawn):
        assert errors["network"] == errors["checked_down"] and errors["network"]["by_hand"]["mean"] > 0.1
    assert "checked down" in teh_network.present(points).beside[1].ours
    with pytest.raises(CheckpointError, match="has learned on since"):
        teh_network.compute({**points[0].key, "network": "another"})


def test_held_out_beliefs_are_open_and_of_the_turns_end() -> None:
    family = make_game(ENDGAME.replace("3s7hTdKs", "turn"))
    assert isinstance(family, Holdem)
    unlearned = network_evaluator(CVPN(shape_for(family, 8, 1, "hands")))
    queries = [query for query, _ in zip(teh_network.held_out(family, unlearned), range(3), strict=False)]
    states = [query.public.states[query.node] for query in queries]
    assert all(len(state.board) == 4 and not state.betting.all_in for state in states)  # type: ignore[attr-defined]
    assert all(query.public.actor(query.node) == NATURE for query in queries)


@pytest.mark.slow
def test_the_shipped_networks_turn_is_better_than_that_of_equity() -> None:
    """The same linear CFR and the same rivers; a network that has learned nothing gives equity."""
    game, found = turn_game(ENDGAME), {}
    shipped = load_network(find_checkpoint(ENDGAME))[1]
    for name, network in {"shipped": shipped, "equity": CVPN(shape_for(game, 8, 1, "hands"))}.items():
        policy = EndgamePolicy(game)
        policy.solve_rivers(turn_solved_by(game, network_evaluator(network), 60), SAFE, 60)
        found[name] = policy.measure().exploitability
    assert found["shipped"] < 0.6 * found["equity"]


def test_hands_before_the_turn_are_not_played_by_the_shipped_network() -> None:
    for game in ("holdem", ENDGAME.replace("3s7hTdKs", "3s7hTd"), ENDGAME.replace("0.5;1.0;allin", "0.5;allin")):
        assert named_checkpoint(game) is None
    assert named_checkpoint(ENDGAME.replace("3s7hTdKs", "2c2d2h2s")) == find_checkpoint(ENDGAME)
    for other in ("holdem", ENDGAME.replace("0.5;1.0;allin", "0.5;0.7;1;2;allin")):
        with pytest.raises(SettingError, match="cannot play holdem"):
            open_network(ENDGAME, game=other)
    flop = make_game(ENDGAME.replace("3s7hTdKs", "3s7hTd"))
    with pytest.raises(SettingError, match="does not play holdem"):
        refuse_other(open_network(ENDGAME).network.shape, make_game(ENDGAME), flop)


@pytest.mark.parametrize(("game", "budget"), [("holdem(bets=random)", Budget(10, 0.1)), (ENDGAME, Budget(100, 1.0))])
def test_the_budget_of_play_where_none_is_set(game: str, budget: Budget) -> None:
    """The table of default budgets decides where none is set: PoG's (10, 0.1) before the turn, (100, 1) on it."""
    opened = open_network(game)
    public = PublicTree(opened.game)
    for algorithm, expected in ((Student(), budget), (Student(simulations=3, per_update=1.0), Budget(3, 1.0))):
        agent = algorithm.agents(public, opened)(0, 0)
        assert isinstance(agent, SearchAgent) and agent.settings.budget == expected


def test_a_turn_with_exchanged_suits_is_solved_alike() -> None:
    """Clubs become hearts, diamonds clubs, hearts spades and spades diamonds; leaves by a random network."""
    to, solved = permuted_hands([2, 0, 3, 1]), []
    for board in ("3s7hTdKs", "3d7sTcKd"):
        game = turn_game(f"holdem(board={board},pot=2000,stacks=2000,bets=0.5;allin,raises=allin)")
        turn = turn_solved_by(game, network_evaluator(random_network(game)), 8)
        solved.append({state.line: policy for state, policy in turn.policies.items()})
    policies, exchanged = solved
    assert policies.keys() == exchanged.keys() and len(policies) > 4
    for line, policy in policies.items():
        assert np.ptp(policy[0]) > 0.5, line
        np.testing.assert_allclose(policy, exchanged[line][:, to], atol=1e-3)


def random_network(game: Holdem) -> CVPN:
    """A small network over hands whose weights are drawn."""
    network, generator = CVPN(shape_for(game, 16, 2, "hands")), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator) * 0.2)
    return network
