"""`sog train` as a process, as a user starts it: the papers' games, a run's memory over time, and how it ends."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sog.cli.app import main as command
from sog.cli.train_watch import Watch
from sog.games.strings import parse_game, write_game
from sog.play.tally import RoundSoFar
from sog.searches.kernels.compiling import WATCH
from sog.training.checkpoint import is_begun, load_state
from sog.training.curve import CURVE
from soglab.bench.stopwatch import replaced

__all__ = ["CASES", "PaperCase", "TrainingProcess", "memory_of", "remedy_of", "window_size"]

_TURN: Final = "holdem(board=turn,pot=2000,stacks=5000:50000,bets=0.5;1;allin,raises=0.75;allin,noise=0.1)"
_REMEDY: Final = re.compile(r"the setting (\w+)=([\w.]+)")


@dataclass(frozen=True)
class PaperCase:
    """A game that the papers train on, and by which algorithm.  game: its string."""

    name: str
    game: str
    algorithm: str = "sog"

    def string(self, preset: str = "demo") -> str:
        """The game string; the papers' networks of hold'em, Scotland Yard and chess have the papers' inputs."""
        short, values = parse_game(self.game)
        papers = preset == "paper" and short in ("holdem", "scotland_yard", "chess")
        return write_game(short, {**values, "inputs": "paper"}) if papers else self.game


CASES: Final = (
    PaperCase("holdem", "holdem"),
    PaperCase("turn", _TURN),
    PaperCase("turn-rebel", _TURN, "rebel"),
    PaperCase("london", "scotland_yard(map=london)"),
    PaperCase("cut40", "scotland_yard(map=london40)"),
    PaperCase("chess", "chess"),
    PaperCase("go19", "go(board_size=19,komi=7.5)"),
)


@dataclass
class TrainingProcess:
    """A run of `sog train` in a process of its own, from its start; `watch` follows it to its end.

    words: what follows `sog train`.  folder: the run's.  started: on the monotonic clock.
    peak: bytes that it and its workers held together at most, by looks a second apart.
    begun: seconds until the training loop began.  searched: until the first search was done.  ended: until its end.
    compiled: of its time, what it waited for kernels to be compiled.  messages: all else on stderr.
    """

    words: list[str]
    folder: Path
    peak: int = 0
    begun: float | None = None
    searched: float | None = None
    ended: float = 0.0
    compiled: float = 0.0
    messages: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        command = [sys.executable, "-m", "soglab.checks.training_process", *self.words, "--out", str(self.folder)]
        self.started = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def seconds(self) -> float:
        """Since its start."""
        return time.monotonic() - self.started

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if line.startswith(_SEARCHED):
                self.searched = self.seconds if self.searched is None else self.searched
            elif line.startswith(_COMPILED):
                self.compiled = float(line.removeprefix(_COMPILED))
            else:
                self.messages.append(line.strip())

    def watch(self, most: float, most_bytes: float) -> int:
        """Follow it to its end; its exit code. It is killed after this many seconds, or where it holds more."""
        while self.process.poll() is None:
            self.look()
            if self.seconds > most or self.peak > most_bytes:
                self.kill()
            try:
                self.process.wait(1.0)
            except subprocess.TimeoutExpired:
                continue
        return self.end()

    def look(self) -> None:
        """Take its memory, and see how far it is."""
        self.peak = max(self.peak, memory_of(self.process.pid))
        if self.begun is None and (self.folder / "snapshots" / "000000" / "meta.json").exists():
            self.begun = self.seconds

    def stop(self) -> None:
        """Send it SIGTERM."""
        self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once; its workers end with it."""
        self.process.kill()

    def end(self) -> int:
        """Its exit code, with all that it said read."""
        code = self.process.wait()
        self.ended = self.seconds
        self._reader.join(5.0)
        return code

    def answer(self) -> dict[str, float]:
        """What it printed with --json; empty where it printed nothing."""
        assert self.process.stdout is not None
        text = self.process.stdout.read()
        printed: dict[str, float] = json.loads(text) if text.strip() else {}
        return printed

    def sum_of(self, column: str) -> int:
        """The sum of a column of its curve."""
        path = self.folder / CURVE
        if not path.exists():
            return 0
        with path.open() as file:
            return sum(int(row[column]) for row in csv.DictReader(file))


def remedy_of(messages: list[str]) -> tuple[str, str] | None:
    """The setting and the value that a refusal for memory names; None where no message is one."""
    matches = [match for line in messages if (match := _REMEDY.search(line))]
    return (matches[-1][1], matches[-1][2]) if matches else None


def window_size(checkpoint: Path) -> tuple[int, int]:
    """The rows in the files of a checkpoint's replay window, and their bytes."""
    if not is_begun(checkpoint):
        return 0, 0
    replay = load_state(checkpoint)["replay"]
    files = replay["files"]
    return (int(replay["added"]) - int(files[0]["first"]) if files else 0), sum(int(one["size"]) for one in files)


def memory_of(process: int) -> int:
    """The bytes that a process and all its descendants hold, with what several share counted once."""
    held, parents = 0, dict[int, int]()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # it has just ended
                continue
    wanted = {process}
    for child in sorted(parents):  # twice, since a child's number may be below its parent's
        wanted |= {child} if parents[child] in wanted else set()
    for child in sorted(parents):
        wanted |= {child} if parents[child] in wanted else set()
    for one in wanted:
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        held += sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return held


_SEARCHED: Final = "soglab: the first search is done"
_COMPILED: Final = "soglab: seconds of compiling: "


def main() -> None:
    """Run `sog train` with these words, and say on stderr when the first search is done."""

    def playing(watch: Watch, done: RoundSoFar) -> None:
        if done.searches + done.queries:
            print(_SEARCHED, file=sys.stderr, flush=True)
        shown(watch, done)

    shown = Watch.playing
    with replaced(Watch, "playing", playing):
        code = command(["train", *sys.argv[1:]])
    print(f"{_COMPILED}{WATCH.seconds():.1f}", file=sys.stderr, flush=True)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
