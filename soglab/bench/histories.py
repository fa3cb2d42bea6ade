"""Episodes a second of games by histories: random play, the actor with a policy network, and R-NaD's learning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

import numpy as np

from sog.algorithms.policy.loop import play_and_learn, policy_learner
from sog.algorithms.policy.presets import rnad_preset
from sog.algorithms.policy.trajectories import sample
from sog.games.base import TERMINAL
from sog.games.catalog import make_history_game
from sog.games.histories.base import HistoryGame, drawn, uniform_weights
from sog.nets.cvpn import CVPN
from sog.nets.one_core import one_core
from sog.nets.shape import policy_shape
from soglab.bench.form import Benchmark, Column, Report
from soglab.bench.stopwatch import counted

__all__ = ["BATTLESHIPS", "GAMES", "HISTORIES", "HistoriesRow", "bench_histories"]

_BATTLE: Final = "battleship(board_width={0},board_height={0},ship_sizes=[{1}],num_shots={2},"
_SHOTS: Final = "allow_repeated_shots=False,returns_type=win_loss)"

BATTLESHIPS: Final = tuple(
    _BATTLE.format(*board) + _SHOTS for board in ((3, "2;2", 9), (5, "3;2;2", 25), (7, "4;3;3;2", 49))
)
GAMES: Final = (
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=4)",
    "goofspiel(imp_info=True,num_cards=5,points_order=descending)",
    "goofspiel(imp_info=True,num_cards=8,points_order=random)",
    "goofspiel(imp_info=True,num_cards=13,points_order=random)",
    *BATTLESHIPS,
)


@dataclass(frozen=True)
class HistoriesRow:
    """One game: decisions of an episode, and episodes a second of processor time on one core.

    random: random legal actions, no network.  actor: with a network.  learning: with R-NaD's learning beside.
    """

    game: Annotated[str, Column("game")]
    network: str
    decisions: Annotated[float, Column("decisions", ".1f")]
    random: Annotated[float, Column("random games/s", ",.0f")]
    actor: Annotated[float, Column("with {network} /s", ",.0f")]
    learning: Annotated[float, Column("with R-NaD /s", ",.0f")]


HISTORIES: Final = Benchmark("bench histories", "games")


def bench_histories(
    games: Sequence[str], size: tuple[int, int], seconds: float, report: Report
) -> Iterator[HistoriesRow]:
    """A row for each game; each of its three figures takes `seconds`, at least.

    size: hidden layers of the actor's network and their width.
    """
    with one_core():
        for done, name in enumerate(games):
            report(done, name)
            yield _row(make_history_game(name), size, seconds)


def _row(game: HistoryGame, size: tuple[int, int], seconds: float) -> HistoriesRow:
    depth, width = size
    settings = replace(rnad_preset(game, "paper"), shape=policy_shape(game, width, depth))
    learner = policy_learner(settings.learning, CVPN(settings.shape, 0), 0)
    count, rng, decisions = settings.games, np.random.default_rng(0), []

    def act() -> int:
        decisions.append(len(sample(game, learner.network, count, rng)) / count)
        return count

    def learn() -> int:
        play_and_learn(game, learner, count, 1, 0)
        return count

    played = _rate(lambda: _play_at_random(game, 1024, rng), seconds)
    actor, learning = _rate(act, seconds), _rate(learn, seconds)
    return HistoriesRow(game.name, f"{depth}x{width}", float(np.mean(decisions)), played, actor, learning)


def _rate(episodes: Callable[[], int], seconds: float) -> float:
    """Episodes a second of processor time, after one call that compiles."""
    episodes()
    count, spent = counted(episodes, seconds)
    return count / spent


def _play_at_random(game: HistoryGame, count: int, rng: np.random.Generator) -> int:
    states = game.begin(count)
    while (actors := game.actors(states)).min() < TERMINAL:
        chosen = drawn(uniform_weights(game, states, actors), rng.random(count))
        game.step(states, np.where(actors < TERMINAL, chosen, -1))
    return count
