"""Checkpoints: one folder per run, complete at every moment whatever is killed; no pickle anywhere.

`meta.json` names the other files, `network.N.safetensors` with the weights and `state.N.safetensors` and
`state.N.json` with what training needs to go on, each with its sha256. A save writes save N + 1 beside save N
and then replaces meta.json, in one rename; only then save N is removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import safetensors.numpy
import safetensors.torch
import torch

from sog.arrays import Array
from sog.errors import CheckpointError, SettingError
from sog.nets.cvpn import CVPN, NetworkShape
from sog.nets.inference import refuse_broken

__all__ = [
    "FORMAT",
    "VERSION",
    "FileEntry",
    "Meta",
    "State",
    "load_meta",
    "load_network",
    "load_state",
    "network_bytes",
    "network_of",
    "pack",
    "save",
    "unpack",
]

# Nested dictionaries of arrays, numbers, strings, None and lists of those.
State = dict[str, Any]

FORMAT: Final = "sog checkpoint"
VERSION: Final = 1
_META = "meta.json"
_OWN = re.compile(r"(network|state)\.\d+\.(safetensors|json)|meta\.json\.new")
_ARRAY = "$array"


@dataclass(frozen=True)
class FileEntry:
    """A file of the checkpoint by its name in the folder."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Meta:
    """What meta.json says.

    game: the game string.  run: the training run this belongs to; only that run may save here again.
    step: learner steps.  save: counts the saves of this run.  settings: those of the run, for people.
    """

    game: str
    run: str
    step: int
    save: int
    shape: NetworkShape
    settings: dict[str, Any]
    files: dict[str, FileEntry]


def save(
    folder: Path, network: CVPN, game: str, run: str, step: int, settings: dict[str, Any], state: State | None = None
) -> Meta:
    """Write a checkpoint into `folder`, in place of an older one of the same run.

    A kill at any moment leaves the older or the newer one, complete. Raises CheckpointError where the
    folder holds anything that is not this run's, or cannot be written.
    """
    number = _next_save(folder, run, game)
    contents = {"network": (f"network.{number}.safetensors", network_bytes(network))}
    if state is not None:
        skeleton, arrays = pack(state)
        contents["state"] = (f"state.{number}.json", json.dumps(skeleton).encode())
        contents["arrays"] = (f"state.{number}.safetensors", safetensors.numpy.save(arrays))
    files = {
        role: FileEntry(name, hashlib.sha256(content).hexdigest()) for role, (name, content) in contents.items()
    }
    meta = Meta(game, run, step, number, network.shape, settings, files)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.values():
            _write(folder / name, content)
        _write(folder / (_META + ".new"), _meta_bytes(meta))
        os.replace(folder / (_META + ".new"), folder / _META)
        _sync_folder(folder)
        _remove_others(folder, meta)
    except OSError as error:
        raise CheckpointError(f"{folder}: the checkpoint cannot be written: {error.strerror}") from error
    return meta


