"""The tables of `sog bench`, from the rows that were measured; it measures nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from sog.cli.frame import figures_table

if TYPE_CHECKING:
    from soglab.bench.cfr import Row as CfrRow
    from soglab.bench.histories import Row as HistoriesRow
    from soglab.bench.holdem import SpotTiming
    from soglab.bench.rebel import Row as RebelRow
    from soglab.bench.root import Row as RootRow
    from soglab.bench.rounds import Row as RoundRow
    from soglab.bench.search import Row
    from soglab.bench.sepot_search import Row as SepotRow
    from soglab.bench.simulations import Row as SimulationsRow
    from soglab.bench.training_minute import Part

__all__ = [
    "cfr_table",
    "histories_table",
    "holdem_table",
    "rebel_table",
    "root_table",
    "rounds_table",
    "search_table",
    "sepot_table",
    "simulations_table",
    "training_table",
]


def cfr_table(rows: Sequence[CfrRow]) -> Table:
    from soglab.bench.cfr import TARGET, fastest_other

    headings = ("us/iteration", "x ours", f"seconds to {TARGET:g}", "x ours", "iterations", "setup, s")
    out = figures_table("game", "solver", figures=headings)
    game = ""
    for row in rows:
        reached = ("not in 30", "", "")
        if row.seconds_to_target is not None:
            ratio = "" if row.target_ratio is None else f"{row.target_ratio:,.3g}"
            reached = (f"{row.seconds_to_target:.3g}", ratio, f"{row.iterations_to_target:,}")
        speed = (f"{row.us_per_iteration:,.4g}", f"{row.ratio_to_ours:,.3g}")
        out.add_row("" if row.game == game else row.game, row.solver, *speed, *reached, f"{row.setup_seconds:.2g}")
        game = row.game
    iteration, to_target = fastest_other(rows)
    reaching = "" if to_target is None else f", {to_target:.3g} x to {TARGET:g}"
    out.caption = f"the fastest other solver takes {iteration:.3g} x our time an iteration{reaching}"
    return out


def root_table(rows: Sequence[RootRow]) -> Table:
    title = f"{rows[0].game}: first decision, {rows[0].network} untrained, one core; load {os.getloadavg()[0]:.1f}"
    out = figures_table("search", figures=(row.search for row in rows), title=title)
    out.add_row("seconds", *(f"{row.seconds:,.2f}" for row in rows))
    out.add_row("processor seconds", *(f"{row.processor_seconds:,.2f}" for row in rows))
    out.add_row("nodes", *(f"{row.nodes:,}" for row in rows))
    out.add_row("leaves", *(f"{row.leaves:,}" for row in rows))
    out.add_row("leaf beliefs answered", *(f"{row.beliefs:,}" for row in rows))
    out.add_row("ms an iteration", *(f"{row.iteration_ms:,.2f}" for row in rows))
    out.add_row("tree, MB", *(f"{row.tree_megabytes:,.0f}" for row in rows))
    out.add_row("process at its largest, MB", *(f"{row.peak_megabytes:,.0f}" for row in rows))
    for name in ("network", "sweep", "growth", "python"):
        out.add_row(f"share: {name}", *(f"{getattr(row, name + '_share'):.1%}" for row in rows))
    for part in rows[0].part_ms:
        out.add_row(f"{part}, ms on the last tree", *(f"{row.part_ms[part]:,.3f}" for row in rows))
    return out


def search_table(rows: Sequence[Row]) -> Table:
    title = f"{rows[0].game}: searches that re-solve, {rows[0].network}, one core"
    headings = ("at once", "per s", "us/iter.", "network", "down", "up", "finish", "growth", "Python")
    out = figures_table("search", figures=headings, title=title)
    for row in rows:
        speeds = f"{row.searches_per_second:,.4g}", f"{row.us_per_iteration:,.4g}"
        sweeps = row.down_share, row.up_share, row.finish_share
        shares = row.network_share, *sweeps, row.growth_share, row.python_share
        out.add_row(row.search, str(row.side_by_side), *speeds, *(f"{share:.0%}" for share in shares))
    return out


def training_table(game: str, parts: Sequence[Part]) -> Table:
    title = f"{game}: one training minute"
    out = figures_table("process", "part", figures=("seconds", "share"), title=title)
    who = ""
    for part in parts:
        out.add_row("" if part.who == who else part.who, part.part, f"{part.seconds:.1f}", f"{part.share:.0%}")
        who = part.who
    return out


def rounds_table(rows: Sequence[RoundRow]) -> Table:
    title = "one round of self-play, settings of the preset demo"
    out = figures_table("game", figures=("searches", "grown", "one-hot", "distinct", "won"), title=title)
    for row in rows:
        shares = row.grown_share, row.one_hot_share, row.distinct_positions_share, row.won_share
        out.add_row(row.game, f"{row.searches:,}", *(f"{share:.1%}" for share in shares))
    return out


def holdem_table(rows: Sequence[SpotTiming]) -> Table:
    title = "milliseconds an iteration; seconds and iterations to 0.5%"
    headings = ("threads", "ms", "fastest", "cpu ms", "speedup", "seconds", "iter.", "MB", "load")
    out = figures_table("spot", figures=headings, title=title)
    for row in rows:
        times = (f"{ms:.3f}" for ms in (row.ms_per_iteration, row.fastest_ms, row.processor_ms))
        solve = f"{row.seconds_to_half_percent:.3g}", f"{row.iterations:,}", f"{row.memory_mb:,.0f}"
        out.add_row(row.spot, str(row.threads), *times, f"{row.speedup:.2f}", *solve, f"{row.load:.1f}")
    return out


def simulations_table(rows: Sequence[SimulationsRow]) -> Table:
    title = "simulations from the first position, one core"
    out = figures_table("game", "search", "network", figures=("per s", "network"), title=title)
    for row in rows:
        speed, share = f"{row.simulations_per_second:,.4g}", f"{row.network_share:.0%}"
        out.add_row(row.game, row.search, row.network, speed, share)
    return out


def histories_table(rows: Sequence[HistoriesRow]) -> Table:
    headings = ("decisions", "random games/s", f"with {rows[0].network} /s", "with R-NaD /s")
    out = figures_table("game", figures=headings)
    for row in rows:
        figures = (f"{row.decisions:.1f}", *(f"{rate:,.0f}" for rate in (row.random, row.actor, row.learning)))
        out.add_row(row.game, *figures)
    return out


def sepot_table(rows: Sequence[SepotRow]) -> Table:
    from soglab.bench.sepot_search import PARTS

    out = figures_table("game", figures=("histories", "searches", "median", "ms", *PARTS, "MB"))
    for row in rows:
        size = f"{row.above:,} to {row.most:,}" if row.most else "too many"
        shares = (f"{row.shares[part]:.0%}" for part in PARTS)
        figures = f"{row.searches}", f"{row.histories:,}", f"{row.milliseconds:,.3g}"
        out.add_row(row.game, size, *figures, *shares, f"{row.megabytes:,.3g}")
    return out


def rebel_table(rows: Sequence[RebelRow]) -> Table:
    title = "subgames solved a second, one core"
    out = figures_table("game", "network", "setting", figures=("solves/s", "network"), title=title)
    for row in rows:
        speed, share = f"{row.solves_per_second:,.4g}", f"{row.network_share:.0%}"
        out.add_row(row.game, row.network, row.setting, speed, share)
    return out
