"""The record of a hand of a match, as a line of JSON, and the way from it back to the hand's worlds.

A records file has a line for its match and then one a hand, in order:

    {"match": 1, "game": "leduc_poker", "a": "...", "b": "...", "seed": 0, "policies": false}
    {"hand": 0, "a": 0, "pair": [3, 1], "steps": [...], "won": -1.0}

match: the form of the file.  a, b of the match: what decides the play of the two agents.  policies: whether decisions
have their policies.  a of a hand: which player A is.  pair: the infostates of players 0 and 1 at the root.  won: what A
wins, in utilities.  steps, in order, each a chance event or a decision:

    {"chance": 2, "pair": [3, 1]}
    {"player": 0, "infostate": 3, "action": 1, "edge": 0, "policy": [[...], ...]}

chance: the public edge, null where the game's rules do not list the event's outcomes.  pair: the infostates after it.
infostate: the player's own.  action: its identity in the game.  edge: what everybody sees of it.
policy: float64[A, I], what the action was drawn from, the actions of the state ascending, by infostate of the player;
it is there where the match records policies and the agent has one.

Hands 2k and 2k + 1 are deal k with the seats swapped. Chance's draws of deal k are those of `chance_of(seed, k)`, and
an agent draws its actions, as `Agent.act` does, from `draws_of(seed, k, player)`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.base import NATURE
from sog.play.referee import Referee, World

__all__ = ["FORM", "Chance", "HandDecision", "HandRecord", "chance_of", "draws_of", "replay"]

FORM: Final = 1  # of records files; another number is another form


@dataclass(frozen=True)
class Chance:
    """A chance event: its public edge, None where the rules list none, and the infostates after it."""

    edge: int | None
    pair: tuple[int, int]

    def written(self) -> dict[str, Any]:
        return {"chance": self.edge, "pair": list(self.pair)}


@dataclass(frozen=True, eq=False)
class HandDecision:
    """A decision of a player.  action: its identity.  edge: the public edge.  policy: float64[A, I] or None."""

    player: int
    infostate: int
    action: int
    edge: int
    policy: Float64 | None = None

    def written(self) -> dict[str, Any]:
        seen = {"player": self.player, "infostate": self.infostate, "action": self.action, "edge": self.edge}
        return seen if self.policy is None else {**seen, "policy": self.policy.tolist()}


@dataclass(frozen=True, eq=False)
class HandRecord:
    """A finished hand.  number: in the match.  a: which player A is.  pair: the infostates at the root.

    won: what A wins, in utilities.
    """

    number: int
    a: int
    pair: tuple[int, int]
    steps: tuple[Chance | HandDecision, ...]
    won: float

    @property
    def deal(self) -> int:
        """Both hands of a pair have the same."""
        return self.number // 2

    def line(self) -> str:
        """The record as a line of JSON, without its end."""
        steps = [step.written() for step in self.steps]
        entries = {"hand": self.number, "a": self.a, "pair": list(self.pair), "steps": steps, "won": self.won}
        return json.dumps(entries, allow_nan=False)

    @classmethod
    def of_line(cls, line: str | bytes) -> HandRecord:
        """The record of a line; ValueError for a malformed line."""
        try:
            entries = json.loads(line)
            steps = tuple(_step(step) for step in entries["steps"])
            record = cls(int(entries["hand"]), int(entries["a"]), _pair(entries["pair"]), steps, float(entries["won"]))
            if not math.isfinite(record.won):
                raise ValueError("no utility")
        except (KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ValueError(f"no record of a hand: {error}") from error
        return record


def _step(entries: Any) -> Chance | HandDecision:
    if "chance" in entries:
        return Chance(None if entries["chance"] is None else int(entries["chance"]), _pair(entries["pair"]))
    policy = np.array(entries["policy"], dtype=np.float64) if "policy" in entries else None
    player, infostate, action, edge = (int(entries[key]) for key in ("player", "infostate", "action", "edge"))
    return HandDecision(player, infostate, action, edge, policy)


def _pair(pair: Any) -> tuple[int, int]:
    zero, one = pair
    return int(zero), int(one)


def chance_of(seed: int, deal: int) -> np.random.Generator:
    """What chance draws from in both hands of a deal."""
    return np.random.default_rng((seed, deal, 0))


def draws_of(seed: int, deal: int, player: int) -> np.random.Generator:
    """What whoever sits in a seat draws its actions from, in both hands of a deal."""
    return np.random.default_rng((seed, deal, 2, player))


def replay(referee: Referee, record: HandRecord, seed: int) -> Iterator[World]:
    """The worlds of a hand: at the root, then after each step; the last one is the end.

    seed: the match's. Chance is drawn again, and SettingError says where it draws anything else than was recorded.
    """
    rng = chance_of(seed, record.deal)
    world = referee.first(rng)
    _check(record, world.pair == record.pair)
    yield world
    for step in record.steps:
        actor = referee.actor(world)
        if isinstance(step, Chance):
            _check(record, actor == NATURE)
            world = referee.draw(world, rng)
            _check(record, world.pair == step.pair and referee.edge_into.get(world.node) == step.edge)
        else:
            actions = referee.public.actions(world.node).tolist()
            _check(record, actor == step.player and step.action in actions)
            _check(record, world.pair[actor] == step.infostate)
            world = referee.take(world, actions.index(step.action))
            _check(record, referee.edge_into[world.node] == step.edge)
        yield world


def _check(record: HandRecord, same: bool) -> None:
    if not same:
        raise SettingError(f"hand {record.number} is not what its match's seed deals, or of other rules")
