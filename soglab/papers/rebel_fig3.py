"""ReBeL Fig. 3 and the tabular rows of Table 2: fictitious play and linear CFR on four games of Liar's Dice.

Table 2 comes out closest when one player's update counts as an iteration: 1,024 of theirs are 512 rounds here, where a
round updates both players in turn. The paper's text says that its FP is FLOP; which variant its FP row is nearest to is
printed.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

from sog.games.rules.liars_dice import LiarsDice
from sog.searches.cfr import exact
from sog.searches.cfr.algorithms import IterativeSolver, of_rule, of_variant
from sog.searches.cfr.fictitious import FLOP, FP, LINEAR_FP
from sog.searches.cfr.rules import LINEAR_CFR
from sog.searches.tree.public_tree import PublicTree
from soglab.papers.rebel_table2 import GAMES
from soglab.plots import LOG_2, Line, Panel, Picture, Scale, line_through, log_scale
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint

ALGORITHMS: Final[dict[str, IterativeSolver]] = {
    "FP": of_variant(FP),
    "Linear FP": of_variant(LINEAR_FP),
    "FLOP": of_variant(FLOP),
    "Linear CFR": of_rule(LINEAR_CFR),
}
# Table 2, "Full-game FP" and "Full-game CFR", after 1,024 iterations.
TABLE_2: Final = {
    "FP": {"1x4f": 0.012, "1x5f": 0.024, "1x6f": 0.039, "2x3f": 0.057},
    "CFR": {"1x4f": 0.001, "1x5f": 0.001, "1x6f": 0.002, "2x3f": 0.002},
}
_TABLE_ROUNDS: Final = 512
_MOST_ROUNDS: Final = 16_384
_QUICK_ROUNDS: Final = 512


def plan(options: Options, note: Note) -> list[Key]:
    """Every algorithm on every game."""
    rounds = _QUICK_ROUNDS if options.quick else _MOST_ROUNDS
    return [{"game": game, "algorithm": name, "rounds": rounds} for game in GAMES for name in ALGORITHMS]


def compute(key: Key) -> Result:
    """Exploitability, the mean over players, after 32, 64, 128, ... rounds."""
    tree = exact.full_tree(_listed(key["game"]))
    curve = {}
    rounds = 32
    while rounds <= key["rounds"]:
        ALGORITHMS[key["algorithm"]].iterate(tree, rounds - tree.iterations)
        tree.update_average_policy()
        curve[str(rounds)] = exact.measure(tree).exploitability
        rounds *= 2
    return {"exploitability": curve}


@lru_cache(maxsize=1)
def _listed(game: str) -> PublicTree:
    return PublicTree(LiarsDice(*GAMES[game])).list_all()


def present(points: list[StudyPoint]) -> Outcome:
    """Exploitability against iterations, and Table 2's figures beside each algorithm's."""
    rows = [
        {"game": p.key["game"], "algorithm": p.key["algorithm"], "rounds": rounds, "exploitability": exploitability}
        for p in points
        for rounds, exploitability in p.curve().items()
    ]
    panels = [_panel(game, [p for p in points if p.key["game"] == game]) for game in GAMES]
    title = "Liar's Dice; crosses: ReBeL, Table 2, full-game FP and CFR"
    picture = Picture(panels, title, 2, (11, 7.5), same_x=True, same_y=True)
    return Outcome(rows, {"rebel-fig3": picture}, _beside(points))


def _beside(points: list[StudyPoint]) -> list[Beside]:
    out = []
    for row, names in (("FP", ("FP", "Linear FP", "FLOP")), ("CFR", ("Linear CFR",))):
        for name in names:
            lines = {p.key["game"]: p.curve() for p in points if p.key["algorithm"] == name}
            for rounds in (_TABLE_ROUNDS, 2 * _TABLE_ROUNDS):
                ours = ", ".join(f"{line[rounds]:.4f}" for line in lines.values() if rounds in line)
                if ours:
                    paper = ", ".join(f"{x:.3f}" for x in TABLE_2[row].values())
                    out.append(Beside(f"{name}, {', '.join(GAMES)}, {2 * rounds:,} updates", paper, ours))
    nearest = _nearest(points)
    return out if nearest is None else [*out, Beside("nearest to the FP row at 1,024 updates", "FLOP", nearest)]


def _nearest(points: list[StudyPoint]) -> str | None:
    """The variant of fictitious play with the least mean ratio to Table 2's FP row; None without every game."""
    ratios: dict[str, list[float]] = {"FP": [], "Linear FP": [], "FLOP": []}
    for p in points:
        exploitability = p.curve().get(_TABLE_ROUNDS)
        if p.key["algorithm"] in ratios and exploitability is not None:
            ratios[p.key["algorithm"]].append(abs(math.log(exploitability / TABLE_2["FP"][p.key["game"]])))
    if any(len(logs) < len(GAMES) for logs in ratios.values()):
        return None
    means = {name: math.exp(sum(logs) / len(logs)) for name, logs in ratios.items()}
    return ", ".join(f"{name} ({mean:.2f} x off)" for name, mean in sorted(means.items(), key=lambda item: item[1]))


def _panel(game: str, points: list[StudyPoint]) -> Panel:
    """A line for each algorithm; the crosses are Table 2's."""
    lines = {p.key["algorithm"]: {2 * rounds: y for rounds, y in p.curve().items()} for p in points}
    cross = {"marker": "x", "color": "black", "linestyle": ""}
    marks = [line_through(line, name, {}) for name, line in lines.items()]
    marks += [Line([2 * _TABLE_ROUNDS], [row[game]], None, cross) for row in TABLE_2.values()]
    return Panel(marks, Scale("updates of one player", *LOG_2), log_scale("exploitability"), game)


EXPERIMENT: Final = Experiment(
    id="rebel-fig3",
    paper="ReBeL",
    figure="Fig. 3, Table 2",
    minutes=2,
    what="FP, linear FP, FLOP and linear CFR on four games of Liar's Dice",
    study=Study(plan, compute, present),
)
