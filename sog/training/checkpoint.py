"""Checkpoints: one folder per run, complete at every moment whatever is killed; no pickle anywhere.

`meta.json` names the other files, `network.N.safetensors` with the weights, `critic.N.safetensors` with those of a
second network where the algorithm has one, and `state.N.safetensors` and `state.N.json` with what training needs to
continue, each with its sha256. A save writes save N + 1 beside save N and then replaces meta.json, in one rename; only
then save N is removed. The replay window's rows lie in `rows.K.bin`, which only grow: the state says how far each is
good, and the window removes the files of older saves (row_files.py). Anything else in the folder is refused in bounded
time and memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import safetensors.numpy

from sog.arrays import Array
from sog.errors import CheckpointError, GameError, SettingError, UnknownGame
from sog.files import (
    Pieces,
    bounded_json,
    discard,
    open_regular,
    overwrite,
    read_bounded,
    read_header,
    replace_file,
    shown,
    sync_folder,
)
from sog.games.catalog import make_game, make_history_game
from sog.games.own import VARIABLE
from sog.nets.network import Network, StoredNetwork, refuse_broken
from sog.nets.nonsense import refuse_nonsense
from sog.nets.serialized import check_weights, network_of
from sog.nets.shape import NetworkShape, is_for, policy_shape
from sog.training.meta import FileEntry, Meta, file_name, meta_bytes, meta_of
from sog.training.state import State, named_arrays, pack, tensor_pieces, unpack

__all__ = [
    "FileEntry",
    "Meta",
    "WithCritic",
    "is_begun",
    "is_policy_network",
    "load_critic",
    "load_meta",
    "load_network",
    "load_state",
    "load_with_critic",
    "save",
]

_META: Final = "meta.json"
_OWN: Final = re.compile(r"(network|critic|state)\.\d+\.(safetensors|json)|meta\.json\.new")
# Bytes that a file may have at most, which bounds what a damaged one costs.
_LIMITS: Final = {"meta": 2**20, "network": 2**33, "critic": 2**33, "state": 2**28, "arrays": 2**36}
_COPIES: Final = 16  # of the networks that a training state may hold: optimisers' memories, averages, targets
_BESIDE: Final = 2**28  # bytes of its other arrays, such as a number for each row of the window


@dataclass(frozen=True, eq=False)
class WithCritic:
    """What one save holds: the game string, the network, the critic's arrays, and what it says of itself."""

    game: str
    network: StoredNetwork
    critic: dict[str, Array]
    meta: Meta


def save(
    folder: Path,
    network: Network,
    game: str,
    run: str,
    step: int,
    settings: dict[str, Any],
    state: State | None = None,
    critic: dict[str, Array] | None = None,
) -> Meta:
    """Write a checkpoint into `folder`, in place of an older one of the same run.

    critic: the arrays of a second network, for search on top of a policy network.

    A kill at any moment leaves the older or the newer one, complete. Raises CheckpointError where the folder holds a
    checkpoint of another run or game, or cannot be written, and where a weight is NaN or infinite: what was saved
    before a training went wrong stays. Files with names of ours and no meta.json count as a killed first save's, and
    are removed.
    """
    # All refusals come before the first byte is written.
    _refuse_to_keep(folder, network, critic)
    number = _next_save(folder, run, game)
    # Pieces, since a large network's memory would otherwise be copied, which takes longer than to write it.
    contents = {"network": tensor_pieces(network.arrays())}
    if critic is not None:
        contents["critic"] = tensor_pieces(critic)
    if state is not None:
        skeleton, arrays = pack(state)
        contents["state"] = [json.dumps(skeleton).encode()]
        contents["arrays"] = tensor_pieces(arrays)
    # Each file's hash is in meta.json, and meta.json's own hash too: any change is found when it is read.
    files = {
        role: FileEntry(file_name(role, number), _hash(content), sum(len(piece) for piece in content))
        for role, content in contents.items()
    }
    meta = Meta(game, run, step, number, network.shape, settings, files)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Files, meta.json by a rename, the folder to disk, and only then the older save away.
        _write_all(folder, {files[role].name: content for role, content in contents.items()}, meta_bytes(meta))
        sync_folder(folder)
        _remove_others(folder, meta)
    except OSError as error:
        raise CheckpointError(f"{shown(folder)}: the checkpoint cannot be written: {error.strerror}") from error
    return meta


def _hash(content: Pieces) -> str:
    sha = hashlib.sha256()
    for piece in content:
        sha.update(piece)
    return sha.hexdigest()


def _refuse_to_keep(folder: Path, network: Network, critic: dict[str, Array] | None) -> None:
    try:
        refuse_broken(network)
    except CheckpointError as error:
        raise CheckpointError(f"{shown(folder)}: not written: {error}") from error
    for name, array in (critic or {}).items():
        if not np.isfinite(array).all():
            raise CheckpointError(f"{shown(folder)}: not written: the critic has a NaN or infinite number in {name}")


