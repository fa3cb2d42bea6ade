"""Presets: each game has all three, they differ as they say, and others are refused in one line."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from sog.algorithms.boards.actor import BoardActing
from sog.algorithms.boards.targets import RootStatistics, policy_target
from sog.algorithms.policy.presets import PolicySettings
from sog.algorithms.policy.settings import RnadSettings
from sog.algorithms.rebel.actor import RebelActing
from sog.algorithms.rebel.algorithm import Rebel
from sog.algorithms.student.actor import SogActing
from sog.algorithms.student.player import BOARDS as IN_PLAY
from sog.algorithms.table import settings_of
from sog.errors import SettingError
from sog.games.catalog import make_game, make_history_game
from sog.nets.shape import shape_for
from sog.searches.cfr.rules import SOG
from sog.searches.depth_limited.settings import CFR_AVE, CFR_D, REBEL_FP
from sog.searches.gtcfr.settings import PAPER, POG

GAMES = [
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=5)",
    "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    "rps",
    "tic_tac_toe",
    "connect_four",
    "chess(inputs=paper)",
    "go(board_size=9,komi=7.5)",
    "scotland_yard(map=glasses)",
]


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_every_preset(name: str) -> None:
    game = make_game(name)
    for chosen in ("demo", "full", "paper"):
        settings = settings_of(game, chosen)
        shape, acting = settings.shape, settings.acting
        assert isinstance(acting, SogActing | BoardActing)
        assert isinstance(acting, BoardActing) == (game.planes is not None and chosen != "paper")
        fits = shape_for(game, shape.width, shape.depth, shape.kind, shape.crossed)
        assert (fits.features, fits.slots, fits.actions) == (shape.features, shape.slots, shape.actions)
        assert min(settings.replay, acting.side_by_side, settings.rounds) > 0
        # 0: what takes half a minute.
        assert (settings.games == 0) == (game.planes is not None and chosen == "paper")
        assert settings.learner.batch <= settings.replay
        assert shape.value_planes == (16 if isinstance(acting, BoardActing) else 1)
        if isinstance(acting, SogActing):
            assert acting.selfplay.resolve.budget.simulations > 0 and acting.queries.budget.simulations > 0
            assert not acting.selfplay.resolve.complete and acting.selfplay.resolve.gadget


LONDON, GO19 = "scotland_yard(map=london,inputs=paper)", "go(board_size=19,komi=7.5)"


@pytest.mark.parametrize("name", ["holdem(inputs=paper)", LONDON, GO19])
def test_rounds_of_large_games_are_by_the_clock(name: str) -> None:
    game = make_game(name)
    assert {settings_of(game, preset).games for preset in ("demo", "full", "paper")} == {0}
    assert settings_of(make_game("go(board_size=9,komi=7.5)"), "demo").games > 0
    if not game.perfect_information:
        assert {settings_of(game, preset, "rebel").games for preset in ("demo", "full")} == {0}
    assert settings_of(make_game("leduc_poker"), "demo").games == 16
    assert settings_of(make_game("leduc_poker"), "full", "rebel").games == 256


@pytest.mark.parametrize("algorithm", ["sog", "alphazero"])
def test_the_papers_networks_see_no_planes_made_by_hand(algorithm: str) -> None:
    with pytest.raises(SettingError, match=r"see their own inputs: chess\(inputs=paper\)"):
        settings_of(make_game("chess"), "paper", algorithm)


@pytest.mark.parametrize("algorithm", ["sog", "rebel"])
def test_the_papers_networks_see_no_order_of_hands_made_by_hand(algorithm: str) -> None:
    with pytest.raises(SettingError, match=r"see their own inputs: holdem\(.*bets=0\.5,inputs=paper\)"):
        settings_of(make_game("holdem(bets=0.5)"), "paper", algorithm)


def test_the_demo_is_a_short_full_run() -> None:
    demo, full = (settings_of(make_game("leduc_poker"), name) for name in ("demo", "full"))
    assert demo.shape == full.shape and demo.acting == full.acting
    assert demo.rounds * demo.games < full.rounds * full.games


# PoG, Table 3, row by row, and the networks of Table 2. Batch, optimiser, learning rate, decay steps and rate, w_p,
# w_v, replay, updates an example, p_td1, q_search, q_recursive, epsilon, resign below, p_no_resign, greedy after, most
# moves, T_prior; layers and width; SoG's budget and PoG's.
BOARDS = (-0.9, 0.2, 30)
NEVER = (-2.0, 0.2, 0)
POKER = (1024, "adam", 1e-4, 2_000_000, 0.5, 0.01, 1, 1_000_000, 10, 0, 0.9, 0.1, 0.1, *NEVER, 0, 1, "6x2048")
YARD = (1024, "sgd", 0.1, 2_000_000, 0.5, 0.05, 1, 1_000_000, 5, 0, 0.3, 0.1, 0, *NEVER, 0, 1, "6x512")
TABLE_3 = {
    "chess(inputs=paper)": (
        (2048, "sgd", 0.1, 40_000, 0.8, 1, 0.25, 50_000_000, 1, 0, 1, 0.2, 0, *BOARDS, 512, 1.5, "19x256"),
        "(400,1)",
        "(800,1)",
    ),
    "go(board_size=19,komi=7.5)": (
        (2048, "sgd", 0.02, 200_000, 0.1, 1, 0.5, 50_000_000, 0.2, 0.2, 0, 0, 0, *BOARDS, 722, 1.5, "19x256"),
        "(400,1)",
        "(800,1)",
    ),
    "scotland_yard(map=glasses)": (YARD, "(100,1)", "(100,1)"),
    "scotland_yard(map=london,inputs=paper)": (YARD, "(400,1)", "(400,1)"),
    "leduc_poker": (POKER, "(100,1)", "(100,1)"),
    "holdem(stacks=20000,bets=0.5,inputs=paper)": (POKER, "(10,0.01)", "(10,0.1)"),
}


@pytest.mark.parametrize("pog", [False, True], ids=["SoG", "PoG"])
@pytest.mark.parametrize("name", TABLE_3)
def test_the_papers_presets_are_table_3(name: str, pog: bool) -> None:
    settings = settings_of(make_game(name), "pog" if pog else "paper")
    acting, learner = settings.acting, settings.learner
    assert isinstance(acting, SogActing)
    play, queries = acting.selfplay, acting.queries
    row, *budgets = TABLE_3[name]
    assert row == (
        learner.batch,
        learner.optimiser,
        learner.learning_rate,
        learner.decay_steps,
        learner.decay,
        learner.policy_weight,
        learner.value_weight,
        settings.replay,
        learner.updates_per_example,
        play.td1,
        play.queries,
        queries.recursive,
        play.uniform_mix,
        play.resign_below,
        play.no_resign,
        play.greedy_after,
        play.moves_max,
        play.resolve.search.prior_temperature,
        f"{settings.shape.depth}x{settings.shape.width}",
    )
    assert str(play.resolve.budget) == str(queries.budget) == budgets[pog]
    assert settings.shape.policies_apart == (settings.shape.kind == "mlp")
    assert learner.sum_policies and not play.td1_resigned and not play.reuse and play.resolve_positions
    assert play.uniform_queries and queries.uniform_recursive
    searches = replace(POG if pog else PAPER, prior_temperature=play.resolve.search.prior_temperature)
    assert play.resolve.search == queries.search == searches
    assert (play.resolve.alpha, play.main_line_policies) == ((0.2, False) if pog else (0.5, True))


def test_the_papers_search_is_that_of_the_text() -> None:
    assert PAPER.rule is SOG and PAPER.select_average and PAPER.fixed_belief and PAPER.whole_root
    assert not PAPER.correct and not PAPER.fill and PAPER.warm_start == 0.0


@pytest.mark.parametrize("algorithm", ["sog", "alphazero"])
def test_board_targets_that_are_learned_again_and_again_stay_three_times_as_far_apart(algorithm: str) -> None:
    """At temperature 1.5 a network that learns its own targets keeps 1.5 / (1.5 - 1) times what its values say.

    At 1 every round would add it anew, until one move is left.
    """
    acting = settings_of(make_game("connect_four"), "full", algorithm).acting
    assert isinstance(acting, BoardActing)
    values, visits, logits = np.array([0.02, 0.0]), np.array([16.0, 16.0]), np.zeros(2)
    for _ in range(60):
        target = policy_target(RootStatistics(logits, visits / 32.0, visits, values, 0.0), acting.play.target)
        logits = np.log(target)
    once = (50.0 + 16.0) * 0.25 * 0.5 * 0.02  # (c_visit + visits) * c_scale * half of the lead
    assert logits[0] - logits[1] == pytest.approx(3.0 * once)


def test_boards_are_searched_in_play_at_the_temperature_of_their_targets() -> None:
    acting = settings_of(make_game("connect_four"), "full").acting
    assert isinstance(acting, BoardActing)
    assert IN_PLAY.prior_temperature == acting.play.target.target_temperature


def test_only_student_of_games_has_pogs_preset() -> None:
    for algorithm in ("rebel", "alphazero"):
        with pytest.raises(SettingError, match=f"{algorithm} has no preset called pog; known: demo, full, paper"):
            settings_of(make_game("tic_tac_toe"), "pog", algorithm)


@pytest.mark.parametrize("name", ["", "Demo", "tiny"])
def test_other_presets_are_refused(name: str) -> None:
    with pytest.raises(SettingError, match="known: demo, full, paper, pog"):
        settings_of(make_game("kuhn_poker"), name)


def test_rebel_learns_with_the_solver_that_is_chosen() -> None:
    game = make_game("kuhn_poker")
    usual, other = settings_of(game, "full", "rebel"), settings_of(game, "full", "rebel(solver=fp)")
    assert isinstance(usual.acting, RebelActing) and usual.acting.solve.solver is CFR_D
    assert usual.acting.solve.updates == 256
    solve = replace(usual.acting.solve, solver=REBEL_FP, updates=1024)  # fictitious play converges slowly
    assert other == replace(usual, acting=replace(usual.acting, solve=solve))


def test_rebels_paper_preset_has_its_network_and_losses() -> None:
    """ReBeL, section 7 and appendix G: GELU with layer normalisation, squared errors of policies, 25% exploration."""
    settings = settings_of(make_game("kuhn_poker"), "paper", "rebel(warm=3)")
    assert isinstance(settings.acting, RebelActing) and settings.acting.epsilon == 0.25
    assert settings.shape.kind == "gelu" and settings.learner.squared_policies and settings.learner.policy_weight > 0
    with pytest.raises(SettingError, match="needs a plain MLP"):
        settings_of(make_game("kuhn_poker"), "paper", "rebel(solver=cfr-ave)")


@pytest.mark.parametrize("name", ["paper", "full"])
def test_rebel_plays_as_its_preset_solves(name: str) -> None:
    """ReBeL, section 6: "simply running the exact same algorithm at test time that was used during training"."""
    acting = settings_of(make_game("kuhn_poker"), name, "rebel(warm=3)").acting
    assert isinstance(acting, RebelActing)
    assert Rebel(warm=3, updates=acting.solve.updates).solving(name) == acting.solve
    assert (acting.solve.correct, acting.solve.hold) == ((False, 0.0) if name == "paper" else (True, 1.0))


def test_rebels_paper_preset_halves_its_rate_every_400_epochs() -> None:
    learner = settings_of(make_game("kuhn_poker"), "paper", "rebel").learner
    epoch = 25_600 // learner.batch
    assert [learner.rate_of(k * epoch) for k in (0, 399, 400, 800)] == [3e-4, 3e-4, 1.5e-4, 0.75e-4]


TURN = "holdem(board=turn,pot=2000,stacks=5000:50000,bets=0.5;1;allin,raises=0.75;allin,noise=0.1,inputs=paper)"


@pytest.mark.parametrize(("name", "first", "epochs"), [("holdem(inputs=paper)", 3e-4, 800), (TURN, 4e-4, 100)])
def test_rebels_paper_preset_of_holdem_is_appendix_g(name: str, first: float, epochs: int) -> None:
    """6 layers of 1,536, epochs of 2,560,000 examples in batches of 1,024, a window of 12 million, halved once."""
    settings = settings_of(game := make_game(name), "paper", "rebel")
    learner, shape, acting = settings.learner, settings.shape, settings.acting
    assert (shape.kind, shape.depth, shape.width, learner.batch) == ("gelu", 6, 1536, 1024)
    steps = epochs * 2_560_000 // 1024
    assert [learner.rate_of(k) for k in (0, steps - 1, steps)] == [first, first, first / 2]
    assert (settings.replay, settings.halved_at, settings.games) == (12_000_000, 20 * 2_560_000, 0)
    assert isinstance(acting, RebelActing) and acting.epsilon == 0.25 and not acting.share
    solve = acting.solve
    assert (solve.updates, solve.depth, solve.to_chance, solve.correct, solve.hold) == (1024, 0, True, False, 0.0)
    assert Rebel().solving("paper", game) == solve  # it plays as it was trained


def test_alphazeros_paper_preset_has_squared_errors_of_values() -> None:
    """(z - v)^2; the loss is Huber's, half of it up to an error of 1."""
    learner = settings_of(make_game("tic_tac_toe"), "paper", "alphazero").learner
    assert learner.value_weight * float(torch.nn.functional.huber_loss(torch.ones(1), torch.zeros(1))) == 1.0


