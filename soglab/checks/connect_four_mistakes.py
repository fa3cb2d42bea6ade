"""Connect four: how often an agent's move loses value, over fixed sets of positions whose every move is solved.

A move loses value where it makes a draw or a loss of a win, or a loss of a draw; the share is taken over the positions
where some move does. A move is not the best in score where it wins later, or loses sooner, than another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sog.algorithms.alphazero.algorithm import ALPHAZERO
from sog.algorithms.base import SOG
from sog.games.base import Game
from sog.games.boards.connect_four import ConnectFour
from sog.measure.intervals import paired_difference, plus_minus
from sog.opponents.connect_four.positions import SETS, SHIPPED, Scored, read_positions
from sog.opponents.openspiel_alphazero.player import openspiel_alphazero
from sog.opponents.openspiel_alphazero.settings import RECORD
from sog.opponents.openspiel_mcts import openspiel_mcts
from sog.opponents.rating import RatingPlayer
from sog.play.player import Player, PlayerSearch
from sog.searches.leaves.drive import drive
from sog.searches.leaves.evaluator import SearchGenerator
from soglab.checks.fixed_positions import (
    NETWORK,
    agent_name,
    file_id,
    inputs_of,
    network_player,
    share_line,
    share_of,
)
from soglab.plots import Line, Panel, Picture, Scale
from soglab.runs import networks_on, short_names
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, grouped, totals

GAME: Final = "connect_four"
SIMULATIONS: Final = 100
MCTS: Final = "openspiel mcts"
THEIRS: Final = "openspiel alphazero"
RANDOM: Final = "random"
_ALL: Final = "all"
_BATCH: Final = 250  # positions a point
_QUICK: Final = 6
_AT_ONCE: Final = 32


def plan(options: Options, note: Note) -> list[Key]:
    """Both searches with each --run's network (or the shipped one), the network alone, MCTS and random moves.

    A --run may be a folder that OpenSpiel's AlphaZero was trained in: its own search plays its network.
    """
    agents: list[Key] = []
    theirs = [run for run in options.runs if (run / RECORD).is_file()]
    for network in networks_on(GAME, [run for run in options.runs if run not in theirs]):
        agents += [{"agent": name, **network} for name in (SOG, ALPHAZERO, NETWORK)]
    agents += [{"agent": THEIRS, "checkpoint": str(run), "network": file_id(run / RECORD)} for run in theirs]
    agents += [{"agent": name, "checkpoint": "", "network": ""} for name in (MCTS, RANDOM)]
    sizes = {name: _QUICK if options.quick else len(positions) for name, positions in _sets().items()}
    file = file_id(SHIPPED)
    return [
        {**agent, "simulations": _simulations(agent["agent"]), "set": name, **_batch(first, n), "file": file}
        for name, n in sizes.items()
        for first in range(0, n, _BATCH)
        for agent in agents
    ]


def _batch(first: int, count: int) -> Key:
    return {"first": first, "last": min(first + _BATCH, count)}


def _simulations(agent: str) -> int:
    return SIMULATIONS if agent in (SOG, ALPHAZERO, MCTS, THEIRS) else 0


def _sets() -> dict[str, list[Scored]]:
    """The shipped positions by set."""
    sets: dict[str, list[Scored]] = {name: [] for name in SETS}
    for position in read_positions():
        sets[position.of].append(position)
    return sets


def compute(key: Key) -> Result:
    """How many positions can lose value, and in how many of them the agent's move does; the same for the score.

    Random play counts its expected mistakes, so that its figures have no noise. losses: how often each position's move
    loses value, of those that can.
    """
    positions = _sets()[key["set"]][key["first"] : key["last"]]
    chosen = [list(p.scores) for p in positions] if key["agent"] == RANDOM else [[c] for c in _choices(key, positions)]
    value = [sum(map(p.loses_value, columns)) / len(columns) for p, columns in zip(positions, chosen, strict=True)]
    score = [sum(map(p.loses_score, columns)) / len(columns) for p, columns in zip(positions, chosen, strict=True)]
    can_value = [p.can_lose_value for p in positions]
    can_score = [min(p.scores.values()) < p.best for p in positions]
    return {
        "positions": len(positions),
        "can_lose_value": sum(can_value),
        "lose_value": sum(value),
        "can_lose_score": sum(can_score),
        "lose_score": sum(score),
        "losses": [lost for lost, can in zip(value, can_value, strict=True) if can],
    }


def _choices(key: Key, positions: list[Scored]) -> list[int]:
    """The agent's move in each position, every search begun from nothing."""
    game = ConnectFour(**({} if key["agent"] == THEIRS else inputs_of(key)))
    make_player = _maker(key, game)
    jobs = [_Job(make_player(), game, position.moves) for position in positions]
    for _ in drive(jobs, jobs[0].player.evaluator, _AT_ONCE):
        pass
    return [job.search.thought().action for job in jobs]