def is_begun(folder: Path) -> bool:
    """Whether a first save has been made here; before it there may be a part of one."""
    return os.path.lexists(folder / _META)


def rename_run(folder: Path, run: str) -> None:
    """Rename the run that a checkpoint belongs to, in one step; nothing else in it changes."""
    renamed = replace(load_meta(folder), run=run)
    try:
        replace_file(folder / _META, meta_bytes(renamed))
    except OSError as error:
        raise CheckpointError(f"{shown(folder)}: {_META} cannot be written: {error.strerror}") from error


def load_meta(folder: Path) -> Meta:
    """What a checkpoint says of itself; raises CheckpointError where the folder has none."""
    shown_folder = shown(folder)
    if not os.path.exists(folder):
        raise CheckpointError(f"{shown_folder}: no such checkpoint")
    if not is_begun(folder):
        why = f"it has no {_META}" if os.path.isdir(folder) else "it is a file, not a run's folder"
        raise CheckpointError(f"{shown_folder}: not a checkpoint ({why})")
    try:
        with open_regular(folder / _META, _LIMITS["meta"]) as (file, size):
            return meta_of(read_bounded(file, size))
    except OSError as error:
        raise CheckpointError(f"{shown_folder}: {_META} cannot be read: {error.strerror}") from error
    except (ValueError, SettingError) as error:
        raise CheckpointError(f"{shown_folder}: {_META} is truncated or not a checkpoint's") from error
    except CheckpointError as error:
        raise CheckpointError(f"{shown_folder}: {error}") from error


def load_network(folder: Path, game: str | None = None) -> tuple[str, StoredNetwork, Meta]:
    """The game string, the network and what else the checkpoint says of itself.

    Raises CheckpointError where it is missing, truncated, foreign, changed, has a NaN or infinite weight,
    is of another game than `game`, or has a network that is not for the game that it states.
    """
    meta, (content,) = _read(folder, ("network",))
    if game is not None and meta.game != game:
        raise CheckpointError(f"{shown(folder)}: a checkpoint of {meta.game}, not of {game}")
    return meta.game, _network(folder, meta, content), meta


def load_critic(folder: Path) -> dict[str, Array]:
    """The arrays of the second network; CheckpointError where they are missing or damaged."""
    _refuse_without_critic(folder)
    _, (content,) = _read(folder, ("critic",))
    return _critic(folder, content)


def load_with_critic(folder: Path) -> WithCritic:
    """Network and critic of the same save, also during a training; raises as `load_network` and `load_critic`."""
    _refuse_without_critic(folder)
    meta, (network, critic) = _read(folder, ("network", "critic"))
    return WithCritic(meta.game, _network(folder, meta, network), _critic(folder, critic), meta)


def _network(folder: Path, meta: Meta, content: bytes) -> StoredNetwork:
    try:
        _check_game(meta)
        network = network_of(meta.shape, content)
        refuse_broken(network)
        refuse_nonsense(network)
    except (CheckpointError, GameError) as error:
        raise CheckpointError(f"{shown(folder)}: {error}") from error
    return network


def _refuse_without_critic(folder: Path) -> None:
    if "critic" not in load_meta(folder).files:
        raise CheckpointError(f"{shown(folder)}: holds no critic to search with; train one by sepot")


