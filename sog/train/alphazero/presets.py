"""Presets of AlphaZero: Student of Games' networks and replay windows with AlphaZero's way of acting; they run nothing.

So that the two can be compared, `demo` and `full` take everything but the acting, the policy's weight and the number
of games from Student of Games' presets of the same names.
"""

from __future__ import annotations

from dataclasses import replace

from sog.errors import SettingError
from sog.games.base import Game
from sog.search.mcts.search import PuctSettings
from sog.train.alphazero.actor import AlphaZeroActing
from sog.train.learner import LearnerSettings
from sog.train.settings import TrainSettings
from sog.train.sog.presets import sog_preset


def alphazero_preset(game: Game, name: str) -> TrainSettings:
    """The settings called demo (minutes on two cores), full, or paper; SettingError where information is hidden."""
    if not game.perfect_information:
        raise SettingError(f"AlphaZero learns games of perfect information only, not {game.name}")
    return _paper(game) if name == "paper" else _small(game, name)


def _small(game: Game, name: str) -> TrainSettings:
    """Student of Games' preset, with games of 100 simulations a move."""
    base = sog_preset(game, name)
    search = PuctSettings(noise=0.25)
    return replace(
        base,
        acting=AlphaZeroActing(simulations=100, search=search, sampled_moves=12, moves_max=_moves_max(game)),
        learner=replace(base.learner, policy_weight=1.0),
    )


def _paper(game: Game) -> TrainSettings:
    """AlphaZero's own (Science 2018, "Methods"): 800 simulations, batches of 4,096; a cluster's size.

    Its learning rate falls in three steps (0.2, 0.02, 0.002, 0.0002 at 100, 300 and 500 thousand); ours falls smoothly
    by the same factor a step, about. Its L2 penalty of 1e-4 is left out. It resigns where PoG's Table 3 has SoG resign.
    """
    go = game.name.startswith("go(")
    search = PuctSettings(first_play_loses=True, noise=0.25, concentration=0.03 if go else 0.3)
    return replace(
        sog_preset(game, "paper"),
        acting=AlphaZeroActing(
            simulations=800,
            search=search,
            sampled_moves=30,
            moves_max=722 if go else 512,
            resign_below=-0.9,
            reuse=False,
        ),
        learner=LearnerSettings(
            batch=4_096,
            optimiser="sgd",
            learning_rate=0.02 if go else 0.2,
            decay=0.1,
            decay_steps=200_000,
            policy_weight=1.0,
            updates_per_example=10.0,
        ),
    )


def _moves_max(game: Game) -> int:
    """Chess games between beginners hardly end: AlphaZero's 512 moves are too many for two cores."""
    return 200 if game.name.startswith("chess") else 0
