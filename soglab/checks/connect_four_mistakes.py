"""Connect four: how often an agent's move loses value, over fixed sets of positions whose every move is solved.

A move loses value where it makes a draw or a loss of a win, or a loss of a draw; the share is taken over the positions
where some move does. A move is not the best in score where it wins later, or loses sooner, than another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from sog.algorithms.alphazero.algorithm import ALPHAZERO
from sog.algorithms.base import SOG
from sog.games.boards.connect_four import ConnectFour
from sog.measure.intervals import wilson
from sog.opponents.connect_four.positions import SETS, SHIPPED, Scored, read_positions
from sog.opponents.openspiel_mcts import openspiel_mcts
from sog.opponents.rating import RatingPlayer
from sog.play.player import Player, PlayerSearch
from sog.searches.leaves.drive import drive
from sog.searches.leaves.evaluator import SearchGenerator
from soglab.checks.fixed_positions import NETWORK, agent_name, file_id, network_player
from soglab.runs import networks_on, short_names
from soglab.study import Beside, Key, Note, Options, Outcome, Point, Result, Study, totals

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAME: Final = "connect_four"
SIMULATIONS: Final = 100
MCTS: Final = "openspiel mcts"
RANDOM: Final = "random"
_ALL: Final = "all"
_BATCH: Final = 250  # positions a point
_QUICK: Final = 6
_AT_ONCE: Final = 32


def plan(options: Options, note: Note) -> list[Key]:
    """Both searches with each --run's network (or the shipped one), the network alone, MCTS and random moves."""
    agents: list[Key] = []
    for network in networks_on(GAME, options.runs):
        agents += [{"agent": name, **network} for name in (SOG, ALPHAZERO, NETWORK)]
    agents += [{"agent": name, "checkpoint": "", "network": ""} for name in (MCTS, RANDOM)]
    sizes = {name: _QUICK if options.quick else len(found) for name, found in _sets().items()}
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
    return SIMULATIONS if agent in (SOG, ALPHAZERO, MCTS) else 0


def _sets() -> dict[str, list[Scored]]:
    """The shipped positions by set."""
    found: dict[str, list[Scored]] = {name: [] for name in SETS}
    for position in read_positions():
        found[position.of].append(position)
    return found


def compute(key: Key) -> Result:
    """How many positions can lose value, and in how many of them the agent's move does; the same for the score.

    Random play counts its expected mistakes, so that its figures have no noise.
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
    }


def _choices(key: Key, positions: list[Scored]) -> list[int]:
    """The agent's move in each position, every search begun from nothing."""
    jobs = [_Job(_player(key), position.moves) for position in positions]
    for _ in drive(jobs, jobs[0].player.evaluator, _AT_ONCE):
        pass
    return [job.search.thought().action for job in jobs]


class _Job:
    """A search of one position, to be driven beside others."""

    def __init__(self, player: Player, moves: tuple[int, ...]) -> None:
        self.player = player
        player.new_game(ConnectFour())
        self.search: PlayerSearch = player.search(moves)

    def steps(self) -> SearchGenerator:
        yield from self.search.steps()


def _player(key: Key) -> Player:
    if key["agent"] == MCTS:
        return RatingPlayer(MCTS, openspiel_mcts(key["simulations"]))
    return network_player(key, key["simulations"])


def present(points: list[Point]) -> Outcome:
    """A row for each agent and set, and for all sets together: the shares, with intervals."""
    rows = list(_rows(points))
    beside = [
        Beside(
            f"{row['set']}, {_name(row)}",
            "",
            f"{row['value_share']:.1%} [{row['value_low']:.1%}, {row['value_high']:.1%}] of {row['can_lose_value']} "
            f"lose value; {row['score_share']:.1%} of {row['can_lose_score']} not best in score",
        )
        for row in rows
    ]
    return Outcome(rows, {"connect-four-mistakes": lambda figure: _draw(figure, rows)}, beside)


def _name(row: Key) -> str:
    return agent_name(row, row["simulations"])


def _rows(points: list[Point]) -> Iterator[dict[str, Any]]:
    names = ("agent", "checkpoint", "network", "simulations", "set")
    together = [Point({**point.key, "set": _ALL}, point.result) for point in points]
    several = short_names(point.key["checkpoint"] for point in points)
    for row in totals([*points, *together], names):
        row["of"] = several.get(row["checkpoint"], "")
        for what in ("value", "score"):
            hits, count = row[f"lose_{what}"], row[f"can_lose_{what}"]
            low, high = wilson(hits, count)
            row |= {f"{what}_share": hits / count if count else 0.0, f"{what}_low": low, f"{what}_high": high}
        yield row


def _draw(figure: Figure, rows: list[dict[str, Any]]) -> None:
    """Every set's shares side by side, the agents apart: a colour for each, paler for the runs that are named first."""
    axis = figure.subplots()
    sets = list(dict.fromkeys(row["set"] for row in rows))
    agents = list(dict.fromkeys((row["agent"], row["simulations"], row["checkpoint"]) for row in rows))
    kinds = list(dict.fromkeys(agent[0] for agent in agents))
    for k, agent in enumerate(agents):
        own = [row for row in rows if (row["agent"], row["simulations"], row["checkpoint"]) == agent]
        places = [sets.index(row["set"]) + 0.6 * ((k + 0.5) / len(agents) - 0.5) for row in own]
        shares = [100 * row["value_share"] for row in own]
        bars = [[100 * abs(row["value_share"] - row[f"value_{end}"]) for row in own] for end in ("low", "high")]
        alike = [other for other in agents if other[0] == agent[0]]
        last = agent == alike[-1]
        look: dict[str, Any] = {"color": f"C{kinds.index(agent[0])}", "alpha": (alike.index(agent) + 1) / len(alike)}
        axis.errorbar(places, shares, yerr=bars, fmt="o", capsize=3, label=_name(own[0]) if last else None, **look)
    axis.set_xticks(range(len(sets)), sets)
    axis.set(ylabel="moves that lose value, %", title="Connect four, 95% intervals")
    axis.grid(axis="y", alpha=0.3)
    axis.legend()


STUDY: Final = Study(plan, compute, present, takes=("runs",))
