"""`sog bench holdem`: how fast river and turn spots of hold'em are solved."""

from __future__ import annotations

import os
from functools import partial
from typing import Annotated

import typer

from sog.cli.frame import JsonOption, Report, progress_bar, show_rows
from soglab.cli.bench_tables import holdem_table

__all__ = ["bench_holdem"]


def bench_holdem(
    spots: Annotated[
        list[str] | None, typer.Argument(metavar="[SPOT]...", help="river or turn; by default both.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Milliseconds per iteration and seconds to 0.5% of the pot on a river and a turn spot, every hand in both ranges.

    One thread and two take turns; figures are medians. The seconds include measuring exploitability every 20
    iterations.
    """
    from soglab.bench.holdem import bench_spot, chosen, steps

    found = chosen(spots or ())
    rows, done = [], 0
    with progress_bar("bench holdem", sum(steps(spot) for spot in found), "steps") as report:
        for spot in found:
            rows += bench_spot(spot, partial(_report_from, report, done))
            done += steps(spot)
    show_rows(rows, as_json, lambda: holdem_table(rows), {"cores": os.cpu_count()})


def _report_from(report: Report, before: int, done: int, note: str) -> None:
    report(before + done, note)
