"""A training's state as JSON and arrays, and back; and arrays as a safetensors file that is written piece by piece."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from sog.arrays import Array
from sog.files import Pieces

__all__ = ["State", "named_arrays", "pack", "tensor_pieces", "unpack"]

# Nested dictionaries of arrays, numbers, strings, None and lists of those.
State = dict[str, Any]

_ARRAY: Final = "$array"


def pack(state: Any, path: str = "") -> tuple[Any, dict[str, Array]]:
    """A state as JSON with the arrays taken out, and those by their place. Raises TypeError for other things."""
    # An array's place in the state is its name among the arrays.
    if isinstance(state, np.ndarray) and state.dtype.kind in "biuf":
        return {_ARRAY: path}, {path: np.asarray(state, order="C")}
    if isinstance(state, np.generic):
        return state.item(), {}
    if isinstance(state, dict):
        if _ARRAY in state or not all(isinstance(key, str) for key in state):
            raise TypeError(f"a checkpoint's keys are strings other than {_ARRAY}: {list(state)}")
        pairs = [(key, pack(value, f"{path}/{key}")) for key, value in state.items()]
        return {key: skeleton for key, (skeleton, _) in pairs}, _union(pairs)
    if isinstance(state, list | tuple):
        items = [(str(k), pack(value, f"{path}/{k}")) for k, value in enumerate(state)]
        return [skeleton for _, (skeleton, _) in items], _union(items)
    if state is None or isinstance(state, bool | int | float | str):
        return state, {}
    raise TypeError(f"a checkpoint cannot hold {type(state).__name__} at {path}")


def unpack(skeleton: Any, arrays: dict[str, Array]) -> Any:
    """The inverse of `pack`, but tuples come back as lists."""
    if isinstance(skeleton, dict):
        if _ARRAY in skeleton:
            return arrays[skeleton[_ARRAY]]
        return {key: unpack(value, arrays) for key, value in skeleton.items()}
    if isinstance(skeleton, list):
        return [unpack(value, arrays) for value in skeleton]
    return skeleton


def named_arrays(skeleton: Any) -> set[str]:
    """The names of the arrays that `unpack` reads for this JSON."""
    if isinstance(skeleton, dict) and _ARRAY in skeleton:
        return {str(skeleton[_ARRAY])}
    parts = skeleton.values() if isinstance(skeleton, dict) else skeleton if isinstance(skeleton, list) else ()
    return set().union(*map(named_arrays, parts))


def _union(parts: list[tuple[str, tuple[Any, dict[str, Array]]]]) -> dict[str, Array]:
    return {key: array for _, (_, arrays) in parts for key, array in arrays.items()}


def tensor_pieces(arrays: Mapping[str, Array]) -> Pieces:
    """A safetensors file of these arrays in pieces; those of C order are views of the arrays, which are not copied."""
    # Wide numbers first, so that each array begins at a multiple of its numbers' bytes.
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    header, pieces, end = {}, [], 0
    for name in names:
        array = arrays[name]
        kind = "BOOL" if array.dtype.kind == "b" else f"{array.dtype.kind.upper()}{8 * array.itemsize}"
        offsets, end = [end, end + array.nbytes], end + array.nbytes
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": offsets}
        pieces.append(array.reshape(-1).view(np.uint8).data)
    text = json.dumps(header, separators=(",", ":")).encode()
    # The format wants the header's length before it; spaces bring what follows to a multiple of 8.
    text += b" " * (-len(text) % 8)
    return [len(text).to_bytes(8, "little"), text, *pieces]
