"""README's picture: a hand of Leduc poker with the agent's beliefs, beside the learning curve of a three-minute run."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from sog.algorithms.student.algorithm import Student
from sog.algorithms.table import checked_settings
from sog.games.catalog import make_game
from sog.games.rules.leduc.game import LeducState
from sog.measure.exploitability import network_exploitability
from sog.measure.listed import listed
from sog.nets.inference import network_evaluator
from sog.nets.network import Network
from sog.play.agent import SearchAgent
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.settings import Budget
from sog.training.opened import value_network
from sog.training.run import Hooks, Run, Until
from sog.training.self_play import train
from sog.training.shipped import find_checkpoint
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sog.training.settings import TrainSettings

GAME: Final = "leduc_poker"
HAND, CURVE = "hand", "curve"
# You are player 0: bet, are called; the board is a king; you bet again. The agent, player 1, holds a queen.
STEPS: Final = (
    ("you bet", LeducState("r")),
    ("the agent calls, the board is a king; you check", LeducState("rc", 4, "c")),
    ("you bet instead", LeducState("rc", 4, "r")),
)
QUEEN: Final = 2  # the agent's card
RANKS: Final = ("jack", "queen", "king")
_ROUNDS: Final = 70  # of the preset demo
_EVERY: Final = 5  # rounds between two measures


def plan(options: Options, note: Note) -> list[Key]:
    """The hand, and one run from one seed."""
    return [{"what": HAND, "game": GAME}, {"what": CURVE, "game": GAME, "rounds": 2 if options.quick else _ROUNDS}]


def compute(key: Key) -> Result:
    """The agent's beliefs by rank after each of your moves; or (minutes, mbb/h) of a run while it trains."""
    return {"beliefs": _beliefs()} if key["what"] == HAND else {"curve": _curve(key["rounds"])}


def _beliefs() -> list[list[float]]:
    """How likely the agent holds each rank of yours to be, by its search at (100, 1) with the shipped network."""
    public = listed(GAME)
    _, network = value_network(find_checkpoint(GAME))
    beliefs = []
    for _, state in STEPS:
        agent = SearchAgent(public, 1, ResolveSettings(Budget(100, 1.0)), network_evaluator(network))
        node = public.states.index(state)
        for passed in public.path(node):  # its chain of searches, as in play
            if public.actor(passed) == agent.player:
                agent.policy(passed)
        belief = agent.belief(QUEEN)
        beliefs.append([float(belief[2 * rank : 2 * rank + 2].sum()) for rank in range(len(RANKS))])
    return beliefs


def _curve(rounds: int) -> list[list[float]]:
    """Minutes of training and the exploitability at (100, 1), mbb/h, every few rounds of the preset demo."""
    public, per_utility = listed(GAME), make_game(GAME).unit.per_utility

    def measure(network: Network) -> float:
        return network_exploitability(public, network) * per_utility

    run = Run(GAME)
    settings = checked_settings(Student().rules(GAME), run)
    with tempfile.TemporaryDirectory() as folder:
        curve: list[list[float]] = []

        def report(point: Any, total: int) -> None:
            if not math.isnan(point.measured):
                curve.append([point.minutes, point.measured])

        hooks = Hooks(measure, _EVERY, report)
        train(run, cast("TrainSettings", settings), Path(folder) / "run", Until(rounds=rounds), hooks=hooks)
        return curve


def present(points: list[StudyPoint]) -> Outcome:
    """One picture of both, and the run's last figure."""
    results = {point.key["what"]: point.result for point in points}
    if len(results) < 2:
        return Outcome([point.row for point in points])
    beliefs, curve = results[HAND]["beliefs"], results[CURVE]["curve"]

    def draw(figure: Figure) -> None:
        _draw(figure, beliefs, curve)

    named = zip(STEPS, beliefs, strict=True)
    rows = [{"after": words, **dict(zip(RANKS, belief, strict=True))} for (words, _), belief in named]
    last = Beside(f"after {curve[-1][0]:.1f} minutes of training", "", f"{curve[-1][1]:.3g} mbb/h")
    return Outcome(rows, {"front-page": draw}, [last])


def _draw(figure: Figure, beliefs: list[list[float]], curve: list[list[float]]) -> None:
    """Bars of belief, a row a move; beside them the curve."""
    figure.set_size_inches(11, 4.2)
    grid = figure.add_gridspec(len(beliefs), 2, width_ratios=(1, 1.25))
    for k, ((words, _), belief) in enumerate(zip(STEPS, beliefs, strict=True)):
        axis = figure.add_subplot(grid[k, 0])
        axis.barh(RANKS, belief, color=("#9db8d2", "#5f8db8", "#1f4e79"))
        for rank, share in enumerate(belief):
            axis.text(share + 0.02, rank, f"{share:.0%}", va="center", fontsize=8)
        axis.set(xlim=(0, 1.1), xticks=[])
        axis.set_title(f"{k + 1}. {words}", fontsize=9, loc="left")
        axis.tick_params(labelsize=8, length=0)
        axis.spines[["top", "right", "bottom"]].set_visible(False)
    axis = figure.add_subplot(grid[:, 1])
    minutes, measured = np.array(curve).T
    axis.plot(minutes, measured, marker=".", color="#1f4e79")
    axis.set_title("exploitability of the agent while it trains, one run, budget (100, 1)", fontsize=9, loc="left")
    axis.set(xlabel="minutes of training, one core", ylabel="mbb/h; 0 is perfect play", ylim=(0, None))
    axis.grid(alpha=0.3)
    title = "Leduc poker: what the agent, who holds a queen, believes that you hold"
    figure.suptitle(title, fontsize=10, x=0.02, ha="left")
    figure.tight_layout()


EXPERIMENT: Final = Experiment(
    id="front-page",
    paper="README",
    figure="picture",
    minutes=4,
    what="A hand of Leduc with the agent's beliefs, and the learning curve of the preset demo",
    study=Study(plan, compute, present),
)
