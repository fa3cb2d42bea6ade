"""PimBot's parts: what each switch changes, the filter of moves, the categories, and that playouts let Mr X escape."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sog.games.catalog import make_game
from sog.games.scotland_yard.game import ScotlandYard
from sog.opponents.scotland_yard.categories import AVERAGE, MINIMUM, TYPE, class_of, draw_station, weigh_stations
from sog.opponents.scotland_yard.moves import Ending
from sog.opponents.scotland_yard.player import PimBot, Searched
from sog.opponents.scotland_yard.playouts import PlayoutPolicy, allowed_x_moves
from sog.opponents.scotland_yard.settings import PimBotSettings

# The detectives' ways are far from each other; Mr X is somewhere around 100.
LONDON = "map=london,start=100;13;26;29;34;91"
LOG = ("taxi", "1:taxi@23", "2:taxi@27", "3:taxi@42", "4:taxi@47", "5:taxi@105", "at large")


def london() -> ScotlandYard:
    game = make_game(f"scotland_yard({LONDON})")
    assert isinstance(game, ScotlandYard)
    return game


def bot(**change: Any) -> PimBot:
    return PimBot(london(), replace(PimBotSettings(simulations=400), **change))


def searched(log: tuple[str, ...], station: int | None = None, **change: Any) -> Searched:
    player = bot(**change)
    player.move(log, None if station is None else player.game.city.index(station))
    assert player.searched is not None
    return player.searched


DETECTIVE, X = LOG[:1], LOG


@pytest.mark.parametrize(
    "change",
    [
        {"exploration": 2.0},
        {"history": 0.0},
        {"reduction": 0.0},
        {"trees": 8},
        {"categories": "none"},
        {"categories": "type", "table": (1.0, 5.0, 0.0, 0.0, 0.0)},
        {"draw": "class"},
        {"detective_playout": "drawn"},
        {"detective_playout": "total"},
        {"x_playout": "total"},
        {"detective_epsilon": 0.5},
        {"filtered": False},
        {"playout_double": 0.0},
    ],
)
def test_each_switch_changes_a_detectives_search(change: dict[str, Any]) -> None:
    usual, other = searched(DETECTIVE), searched(DETECTIVE, **change)
    assert usual.visits.sum() == other.visits.sum() == 400
    assert usual.visits.tolist() != other.visits.tolist() or usual.means.tolist() != other.means.tolist()


@pytest.mark.parametrize(
    "change", [{"history": 0.0}, {"reduction": 0.0}, {"hidden_playout": "redrawn"}, {"x_epsilon": 0.9}]
)
def test_each_switch_changes_mr_xs_search(change: dict[str, Any]) -> None:
    usual, other = searched(X, 101, **change), searched(X, 101)
    assert usual.visits.tolist() != other.visits.tolist() or usual.means.tolist() != other.means.tolist()


def test_parts_of_the_other_side_change_nothing() -> None:
    """The draw of a station and the detectives' playouts are no part of Mr X's search."""
    usual = searched(X, 101)
    other = searched(X, 101, trees=8, categories="none", detective_playout="drawn", detective_epsilon=0.7)
    assert usual.visits.tolist() == other.visits.tolist() and usual.means.tolist() == other.means.tolist()


def test_coalition_reduction_counts_anothers_catch_less() -> None:
    """Without it the root's mean score is the share of simulations that the detectives win; with r = 1 it is less."""
    plain, reduced = searched(DETECTIVE, reduction=0.0), searched(DETECTIVE, reduction=1.0)
    won = plain.endings[Ending.CAUGHT] + plain.endings[Ending.STUCK]
    assert float(plain.means @ plain.visits) == pytest.approx(won)
    won = reduced.endings[Ending.CAUGHT] + reduced.endings[Ending.STUCK]
    assert float(reduced.means @ reduced.visits) < 0.7 * won


def test_a_detectives_move_narrows_the_stations() -> None:
    """A detective passes a possible station; without the filter Mr X may have moved on from there."""
    game = make_game("scotland_yard(map=glasses,start=6;2;11)")
    assert isinstance(game, ScotlandYard)
    log = ("taxi", "1:taxi@4", "2:taxi@10", "at large", "taxi")
    found = [PimBot(game, replace(PimBotSettings(40), narrow=narrow)) for narrow in (True, False)]
    assert members(found[0], log) == [3, 6, 9]
    assert members(found[1], log) == [2, 3, 6, 9]


