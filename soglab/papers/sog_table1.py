"""SoG Table 1, PoG Table 4: Elo over simulations s, expansions a round c and training time, beside fixed opponents.

A run's networks play with the search that trained it; those of Student of Games with two c. The weakest reference,
which no training moves, has Elo 0, as GNU Go has in the papers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sog.errors import SettingError
from sog.games.boards.connect_four import ConnectFour
from sog.games.boards.go import Go
from sog.games.catalog import make_game
from sog.training.checkpoint import load_meta
from soglab.papers.elo_matches import (
    Agent,
    Pair,
    Reference,
    describe,
    match_keys,
    play_match,
    rated,
    rating_row,
    said_of,
)
from soglab.papers.training_elo import Snapshot, snapshots
from soglab.runs import check_unchanged, one_game, training_minutes
from soglab.study import Beside, Draw, Key, Note, Options, Outcome, Point, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIMULATIONS: Final = (25, 100, 400)
QUICK: Final = (2, 4)
PER_UPDATE: Final = (1.0, 10.0)
NETWORKS: Final = 3  # of a run, evenly over its minutes
BATCHES: Final = 2  # of 16 games a pair
OPENINGS: Final = 8
# Of a game: the weakest has Elo 0.
_CONNECT_FOUR: Final = tuple(Reference("alpha-beta", depth) for depth in (1, 3, 5))
_GO: Final = tuple(Reference("rollouts", count) for count in (100, 1_000, 10_000))


@dataclass(frozen=True)
class _Line:
    """The agents of one network, by (c, s).  per_update: all c of its algorithm."""

    snapshot: Snapshot
    agents: dict[tuple[float, int], Agent]
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
    batches = options.seeds or (1 if options.quick else BATCHES)
    return match_keys(game, list(dict.fromkeys(met)), batches, 1 if options.quick else OPENINGS)


def _references(game: str) -> tuple[Reference, ...]:
    made = make_game(game)
    if isinstance(made, ConnectFour | Go):
        return _CONNECT_FOUR if isinstance(made, ConnectFour) else _GO
    raise SettingError(f"sog-table1 has references for connect four and Go, not for {game}")


def _lines(run: Path, simulations: Sequence[int], networks: int) -> list[_Line]:
    """The run's networks nearest to equal parts of its minutes, the last among them, without its first."""
    found = snapshots(run, simulations[0])[1:]
    wanted = [found[-1].minutes * (k + 1) / networks for k in range(networks)]
    nearest = [min(found, key=lambda own: (abs(own.minutes - minutes), -own.minutes)) for minutes in wanted]
    lines = []
    for snapshot in dict.fromkeys(nearest):
        per_update = PER_UPDATE if snapshot.agent.budgeted else PER_UPDATE[:1]
        agents = {(c, s): replace(snapshot.agent, simulations=s, per_update=c) for c in per_update for s in simulations}
        lines.append(_Line(snapshot, agents, per_update))
    return lines


def _within(lines: Sequence[_Line], simulations: Sequence[int]) -> list[Pair]:
    """Neighbours in s, in c and in training time."""
    pairs: list[Pair] = []
    for line in lines:
        own = line.agents
        pairs += [(own[c, s], own[c, more]) for c in line.per_update for s, more in pairwise(simulations)]
        pairs += [(own[c, s], own[d, s]) for c, d in pairwise(line.per_update) for s in simulations]
    for before, line in pairwise(lines):
        pairs += [(before.agents[at], line.agents[at]) for at in line.agents]
    return pairs


def _between(one: Sequence[_Line], other: Sequence[_Line]) -> list[Pair]:
    """Each network of a run with the other's nearest in training time, at equal s and the smallest c."""
    pairs: list[Pair] = []
    for line in one:
        near = min(other, key=lambda own: abs(own.snapshot.minutes - line.snapshot.minutes))
        pairs += [(agent, near.agents[at]) for at, agent in line.agents.items() if at[0] == PER_UPDATE[0]]
    return pairs


def _beside(references: Sequence[Reference], runs: Sequence[Sequence[_Line]], simulations: Sequence[int]) -> list[Pair]:
    """References with each other, and with every network at a middling s and the smallest c."""
    at = PER_UPDATE[0], simulations[len(simulations) // 2]
    pairs: list[Pair] = [*pairwise(references)]
    return pairs + [(reference, line.agents[at]) for reference in references for lines in runs for line in lines]


def present(points: list[Point]) -> Outcome:
    """The table, strongest first."""
    agents, ratings = rated(points)
    references = [agent for agent in agents if isinstance(agent, Reference)]
    anchor = agents.index(min(references, key=lambda own: own.strength))
    rows = [{**rating_row(agents, ratings, k, anchor), **_trained(agents[k])} for k in range(len(agents))]
    rows.sort(key=lambda row: -row["elo"])
    beside = [Beside(_name(row), "", f"{row['elo']:+.0f} ± {row['interval']:.0f}") for row in rows]
    beside += said_of(ratings)
    games = sum(sum(point.result.values()) for point in points)
    title = f"{points[0].key['game']}: {games:,} games, 95% intervals, {agents[anchor]} = 0"
    return Outcome(rows, {"sog-table1": _picture(title, rows)}, beside)


def _trained(agent: Agent | Reference) -> dict[str, Any]:
    if isinstance(agent, Reference):
        return {"minutes": None, "step": None}
    check_unchanged(Path(agent.checkpoint), agent.network)
    meta = load_meta(Path(agent.checkpoint))
    return {"minutes": training_minutes(meta), "step": meta.step}


def _name(row: dict[str, Any]) -> str:
    return str(row["agent"]) if row["minutes"] is None else f"{row['agent']}, {row['minutes']:.0f} minutes"


def _picture(title: str, rows: Sequence[dict[str, Any]]) -> Draw:
    def draw(figure: Figure) -> None:
        axis = figure.subplots()
        lines: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in sorted(rows, key=lambda row: row["simulations"]):
            if row["checkpoint"]:
                lines.setdefault((row["algorithm"], row["per_update"], row["minutes"]), []).append(row)
        for (algorithm, c, minutes), own in sorted(lines.items(), key=lambda line: str(line[0])):
            s, elo, interval = ([row[name] for row in own] for name in ("simulations", "elo", "interval"))
            budget = "" if c is None else f", c = {c:g}"
            axis.errorbar(s, elo, interval, label=f"{algorithm}{budget}, {minutes:.0f} min", marker="o", capsize=3)
        for row in rows:
            if not row["checkpoint"]:
                axis.axhline(row["elo"], color="0.6", linestyle=":")
                axis.annotate(row["agent"], (0.99, row["elo"]), xycoords=("axes fraction", "data"), ha="right")
        axis.set(xscale="log", xlabel="simulations s", ylabel="Elo", title=title)
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small")

    return draw


STUDY: Final = Study(plan, play_match, present, takes=("seeds", "runs"), describe=describe)