def _critic(folder: Path, content: bytes) -> dict[str, Array]:
    try:
        return safetensors.numpy.load(content)
    except (ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{shown(folder)}: the critic's file is damaged") from error


def load_state(folder: Path) -> State:
    """The state that was saved beside the network; CheckpointError where it is missing or damaged."""
    _, (skeleton, content) = _read(folder, ("state", "arrays"))
    try:
        state = unpack(bounded_json(skeleton, finite=False), safetensors.numpy.load(content))
    except (ValueError, KeyError, TypeError, RecursionError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{shown(folder)}: the training state is damaged") from error
    if not isinstance(state, dict):
        raise CheckpointError(f"{shown(folder)}: the training state is damaged")
    return state


def _check_game(meta: Meta) -> None:
    """CheckpointError unless the network is one for the game that the checkpoint states; GameError where none is."""
    # A policy network reads histories, and has the shape of no game by public states.
    if is_policy_network(meta.shape, meta.game):
        return
    try:
        game, shape = make_game(meta.game), meta.shape
    except UnknownGame as error:
        raise UnknownGame(f"{error} (a game of your own? {VARIABLE} must name its module)") from error
    if not is_for(shape, game):
        own = f"{shape.features} features, {shape.slots[0]} and {shape.slots[1]} infostates and {shape.actions} actions"
        wanted = f"{game.num_features}, {game.num_slots[0]} and {game.num_slots[1]}, and {game.num_actions}"
        raise CheckpointError(f"its network is not for {meta.game}: it has {own}; the game has {wanted}")


def is_policy_network(shape: NetworkShape, game: str) -> bool:
    """Whether it is a policy network's shape, which reads the game by histories and not by public states."""
    if shape.slots != (1, 1):
        return False
    try:
        return shape == policy_shape(make_history_game(game), shape.width, shape.depth)
    except GameError:
        return False


def _next_save(folder: Path, run: str, game: str) -> int:
    if not os.path.lexists(folder):
        return 1
    if not folder.is_dir():
        raise CheckpointError(f"{shown(folder)}: is not a folder; nothing was written")
    if not is_begun(folder):
        return 1
    meta = load_meta(folder)
    if meta.run != run:
        raise CheckpointError(f"{shown(folder)}: holds a checkpoint of another run; nothing was written")
    if meta.game != game:
        raise CheckpointError(f"{shown(folder)}: holds a checkpoint of another game, {meta.game}; nothing was written")
    return meta.save + 1


def _read(folder: Path, roles: tuple[str, ...]) -> tuple[Meta, list[bytes]]:
    """Some of the files, checked; a save that finishes meanwhile is read instead."""
    meta = load_meta(folder)
    while True:
        if not set(roles) <= set(meta.files):
            raise CheckpointError(f"{shown(folder)}: holds a network only, so its training cannot be resumed")
        try:
            contents: list[bytes] = []
            for role in roles:
                contents.append(_read_file(folder, meta, role, contents))
            return meta, contents
        except CheckpointError:
            # A file that went away or changed while it was read is of an older save, if there is a newer one.
            newer = load_meta(folder)
            if newer.save == meta.save:
                raise
            meta = newer


def _read_file(folder: Path, meta: Meta, role: str, before: Sequence[bytes]) -> bytes:
    """A file whose size, tensors and hash are what meta.json states; the first two are compared before it is read.

    before: the files that were read before it; of arrays, the training state that names them.
    """
    entry, shown_folder = meta.files[role], shown(folder)
    try:
        with open_regular(folder / entry.name, _LIMITS[role]) as (file, size):
            # Cheap checks first: a damaged file costs no more memory than its stated size.
            if size != entry.size:
                raise CheckpointError(f"{entry.name} is truncated or was changed")
            if entry.name.endswith(".safetensors"):
                header = read_header(file, size)
                if role == "network":
                    check_weights(meta.shape, header)
                if role == "arrays":
                    _check_arrays(meta, set(header), before[-1], size)
            if role == "critic" and size > _COPIES * (folder / meta.files["network"].name).stat().st_size + _BESIDE:
                raise CheckpointError(f"{entry.name} is larger than a critic beside this network")
            content = read_bounded(file, size)
    except OSError as error:
        raise CheckpointError(f"{shown_folder}: {entry.name} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise CheckpointError(f"{shown_folder}: {entry.name} is damaged: {error}") from error
    except CheckpointError as error:
        raise CheckpointError(f"{shown_folder}: {error}") from error
    if hashlib.sha256(content).hexdigest() != entry.sha256:
        raise CheckpointError(f"{shown_folder}: {entry.name} is truncated or was changed")
    return content


def _check_arrays(meta: Meta, names: set[str], skeleton: bytes, size: int) -> None:
    """CheckpointError unless the arrays are those that the training state names, and no more than training keeps."""
    networks = sum(entry.size for role, entry in meta.files.items() if role in ("network", "critic"))
    try:
        state = bounded_json(skeleton, finite=False)
        named = named_arrays(state)
    except (ValueError, RecursionError) as error:
        raise CheckpointError("the training state is damaged") from error
    # A run without rounds has its window's rows in the state, one by rounds has them in files.
    replay = state.get("replay") if isinstance(state, dict) else None
    whole = isinstance(replay, dict) and "files" not in replay
    most = size if whole else _COPIES * networks + _BESIDE
    if size > most or names != named:
        raise CheckpointError("the training state has arrays that no training keeps")


def _write_all(folder: Path, contents: dict[str, Pieces], meta: bytes) -> None:
    """Write a save beside the one before, which it then replaces in one rename; a failure leaves that one alone."""
    try:
        # Names carry the save's number, so nothing of the save before is overwritten.
        for name, content in contents.items():
            overwrite(folder / name, content)
        overwrite(folder / (_META + ".new"), [meta])
        os.replace(folder / (_META + ".new"), folder / _META)
    except OSError:
        discard([folder / name for name in (*contents, _META + ".new")])
        raise


def _remove_others(folder: Path, meta: Meta) -> None:
    """Remove what older saves, or saves that were killed, left in the folder."""
    in_use = {entry.name for entry in meta.files.values()} | {_META}
    for path in folder.iterdir():
        if _OWN.fullmatch(path.name) and path.name not in in_use:
            path.unlink()
