"""ReBeL Fig. 1a: rock-paper-scissors with double scissors, searched one ply deep with perfect values at the leaves.

Unsafe search passes the average policy's beliefs to player 1, who then has a pure answer; safe search passes those of
a random iteration and plays the equilibrium in expectation (section 6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from sog.algorithms.rebel.agent import RebelSettings
from sog.algorithms.rebel.playthroughs import mean_policy, sampled_policy
from sog.games.rules.rps import RockPaperScissors
from sog.searches.cfr import exact
from sog.searches.depth_limited.settings import SolveSettings
from sog.searches.tree.public_tree import PublicTree
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PLAYTHROUGHS, _QUICK_PLAYTHROUGHS = 2048, 128
_ORACLE_ITERATIONS: Final = 200
_ACTIONS: Final = ("rock", "paper", "scissors")


def plan(options: Options, note: Note) -> list[Key]:
    """Unsafe and safe search."""
    playthroughs = _QUICK_PLAYTHROUGHS if options.quick else _PLAYTHROUGHS
    return [{"search": "unsafe", "playthroughs": 1}, {"search": "safe", "playthroughs": playthroughs}]


def compute(key: Key) -> Result:
    """Both players' policies and their exploitability, utilities."""
    public, oracle = PublicTree(RockPaperScissors()).list_all(), exact.ExactEvaluator(_ORACLE_ITERATIONS)
    settings = RebelSettings(SolveSettings(depth=1))
    if key["search"] == "unsafe":
        policy = mean_policy(public, settings, oracle)
    else:
        policy = sampled_policy(public, settings, oracle, key["playthroughs"], np.random.default_rng(0)).policy
    return {
        "player 0": policy[0][:, 0].tolist(),
        "player 1": policy[1][:, 0].tolist(),
        "exploitability": exact.measure_policy(public, policy).exploitability,
    }


def present(points: list[StudyPoint]) -> Outcome:
    """What each search plays, beside the equilibrium."""
    beside = []
    for p in points:
        for player in ("player 0", "player 1"):
            ours = ", ".join(f"{x:.3f}" for x in p.result[player])
            published = "0, 1, 0" if (p.key["search"], player) == ("unsafe", "player 1") else "0.4, 0.4, 0.2"
            beside.append(Beside(f"{p.key['search']} search, {player}: {', '.join(_ACTIONS)}", published, ours))
        beside.append(Beside(f"{p.key['search']} search, exploitability", "", f"{p.result['exploitability']:.4f}"))
    return Outcome([p.row for p in points], {"rebel-rps": lambda figure: _draw(figure, points)}, beside)


def _draw(figure: Figure, points: list[StudyPoint]) -> None:
    axes = figure.subplots(1, len(points), sharey=True, squeeze=False)[0]
    for axis, p in zip(axes, points, strict=True):
        for k, player in enumerate(("player 0", "player 1")):
            axis.bar(np.arange(3) + 0.4 * k, p.result[player], width=0.35, label=player)
        axis.set_xticks(np.arange(3) + 0.2, _ACTIONS)
        axis.set(title=f"{p.key['search']} search", ylim=(0.0, 1.0))
    axes[0].legend()


EXPERIMENT: Final = Experiment(
    id="rebel-rps",
    paper="ReBeL",
    figure="Fig. 1a, section 6",
    minutes=1,
    what="The rock-paper-scissors variant searched one ply deep with perfect leaf values, unsafe and safe",
    study=Study(plan, compute, present),
)
