"""Whether the papers' games train on this machine: how soon a run starts, what it holds, and when it ends.

    python -m soglab.checks.fits [GAME ...] [--preset NAME ...] [--minutes 3] [--workers 2] [--settings S] [--json]

One run of `sog train` in a new folder for each game and preset; where the program says that a setting makes it fit,
the run has that setting. --settings gives each run others, such as simulations=2,games=1, with which the papers'
presets end a round in minutes and show their bytes a row. Memory is that of the process and its workers, by looks a
second apart.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from soglab.checks.training_process import CASES, PaperCase, TrainingProcess, remedy_of, window_size

__all__ = ["RunFit", "fit_of"]

_PRESETS: Final = ("demo", "full", "paper")
_PATIENCE: Final = 240.0  # seconds after --minutes, after which a run is killed
_HEADINGS: Final = (
    "game | preset | set | loop s | search s | bytes a row | GB | searches/h/core | rows/h/core | rounds | over s"
)
_MOST_BYTES: Final = 12e9  # at which a run is killed, before the machine has no memory left


@dataclass(frozen=True)
class RunFit:
    """One run.

    setting: what had to be set.  begun: seconds until the training loop began.  start: until the first search was done.
    row_bytes: of a row.  peak: bytes held at most.  searches, rows: an hour and core.  rounds: that were finished.
    over: seconds from the loop's beginning to the end of the process, less compiling and the minutes asked for.
    refused: what the program said where it did not train.
    """

    game: str
    preset: str
    setting: str
    begun: float | None
    start: float | None
    row_bytes: int
    peak: int
    searches: float
    rows: float
    rounds: int
    over: float
    refused: str

    def __str__(self) -> str:
        if self.refused:
            return f"{self.game} | {self.preset} | {self.setting} | {self.refused}"
        begun, start = ("-" if x is None else f"{x:.1f}" for x in (self.begun, self.start))
        return (
            f"{self.game} | {self.preset} | {self.setting} | {begun} | {start} | {self.row_bytes:,} | "
            f"{self.peak / 1e9:.2f} | {self.searches:,.0f} | {self.rows:,.0f} | {self.rounds} | {self.over:+.1f}"
        )


def fit_of(case: PaperCase, preset: str, minutes: float, workers: int, folder: Path, settings: str = "") -> RunFit:
    """Train once in `folder`; again, with the setting that the program names, where it refuses for memory.

    settings: of the algorithm, beside the preset's.
    """
    setting, done = settings, _run(case, preset, settings, minutes, workers, folder / "run")
    if done.process.returncode and (remedy := remedy_of(done.messages)) is not None:
        setting = ",".join([*filter(None, [settings]), "=".join(remedy)])
        done = _run(case, preset, setting, minutes, workers, folder / "set")
    code, begun = done.process.returncode, done.begun or 0.0
    rows, size = window_size(done.folder / "checkpoint")
    hours = workers * max(1.0, done.ended - begun) / 3600.0
    return RunFit(
        case.name,
        preset,
        setting,
        done.begun,
        done.searched,
        size // max(1, rows),
        done.peak,
        (done.sum_of("searches") + done.sum_of("queries")) / hours,
        rows / hours,
        done.sum_of("games") and sum(1 for _ in (done.folder / "curve.csv").open()) - 1,
        done.ended - begun - done.compiled - 60.0 * minutes,
        "" if code == 0 else f"exit {code}: {(done.messages or [''])[-1]}",
    )


def _run(case: PaperCase, preset: str, setting: str, minutes: float, workers: int, out: Path) -> TrainingProcess:
    algorithm = f"{case.algorithm}({setting})" if setting else case.algorithm
    words = [case.string(preset), "--algorithm", algorithm, "--preset", preset, "--minutes", str(minutes)]
    running = TrainingProcess([*words, "--workers", str(workers), "--json"], out)
    running.watch(60.0 * minutes + _PATIENCE, _MOST_BYTES)
    return running


def fits(
    cases: list[PaperCase], presets: list[str], minutes: float, workers: int, settings: str = ""
) -> Iterator[RunFit]:
    """A run for each game and preset."""
    for case in cases:
        for preset in presets:
            with tempfile.TemporaryDirectory() as folder:
                yield fit_of(case, preset, minutes, workers, Path(folder), settings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [case.name for case in CASES]
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"of {', '.join(names)}; by default all")
    parser.add_argument("--preset", nargs="+", choices=_PRESETS, default=list(_PRESETS))
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--settings", default="", help="of the algorithm, beside the preset's")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()
    chosen = [case for case in CASES if case.name in (args.games or names)]
    if not args.json:
        print(f"load {os.getloadavg()[0]:.1f}; {args.minutes:g} minutes, {args.workers} workers")
        print(_HEADINGS)
    for fit in fits(chosen, args.preset, args.minutes, args.workers, args.settings):
        print(json.dumps(asdict(fit)) if args.json else fit, flush=True)


if __name__ == "__main__":
    main()
