"""Whether training ends when it is asked to, and loses nothing: SIGTERM, kill -9, and runs that are resumed.

    python -m soglab.checks.stops terms [GAME ...] [--preset demo] [--moments 5] [--full]
    python -m soglab.checks.stops kills [--moments 20] [--full]
    python -m soglab.checks.stops same

terms: `sog train` on the papers' games, with two workers, gets SIGTERM at random moments and is resumed each time.
kills: a run on Leduc poker that saves after every round is killed at random moments and continues from its checkpoint.
same: runs in one process that SIGTERM stopped at random moments, resumed, beside uninterrupted ones: the same bits.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import random
import shutil
import signal
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from sog.algorithms.table import settings_of
from sog.errors import SogError
from sog.games.catalog import make_game
from sog.nets.serialized import network_bytes
from sog.training import checkpoint, loop
from sog.training.replay import ReplayWindow
from sog.training.run import Hooks, Run
from sog.training.self_play import train
from sog.training.settings import TrainSettings
from soglab.bench.stopwatch import replaced
from soglab.checks.training_process import CASES, PaperCase, TrainingProcess, remedy_of

__all__ = ["Ended", "killed", "same_after_stops", "stopped"]

_LATEST: Final = 25.0  # seconds after the training loop began, or the run was resumed, at which SIGTERM comes
_PATIENCE: Final = 120.0
_RIVER: Final = "holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;1;allin)"
_SAME: Final = {"leduc_poker": 4, "connect_four": 4, _RIVER: 2}  # games a round
_ROUNDS: Final = 4
_LARGE: Final = 2**40  # rows: all that a checkpoint has


@dataclass
class Ended:
    """What SIGTERM did to a run.  seconds: until each process had ended.  faults: what was wrong, in words."""

    game: str
    preset: str
    seconds: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        middle, worst = (statistics.median(self.seconds), max(self.seconds)) if self.seconds else (0.0, 0.0)
        faults = "; ".join(self.faults) or "whole and resumed each time"
        return f"{self.game} | {self.preset} | {len(self.seconds)} | {middle:.1f} | {worst:.1f} | {faults}"


def stopped(case: PaperCase, preset: str, moments: int, draw: random.Random, folder: Path) -> Ended:
    """Send SIGTERM to a run on a game at random moments; it is resumed after each."""
    ended, setting, out = Ended(case.name, preset), "", folder / "run"
    while len(ended.seconds) < moments:
        algorithm = f"{case.algorithm}({setting})" if setting else case.algorithm
        words = [
            case.string(preset),
            "--algorithm",
            algorithm,
            "--preset",
            preset,
            "--workers",
            "2",
            "--resume",
        ]
        running = TrainingProcess(words, out)
        while running.process.poll() is None and running.begun is None and running.seconds < _PATIENCE:
            running.look()
            time.sleep(0.2)
        if running.process.poll() is None:
            time.sleep(draw.uniform(0.0, _LATEST))
            sent = time.monotonic()
            running.stop()
            code = running.watch(_PATIENCE + running.seconds, float("inf"))
            ended.seconds.append(time.monotonic() - sent)
            ended.faults += [] if code in (143, -signal.SIGTERM) else [f"exit {code}"]
            ended.faults += _faults(out / "checkpoint")
            continue
        running.end()
        remedy = remedy_of(running.messages)
        if setting or remedy is None:
            ended.faults.append((running.messages or ["it ended by itself"])[-1])
            break
        setting = "=".join(remedy)
    return ended


def _faults(folder: Path) -> list[str]:
    """What is wrong with a checkpoint, which is to load whole, with all rows of its window."""
    try:
        _, network, _ = checkpoint.load_network(folder)
        window = ReplayWindow(network.shape, _LARGE, folder)
        window.restore(checkpoint.load_state(folder)["replay"])
        window.close()
    except SogError as error:
        return [str(error)]
    return []


def _forked(work: Callable[[], object], seconds: float, number: int) -> None:
    """Do work in a process that begins as a copy of this one, and send it a signal after these seconds."""
    process = multiprocessing.get_context("fork").Process(target=_quietly, args=(work,))
    process.start()
    process.join(None if math.isinf(seconds) else seconds)
    if process.is_alive() and process.pid is not None:
        os.kill(process.pid, number)
    process.join()


def _quietly(work: Callable[[], object]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    work()


def killed(moments: int, draw: random.Random, folder: Path) -> tuple[int, int, list[str]]:
    """Kill -9 a run that saves after every round; rounds at the end, rows in the window at the end, and faults."""
    run, out, rounds = Run("leduc_poker", algorithm="sog(simulations=5,games=32)"), folder / "run", folder / "said"
    settings = settings_of(make_game(run.game), run.preset, run.algorithm)
    assert isinstance(settings, TrainSettings)
    settings = replace(settings, rounds=10**6)

    def keep_saving() -> None:
        def saved(*given: Any) -> Any:
            meta = save(*given)
            if meta.settings.get("round") is not None and given[0] == out / "checkpoint":
                rounds.write_text(str(meta.settings["round"]))
            return meta

        save = checkpoint.save

        def due(took: float) -> float:
            return time.monotonic()

        with replaced(checkpoint, "save", saved), replaced(loop, "next_save", due):
            train(run, settings, out, None, resume=True, hooks=Hooks())

    # Kernels are compiled before, or a new checkout is killed each time before its first checkpoint.
    train(run, replace(settings, rounds=1), folder / "compiled")
    faults, rows = [], 0
    for _ in range(moments):
        _forked(keep_saving, draw.uniform(1.0, 4.0), signal.SIGKILL)
        if not checkpoint.is_begun(out / "checkpoint"):
            continue
        state = checkpoint.load_state(out / "checkpoint")
        written = int(rounds.read_text() or 0) if rounds.exists() else 0
        if int(state["round"]) < written:
            faults.append(f"round {state['round']} of {written} that were saved")
        if state["points"] and int(state["replay"]["added"]) != int(state["points"][-1][3]):
            faults.append(f"{state['replay']['added']} rows, not {state['points'][-1][3]}")
        faults += _faults(out / "checkpoint")
        rows = int(state["replay"]["added"]) - int(state["replay"]["oldest"])
    return int(checkpoint.load_state(out / "checkpoint")["round"]), rows, faults


def same_after_stops(game: str, games: int, draw: random.Random, folder: Path) -> tuple[int, bool]:
    """How often a run was stopped, at least once, and whether its checkpoint is the uninterrupted run's to the bit."""
    run = Run(game, algorithm=f"sog(games={games})")
    settings = settings_of(make_game(run.game), run.preset, run.algorithm)
    assert isinstance(settings, TrainSettings)
    settings, out = replace(settings, rounds=_ROUNDS), folder / "often"
    train(run, settings, folder / "once")
    # A second time, since now the kernels are compiled and loaded, as they will be where the signal comes.
    started = time.monotonic()
    _forked(lambda: train(run, settings, folder / "twice"), math.inf, signal.SIGTERM)
    took, stops = time.monotonic() - started, 0
    while True:
        _forked(lambda: train(run, settings, out, None, True), draw.uniform(0.2, 0.6) * took, signal.SIGTERM)
        if not checkpoint.is_begun(out / "checkpoint"):
            took *= 2.0  # the signal came before the first checkpoint
        elif int(checkpoint.load_state(out / "checkpoint")["round"]) < _ROUNDS:
            stops += 1
        elif stops:
            return stops, _decides(folder / "once") == _decides(folder / "twice") == _decides(out)
        else:
            took *= 0.5  # it came after the end
            shutil.rmtree(out)


