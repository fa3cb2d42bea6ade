"""Trains OpenSpiel's own AlphaZero for this many processor minutes of all its processes.

    python -m soglab.baselines.openspiel_alphazero.train connect_four --minutes 120 --out runs/openspiel-az

OpenSpiel's trainer runs untouched or with compiled answers of its network (--untouched, see compiled.py), with one
actor and no evaluators, in a process group of its own, on one thread each. Its folder then holds its configuration,
logs and last checkpoint, and trained.json: what it used.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any, Final

from sog.errors import SettingError, SogError
from sog.games.catalog import make_game
from sog.opponents.openspiel_alphazero.settings import (
    INPUTS,
    MODELS,
    ONE_CORE,
    PLANES,
    AzSettings,
    AzTraining,
    newest_checkpoint,
    require_extra,
    write_record,
)
from sog.opponents.rating import spiel_state
from soglab.baselines.openspiel_alphazero.group import Group

__all__ = ["train"]

_LOOK: Final = 0.25  # seconds between two looks at the processor time
_REPORT_EVERY: Final = 15.0
_MOST_CHECKPOINTS: Final = 3  # checkpoints during training; the actor may just be reading the one before the last
_TRAINER: Final = "soglab.baselines.openspiel_alphazero.trainer"
_PACKAGES: Final = ("open-spiel", "jax", "flax", "optax", "orbax-checkpoint", "chex")


def train(
    name: str, minutes: float, out: Path, settings: AzSettings, say: Callable[[str], None] = lambda line: None
) -> AzTraining:
    """Train until the processes have used this many processor minutes; none of them lives on.

    say: given a line of progress now and then. SettingError where `out` exists, the trainer ends by itself or no
    checkpoint was written in time. KeyboardInterrupt ends it sooner, and what it has is kept and recorded.
    """
    require_extra()
    settings.check()
    if not (minutes > 0 and math.isfinite(minutes)):
        raise SettingError(f"minutes must be above 0, not {minutes:g}")
    game = make_game(name)
    if settings.inputs == PLANES and name != "connect_four":
        raise SettingError(f"only connect_four has planes of ours for OpenSpiel's AlphaZero, not {name}")
    spiel = str(spiel_state(game, game.root()).get_game())
    _new_folder(out)
    training = _Training(out, spiel, settings, 60.0 * minutes, say)
    try:
        training.watch()
    finally:
        training.end(name)
    return training.record(name)


class _Training:
    """OpenSpiel's trainer at work in a folder, for this many processor seconds."""

    def __init__(self, out: Path, spiel: str, settings: AzSettings, limit: float, say: Callable[[str], None]) -> None:
        self.out, self.settings, self.limit, self.say = out, settings, limit, say
        arguments = {"game": spiel, "path": str(out.resolve()), "parent": os.getpid(), "settings": asdict(settings)}
        with (out / "output.txt").open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", _TRAINER, json.dumps(arguments)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **ONE_CORE, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
        self.group = Group(self.process.pid)
        self.started, self.used, self.clock = time.monotonic(), 0.0, 0.0

    def watch(self) -> None:
        """Return when the time is used up."""
        reported = self.started
        while (used := self._look()) < self.limit:
            if self.process.poll() is not None:
                raise SettingError(f"OpenSpiel's trainer has ended by itself; {self.out / 'output.txt'} says why")
            if time.monotonic() - reported > _REPORT_EVERY:
                reported = time.monotonic()
                self.say(self._progress(used))
            self._forget()
            time.sleep(_LOOK)

    def end(self, name: str) -> None:
        """End every process; keep the last checkpoint and the record of it."""
        self._look()
        self.group.end()
        self.process.wait()
        newest = newest_checkpoint(self.out)
        for path in self.out.glob("checkpoint-*"):  # one that was just being written has a longer name
            if path.name != f"checkpoint-{newest}":
                shutil.rmtree(path)
        if newest is not None:
            write_record(self.out, self.record(name))

    def record(self, name: str) -> AzTraining:
        """What the training has done so far."""
        checkpoint, counts = newest_checkpoint(self.out), _learned(self.out)
        if checkpoint is None:
            raise SettingError(f"{self.used:.0f} processor seconds were too short for a first checkpoint")
        return AzTraining(
            name,
            self.used / 60.0,
            self.clock / 60.0,
            _played(self.out),
            counts.games,
            counts.positions,
            counts.steps,
            checkpoint,
            self.settings,
            {package: version(package) for package in _PACKAGES},
        )

    def _look(self) -> float:
        self.used, self.clock = self.group.seconds(), time.monotonic() - self.started
        return self.used

    def _progress(self, used: float) -> str:
        played, steps = _played(self.out), _learned(self.out).steps
        left = (self.limit - used) * self.clock / max(used, 1e-9) / 60.0
        rate = played / max(used / 60.0, 1e-9)
        return (
            f"{used / 60.0:.1f} of {self.limit / 60.0:g} processor minutes, {played} games, {steps} steps, "
            f"{rate:.1f} games a processor minute, {left:.1f} minutes left"
        )

    def _forget(self) -> None:
        """Checkpoints that nobody reads any longer."""
        newest = newest_checkpoint(self.out) or 0
        for step in range(newest - _MOST_CHECKPOINTS, -1, -1):
            path = self.out / f"checkpoint-{step}"
            if not path.exists():
                break
            shutil.rmtree(path)


