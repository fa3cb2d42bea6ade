"""What Elo experiments share: agents and references written down in a point's key, games between two, ratings.

Both agents of a point play every opening from both seats, all games of a point side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from sog.algorithms.base import Algorithm
from sog.algorithms.table import find
from sog.games.catalog import make_game
from sog.measure.elo import Ratings, by_units, points_of, rate
from sog.nets.inference import network_evaluator
from sog.opponents.alpha_beta import alpha_beta
from sog.opponents.go_rollouts import rollouts
from sog.opponents.rating import Rate, RatingPlayer
from sog.play.side_by_side import MakePlayer, Seating, openings, play_games
from sog.searches.leaves.evaluator import Evaluator
from sog.training.checkpoint import load_meta
from sog.training.opened import value_network
from soglab.runs import check_unchanged, training_minutes
from soglab.study import Beside, Key, Result, StudyPoint

OPENING_PLIES: Final = 4
MOVES_MAX: Final = 400  # a longer game is a draw
_AT_ONCE: Final = 8  # games; their public trees are held in memory


@dataclass(frozen=True)
class RatedAgent:
    """A searcher with a network.  checkpoint: its folder.  network: which one it is (`Meta.network_id`).

    per_update: a search budget's c, where the algorithm takes one.
    """

    algorithm: str
    checkpoint: str
    network: str
    simulations: int
    per_update: float = 1.0

    def __str__(self) -> str:
        return self._plays.label

    @property
    def budgeted(self) -> bool:
        """Whether the algorithm takes `per_update`."""
        return "per_update" in find(self.algorithm).own()

    def entry(self, name: str) -> Key:
        """The agent as entries of a point's key."""
        values = (self.algorithm, self.checkpoint, self.network, self.simulations, self.per_update)
        return {f"{name}_{field}": value for field, value in zip(_FIELDS, values, strict=True)}

    def maker(self) -> MakePlayer:
        """Makes the player for a game; all of them share one network."""
        evaluator = _evaluator(self.checkpoint, self.network)
        return lambda: self._plays.player(evaluator, 0)

    @property
    def _plays(self) -> Algorithm:
        per_update = self.per_update if self.budgeted else None
        return find(self.algorithm)().varied(simulations=self.simulations, per_update=per_update)


_FIELDS: Final = ("algorithm", "checkpoint", "network", "simulations", "per_update")


@dataclass(frozen=True)
class Reference:
    """An opponent of fixed strength, by which networks of different runs and days can be compared.

    kind: a key of REFERENCES.  strength: its depth or its rollouts a move.
    """

    kind: str
    strength: int

    def __str__(self) -> str:
        return f"{self.kind}({self.strength:,})"

    def entry(self, name: str) -> Key:
        """The reference as entries of a point's key."""
        return {f"{name}_reference": self.kind, f"{name}_strength": self.strength}

    def maker(self) -> MakePlayer:
        """Makes the player for a game, whose draws depend on the position alone."""
        rate = REFERENCES[self.kind](self.strength)
        return lambda: RatingPlayer(str(self), rate)


REFERENCES: Final[dict[str, Callable[[int], Rate]]] = {"alpha-beta": alpha_beta, "rollouts": rollouts}


Entrant: TypeAlias = RatedAgent | Reference


def agent_of(key: Key, name: str) -> Entrant:
    """The agent or reference that a point's key calls `name`."""
    if f"{name}_reference" in key:
        return Reference(key[f"{name}_reference"], key[f"{name}_strength"])
    return RatedAgent(*(key[f"{name}_{field}"] for field in _FIELDS))


@lru_cache(maxsize=4)
def _evaluator(checkpoint: str, network: str) -> Evaluator:
    """CheckpointError where the folder holds another network by now."""
    check_unchanged(Path(checkpoint), network)
    return network_evaluator(value_network(Path(checkpoint))[1])


Pair = tuple[Entrant, Entrant]


def match_keys(game: str, pairs: Sequence[Pair], batches: int, count: int) -> list[Key]:
    """A point for each pair and batch, one batch of all pairs after the other, so that a stopped run has all pairs.

    count: openings a batch.
    """
    return [
        {"game": game, "batch": batch, "openings": count, **first.entry("first"), **second.entry("second")}
        for batch in range(batches)
        for first, second in pairs
    ]


