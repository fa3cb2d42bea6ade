"""PoG Table 5: how exploitable IS-MCTS is on Leduc, by simulations, UCT constant and final policy.

The three final policies are read off the same searches here, so within a row they are not independent of each other.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any, Final

from sog.baselines.ismcts import FINAL_POLICIES, ISMCTS, Searcher, composed
from sog.experiments.study import Beside, Key, Note, Options, Outcome, Point, Result, Study
from sog.games.catalog import make_game
from sog.search.cfr import exact
from sog.search.tree.public_tree import PublicTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAME: Final = "leduc_poker"
# Table 5, mbb/h, means of five: {simulations: {C: (mvd, mvis, mval)}}.
TABLE_5: Final[dict[int, dict[float, tuple[int, int, int]]]] = {
    10: {
        1.0: (2168, 2449, 2173), 2.0: (2058, 2408, 2341), 5.0: (1902, 2615, 2517), 10.0: (1738, 2555, 2360),
        13.0: (1799, 2517, 2598), 20.0: (1821, 2830, 2349), 26.0: (1888, 2861, 2669),
    },
    100: {
        1.0: (1489, 1509, 1333), 2.0: (1404, 1587, 1395), 5.0: (1239, 1145, 1094), 10.0: (1213, 1195, 1245),
        13.0: (1218, 1292, 1227), 20.0: (1350, 1456, 1342), 26.0: (1448, 1747, 1568),
    },
    1_000: {
        1.0: (1323, 1218, 1177), 2.0: (1069, 1212, 864), 5.0: (699, 778, 681), 10.0: (697, 601, 632),
        13.0: (741, 759, 744), 20.0: (859, 962, 991), 26.0: (966, 1029, 1057),
    },
    10_000: {
        1.0: (1348, 948, 1134), 2.0: (911, 877, 763), 5.0: (516, 582, 538), 10.0: (490, 485, 480),
        13.0: (511, 465, 470), 20.0: (572, 505, 505), 26.0: (631, 575, 570),
    },
}  # fmt: skip
_SEEDS: Final = 5


def plan(options: Options, note: Note) -> list[Key]:
    """Every row of the table, for each seed; the quick version has C = 13 and no 10,000 simulations."""
    counts = [count for count in TABLE_5 if not options.quick or count < 10_000]
    seeds = options.seeds or (2 if options.quick else _SEEDS)
    return [
        {"game": GAME, "simulations": count, "c": c, "seed": seed}
        for count in counts
        for c in ((13.0,) if options.quick else TABLE_5[count])
        for seed in range(seeds)
    ]


def compute(key: Key) -> Result:
    """Exploitability in mbb/h of IS-MCTS at every infostate, by each final policy."""
    searcher = _searcher(key["game"])
    found = searcher.search_all(ISMCTS(key["simulations"], key["c"], key["seed"]))
    per_utility = searcher.public.game.unit.per_utility
    return {
        final: exact.measure_policy(searcher.public, composed(found, final)).exploitability * per_utility
        for final in FINAL_POLICIES
    }


@lru_cache(maxsize=1)
def _searcher(game: str) -> Searcher:
    return Searcher(PublicTree(make_game(game)).list_all())


def present(points: list[Point]) -> Outcome:
    """The table, ours as mean and standard deviation over seeds, and how far apart the two tables are."""
    rows = _rows(points)
    beside = [Beside(_where(row), f"{row['paper']}", _ours(row)) for row in rows]
    beside += _summary(rows)
    return Outcome(rows, {"pog-table5": lambda figure: _draw(figure, rows)}, beside)


def _rows(points: list[Point]) -> list[dict[str, Any]]:
    """One row for each (simulations, C, final policy), mbb/h."""
    groups: dict[tuple[int, float], list[Result]] = {}
    for point in points:
        groups.setdefault((point.key["simulations"], point.key["c"]), []).append(point.result)
    out = []
    for (simulations, c), results in groups.items():
        for final, paper in zip(FINAL_POLICIES, TABLE_5[simulations][c], strict=True):
            found = [result[final] for result in results]
            spread = stdev(found) if len(found) > 1 else 0.0
            row = {"simulations": simulations, "c": c, "final": final, "seeds": len(found), "paper": paper}
            out.append(row | {"mean": mean(found), "deviation": spread, "lowest": min(found), "highest": max(found)})
    return out


def _ours(row: dict[str, Any]) -> str:
    return f"{row['mean']:.0f} ± {row['deviation']:.0f} mbb/h"


def _summary(rows: list[dict[str, Any]]) -> list[Beside]:
    """The lowest figure of each table, and how many differ by no more than the noise of two means of five."""
    lowest = min(rows, key=lambda row: float(row["mean"]))
    paper = min(rows, key=lambda row: int(row["paper"]))
    out = [Beside("the lowest", f"{paper['paper']} ({_where(paper)})", f"{lowest['mean']:.0f} ({_where(lowest)})")]
    if all(row["seeds"] > 1 for row in rows):
        # The paper gives no spread: its means of five are taken to be spread as ours.
        apart = [
            abs(row["mean"] - row["paper"]) / (row["deviation"] * (1 / row["seeds"] + 1 / _SEEDS) ** 0.5)
            for row in rows
            if row["deviation"] > 0
        ]
        near = sum(z <= 2.0 for z in apart)
        out.append(Beside("within 2 standard errors", "", f"{near} of {len(apart)} figures"))
    return out


def _where(row: dict[str, Any]) -> str:
    return f"{row['simulations']:,} sims, C {row['c']:g}, {row['final']}"


def _draw(figure: Figure, rows: list[dict[str, Any]]) -> None:
    """A panel for each final policy, a line for each C; hollow: the paper's."""
    axes = figure.subplots(1, len(FINAL_POLICIES), sharey=True)
    for axis, final in zip(axes, FINAL_POLICIES, strict=True):
        for k, c in enumerate(dict.fromkeys(row["c"] for row in rows)):
            line = [row for row in rows if row["final"] == final and row["c"] == c]
            counts, colour = [row["simulations"] for row in line], f"C{k}"
            means, spreads = [row["mean"] for row in line], [row["deviation"] for row in line]
            axis.errorbar(counts, means, yerr=spreads, marker=".", capsize=2, color=colour, label=f"C = {c:g}")
            axis.plot(counts, [row["paper"] for row in line], marker="o", mfc="none", linestyle="", color=colour)
        axis.set(xscale="log", yscale="log", xlabel="simulations", title=final)
        axis.grid(alpha=0.3, which="both")
    axes[0].set_ylabel("exploitability, mbb/h")
    axes[0].legend()
    figure.suptitle("IS-MCTS on Leduc; circles: PoG, Table 5")


STUDY: Final = Study(plan, compute, present, takes=("seeds",))
