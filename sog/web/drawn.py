"""Pictures of what is seen: boards, cards and dice, ranges of hold'em hands, Scotland Yard's map, agents' beliefs."""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.games.holdem.cards import HANDS, hand_number, parse_cards
from sog.games.policy_picture import grid_drawn
from sog.games.scotland_yard.layout import layout
from sog.games.scotland_yard.map import TRANSPORTS
from sog.pictures.boards import board_picture
from sog.pictures.charts import bar_chart
from sog.pictures.hands import card_picture, die_picture
from sog.pictures.maps import MapStation, map_picture
from sog.pictures.svg import SvgPicture
from sog.web.looks import BoardSeen, ChaseSeen, ShownCard
from sog.web.views import GameView, Mind

__all__ = ["card_drawn", "chase_drawn", "looks_drawn", "view_pictures"]

_BARS: Final = 12  # of a belief or a hint


def view_pictures(view: GameView) -> dict[str, SvgPicture]:
    """All pictures of a view but its cards and dice, by their headings."""
    out = looks_drawn(view.state, view.board, view.chase, view.seas, view.roles)
    if view.hint:
        out["Hint"] = bar_chart("hint", view.hint, _BARS)
    return out | {m.title: _belief_drawn(m, view.chips is not None) for m in view.minds if m.belief}


def looks_drawn(
    title: str,
    board: BoardSeen | None,
    chase: ChaseSeen | None,
    seas: tuple[BoardSeen, BoardSeen] | None,
    roles: tuple[str, str],
) -> dict[str, SvgPicture]:
    """A board, a map, both players' boards, where there are any, by their headings."""
    out = {} if board is None else {"Board": _board_drawn(board, title)}
    if chase is not None:
        out["Map"] = chase_drawn(chase, title)
    named = zip(roles, seas or (), strict=False)
    return out | {f"Board of {role}": _board_drawn(sea, f"the board of {role}") for role, sea in named}


def _board_drawn(board: BoardSeen, title: str) -> SvgPicture:
    """A board's picture; its squares are said in words by what names them."""
    return board_picture(board.kind, board.rows, board.marked, title)


def card_drawn(card: ShownCard) -> str:
    """A card or a die."""
    if card.die:
        return die_picture(int(card.face or 0), card.kind)
    return card_picture(card.face, card.kind)


def _belief_drawn(mind: Mind, is_holdem: bool) -> SvgPicture:
    """What an agent believed: bars, a grid of hands, or the map."""
    title = f"belief at {mind.title}"
    if mind.chase is not None:
        return chase_drawn(mind.chase, title)
    if is_holdem:
        weights = np.zeros(HANDS)
        for name, chance in mind.belief:
            weights[hand_number(*parse_cards(name))] = chance
        return grid_drawn(title, weights)
    return bar_chart(title, mind.belief, _BARS)


def chase_drawn(seen: ChaseSeen, title: str) -> SvgPicture:
    """Scotland Yard's map with the detectives, where Mr X can be, how likely it is, and where he is."""
    city, places = seen.city, layout(seen.city)[:, ::-1].tolist()  # wider than high
    shares = dict(zip(seen.possible, seen.belief or (0.0,) * len(seen.possible), strict=True))
    held = {station: k for k, station in enumerate(seen.detectives, start=1)}
    stations = []
    for k, number in enumerate(city.stations):
        facts = [f"station {number}"]
        facts += [f"detective {held[k]}"] if k in held else []
        facts += ["Mr X"] if k == seen.here else []
        facts += [f"Mr X with {shares[k]:.1%}" if seen.belief else "Mr X can be here"] if k in shares else []
        who = f"D{held[k]}" if k in held else ""
        place = (places[k][0], places[k][1])
        stations.append(MapStation(str(number), place, shares.get(k), who, k == seen.here, ", ".join(facts)))
    links = {kind: [(a, b) for a, b, t in city.links if t == k] for k, kind in enumerate(TRANSPORTS)}
    return map_picture(title, stations, {kind: pairs for kind, pairs in links.items() if pairs})
