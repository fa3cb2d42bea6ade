"""Rows a second of training without rounds: two actors beside one, Ray beside local processes, taking turns.

    python -m tests.cluster.pairs --pairs 15 --seconds 60

Prints the median of the ratios of pairs and a 95% interval of that median (from its order statistics).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import binom

from sog.algorithms.table import settings_of
from sog.cluster.placement import Placement
from sog.games.catalog import make_game
from sog.training.run import Run, Until
from sog.training.stream.loop import Placed, StreamHooks, train_stream
from sog.training.stream.supervisor import Supervisor

_WARM = 6.0  # seconds that do not count


def speed(where: Placement, seconds: float, game: str, algorithm: str, updates: float | None) -> float:
    """Rows a second into the replay window, from the block after the first warm seconds to the last of `seconds`."""
    arrived: list[tuple[float, int]] = []

    def look(supervisor: Supervisor) -> None:
        rows, now = supervisor.totals.rows, time.monotonic()
        if rows and (not arrived or rows > arrived[-1][1]):
            arrived.append((now, rows))
        if arrived and now > arrived[0][0] + _WARM + seconds:
            raise _Enough

    run = Run(game, "full", 0, where.places, algorithm, rounds=False)
    settings = settings_of(make_game(game), run.preset, algorithm)
    if updates is not None:
        settings = replace(settings, learner=replace(settings.learner, updates_per_example=updates))
    with tempfile.TemporaryDirectory() as folder, suppress(_Enough):
        train_stream(run, settings, Path(folder) / "run", Until(), False, StreamHooks(look=look), Placed(where))
    counted = [(at, rows) for at, rows in arrived if at > arrived[0][0] + _WARM]
    return (counted[-1][1] - counted[0][1]) / (counted[-1][0] - counted[0][0])


class _Enough(Exception):
    """The seconds that count are over."""


def interval(ratios: list[float]) -> tuple[float, float]:
    """95% of the median, by order statistics."""
    ordered, count = sorted(ratios), len(ratios)
    low = int(binom.ppf(0.025, count, 0.5))
    return ordered[low], ordered[count - 1 - low]


def main() -> int:
    """Run it and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--game", default="leduc_poker")
    parser.add_argument("--algorithm", default="sog")
    parser.add_argument("--updates", type=float, help="samples a row; by default the preset's")
    chosen = parser.parse_args()
    kinds = {"1 local": Placement("local", 1), "2 local": Placement("local", 2), "2 ray": Placement("ray", 2)}
    found: dict[str, list[float]] = {name: [] for name in kinds}
    for pair in range(chosen.pairs):
        names = list(kinds) if pair % 2 == 0 else list(kinds)[::-1]
        for name in names:
            found[name].append(speed(kinds[name], chosen.seconds, chosen.game, chosen.algorithm, chosen.updates))
        print({name: round(values[-1], 1) for name, values in found.items()}, flush=True)
    for first, second in (("2 local", "1 local"), ("2 ray", "2 local")):
        ratios = [a / b for a, b in zip(found[first], found[second], strict=True)]
        low, high = interval(ratios)
        print(f"{first} / {second}: median {np.median(ratios):.3f}, 95% [{low:.3f}, {high:.3f}], {len(ratios)} pairs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
