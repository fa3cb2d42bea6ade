"""Kills trainings with two workers at random moments: nothing is lost past the last checkpoint and nothing lives on.

A case starts `sog train --resume`, which here saves every round, waits for a few saves and kills (-9) the learner, one
worker, or the learner while it writes a checkpoint. Then no process of that run may be there LATEST seconds after the
learner, nothing may lie in /dev/shm or the temporary folder, the checkpoint must be whole and no older than what was
seen before, and the next start must go on from it.
"""

from __future__ import annotations

import getpass
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.fuzz.frame import Finding, arguments, hunt

LATEST: Final = 2.0
GIVE_UP: Final = 180.0  # seconds for a start or an end, on a busy machine
TOKEN: Final = "SOG_KILLS_TOKEN"
GAME: Final = "kuhn_poker"
# PyTorch's cache, an empty folder that every program leaves which takes a step of its optimisers.
OWN: Final = {f"torchinductor_{getpass.getuser()}"}
TARGETS: Final = ("learner", "worker", "save", "start")


def run_until_killed(out: str) -> int:
    """In the process to be killed: the command, with a save after every round and a line of what each round is."""
    from sog.cli.app import main
    from sog.training import loop

    loop.SAVE_SECONDS, loop.SAVE_SHARE = 0.0, 1e9
    words = ["train", GAME, "--algorithm", "sog(network=1x8)", "--workers", "2", "--rounds", "1000000"]
    return main([*words, "--out", out, "--resume"])


def started(out: Path, token: str, temporary: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, TOKEN: token, "TMPDIR": str(temporary)}
    with (out.parent / "said").open("w") as said:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.kills", "--run", str(out)],
            env=environment,
            stdout=said,
            stderr=said,
            text=True,
        )


def of_token(token: str) -> list[int]:
    """The living processes that have the token in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            if f"{TOKEN}={token}".encode() in (entry / "environ").read_bytes():
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                found += [int(entry.name)] if state not in "ZX" else []
        except OSError:
            continue
    return found


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """Its spawned workers; multiprocessing's tracker of resources is none."""
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        lines = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    except OSError:
        return []
    return [child for child, line in lines.items() if b"spawn_main" in line]


def round_of(out: Path) -> int:
    """The round of the last checkpoint, read whole; 0 where there is none yet."""
    from sog.training.checkpoint import is_begun, load_network, load_state

    folder = out / "checkpoint"
    if not is_begun(folder):
        return 0
    load_network(folder, GAME)
    return int(load_state(folder)["round"])


def wait_for(what: str, true: Callable[[], bool], process: subprocess.Popen[str], out: Path) -> None:
    """Wait until it is true; a Finding where the process ends before or it takes too long."""
    deadline = time.monotonic() + GIVE_UP
    while not true():
        if process.poll() is not None or time.monotonic() > deadline:
            said = (out.parent / "said").read_text()
            raise Finding(f"no {what}: exit {process.returncode}, {said[-300:]!r}", said)
        time.sleep(0.001)


def kill(target: str, process: subprocess.Popen[str], out: Path, rng: random.Random) -> None:
    """Kill -9 what is to be killed, at its moment."""
    victim = process.pid
    if target == "save":
        names = ("meta.json.new", f"network.{rng.choice('0123456789')}")
        wait_for("save", lambda: any(name.startswith(names) for name in os.listdir(out / "checkpoint")), process, out)
    elif target == "worker":
        victim = rng.choice(workers_of(process))
    os.kill(victim, signal.SIGKILL)


def machine(home: Path) -> Callable[[random.Random], str]:
    out, temporary = home / "run", home / "tmp"
    temporary.mkdir()
    shm, count = set(os.listdir("/dev/shm")), 0

    def case(rng: random.Random) -> str:
        nonlocal count
        count += 1
        target, token = rng.choice(TARGETS), f"{os.getpid()}-{count}"
        before = round_of(out)
        process = started(out, token, temporary)
        try:
            return one(rng, target, process, before)
        finally:
            for left in of_token(token):
                os.kill(left, signal.SIGKILL)
            process.wait()

    def one(rng: random.Random, target: str, process: subprocess.Popen[str], before: int) -> str:
        token = f"{os.getpid()}-{count}"
        wait_for("workers", lambda: len(workers_of(process)) == 2, process, out)
        if target != "start":  # there the workers are killed while they import
            wanted = before + rng.choice((1, 2, 5))
            wait_for(f"round {wanted}", lambda: seen(out) >= wanted, process, out)
        time.sleep(rng.uniform(0.0, 0.3))
        reached = round_of(out)
        if reached < before:
            raise Finding(f"round {reached} after {before}", target)
        kill(target, process, out, rng)
        process.wait(timeout=GIVE_UP)
        ended = time.monotonic()
        if target == "worker" and process.returncode != 2:
            raise Finding(f"exit {process.returncode} after a worker's death", (home / "said").read_text())
        while (left := of_token(token)) and time.monotonic() < ended + LATEST:
            time.sleep(0.01)
        if left:
            raise Finding(f"{target}: {len(left)} processes are there {LATEST} s after the learner", str(left))
        after = round_of(out)
        if after < reached:
            raise Finding(f"{target}: round {reached} was saved, {after} is there", target)
        behind = {*os.listdir(temporary), *os.listdir("/dev/shm")} - shm - OWN
        if behind:
            raise Finding(f"{target}: left behind {behind}", target)
        said = (home / "said").read_text()
        if "Traceback" in said:
            raise Finding(f"{target}: a traceback", said)
        return target

    return case


def seen(out: Path) -> int:
    """The round that meta.json states: cheap to look at."""
    from sog.errors import CheckpointError
    from sog.training.checkpoint import is_begun, load_meta

    try:
        return int(load_meta(out / "checkpoint").settings["round"]) if is_begun(out / "checkpoint") else 0
    except CheckpointError:
        return 0


def main() -> int:
    parser = arguments("kills")
    parser.add_argument("--run", default=None, help="what the machine itself starts")
    options = parser.parse_args()
    if options.run is not None:
        return run_until_killed(options.run)
    with tempfile.TemporaryDirectory() as home:
        return hunt("kills", machine(Path(home)), options)


if __name__ == "__main__":
    sys.exit(main())