def _decides(out: Path) -> list[bytes | str]:
    """All of a run's checkpoint that decides how it continues; the clock does not."""
    _, network, _ = checkpoint.load_network(out / "checkpoint")
    state = checkpoint.load_state(out / "checkpoint")
    minutes = 1
    points = [[str(x) for k, x in enumerate(point) if k != minutes] for point in state.pop("points")]
    for name in ("seconds", "processor"):
        state.pop(name)
    return [network_bytes(network), str(points), *_flat(state)]


def _flat(value: Any) -> list[bytes | str]:
    if isinstance(value, dict):
        return [part for key in sorted(value) for part in (key, *_flat(value[key]))]
    return [value.tobytes() if isinstance(value, np.ndarray) else json.dumps(value)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["terms", "kills", "same"])
    names = [case.name for case in CASES]
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"of {', '.join(names)}; by default all")
    parser.add_argument("--preset", nargs="+", default=["demo", "full", "paper"])
    parser.add_argument("--moments", type=int, help="by default 5 of terms, 20 of kills; with --full 20 and 50")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    draw = random.Random(args.seed)
    if args.what == "terms":
        print("game | preset | moments | seconds to the end, median | worst | checkpoints")
        for case in CASES:
            for preset in args.preset if case.name in (args.games or names) else ():
                with tempfile.TemporaryDirectory() as folder:
                    moments = args.moments or (20 if args.full else 5)
                    print(stopped(case, preset, moments, draw, Path(folder)), flush=True)
    elif args.what == "kills":
        with tempfile.TemporaryDirectory() as folder:
            moments = args.moments or (50 if args.full else 20)
            done, rows, faults = killed(moments, draw, Path(folder))
        print(f"{moments} kills, {done} rounds, {rows:,} rows at the end; faults: {faults or 'none'}")
    else:
        for game, games in _SAME.items():
            with tempfile.TemporaryDirectory() as folder:
                stops, same = same_after_stops(game, games, draw, Path(folder))
            print(f"{game}: stopped {stops} times, {'the same bits' if same else 'DIFFERENT'}", flush=True)


if __name__ == "__main__":
    main()
