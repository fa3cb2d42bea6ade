"""PimBot's simulations a second on one core, from the start of Scotland Yard, beside playouts without a tree.

Each side's search is measured with all of its parts, from the first deal: Mr X's first move, and the first detective's
answer to it. Processor time; the median of several searches, each of the same simulations.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from sog.arrays import Array, Int64
from sog.errors import GameError
from sog.games.catalog import make_game
from sog.games.scotland_yard.game import ScotlandYard
from sog.opponents.scotland_yard.board import CityBoard
from sog.opponents.scotland_yard.matches import deal
from sog.opponents.scotland_yard.moves import Cell, ChasePosition, copy_position, empty_position
from sog.opponents.scotland_yard.player import PimBot
from sog.opponents.scotland_yard.playouts import PlayoutPolicy, playout
from sog.opponents.scotland_yard.replay import Event
from sog.opponents.scotland_yard.settings import PimBotSettings
from sog.searches.kernels.jit import njit
from soglab.bench.form import Benchmark, Column, Report

__all__ = ["GAMES", "PIMBOT", "PimBotRow", "bench_pimbot"]

GAMES: Final = ("scotland_yard(map=london)", "scotland_yard(map=glasses)")


@dataclass(frozen=True)
class PimBotRow:
    """per_second: simulations or playouts.  escapes: the share of them that Mr X escaped in."""

    game: Annotated[str, Column("game", once=True)]
    what: Annotated[str, Column("")]
    per_second: Annotated[float, Column("a second", ",.0f")]
    escapes: Annotated[float, Column("escapes", ".1%")]


PIMBOT: Final = Benchmark("PimBot", "searches", title="PimBot's simulations a second, one core")


@njit
def _playouts(
    b: CityBoard, root: ChasePosition, s: ChasePosition, p: PlayoutPolicy, moves: Int64, rng: Array, ends: Int64
) -> None:
    """Playouts from one position, counted by how they end; ends[0] says how many."""
    for _ in range(ends[0]):
        copy_position(root, s)
        playout(b, s, p, moves, rng)
        ends[s.cells[Cell.ENDING]] += 1


def bench_pimbot(names: Sequence[str], simulations: int, rounds: int, report: Report) -> Iterator[PimBotRow]:
    """Three rows a game. GameError for a game that is not Scotland Yard."""
    for done, name in enumerate(names):
        game = make_game(name)
        if not isinstance(game, ScotlandYard):
            raise GameError(f"PimBot plays scotland_yard, not {name}")
        report(done, name)
        bot = PimBot(game, PimBotSettings(simulations))
        station, places = deal(game, np.random.default_rng(0))
        events = np.array([(Event.START, 0, place) for place in places], dtype=np.int64)
        action = bot.move_after(events, station)
        after = np.vstack([events, _seen(bot, action)])
        for search, seen, own in (("Mr X's search", events, station), ("a detective's search", after, None)):
            bot.move_after(seen, own)
            seconds = statistics.median(_seconds(bot, seen, own) for _ in range(rounds))
            assert bot.searched is not None
            yield PimBotRow(name, search, simulations / seconds, float(bot.searched.endings[1] / simulations))
        bot.move_after(events, station)
        yield _bare(name, bot, simulations, rounds)
    report(len(names), "")


def _seen(bot: PimBot, action: int) -> tuple[int, int, int]:
    """Mr X's first action as all see it."""
    if action == bot.board.double:
        return Event.DOUBLE, 0, -1
    shown = int(bot.board.dest_of[action]) if bot.board.reveals[1] else -1
    return Event.TICKET, int(bot.board.ticket_of[action]), shown


def _seconds(bot: PimBot, events: Int64, station: int | None) -> float:
    """Processor time of one search."""
    begin = time.process_time()
    bot.move_after(events, station)
    return time.process_time() - begin


def _bare(name: str, bot: PimBot, count: int, rounds: int) -> PimBotRow:
    """Playouts from the position: Mr X far from the closest detective, detectives after his own station."""
    policy, work = PlayoutPolicy(1, 1, 0.1, 0.0, 0, 0.0, 0), empty_position(bot.board)
    moves, rng = np.zeros(bot.board.double + 1, dtype=np.int64), np.ones(1, dtype=np.uint64)
    times, ends = [], np.zeros(4, dtype=np.int64)
    for _ in range(rounds + 1):  # the first compiles
        ends[:] = count, 0, 0, 0
        begin = time.process_time()
        _playouts(bot.board, bot.position, work, policy, moves, rng, ends)
        times.append(time.process_time() - begin)
    return PimBotRow(name, "playouts alone", count / statistics.median(times[1:]), float(ends[1] / count))
