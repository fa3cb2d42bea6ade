"""A training run read back from its folder: what it is, and its learning curve by columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sog.errors import CheckpointError, SettingError
from sog.files import shown
from sog.training.checkpoint import is_begun, load_meta
from sog.training.curve import Columns, read_curve

__all__ = ["RecordedRun", "load_run"]


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """A training run as its folder describes it.

    algorithm: its algorithm string.  round, minutes: how far it is.  curve: a column each of round, minutes (of
    training), steps, rows, games, searches, queries, value_loss, policy_loss and measured, a number a round.
    """

    folder: Path
    game: str
    algorithm: str
    preset: str
    seed: int
    round: int
    minutes: float
    curve: Columns


def load_run(folder: Path | str) -> RecordedRun:
    """A run that `sog train` or `sog.train` made, or still makes.

        curve = sog.load_run("runs/leduc").curve
        curve["minutes"], curve["measured"]              # float64[rounds]; NaN where nothing was measured

    CheckpointError where there is no run, no checkpoint of it yet, or a damaged curve; SettingError for no path.
    """
    if not isinstance(folder, str | Path):
        raise SettingError(f"a run is read from its folder, not from {folder!r}")
    folder = Path(folder)
    if not is_begun(folder / "checkpoint"):
        raise CheckpointError(f"{shown(folder)}: no run is there, or it has no checkpoint yet")
    meta = load_meta(folder / "checkpoint")
    settings, seed = meta.settings, meta.settings.get("seed")
    return RecordedRun(
        folder,
        meta.game,
        meta.algorithm_text,
        str(settings.get("preset", "")),
        seed if isinstance(seed, int) else 0,
        settings.get("round", 0),
        float(settings.get("minutes", 0.0)),
        read_curve(folder, shown(folder)),
    )
