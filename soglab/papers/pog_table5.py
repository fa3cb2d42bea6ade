"""PoG Table 5: how exploitable IS-MCTS is on Leduc, by simulations, UCT constant and final policy.

The three final policies are read off the same searches here, so within a row they are not independent of each other.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import mean, stdev
from typing import Any, Final

from sog.games.catalog import make_game
from sog.searches.cfr import exact
from sog.searches.tree.public_tree import PublicTree
from soglab.baselines.ismcts import FINAL_POLICIES, ISMCTS, Searcher, composed
from soglab.plots import DOTS, Mark, Panel, Picture, line_of, log_scale
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, by_key, grouped

GAME: Final = "leduc_poker"
# Table 5, mbb/h, means of five: by simulations, for each final policy (mvd, mvis, mval) a figure for each C.
_CONSTANTS: Final = (1.0, 2.0, 5.0, 10.0, 13.0, 20.0, 26.0)
_PRINTED: Final = {
    10: (
        (2168, 2058, 1902, 1738, 1799, 1821, 1888),
        (2449, 2408, 2615, 2555, 2517, 2830, 2861),
        (2173, 2341, 2517, 2360, 2598, 2349, 2669),
    ),
    100: (
        (1489, 1404, 1239, 1213, 1218, 1350, 1448),
        (1509, 1587, 1145, 1195, 1292, 1456, 1747),
        (1333, 1395, 1094, 1245, 1227, 1342, 1568),
    ),
    1_000: (
        (1323, 1069, 699, 697, 741, 859, 966),
        (1218, 1212, 778, 601, 759, 962, 1029),
        (1177, 864, 681, 632, 744, 991, 1057),
    ),
    10_000: (
        (1348, 911, 516, 490, 511, 572, 631),
        (948, 877, 582, 485, 465, 505, 575),
        (1134, 763, 538, 480, 470, 505, 570),
    ),
}
# {simulations: {C: (mvd, mvis, mval)}}.
TABLE_5: Final[dict[int, dict[float, tuple[int, ...]]]] = {
    count: dict(zip(_CONSTANTS, zip(*rows, strict=True), strict=True)) for count, rows in _PRINTED.items()
}
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
    statistics = searcher.search_all(ISMCTS(key["simulations"], key["c"], key["seed"]))
    per_utility = searcher.public.game.unit.per_utility
    return {
        final: exact.measure_policy(searcher.public, composed(statistics, final)).exploitability * per_utility
        for final in FINAL_POLICIES
    }


@lru_cache(maxsize=1)
def _searcher(game: str) -> Searcher:
    return Searcher(PublicTree(make_game(game)).list_all())


def present(points: list[StudyPoint]) -> Outcome:
    """The table, ours as mean and standard deviation over seeds, and how far apart the two tables are."""
    rows = _rows(points)
    beside = [Beside(_label(row), f"{row['paper']}", _ours(row)) for row in rows]
    beside += _summary(rows)
    panels = [_panel(final, [row for row in rows if row["final"] == final]) for final in FINAL_POLICIES]
    title = "IS-MCTS on Leduc, mean and standard deviation over seeds; circles: PoG, Table 5"
    return Outcome(rows, {"pog-table5": Picture(panels, title, same_y=True)}, beside)


def _rows(points: list[StudyPoint]) -> list[dict[str, Any]]:
    """One row for each (simulations, C, final policy), mbb/h."""
    out = []
    for (simulations, c), own in by_key(points, "simulations", "c").items():
        for final, paper in zip(FINAL_POLICIES, TABLE_5[simulations][c], strict=True):
            mbb = [point.result[final] for point in own]
            spread = stdev(mbb) if len(mbb) > 1 else None
            row = {"simulations": simulations, "c": c, "final": final, "seeds": len(mbb), "paper": paper}
            out.append(row | {"mean": mean(mbb), "deviation": spread, "lowest": min(mbb), "highest": max(mbb)})
    return out


def _ours(row: dict[str, Any]) -> str:
    spread = "" if row["deviation"] is None else f" (deviation {row['deviation']:.0f})"
    return f"{row['mean']:.0f} mbb/h{spread}"


def _summary(rows: list[dict[str, Any]]) -> list[Beside]:
    """The lowest figure of each table, and how many differ by no more than the noise of two means of five."""
    lowest = min(rows, key=lambda row: float(row["mean"]))
    paper = min(rows, key=lambda row: int(row["paper"]))
    out = [Beside("the lowest", f"{paper['paper']} ({_label(paper)})", f"{lowest['mean']:.0f} ({_label(lowest)})")]
    if all(row["seeds"] > 1 for row in rows):
        # The paper gives no spread: its means of five are taken to be spread as ours.
        apart = [
            abs(row["mean"] - row["paper"]) / (row["deviation"] * (1 / row["seeds"] + 1 / _SEEDS) ** 0.5)
            for row in rows
            if row["deviation"]
        ]
        near = sum(z <= 2.0 for z in apart)
        out.append(Beside("within 2 standard errors", "", f"{near} of {len(apart)} figures"))
    return out


def _label(row: dict[str, Any]) -> str:
    return f"{row['simulations']:,} sims, C {row['c']:g}, {row['final']}"


def _panel(final: str, rows: list[dict[str, Any]]) -> Panel:
    """A line for each C; hollow: the paper's."""
    marks: list[Mark] = []
    for k, (c, own) in enumerate(grouped(rows, lambda row: float(row["c"])).items()):
        color = {"color": f"C{k}"}
        marks.append(line_of(own, "simulations", "mean", f"C = {c:g}", {**DOTS, **color}, "deviation"))
        circles = {**color, "marker": "o", "mfc": "none", "linestyle": ""}
        marks.append(line_of(own, "simulations", "paper", None, circles))
    return Panel(marks, log_scale("simulations"), log_scale("exploitability, mbb/h"), final, grid={"which": "both"})


EXPERIMENT: Final = Experiment(
    id="pog-table5",
    paper="PoG",
    figure="Table 5",
    minutes=2,
    what="Leduc: IS-MCTS at every infostate, 10 to 10,000 simulations, seven UCT constants, three final policies",
    study=Study(plan, compute, present, takes=("seeds",)),
)
