"""Positions whose whole state is their address: the game, the public line, the agent, (s, c), the seed, the step."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from sog.algorithms.student.budgets import usual_budget
from sog.arrays import Float64
from sog.errors import GameError, SettingError
from sog.games.base import TERMINAL, Game, State
from sog.games.holdem.game import Holdem
from sog.games.policy_picture import cut_words, grid_drawn, likely, policy_drawn
from sog.pictures.icicle import drawn_count, icicle
from sog.pictures.svg import SvgPicture
from sog.web.asked import MOST_SIMULATIONS, MOST_WATCHED, PositionAsked, SearchSnapshot, check_budget, most_watched
from sog.web.drawn import chase_drawn, looks_drawn
from sog.web.files import Figures
from sog.web.looks import board_of, chase_of, roles_of, seas_of
from sog.web.offers import Offers

__all__ = [
    "Place",
    "Worth",
    "place_of",
    "policy_pictures",
    "position_files",
    "position_pictures",
    "search_pictures",
    "state_at",
    "tree_picture",
    "values_of",
    "worths",
]

_LONGEST: Final = 1_000  # edges of a line
_LINE: Final = re.compile(r"(\d{1,6}(-\d{1,6})*)?")


@dataclass(frozen=True)
class Place:
    """A position and how it is searched.

    line: public edges from the root.  agent: the key of whoever searches.  step: which snapshot of the search is shown,
    from 0; None for the last.
    """

    game: str
    line: tuple[int, ...] = ()
    agent: str = "network"
    simulations: int = 100
    per_update: float = 1.0
    seed: int = 0
    step: int | None = None

    @property
    def c(self) -> str:
        """Simulations per regret update with all digits, so that an address names this search and no other."""
        return repr(float(self.per_update)).removesuffix(".0")

    def address(self, page: str = "/position") -> str:
        """Its URL on this server."""
        query = {
            "game": self.game,
            "line": "-".join(map(str, self.line)),
            "agent": self.agent,
            "s": self.simulations,
            "c": self.c,
            "seed": self.seed,
            **({} if self.step is None else {"step": self.step}),
        }
        return f"{page}?{urlencode(query)}"

    def after(self, edge: int) -> Place:
        """The position after one more public edge."""
        return replace(self, line=(*self.line, edge), step=None)

    def watched(self, game: Game) -> Place:
        """The same search with as many simulations as one that is watched may have."""
        return replace(self, simulations=most_watched(game, self.per_update), step=None)

    def longer(self) -> Place:
        """The same search with ten times the simulations, as far as a page has them."""
        return replace(self, simulations=min(10 * self.simulations, MOST_SIMULATIONS), step=None)

    def asked(self, offers: Offers, game: Game) -> PositionAsked:
        """What a process is asked. SettingError for an agent that is not offered, or does not search."""
        chair = offers.chair(game, self.agent, None, None)
        if not any(sitter.searches for sitter in offers.sitters(game) if sitter.key == self.agent):
            raise SettingError(f"{chair.label}: this player does not search")
        return PositionAsked(game.name, self.line, chair.agent, self.simulations, self.per_update, self.seed)


@dataclass(frozen=True)
class Worth:
    """An infostate with its part of its player's range and its value, in the game's unit."""

    name: str
    share: float
    value: float


def place_of(query: Mapping[str, str], game: Game, watched: bool = False) -> Place:
    """The place that an address names. SettingError where a part of it makes no sense.

    watched: whether its search is, and so may be longer.
    """
    line = query.get("line", "")
    if not _LINE.fullmatch(line) or line.count("-") >= _LONGEST:
        raise SettingError("line is the public edges from the root, such as 1-0-2")
    usual = usual_budget(game)
    simulations = _whole(query, "s", usual.simulations)
    try:
        per_update = float(query.get("c") or usual.per_update)
    except ValueError as error:
        raise SettingError("c is a number above 0") from error
    check_budget(simulations, per_update, MOST_WATCHED if watched and game.deterministic else MOST_SIMULATIONS)
    step = None if "step" not in query else _whole(query, "step", 0)
    edges = tuple(int(edge) for edge in line.split("-")) if line else ()
    return Place(
        game.name, edges, query.get("agent", "network"), simulations, per_update, _whole(query, "seed", 0), step
    )


def _whole(query: Mapping[str, str], name: str, usual: int) -> int:
    text = query.get(name) or str(usual)
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise SettingError(f"{name} is a whole number")
    return int(text)


def state_at(game: Game, line: Sequence[int]) -> list[State]:
    """The public states along a line, the root's first. GameError where it leaves the game."""
    states = [game.root()]
    for edge in line:
        if game.actor(states[-1]) == TERMINAL or not game.listable(states[-1]):
            raise GameError("this line leads beyond what the game lists")
        states.append(game.child(states[-1], edge))
    return states