def load_meta(folder: Path) -> Meta:
    """What a checkpoint says of itself; raises CheckpointError where there is none."""
    if not folder.exists():
        raise CheckpointError(f"{folder}: no such checkpoint")
    if not (folder / _META).is_file():
        raise CheckpointError(f"{folder}: not a checkpoint (it has no {_META})")
    try:
        said = json.loads((folder / _META).read_bytes())
        if said["format"] != FORMAT:
            raise ValueError
        if said["version"] != VERSION:
            raise CheckpointError(f"{folder}: checkpoint version {said['version']}; this program reads {VERSION}")
        return _meta_of(said)
    except OSError as error:
        raise CheckpointError(f"{folder}: {_META} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, SettingError) as error:
        raise CheckpointError(f"{folder}: {_META} is truncated or not a checkpoint's") from error


def load_network(folder: Path, game: str | None = None) -> tuple[str, CVPN, Meta]:
    """The game string, the network and what else the checkpoint says of itself.

    Raises CheckpointError where it is missing, truncated, foreign, changed, has a NaN or infinite weight,
    or is of another game than `game`.
    """
    meta, contents = _read(folder, ("network",))
    if game is not None and meta.game != game:
        raise CheckpointError(f"{folder}: a checkpoint of {meta.game}, not of {game}")
    try:
        network = network_of(meta.shape, contents["network"])
        refuse_broken(network)
    except CheckpointError as error:
        raise CheckpointError(f"{folder}: {error}") from error
    return meta.game, network, meta


def load_state(folder: Path) -> State:
    """The state that was saved beside the network; CheckpointError where there is none or it is damaged."""
    meta = load_meta(folder)
    if "state" not in meta.files:
        raise CheckpointError(f"{folder}: holds a network only, so its training cannot be resumed")
    _, contents = _read(folder, ("state", "arrays"))
    try:
        arrays = safetensors.numpy.load(contents["arrays"])
        state: State = unpack(json.loads(contents["state"]), arrays)
    except (ValueError, KeyError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{folder}: the training state is damaged") from error
    return state


def network_bytes(network: CVPN) -> bytes:
    """The weights in safetensors format, for files and for worker processes."""
    weights = {name: weight.detach().cpu().contiguous() for name, weight in network.state_dict().items()}
    return safetensors.torch.save(weights)


def network_of(shape: NetworkShape, content: bytes) -> CVPN:
    """A network with these weights on the CPU; raises CheckpointError where they do not fit the shape."""
    try:
        weights = safetensors.torch.load(content)
    except safetensors.SafetensorError as error:
        raise CheckpointError("the network's file is damaged") from error
    network = _hollow(shape, len(weights))
    wanted = {name: (weight.shape, weight.dtype) for name, weight in network.state_dict().items()}
    if wanted != {name: (weight.shape, weight.dtype) for name, weight in weights.items()}:
        raise CheckpointError("the network's weights are not of the shape that the checkpoint states")
    network.load_state_dict(weights, assign=True)
    return network


def _hollow(shape: NetworkShape, tensors: int) -> CVPN:
    """A network of this shape without memory for its weights, since a damaged file may state any shape."""
    try:
        if shape.depth <= tensors:
            with torch.device("meta"):
                return CVPN(shape)
    except (TypeError, ValueError, IndexError, RuntimeError) as error:
        raise CheckpointError("the checkpoint states a shape that no network has") from error
    raise CheckpointError("the network's weights are not of the shape that the checkpoint states")


def pack(state: Any, path: str = "") -> tuple[Any, dict[str, Array]]:
    """A state as JSON with the arrays taken out, and those by their place. Raises TypeError for other things."""
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


def _union(parts: list[tuple[str, tuple[Any, dict[str, Array]]]]) -> dict[str, Array]:
    return {key: array for _, (_, arrays) in parts for key, array in arrays.items()}


def _next_save(folder: Path, run: str, game: str) -> int:
    if not folder.exists():
        return 1
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: is not a folder; nothing was written")
    if not (folder / _META).exists():
        return 1
    meta = load_meta(folder)
    if meta.run != run:
        raise CheckpointError(f"{folder}: holds a checkpoint of another run; nothing was written")
    if meta.game != game:
        raise CheckpointError(f"{folder}: holds a checkpoint of another game, {meta.game}; nothing was written")
    return meta.save + 1


def _read(folder: Path, roles: tuple[str, ...]) -> tuple[Meta, dict[str, bytes]]:
    """Some of the files, checked; a save that finishes meanwhile is read instead."""
    meta = load_meta(folder)
    while True:
        try:
            return meta, {role: _read_file(folder, meta.files[role]) for role in roles}
        except CheckpointError:
            newer = load_meta(folder)
            if newer.save == meta.save:
                raise
            meta = newer


def _read_file(folder: Path, entry: FileEntry) -> bytes:
    try:
        content = (folder / entry.name).read_bytes()
    except OSError as error:
        raise CheckpointError(f"{folder}: {entry.name} cannot be read: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != entry.sha256:
        raise CheckpointError(f"{folder}: {entry.name} is truncated or was changed")
    return content


def _meta_bytes(meta: Meta) -> bytes:
    said = {"format": FORMAT, "version": VERSION, **asdict(meta)}
    return (json.dumps(said, indent=1) + "\n").encode()


def _meta_of(said: dict[str, Any]) -> Meta:
    shape = dict(said["shape"])
    shape["slots"], shape["crossed"] = tuple(shape["slots"]), tuple(shape["crossed"])
    shape["planes"] = tuple(shape.get("planes", ()))
    files = {role: FileEntry(**entry) for role, entry in said["files"].items()}
    if "network" not in files or any(not _OWN.fullmatch(entry.name) for entry in files.values()):
        raise ValueError("files")
    step, number = int(said["step"]), int(said["save"])
    return Meta(
        str(said["game"]), str(said["run"]), step, number, NetworkShape(**shape), dict(said["settings"]), files
    )


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_others(folder: Path, meta: Meta) -> None:
    """Remove what older saves, or saves that were killed, left in the folder."""
    kept = {entry.name for entry in meta.files.values()} | {_META}
    for path in folder.iterdir():
        if _OWN.fullmatch(path.name) and path.name not in kept:
            path.unlink()
