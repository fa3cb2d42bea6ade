"""`sog reproduce`: a paper's figure or table made again."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from sog.cli.frame import ClusterOption, JsonOption, figures_table, print_json, print_table, progress_bar, say, stdout
from sog.cli.options import LARGEST_COUNT, MOST_PROCESSES, above_zero
from sog.cli.stopping import stop_notice
from sog.errors import SettingError

if TYPE_CHECKING:
    from soglab.reproduce import Reproduced


def reproduce(
    name: Annotated[str | None, typer.Argument(metavar="[ID]", help="An experiment's id; --list shows them.")] = None,
    as_list: Annotated[bool, typer.Option("--list", help="List the experiments instead.")] = False,
    out: Annotated[Path, typer.Option(help="Results go to a folder in here named by the id.")] = Path("results"),
    quick: Annotated[bool, typer.Option("--quick", help="A small version, to see that it works.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Also the most expensive points.")] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=LARGEST_COUNT, help="Number of seeds, where the experiment has any.")
    ] = None,
    run: Annotated[list[Path] | None, typer.Option(help="A training run's folder; repeat for several.")] = None,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper", help="The papers' regret rule and search settings; of SePoT the paper's gadget (alpha 1)."
        ),
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(callback=above_zero, help="Minutes of one core for each training run, where there are any."),
    ] = None,
    only_finished: Annotated[
        bool, typer.Option("--so-far", help="Show the results of the finished points; compute none and write no file.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, max=MOST_PROCESSES, help="Processes; by default one per core.")
    ] = None,
    cluster: ClusterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run an experiment of a paper and write its points, CSV and PNG.

    Stop it at any time: finished points are kept in results/ID/points.jsonl, and the same command continues
    from there, or shows their results with --so-far. Remove that folder to start over. A check that fails ends
    with exit code 1.
    """
    if as_list:
        chosen = (name, quick, full, seeds is not None, run, paper, minutes, only_finished, workers, cluster)
        if any(chosen):
            raise SettingError("--list takes no experiment, and of the options --out and --json alone")
        _list(out, as_json)
        return
    if name is None:
        raise SettingError("no experiment was named; `sog reproduce --list` shows them")
    from sog.cluster.placement import placement_of
    from soglab.reproduce import Reproduction, find
    from soglab.study import Options

    placement = placement_of(cluster, workers)
    experiment = find(name)
    if experiment.study.alone and (workers is not None or cluster is not None):
        raise SettingError(f"{name} measures time, one point after the other: leave out --workers and --cluster")
    if "runs" in experiment.study.takes:
        _check_runs(run or ())
    started = time.monotonic()
    options = Options(quick, full, seeds, tuple(run or ()), paper, minutes)
    work = Reproduction(experiment, options, out, say)
    if only_finished:
        if workers is not None or cluster is not None:
            raise SettingError("--so-far computes nothing, so --workers and --cluster have no use with it")
        done = work.so_far()
        _print(done, work.done, len(work.keys), time.monotonic() - started, as_json)
        _end(done)
        return
    message = f"finished points are kept in {work.folder}: the same command continues from there"
    opened = progress_bar(experiment.id, len(work.keys), "points", begun=work.done)
    with stop_notice(lambda: message), opened as report:
        done = work.run(placement, report)
    _print(done, work.done, len(work.keys), time.monotonic() - started, as_json)
    _end(done)


def _end(done: Reproduced) -> None:
    """Exit code 1 where a check has failed."""
    if done.outcome.failed:
        raise typer.Exit(1)


def _check_runs(runs: Sequence[Path]) -> None:
    """SettingError where a folder is not there, whatever else an experiment asks of it."""
    for run in runs:
        if not os.path.lexists(run):
            raise SettingError(f"{run}: no such training run")


def _list(out: Path, as_json: bool) -> None:
    from soglab.reproduce import listing

    entries = listing(out)
    if as_json:
        print_json({"experiments": entries})
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("id", no_wrap=True)  # to copy
    for column in ("paper", "figure or table", "what is run"):
        table.add_column(column, overflow="fold")
    table.add_column("minutes, two cores", justify="right")
    table.add_column("results")
    for entry in entries:
        results = "yes" if entry["results"] else ""
        table.add_row(entry["id"], entry["paper"], entry["figure"], entry["what"], f"{entry['minutes']:g}", results)
    print_table(table)


def _print(done: Reproduced, points: int, planned: int, seconds: float, as_json: bool) -> None:
    experiment, beside = done.experiment, done.outcome.beside
    if as_json:
        print_json(
            {
                "id": experiment.id,
                "paper": experiment.paper,
                "figure": experiment.figure,
                "seconds": seconds,
                "points": points,
                "planned": planned,
                "files": [str(file) for file in done.files],
                "failed": done.outcome.failed,
                "beside": [asdict(row) for row in beside],
            }
        )
        return
    published = any(row.paper for row in beside)
    table = figures_table("", figures=(experiment.paper, "ours") if published else ("ours",))
    for row in beside:
        table.add_row(row.what, *((row.paper, row.ours) if published else (row.ours,)))
    print_table(table)
    files = ", ".join(map(str, done.files))
    summary = f"{seconds:.0f} s; {files}" if files else f"{points} of {planned} points so far"
    stdout().print(f"{experiment.id}: {summary}", soft_wrap=True)
