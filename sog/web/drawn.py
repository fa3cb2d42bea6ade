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
from sog.web.looks import BoardSeen, ChaseSeen, ShownCard
from sog.web.views import Mind

__all__ = ["belief_drawn", "board_drawn", "card_drawn", "chase_drawn"]

_BARS: Final = 12  # of a belief


def board_drawn(board: BoardSeen, title: str) -> str:
    """A board's picture; its squares are said in words by what names them."""
    return board_picture(board.kind, board.rows, board.marked, title)


def card_drawn(card: ShownCard) -> str:
    """A card or a die."""
    if card.die:
        return die_picture(int(card.face or 0), card.kind)
    return card_picture(card.face, card.kind)


def belief_drawn(mind: Mind, is_holdem: bool) -> str:
    """What an agent believed: bars, a grid of hands, or the map."""
    title = f"belief at {mind.title}"
    if mind.chase is not None:
        return chase_drawn(mind.chase, title)
    if is_holdem:
        weights = np.zeros(HANDS)
        for name, chance in mind.belief:
            weights[hand_number(*parse_cards(name))] = chance
        return grid_drawn(title, weights)
    return bar_chart(title, mind.belief[:_BARS])


def chase_drawn(seen: ChaseSeen, title: str) -> str:
    """Scotland Yard's map with the detectives, where Mr X can be, how likely it is, and where he is."""
    city, places = seen.city, layout(seen.city)[:, ::-1].tolist()  # wider than high
    shares = dict(zip(seen.possible, seen.belief or (0.0,) * len(seen.possible), strict=True))
    most = max(shares.values(), default=0.0) or 1.0
    held = {station: k for k, station in enumerate(seen.detectives, start=1)}
    stations = []
    for k, number in enumerate(city.stations):
        said = [f"station {number}"]
        said += [f"detective {held[k]}"] if k in held else []
        said += ["Mr X"] if k == seen.here else []
        said += [f"Mr X with {shares[k]:.1%}" if seen.belief else "Mr X can be here"] if k in shares else []
        share = shares[k] / most if k in shares else None
        who = f"D{held[k]}" if k in held else ""
        place = (places[k][0], places[k][1])
        stations.append(MapStation(str(number), place, share, who, k == seen.here, ", ".join(said)))
    links = {kind: [(a, b) for a, b, t in city.links if t == k] for k, kind in enumerate(TRANSPORTS)}
    return map_picture(title, stations, {kind: pairs for kind, pairs in links.items() if pairs})
