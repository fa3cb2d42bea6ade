"""How many depth-limited subgames one core solves, in ReBeL's own distribution of subgames, and the network's share.

Every subgame that self-play reaches is solved, equal ones too. Networks have random weights, as fast as trained ones;
"constant" answers every leaf with the same values, which leaves the regret updates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Annotated, Final

import numpy as np
import torch

from sog.algorithms.rebel.actor import RebelActing, RebelActor
from sog.games.base import Game
from sog.nets.cvpn import CVPN
from sog.nets.one_core import one_core
from sog.nets.shape import shape_for
from sog.nets.values import value_evaluator
from sog.searches.depth_limited.settings import CFR_AVE, MODIFIED_CFR_AVE, REBEL_FLOP, SolveSettings
from sog.searches.leaves.evaluator import Evaluator
from soglab.bench.evaluators import CountingEvaluator, SameAnswers, TimedEvaluator
from soglab.bench.form import Benchmark, Column, Report
from soglab.bench.stopwatch import counted

GAMES: Final = ("liars_dice(numdice=1,dice_sides=4)", "liars_dice(numdice=1,dice_sides=6)")
WIDTH, DEPTH = 256, 2
CONSTANT: Final = "constant"

# How subgames are solved: with 1,024 updates of one player each, by what the row is called.
SETTINGS: Final[dict[str, SolveSettings]] = {
    "plain": SolveSettings(prune=False, remember=False, correct=False),
    "pruned": SolveSettings(remember=False, correct=False),
    "pruned, remembered": SolveSettings(correct=False),
    "simultaneous": SolveSettings(simultaneous=True, correct=False),
    "cfr-ave, recycled": SolveSettings(CFR_AVE, recycle=0.05, correct=False),
    "modified cfr-ave, recycled": SolveSettings(MODIFIED_CFR_AVE, recycle=0.05, correct=False),
    "flop, recycled": SolveSettings(REBEL_FLOP, recycle=0.05, correct=False),
}


@dataclass(frozen=True)
class RebelRow:
    """network: hidden layers x width, or CONSTANT.  network_share: of the processor's time, in the network.

    questions: beliefs that were evaluated, a subgame.
    """

    game: Annotated[str, Column("game")]
    network: Annotated[str, Column("network")]
    setting: Annotated[str, Column("setting")]
    solves_per_second: Annotated[float, Column("solves/s", ",.4g")]
    network_share: Annotated[float, Column("network", ".0%")]
    questions: Annotated[float, Column("questions", ",.0f")]
    solves: int


REBEL: Final = Benchmark("bench rebel", "rows", "subgames solved a second, one core")


def bench_rebel(games: Sequence[Game], seconds: float, report: Report) -> Iterator[RebelRow]:
    """Rows for each game: every setting with a network, then plain with a constant one; `seconds` of work each."""
    done = count(1)
    with one_core():
        for game in games:
            for name, settings in SETTINGS.items():
                yield _row(game, name, f"{DEPTH}x{WIDTH}", _network(game, settings), seconds)
                report(next(done), name)
            yield _row(game, "plain", CONSTANT, _constant(game), seconds)
            report(next(done), CONSTANT)


def row_count(games: int) -> int:
    """How many rows that number of games gives."""
    return games * (len(SETTINGS) + 1)


def _constant(game: Game, most: int = 20_000) -> Evaluator:
    values = np.random.default_rng(0).normal(scale=0.3, size=(most, sum(game.num_slots)))
    return SameAnswers(values, np.broadcast_to(0.0, (most, max(game.num_slots), game.num_actions)))


def _network(game: Game, settings: SolveSettings) -> Evaluator:
    """A network of random weights, with matchups where the solver needs values by pair."""
    paired = settings.solver is CFR_AVE
    network = CVPN(shape_for(game, WIDTH, DEPTH, matchups=paired), seed=0)
    torch.nn.init.normal_(network.get_parameter("head.weight"), 0.0, 0.02, torch.Generator().manual_seed(0))
    return value_evaluator(network, pairs=paired)


def _row(game: Game, setting: str, network: str, evaluator: Evaluator, seconds: float) -> RebelRow:
    """Rounds of self-play for so long, after a short one that compiles."""
    shape, timed = shape_for(game), TimedEvaluator(evaluator)
    used = CountingEvaluator(evaluator if network == CONSTANT else timed)
    actor = RebelActor(game, shape, RebelActing(SETTINGS[setting], share=False))
    actor.round(1, used, np.random.default_rng(0))
    timed.seconds, used.beliefs, seeds = 0.0, 0, count()
    solves, whole = counted(lambda: actor.round(64, used, np.random.default_rng(next(seeds))).searches, seconds)
    return RebelRow(game.name, network, setting, solves / whole, timed.seconds / whole, used.beliefs / solves, solves)
