"""95% intervals of a share, of a mean and of a difference of pairs, and such figures as text."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Final

import numpy as np
from scipy.special import stdtrit

from sog.arrays import Float64

__all__ = [
    "TWO_SIDED_95",
    "mean_and_range",
    "mean_interval",
    "mean_of_pairs",
    "paired_difference",
    "plus_minus",
    "ratio_interval",
    "share_interval",
    "wilson",
]

TWO_SIDED_95: Final = 1.959964


def wilson(hits: float, count: float) -> tuple[float, float]:
    """The 95% interval of a share (Wilson, 1927). Draws may count half a hit: the interval is then too wide.

    (p + z^2 / 2n ± z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n).
    """
    if not count:
        return 0.0, 1.0
    z, p = TWO_SIDED_95, hits / count
    middle = (p + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count))
    # By rounding alone an interval may leave out the share itself, where it ends there: at none or all of the hits.
    return max(0.0, min(p, middle - half)), min(1.0, max(p, middle + half))


def share_interval(units: Iterable[tuple[float, int]]) -> tuple[float, float]:
    """The 95% interval of a share of games that come in units, (points, games), whose games may share their luck.

    Wilson's of as many independent games as are as certain (Korn and Graubard, 1998), of m units and N games in all:
    min(N, p (1 - p) / V * (z / t(m - 1, 0.975))^2), V = m / (m - 1) * sum over units of (points - p games)^2 / N^2.
    Where p is 0 or 1, or there is one unit, a unit counts as one game: nothing is seen of what its games share.
    """
    points, games = np.array(list(units), dtype=np.float64).reshape(-1, 2).T
    units_met, played = len(games), float(games.sum())
    if units_met in (0, played):
        return wilson(float(points.sum()), units_met)
    share, count = float(points.sum()) / played, float(units_met)
    if 0.0 < share < 1.0 and units_met > 1:
        variance = units_met / (units_met - 1) * float(((points - share * games) ** 2).sum()) / played**2
        scale = (TWO_SIDED_95 / float(stdtrit(units_met - 1, 0.975))) ** 2
        # Never more than N: that units happen to be alike, as where each is a game won and one lost, is no certainty.
        count = played if variance == 0.0 else min(played, scale * share * (1.0 - share) / variance)
    return wilson(share * count, count)


def mean_interval(values: Sequence[float] | Float64) -> tuple[float, float | None]:
    """The mean and half of its 95% interval by Student's t distribution, None for one value.

    half = t(n - 1, 0.975) * s / sqrt(n), s: the deviation of the sample.
    """
    if len(values) < 2:
        return float(np.mean(values)), None
    spread = float(np.std(values, ddof=1))
    return float(np.mean(values)), float(stdtrit(len(values) - 1, 0.975)) * spread / len(values) ** 0.5


def mean_of_pairs(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean of values whose neighbours 2k and 2k + 1 share their luck, and half of its 95% interval by the pairs."""
    return mean_interval([(first + second) / 2 for first, second in zip(values[::2], values[1::2], strict=True)])


def paired_difference(values: Sequence[float], baseline: Sequence[float]) -> tuple[float, float | None]:
    """The mean of values[k] - baseline[k] and half of its 95% interval: what both share, such as a seed, cancels."""
    return mean_interval([own - other for own, other in zip(values, baseline, strict=True)])


def ratio_interval(values: Sequence[float], others: Sequence[float]) -> tuple[float, float, float]:
    """The geometric mean of values[k] / others[k], all above 0, and its 95% interval: from 0 to infinity for one."""
    # On logarithms, since ratios spread by factors.
    mean, half = mean_interval([math.log(own / other) for own, other in zip(values, others, strict=True)])
    if half is None:
        return math.exp(mean), 0.0, math.inf
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def plus_minus(mean: float, half: float | None, form: str = ".4g") -> str:
    """A mean with its interval, if there is one, for people."""
    return f"{mean:{form}}" + ("" if half is None else f" ± {float(f'{half:.2g}'):g}")


def mean_and_range(values: Collection[float], form: str = ".4g") -> str:
    """A mean and, in brackets, the least and the largest value, for people; of one value itself."""
    if len(values) == 1:
        return f"{next(iter(values)):{form}}"
    return f"{sum(values) / len(values):{form}} ({min(values):{form}} .. {max(values):{form}})"