def test_values_by_pair_are_those_of_a_network_with_matchups() -> None:
    game = make_game("kuhn_poker")
    usual, other = settings_of(game, "full", "rebel"), settings_of(game, "full", "rebel(solver=cfr-ave,recycle=0.05)")
    assert isinstance(usual.acting, RebelActing) and not usual.shape.matchups
    solve = replace(usual.acting.solve, solver=CFR_AVE, recycle=0.05)
    shape = replace(usual.shape, matchups=True)
    assert other == replace(usual, acting=replace(usual.acting, solve=solve), shape=shape)


@pytest.mark.parametrize(("algorithm", "solver"), [("rebel", "fq"), ("sog", "fp")])
def test_a_solver_that_cannot_serve_is_refused(algorithm: str, solver: str) -> None:
    with pytest.raises(SettingError, match=rf"one of cfr-d, .*fp.*, not {solver}$|sog has no setting solver"):
        settings_of(make_game("kuhn_poker"), "full", f"{algorithm}(solver={solver})")


@pytest.mark.parametrize("algorithm", ["sog", "rebel", "alphazero"])
def test_a_network_of_another_size(algorithm: str) -> None:
    game = make_game("tic_tac_toe" if algorithm == "alphazero" else "kuhn_poker")
    usual, other = (settings_of(game, "full", algorithm + given) for given in ("", "(network=5x77)"))
    assert other == replace(usual, shape=replace(usual.shape, depth=5, width=77))


