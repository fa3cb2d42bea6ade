"""The checkpoints that come with the package: their folders and games, found without loading what networks need."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Final

from sog.errors import CheckpointError
from sog.files import bounded_json, open_regular, read_bounded, shown

__all__ = ["shipped_checkpoints", "shipped_games"]

_MOST: Final = 2**20  # bytes of a meta.json


def shipped_checkpoints() -> list[Path]:
    """The folders of the checkpoints that come with the package."""
    root = Path(str(resources.files("sog"))) / "checkpoints"
    return sorted(folder.parent for folder in root.glob("*/meta.json"))


def shipped_games() -> list[str]:
    """The game strings that a checkpoint comes with the package for, each once; CheckpointError for a damaged one."""
    return sorted({_game(folder) for folder in shipped_checkpoints()})


def _game(folder: Path) -> str:
    """The game that a checkpoint states; `sog.training.checkpoint.load_meta` checks all of what it states."""
    try:
        with open_regular(folder / "meta.json", _MOST) as (file, size):
            game = bounded_json(read_bounded(file, size))["game"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{shown(folder)}: meta.json cannot be read or is not a checkpoint's") from error
    return str(game)
