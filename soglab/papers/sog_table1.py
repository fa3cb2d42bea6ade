"""SoG Table 1, PoG Table 4: Elo over simulations s, expansions a round c and training time, beside fixed opponents.

A run's networks play with the search that trained it; those of Student of Games with two c. The weakest reference,
which no training moves, has Elo 0, as GNU Go has in the papers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from sog.errors import SettingError
from sog.games.boards.connect_four import ConnectFour
from sog.games.boards.go import Go
from sog.games.catalog import make_game
from soglab.papers import elo_matches as elo
from soglab.papers.training_elo import Snapshot, snapshots
from soglab.plots import Caption, Level, Mark, Panel, Picture, Scale, line_of, log_scale
from soglab.runs import one_game
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Study, StudyPoint, grouped

SIMULATIONS: Final = (25, 100, 400)
QUICK: Final = (2, 4)
PER_UPDATE: Final = (1.0, 10.0)
NETWORKS: Final = 3  # of a run, evenly over its minutes
BATCHES: Final = 2  # of 16 games a pair
OPENINGS: Final = 8
# Of a game: the weakest has Elo 0.
_CONNECT_FOUR: Final = tuple(elo.Reference("alpha-beta", depth) for depth in (1, 3, 5))
_GO: Final = tuple(elo.Reference("rollouts", count) for count in (100, 1_000, 10_000))


@dataclass(frozen=True)
class _Agents:
    """The agents of one network, by (c, s).  per_update: all c of its algorithm."""

    snapshot: Snapshot
    agents: dict[tuple[float, int], elo.RatedAgent]
    per_update: tuple[float, ...]


def plan(options: Options, note: Note) -> list[Key]:
    """Neighbours in simulations, in c and in training time; runs at about equal times; references with all networks."""
    if not options.runs:
        raise SettingError("name one training run with --run, or one of each algorithm")
    simulations = QUICK if options.quick else SIMULATIONS
    runs = [_lines(run, simulations, 2 if options.quick else NETWORKS) for run in options.runs]
    game = one_game(lines[0].snapshot.agent.checkpoint for lines in runs)
    references = _references(game)[: 1 if options.quick else None]
    for run, lines in zip(options.runs, runs, strict=True):
        note(f"{run}: {len(lines)} networks of {lines[0].snapshot.agent.algorithm}")
    pairs = [pair for lines in runs for pair in _within(lines, simulations)]
    pairs += [pair for k, one in enumerate(runs) for other in runs[k + 1 :] for pair in _between(one, other)]
    met = [*pairs, *_beside(references, runs, simulations)]
    return elo.match_keys(game, list(dict.fromkeys(met)), options.num_seeds(BATCHES), 1 if options.quick else OPENINGS)


def _references(game: str) -> tuple[elo.Reference, ...]:
    made = make_game(game)
    if isinstance(made, ConnectFour | Go):
        return _CONNECT_FOUR if isinstance(made, ConnectFour) else _GO
    raise SettingError(f"sog-table1 has references for connect four and Go, not for {game}")


def _lines(run: Path, simulations: Sequence[int], networks: int) -> list[_Agents]:
    """The run's networks nearest to equal parts of its minutes, the last among them, without its first."""
    candidates = snapshots(run, simulations[0])[1:]
    wanted = [candidates[-1].minutes * (k + 1) / networks for k in range(networks)]
    nearest = [min(candidates, key=lambda own: (abs(own.minutes - minutes), -own.minutes)) for minutes in wanted]
    lines = []
    for snapshot in dict.fromkeys(nearest):
        per_update = PER_UPDATE if snapshot.agent.budgeted else PER_UPDATE[:1]
        agents = {(c, s): replace(snapshot.agent, simulations=s, per_update=c) for c in per_update for s in simulations}
        lines.append(_Agents(snapshot, agents, per_update))
    return lines


