"""The page of two searchers of one position beside each other: agents, budgets, snapshots, or the solution by DCFR."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sog.errors import SettingError
from sog.games.base import NATURE, TERMINAL, Game, State
from sog.games.policy_picture import policy_drawn
from sog.games.public_lines import next_steps
from sog.pictures.svg import SvgPicture
from sog.web.asked import SOLUTION, SOLUTION_ITERATIONS, PositionAsked, SideSeen
from sog.web.files import picture_answer, shown_of
from sog.web.lanes import AgentLanes
from sog.web.looks import roles_of
from sog.web.offers import Offers, Sitter
from sog.web.pages import Pages, cards_shown
from sog.web.positions import Place, place_of, state_at, worths

__all__ = ["BesidePages", "SearcherPair", "pair_of"]

_SECOND: Final = ("agent", "s", "c")  # what the second searcher has of its own, with a 2 behind
_SMALL: Final = 100  # infostates of a player at a public state
_SOLVED: Final = Sitter(SOLUTION, f"the solution by {SOLUTION_ITERATIONS:,} iterations of DCFR", SOLUTION)


@dataclass(frozen=True)
class SearcherPair:
    """One position and two searchers of it."""

    first: Place
    second: Place

    def address(self, page: str = "/beside") -> str:
        """Its URL on this server."""
        one, two = self.first, self.second
        query = {"game": one.game, "line": "-".join(map(str, one.line)), "seed": one.seed}
        query |= {"agent": one.agent, "s": one.simulations, "c": one.c}
        return f"{page}?{urlencode(query | {'agent2': two.agent, 's2': two.simulations, 'c2': two.c})}"

    def at(self, line: tuple[int, ...]) -> SearcherPair:
        """The same two in another position."""
        return SearcherPair(*(Place(p.game, line, p.agent, p.simulations, p.per_update, p.seed) for p in self.both))

    @property
    def both(self) -> tuple[Place, Place]:
        return self.first, self.second


def pair_of(query: Mapping[str, str], game: Game) -> SearcherPair:
    """The pair that an address names. SettingError where a part of it makes no sense.

    The second searcher is by default the solution of a small game, and otherwise the first with its budget.
    """
    own = {name: query[f"{name}2"] for name in _SECOND if f"{name}2" in query}
    is_small = not game.perfect_information and max(game.num_slots) <= _SMALL
    usual = {"agent": SOLUTION} if is_small else {}
    return SearcherPair(place_of(query, game), place_of({**query, **usual, **own}, game))


class BesidePages:
    """What the addresses of pairs answer."""

    def __init__(self, offers: Offers, lanes: AgentLanes, pages: Pages) -> None:
        self.offers, self.lanes, self.pages = offers, lanes, pages

    def routes(self) -> list[Route]:
        """All addresses."""
        return [Route("/beside", self.page), Route("/beside/pictures/{file}", self.picture)]

    async def page(self, request: Request) -> Response:
        game, pair, states, sides = await self._compared(request)
        sitters = [each for each in await run_in_threadpool(self.offers.sitters, game) if each.searches]
        return HTMLResponse(await run_in_threadpool(self.pages.beside, _values(pair, game, states, sitters, sides)))

    async def picture(self, request: Request) -> Response:
        game, _, states, sides = await self._compared(request)
        return await picture_answer(request, partial(_pictures, game, states[-1], sides))

    async def _compared(self, request: Request) -> tuple[Game, SearcherPair, list[State], list[SideSeen]]:
        """The game, its pair, the states along the line, and what both do at its end.

        The solution, where nobody asked for it, gives way to the first searcher: few infostates at each public state
        do not tell whether the public states are few enough to be listed.
        """
        query = request.query_params
        game = await run_in_threadpool(self.offers.game, query.get("game", ""))
        pair = pair_of(query, game)
        states = await run_in_threadpool(state_at, game, pair.first.line)
        try:
            return game, pair, states, await self._sides(game, pair, states[-1])
        except SettingError:
            if "agent2" in query or pair.second.agent != SOLUTION:
                raise
        pair = pair_of({**query, "agent2": pair.first.agent}, game)
        return game, pair, states, await self._sides(game, pair, states[-1])

    async def _sides(self, game: Game, pair: SearcherPair, state: State) -> list[SideSeen]:
        """What both do, the first's first; nothing where nobody is to move."""
        if game.actor(state) >= NATURE:
            return []
        asked = [await run_in_threadpool(_asked, place, self.offers, game) for place in pair.both]
        return [await asyncio.wrap_future(self.lanes.submit(f"beside {game.name}", "side", each)) for each in asked]


def _asked(place: Place, offers: Offers, game: Game) -> PositionAsked:
    """What a process is asked. SettingError for a searcher that is not offered."""
    if place.agent == SOLUTION:
        return PositionAsked(game.name, place.line, SOLUTION, 1, 1.0, 0)
    return place.asked(offers, game)


def _pictures(game: Game, state: State, sides: list[SideSeen]) -> dict[str, SvgPicture]:
    """Both policies, by their headings."""
    player = game.actor(state)
    return {
        heading: policy_drawn(heading, game, state, side.policy, side.ranges[player])
        for heading, side in zip(("First policy", "Second policy"), sides, strict=False)
    }


def _apart(player: int, sides: list[SideSeen]) -> float:
    """How far both policies are apart: the mean over the first's range of half the sum of absolute differences."""
    one, two = sides
    return float(0.5 * np.abs(one.policy - two.policy).sum(axis=0) @ one.ranges[player])


def _values(
    pair: SearcherPair, game: Game, states: list[State], sitters: list[Sitter], sides: list[SideSeen]
) -> dict[str, Any]:
    """What the page says."""
    state, line = states[-1], pair.first.line
    sitters = sitters if game.perfect_information else [*sitters, _SOLVED]
    labels = {sitter.key: sitter.label for sitter in sitters}
    pictures = shown_of(_pictures(game, state, sides), lambda file: pair.address(f"/beside/pictures/{file}"))
    shown = [
        {
            "label": labels.get(place.agent, place.agent),
            "budget": "" if place.agent == SOLUTION else f"({place.simulations:,}, {place.c})",
            "picture": picture,
            "side": side,
            "worths": [(*each, "", "") for each in worths(game, state, side.ranges, side.values)],
        }
        for place, side, picture in zip(pair.both, sides, pictures.values(), strict=False)
    ]
    return {
        "pair": pair,
        "forms": zip(("First", "Second"), ("", "2"), pair.both, strict=True),
        "sitters": sitters,
        "name": game.state_name(state),
        "cards": cards_shown(game, state),
        "steps": [(step.name, pair.at((*line, step.edge)).address()) for step in next_steps(game, state)],
        "back": [(k, pair.at(line[:k]).address()) for k in range(len(line))],
        "over": game.actor(state) == TERMINAL,
        "mover": roles_of(game)[game.actor(state)] if game.actor(state) < NATURE else "chance",
        "shown": shown,
        "apart": _apart(game.actor(state), sides) if sides else 0.0,
        "unit": game.unit.name,
    }