def describe(key: Key) -> str:
    """Who plays whom, agents with the last part of their network's folder."""
    return " - ".join(_named(agent_of(key, name)) for name in ("first", "second"))


def _named(agent: Entrant) -> str:
    return str(agent) if isinstance(agent, Reference) else f"{agent} of {Path(agent.checkpoint).name}"


def play_match(key: Key) -> Result:
    """The games of one point: how many of them the first agent won, drew and lost."""
    game = make_game(key["game"])
    first, second = agent_of(key, "first").maker(), agent_of(key, "second").maker()
    starts = openings(game, key["openings"], OPENING_PLIES, key["batch"])
    seatings = [Seating(players, opening) for players in ((first, second), (second, first)) for opening in starts]
    results = np.array(play_games(game, seatings, _AT_ONCE, MOVES_MAX))
    results[len(starts) :] *= -1.0
    return {"wins": int((results > 0).sum()), "draws": int((results == 0).sum()), "losses": int((results < 0).sum())}


def rated(points: Sequence[StudyPoint]) -> tuple[list[Entrant], Ratings]:
    """The agents in the order of first sight, and their ratings, with intervals by points, which are batches."""
    met = [(agent_of(p.key, "first"), agent_of(p.key, "second"), *points_and_games(p.result)) for p in points]
    agents = list(dict.fromkeys(agent for first, second, *_ in met for agent in (first, second)))
    batches = [(agents.index(first), agents.index(second), score, games) for first, second, score, games in met]
    return agents, by_units(rate(points_of(agents, met)), batches)


def points_and_games(result: Result) -> tuple[float, int]:
    """Of a match, as `points_of` takes them. A draw counts half."""
    return result["wins"] + 0.5 * result["draws"], result["wins"] + result["draws"] + result["losses"]


def title_of(points: Sequence[StudyPoint], more: str = "") -> str:
    """A picture's title: the game, how many games of it were played, and whatever else there is to say."""
    games = sum(sum(point.result.values()) for point in points)
    return f"{points[0].key['game']}: {games:,} games, 95% intervals{more}"


def rating_text(row: dict[str, Any]) -> str:
    """The Elo of a row of a table, with half of its 95% interval."""
    return f"{row['elo']:+.0f} ± {row['interval']:.0f}"


def notes_on(ratings: Ratings) -> list[Beside]:
    """What a reader of the ratings must know: whether draws had to be added, which makes the scale a convention."""
    if not ratings.virtual:
        return []
    added = f"{ratings.virtual:g} added to each pair that met, since some players won or lost every game: bounds only"
    return [Beside("virtual draws", "", added)]


def rated_agents(points: Sequence[StudyPoint]) -> tuple[list[RatedAgent], Ratings]:
    """`rated` of points whose players are all agents."""
    agents, ratings = rated(points)
    return [agent for agent in agents if isinstance(agent, RatedAgent)], ratings


def rating_row(agents: Sequence[Entrant], ratings: Ratings, k: int, anchor: int) -> dict[str, Any]:
    """Agent k as a row of a table; Elo and half of its 95% interval are against the anchor."""
    agent, (elo, half) = agents[k], ratings.difference(k, anchor)
    cells: tuple[str, int, float | None, str]
    if isinstance(agent, Reference):
        cells = (agent.kind, agent.strength, None, "")
    else:
        cells = (agent.algorithm, agent.simulations, agent.per_update if agent.budgeted else None, agent.checkpoint)
    columns = zip(("algorithm", "simulations", "per_update", "checkpoint"), cells, strict=True)
    return {"agent": str(agent), **dict(columns), "elo": elo, "interval": half}


def training_of(agent: RatedAgent) -> dict[str, Any]:
    """Minutes and steps of training behind an agent's network; CheckpointError where another lies there by now."""
    check_unchanged(Path(agent.checkpoint), agent.network)
    meta = load_meta(Path(agent.checkpoint))
    return {"minutes": training_minutes(meta), "step": meta.step}
