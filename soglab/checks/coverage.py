"""How often the 95% intervals that pages print hold a truth that is known: `python -m soglab.checks.coverage`.

Results are drawn as they come: openings and deals played both ways round, positions that players share, seeds, and
trainings. Each case is drawn 2,000 times by a seed; those called worst are made to break an interval.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias

import numpy as np
from rich.console import Console

from sog.arrays import Float64
from sog.measure import intervals
from sog.measure.elo import by_units, points_of, rate
from soglab.bench.checkouts import row_of
from soglab.bench.form import Benchmark, Column, table

__all__ = ["CASES", "CoverageRow", "IntervalCase", "covered", "main"]

_BATCH: Final = 16  # games

Bounds: TypeAlias = tuple[float, float]
Rng: TypeAlias = np.random.Generator


@dataclass(frozen=True)
class IntervalCase:
    """A truth, one draw of what is seen of it, and the interval that is then printed.  page: for which figures."""

    page: str
    drawn: str
    truth: float
    draw: Callable[[Rng], Any]
    bounds: Callable[[Any], Bounds]


@dataclass(frozen=True)
class CoverageRow:
    """How often a case's interval holds the truth, in percent, and the standard error of that."""

    page: Annotated[str, Column("interval of", once=True)]
    drawn: Annotated[str, Column("drawn")]
    covered: Annotated[float, Column("held, %", ".1f")]
    error: Annotated[float, Column("±", ".1f")]


# --- what is drawn ---


def _games(openings: int, first: float, second: float) -> Callable[[Rng], Float64]:
    """float64[openings, 2]: A's points as player 0 and as player 1, each game by itself."""
    chances = np.array([first, second])
    return lambda rng: (rng.random((openings, 2)) < chances).astype(np.float64)


def _whole(openings: int, chance: float) -> Callable[[Rng], Float64]:
    """The same where whoever an opening suits wins it both ways round."""
    return lambda rng: np.repeat(rng.random((openings, 1)) < chance, 2, axis=1).astype(np.float64)


def _again(openings: int, times: int, chance: float) -> Callable[[Rng], Float64]:
    """Openings that come again, between players that draw nothing: the same games."""
    return lambda rng: np.tile((rng.random((openings, 2)) < chance).astype(np.float64), (times, 1))


def _drawish(openings: int) -> Callable[[Rng], Float64]:
    """Seven games in ten are drawn, and two of the rest won: a share of 0.55."""
    return lambda rng: rng.choice([1.0, 0.5, 0.0], size=(openings, 2), p=[0.2, 0.7, 0.1])


def _rare(hands: int) -> Callable[[Rng], Float64]:
    """A wins a chip, but for one hand in a hundred, which costs it a stack of 99: nothing in the mean."""
    return lambda rng: np.where(rng.random(hands) < 0.01, -99.0, 1.0)


