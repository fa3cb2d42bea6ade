"""Presets: each game has all three, they differ as they say, and others are refused in one line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sog.agents.algorithms.table import PRESETS, preset
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.nets.cvpn import shape_for
from sog.search.cfr.rules import SOG
from sog.search.depth_limited.settings import CFR_D, REBEL_FP
from sog.search.gtcfr.search import PAPER
from sog.train.boards.actor import BoardActing
from sog.train.rebel.actor import RebelActing
from sog.train.settings import Variant
from sog.train.sog.actor import SogActing

GAMES = [
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=5)",
    "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    "rps",
    "tic_tac_toe",
    "connect_four",
    "chess",
    "go(board_size=9,komi=7.5)",
    "scotland_yard(map=glasses)",
]


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_every_preset(name: str) -> None:
    game = make_game(name)
    for chosen in PRESETS:
        settings = preset(game, chosen)
        shape, acting = settings.shape, settings.acting
        assert isinstance(acting, SogActing | BoardActing)
        assert isinstance(acting, BoardActing) == (game.planes is not None and chosen != "paper")
        fits = shape_for(game, shape.width, shape.depth, shape.kind, shape.crossed)
        assert (fits.features, fits.slots, fits.actions) == (shape.features, shape.slots, shape.actions)
        assert min(settings.replay, settings.games, acting.side_by_side, settings.rounds) > 0
        assert settings.learner.batch <= settings.replay
        if isinstance(acting, SogActing):
            assert acting.selfplay.resolve.budget.simulations > 0 and acting.queries.budget.simulations > 0
            assert not acting.selfplay.resolve.complete and acting.selfplay.resolve.gadget


def test_the_demo_is_a_short_full_run() -> None:
    demo, full = (preset(make_game("leduc_poker"), name) for name in ("demo", "full"))
    assert demo.shape == full.shape and demo.acting == full.acting
    assert demo.rounds * demo.games < full.rounds * full.games


def test_the_papers_preset_searches_as_the_paper_does() -> None:
    """PoG, table 3: one simulation an update, the paper's rule without our additions, alpha 0.5, w_p 0.01."""
    settings = preset(make_game("leduc_poker"), "paper")
    acting = settings.acting
    assert isinstance(acting, SogActing)
    assert acting.selfplay.resolve.search == acting.queries.search == PAPER
    assert PAPER.rule is SOG and not PAPER.fill and PAPER.warm_start == 0.0 and PAPER.select_average
    assert acting.selfplay.resolve.alpha == 0.5 and acting.selfplay.uniform_mix == 0.1
    assert (acting.selfplay.queries_per_search, acting.queries.recursive) == (0.9, 0.1)
    assert (settings.learner.batch, settings.learner.policy_weight) == (1024, 0.01)
    assert (settings.shape.width, settings.shape.depth) == (2048, 6)


@pytest.mark.parametrize("name", ["", "Demo", "tiny"])
def test_other_presets_are_refused(name: str) -> None:
    with pytest.raises(SettingError, match="known: demo, full, paper"):
        preset(make_game("kuhn_poker"), name)


def test_rebel_learns_with_the_solver_that_is_chosen() -> None:
    game = make_game("kuhn_poker")
    usual, other = preset(game, "full", "rebel"), preset(game, "full", "rebel", Variant("fp"))
    assert isinstance(usual.acting, RebelActing) and usual.acting.solve.solver is CFR_D
    assert usual.acting.solve.updates == 256
    solve = replace(usual.acting.solve, solver=REBEL_FP, updates=1024)  # fictitious play converges slowly
    assert other == replace(usual, acting=replace(usual.acting, solve=solve))


@pytest.mark.parametrize(("algorithm", "solver"), [("rebel", "cfr-ave"), ("rebel", "fq"), ("sog", "fp")])
def test_a_solver_that_cannot_serve_is_refused(algorithm: str, solver: str) -> None:
    with pytest.raises(SettingError, match=f"{solver}; known: cfr-d, .*fp|not sog$"):
        preset(make_game("kuhn_poker"), "full", algorithm, Variant(solver))


@pytest.mark.parametrize("algorithm", ["sog", "rebel", "alphazero"])
def test_a_network_of_another_size(algorithm: str) -> None:
    game = make_game("tic_tac_toe" if algorithm == "alphazero" else "kuhn_poker")
    usual, other = (preset(game, "full", algorithm, Variant(network=size)) for size in ("", "5x77"))
    assert other == replace(usual, shape=replace(usual.shape, depth=5, width=77))


@pytest.mark.parametrize("size", ["5", "x", "5x", "-5x7", "5x7x9", "0x9"])
def test_a_network_of_no_size_is_refused(size: str) -> None:
    with pytest.raises(SettingError, match=r"hidden layers x width|at least 1"):
        preset(make_game("kuhn_poker"), "full", variant=Variant(network=size))


def test_another_algorithm_is_refused() -> None:
    with pytest.raises(SettingError, match="known: sog"):
        preset(make_game("kuhn_poker"), "demo", "dqn")
