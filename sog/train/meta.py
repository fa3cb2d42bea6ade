"""What a checkpoint says of itself, meta.json: written, read and checked; it opens no file.

In version 2 a hash covers all of it and each file's size is stated. Version 1, which had neither, is still read; there
the game must be the one that its settings and the run's name state.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from sog.errors import CheckpointError
from sog.nets.shape import NetworkShape
from sog.train.files import bounded_json
from sog.train.settings import PLAIN

__all__ = ["FORMAT", "VERSION", "FileEntry", "Meta", "file_name", "meta_bytes", "meta_of"]

FORMAT: Final = "sog checkpoint"
VERSION: Final = 2
_HASH: Final = "sha256"
# Of a shape; older versions, which know neither, do not state them.
_APART: Final = "policies_apart"
_OWNERSHIP: Final = "ownership"
_NAMES: Final = {
    "network": "network.{}.safetensors",
    "critic": "critic.{}.safetensors",
    "state": "state.{}.json",
    "arrays": "state.{}.safetensors",
}
_LONGEST_TEXT: Final = 2_000  # characters of a game string or a run's name
_MOST: Final = 2**31
_TEXTS: Final = ("game", "preset", "algorithm", "made_of")
_COUNTS: Final = ("workers", "round")


@dataclass(frozen=True)
class FileEntry:
    """A file of the checkpoint by its name in the folder.  size: in bytes; None in version 1."""

    name: str
    sha256: str
    size: int | None = None


@dataclass(frozen=True)
class Meta:
    """What meta.json says.

    game: the game string.  run: the training run this belongs to; only that run may save here again.
    step: learner steps.  save: counts the saves of this run.  settings: those of the run, for people.
    files: by role: network, for search on top of it critic, and for training to go on state and arrays.
    """

    game: str
    run: str
    step: int
    save: int
    shape: NetworkShape
    settings: dict[str, Any]
    files: dict[str, FileEntry]

    @property
    def algorithm(self) -> str:
        """The name of the algorithm that trained it; checkpoints that do not say are Student of Games'."""
        return str(self.settings.get("algorithm", "sog"))

    @property
    def network_id(self) -> str:
        """Which network it is: the first 16 hexadecimal digits of the weights' checksum."""
        return self.files["network"].sha256[:16]


def file_name(role: str, save: int) -> str:
    """What the file of a role is called in a save."""
    return _NAMES[role].format(save)


def meta_bytes(meta: Meta) -> bytes:
    """What meta.json holds. Raises ValueError for settings that JSON cannot hold, such as NaN."""
    data = json.loads(json.dumps({"format": FORMAT, "version": VERSION, **asdict(meta)}, allow_nan=False))
    return (json.dumps({**data, _HASH: _hash(data)}, indent=1) + "\n").encode()


def meta_of(content: bytes) -> Meta:
    """What a meta.json says; ValueError where it is none or was changed, CheckpointError for another version."""
    data = bounded_json(content)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError("format")
    version = _whole(data.get("version"))
    if version not in (1, VERSION):
        raise CheckpointError(f"checkpoint version {version}; this program reads 1 and {VERSION}")
    if version > 1 and data.pop(_HASH, None) != _hash(data):
        raise CheckpointError("meta.json was changed")
    meta = Meta(
        _text(data.get("game")),
        _text(data.get("run")),
        _whole(data.get("step"), 2**62),
        _whole(data.get("save")),
        _shape_of(data.get("shape")),
        _settings_of(data.get("settings")),
        _files_of(data.get("files"), data.get("save"), sized=version > 1),
    )
    stated = meta.settings.get("game", meta.game)
    if stated != meta.game or ("game" in meta.settings and not f"{meta.run} ".startswith(f"{meta.game} ")):
        raise CheckpointError(f"meta.json calls it a checkpoint of {meta.game}, but its run is '{meta.run}'")
    return meta


def _hash(data: dict[str, Any]) -> str:
    """Of all that meta.json says, however it is spaced and ordered."""
    try:
        return hashlib.sha256(json.dumps(data, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    except RecursionError as error:
        raise ValueError("too deep") from error


def _shape_of(data: Any) -> NetworkShape:
    """Raises SettingError too, as a shape does that no network can have."""
    if not isinstance(data, dict) or not set(data) <= {field.name for field in fields(NetworkShape)}:
        raise ValueError("shape")
    slots, crossed, planes = (_wholes(data.get(name, [])) for name in ("slots", "crossed", "planes"))
    flags = data.get("matchups"), data.get(_APART, False), data.get(_OWNERSHIP, False)
    if len(slots) != 2 or not all(isinstance(flag, bool) for flag in flags):
        raise ValueError("shape")
    return NetworkShape(
        _whole(data.get("features")),
        (slots[0], slots[1]),
        _whole(data.get("actions")),
        _whole(data.get("width")),
        _whole(data.get("depth")),
        _text(data.get("kind")),
        crossed,
        data["matchups"],
        planes,
        _whole(data.get("policy_planes", 0)),
        data.get(_APART, False),
        data.get(_OWNERSHIP, False),
    )


def _settings_of(data: Any) -> dict[str, Any]:
    """Of the run; where it states what the program reads again, that is of the right type."""
    if not isinstance(data, dict):
        raise ValueError("settings")
    for name in _TEXTS:
        if not isinstance(data.get(name, ""), str):
            raise ValueError(name)
    for name in _COUNTS:
        _whole(data.get(name, 0))
    minutes = data.get("minutes", 0.0)
    if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 <= minutes < _MOST:
        raise ValueError("minutes")
    _check_variant(data.get("variant", {}))
    return data


def _check_variant(data: Any) -> None:
    kinds = {name: type(value) for name, value in asdict(PLAIN).items()}
    if not isinstance(data, dict) or any(type(value) is not kinds.get(name) for name, value in data.items()):
        raise ValueError("variant")
    _whole(data.get("warm", 0))


def _files_of(data: Any, save: Any, sized: bool) -> dict[str, FileEntry]:
    """The files by role, each called what this save calls it."""
    if not isinstance(data, dict) or "network" not in data or ("state" in data) != ("arrays" in data):
        raise ValueError("files")
    found = {}
    for role, entry in data.items():
        if role not in _NAMES or not isinstance(entry, dict) or entry.get("name") != file_name(role, save):
            raise ValueError("files")
        size = _whole(entry.get("size"), 2**62) if sized else None
        found[role] = FileEntry(entry["name"], _text(entry.get("sha256")), size)
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT or not value.isprintable():
        raise ValueError("text")
    return value


def _whole(value: Any, most: int = _MOST) -> int:
    if type(value) is not int or not 0 <= value < most:
        raise ValueError("number")
    return value


def _wholes(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list):
        raise ValueError("list")
    return tuple(_whole(one) for one in values)
