"""The process that runs OpenSpiel's AlphaZero, started by train.py; it keeps no count of time and never ends itself.

Its one argument is a JSON object: game, path, parent (a process number), settings. OpenSpiel's actor is a process
that imports this module again and finds the same argument.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from sog.cluster.parent_death import end_with
from sog.opponents.openspiel_alphazero.compiled import compile_class
from sog.opponents.openspiel_alphazero.planes import give_planes
from sog.opponents.openspiel_alphazero.settings import PLANES, AzSettings


def _train(game: str, path: str, settings: AzSettings) -> None:
    from open_spiel.python.algorithms.alpha_zero import alpha_zero

    config = alpha_zero.Config(
        game=game,
        path=path,
        learning_rate=settings.learning_rate,
        weight_decay=1e-4,
        decouple_weight_decay=False,
        train_batch_size=settings.train_batch_size,
        replay_buffer_size=settings.replay_buffer_size,
        replay_buffer_reuse=settings.replay_buffer_reuse,
        max_steps=0,  # without end
        checkpoint_freq=1,  # each under a name of its own, so that none is replaced while the process is ended
        actors=1,
        evaluators=0,
        evaluation_window=1,
        eval_levels=7,
        uct_c=settings.uct_c,
        max_simulations=settings.max_simulations,
        policy_alpha=1.0,
        policy_epsilon=0.25,
        temperature=1.0,
        temperature_drop=settings.temperature_drop,
        nn_model=settings.nn_model,
        nn_width=settings.nn_width,
        nn_depth=settings.nn_depth,
        observation_shape=None,
        output_size=None,
        verbose=False,
        quiet=True,
        nn_api_version="nnx",
    )
    alpha_zero.alpha_zero(config)


def _begin(parent: int) -> dict[str, Any]:
    """The arguments; from now on this process ends with its parent."""
    end_with(parent)
    arguments: dict[str, Any] = json.loads(sys.argv[1])
    if arguments["settings"]["compiled"]:
        compile_class()
    if arguments["settings"]["inputs"] == PLANES:
        give_planes()
    return arguments


if __name__ == "__mp_main__":  # the actor
    _begin(os.getppid())

if __name__ == "__main__":
    arguments = _begin(json.loads(sys.argv[1])["parent"])
    _train(arguments["game"], arguments["path"], AzSettings(**arguments["settings"]))
