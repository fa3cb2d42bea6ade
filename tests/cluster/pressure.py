"""Training without rounds whose learner, and then whose actors, are slowed four times: memory and samples a row.

    python -m tests.cluster.pressure --minutes 3

Memory is that of this process and all its children, replay window full or not; it must not grow once that is full.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

import sog.training.stream.supervisor as supervised
from sog.algorithms.table import settings_of
from sog.cluster.placement import Placement
from sog.games.catalog import make_game
from sog.training.packing import PackedRows
from sog.training.run import Run, Until
from sog.training.stream.loop import Placed, StreamHooks, train_stream
from sog.training.stream.parts import ActorPart, LearnerPart, LearnerSteps, RowBlock
from sog.training.stream.supervisor import Supervisor

TIMES = 4.0


class SlowLearning(LearnerPart):
    """Takes four times as long to learn."""

    def learn(self, batches: list[PackedRows]) -> LearnerSteps:
        started = time.perf_counter()
        learned = super().learn(batches)
        time.sleep((TIMES - 1.0) * (time.perf_counter() - started))
        return learned


class SlowPlaying(ActorPart):
    """Takes four times as long to play."""

    def play(self, weights: bytes, version: int, games: int, number: int) -> RowBlock:
        block = super().play(weights, version, games, number)
        time.sleep((TIMES - 1.0) * block.seconds)
        return block


def megabytes() -> float:
    """Resident memory of this process and its children, what they share counted once for each."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(process.memory_info().rss for process in processes) / 2**20


def watched(kind: str, minutes: float, updates: float) -> None:
    """A run, and a line for each tenth of it."""
    lines: list[tuple[float, float, float, float, int]] = []
    started = time.monotonic()

    def look(supervisor: Supervisor) -> None:
        spent = time.monotonic() - started
        if spent > len(lines) * 6.0 * minutes:
            vitals, totals = supervisor.vitals(), supervisor.totals
            lines.append((spent, megabytes(), vitals.samples_per_row, vitals.age, totals.rows))
            said = [
                f"{kind}: {spent:.0f} s, {lines[-1][1]:,.0f} MB, {totals.rows:,} rows",
                f"{vitals.samples_per_row:.2f} samples/row of {updates:g}, weights {vitals.age:.0f} steps old",
                f"{vitals.waiting_actors} actors wait",
            ]
            print(", ".join(said), flush=True)

    settings = settings_of(make_game("leduc_poker"), "full")
    learner = replace(settings.learner, updates_per_example=updates)
    settings = replace(settings, replay=5_000, games=8, learner=learner)
    run = Run("leduc_poker", "full", 0, 2, rounds=False)
    with tempfile.TemporaryDirectory() as folder:
        out, where = Path(folder) / "run", Placement("local", 2)
        train_stream(run, settings, out, Until(minutes), False, StreamHooks(look=look), Placed(where))


def main() -> int:
    """Run it and print the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--updates", type=float, default=20.0, help="samples a row")
    chosen = parser.parse_args()
    names: Any = supervised
    for kind, name, slow in (("slow learner", "LearnerPart", SlowLearning), ("slow actors", "ActorPart", SlowPlaying)):
        before = getattr(names, name)
        setattr(names, name, slow)
        try:
            watched(kind, chosen.minutes, chosen.updates)
        finally:
            setattr(names, name, before)
    return 0


if __name__ == "__main__":
    sys.exit(main())
