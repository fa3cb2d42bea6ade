"""`python -m soglab.checks.nudged K COMMAND`: a command of `sog` whose trees have roots with ranges a billionth apart.

A printed digit that differs from the command's own is decided by rounding.
"""

from __future__ import annotations

import sys
from typing import Final

import numpy as np

from sog.arrays import Float64
from sog.cli.app import main as command
from sog.searches.cfr.lookahead import Lookahead
from soglab.bench.stopwatch import replaced

__all__ = ["NUDGE", "moved"]

NUDGE: Final = 1e-9  # of each infostate's probability, at most, as a share of it


def moved(ranges: tuple[Float64, Float64], rng: np.random.Generator) -> tuple[Float64, Float64]:
    """Both players' ranges, each probability moved by up to NUDGE of itself."""
    zero, one = (own * (1.0 + rng.uniform(-NUDGE, NUDGE, own.shape)) for own in ranges)
    return zero, one


def main() -> None:
    rng, put = np.random.default_rng(int(sys.argv[1])), Lookahead.set_root_ranges

    def nudged(tree: Lookahead, ranges: tuple[Float64, Float64]) -> None:
        put(tree, moved(ranges, rng))

    with replaced(Lookahead, "set_root_ranges", nudged):
        code = command(sys.argv[2:])
    raise SystemExit(code)


if __name__ == "__main__":
    main()