@dataclass(frozen=True)
class _Learned:
    steps: int = 0
    games: int = 0
    positions: int = 0


def _learned(out: Path) -> _Learned:
    """From the learner's own log, whose last line may be half written."""
    path, last = out / "learner.jsonl", _Learned()
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            entry = json.loads(line)
            last = _Learned(entry["step"], entry["total_trajectories"], entry["total_states"])
        except (ValueError, KeyError):
            continue
    return last


def _played(out: Path) -> int:
    """Games that the actor's log says have ended."""
    path = out / "log-actor-0.txt"
    return len(re.findall(r"\bGame \d+: Returns", path.read_text())) if path.exists() else 0


def _new_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True)
    except FileExistsError as error:
        raise SettingError(f"{out} exists; name another folder") from error
    except OSError as error:
        raise SettingError(f"{out} cannot be made: {error.strerror}") from error


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt(number)


def _settings(chosen: argparse.Namespace) -> AzSettings:
    names = {field.name for field in fields(AzSettings)} - {"compiled"}
    given: dict[str, Any] = {name: getattr(chosen, name) for name in names}
    return AzSettings(**given, compiled=not chosen.untouched)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and print the record; 2 where that cannot be, 130 after Ctrl-C, 143 after SIGTERM."""
    default = AzSettings()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", help="connect_four, for one")
    parser.add_argument("--minutes", type=float, required=True, help="of processor time, all processes together")
    parser.add_argument("--out", type=Path, required=True, help="a new folder")
    parser.add_argument("--model", dest="nn_model", choices=MODELS, default=default.nn_model)
    parser.add_argument("--inputs", choices=INPUTS, default=default.inputs, help="planes: ours, connect four alone")
    parser.add_argument("--width", dest="nn_width", type=int, default=default.nn_width)
    parser.add_argument("--depth", dest="nn_depth", type=int, default=default.nn_depth)
    parser.add_argument("--simulations", dest="max_simulations", type=int, default=default.max_simulations)
    parser.add_argument("--learning-rate", type=float, default=default.learning_rate)
    parser.add_argument("--batch", dest="train_batch_size", type=int, default=default.train_batch_size)
    parser.add_argument("--buffer", dest="replay_buffer_size", type=int, default=default.replay_buffer_size)
    parser.add_argument("--reuse", dest="replay_buffer_reuse", type=int, default=default.replay_buffer_reuse)
    parser.add_argument("--uct-c", type=float, default=default.uct_c)
    parser.add_argument("--temperature-drop", type=int, default=default.temperature_drop)
    parser.add_argument("--untouched", action="store_true", help="nothing of the library compiled by us")
    chosen = parser.parse_args(arguments)
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        say = lambda line: print(line, file=sys.stderr, flush=True)  # noqa: E731
        trained = train(chosen.game, chosen.minutes, chosen.out, _settings(chosen), say)
    except SogError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        print(f"stopped; its last checkpoint, where there is one, is kept in {chosen.out}", file=sys.stderr)
        return 128 + (error.args[0] if error.args else signal.SIGINT)
    finally:
        signal.signal(signal.SIGTERM, before)
    print(json.dumps(asdict(trained)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