def _within(lines: Sequence[_Agents], simulations: Sequence[int]) -> list[elo.Pair]:
    """Neighbours in s, in c and in training time."""
    pairs: list[elo.Pair] = []
    for line in lines:
        own = line.agents
        pairs += [(own[c, s], own[c, more]) for c in line.per_update for s, more in pairwise(simulations)]
        pairs += [(own[c, s], own[d, s]) for c, d in pairwise(line.per_update) for s in simulations]
    for before, line in pairwise(lines):
        pairs += [(before.agents[at], line.agents[at]) for at in line.agents]
    return pairs


def _between(one: Sequence[_Agents], other: Sequence[_Agents]) -> list[elo.Pair]:
    """Each network of a run with the other's nearest in training time, at equal s and the smallest c."""
    pairs: list[elo.Pair] = []
    for line in one:
        near = min(other, key=lambda own: abs(own.snapshot.minutes - line.snapshot.minutes))
        pairs += [(agent, near.agents[at]) for at, agent in line.agents.items() if at[0] == PER_UPDATE[0]]
    return pairs


def _beside(
    references: Sequence[elo.Reference], runs: Sequence[Sequence[_Agents]], simulations: Sequence[int]
) -> list[elo.Pair]:
    """References with each other, and with every network at a middling s and the smallest c."""
    at = PER_UPDATE[0], simulations[len(simulations) // 2]
    pairs: list[elo.Pair] = [*pairwise(references)]
    return pairs + [(reference, line.agents[at]) for reference in references for lines in runs for line in lines]


def present(points: list[StudyPoint]) -> Outcome:
    """The table, strongest first."""
    agents, ratings = elo.rated(points)
    references = [agent for agent in agents if isinstance(agent, elo.Reference)]
    anchor = agents.index(min(references, key=lambda own: own.strength))
    rows = [{**elo.rating_row(agents, ratings, k, anchor), **_trained(agents[k])} for k in range(len(agents))]
    rows.sort(key=lambda row: -row["elo"])
    beside = [*(Beside(_name(row), "", elo.rating_text(row)) for row in rows), *elo.notes_on(ratings)]
    title, legend = elo.title_of(points, f", {agents[anchor]} = 0"), {"fontsize": "small"}
    panel = Panel(_marks(rows), log_scale("simulations s"), Scale("Elo"), title, legend=legend)
    return Outcome(rows, {"sog-table1": Picture([panel])}, beside)


def _trained(agent: elo.Entrant) -> dict[str, Any]:
    return {"minutes": None, "step": None} if isinstance(agent, elo.Reference) else elo.training_of(agent)


def _name(row: dict[str, Any]) -> str:
    return str(row["agent"]) if row["minutes"] is None else f"{row['agent']}, {row['minutes']:.0f} minutes"


def _marks(rows: Sequence[dict[str, Any]]) -> list[Mark]:
    """A line for each network and c, and a level for each reference."""
    marks: list[Mark] = []
    own = sorted((row for row in rows if row["checkpoint"]), key=lambda row: int(row["simulations"]))
    lines = grouped(own, lambda row: (row["algorithm"], row["per_update"], row["minutes"]))
    for (algorithm, c, minutes), line in sorted(lines.items(), key=lambda item: str(item[0])):
        label = f"{algorithm}{'' if c is None else f', c = {c:g}'}, {minutes:.0f} min"
        marks.append(line_of(line, "simulations", "elo", label, {"marker": "o"}, "interval"))
    for row in rows:
        if not row["checkpoint"]:
            right = {"xycoords": ("axes fraction", "data"), "ha": "right"}
            marks.append(Level(row["elo"], None, {"color": "0.6", "linestyle": ":"}))
            marks.append(Caption(row["agent"], (0.99, row["elo"]), right))
    return marks


EXPERIMENT: Final = Experiment(
    id="sog-table1",
    paper="SoG",
    figure="Table 1 (PoG Table 4)",
    minutes=90,
    what="Elo of SoG(s,1), SoG(s,10) and AlphaZero(s) at s = 25, 100 and 400 "
    "after a third, two thirds and all of --run",
    study=Study(plan, elo.play_match, present, takes=("seeds", "runs"), describe=elo.describe),
)
