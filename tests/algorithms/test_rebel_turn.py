"""ReBeL in turn spots of hold'em: rows of rivers solved exactly, and the policies of its iterations measured whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sog
from sog.algorithms.base import Asked
from sog.algorithms.rebel.actor import RebelActing, RebelActor
from sog.algorithms.rebel.algorithm import Rebel
from sog.algorithms.rebel.turn_spots import SampledTurn, average_turn, measure_turn
from sog.algorithms.student.actor import SogActing
from sog.algorithms.student.queries import QuerySettings
from sog.algorithms.student.selfplay import SelfPlaySettings
from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.games.holdem.cards import live_hands
from sog.games.holdem.game import Holdem, HoldemState
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings
from sog.progress import Report
from sog.searches.depth_limited.settings import CFR_D, MODIFIED_CFR_AVE, Solver, SolveSettings
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.holdem.exact_values import SpotBelief, exact_values
from sog.searches.leaves.evaluator import Clock, Droppable, Dropped, Timed
from sog.training.packing import unpack
from sog.training.rows import Rows

SPOT = 'holdem(board=3s7hTdKs,pot=2000,stacks=1000,bets=allin,range0="AA,QJs,76s",range1="KQ,T9s:0.5")'
FAMILY = "holdem(board=turn,pot=2000,stacks=9000:12000,bets=0.5;allin,raises=allin)"
QUERIES = QuerySettings(Budget(2), SearchSettings(), recursive=0.0)
TURN = SolveSettings(updates=8, depth=0, to_chance=True)


def turn(text: str) -> Holdem:
    game = make_game(text)
    assert isinstance(game, Holdem)
    return game


def rows_of(acting: RebelActing, games: int) -> tuple[RebelActor, Rows, int]:
    game = turn(FAMILY)
    actor = acting.make(game, shape_for(game, 8, 1, "hands"))
    evaluator = network_evaluator(CVPN(actor.shape))
    harvest = actor.round(games, evaluator, np.random.default_rng(3))
    return actor, unpack(actor.shape, harvest.rows), harvest.searches


def test_a_draws_games_share_one_solve_and_end_where_the_river_card_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    game = turn(FAMILY)

    def note(rng: np.random.Generator) -> Holdem:
        drawn.append("one")
        return type(game).drawn(game, rng)

    monkeypatch.setattr(game, "drawn", note)
    acting = RebelActing(TURN, games_a_draw=4, exact=4)
    actor = acting.make(game, shape_for(game, 8, 1, "hands"))
    harvest = actor.round(6, network_evaluator(CVPN(actor.shape)), np.random.default_rng(3))
    # Two draws, of four games and of two, each with one solve of the turn; every other solve is a game's last.
    assert len(drawn) == 2 and 2 <= harvest.searches <= 2 + 6
    rows = unpack(actor.shape, harvest.rows)
    assert 2 <= len(rows) <= harvest.searches
    assert rows.value_mask.any(axis=1).all() and np.abs(rows.values).max() > 0


def test_rows_of_rivers_are_the_spot_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    solved: list[tuple[SpotBelief, Float64]] = []

    def note(game: Holdem, beliefs: list[SpotBelief], iterations: int) -> Float64:
        values = exact_values(game, beliefs, iterations)
        assert iterations == 5
        solved.extend(zip(beliefs, values, strict=True))
        return values

    monkeypatch.setattr("sog.algorithms.rebel.actor.exact_values", note)
    _, rows, _ = rows_of(RebelActing(TURN, games_a_draw=3, exact=5), 3)
    assert solved and len(rows) == 1 + len(solved)
    for belief, _ in solved:
        assert isinstance(belief.state, HoldemState) and len(belief.state.board) == 4
        assert not belief.state.betting.all_in
        for weights in belief.ranges:
            assert weights.sum() == pytest.approx(1.0) and not weights[~live_hands(belief.state.board)].any()


def test_a_round_is_dropped_between_exact_solves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solves of rivers ask the evaluator nothing; the round looks between them."""
    solved: list[int] = []

    def note(game: Holdem, beliefs: list[SpotBelief], iterations: int) -> Float64:
        solved.append(len(beliefs))
        return exact_values(game, beliefs, iterations)

    monkeypatch.setattr("sog.algorithms.rebel.actor.exact_values", note)
    game = turn(FAMILY)
    actor = RebelActing(TURN, games_a_draw=32, exact=2).make(game, shape_for(game, 8, 1, "hands"))
    evaluator = Timed(Droppable(network_evaluator(CVPN(actor.shape)), lambda: bool(solved)), Clock())
    with pytest.raises(Dropped):
        actor.round(32, evaluator, np.random.default_rng(3))
    assert len(solved) == 1 and solved[0] <= 4


