"""What a round of self-play is worth: whether its searches grow, and what its training rows hold.

The round is the actor's own, with the preset demo's settings and a network that is given; nothing is learned from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
import torch

from sog.algorithms.boards.actor import BoardActor
from sog.algorithms.boards.game import BoardGame
from sog.algorithms.student.actor import SogActor
from sog.algorithms.student.presets import sog_preset
from sog.algorithms.student.selfplay import SogGame
from sog.arrays import Bool
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.nets.inference import network_evaluator
from sog.nets.network import Network
from sog.nets.one_core import one_core
from sog.nets.policy_pairs import by_slot
from sog.nets.shape import NetworkShape
from sog.training.rows import Rows
from sog.training.settings import Actor
from soglab.bench.form import Benchmark, Column, Report

# Self-play games of each: those that are long, or leave many queries, are fewer.
GAMES: Final[dict[str, int]] = {
    "connect_four": 16,
    "go(board_size=7,komi=7.5)": 8,
    "chess": 8,
    "leduc_poker": 48,
    "scotland_yard(map=glasses)": 16,
    "liars_dice(numdice=1,dice_sides=4)": 32,
}
_ONE_HOT: Final = 0.99
_SEED: Final = 0


@dataclass(frozen=True)
class RoundRow:
    """One round of self-play.

    searches: of moves of the main line.  grown_share: those that grew their budget or their whole subgame, an
    expansion counting only if its trajectory drew a world at the searched state.  one_hot_share: policy targets with an
    action above 0.99, among those with a choice.  distinct_positions_share: distinct public states among those visited.
    won_share: games that a player won; where hardly any is, values learn nothing but draws.
    """

    game: Annotated[str, Column("game")]
    searches: Annotated[int, Column("searches", ",")]
    grown_share: Annotated[float, Column("grown", ".1%")]
    one_hot_share: Annotated[float, Column("one-hot", ".1%")]
    distinct_positions_share: Annotated[float, Column("distinct", ".1%")]
    won_share: Annotated[float, Column("won", ".1%")]


ROUNDS: Final = Benchmark("bench training", "games", "one round of self-play, settings of the preset demo")


def bench_rounds(chosen: Sequence[tuple[str, Network, int]], report: Report) -> Iterator[RoundRow]:
    """A row for each: a game string, the network and how many games are played; on one core."""
    with one_core():
        for number, (name, network, games) in enumerate(chosen):
            report(number, name)
            yield bench_round(name, network, games)


def bench_round(name: str, network: Network, games: int) -> RoundRow:
    """One round of `games` games; SettingError where it leaves no training row."""
    game = make_game(name)
    grown: list[bool] = []
    lines: list[tuple[str, tuple[int, ...]]] = []
    one_hot: list[Bool] = []
    won: list[bool] = []
    for job, rows in _jobs(sog_preset(game, "demo").acting.make(game, network.shape), network, games):
        one_hot += [one_hot_targets(network.shape, part) for part in rows]
        if isinstance(job, SogGame | BoardGame):
            won.append(bool(job.utility))
            grown += [visit.grown for visit in job.visits]
            lines += [(job.public.game.name, job.public.line(visit.node)) for visit in job.visits]
    if not one_hot:
        raise SettingError(f"{game.name}: {games} games of self-play left no training row to examine")
    return RoundRow(
        game=game.name,
        searches=len(grown),
        grown_share=float(np.mean(grown)),
        one_hot_share=float(np.concatenate(one_hot).mean()),
        distinct_positions_share=len(set(lines)) / len(lines),
        won_share=float(np.mean(won)),
    )


def _jobs(actor: Actor, network: Network, games: int) -> Iterator[tuple[object, list[Rows]]]:
    """The games and queries of a round as they end, each with its rows."""
    rng = np.random.default_rng(_SEED)
    if isinstance(actor, SogActor):
        for job in actor.finished(games, network_evaluator(network), rng):
            yield job, list(actor.rows_of(job, rng))
    elif isinstance(actor, BoardActor):
        for board_job in actor.finished(games, network_evaluator(network), rng):
            yield board_job, actor.rows_of(board_job, rng)


def one_hot_targets(shape: NetworkShape, rows: Rows) -> Bool:
    """bool[*]: whether each policy target with a choice has an action above 0.99."""
    legal, policies = (by_slot(shape, torch.from_numpy(x)) for x in (rows.legal, rows.policies))
    several = np.concatenate([part.numpy().sum(axis=2) > 1 for part in legal], axis=1)
    sure = np.concatenate([part.numpy().max(axis=2) > _ONE_HOT for part in policies], axis=1)
    one_hot: Bool = sure[(rows.policy_mask > 0) & several]
    return one_hot