def policy_pictures(game: Game, state: State, snapshot: SearchSnapshot) -> dict[str, SvgPicture]:
    """The policy and, after it, the prior, by their headings; with each likely infostate or, on a board, by move.

    At hold'em they are grids of hands, with the other player's range; at Scotland Yard the map shows where Mr X is
    believed to be.
    """
    player = game.actor(state)
    parts = (("Policy", snapshot.policy), ("Prior of the network", snapshot.prior))
    out = {title: policy_drawn(title, game, state, table, snapshot.ranges[player]) for title, table in parts}
    if isinstance(game, Holdem):
        other = f"Range of {roles_of(game)[1 - player]}"
        out[other] = grid_drawn(other, snapshot.ranges[1 - player])
    belief = "Where Mr X is, by his range"
    chase = chase_of(game, state, None, tuple(snapshot.ranges[0].tolist()))
    return out if chase is None else out | {belief: chase_drawn(chase, belief)}


def position_pictures(game: Game, states: Sequence[State], snapshot: SearchSnapshot | None) -> dict[str, SvgPicture]:
    """What both players see of a position, and what a search of it found, by their headings.

    states: along the line to it.
    """
    state, before = states[-1], states[-2] if len(states) > 1 else None
    board, chase, seas = board_of(game, state, before), chase_of(game, state, None), seas_of(game, state, (None, None))
    out = looks_drawn(game.state_name(state), board, chase, seas, roles_of(game))
    return out if snapshot is None else out | search_pictures(game, state, snapshot)


def position_files(
    game: Game, states: Sequence[State], snapshot: SearchSnapshot | None
) -> dict[str, SvgPicture | Figures]:
    """What a position's page has files of, by their headings: its pictures, then ranges and values in whole."""
    out: dict[str, SvgPicture | Figures] = {**position_pictures(game, states, snapshot)}
    if snapshot is not None:
        for p, role in enumerate(roles_of(game)):
            rows = zip(snapshot.ranges[p].tolist(), (game.unit.per_utility * snapshot.values[p]).tolist(), strict=True)
            named = [(game.infostate_name(states[-1], p, i), share, value) for i, (share, value) in enumerate(rows)]
            out[values_of(role)] = Figures(("infostate", "range", f"value, {game.unit.name}"), named)
    return out


def search_pictures(game: Game, state: State, snapshot: SearchSnapshot) -> dict[str, SvgPicture]:
    """Policies and ranges, then the tree, by their headings."""
    return policy_pictures(game, state, snapshot) | {"Tree": tree_picture(snapshot)}


def values_of(role: str) -> str:
    """The heading of a player's table of values and ranges."""
    return f"Values and ranges of {role}"


def worths(
    game: Game, state: State, ranges: Sequence[Float64], values: Sequence[Float64]
) -> list[tuple[str, str, list[Worth]]]:
    """Range and value of both players' likeliest infostates, after the role and which they are, as of `cut_words`."""
    out = []
    for p in (0, 1):
        rows = [
            Worth(game.infostate_name(state, p, i), float(ranges[p][i]), game.unit.per_utility * float(values[p][i]))
            for i in likely(ranges[p])
        ]
        out.append((roles_of(game)[p], cut_words(ranges[p]), rows))
    return out


def tree_picture(snapshot: SearchSnapshot) -> SvgPicture:
    """The most visited part of the search's tree."""
    shown = f"the {drawn_count(snapshot.blocks)} most visited of {snapshot.nodes:,} nodes"
    return icicle(f"{shown} after {snapshot.simulations:,} simulations", snapshot.blocks)
