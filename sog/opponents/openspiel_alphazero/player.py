"""OpenSpiel's own AlphaZero as an opponent: its search with a network that it has trained.

The search is its MCTS bot with its evaluator: PUCT with the constant of the training, no noise, proven wins and
losses kept (`solve`), the most visited move played. The network's answers are compiled (compiled.py): the same
moves, sooner.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from sog.errors import CheckpointError, first_line
from sog.games.base import Game
from sog.opponents.openspiel_alphazero.compiled import answer_compiled
from sog.opponents.openspiel_alphazero.planes import PLANES_SHAPE, with_planes
from sog.opponents.openspiel_alphazero.settings import ONE_CORE, PLANES, inputs_of, newest_checkpoint, require_extra
from sog.opponents.rating import Decision, Rate, Rated, rated_root, spiel_state

__all__ = ["openspiel_alphazero"]

_SIMULATIONS: Final = 100
_FEWEST: Final = 2  # the first one only looks at the position itself
_FIRST: Final = 16  # simulations by which the speed is measured


def openspiel_alphazero(folder: Path, game: Game, seconds: float | None = None) -> Rate:
    """Rates moves by this many simulations as are requested, by default 100.

    seconds: of a move, instead; they become simulations by the speed of the searches before, as the bot has no clock.
    Raises SettingError where packages are missing, CheckpointError where the folder has no checkpoint of the game.
    """
    require_extra()
    loaded = _Loaded(folder, game)
    pace = _Pace(seconds)

    def rate(decision: Decision) -> Rated:
        state = spiel_state(decision.game, decision.state)
        if seconds is None:
            root = loaded.search(state, decision.simulations or _SIMULATIONS, decision.rng)
        else:
            if pace.unknown:
                loaded.search(state, _FEWEST, decision.rng)  # compiles
                pace.measure(lambda: loaded.search(state, _FIRST, decision.rng))
            root = pace.measure(lambda: loaded.search(state, pace.simulations, decision.rng))
        return rated_root(root, decision)

    return rate


class _Loaded:
    """A network of OpenSpiel's with its evaluator, which remembers positions."""

    def __init__(self, folder: Path, game: Game) -> None:
        spiel = spiel_state(game, game.root()).get_game()
        config, step = _config(folder), newest_checkpoint(folder)
        planes = inputs_of(folder) == PLANES
        if step is None:
            raise CheckpointError(f"{folder} holds no checkpoint of OpenSpiel's AlphaZero")
        if config.get("game") != str(spiel):
            raise CheckpointError(f"{folder} was trained for {config.get('game')}, not for {spiel}")
        for name, value in ONE_CORE.items():  # read when JAX is first imported
            os.environ.setdefault(name, value)
        from open_spiel.python.algorithms.alpha_zero.evaluator import AlphaZeroEvaluator

        with warnings.catch_warnings():  # its only warning is which of two modules it is
            warnings.simplefilter("ignore", UserWarning)
            from open_spiel.python.algorithms.alpha_zero.model_nnx import Model

        try:
            model = Model.build_model(
                config["nn_model"],
                PLANES_SHAPE if planes else spiel.observation_tensor_shape(),
                spiel.num_distinct_actions(),
                config["nn_width"],
                config["nn_depth"],
                config["weight_decay"],
                config["learning_rate"],
                str(folder.resolve()),
            )
            self._uct = float(config["uct_c"])
            model.load_checkpoint(step)
        except Exception as error:  # whatever a damaged file makes of JAX's and Orbax's readers
            raise CheckpointError(f"{folder}: checkpoint-{step} cannot be read: {first_line(error)[:200]}") from error
        model.inference = partial(with_planes(answer_compiled) if planes else answer_compiled, model)
        self._evaluator, self._game = AlphaZeroEvaluator(spiel, model), spiel

    def search(self, state: Any, simulations: int, rng: np.random.Generator) -> Any:
        """The root of its search, with all children."""
        from open_spiel.python.algorithms import mcts

        bot = mcts.MCTSBot(
            self._game,
            self._uct,
            max(simulations, _FEWEST),
            self._evaluator,
            solve=True,
            random_state=np.random.RandomState(int(rng.integers(2**31))),
            child_selection_fn=mcts.SearchNode.puct_value,
            dont_return_chance_node=True,
        )
        return bot.mcts_search(state)


class _Pace:
    """How many simulations fit into this many seconds, by the mean over the searches before."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds, self._spent, self._done = seconds or 0.0, 0.0, 0

    @property
    def unknown(self) -> bool:
        return self._done == 0

    @property
    def simulations(self) -> int:
        return int(self._seconds * self._done / self._spent)

    def measure(self, search: Callable[[], Any]) -> Any:
        """The root that the search gives."""
        started = time.perf_counter()
        root = search()
        self._spent += time.perf_counter() - started
        self._done += root.explore_count
        return root


def _config(folder: Path) -> dict[str, Any]:
    """What OpenSpiel wrote beside its checkpoints."""
    try:
        config = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{folder} is no folder of OpenSpiel's AlphaZero: config.json cannot be read") from error
    if not isinstance(config, dict):
        raise CheckpointError(f"{folder}/config.json is no object")
    return config
