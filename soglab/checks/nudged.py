"""`python -m soglab.checks.nudged K COMMAND`: a command of `sog` whose trees have roots with ranges a billionth apart.

A printed digit that differs from the command's own is decided by rounding. The command runs in this process alone: the
ranges of others would not be moved.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Final

import numpy as np

from sog.arrays import Float64
from sog.cli.app import main as command
from sog.cluster import placement
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.depth_limited import batching, subgames
from soglab.bench.stopwatch import replaced

__all__ = ["NUDGE", "main", "moved"]

NUDGE: Final = 1e-9  # of each infostate's probability, at most, as a share of it


def moved(ranges: Float64, rng: np.random.Generator) -> Float64:
    """The ranges, each probability moved by up to NUDGE of itself."""
    nudged: Float64 = ranges * (1.0 + rng.uniform(-NUDGE, NUDGE, ranges.shape))
    return nudged


def main() -> None:
    """Run the command that the arguments name, and end with its exit code."""
    rng, put, batch = np.random.default_rng(int(sys.argv[1])), Lookahead.set_root_ranges, batching.batch

    def nudged(tree: Lookahead, ranges: tuple[Float64, Float64]) -> None:
        put(tree, (moved(ranges[0], rng), moved(ranges[1], rng)))

    # ReBeL's subgames lie side by side in one tree, and get their ranges there.
    def nudged_batch(public: Any, layouts: Any, ranges: Sequence[Float64]) -> Any:
        return batch(public, layouts, [moved(each, rng) for each in ranges])

    with ExitStack() as stack:
        stack.enter_context(replaced(Lookahead, "set_root_ranges", nudged))
        stack.enter_context(replaced(subgames, "batch", nudged_batch))
        stack.enter_context(replaced(placement, "usable_cores", lambda: 1))
        code = command(sys.argv[2:])
    raise SystemExit(code)


if __name__ == "__main__":
    main()
