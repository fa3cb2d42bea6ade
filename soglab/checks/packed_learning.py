"""What packing costs in learning: runs from packed rows beside runs of the same seeds from rows as they were made.

    python -m soglab.checks.packed_learning [GAME ...] [--seeds 3] [--rounds 70]

Both runs of a pair are the same but for the rows that the learner reads: equal rounds of equally many games. Then
exploitability at (100, 1), the mean of ten search seeds, or the share of connect four's solved positions in which
the move of the search with 100 simulations loses value.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

import sog
from sog.algorithms.base import SOG
from sog.algorithms.table import settings_of
from sog.arrays import Array
from sog.games.catalog import make_game
from sog.nets.shape import NetworkShape
from sog.opponents.connect_four.positions import SETS
from sog.training import packing, replay, self_play
from sog.training.checkpoint import load_meta
from sog.training.packing import PackedRows
from sog.training.rows import Rows, blank_rows
from sog.training.run import Run
from sog.training.settings import TrainSettings
from soglab.bench.stopwatch import replaced
from soglab.checks import connect_four_mistakes

__all__ = ["GAMES", "learned", "rows_as_they_are", "written", "written_rows"]

GAMES: Final = ("leduc_poker", "liars_dice(numdice=1,dice_sides=4)", connect_four_mistakes.GAME)
_BUDGET: Final = (100, 1.0)  # simulations, expansions a regret update
_SEARCH_SEEDS: Final = 10
_POSITIONS: Final = 1_000  # of each set, or all that it has


def written(shape: NetworkShape, rows: Rows) -> PackedRows:
    """Rows as the bytes of their columns, with nothing rounded."""
    count = len(rows)
    parts = [np.ascontiguousarray(column).reshape(count, -1).view(np.uint8) for column in rows.columns().values()]
    content = np.concatenate(parts, axis=1)
    return PackedRows(content.reshape(-1), np.arange(1, count + 1, dtype=np.int64) * content.shape[1])


def written_rows(shape: NetworkShape, packed: PackedRows) -> Rows:
    """The rows again, to the bit."""
    blank, start, columns = blank_rows(shape, len(packed)), 0, dict[str, Array]()
    content = packed.content.reshape(len(packed), -1)
    for name, column in blank.columns().items():
        width = column.dtype.itemsize * math.prod(column.shape[1:])
        flat = content[:, start : start + width].tobytes()
        columns[name] = np.frombuffer(flat, dtype=column.dtype).reshape(column.shape).copy()
        start += width
    return Rows(**columns)


@contextmanager
def rows_as_they_are() -> Iterator[None]:
    """Training inside the block reads rows as self-play made them."""
    with ExitStack() as stack:
        stack.enter_context(replaced(packing, "pack", written))
        for reader in (replay, self_play):
            stack.enter_context(replaced(reader, "unpack", written_rows))
        yield


def learned(game: str, seed: int, rounds: int, folder: Path) -> tuple[int, float]:
    """The rows of a run of the demo preset, and how well its network plays (see above; exploitability in utilities)."""
    settings = settings_of(make_game(game), "demo")
    assert isinstance(settings, TrainSettings)
    rows = self_play.train(Run(game, seed=seed), replace(settings, rounds=rounds), folder).rows
    if game == connect_four_mistakes.GAME:
        return rows, _mistakes(folder / "checkpoint")
    agent = sog.load_agent(folder / "checkpoint", *_BUDGET)
    return rows, sog.exploitability(agent, seeds=_SEARCH_SEEDS).mean


def _mistakes(checkpoint: Path) -> float:
    network = load_meta(checkpoint).network_id
    player = {"agent": SOG, "checkpoint": str(checkpoint), "network": network, "simulations": _BUDGET[0]}
    batch = {"first": 0, "last": _POSITIONS}
    counts = [connect_four_mistakes.compute({**player, **batch, "set": name}) for name in SETS]
    lost, could = (sum(count[name] for count in counts) for name in ("lose_value", "can_lose_value"))
    return float(lost / could)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=list(GAMES), metavar="GAME", help=f"of {', '.join(GAMES)}")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=70)
    args = parser.parse_args()
    print("game | rows | seed | rows packed | as they are | minutes of both")
    for game in args.games:
        packed, plain = list[float](), list[float]()
        for seed in range(args.seeds):
            started = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                rows, figure = learned(game, seed, args.rounds, Path(folder) / "packed")
                packed.append(figure)
                with rows_as_they_are():
                    plain.append(learned(game, seed, args.rounds, Path(folder) / "plain")[1])
            minutes = (time.monotonic() - started) / 60.0
            print(f"{game} | {rows:,} | {seed} | {packed[-1]:.4f} | {plain[-1]:.4f} | {minutes:.1f}", flush=True)
        if args.seeds > 1:
            means = " | ".join(f"{statistics.mean(x):.4f} ({statistics.stdev(x):.4f})" for x in (packed, plain))
            print(f"{game} | mean (deviation of a run) | {args.seeds} | {means} |", flush=True)


if __name__ == "__main__":
    main()