class _Job:
    """A search of one position, to be driven beside others."""

    def __init__(self, player: Player, game: Game, moves: tuple[int, ...]) -> None:
        self.player = player
        player.new_game(game)
        self.search: PlayerSearch = player.search(moves)

    def steps(self) -> SearchGenerator:
        yield from self.search.steps()


def _maker(key: Key, game: Game) -> Callable[[], Player]:
    """Makes players of the point's agent, all with one network."""
    if key["agent"] == THEIRS:
        theirs = openspiel_alphazero(Path(key["checkpoint"]), game)  # it makes 100 simulations by itself
        return lambda: RatingPlayer(THEIRS, theirs)
    if key["agent"] == MCTS:
        return lambda: RatingPlayer(MCTS, openspiel_mcts(key["simulations"]))
    return lambda: network_player(key, key["simulations"])


def present(points: list[StudyPoint]) -> Outcome:
    """A row for each agent and set, and for all sets together: the shares, with intervals."""
    rows = list(_rows(points))
    beside = []
    for row in rows:
        share = f"{row['value_share']:.1%} [{row['value_low']:.1%}, {row['value_high']:.1%}] of {row['can_lose_value']}"
        score = f"{row['score_share']:.1%} of {row['can_lose_score']} not best in score"
        beside.append(Beside(f"{row['set']}, {_name(row)}", "", f"{share} lose value; {score}"))
    beside += _differences(points)
    sets = list(dict.fromkeys(row["set"] for row in rows))
    axes = {"xticks": range(len(sets)), "xticklabels": sets}
    value, title = Scale("moves that lose value, %"), "Connect four, 95% intervals"
    panel = Panel(_lines(rows, sets), y=value, title=title, axes=axes, grid={"axis": "y"})
    return Outcome(rows, {"connect-four-mistakes": Picture([panel])}, beside)


def _name(row: Key) -> str:
    return agent_name(row, row["simulations"])


def _differences(points: list[StudyPoint]) -> Iterator[Beside]:
    """How much more of all positions each agent loses value in than the first: by position, since all play the same."""
    several = short_names(point.key["checkpoint"] for point in points)
    agents = grouped(points, lambda p: (p.key["agent"], p.key["checkpoint"], p.key["simulations"]))
    (first, own), *others = (
        (_name({**of[0].key, "of": several.get(of[0].key["checkpoint"], "")}), _losses(of)) for of in agents.values()
    )
    for name, losses in others:
        met = [batch for batch in own if batch in losses]
        before, after = ([100 * one for batch in met for one in of[batch]] for of in (own, losses))
        if before:
            words = f"{plus_minus(*paired_difference(after, before), '+.2f')} points of {len(before)}"
            yield Beside(f"{_ALL}, {name} less {first}, position by position", "", words)


def _losses(points: list[StudyPoint]) -> dict[tuple[str, int], list[float]]:
    """An agent's losses by batch; points of before 30 November 2026 have none."""
    with_losses = [point for point in points if "losses" in point.result]
    return {(point.key["set"], point.key["first"]): point.result["losses"] for point in with_losses}


def _rows(points: list[StudyPoint]) -> Iterator[dict[str, Any]]:
    names = ("agent", "checkpoint", "network", "simulations", "set")
    counts = [replace(point, result={k: v for k, v in point.result.items() if k != "losses"}) for point in points]
    together = [replace(point, key={**point.key, "set": _ALL}) for point in counts]
    several = short_names(point.key["checkpoint"] for point in points)
    for row in totals([*counts, *together], *names):
        row["of"] = several.get(row["checkpoint"], "")
        for measure in ("value", "score"):
            row |= share_of(row[f"lose_{measure}"], row[f"can_lose_{measure}"], f"{measure}_")
        yield row


def _lines(rows: list[dict[str, Any]], sets: list[str]) -> list[Line]:
    """Every set's shares side by side, the agents apart: a colour for each, paler for the runs that are named first."""
    agents = grouped(rows, lambda row: (row["agent"], row["simulations"], row["checkpoint"]))
    kinds = grouped(agents, lambda agent: str(agent[0]))
    lines = []
    for k, (agent, own) in enumerate(agents.items()):
        places = [sets.index(row["set"]) + 0.6 * ((k + 0.5) / len(agents) - 0.5) for row in own]
        alike = kinds[agent[0]]
        label = _name(own[0]) if agent == alike[-1] else None
        style = {"color": f"C{list(kinds).index(agent[0])}", "alpha": (alike.index(agent) + 1) / len(alike), "fmt": "o"}
        lines.append(share_line(own, places, label, style, "value_"))
    return lines


EXPERIMENT: Final = Experiment(
    id="connect-four-mistakes",
    paper="SoG",
    figure="Connect four, absolute strength",
    minutes=1,
    what="Moves that lose value in solved positions: "
    "both searches with the network of --run (or the shipped one), OpenSpiel's MCTS and AlphaZero",
    study=Study(plan, compute, present, takes=("runs",)),
)
