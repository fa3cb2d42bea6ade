"""The bench of CFR+: iterations to the target are the solver's own, slow solvers are stopped, ratios are to ours."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

import pyspiel
import pytest

from sog.games.catalog import make_game
from sog.games.strings import OPENSPIEL as PREFIX
from soglab.bench import cfr as bench_cfr
from soglab.bench.cfr import GAMES, QUICK_GAMES, TARGET, CfrRow, bench_game, fastest_other
from soglab.bench.cfr_solvers import (
    LITEEFG,
    OPENSPIEL,
    OURS,
    OURS_DELAYED,
    OURS_SIMULTANEOUS,
    has_liteefg,
    make_solvers,
)


class Halving:
    """Exploitability 1 / iterations, at a second an iteration."""

    def __init__(self, each: float = 1.0, setup: float = 0.0) -> None:
        self.done, self.each, self.setup_seconds = 0, each, setup

    def run(self, count: int) -> float:
        self.done += count
        return self.each * count

    def exploitability(self) -> float:
        return 1.0 / self.done


def test_iterations_and_seconds_to_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_cfr, "TARGET", 0.1)
    assert bench_cfr._run_to_target(Halving()) == (12, 12.0)  # 8 were too few


def test_a_slow_solver_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_cfr, "_MOST_SECONDS", 5.0)
    solver = Halving()
    assert bench_cfr._run_to_target(solver) is None
    assert solver.done == 6


def test_every_solver_reaches_the_target_on_kuhn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_cfr, "_REPETITIONS", 1)
    rows = {row.solver: row for row in bench_game("kuhn_poker", rounds=1, batch_seconds=0.001)}
    assert set(rows) == {OURS, OURS_SIMULTANEOUS, OURS_DELAYED, OPENSPIEL} | ({LITEEFG} if has_liteefg() else set())
    assert rows[OURS].iterations_to_target == rows[OPENSPIEL].iterations_to_target  # the same algorithm
    assert all(row.seconds_to_target for row in rows.values())


def test_a_solver_that_cannot_be_run_is_left_out() -> None:
    def refuse() -> Halving:
        raise EOFError

    assert list(bench_cfr._made({"a": Halving, "b": refuse})) == ["a"]


def test_exploitability_is_openspiels() -> None:
    """After the same iterations of the same algorithm; LiteEFG's averages differ, but come to an equilibrium too."""
    with ExitStack() as stack:
        solvers = {name: make() for name, make in make_solvers("leduc_poker", stack).items()}
        for solver in solvers.values():
            solver.run(60)
        found = {name: solver.exploitability() for name, solver in solvers.items()}
    spiel = pyspiel.load_game("leduc_poker")
    plain = pyspiel.CFRPlusSolver(spiel)
    for _ in range(60):
        plain.evaluate_and_update_policy()
    expected = pyspiel.nash_conv(spiel, plain.average_policy()) / 2
    assert found[OURS] == pytest.approx(expected, abs=1e-7)
    assert found[OPENSPIEL] == pytest.approx(expected, abs=1e-12)
    assert all(value < 0.2 for value in found.values())


def test_ratios_are_their_time_over_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours takes a second an iteration, a variant of it half and another program three, and 6 s of 12 to begin with.

    All take as many iterations to the target. Every ratio is to our CFR+, whichever of ours is the fastest.
    """
    makers = {OURS: partial(Halving, setup=6.0), OURS_DELAYED: partial(Halving, 0.5), OPENSPIEL: partial(Halving, 3.0)}
    monkeypatch.setattr(bench_cfr, "make_solvers", lambda name, stack: makers)
    monkeypatch.setattr(bench_cfr, "TARGET", 0.1)
    rows = list(bench_game("kuhn_poker", rounds=1))
    assert [(row.us_per_iteration, row.ratio_to_ours) for row in rows] == [(1e6, 1.0), (5e5, 0.5), (3e6, 3.0)]
    assert [(row.iterations_to_target, row.target_ratio) for row in rows] == [(12, 1.0), (12, 0.5), (12, 3.0)]
    assert [row.ratio_with_setup for row in rows] == [1.0, 6.0 / 18.0, 2.0]


def test_the_closest_other_program() -> None:
    rows = [
        CfrRow("a", OURS, 1.0, 1.0, 2.0, 1.0, 8, 0.0, 1.0),
        CfrRow("a", OURS_SIMULTANEOUS, 0.5, 0.5, 1.0, 0.5, 8, 0.0, 0.5),
        CfrRow("a", OPENSPIEL, 3.0, 3.0, 8.0, 4.0, 8, 0.0, 4.0),
        CfrRow("b", LITEEFG, 2.0, 2.0, None, None, None, 0.0, None),
    ]
    assert fastest_other(rows) == (2.0, 4.0)


def test_the_games() -> None:
    assert set(QUICK_GAMES) <= set(GAMES)
    assert sum(name.startswith(PREFIX) for name in GAMES) == 5
    for name in GAMES:
        if "universal_poker" not in name:
            assert make_game(name).u_max > 0
    assert TARGET == 1e-3
