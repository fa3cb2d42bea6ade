"""How fast hold'em is solved: milliseconds per iteration and seconds to half a percent of the pot, by threads and bits.

Both ranges hold every hand. Kernels are compiled and the solvers are made before the timing starts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.holdem.game import Holdem
from sog.games.holdem.strings import holdem_from
from sog.games.strings import parse_game
from sog.searches.holdem.solver import HoldemSolver
from soglab.bench.form import Benchmark, Column, Report

TARGET: Final = 0.005  # of the pot
SOLVERS: Final = ((1, 32), (2, 32), (1, 16))  # threads, and bits of regrets and averages


@dataclass(frozen=True)
class TimedSpot:
    """A spot and how it is timed: `bursts` of `iterations` each, then `solves` to the target."""

    name: str
    game: str
    bursts: int
    iterations: int
    solves: int


RIVER: Final = TimedSpot("river", "holdem(board=2s2h2d7c9c,pot=1000,stacks=20000,bets=0.5;1.0;allin)", 30, 20, 5)
TURN: Final = TimedSpot("turn", "holdem(board=3s7hTdKs,pot=1000,stacks=20000,bets=0.5;1.0;allin)", 7, 1, 1)


@dataclass(frozen=True)
class HoldemRow:
    """One spot solved by one number of threads, in 32 or 16 bits; a line of the benchmark.

    ms_per_iteration: median over bursts, without measuring exploitability.  fastest_ms: of the fastest burst.
    processor_ms: median processor time of all our threads, for machines that run other programs too.
    speedup: median over rounds of bursts of one thread's time divided by this one's in the same round.
    seconds_to_half_percent: median over solves, until exploitability is at most TARGET of the pot; it is measured every
    20 iterations, which counts.  iterations: until then.  load: how many processes wanted a core at the end, our
    threads included.
    """

    spot: Annotated[str, Column("spot")]
    game: str
    threads: Annotated[int, Column("threads")]
    bits: Annotated[int, Column("bits")]
    ms_per_iteration: Annotated[float, Column("ms", ".3f")]
    fastest_ms: Annotated[float, Column("fastest", ".3f")]
    processor_ms: Annotated[float, Column("cpu ms", ".3f")]
    speedup: Annotated[float, Column("speedup", ".2f")]
    seconds_to_half_percent: Annotated[float, Column("seconds", ".3g")]
    iterations: Annotated[int, Column("iter.", ",")]
    memory_mb: Annotated[float, Column("MB", ",.0f")]
    load: Annotated[float, Column("load", ".1f")]


HOLDEM: Final = Benchmark("bench holdem", "steps", "milliseconds an iteration; seconds and iterations to 0.5%")


def game_of(text: str) -> Holdem:
    """The hold'em game of a game string."""
    return holdem_from(parse_game(text)[1])


def bench_holdem(spots: Sequence[TimedSpot], report: Report) -> Iterator[HoldemRow]:
    """Rows of several spots, one spot after another."""
    done = 0
    for spot in spots:
        yield from bench_spot(spot, report, done)
        done += steps(spot)


def bench_spot(spot: TimedSpot, report: Report, done: int = 0) -> Iterator[HoldemRow]:
    """Time each of SOLVERS; `report` gets how many bursts and solves are done, and what the last one took.

    done: before the first of them.
    """
    game = game_of(spot.game)
    solvers = [HoldemSolver(game, threads, bits=bits) for threads, bits in SOLVERS]
    for solver in solvers:
        solver.solve(0.0, 1)  # compiles and touches every page
    paces = np.empty((spot.bursts, len(solvers), 2))
    for burst in paces:  # in turn, so that other programs slow all of them down alike
        for k, solver in enumerate(solvers):
            burst[k] = _pace(solver, spot.iterations)
            report(done := done + 1, f"{_name(spot, solver)}, {burst[k, 0]:.3g} ms an iteration")
    for k, solver in enumerate(solvers):
        solves = []
        for _ in range(spot.solves):
            solves.append(_solve(solver))
            report(done := done + 1, f"{_name(spot, solver)}, {solves[-1]:.3g} s to half a percent")
        yield _timing(spot, solver, paces[:, k], paces[:, 0, 0] / paces[:, k, 0], solves)


def _timing(spot: TimedSpot, solver: HoldemSolver, paces: Float64, speedups: Float64, solves: list[float]) -> HoldemRow:
    """paces: float64[bursts, 2], results of `_pace`.  speedups: float64[bursts].  solves: seconds."""
    ms, processor_ms = np.median(paces, axis=0).tolist()
    fastest, speedup = float(paces[:, 0].min()), float(np.median(speedups))
    memory, load = solver.program.memory(solver.threads, solver.bits) / 1e6, os.getloadavg()[0]
    times = ms, fastest, processor_ms, speedup, float(np.median(solves))
    return HoldemRow(spot.name, solver.game.name, solver.threads, solver.bits, *times, solver.iterations, memory, load)


def _name(spot: TimedSpot, solver: HoldemSolver) -> str:
    return f"{spot.name}, {solver.threads} threads, {solver.bits} bits"


def steps(spot: TimedSpot) -> int:
    """How many bursts and solves `bench_spot` reports."""
    return (spot.bursts + spot.solves) * len(SOLVERS)


def _pace(solver: HoldemSolver, iterations: int) -> tuple[float, float]:
    """Milliseconds per iteration: wall time and processor time."""
    start, processor = time.perf_counter(), time.process_time()
    solver.iterate(iterations)
    spent = time.perf_counter() - start, time.process_time() - processor
    return 1000 * spent[0] / iterations, 1000 * spent[1] / iterations


def _solve(solver: HoldemSolver) -> float:
    """Seconds from the first iteration to TARGET."""
    solver.restart()
    start = time.perf_counter()
    while not solver.iterations or solver.progress().of_pot > TARGET:
        solver.iterate(20)
    return time.perf_counter() - start


def chosen(names: Sequence[str]) -> list[TimedSpot]:
    """The spots with these names, all where none is named; SettingError for another name."""
    known = {spot.name: spot for spot in (RIVER, TURN)}
    for name in names:
        if name not in known:
            raise SettingError(f"a spot is {' or '.join(known)}, not {name}")
    return [known[name] for name in dict.fromkeys(names)] or list(known.values())
