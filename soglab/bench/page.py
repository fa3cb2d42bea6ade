"""What the page of `sog serve` costs: its server until the first page, and a search that is watched.

    python -m soglab.bench.page [--pairs 15]

The server is a process of its own, which is asked for its first page and then read in /proc (Linux). A watched search
is the one behind a position's page, with what its own process does for the page; it and the same search without a
watcher take turns, and processor times are compared. Medians with their 95% intervals.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.request import urlopen

from sog.nets.one_core import one_core
from sog.searches.leaves.drive import run
from sog.web.asked import PositionAsked
from sog.web.searching import Growing, PositionSearching
from sog.web.thinker import Thinker
from soglab.bench.checkouts import median_interval

__all__ = ["ServerCost", "WatchCost", "server_cost", "watch_cost"]

_POSITION: Final = PositionAsked("connect_four", (3, 3), "connect_four", 4_000, 10.0, 0)


@dataclass(frozen=True)
class ServerCost:
    """A server after its first page.  seconds: of the processor.  megabytes: resident.  torch: whether it is mapped."""

    seconds: float
    megabytes: float
    torch: bool


@dataclass(frozen=True)
class WatchCost:
    """A watched search beside the same one without a watcher.

    percent: more processor time, median, least, most.  first: median seconds until there is something to show.
    shown: snapshots a search, median.
    """

    percent: tuple[float, float, float]
    first: float
    shown: float


def server_cost() -> ServerCost:
    """Start a server, ask for its first page and look at its process."""
    with tempfile.TemporaryDirectory() as folder, _serving(Path(folder)) as (process, address):
        with urlopen(address, timeout=60) as page:
            page.read()
        proc = Path(f"/proc/{process.pid}")
        # After the name in brackets: utime and stime are the 12th and 13th fields.
        ticks = proc.joinpath("stat").read_text().rpartition(")")[2].split()[11:13]
        kilobytes = re.findall(r"VmRSS:\s+(\d+) kB", proc.joinpath("status").read_text())
        torch = "torch" in proc.joinpath("maps").read_text()
        return ServerCost(sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), int(kilobytes[0]) / 1_000, torch)


@contextmanager
def _serving(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    words = ["serve", "--port", "0", "--no-browser", "--folder", str(folder / "games")]
    process = subprocess.Popen([sys.executable, "-m", "sog", *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def watch_cost(asked: PositionAsked = _POSITION, pairs: int = 15) -> WatchCost:
    """Searches of a position in turn, watched and not."""
    thinker, percent, first, shown = Thinker(), [], [], []
    _alone(thinker.searching(asked))  # compiles
    for _ in range(pairs):
        alone = _alone(thinker.searching(asked))
        seconds, until, count = _watched(thinker.searching(asked))
        percent.append(100 * (seconds / alone - 1))
        first.append(until)
        shown.append(count)
    return WatchCost(median_interval(percent), median_interval(first)[0], median_interval(shown)[0])


def _alone(search: PositionSearching) -> float:
    """Processor seconds of a search that nobody watches."""
    began = time.process_time()
    run(search.steps(lambda: False), search.evaluator)
    search.finish()
    return time.process_time() - began


def _watched(search: PositionSearching) -> tuple[float, float, int]:
    """Processor seconds, seconds until the first snapshot, and how many there were."""
    began, clock = time.process_time(), time.perf_counter()
    growing, count, first = Growing(search), 1, 0.0
    while not growing.next().finished:
        first = first or time.perf_counter() - clock
        count += 1
    return time.process_time() - began, first, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=15)
    args = parser.parse_args()
    server = server_cost()
    print(f"server: {server.seconds:.2f} s of the processor until its first page, {server.megabytes:.0f} MB, ", end="")
    print("with PyTorch" if server.torch else "without PyTorch", flush=True)
    with one_core():
        cost = watch_cost(pairs=args.pairs)
    middle, least, most = cost.percent
    print(
        f"a watched search of connect four at (4000, 10): {middle:.1f}% [{least:.1f}, {most:.1f}] more of the processor"
    )
    print(f"its first snapshot after {1_000 * cost.first:.0f} ms, {cost.shown:.0f} in all; medians of {args.pairs}")


if __name__ == "__main__":
    main()