def _pots(hands: int) -> Callable[[Rng], Float64]:
    """Pots of all sizes, won or lost alike, a deal's two hands with the same pot: nothing in the mean."""

    def drawn(rng: Rng) -> Float64:
        pots = np.repeat(rng.lognormal(0.0, 1.5, hands // 2), 2)
        return np.where(rng.random(hands) < 0.5, pots, -pots)

    return drawn


def _runs(count: int, spread: float) -> Callable[[Rng], Float64]:
    """Exploitabilities of runs, with a mean of 1.  spread: of their logarithm."""
    return lambda rng: rng.lognormal(-0.5 * spread * spread, spread, count)


def _positions(count: int, players: tuple[float, ...] = (0.8, 0.6)) -> Callable[[Rng], list[Float64]]:
    """Mistakes of several players in the same positions, some of them hard for all: a tenth of `players` of them."""

    def drawn(rng: Rng) -> list[Float64]:
        hard = rng.beta(0.1, 0.9, count)
        return [(rng.random(count) < share * hard).astype(np.float64) for share in players]

    return drawn


def _batches(count: int, alike: int) -> Callable[[Rng], Float64]:
    """float64[3, count]: points of agents 0, 1 and 2 against the next, 50 Elo apart, in batches of 16 games.

    alike: how many games of a batch end alike, each opening's at most.
    """
    chances = 1.0 / (1.0 + 10.0 ** (-np.array([50.0, 50.0, -100.0]) / 400.0))
    return lambda rng: alike * rng.binomial(_BATCH // alike, chances[:, None], (3, count)).astype(np.float64)


def _medians(pairs: int) -> Callable[[Rng], Float64]:
    """Ratios of times whose median is 1, now and then far above it."""
    return lambda rng: np.exp(0.05 * rng.standard_t(2.0, pairs))


# --- the intervals, as their pages have them ---


def _share(points: Float64) -> Bounds:
    return intervals.share_interval([(float(both.sum()), len(both)) for both in points])


def _by_games(points: Float64) -> Bounds:
    return intervals.wilson(float(points.sum()), points.size)


def _elo(points: Float64) -> Bounds:
    won = float(points.sum())
    ratings = rate(np.array([[0.0, won], [points.size - won, 0.0]]))
    elo, half = by_units(ratings, [(0, 1, float(both.sum()), 2) for both in points]).difference(0, 1)
    return elo - half, elo + half


def _elo_of_batches(won: Float64) -> Bounds:
    """Agent 0's Elo over agent 2's, by batches, as the Elo experiments have it."""
    units = [(i, (i + 1) % 3, float(score), _BATCH) for i, batches in enumerate(won) for score in batches]
    elo, half = by_units(rate(points_of(range(3), units)), units).difference(0, 2)
    return elo - half, elo + half


def _together(both: Sequence[Float64]) -> Bounds:
    """The mean share of several players, of which positions count once."""
    return intervals.wilson(float(np.mean([own.sum() for own in both])), len(both[0]))


def _apart(both: Sequence[Float64]) -> Bounds:
    """The same with each player's positions counted, as until 30 November 2026."""
    return intervals.wilson(float(np.sum(both)), sum(map(len, both)))


def _median(ratios: Float64) -> Bounds:
    row = row_of("", ratios.tolist())
    return row.least, row.most


def _around(estimate: tuple[float, float | None]) -> Bounds:
    mean, half = estimate
    return (-math.inf, math.inf) if half is None else (mean - half, mean + half)


def _pairs(won: Float64) -> Bounds:
    return _around(intervals.mean_of_pairs(won.tolist()))


def _mean(values: Float64) -> Bounds:
    return _around(intervals.mean_interval(values))


def _difference(both: Sequence[Float64]) -> Bounds:
    return _around(intervals.paired_difference(both[0].tolist(), both[1].tolist()))


def _ratio(both: Sequence[Float64]) -> Bounds:
    return intervals.ratio_interval(both[0].tolist(), both[1].tolist())[1:]


def _cases() -> Iterator[IntervalCase]:
    """Every case, page by page."""
    for page, of, truth in (
        ("share of points", _share, float),
        ("Elo", _elo, lambda p: 400.0 * math.log10(p / (1.0 - p))),
    ):
        yield IntervalCase(page, "50 openings, 75% of games", truth(0.75), _games(50, 0.75, 0.75), of)
        yield IntervalCase(page, "10 openings, 75% of games", truth(0.75), _games(10, 0.75, 0.75), of)
        yield IntervalCase(page, "50 openings, player 0 wins 95%", truth(0.5), _games(50, 0.95, 0.05), of)
        yield IntervalCase(page, "50 openings, 70% of games drawn", truth(0.55), _drawish(50), of)
        yield IntervalCase(page, "50 openings, each won whole (worst)", truth(0.75), _whole(50, 0.75), of)
        yield IntervalCase(page, "10 openings, 5 times each (worst)", truth(0.75), _again(10, 5, 0.75), of)
    yield IntervalCase("points, game by game", "50 openings, each won whole (worst)", 0.75, _whole(50, 0.75), _by_games)
    yield IntervalCase("share of hands", "10 deals, 97% won", 0.97, _games(10, 0.97, 0.97), _share)
    yield IntervalCase("share of hands", "100 deals, 95% and 73% by role", 0.84, _games(100, 0.95, 0.73), _share)
    yield IntervalCase("chips a hand", "100 deals, pots of all sizes", 0.0, _pots(200), _pairs)
    yield IntervalCase("chips a hand", "10 deals, pots of all sizes", 0.0, _pots(20), _pairs)
    yield IntervalCase("chips a hand", "1,000 deals, 1% of hands decide (worst)", 0.0, _rare(2_000), _pairs)
    yield IntervalCase("chips a hand", "100 deals, 1% of hands decide (worst)", 0.0, _rare(200), _pairs)
    yield IntervalCase("mean of runs", "10 search seeds, spread 12%", 1.0, _runs(10, 0.12), _mean)
    yield IntervalCase("mean of runs", "3 search seeds, spread 12%", 1.0, _runs(3, 0.12), _mean)
    yield IntervalCase("mean of runs", "3 trainings, spread 40% (worst)", 1.0, _runs(3, 0.4), _mean)
    one, shared = _runs(3, 0.4), _positions(1_661)
    yield IntervalCase(
        "two sets of runs", "3 trainings each, difference", 0.0, lambda rng: (one(rng), one(rng)), _difference
    )
    yield IntervalCase("two sets of runs", "3 trainings each, ratio", 1.0, lambda rng: (one(rng), one(rng)), _ratio)
    yield IntervalCase(
        "share of positions", "1,661 positions, one player", 0.08, shared, lambda both: _by_games(both[0])
    )
    yield IntervalCase("share of positions", "the same, two players' difference", 0.02, shared, _difference)
    seeds = _positions(1_661, (0.8, 0.8))
    yield IntervalCase("share of positions", "the same, mean of two seeds", 0.08, seeds, _together)
    yield IntervalCase("share of positions", "the same, counted once a seed (worst)", 0.08, seeds, _apart)
    for count, alike, drawn in (
        (2, 1, "3 agents, 2 batches of 16 games a pair"),
        (1, 1, "3 agents, 1 batch of 16 games a pair"),
        (2, 2, "2 batches, openings won whole (worst)"),
        (1, 2, "1 batch, openings won whole (worst)"),
    ):
        yield IntervalCase("Elo by batches", drawn, 100.0, _batches(count, alike), _elo_of_batches)
    yield IntervalCase("median of times", "9 pairs", 1.0, _medians(9), _median)


CASES: Final = tuple(_cases())


def covered(case: IntervalCase, draws: int, seed: int) -> CoverageRow:
    """How often one case's interval holds its truth.  draws: how often it is drawn."""
    rng, held = np.random.default_rng(seed), 0
    for _ in range(draws):
        low, high = case.bounds(case.draw(rng))
        held += low <= case.truth <= high
    share = held / draws
    return CoverageRow(case.page, case.drawn, 100 * share, 100 * math.sqrt(share * (1.0 - share) / draws))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2_000, help="of each case")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    rows = [covered(case, given.draws, given.seed) for case in CASES]
    Console().print(table(Benchmark("coverage", "cases"), rows, {}))


if __name__ == "__main__":
    main()
