"""Presets of AlphaZero: Student of Games' networks and replay windows with AlphaZero's way of acting; they run nothing.

So that the two can be compared, `demo` and `full` take everything but the acting and the policy's weight from Student
of Games' presets of the same names, and on boards everything but the search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from sog.algorithms.alphazero.actor import AlphaZeroActing
from sog.algorithms.boards.presets import board_preset, is_board, paper_size, require_papers_inputs, small_preset
from sog.algorithms.boards.searches import MctsSearch
from sog.errors import SettingError
from sog.games.base import Game
from sog.games.strings import OPENSPIEL, parse_game
from sog.searches.mcts.search import PuctSettings
from sog.training.settings import LearnerSettings, TrainSettings

__all__ = ["alphazero_preset"]

_SHORT: Final = 200  # moves after which `demo` and `full` cut a game short where games hardly end by themselves


def alphazero_preset(game: Game, name: str) -> TrainSettings:
    """The settings called demo (minutes on two cores), full, or paper; SettingError where information is hidden."""
    if not game.perfect_information:
        raise SettingError(f"AlphaZero learns games of perfect information only, not {game.name}")
    return _paper(game) if name == "paper" else _small(game, name)


def _small(game: Game, name: str) -> TrainSettings:
    """Student of Games' preset: on boards with MCTS for its search, elsewhere with games of 100 simulations a move.

    The 512 moves that the paper lets a game of chess last are too many for two cores.
    """
    if is_board(game):
        return board_preset(game, name, MctsSearch())
    moves_max = _SHORT if game.drawn_out else 0
    acting = AlphaZeroActing(100, PuctSettings(noise=0.25), sampled_moves=12, moves_max=moves_max)
    small = small_preset(game, name, acting)
    return replace(small, learner=replace(small.learner, policy_weight=1.0))


def _paper(game: Game) -> TrainSettings:
    """AlphaZero's own (Science 2018, "Methods"): 800 simulations, batches of 4,096; a cluster's size.

    Its learning rate falls in three steps (0.2, 0.02, 0.002, 0.0002 at 100, 300 and 500 thousand); ours falls smoothly
    by the same factor a step, about. Its squared errors of values are linear beyond 1 here (Huber's loss, twice). Its
    L2 penalty of 1e-4 is left out. It resigns where PoG's Table 3 has SoG resign.
    """
    require_papers_inputs(game)
    of_game = _PAPER.get(parse_game(game.name.removeprefix(OPENSPIEL))[0], _USUAL)
    search = PuctSettings(first_play_loses=True, noise=0.25, concentration=of_game.concentration)
    shape, rows = paper_size(game)
    return TrainSettings(
        shape=shape,
        replay=rows,
        games=0 if game.planes is not None else 64,
        rounds=1_000_000,
        # Science 2018, "Methods": 800 simulations, the first 30 moves drawn, noise 0.25, games cut at the game's
        # longest.
        acting=AlphaZeroActing(
            simulations=800,
            search=search,
            sampled_moves=30,
            moves_max=game.longest,
            resign_below=-0.9,
            reuse=False,
        ),
        learner=LearnerSettings(
            batch=4_096,
            optimiser="sgd",
            learning_rate=of_game.learning_rate,
            decay=0.1,
            decay_steps=200_000,
            # Huber's loss is x^2 / 2: twice it is AlphaZero's squared error.
            value_weight=2.0,
            policy_weight=1.0,
            updates_per_example=10.0,
        ),
    )


@dataclass(frozen=True)
class _OfGame:
    """What AlphaZero's settings take from the game. concentration: of the noise at the root."""

    concentration: float = 0.3
    learning_rate: float = 0.2


_USUAL: Final = _OfGame()
_PAPER: Final = {"go": _OfGame(concentration=0.03, learning_rate=0.02)}
