"""How many depth-limited subgames one core solves, in ReBeL's own distribution of subgames, and the network's share.

Every subgame that self-play comes to is solved, equal ones too. Networks have random weights, as fast as trained ones;
"constant" answers every leaf with the same values, which leaves the regret updates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Final

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
from soglab.bench.evaluators import SameAnswers, TimedEvaluator

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
class Row:
    """network: hidden layers x width, or CONSTANT.  network_share: of the processor's time, in the network."""

    game: str
    network: str
    setting: str
    solves_per_second: float
    network_share: float
    solves: int


def bench_rebel(games: Sequence[Game], seconds: float, report: Callable[[int, str], None]) -> list[Row]:
    """Rows for each game: every setting with a network, then plain with a constant one; `seconds` of work each."""
    rows: list[Row] = []
    with one_core():
        for game in games:
            for name in SETTINGS:
                rows.append(_row(game, name, f"{DEPTH}x{WIDTH}", _network(game, SETTINGS[name]), seconds))
                report(len(rows), name)
            rows.append(_row(game, "plain", CONSTANT, _constant(game), seconds))
            report(len(rows), CONSTANT)
    return rows


def row_count(games: int) -> int:
    """How many rows so many games give."""
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


def _row(game: Game, setting: str, network: str, evaluator: Evaluator, seconds: float) -> Row:
    """Rounds of self-play for so long, after a short one that compiles."""
    shape, timed = shape_for(game), TimedEvaluator(evaluator)
    used: Evaluator = evaluator if network == CONSTANT else timed
    actor = RebelActor(game, shape, RebelActing(SETTINGS[setting], share=False))
    actor.round(1, used, np.random.default_rng(0))
    timed.seconds, started, solves, number = 0.0, process_time(), 0, 0
    while process_time() - started < seconds:
        solves += actor.round(64, used, np.random.default_rng(number)).searches
        number += 1
    whole = process_time() - started
    return Row(game.name, network, setting, solves / whole, timed.seconds / whole, solves)
