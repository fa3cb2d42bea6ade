"""Pages of solved hold'em spots: a decision's grid, what hands are worth, next actions and cards, files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import quote, urlencode

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sog.errors import SettingError
from sog.games.base import TERMINAL
from sog.games.catalog import make_game
from sog.games.holdem.cards import RANKS, SUITS, hand_name, in_order
from sog.games.holdem.ranges import parse_range
from sog.games.policy_picture import policy_drawn
from sog.pictures.svg import SvgPicture
from sog.web.asked import NextCard, SpotAsked, SpotDecision, SpotSeen
from sog.web.files import picture_answer, shown_of
from sog.web.lanes import AgentLanes
from sog.web.offers import Offers, SpotFile
from sog.web.pages import Pages, cards_shown

__all__ = ["SpotPages", "SpotPlace"]

_MOST: Final = 1_000  # letters of a line, and of the hands that are listed
_TYPES: Final = {"csv": "text/csv", "json": "application/json"}


@dataclass(frozen=True)
class SpotPlace:
    """A public state of a spot by its line, with the hands that its page lists, as ranges write them."""

    spot: SpotFile
    line: tuple[str, ...]
    hands: str = ""

    def address(self, end: str = "") -> str:
        """The address of its page, or with `end` of a file."""
        asked = {"line": ", ".join(self.line)} | ({"hands": self.hands} if self.hands and not end else {})
        return f"/spots/{quote(self.spot.name, safe='')}{end}?{urlencode(asked)}"

    def after(self, word: str) -> SpotPlace:
        """The state after one more action or card."""
        return SpotPlace(self.spot, (*self.line, word), self.hands)

    def back(self) -> list[tuple[str, str]]:
        """Each state on the way here by the word that led to it, and its address."""
        words = ("start", *self.line)
        ways = (SpotPlace(self.spot, self.line[:k], self.hands) for k in range(len(words)))
        return [(word, way.address()) for word, way in zip(words, ways, strict=True)]


class SpotPages:
    """What the addresses of spots answer."""

    def __init__(self, offers: Offers, lanes: AgentLanes, pages: Pages) -> None:
        self.offers, self.lanes, self.pages = offers, lanes, pages

    def routes(self) -> list[Route]:
        """All addresses."""
        return [
            Route("/spots/{name}", self.page),
            Route("/spots/{name}/pictures/{file}", self.picture),
            Route("/spots/{name}/hands.{form}", self.hands),
        ]

    async def page(self, request: Request) -> Response:
        place = self._place(request)
        seen = await self._seen(place)
        return HTMLResponse(await run_in_threadpool(self.pages.spot, _values(place, seen)))

    async def picture(self, request: Request) -> Response:
        place = self._place(request)
        seen = await self._seen(place)
        return await picture_answer(request, partial(_pictures, place, seen))

    async def hands(self, request: Request) -> Response:
        """All hands of a decision as a table, or as the JSON that `sog solve --lock` reads."""
        form = request.path_params["form"]
        if form not in _TYPES:
            raise SettingError("a decision's hands are written as csv or json")
        return Response(await self._asked(self._place(request), form), media_type=_TYPES[form])

    def _place(self, request: Request) -> SpotPlace:
        name, query = request.path_params["name"], request.query_params
        if name not in self.offers.spots:
            raise SettingError("there is no such spot here: name its file on the command line of `sog serve`")
        line, hands = query.get("line", ""), query.get("hands", "").strip()
        if max(len(line), len(hands)) > _MOST:
            raise SettingError(f"a line, and the hands that are listed, have at most {_MOST:,} letters")
        words = (word.strip() for word in line.split(","))
        return SpotPlace(self.offers.spots[name], tuple(word for word in words if word), hands)

    async def _seen(self, place: SpotPlace) -> SpotSeen:
        seen: SpotSeen = await self._asked(place, "")
        return seen

    async def _asked(self, place: SpotPlace, form: str) -> Any:
        file = place.spot.file
        try:
            written = (await run_in_threadpool(file.stat)).st_mtime_ns
        except OSError as error:
            raise SettingError(f"the spot {place.spot.name} cannot be read: {error.strerror}") from error
        asked = SpotAsked(str(file), written, ", ".join(place.line), form)
        return await asyncio.wrap_future(self.lanes.submit(f"spot {place.spot.name}", "spot", asked))


def _pictures(place: SpotPlace, seen: SpotSeen) -> dict[str, SvgPicture]:
    """The grid, by its heading."""
    decision = seen.decision
    if decision is None:
        return {}
    game = make_game(place.spot.game)
    return {"Policy": policy_drawn("Policy", game, seen.state, decision.policy, decision.reach)}


def _values(place: SpotPlace, seen: SpotSeen) -> dict[str, Any]:
    """What the page says."""
    game, decision = make_game(place.spot.game), seen.decision
    return {
        "place": place,
        "seen": seen,
        "over": game.actor(seen.state) == TERMINAL,
        "player": game.actor(seen.state),
        "cards": cards_shown(game, seen.state),
        "shown": shown_of(_pictures(place, seen), lambda file: place.address(f"/pictures/{file}")).values(),
        "steps": [] if decision is None else _steps(place, decision),
        "rows": [] if decision is None else _listed(decision, place.hands),
        "files": [(form.upper(), place.address(f"/hands.{form}")) for form in _TYPES],
        "deck": _deck(place, seen.cards),
    }


def _steps(place: SpotPlace, decision: SpotDecision) -> list[tuple[str, float, str]]:
    """Each action with how often it is taken, and where it leads."""
    words = (name.partition(" (")[0] for name in decision.actions)
    often = decision.often.tolist()
    return [(a, x, place.after(word).address()) for a, x, word in zip(decision.actions, often, words, strict=True)]


def _listed(decision: SpotDecision, hands: str) -> list[tuple[str | float | list[float], ...]]:
    """(hand, weight, EV, equity, how often it takes each action) of each hand that is asked for."""
    numbers = in_order(np.where(parse_range(hands) > 0, decision.reach, 0.0)) if hands else []
    worth = (decision.reach, decision.ev, decision.equity)
    return [(hand_name(h), *(float(x[h]) for x in worth), decision.policy[:, h].tolist()) for h in numbers]


def _deck(place: SpotPlace, cards: Sequence[NextCard]) -> list[list[tuple[NextCard, str] | None]]:
    """The cards that may come, a line for each rank and a column for each suit, with their addresses."""
    by_name = {each.card: (each, place.after(each.card).address()) for each in cards}
    return [[by_name.get(f"{rank}{suit}") for suit in SUITS] for rank in reversed(RANKS)] if cards else []
