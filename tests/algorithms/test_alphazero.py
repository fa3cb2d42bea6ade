"""AlphaZero's self-play: what rows hold, when games end, and runs that are the same again after a stop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sog.algorithms.alphazero.actor import AlphaZeroActing, AlphaZeroGame
from sog.algorithms.boards.actor import BoardActing
from sog.algorithms.boards.game import PositionVisit
from sog.algorithms.boards.rows import game_rows
from sog.algorithms.table import settings_of
from sog.errors import SettingError
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.shape import shape_for
from sog.play.selfplay import pick_action
from sog.searches.leaves.drive import run as run_search
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.mcts.search import PuctSettings
from sog.searches.tree.public_tree import PublicTree
from sog.training import checkpoint
from sog.training.run import Run, Until
from sog.training.self_play import train
from sog.training.settings import LearnerSettings, TrainSettings

GAME = TicTacToe()
SHAPE = shape_for(GAME, 16, 1)
ACTING = AlphaZeroActing(simulations=12, search=PuctSettings(noise=0.25), sampled_moves=4)


def played(acting: AlphaZeroActing, seed: int = 0) -> tuple[PublicTree, AlphaZeroGame]:
    game = AlphaZeroGame(PublicTree(GAME), acting, np.random.default_rng(seed))
    run_search(game, zero_evaluator)
    return game.public, game


def policy_of(visit: PositionVisit) -> np.ndarray:
    assert visit.policy is not None
    return visit.policy


def are_shares_of(simulations: int, visit: PositionVisit) -> bool:
    """Whether a policy target can be the shares of so many simulations."""
    counts = policy_of(visit) * simulations
    return bool(np.allclose(counts, counts.round()))


# --- games ---


def test_a_game_is_played_to_its_end() -> None:
    public, record = played(ACTING)
    squares = public.states[record.visits[-1].node]
    assert isinstance(squares, tuple) and len(record.visits) == len(squares) + 1
    assert record.utility in (-1.0, 0.0, 1.0)
    assert [len(policy_of(visit)) for visit in record.visits] == [9 - k for k in range(len(record.visits))]


def test_every_move_takes_new_simulations_on_top_of_the_kept_tree() -> None:
    _, kept = played(ACTING)
    _, fresh = played(replace(ACTING, reuse=False))
    assert all(are_shares_of(12, visit) for visit in fresh.visits)
    assert are_shares_of(12, kept.visits[0]) and not are_shares_of(12, kept.visits[1])
    assert any(are_shares_of(12 + before, kept.visits[1]) for before in range(1, 12))


def test_a_game_cut_short_is_a_draw() -> None:
    _, record = played(replace(ACTING, moves_max=3))
    assert len(record.visits) == 3 and record.utility == 0.0


def test_resigning_and_games_that_nobody_may_resign() -> None:
    hopeless = replace(ACTING, resign_below=1.0, no_resign=0.0)  # every value is below 1
    _, record = played(hopeless)
    assert record.resigned and len(record.visits) == 1 and record.utility == -1.0
    _, record = played(replace(hopeless, no_resign=1.0))
    assert not record.resigned and len(record.visits) > 4
    resigned = sum(played(replace(hopeless, no_resign=0.5), seed)[1].resigned for seed in range(40))
    assert 10 < resigned < 30


def test_early_moves_are_drawn_and_later_ones_are_the_most_visited() -> None:
    policy, rng = np.array([0.25, 0.75, 0.0]), np.random.default_rng(0)
    drawn = [pick_action(policy, True, rng) for _ in range(2000)]
    assert np.bincount(drawn, minlength=3) / 2000 == pytest.approx([0.25, 0.75, 0.0], abs=0.05)
    assert pick_action(policy, False, rng) == 1


# --- rows ---


def test_rows_hold_the_outcome_and_the_visits() -> None:
    public = PublicTree(GAME)
    node = public.child(0, 0) if public.list_fan(0) else -1
    first = np.array([0, 6, 2, 0, 0, 0, 0, 0, 0], dtype=np.float64) / 8
    visits = [PositionVisit(0, first, 0.5, 0.0, True), PositionVisit(node, np.full(8, 1 / 8), 0.25, 0.0, True)]
    rows = game_rows(public, visits, -1.0, SHAPE, share=0.0)
    assert rows.values.tolist() == [[-1.0, 1.0], [-1.0, 1.0]]
    assert rows.value_mask.all() and rows.policy_mask.all()
    assert rows.policies[0, 0] == pytest.approx(first)
    assert rows.policies[1, 0] == pytest.approx([0.0] + [1 / 8] * 8)
    assert rows.legal.sum(axis=2).tolist() == [[9], [8]] and not rows.legal[1, 0, 0]
    assert np.array_equal(rows.inputs[1, :20], GAME.features((0,)))


def test_a_round_does_not_depend_on_how_many_games_stand_side_by_side() -> None:
    evaluator = network_evaluator(CVPN(SHAPE, 3))
    found = []
    for width in (1, 5):
        actor = replace(ACTING, side_by_side=width).make(GAME, SHAPE)
        found.append(actor.round(6, evaluator, np.random.default_rng(7)))
    assert found[0].games == 6 and found[0].searches == len(found[0].rows)
    assert found[0].rows.content.tobytes() == found[1].rows.content.tobytes()


def test_hidden_information_is_refused() -> None:
    kuhn = make_game("kuhn_poker")
    with pytest.raises(SettingError, match="perfect information"):
        ACTING.make(kuhn, shape_for(kuhn, 8, 1))
    with pytest.raises(SettingError, match="perfect information"):
        settings_of(kuhn, "demo", "alphazero")


# --- presets and runs ---


@pytest.mark.parametrize("name", ["demo", "full", "paper"])
def test_presets_take_the_networks_of_student_of_games(name: str) -> None:
    for game in (GAME, make_game("connect_four")):
        own, sog = settings_of(game, name, "alphazero"), settings_of(game, name, "sog")
        assert own.shape == replace(sog.shape, policies_apart=False) and own.replay == sog.replay
        assert isinstance(own.acting, BoardActing if game.planes and name != "paper" else AlphaZeroActing)


def test_the_papers_preset() -> None:
    acting = settings_of(make_game("chess(inputs=paper)"), "paper", "alphazero").acting
    assert isinstance(acting, AlphaZeroActing)
    assert (acting.simulations, acting.sampled_moves, acting.moves_max) == (800, 30, 512)
    assert (acting.search.c_init, acting.search.c_base, acting.search.first_play_loses) == (1.25, 19_652.0, True)
    assert (acting.search.noise, acting.search.concentration) == (0.25, 0.3)


TINY = TrainSettings(
    replace(ACTING, side_by_side=4), LearnerSettings(batch=16, policy_weight=1.0), SHAPE, 200, games=4, rounds=6
)


def weights(folder: Path) -> dict[str, bytes]:
    _, network, _ = checkpoint.load_network(folder / "checkpoint")
    return {name: weight.tobytes() for name, weight in network.arrays().items()}


def test_a_run_is_the_same_again_and_after_a_stop(tmp_path: Path) -> None:
    run = Run("tic_tac_toe", "demo", 1, 1, "alphazero")
    for name in ("once", "again"):
        train(run, TINY, tmp_path / name)
    train(run, TINY, tmp_path / "stopped", Until(rounds=3))
    train(run, TINY, tmp_path / "stopped", resume=True)
    assert weights(tmp_path / "once") == weights(tmp_path / "again") == weights(tmp_path / "stopped")
    other = replace(run, seed=2)
    train(other, TINY, tmp_path / "other")
    assert weights(tmp_path / "other") != weights(tmp_path / "once")
