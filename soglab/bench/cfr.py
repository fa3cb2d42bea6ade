"""CFR+ on whole games beside OpenSpiel's (C++) and LiteEFG's (C++): an iteration, and to a small exploitability.

The solvers take turns on one game and medians of their processor times are reported (each runs on one thread), so that
other programs on the machine matter little. An iteration updates both players once, on the whole game. How the
solvers are run is in cfr_solvers.py.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Annotated, Final

from soglab.bench.cfr_solvers import (
    LITEEFG,
    OPENSPIEL,
    OURS,
    TimedSolver,
    make_solvers,
)
from soglab.bench.form import Benchmark, Column, Report

QUICK_GAMES: Final = (
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=4)",
    "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    "openspiel:oshi_zumo(coins=4,size=1,horizon=4)",
)
# Every native game that OpenSpiel has, on the sizes that it can enumerate, and five that are compiled from OpenSpiel.
GAMES: Final = (
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=4)",
    "liars_dice(numdice=1,dice_sides=5)",
    "liars_dice(numdice=1,dice_sides=6)",
    "liars_dice(numdice=2,dice_sides=2)",
    "liars_dice(numdice=2,dice_sides=3)",
    "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    "goofspiel(imp_info=True,num_cards=4,points_order=random)",
    "goofspiel(imp_info=True,num_cards=5,points_order=descending)",
    "battleship(board_width=2,board_height=2,ship_sizes=[1;2],ship_values=[1;2],num_shots=2,"
    "allow_repeated_shots=False,loss_multiplier=1.0)",
    "tic_tac_toe",
    "openspiel:universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,firstPlayer=1 1,numSuits=2,"
    "numRanks=3,numHoleCards=1,numBoardCards=0 1,raiseSize=2 4,maxRaises=1 2)",
    "openspiel:oshi_zumo(coins=4,size=1,horizon=4)",
    "openspiel:dark_hex(num_rows=2,num_cols=2)",
    "openspiel:mnk(m=3,n=2,k=2)",
    "openspiel:blotto(coins=5,fields=3)",
)

TARGET: Final = 1e-3  # exploitability, in the game's own utilities: chips in poker
# A solver that needs longer than this for the target is stopped, one that needs less is run again for a median.
_MOST_SECONDS: Final = 30.0
_REPEATED_SECONDS: Final = 0.5
_REPETITIONS: Final = 3


@dataclass(frozen=True)
class CfrRow:
    """One solver on one game.

    ratio_to_ours: its time over that of our CFR+, which alternates as theirs do.  seconds_to_target,
    iterations_to_target: until exploitability (the mean over players) is at most TARGET, None where that takes more
    than 30 seconds; measuring it is not counted.  target_ratio: its seconds over those of our CFR+.
    setup_seconds: until the game is listed or loaded and the first iteration can begin, imports and compilation left
    out.  ratio_with_setup: as target_ratio, of seconds_to_target and setup_seconds together.
    """

    game: Annotated[str, Column("game", once=True)]
    solver: Annotated[str, Column("solver")]
    us_per_iteration: Annotated[float, Column("us/iteration", ",.4g")]
    ratio_to_ours: Annotated[float, Column("x ours", ",.3g")]
    seconds_to_target: Annotated[float | None, Column(f"seconds to {TARGET:g}", ".3g", missing="not in 30")]
    target_ratio: Annotated[float | None, Column("x ours", ",.3g")]
    iterations_to_target: Annotated[int | None, Column("iterations", ",")]
    setup_seconds: Annotated[float, Column("setup", ".2g", unit="s")]
    ratio_with_setup: Annotated[float | None, Column("x ours with it", ",.3g")]


def bench_game(name: str, rounds: int = 9, batch_seconds: float = 0.1) -> Iterator[CfrRow]:
    """One row for each solver: the median of `rounds` batches that last about `batch_seconds` each.

    A batch has at least one iteration. GameError where there is no such game or OpenSpiel lacks it.
    """
    with ExitStack() as stack:
        makers = make_solvers(name, stack)
        solvers = _made(makers)
        first = {solver: _run_to_target(timed) for solver, timed in solvers.items()}
        medians = _interleaved(solvers, rounds, batch_seconds)
        reached = _repeated(makers, {solver: run for solver, run in first.items() if run is not None})
    ours, our_setup = reached.get(OURS), solvers[OURS].setup_seconds
    for solver, each in medians.items():
        (iterations, seconds), setup = reached.get(solver, (None, None)), solvers[solver].setup_seconds
        ratio = whole = None
        if seconds is not None and ours is not None:
            ratio, whole = seconds / ours[1], (seconds + setup) / (ours[1] + our_setup)
        speed = 1e6 * each, each / medians[OURS]
        yield CfrRow(name, solver, *speed, seconds, ratio, iterations, setup, whole)


def _made(makers: Mapping[str, Callable[[], TimedSolver]]) -> dict[str, TimedSolver]:
    """A solver of each kind that can be run on the game."""
    out = {}
    for name, make in makers.items():
        with suppress(EOFError):
            out[name] = make()
    return out


def _run_to_target(solver: TimedSolver) -> tuple[int, float] | None:
    """The iterations and seconds of a new solver to the target; None where it takes longer than it may.

    Exploitability is measured after 1, 2, 3, 4, 6, 8, 12, 16, ... iterations.
    """
    seconds, done = 0.0, 0
    for count in _checks():
        seconds += solver.run(count - done)
        done = count
        if solver.exploitability() <= TARGET:
            return done, seconds
        if seconds > _MOST_SECONDS:
            break
    return None


def _checks() -> Iterator[int]:
    count = 1
    yield count
    while True:
        count *= 2
        yield count
        yield count * 3 // 2


def _repeated(
    makers: Mapping[str, Callable[[], TimedSolver]], first: Mapping[str, tuple[int, float]]
) -> dict[str, tuple[int, float]]:
    """Medians of new runs of the same iterations, the solvers in turn, where the first run was short."""
    short = {name: count for name, (count, seconds) in first.items() if seconds < _REPEATED_SECONDS}
    turns = [{name: makers[name]().run(count) for name, count in short.items()} for _ in range(_REPETITIONS)]
    medians = {name: (count, statistics.median(turn[name] for turn in turns)) for name, count in short.items()}
    return {**first, **medians}


def _interleaved(solvers: Mapping[str, TimedSolver], rounds: int, batch_seconds: float) -> dict[str, float]:
    """Median seconds an iteration of each solver."""
    batches = {name: _batch(solver, batch_seconds) for name, solver in solvers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in solvers}
    for _ in range(rounds):
        for name, solver in solvers.items():
            seconds[name].append(solver.run(batches[name]) / batches[name])
    return {name: statistics.median(times) for name, times in seconds.items()}


def _batch(solver: TimedSolver, batch_seconds: float) -> int:
    """How many iterations last about `batch_seconds`."""
    count = 1
    while (took := solver.run(count)) < batch_seconds / 2:
        count *= 2
    return max(1, round(count * batch_seconds / took))


def fastest_other(rows: Sequence[CfrRow]) -> tuple[float, float | None]:
    """The smallest ratios of other programs' solvers to ours: an iteration, and to the target."""
    others = [row for row in rows if row.solver in (OPENSPIEL, LITEEFG)]
    to_target = [row.target_ratio for row in others if row.target_ratio is not None]
    return min(row.ratio_to_ours for row in others), min(to_target, default=None)


def _caption(rows: Sequence[CfrRow]) -> str:
    iteration, to_target = fastest_other(rows)
    reaching = "" if to_target is None else f", {to_target:.3g} x to {TARGET:g}"
    return f"the fastest other solver takes {iteration:.3g} x our time an iteration{reaching}"


CFR: Final = Benchmark("bench cfr", "games", caption=_caption)


def bench_games(games: Sequence[str], rounds: int, report: Report) -> Iterator[CfrRow]:
    """Rows of several games, one game after another; `report` is called with how many are done and which is next."""
    for k, game in enumerate(games):
        report(k, game)
        yield from bench_game(game, rounds)
