"""Watches long self-play trainings from outside: memory, open files, shared memory and rows a processor second.

    python -m tests.soak --minutes 120 --out runs/soak

It starts `sog train` on two games, with the demo preset's settings or those of --presets, samples both process trees
from /proc, and writes soak.csv, soak.png and a slope an hour with its interval for each figure. It knows the program by
its command line, its curve.csv and the files of its replay window.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np

GAMES: Final = ("leduc_poker", "connect_four")
EVERY: Final = 10.0  # seconds between two samples
LOOK: Final = 0.5  # seconds between two looks at curve.csv, so that its rows go with the right processor time
WARM: Final = 10.0  # minutes that no slope counts
BIN: Final = 5.0  # minutes whose median is one point of a slope: neighbouring samples are not independent
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Sample:
    """One game's figures at a moment. Those after `files` come from the latest curve.csv.

    seconds: since the start.  processor: seconds of the whole tree.  memory: resident MB.  shm: MB in /dev/shm of
    the whole machine.  rows: ever added to the replay window.  replay: MB of the replay window's files.
    rate: rows a processor second between the two latest saves.
    """

    game: str
    seconds: float
    processor: float
    memory: float
    files: int
    shm: float
    rows: int
    games: int
    replay: float
    rate: float


@dataclass(frozen=True)
class Tree:
    """What /proc says of a process and its descendants."""

    processor: float
    memory: float
    files: int


class Training:
    """A `sog train` process, and what its curve said last."""

    def __init__(self, game: str, preset: str, shipped: bool, minutes: float, out: Path) -> None:
        self.game, self.folder = game, out / game
        self.rows = self.games = 0
        self.rate = math.nan
        self._seen, self._last = 0, (0, math.nan)
        words = ["train", game, "--preset", preset, "--workers", "1", "--minutes", f"{minutes:g}"]
        words += ["--rounds", str(10**9), "--out", str(self.folder)]
        words += ["--from", game] if shipped else []
        self.log = (out / f"{game}.log").open("w")
        self.process = subprocess.Popen(
            ["nice", "-n", "5", sys.executable, "-m", "sog", *words], stdout=self.log, stderr=self.log
        )

    def look(self) -> None:
        """Read the curve where a save has written it anew."""
        curve = self.folder / "curve.csv"
        changed = curve.stat().st_mtime_ns if curve.exists() else 0
        if changed == self._seen:
            return
        processor = tree_of(self.process.pid).processor
        with curve.open() as file:
            points = list(csv.DictReader(file))
        if not points or not points[-1].get("rows"):
            return
        self._seen, self.rows = changed, int(float(points[-1]["rows"]))
        self.games = sum(int(float(point["games"])) for point in points if point.get("games"))
        before, at = self._last
        self._last = self.rows, processor
        if processor > at:
            self.rate = (self.rows - before) / (processor - at)

    def sample(self, seconds: float) -> Sample:
        tree = tree_of(self.process.pid)
        replay = sum(file.stat().st_size for file in self.folder.glob("checkpoint/rows.*.bin")) / 1e6
        return Sample(
            self.game, seconds, tree.processor, tree.memory, tree.files, shm(), self.rows, self.games, replay, self.rate
        )


def tree_of(root: int) -> Tree:
    """A process with its descendants; zeros for those that have ended."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            stat = _stat(int(entry.name))
            if stat is not None:
                children.setdefault(int(stat[1]), []).append(int(entry.name))
    waiting, processor, memory, files = [root], 0.0, 0.0, 0
    while waiting:
        pid = waiting.pop()
        waiting += children.get(pid, [])
        stat = _stat(pid)
        if stat is None:
            continue
        processor += (int(stat[11]) + int(stat[12])) / TICKS
        memory += int(stat[21]) * PAGE / 1e6
        try:
            files += len(os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            continue
    return Tree(processor, memory, files)


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat after the name: state, parent, ...; None where there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def shm() -> float:
    """MB in /dev/shm."""
    space = os.statvfs("/dev/shm")
    return (space.f_blocks - space.f_bfree) * space.f_frsize / 1e6


def watch(minutes: float, presets: list[str], shipped: list[str], out: Path) -> list[Sample]:
    """Run both trainings and sample them until both have ended; soak.csv grows on the way."""
    out.mkdir(parents=True)
    chosen = zip(GAMES, presets, strict=True)
    trainings = [Training(game, preset, game in shipped, minutes, out) for game, preset in chosen]
    samples: list[Sample] = []
    begun, due = time.monotonic(), EVERY
    with (out / "soak.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Sample)])
        try:
            while any(training.process.poll() is None for training in trainings):
                time.sleep(LOOK)
                alive = [training for training in trainings if training.process.poll() is None]
                for training in alive:
                    training.look()
                seconds = time.monotonic() - begun
                if seconds < due:
                    continue
                due += EVERY
                for training in alive:
                    samples.append(training.sample(round(seconds, 1)))
                    writer.writerow([f"{x:.6g}" if isinstance(x, float) else x for x in asdict(samples[-1]).values()])
                file.flush()
        finally:
            for training in trainings:
                training.process.terminate()
                training.process.wait()
                training.log.close()
    codes = {training.game: training.process.returncode for training in trainings}
    if any(codes.values()):
        raise SystemExit(f"a training ended with an error: {codes}; see the logs in {out}")
    return samples


def figures(samples: list[Sample]) -> dict[str, tuple[np.ndarray, str]]:
    """What must stay flat, by name, with its unit. The replay window's rows are counted out of the memory."""
    names = ("memory", "replay", "files", "shm", "rate")
    column = {name: np.array([getattr(s, name) for s in samples]) for name in names}
    return {
        "memory without the replay window's rows": (column["memory"] - column["replay"], "MB"),
        "memory": (column["memory"], "MB"),
        "open files": (column["files"], "files"),
        "/dev/shm": (column["shm"], "MB"),
        "rate": (column["rate"], "rows per processor second"),
    }


def slope(minutes: np.ndarray, values: np.ndarray) -> tuple[float, float, float, float]:
    """Mean, slope an hour, and the ends of its 95% interval, from medians of BIN minutes after the warm-up."""
    from scipy import stats

    bins = np.floor(minutes / BIN)
    kept = [b for b in np.unique(bins) if b * BIN >= WARM and np.isfinite(values[bins == b]).any()]
    y = np.array([np.nanmedian(values[bins == b]) for b in kept])
    if len(y) < 3:
        return float(np.nanmean(values)), math.nan, math.nan, math.nan
    x = (np.array(kept) + 0.5) * BIN / 60.0
    fit = stats.linregress(x, y)
    half = float(stats.t.ppf(0.975, len(y) - 2)) * fit.stderr
    return float(y.mean()), fit.slope, fit.slope - half, fit.slope + half


def say(samples: list[Sample], out: Path) -> None:
    """A line for each game and figure, the picture, and one JSON object on the last line."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    answer: dict[str, dict[str, dict[str, float | None]]] = {}
    names = list(figures(samples))
    picture, axes = plt.subplots(len(names), len(GAMES), figsize=(12, 2.3 * len(names)), sharex=True, squeeze=False)
    for g, game in enumerate(GAMES):
        own = [s for s in samples if s.game == game]
        minutes = np.array([s.seconds for s in own]) / 60.0
        for k, (name, (values, unit)) in enumerate(figures(own).items()):
            mean, rise, low, high = slope(minutes, values)
            print(f"{game}: {name}: mean {mean:.5g} {unit}, slope {rise:+.3g} an hour [{low:+.3g}, {high:+.3g}]")
            found = {"mean": mean, "slope": rise, "low": low, "high": high}
            answer.setdefault(game, {})[name] = {key: x if math.isfinite(x) else None for key, x in found.items()}
            axes[k, g].plot(minutes, values, linewidth=0.8)
            axes[k, g].axvspan(0, min(WARM, minutes.max()), color="0.92")
            axes[k, g].set(ylabel=unit, title=f"{game}: {name}, {rise:+.3g} an hour [{low:+.3g}, {high:+.3g}]")
            axes[k, g].title.set_fontsize(8)
            axes[k, g].set_ylim(bottom=0)
    for axis in axes[-1]:
        axis.set_xlabel("minutes (grey: warm-up, left out of the slopes)")
    picture.tight_layout()
    picture.savefig(out / "soak.png", dpi=120)
    print(json.dumps(answer))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--minutes", type=float, default=120.0, help="how long both trainings run")
    parser.add_argument("--presets", nargs=len(GAMES), default=["demo"] * len(GAMES), help=f"of {', '.join(GAMES)}")
    parser.add_argument("--from-shipped", nargs="*", default=[], choices=GAMES, help="begin with shipped networks")
    parser.add_argument("--out", type=Path, required=True, help="a new folder")
    options = parser.parse_args()
    say(watch(options.minutes, options.presets, options.from_shipped, options.out), options.out)


if __name__ == "__main__":
    main()
