"""What this checkout's work costs beside another checkout's: two processes that share one core in time slices.

    python -m soglab.bench.checkouts FOLDER [--pairs 9] [--only WORD ...] [--core 0]

Both begin each task at the same moment and the next when both are done, so that whatever else the machine does slows
both alike. A pair is two new processes, each task once to warm up and then three times, or once where it takes more
than two seconds. FOLDER: the other checkout, which needs the same packages.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from math import comb
from pathlib import Path
from statistics import median
from typing import Annotated, Final

from rich.console import Console

from sog.cli.frame import progress_bar
from soglab.bench import checkout_tasks
from soglab.bench.form import Benchmark, Column, table

__all__ = ["CheckoutRow", "compare", "median_interval", "row_of"]

_REPEATS, _LONG_SECONDS = 3, 2.0
_HERE: Final = Path(checkout_tasks.__file__).parents[2]


@dataclass(frozen=True)
class CheckoutRow:
    """A task's processor time here over the other checkout's, by pair of processes.

    least, most: ratios between which the median lies with a probability of 95% or more, by the sign test; of nine pairs
    the second smallest and second largest. With fewer than six pairs, the outermost, it is less.
    """

    task: Annotated[str, Column("task")]
    ratio: Annotated[float, Column("median", ".3f")]
    least: Annotated[float, Column("from", ".3f")]
    most: Annotated[float, Column("to", ".3f")]
    pairs: Annotated[int, Column("pairs", "d")]


CHECKOUTS: Final = Benchmark("checkouts", "tasks", "processor time here / in {folder}")


def compare(folder: Path, tasks: Sequence[str], pairs: int, core: int) -> Iterator[dict[str, float]]:
    """The ratios of each pair of processes, by task."""
    for _ in range(pairs):
        children = [_child(_HERE, core), _child(folder, core)]
        try:
            yield {task: _ratio(children, task) for task in tasks}
        finally:
            for child in children:
                child.kill()
                child.communicate()


def _child(checkout: Path, core: int) -> subprocess.Popen[str]:
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, "-P", checkout_tasks.__file__, str(core)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=checkout,
        env={**os.environ, **threads, "PYTHONPATH": str(checkout)},
    )


def _ratio(children: Sequence[subprocess.Popen[str]], task: str) -> float:
    """Seconds a unit of the first child over the second's, all repeats together."""
    _asked(children, task)  # compiles and loads
    answers = [_asked(children, task)]
    if max(seconds for seconds, _ in answers[0]) < _LONG_SECONDS:
        answers += [_asked(children, task) for _ in range(_REPEATS - 1)]
    here, there = (sum(a[k][0] for a in answers) / sum(a[k][1] for a in answers) for k in range(2))
    return here / there


def _asked(children: Sequence[subprocess.Popen[str]], task: str) -> list[tuple[float, float]]:
    """Processor seconds and units of work of each child, both at the same time."""
    for child in children:
        assert child.stdin is not None
        with suppress(BrokenPipeError):  # it has ended, and `_answer` says so
            print(task, file=child.stdin, flush=True)
    return [_answer(child, task) for child in children]


def _answer(child: subprocess.Popen[str], task: str) -> tuple[float, float]:
    assert child.stdout is not None
    words = child.stdout.readline().split()
    if not words:
        raise SystemExit(f"a process ended in the task {task!r}")
    return float(words[0]), float(words[1])


def row_of(task: str, ratios: Sequence[float]) -> CheckoutRow:
    """A task's row."""
    return CheckoutRow(task, *median_interval(ratios), len(ratios))


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The median and between what it lies with a probability of 95% or more, by the sign test."""
    ordered, count = sorted(values), len(values)
    # The median lies outside with a probability of 2 P(Bin(count, 1/2) <= cut).
    outside = (2 * below / 2**count for below in accumulate(comb(count, k) for k in range(count)))
    cut = max(0, sum(share <= 0.05 for share in outside) - 1)
    return median(ordered), ordered[cut], ordered[-1 - cut]


def main() -> None:
    """Print a row for each task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--only", nargs="*", default=[""], metavar="WORD", help="tasks whose name holds one of these")
    parser.add_argument("--core", type=int, default=0)
    args = parser.parse_args()
    if not (args.folder / "sog" / "__init__.py").exists():
        parser.error(f"{args.folder} is no checkout: it has no sog/__init__.py")
    tasks = [task for task in checkout_tasks.TASKS if any(word in task for word in args.only)]
    if not tasks:
        parser.error(f"no task holds {' or '.join(args.only)}; tasks: {', '.join(checkout_tasks.TASKS)}")
    pairs: list[dict[str, float]] = []
    with progress_bar("checkouts", args.pairs, "pairs") as report:
        for pair in compare(args.folder.resolve(), tasks, args.pairs, args.core):
            pairs.append(pair)
            report(len(pairs), "")
    rows = [row_of(task, [pair[task] for pair in pairs]) for task in tasks]
    Console().print(table(CHECKOUTS, rows, {"folder": args.folder}))


if __name__ == "__main__":
    main()
