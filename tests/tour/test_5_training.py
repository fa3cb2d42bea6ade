"""Tour, 5 of 6. Training: self-play by re-solving leaves rows, a network learns from them, and plays the next round.

Next: test_6_your_own_game.py. The algorithm's folder is sog/algorithms/student, the loop sog/training/loop.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sog
from sog.algorithms.table import read, settings_of
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.training.packing import unpack
from sog.training.workers import make_actor

# A small run: Kuhn poker, searches of ten expansions, eight games a round, a network of one layer of 16.
SMALL = "sog(games=8,network=1x16,simulations=10)"


def test_an_algorithm_string_changes_a_preset() -> None:
    settings = settings_of(sog.make_game("kuhn_poker"), "demo", SMALL)
    assert settings.games == 8 and settings.shape.width == 16  # type: ignore[attr-defined]
    assert str(read(SMALL)) == SMALL


def test_an_actor_plays_games_and_hands_back_rows() -> None:
    """A row is a belief, the values that a search found for it, and for some the policy."""
    settings = settings_of(sog.make_game("kuhn_poker"), "demo", SMALL)
    actor = make_actor("kuhn_poker", settings)  # type: ignore[arg-type]
    harvest = actor.round(8, network_evaluator(CVPN(settings.shape, seed=0)), np.random.default_rng(0), 0)
    assert harvest.games == 8 and harvest.queries > 0
    rows = unpack(settings.shape, harvest.rows)
    assert np.abs(rows.values).max() <= 1.0 and rows.value_mask.any()


def test_a_run_learns_and_can_be_resumed(tmp_path: Path) -> None:
    """Three rounds at once, or two and one more: the same network, to the bit."""
    run = sog.Run("kuhn_poker", algorithm=SMALL)
    sog.train(run, tmp_path / "whole", rounds=3)
    sog.train(run, tmp_path / "parts", rounds=2)
    point = sog.train(run, tmp_path / "parts", rounds=3, resume=True)
    assert point.round == 3 and point.steps > 0
    networks = [next((tmp_path / name / "checkpoint").glob("network.*")) for name in ("whole", "parts")]
    assert networks[0].read_bytes() == networks[1].read_bytes()


def test_the_network_is_measured_by_the_play_that_it_leads_to(tmp_path: Path) -> None:
    sog.train(sog.Run("kuhn_poker", algorithm=SMALL), tmp_path / "run", rounds=5)
    agent = sog.load_agent(tmp_path / "run", simulations=20)
    assert sog.exploitability(agent) < sog.exploitability(sog.UniformAgent, "kuhn_poker") == pytest.approx(11 / 24)
