"""Elo over training: the networks of a Student of Games run and of an AlphaZero run in one table of ratings.

Every network plays with the search that trained it, all with equally many simulations; the picture's axis is the time
that training took, so that the two can be compared at equal simulations and equal training time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sog.algorithms.table import find
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_game
from sog.training.checkpoint import Meta, load_meta
from soglab.papers.elo_matches import (
    Agent,
    describe,
    match_keys,
    play_match,
    rated_agents,
    rating_row,
    said_of,
)
from soglab.runs import (
    check_unchanged,
    networks_of,
    one_game,
    run_folder,
    runs_there,
    spread,
    training_minutes,
)
from soglab.study import Beside, Draw, Key, Note, Options, Outcome, Point, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RUNS: Final = (Path("runs/connect_four"), Path("runs/connect_four-alphazero"))
SIMULATIONS: Final = 100
SNAPSHOTS: Final = 10  # of a run, at most, spread over its rounds as they were taken; the checkpoint is the last
BATCHES: Final = 4  # of 16 games a pair
OPENINGS: Final = 8


@dataclass(frozen=True)
class Snapshot:
    """A network of a run.  minutes: of training behind it, see `training_minutes`."""

    agent: Agent
    minutes: float


def plan(options: Options, note: Note) -> list[Key]:
    """Neighbours within each run, and between the runs those of about the same training time."""
    runs = options.runs or runs_there(RUNS, "connect_four")
    simulations, most = (8, 3) if options.quick else (SIMULATIONS, SNAPSHOTS)
    found = [snapshots(run, simulations, most) for run in runs]
    game = one_game(own[0].agent.checkpoint for own in found)
    if not make_game(game).perfect_information:
        raise SettingError(f"training-elo needs a game of perfect information, not {game}")
    for run, own in zip(runs, found, strict=True):
        note(f"{run}: {len(own)} networks of {own[0].agent.algorithm}, {simulations} simulations a move")
    batches = options.seeds or (1 if options.quick else BATCHES)
    return match_keys(game, _pairs(found), batches, 2 if options.quick else OPENINGS)


def snapshots(run: Path, simulations: int, most: int | None = None) -> list[Snapshot]:
    """The run's networks by training step, each once; all, or at most `most` with the first and the latest."""
    own = [
        Snapshot(Agent(_algorithm(meta, folder), str(folder), meta.network_id, simulations), training_minutes(meta))
        for folder, meta in networks_of(run)
        if not math.isnan(training_minutes(meta))  # checkpoints of earlier versions lack them
    ]
    if len(own) < 2:
        raise CheckpointError(f"{run} has fewer than two different snapshots: no curve over training")
    return spread(own, most)


def _algorithm(meta: Meta, folder: Path) -> str:
    algorithm = meta.algorithm
    if not find(algorithm).plays_boards:
        raise CheckpointError(f"{folder}: nobody here plays with a network of {algorithm}")
    return algorithm


def _pairs(runs: Sequence[Sequence[Snapshot]]) -> list[tuple[Agent, Agent]]:
    """Within a run the next and the next but one; of two runs each snapshot with the other's nearest in time."""
    pairs: dict[tuple[Agent, Agent], None] = {}
    for own in runs:
        for distance in (1, 2):
            pairs.update(dict.fromkeys(zip(_agents(own[:-distance]), _agents(own[distance:]), strict=True)))
    for k, first in enumerate(runs):
        for second in runs[k + 1 :]:
            pairs.update(dict.fromkeys((one.agent, _nearest(second, one).agent) for one in first))
            pairs.update(dict.fromkeys((_nearest(first, one).agent, one.agent) for one in second))
    return list(pairs)


def _nearest(run: Sequence[Snapshot], to: Snapshot) -> Snapshot:
    """The snapshot of a run with the most similar training time."""
    return min(run, key=lambda own: abs(own.minutes - to.minutes))


def _agents(own: Sequence[Snapshot]) -> list[Agent]:
    return [snapshot.agent for snapshot in own]


def present(points: list[Point]) -> Outcome:
    """Elo over minutes of training, a line for each run; the first run's first network has Elo 0."""
    agents, ratings = rated_agents(points)
    rows = [{**rating_row(agents, ratings, k, 0), **_when(agents[k])} for k in range(len(agents))]
    rows.sort(key=lambda row: (row["run"], row["minutes"]))
    beside = [
        Beside(f"{row['run']}, {row['minutes']:.1f} minutes", "", f"{row['elo']:+.0f} ± {row['interval']:.0f}")
        for row in rows
    ]
    beside += said_of(ratings)
    games = sum(sum(point.result.values()) for point in points)
    title = f"{points[0].key['game']}: {agents[0].simulations} simulations a move, {games:,} games, 95% intervals"
    return Outcome(rows, {"training-elo": _picture(title, rows)}, beside)


def _when(agent: Agent) -> dict[str, Any]:
    folder = Path(agent.checkpoint)
    check_unchanged(folder, agent.network)
    meta = load_meta(folder)
    return {"run": str(run_folder(folder)), "minutes": training_minutes(meta), "step": meta.step}


def _picture(title: str, rows: Sequence[dict[str, Any]]) -> Draw:
    def draw(figure: Figure) -> None:
        axis = figure.subplots()
        for run in dict.fromkeys(row["run"] for row in rows):
            own = [row for row in rows if row["run"] == run]
            axis.errorbar(
                [row["minutes"] for row in own],
                [row["elo"] for row in own],
                [row["interval"] for row in own],
                label=f"{own[0]['algorithm']}: {run}",
                marker="o",
                capsize=3,
            )
        axis.set(xlabel="minutes of training", ylabel="Elo, the first run's first network = 0", title=title)
        axis.grid(alpha=0.3)
        axis.legend()

    return draw


STUDY: Final = Study(plan, play_match, present, takes=("seeds", "runs"), describe=describe)