def test_random_beliefs_forget_the_solve() -> None:
    """Every hand has a uniform weight of its own, at most twice the mean; a solve's policies leave hands out."""
    for random in (True, False):
        acting = RebelActing(replace(TURN, updates=32), games_a_draw=8, exact=2, random_beliefs=random)
        actor, rows, _ = rows_of(acting, 8)
        first, count = actor.shape.features, actor.shape.slots[0]
        beliefs = rows.inputs[1:, first : first + count]  # the first row is the turn's root
        assert len(beliefs) >= 4
        held = np.count_nonzero(beliefs, axis=1)
        assert (held == 1128).all() if random else (held < 1128).any()
        if random:
            assert (beliefs.max(axis=1) * held / beliefs.sum(axis=1) < 2.2).all() and np.ptp(beliefs[0]) > 0


@pytest.mark.parametrize("solver", [CFR_D, MODIFIED_CFR_AVE], ids=lambda solver: solver.name)
def test_all_iterations_together_play_the_average_policies_on_the_turn(solver: Solver) -> None:
    game = turn(SPOT)
    evaluator = network_evaluator(CVPN(shape_for(game, 8, 1, "hands")))
    settings = SolveSettings(solver, updates=24, depth=0, to_chance=True)
    sampled = SampledTurn(game, settings, threads=1)
    seen = list[int]()
    sampled.run(evaluator, settings.weights, seen.append)
    assert seen == list(range(1, 13)) and sampled.measure().exploitability > 0
    averages = average_turn(game, settings, evaluator)
    root = game.root()
    assert isinstance(root, HoldemState) and len(averages.policies) > 2
    own = game.root_ranges()[0] > 0
    np.testing.assert_allclose(sampled.policy.solver.policy(root)[:, own], averages.policies[root][:, own], atol=2e-5)


def test_drawn_iterations_are_exploited_more_than_all_of_them() -> None:
    game = turn(SPOT)
    evaluator = network_evaluator(CVPN(shape_for(game, 8, 1, "hands")))
    settings = SolveSettings(updates=64, depth=0, to_chance=True)
    whole = measure_turn(game, settings, evaluator, threads=1)
    few = measure_turn(game, settings, evaluator, playthroughs=2, seed=1, threads=1)
    assert 0.0 < whole.exploitability < few.exploitability
    assert few.exploitability == measure_turn(game, settings, evaluator, 2, 1, threads=1).exploitability


def test_a_run_is_measured_on_the_board_that_is_named(tmp_path: Path) -> None:
    run = tmp_path / "run"
    sog.train(sog.Run(FAMILY, algorithm="rebel(network=1x8,updates=4,games=2)"), run, rounds=1)
    with pytest.raises(SettingError, match="--game says which of its family"):
        Rebel().exploit(run, Asked(), bar)
    game = "holdem(board=2c7d9hQs,pot=2000,stacks=1000,bets=1;allin)"
    found = Rebel(updates=4).exploit(run, Asked(game=game), bar)
    assert found.unit == "chips" and found.game == game and found.mean > 0
    assert found.settings["iterations_played"] == 2
    assert float(found.figures["mean_policy_safe_rivers"]) > 0
    drawn = Rebel(updates=4).exploit(run, Asked(game=game, playthroughs=1), bar)
    assert drawn.settings["iterations_played"] == 1 and drawn.mean != found.mean


@pytest.mark.parametrize(
    ("acting", "said"),
    [
        (RebelActing(exact=4), "exact is for hold'em"),
        (RebelActing(games_a_draw=2), "games_a_draw is for families"),
        (
            SogActing(SelfPlaySettings(ResolveSettings(Budget(2))), replace(QUERIES, exact_iterations=4)),
            "exact_iterations is for hold'em",
        ),
    ],
)
def test_settings_that_mean_nothing_in_a_game_are_refused(acting: RebelActing | SogActing, said: str) -> None:
    game = make_game("leduc_poker")
    with pytest.raises(SettingError, match=said):
        acting.make(game, shape_for(game, 4, 1))


@contextmanager
def bar(title: str, total: int | None, unit: str) -> Iterator[Report]:
    yield lambda done, note: None


@pytest.mark.parametrize(("board", "hands"), [("AsKd7c2h", 1), ("turn", 16)])
def test_the_presets_take_one_board_and_all_boards(board: str, hands: int) -> None:
    """Several hands leave a solve only where hands are drawn."""
    game = make_game(f"holdem(board={board})")
    assert isinstance(game, Holdem)
    settings = Rebel().settings(game, "demo")
    assert settings.acting.games_a_draw == hands
    settings.acting.make(game, settings.shape)
