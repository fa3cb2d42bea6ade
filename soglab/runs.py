"""Training runs as experiments measure them: checkpoint, networks in the order of training, one while it trains."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import NamedTuple, TypeVar

from sog.errors import CheckpointError, SettingError
from sog.training.checkpoint import Meta, load_meta
from sog.training.curve import Point
from sog.training.run import Hooks, Run, end_of
from sog.training.self_play import train
from sog.training.settings import TrainSettings
from sog.training.shipped import find_checkpoint

_T = TypeVar("_T")


class TrainedNetwork(NamedTuple):
    """A network of a run.  folder: of the snapshot or checkpoint that holds it.  meta: what that says of itself."""

    folder: Path
    meta: Meta


def checkpoint_of(run: Path) -> Path:
    """The folder of a run's checkpoint; `run` itself where that is a checkpoint's."""
    return run / "checkpoint" if (run / "checkpoint").is_dir() else run


def run_folder(checkpoint: Path) -> Path:
    """The folder of the run that a checkpoint or a snapshot belongs to."""
    return checkpoint.parent if checkpoint.name == "checkpoint" else checkpoint.parent.parent


def networks_of(run: Path) -> list[TrainedNetwork]:
    """A run's different networks by learner step: its snapshots, and its checkpoint where that has learned on.

    One that lies in several places is named by its snapshot, which stays as it is. CheckpointError where there is
    none, or where they belong to several games.
    """
    snapshots = sorted(path for path in (run / "snapshots").glob("*") if path.is_dir())
    latest = [] if snapshots and checkpoint_of(run) == run else [checkpoint_of(run)]
    every = [TrainedNetwork(folder, load_meta(folder)) for folder in [*snapshots, *latest]]
    every.sort(key=lambda network: (network.meta.step, network.folder.name == "checkpoint"))
    networks: list[TrainedNetwork] = []
    for folder, meta in every:
        if meta.game != every[0].meta.game:
            raise CheckpointError(f"{run} holds networks of {every[0].meta.game} and of {meta.game}")
        if all(meta.step != other.step and meta.network_id != other.network_id for _, other in networks):
            networks.append(TrainedNetwork(folder, meta))
    return networks


def training_minutes(meta: Meta) -> float:
    """How long a network was trained: processor time where the run had one process, else the clock's; NaN if unsaid."""
    settings = meta.settings
    alone = settings.get("workers") == 1 and "processor_minutes" in settings
    return float(settings["processor_minutes"] if alone else settings.get("minutes", math.nan))


def spread(items: Sequence[_T], limit: int | None) -> list[_T]:
    """At most `limit` of them, evenly spread, with the first and the last; the last alone where it is one."""
    if limit is None or len(items) <= limit:
        return list(items)
    if limit == 1:
        return [items[-1]]
    return [items[k] for k in sorted({round(j * (len(items) - 1) / (limit - 1)) for j in range(limit)})]


def runs_there(known: Sequence[Path], game: str) -> list[Path]:
    """Those of the known runs that exist; if none does, a SettingError that says how to train one of `game`."""
    runs = [run for run in known if run.is_dir()]
    if not runs:
        raise SettingError(
            f"no training run in {known[0]}: make one (`sog train {quote(game)}`) or name one with --run"
        )
    return runs


def one_game(checkpoints: Iterable[str]) -> str:
    """The game that the networks of all these folders play; SettingError where they play several."""
    games = {load_meta(Path(folder)).game for folder in checkpoints}
    if len(games) > 1:
        raise SettingError(f"the runs are of different games: {', '.join(sorted(games))}")
    (game,) = games
    return game


def train_watched(run: Run, settings: TrainSettings, out: Path, report: Callable[[Point], bool]) -> None:
    """Train until `report`, which is given the point of each round, says that it has seen enough."""

    class Enough(Exception):
        pass

    def look(point: Point, total: int) -> None:
        if report(point):
            raise Enough

    with suppress(Enough):
        train(run, settings, out, hooks=Hooks(report=look))


def networks_on(game: str, runs: Sequence[Path]) -> list[dict[str, str]]:
    """{checkpoint, network} of each run or checkpoint, or of the game's shipped network where none is named.

    SettingError for one of another game. A board's network may see other `inputs`.
    """
    networks = []
    for named in [str(run) for run in runs] or [game]:
        folder = find_checkpoint(named)
        meta = load_meta(folder)
        if meta.game.partition("(inputs=")[0] != game:
            raise SettingError(f"{named} plays {meta.game}, not {game}")
        networks.append({"checkpoint": str(folder), "network": meta.network_id})
    return networks


def check_unchanged(folder: Path, network_id: str) -> None:
    """CheckpointError where the folder holds another network than when the experiment was planned."""
    if load_meta(folder).network_id != network_id:
        raise CheckpointError(f"{folder} has learned on since the experiment was planned; the same command plans anew")


def short_names(checkpoints: Iterable[str]) -> dict[str, str]:
    """For each checkpoint the end of its folder's name, for tables and legends; empty where there is only one."""
    several = list(dict.fromkeys(folder for folder in checkpoints if folder))
    return {folder: end_of(folder) for folder in several} if len(several) > 1 else {}


def made_of(settings: object) -> str:
    """Names what a run is trained with, so that points of other settings are not taken for these."""
    return hashlib.sha256(repr(settings).encode()).hexdigest()[:12]