@pytest.mark.parametrize("size", ["5", "x", "5x", "-5x7", "5x7x9", "0x9"])
def test_a_network_of_no_size_is_refused(size: str) -> None:
    with pytest.raises(SettingError, match=r"hidden layers x width|at least 1"):
        settings_of(make_game("kuhn_poker"), "full", f"sog(network={size})")


def test_another_algorithm_is_refused() -> None:
    with pytest.raises(SettingError, match="known: sog"):
        settings_of(make_game("kuhn_poker"), "demo", "dqn")


def test_rnads_paper_preset_is_sepots_table_2() -> None:
    """Line by line; 75,000 steps are section 5's. Battleship 7x7 alone clips V-trace's ratios at 3."""
    preset = settings_of(make_history_game("leduc_poker"), "paper", "rnad")
    assert isinstance(preset, PolicySettings) and isinstance(preset.learning, RnadSettings)
    learning = preset.learning
    assert (learning.eta, learning.shorts, learning.short, learning.long) == (0.2, 200, 500, 10_000)
    assert (learning.learning_rate, learning.rate_steps, learning.gradient_clip) == (0.0003, 0, 10_000.0)
    assert (learning.threshold, learning.advantage_clip, learning.c, learning.rho) == (2.0, 10_000.0, 1.0, math.inf)
    assert (learning.epsilon, learning.target_rate) == (1e-8, 0.001)
    assert (preset.games, preset.steps * preset.rounds) == (64, 75_000)
    assert (preset.shape.width, preset.shape.depth) == (1024, 2)
    for size, rho in ((5, math.inf), (7, 3.0)):
        board = f"board_width={size},board_height={size},ship_sizes=[1;2]"
        name = f"battleship({board},allow_repeated_shots=False,returns_type=win_loss)"
        clipped = settings_of(make_history_game(name), "paper", "rnad")
        assert isinstance(clipped, PolicySettings) and isinstance(clipped.learning, RnadSettings)
        assert clipped.learning.rho == rho
