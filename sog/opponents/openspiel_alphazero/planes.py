"""Connect four's planes of ours as the inputs of OpenSpiel's AlphaZero, so that both can learn from the same.

OpenSpiel hands its network the raw board, planes x rows x columns, which its residual network reads as if the planes
were the rows and the columns the channels. Here every model of the process gets our planes for each board that it is
given, rows x columns x planes, as such a network wants them. Its search, its replay buffer and its learner stay as
they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from sog.arrays import Float32
from sog.games.boards.connect_four_cells import write_threats

__all__ = ["PLANES_SHAPE", "give_planes", "planes_of", "with_planes"]

_ROWS, _COLUMNS, _PLANES = 6, 7, 6
_CELLS: Final = _ROWS * _COLUMNS
PLANES_SHAPE: Final = [_ROWS, _COLUMNS, _PLANES]


def planes_of(boards: Any) -> Float32:
    """Our planes of OpenSpiel's observations of connect four, float[B, 126]: float32[B, 252].

    The first planes of an observation are the first and the second player's stones, from row 0 at the bottom; who is
    to move follows from their numbers. Where the game is over the planes are as if the next player could move.
    """
    stones = np.asarray(boards, dtype=np.float32).reshape(-1, 3, _ROWS, _COLUMNS)[:, :2, ::-1]
    cells = (stones[:, 0] + 2 * stones[:, 1]).astype(np.int8).reshape(-1, _CELLS)
    movers = (stones[:, 0].sum((1, 2)) > stones[:, 1].sum((1, 2))).astype(np.int64)[:, None]
    planes = np.zeros((len(cells), _PLANES, _ROWS, _COLUMNS), dtype=np.float32)
    write_threats(movers, cells, np.arange(len(cells)), planes.reshape(len(cells), -1))
    return np.ascontiguousarray(np.moveaxis(planes, 1, 3)).reshape(len(cells), -1)


def with_planes(answer: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """A model's answer to one observation, (model, observation, legal), by our planes of it."""
    return lambda model, observation, legal: answer(model, planes_of(observation)[0], legal)


def give_planes() -> None:
    """Have every model of OpenSpiel's in this process learn from our planes and answer by them from now on."""
    from open_spiel.python.algorithms.alpha_zero.model_nnx import Model

    build, update = Model.build_model, Model.update
    # Positions: model_type, input_shape, and the rest as the library has it.
    Model.build_model = staticmethod(
        lambda model_type, input_shape, *rest, **named: build(model_type, PLANES_SHAPE, *rest, **named)
    )
    Model.inference = with_planes(Model.inference)
    Model.update = lambda model, batch: update(model, batch.replace(observation=planes_of(batch.observation)))
