"""What a search of SePoT costs by the size of its subgame: seconds, memory, and where the time goes.

Network and critic are untrained, of the preset full's sizes; they take as long as trained ones. Public states are those
of random games, searched in their order, as play does; a state too large to be searched takes time to find out, too.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Final

import numpy as np

from sog.algorithms.policy.own_policy import NetworkPolicy
from sog.algorithms.sepot import search as searching
from sog.algorithms.sepot.agent import papers_limit, search_of
from sog.algorithms.sepot.critic import profiles
from sog.algorithms.sepot.presets import SepotSettings, sepot_preset
from sog.algorithms.sepot.search import PAPERS, SearchedPolicy, SepotSearch, SepotSearchSettings
from sog.algorithms.sepot.subgame import Subgame
from sog.algorithms.sepot.trained_critic import HistoryCritic
from sog.arrays import Int32
from sog.games.base import TERMINAL
from sog.games.catalog import make_history_game
from sog.games.histories.base import HistoryGame, deal, drawn
from sog.nets.cvpn import CVPN
from sog.nets.one_core import one_core
from sog.nets.perceptron import Perceptron
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.tree.public_tree import PublicTree
from soglab.bench.form import Benchmark, Column, Report
from soglab.bench.histories import BATTLESHIPS
from soglab.bench.stopwatch import Place, Stopwatch

__all__ = ["GAMES", "PARTS", "SEPOT", "SepotRow", "bench_sepot"]

GAMES: Final = (
    "leduc_poker",
    "goofspiel(imp_info=True,num_cards=5,points_order=random)",
    "goofspiel(imp_info=True,num_cards=8,points_order=random)",
    *BATTLESHIPS[:2],
)
SIZES: Final = (0, 1_000, 10_000, 25_000, 100_000)  # histories of a subgame: a row is above one and up to the next
LISTING, BELOW, NETWORK, CRITIC = "listing", "below", "network", "critic"
SUBGAME, CFR, OTHER = "subgame", "CFR+", "other"
PARTS: Final = (LISTING, BELOW, NETWORK, CRITIC, SUBGAME, CFR, OTHER)

# Listing the public state's histories, and those below it; the policy's and the critic's networks; the subgame as a
# game of public states, and its tree; CFR+.
_PLACES: Final[tuple[Place, ...]] = (
    (searching, "histories_of", LISTING, False),
    (searching, "grow", BELOW, False),
    (NetworkPolicy, "__call__", NETWORK, False),
    (HistoryCritic, "values", CRITIC, False),
    (Subgame, "__init__", SUBGAME, False),
    (PublicTree, "list_all", SUBGAME, False),
    (Lookahead, "iterate", CFR, False),
)


@dataclass(frozen=True)
class SepotRow:
    """Searches of one game whose subgames are of about one size, on one core.

    above, most: histories; most is 0 for public states that were too large and left to the network.
    searches: of different public states.  histories: of a subgame, the median; 0 where none was made.
    milliseconds: of a search, the median.  shares: of all searches' time by PARTS.  megabytes: the most that one
    search held at once, from one search, the largest.
    """

    game: Annotated[str, Column("game")]
    above: int
    most: Annotated[int, Column("histories", lambda row: f"{row.above:,} to {row.most:,}" if row.most else "too many")]
    searches: Annotated[int, Column("searches")]
    histories: Annotated[int, Column("median", ",")]
    milliseconds: Annotated[float, Column("ms", ",.3g")]
    shares: Annotated[dict[str, float], Column("", ".0%")]
    megabytes: Annotated[float, Column("MB", ",.3g")]


SEPOT: Final = Benchmark("bench sepot", "games")


@dataclass(frozen=True, eq=False)
class _TimedSearch:
    """One search.  policy: None where the state was too large.  seconds: of each part."""

    public: Int32
    player: int
    policy: SearchedPolicy | None
    seconds: dict[str, float]

    @property
    def histories(self) -> int:
        return 0 if self.policy is None else self.policy.histories


def bench_sepot(games: Sequence[str], played: int, settings: SepotSearchSettings, report: Report) -> Iterator[SepotRow]:
    """Rows of each game, by size, from `played` random games; `settings` but for limit and gadget, the paper's."""
    with one_core():
        for done, name in enumerate(games):
            report(done, name)
            game = make_history_game(name)
            search = _untrained(game, replace(settings, limit=papers_limit(game), gadget=PAPERS.gadget))
            yield from _rows(search, list(_timed(search, played)))


def _untrained(game: HistoryGame, settings: SepotSearchSettings) -> SepotSearch:
    full = sepot_preset(game, "full")
    learning = full.learning
    assert isinstance(learning, SepotSettings)
    pairs = profiles(learning.count)
    widths = (game.num_critic_inputs, *(full.shape.width,) * full.shape.depth, len(pairs))
    critic = HistoryCritic(game, Perceptron(widths, 0), pairs)
    return search_of(game, CVPN(full.shape, 0), critic, settings)


def _timed(search: SepotSearch, played: int) -> Iterator[_TimedSearch]:
    """Each different public state of random games once; the first game is played beforehand, which compiles."""
    watch, seen = Stopwatch(), set[bytes]()
    for public, player in _met(search.game, 1, seed=1):
        search.search(public, player)
    search.forget()
    with watch.watching(_PLACES):
        for public, player in _met(search.game, played, seed=0):
            if public.tobytes() in seen:
                continue
            seen.add(public.tobytes())
            watch.restart()
            policy = search.search(public, player)
            total = watch.total()
            parts = {part: watch.seconds(part) for part in PARTS[:-1]}
            yield _TimedSearch(public, player, policy, {**parts, OTHER: total - sum(parts.values())})


def _met(game: HistoryGame, played: int, seed: int) -> Iterator[tuple[Int32, int]]:
    """The public rows and who acts there, game by game."""
    rng = np.random.default_rng(seed)
    for _ in range(played):
        states = game.begin(1)
        while (actor := int(deal(game, states, rng)[0])) != TERMINAL:
            yield game.public(states)[0], actor
            game.step(states, drawn(game.legal(states), rng.random(1)))


def _rows(search: SepotSearch, timed: list[_TimedSearch]) -> Iterator[SepotRow]:
    left = [each for each in timed if each.policy is None]
    for above, most in pairwise(SIZES):
        own = [each for each in timed if each.policy is not None and above < each.histories <= most]
        if own:
            yield _row(search, own, above, most)
    if left:
        yield _row(search, left, search.settings.most, 0)


def _row(search: SepotSearch, own: list[_TimedSearch], above: int, most: int) -> SepotRow:
    totals = {part: sum(one.seconds[part] for one in own) for part in PARTS}
    return SepotRow(
        game=search.game.name,
        above=above,
        most=most,
        searches=len(own),
        histories=int(np.median([one.histories for one in own])),
        milliseconds=1e3 * float(np.median([sum(one.seconds.values()) for one in own])),
        shares={part: seconds / sum(totals.values()) for part, seconds in totals.items()},
        megabytes=_peak(search, max(own, key=lambda one: one.histories)),
    )


def _peak(search: SepotSearch, one: _TimedSearch) -> float:
    """Megabytes that searching this state once more holds at once, beside what is remembered of earlier states."""
    search.forget(one.public)
    tracemalloc.start()
    try:
        search.search(one.public, one.player)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
