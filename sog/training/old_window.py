"""Replay windows in checkpoints before 29 November 2026, a column a field: read, and never written again.

Rows of plane games were bits with lists of actions, compressed; all others were arrays as the learner takes them.
"""

from __future__ import annotations

import math
import zlib
from typing import Any, Final

import numpy as np

from sog.arrays import Array
from sog.errors import CheckpointError
from sog.nets.shape import NetworkShape
from sog.training.rows import Rows, blank_rows

__all__ = ["old_rows"]

_LEVELS: Final = 100.0  # a plane's one value was kept in hundredths
_ALL_ACTIONS: Final = 400  # with no more actions than these a row had room for all of them, otherwise for _MOST_LEGAL
_MOST_LEGAL: Final = 256

# By column of a plane game's row: its type, and its width where the shape does not decide it.
_TYPES: Final = {
    "bits": np.uint8,
    "levels": np.uint8,
    "values": np.float32,
    "value_mask": np.float32,
    "policy_mask": np.float32,
    "legal": np.uint8,
    "actions": np.uint16,
    "shares": np.uint16,
    "owners": np.int8,
    "owners_mask": np.float32,
}


def old_rows(shape: NetworkShape, state: dict[str, Any]) -> Rows:
    """The rows in such a window, oldest first; CheckpointError where they are damaged or of another network."""
    rows = _planes(shape, state) if shape.planes else _plain(shape, state)
    if len({len(column) for column in rows.columns().values()}) != 1:
        raise CheckpointError("the checkpoint's replay window belongs to another network")
    return rows


def _plain(shape: NetworkShape, state: dict[str, Any]) -> Rows:
    like = blank_rows(shape, 0).columns()
    count = len(np.asarray(state.get("inputs", ())))
    columns = {}
    for name, blank in like.items():
        empty = 0 in blank.shape[1:]  # such a column was left out
        column = np.zeros((count, *blank.shape[1:]), blank.dtype) if empty else np.asarray(state.get(name))
        if column.shape[1:] != blank.shape[1:] or column.dtype != blank.dtype:
            raise CheckpointError("the checkpoint's replay window belongs to another network")
        columns[name] = column
    return Rows(**columns)


def _planes(shape: NetworkShape, state: dict[str, Any]) -> Rows:
    cells, most = math.prod(shape.planes), shape.actions if shape.actions <= _ALL_ACTIONS else _MOST_LEGAL
    widths = {
        "bits": (cells + 7) // 8,
        "levels": shape.planes[0],
        "values": 2,
        "value_mask": 2,
        "policy_mask": 1,
        "legal": 2,
        "actions": most,
        "shares": most,
        "owners": shape.cells,
        "owners_mask": min(shape.cells, 1),
    }
    stored = {name: _column(state.get(name), _TYPES[name], width) for name, width in widths.items() if width}
    count = len(stored["bits"])
    if any(len(column) != count for column in stored.values()):
        raise CheckpointError("the checkpoint's replay window belongs to another network")
    rows = blank_rows(shape, count)
    planes = np.unpackbits(stored["bits"], axis=1, count=cells).reshape(count, shape.planes[0], -1)
    levels = stored["levels"].astype(np.float32) / np.float32(_LEVELS)
    rows.inputs[:, :cells] = (planes * levels[:, :, None]).reshape(count, -1)
    rows.inputs[:, cells:] = 1.0  # one infostate a player
    for name in ("values", "value_mask", "policy_mask", "owners", "owners_mask"):
        if name in stored:
            getattr(rows, name)[:] = stored[name]
    for k, legal in enumerate(stored["legal"][:, 0] + 256 * stored["legal"][:, 1].astype(np.int64)):
        actions, shares = stored["actions"][k, :legal], stored["shares"][k, :legal].astype(np.float32)
        if len(actions) != legal or (actions >= shape.actions).any():
            raise CheckpointError("the checkpoint's replay window is damaged or belongs to another network")
        rows.legal[k, 0, actions] = True
        rows.policies[k, 0, actions] = shares / max(float(shares.sum()), 1.0)
    return rows


def _column(content: Any, dtype: type, width: int) -> Array:
    """A compressed column [N, width]."""
    try:
        plain = zlib.decompress(np.asarray(content, dtype=np.uint8).tobytes())
        column: Array = np.frombuffer(plain, dtype=dtype).reshape(-1, width)
    except (zlib.error, ValueError, TypeError) as error:
        raise CheckpointError("the checkpoint's replay window is damaged or belongs to another network") from error
    return column
