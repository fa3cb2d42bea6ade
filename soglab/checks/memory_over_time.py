"""The memory that a running process and its workers hold, looked at while it runs, as lines, a table and a picture.

    python -m soglab.checks.memory_over_time PROCESS [--every 30] [--out FOLDER]

PROCESS is the number of a process, such as a run of `sog train`. It ends with the process, or with Ctrl-C. FOLDER gets
memory.csv and memory.png.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from soglab.checks.training_process import memory_of
from soglab.plots import Line, Panel, Picture, Scale
from soglab.study import Outcome, write

__all__ = ["picture_of", "watched"]


def watched(process: int, every: float) -> list[tuple[float, float]]:
    """(minutes since the first look, GB) until the process ends or a signal comes."""
    started, looks = time.monotonic(), list[tuple[float, float]]()
    try:
        while held := memory_of(process):
            looks.append(((time.monotonic() - started) / 60.0, held / 1e9))
            print(f"{looks[-1][0]:.1f} min, {looks[-1][1]:.2f} GB", flush=True)
            time.sleep(every)
    except KeyboardInterrupt:
        pass
    return looks


def picture_of(looks: list[tuple[float, float]]) -> Picture:
    """GB over minutes, from 0."""
    line = Line([minutes for minutes, _ in looks], [held for _, held in looks])
    axes = {"ylim": (0.0, 1.25 * max(held for _, held in looks))}
    return Picture([Panel([line], x=Scale("minutes"), y=Scale("memory, GB"), axes=axes)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("process", type=int, metavar="PROCESS")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two looks")
    parser.add_argument("--out", type=Path, metavar="FOLDER")
    args = parser.parse_args()
    looks = watched(args.process, args.every)
    if not looks:
        parser.error(f"no process {args.process} of yours runs")
    half = len(looks) // 2
    parts = [statistics.mean(held for _, held in part) for part in (looks[:half] or looks, looks[half:])]
    print(f"{looks[-1][0]:.0f} minutes: first half {parts[0]:.2f} GB, second half {parts[1]:.2f} GB on average")
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        rows = [{"minutes": f"{minutes:.2f}", "gigabytes": f"{held:.3f}"} for minutes, held in looks]
        write(Outcome(rows, {"memory": picture_of(looks)}), args.out, "memory")


if __name__ == "__main__":
    main()
