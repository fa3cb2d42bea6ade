"""The hold'em solver with regrets and averages of 16 bits: what is rounded, what it costs, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sog.arrays import Array, Float32
from sog.errors import CheckpointError, GameError
from sog.games.holdem.game import Holdem
from sog.games.holdem.strings import holdem_from
from sog.games.strings import parse_game
from sog.searches.holdem.entries import Entries, decoded
from sog.searches.holdem.exact_values import below_turn
from sog.searches.holdem.saved import load, save
from sog.searches.holdem.solver import HoldemSolver

RIVER = "holdem(board=2s2h2d7c9c,pot=1000,stacks=4000,bets=0.5;1.0;allin)"
TURN = 'holdem(board=2s2h7d9c,pot=1000,stacks=2000,bets=1.0;allin,range0="AA,KQ:0.5,76s,QhJh",range1="JJ,AQo,T9s:0.3")'


def game(text: str) -> Holdem:
    return holdem_from(parse_game(text)[1])


def whole(solver: HoldemSolver, numbers: Array, scales: Float32) -> Float32:
    """All entries of a solver of 16 bits as float32: those of the top, then those below it."""
    program, entries = solver.program, Entries(numbers, scales)
    top, at = program.top.actions, program.top.actions * program.top_width
    first = decoded(entries, 0, 0, top, program.top_width)
    rest = decoded(entries, at, top, program.vectors - top, program.width)
    return np.concatenate([first.ravel(), rest.ravel()])


@pytest.mark.parametrize("text", [RIVER, TURN])
def test_an_iteration_is_that_of_32_bits_rounded(text: str) -> None:
    short, exact = HoldemSolver(game(text), bits=16), HoldemSolver(game(text))
    short.iterate(5)
    exact.regrets[:] = whole(short, short.regrets, short.regret_scales)
    exact.averages[:] = whole(short, short.averages, short.average_scales)
    exact.iterations = short.iterations
    for player in (0, 1):  # a half iteration at a time, so that the second begins where the first ends
        for solver in (short, exact):
            solver.update(player)
        for name, scales in (("regrets", short.regret_scales), ("averages", short.average_scales)):
            numbers, wanted = getattr(short, name), getattr(exact, name)
            width, top = short.program.width, short.program.top.actions * short.program.top_width
            rows, found = wanted[top:].reshape(-1, width), numbers[top:].reshape(-1, width)
            most = np.abs(rows).max(axis=1, keepdims=True)
            roots = np.sign(rows) * np.sqrt(np.abs(rows) / np.maximum(most, 1e-30)) * 32_767
            assert np.abs(found - roots).max() < 0.51
            np.testing.assert_allclose(scales[short.program.top.actions :], most[:, 0] / 32_767.0**2, rtol=1e-5)
            wanted[:] = whole(short, numbers, scales)


def test_half_the_memory_for_a_little_exploitability() -> None:
    short, exact = HoldemSolver(game(RIVER), bits=16), HoldemSolver(game(RIVER))
    for solver in (short, exact):
        solver.iterate(300)
    assert short.regrets.nbytes == exact.regrets.nbytes // 2
    assert short.program.memory(1, 16) < 0.75 * exact.program.memory(1)  # hand vectors stay float32
    ours, theirs = short.progress(), exact.progress()
    assert ours.of_pot < 0.005 and ours.exploitability < 1.5 * theirs.exploitability
    root = short.game.root()
    assert np.abs(short.policy(root) - exact.policy(root)).mean() < 0.02


@pytest.mark.parametrize("text", [RIVER, TURN])
def test_threads_give_the_same_bits(text: str) -> None:
    alone, together = (HoldemSolver(game(text), threads, bits=16) for threads in (1, 2))
    for solver in (alone, together):
        solver.iterate(6)
    assert alone.best_responses() == together.best_responses()


def test_a_stopped_solve_continues_to_the_same_bits(tmp_path: Path) -> None:
    straight, stopped = HoldemSolver(game(TURN), bits=16), HoldemSolver(game(TURN), bits=16)
    straight.iterate(20)
    stopped.iterate(12)
    save(stopped, stopped.progress(), tmp_path / "spot.npz")
    resumed, _ = load(tmp_path / "spot.npz")
    resumed.iterate(8)
    assert resumed.bits == 16
    for name in ("regrets", "averages", "regret_scales", "average_scales"):
        assert np.array_equal(getattr(resumed, name), getattr(straight, name))


def test_a_file_without_scales_is_refused(tmp_path: Path) -> None:
    path, solver = tmp_path / "spot.npz", HoldemSolver(game(RIVER), bits=16)
    save(solver, solver.progress(), path)
    with np.load(path) as saved:
        arrays = {name: saved[name] for name in saved if not name.endswith("_scales")}
    np.savez(path, **arrays)
    with pytest.raises(CheckpointError, match="can be read"):
        load(path)
    np.savez(path, **arrays, regret_scales=np.full(3, np.nan, dtype=np.float32), average_scales=np.zeros(3))
    with pytest.raises(CheckpointError, match="does not fit"):
        load(path)


def test_a_range_of_next_to_nothing_gives_no_nan() -> None:
    solver = HoldemSolver(game(RIVER), bits=16)
    solver.set_ranges(0, (solver.ranges[0][0] * 1e-28, solver.ranges[0][1] * 1e-28))
    solver.iterate(3)
    assert np.isfinite(whole(solver, solver.averages, solver.average_scales)).all()
    assert np.isfinite(solver.policy(solver.game.root())).all()


def test_refusals() -> None:
    with pytest.raises(GameError, match="32 or 16 bits, not 8"):
        HoldemSolver(game(RIVER), bits=8)
    solver = HoldemSolver(game(TURN), bits=16)
    with pytest.raises(GameError, match="solver of 32 bits"):
        solver.set_policy(solver.game.root(), solver.policy(solver.game.root()))
    with pytest.raises(GameError, match="32 bits"):
        below_turn(solver)
