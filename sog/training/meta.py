"""What a checkpoint says of itself, meta.json: written, read and checked; it opens no file.

A hash covers all of it, and each file's size is stated.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from sog.errors import CheckpointError
from sog.files import bounded_json
from sog.nets.shape import NetworkShape
from sog.training.settings import algorithm_text

__all__ = ["FORMAT", "VERSION", "FileEntry", "Meta", "file_name", "meta_bytes", "meta_of"]

FORMAT: Final = "sog checkpoint"
VERSION: Final = 2
_HASH: Final = "sha256"
_CHESS, _CHESS_119 = "chess", "chess(inputs=paper)"  # what chess was called before it had `inputs`, and since
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
    """A file of the checkpoint by its name in the folder.  size: in bytes."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Meta:
    """What meta.json says.

    game: the game string.  run: the training run this belongs to; only that run may save here again.
    step: learner steps.  save: counts the saves of this run.  settings: those of the run, for people.
    files: by role: network; critic, for search on top of it; state and arrays, with which training continues.
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
        """The name of the algorithm that trained it; checkpoints that do not say have the default one."""
        return self.algorithm_text.partition("(")[0]

    @property
    def algorithm_text(self) -> str:
        """The algorithm string of the run that trained it."""
        return algorithm_text(self.settings)

    @property
    def network_id(self) -> str:
        """Which network it is: the first 16 hexadecimal digits of the weights' checksum."""
        return self.files["network"].sha256[:16]


def file_name(role: str, save: int) -> str:
    """What the file of a role is called in a save."""
    return _NAMES[role].format(save)


def meta_bytes(meta: Meta) -> bytes:
    """What meta.json holds. Raises ValueError for settings that JSON cannot hold, such as NaN."""
    stored = json.loads(json.dumps({"format": FORMAT, "version": VERSION, **asdict(meta)}, allow_nan=False))
    return (json.dumps({**stored, _HASH: _hash(stored)}, indent=1) + "\n").encode()


def meta_of(content: bytes) -> Meta:
    """What a meta.json says; ValueError where it is malformed or was changed, CheckpointError for another version."""
    stored = bounded_json(content)
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        raise ValueError("format")
    version = _whole(stored.get("version"))
    if version != VERSION:
        raise CheckpointError(f"checkpoint version {version}; this program reads {VERSION}")
    # The hash was taken without itself.
    if stored.pop(_HASH, None) != _hash(stored):
        raise CheckpointError("meta.json was changed")
    meta = Meta(
        _text(stored.get("game")),
        _text(stored.get("run")),
        _whole(stored.get("step"), 2**62),
        _whole(stored.get("save")),
        _shape_of(stored.get("shape")),
        _settings_of(stored.get("settings")),
        _files_of(stored.get("files"), stored.get("save")),
    )
    # Chess had AlphaZero's planes alone before it had `inputs`.
    return replace(meta, game=_CHESS_119) if meta.game == _CHESS and meta.shape.planes[:1] == (119,) else meta


def _hash(stored: dict[str, Any]) -> str:
    """Of all that meta.json says, however it is spaced and ordered."""
    # Sorted keys and no spaces: the hash is of what is said, not of how it is laid out.
    try:
        return hashlib.sha256(json.dumps(stored, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    except RecursionError as error:
        raise ValueError("too deep") from error


def _shape_of(stored: Any) -> NetworkShape:
    """Raises SettingError too, as a shape does that no network can have."""
    if not isinstance(stored, dict) or not set(stored) <= {field.name for field in fields(NetworkShape)}:
        raise ValueError("shape")
    slots, crossed, planes = (_wholes(stored.get(name, [])) for name in ("slots", "crossed", "planes"))
    flags = [stored.get(name) for name in ("matchups", "policies_apart", "ownership")]
    if len(slots) != 2 or not all(isinstance(flag, bool) for flag in flags):
        raise ValueError("shape")
    return NetworkShape(
        _whole(stored.get("features")),
        (slots[0], slots[1]),
        _whole(stored.get("actions")),
        _whole(stored.get("width")),
        _whole(stored.get("depth")),
        _text(stored.get("kind")),
        crossed,
        stored["matchups"],
        planes,
        _whole(stored.get("policy_planes", 0)),
        stored["policies_apart"],
        stored["ownership"],
        _whole(stored.get("value_planes")),
        _wholes(stored.get("legal_pairs", [])),  # of networks of before 29 November 2026, which have neither
        _text(stored.get("game", "")),
    )


def _settings_of(stored: Any) -> dict[str, Any]:
    """Of the run; where it states what the program reads again, that is of the right type."""
    if not isinstance(stored, dict):
        raise ValueError("settings")
    for name in _TEXTS:
        if not isinstance(stored.get(name, ""), str):
            raise ValueError(name)
    for name in _COUNTS:
        _whole(stored.get(name, 0))
    minutes = stored.get("minutes", 0.0)
    if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 <= minutes < _MOST:
        raise ValueError("minutes")
    if "variant" in stored:  # its algorithm's settings, which an algorithm string says since
        raise CheckpointError("a checkpoint of before 28 November 2026, which this program does not read")
    return stored


def _files_of(stored: Any, save: Any) -> dict[str, FileEntry]:
    """The files by role, each called what this save calls it."""
    if not isinstance(stored, dict) or "network" not in stored or ("state" in stored) != ("arrays" in stored):
        raise ValueError("files")
    entries = {}
    for role, entry in stored.items():
        # A file's name follows from its role and the save, so meta.json cannot point outside its folder.
        if role not in _NAMES or not isinstance(entry, dict) or entry.get("name") != file_name(role, save):
            raise ValueError("files")
        entries[role] = FileEntry(entry["name"], _text(entry.get("sha256")), _whole(entry.get("size"), 2**62))
    return entries


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