def members(player: PimBot, log: tuple[str, ...]) -> list[int]:
    """The stations, by their numbers, that a detective's search draws from."""
    player.move(log)
    words = player.position.possible
    found = [k for k in range(64 * len(words)) if int(words[k // 64]) >> (k % 64) & 1]
    return [player.game.city.stations[k] for k in found]


def test_the_filter_of_mr_xs_moves() -> None:
    player = bot()
    policy = PlayoutPolicy(0, 0, 1.0, 0.0, 1, 3.0, 1)
    moves = np.zeros(player.board.double + 1, dtype=np.int64)

    def tickets(log: tuple[str, ...], station: int, policy: PlayoutPolicy = policy) -> set[int]:
        player.move(log, player.game.city.index(station))
        count = allowed_x_moves(player.board, player.position, policy, moves)
        return set(player.board.ticket_of[moves[:count]].tolist())

    assert tickets((), 100) == {0, 1}  # no black ticket in the first two moves, no double card far from all
    assert tickets((), 100, policy._replace(filtered=0)) == {0, 1, 3, 4}
    assert tickets((), 100, policy._replace(within=99.0)) == {0, 1, 4}
    second = (*LOG, "taxi", "1:taxi@13", "2:taxi@15", "3:taxi@56", "4:taxi@62", "5:taxi@91")
    assert 3 not in tickets((*second, "at large"), 100)  # his third move shows him
    shown = (*second, "at large", "taxi@101", "1:taxi@23", "2:taxi@28", "3:taxi@42", "4:taxi@48", "5:taxi@105")
    assert 3 in {3, *tickets(shown, 101)} and 3 not in tickets(shown, 101)  # he is known to be on 101: taxis alone


def test_categories_of_stations() -> None:
    player = bot()
    player.move(LOG, player.game.city.index(101))
    b, s = player.board, player.position

    def classes(kind: int, *stations: int) -> list[int]:
        return [int(class_of(b, s, kind, player.game.city.index(station))) for station in stations]

    assert classes(TYPE, 101, 100, 89) == [0, 1, 2]
    nearest = [min(b.steps[p - 1, k - 1] for p in (23, 27, 42, 47, 105)) for k in (90, 89, 12, 199)]
    assert classes(MINIMUM, 90, 89, 12, 199) == [min(int(k), 5) - 1 for k in nearest]
    mean = [np.mean([b.steps[p - 1, k - 1] for p in (23, 27, 42, 47, 105)]) for k in (90, 89, 12, 199)]
    assert classes(AVERAGE, 90, 89, 12, 199) == [min(max(int(np.ceil(m)), 2), 6) - 2 for m in mean]


@pytest.mark.parametrize(("draw", "shares"), [("station", (1 / 7, 3 / 7, 3 / 7)), ("class", (1 / 4, 3 / 8, 3 / 8))])
def test_stations_are_drawn_by_the_weight_of_their_class(draw: str, shares: tuple[float, ...]) -> None:
    """Three stations, one of class 0 with weight 1, two of class 1 with weight 3."""
    player = bot()
    player.move(LOG[:1])
    s, stations, sums = player.position, np.zeros(199, dtype=np.int64), np.zeros(199)
    s.possible[:] = 0
    s.possible[1] = 0b1011 << 40
    classes = np.zeros(199, dtype=np.int64)
    classes[[105, 107]] = 1
    table = np.array([1.0, 3.0, 9.0, 9.0, 9.0])
    assert weigh_stations(s, classes, table, draw == "class", stations, sums) == 3
    assert np.diff(sums[:3], prepend=0.0) / sums[2] == pytest.approx(shares)
    rng = np.array([1], dtype=np.uint64)
    drawn = [int(draw_station(stations, sums, 3, rng)) for _ in range(4_000)]
    counted = [drawn.count(k) / 4_000 for k in (104, 105, 107)]
    assert counted == pytest.approx(shares, abs=0.03)


def test_playouts_let_mr_x_escape() -> None:
    """Detectives who know the station and run for it leave him next to nothing, from which no search could learn."""
    escapes = {
        playout: searched(DETECTIVE, detective_playout=playout, simulations=2_000).endings[Ending.ESCAPED] / 2_000
        for playout in ("drawn", "redrawn", "total", "random")
    }
    assert escapes["drawn"] < 0.05 < escapes["redrawn"] < escapes["random"]
