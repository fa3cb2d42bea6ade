"""The checks that train as a user does: what a run holds, when it ends, what stops leave, and how a refusal is read."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from sog.games.catalog import make_game
from soglab.checks import stops
from soglab.checks.fits import fit_of
from soglab.checks.training_process import CASES, PaperCase, memory_of, remedy_of, window_size

KUHN = PaperCase("kuhn", "kuhn_poker", "sog(simulations=3,network=1x8)")


def test_every_case_is_a_game() -> None:
    names = {case.name: make_game(case.string()).name for case in CASES}
    assert "inputs=paper" in make_game(CASES[3].string("paper")).name
    assert len(names) == 7 and "map=london40" in names["cut40"]


def test_a_refusal_says_what_to_set() -> None:
    said = ["sog: training chess would need 30 GB of memory; this machine has 24 GB: the setting batch=353 would fit"]
    assert remedy_of(said) == ("batch", "353") and remedy_of(["sog: no such game"]) is None


def test_memory_counts_what_a_process_holds() -> None:
    before = memory_of(os.getpid())
    block = bytearray(os.urandom(1)) * 50_000_000
    assert memory_of(os.getpid()) - before > 0.9 * len(block) and memory_of(2**22 + 1) == 0


def test_a_run_that_fits(tmp_path: Path) -> None:
    fit = fit_of(KUHN, "demo", 0.05, 1, tmp_path / "short")
    if fit.start is None:  # on a busy machine three seconds may pass without a look at the games
        fit = fit_of(KUHN, "demo", 1.0, 1, tmp_path / "longer")
    assert not fit.refused and fit.rounds > 0 and fit.rows > 0 and fit.row_bytes > 10
    assert fit.begun is not None and fit.start is not None and fit.start >= fit.begun
    assert 1e8 < fit.peak < 3e9 and str(fit).startswith("kuhn | demo |  | ")
    assert window_size(tmp_path / "nothing") == (0, 0)


def test_a_run_that_is_refused(tmp_path: Path) -> None:
    assert "no preset called none" in fit_of(KUHN, "none", 0.05, 1, tmp_path).refused


@pytest.mark.slow
def test_sigterm_and_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stops, "_LATEST", 2.0)
    (tmp_path / "term").mkdir()
    ended = stops.stopped(KUHN, "demo", 2, random.Random(0), tmp_path / "term")
    assert len(ended.seconds) == 2 and ended.faults == [] and "whole and resumed" in str(ended)
    rounds, rows, faults = stops.killed(2, random.Random(0), tmp_path)
    assert rounds > 0 and rows > 0 and faults == []


def test_a_resumed_run_is_the_same_and_another_is_not(tmp_path: Path) -> None:
    many, same = stops.same_after_stops("kuhn_poker", 8, random.Random(1), tmp_path)
    assert same and many >= 1
    assert stops._decides(tmp_path / "once") == stops._decides(tmp_path / "often")
