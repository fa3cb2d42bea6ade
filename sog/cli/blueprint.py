"""Blueprints of whole hold'em at the command line: `sog solve 'holdem(bets=0.75)' --out blueprint.npz`."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Any

from sog.cli.frame import check_new, facts_table, print_json, progress_bar, say, stdout
from sog.cli.stopping import stop_notice
from sog.errors import CheckpointError, SettingError

if TYPE_CHECKING:
    from sog.games.holdem.game import Holdem
    from sog.opponents.holdem.blueprint import BlueprintSolver

__all__ = ["solve_blueprint"]

_ITERATIONS = 10_000_000
_SAVE_SECONDS = 60.0  # between two saves
_REPORT_SECONDS = 0.5  # about so long a batch of iterations takes


def solve_blueprint(game: Holdem, iterations: int | None, seed: int, out: Path | None, as_json: bool) -> None:
    """Count the buckets, iterate, and write the table to the new file `out`, about every minute and at the end."""
    from sog.opponents.holdem.blueprint import BUCKETS, BlueprintSolver, refuse_unsolved, save
    from sog.opponents.holdem.buckets import RIVERS, canonical_flops, tables

    if out is None:
        raise SettingError("whole hold'em is solved as a blueprint, a file that `sog match` plays: name one with --out")
    check_new(out)
    refuse_unsolved(game)
    with progress_bar("counting the buckets of hands", RIVERS, "boards") as report:
        counted = tables(canonical_flops().cards, BUCKETS, lambda done: report(done, ""))
    solver = BlueprintSolver(game, counted, BUCKETS, seed)
    if not as_json:
        stdout().print(f"{solver.decisions:,} decisions without cards, memory {solver.memory / 1e6:,.0f} MB")
    solver.iterate(1)  # compiles before the timing starts
    seconds = _run(solver, _ITERATIONS if iterations is None else iterations, out)
    blueprint = solver.blueprint()
    answer: dict[str, Any] = {
        "game": game.name,
        "algorithm": "external-mccfr",
        "iterations": solver.iterations,
        "seconds": seconds,
        "infosets_with_a_policy": blueprint.known,
        "megabytes": save(blueprint, out) / 1e6,
        "buckets_of_streets": blueprint.widths,
        "exploitability": None,
    }
    if as_json:
        print_json(answer)
        return
    preflop, *later = blueprint.widths
    facts = {
        "game": game.name,
        "iterations": f"{solver.iterations:,}",
        "seconds": f"{seconds:.3g} ({(solver.iterations - 1) / seconds:,.0f} iterations a second)",
        "information sets with a policy": f"{blueprint.known:,}",
        "file": f"{answer['megabytes']:.1f} MB",
        "buckets": f"{preflop} classes before the flop; {', '.join(map(str, later))} on flop, turn and river",
        "exploitability": "not computed: the table solves a game of buckets, which is not this game",
    }
    stdout().print(facts_table(facts))
    plays = f"sog match {quote(str(out))} equity --game {quote(game.name)} --hands 100"
    stdout().print(f"written to {out}; a match: {plays}", soft_wrap=True)


def _run(solver: BlueprintSolver, iterations: int, out: Path) -> float:
    """Iterate until there are `iterations`; the seconds without saving."""
    from sog.opponents.holdem.blueprint import save

    spent, batch, saved, notice = 0.0, 100, perf_counter(), [""]
    with progress_bar("solve", iterations, "iterations") as report, stop_notice(lambda: notice[0]):
        while solver.iterations < iterations:
            start = perf_counter()
            solver.iterate(min(batch, iterations - solver.iterations))
            took = perf_counter() - start
            spent += took
            batch = max(1, min(4 * batch, int(batch * _REPORT_SECONDS / max(took, 1e-6))))
            report(solver.iterations, "")
            if perf_counter() - saved > _SAVE_SECONDS:
                try:
                    save(solver.blueprint(), out)
                    notice[0] = f"{out} holds {solver.iterations:,} iterations"
                except CheckpointError as error:  # the disk may have room again at the next save
                    say(f"sog: not saved, and solving continues: {error}")
                saved = perf_counter()
    return spent
