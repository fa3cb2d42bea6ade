"""Elo over training: the networks of a Student of Games run and of an AlphaZero run in one table of ratings.

Every network plays with the search that trained it, all with equally many simulations; the picture's axis is the time
that training took, so that the two can be compared at equal simulations and equal training time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sog.algorithms.table import find
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_game
from sog.training.checkpoint import Meta
from soglab.papers import elo_matches as elo
from soglab.plots import Panel, Picture, Scale, line_of
from soglab.runs import networks_of, one_game, run_folder, runs_there, spread, training_minutes
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Study, StudyPoint, grouped

RUNS: Final = (Path("runs/connect_four"), Path("runs/connect_four-alphazero"))
SIMULATIONS: Final = 100
SNAPSHOTS: Final = 10  # of a run, at most, spread over its rounds as they were taken; the checkpoint is the last
BATCHES: Final = 4  # of 16 games a pair
OPENINGS: Final = 8


@dataclass(frozen=True)
class Snapshot:
    """A network of a run.  minutes: of training behind it, see `training_minutes`."""

    agent: elo.RatedAgent
    minutes: float


def plan(options: Options, note: Note) -> list[Key]:
    """Neighbours within each run, and between the runs those of about the same training time."""
    runs = options.runs or runs_there(RUNS, "connect_four")
    simulations, most = (8, 3) if options.quick else (SIMULATIONS, SNAPSHOTS)
    networks = [snapshots(run, simulations, most) for run in runs]
    game = one_game(own[0].agent.checkpoint for own in networks)
    if not make_game(game).perfect_information:
        raise SettingError(f"training-elo needs a game of perfect information, not {game}")
    for run, own in zip(runs, networks, strict=True):
        note(f"{run}: {len(own)} networks of {own[0].agent.algorithm}, {simulations} simulations a move")
    return elo.match_keys(game, _pairs(networks), options.num_seeds(BATCHES), 2 if options.quick else OPENINGS)


def snapshots(run: Path, simulations: int, most: int | None = None) -> list[Snapshot]:
    """The run's networks by training step, each once; all, or at most `most` with the first and the latest."""
    own = []
    for folder, meta in networks_of(run):
        agent = elo.RatedAgent(_algorithm(meta, folder), str(folder), meta.network_id, simulations)
        minutes = training_minutes(meta)
        if not math.isnan(minutes):  # checkpoints of earlier versions lack them
            own.append(Snapshot(agent, minutes))
    if len(own) < 2:
        raise CheckpointError(f"{run} has fewer than two different snapshots: no curve over training")
    return spread(own, most)


def _algorithm(meta: Meta, folder: Path) -> str:
    algorithm = meta.algorithm
    if not find(algorithm).plays_boards:
        raise CheckpointError(f"{folder}: nobody here plays with a network of {algorithm}")
    return algorithm


def _pairs(runs: Sequence[Sequence[Snapshot]]) -> list[tuple[elo.RatedAgent, elo.RatedAgent]]:
    """Within a run the next and the next but one; of two runs each snapshot with the other's nearest in time."""
    pairs: dict[tuple[elo.RatedAgent, elo.RatedAgent], None] = {}
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


def _agents(own: Sequence[Snapshot]) -> list[elo.RatedAgent]:
    return [snapshot.agent for snapshot in own]


def present(points: list[StudyPoint]) -> Outcome:
    """Elo over minutes of training, a line for each run; the first run's first network has Elo 0."""
    agents, ratings = elo.rated_agents(points)
    rows = [{**elo.rating_row(agents, ratings, k, 0), **_when(agents[k])} for k in range(len(agents))]
    rows.sort(key=lambda row: (row["run"], row["minutes"]))
    beside = [Beside(f"{row['run']}, {row['minutes']:.1f} minutes", "", elo.rating_text(row)) for row in rows]
    lines = [
        line_of(own, "minutes", "elo", f"{own[0]['algorithm']}: {run}", {"marker": "o"}, "interval")
        for run, own in grouped(rows, lambda row: str(row["run"])).items()
    ]
    title = elo.title_of(points, f", {agents[0].simulations} simulations a move")
    panel = Panel(
        lines,
        Scale("minutes of training (of the processor for runs in one process, else by the clock)"),
        Scale("Elo, the first run's first network = 0"),
        title,
    )
    return Outcome(rows, {"training-elo": Picture([panel])}, [*beside, *elo.notes_on(ratings)])


def _when(agent: elo.RatedAgent) -> dict[str, Any]:
    return {"run": str(run_folder(Path(agent.checkpoint))), **elo.training_of(agent)}


EXPERIMENT: Final = Experiment(
    id="training-elo",
    paper="SoG",
    figure="Table 1, over training",
    minutes=60,
    what="Elo of the snapshots of a SoG and an AlphaZero --run at 100 simulations, over the minutes of training",
    study=Study(plan, elo.play_match, present, takes=("seeds", "runs"), describe=elo.describe),
)
