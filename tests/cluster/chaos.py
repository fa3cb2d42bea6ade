"""Leduc poker trained on a two-node cluster of this machine, beside which processes are killed and a node goes.

    python -m tests.cluster.chaos --minutes 10 --seeds 3

For every seed two runs: one undisturbed, and one in which an actor is killed every 30 seconds, the learner and the
replay window once each, and one node is removed and another added. Prints both runs' exploitability at (100, 1), what
was lost, and what is left behind. Exits with 1 where the means are further apart than two standard errors or
anything is left.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sog.algorithms.student.measure import Subject, measure_seed, network_leaves
from sog.algorithms.table import settings_of
from sog.cluster.executor import WorkLost
from sog.cluster.on_ray import STORE_BYTES
from sog.cluster.placement import Placement
from sog.games.catalog import make_game
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.settings import Budget
from sog.training.run import Run, Until
from sog.training.stream.loop import Placed, StreamHooks, train_stream
from sog.training.stream.supervisor import Supervisor


class Chaos:
    """Kills on a schedule. every: seconds between two kills of an actor.  minutes: that the run lasts."""

    def __init__(self, cluster: Any, minutes: float, every: float) -> None:
        self.cluster, self.every, self.started = cluster, every, time.monotonic()
        self.killed, self.next = 0, every
        third = 60.0 * minutes / 4.0
        self.once = [(third, self.kill_learner), (2 * third, self.kill_replay), (3 * third, self.change_node)]

    def look(self, supervisor: Supervisor) -> None:
        spent = time.monotonic() - self.started
        if spent > self.next:
            self.next += self.every
            self.kill(supervisor.actors[self.killed % len(supervisor.actors)].remote)
            self.killed += 1
        while self.once and spent > self.once[0][0]:
            self.once.pop(0)[1](supervisor)

    def kill(self, remote: Any) -> None:
        with suppress(WorkLost, ProcessLookupError):  # it may be dead already, or wait for a node
            os.kill(remote.process(), signal.SIGKILL)

    def kill_learner(self, supervisor: Supervisor) -> None:
        self.kill(supervisor.learner)

    def kill_replay(self, supervisor: Supervisor) -> None:
        self.kill(supervisor.replay)

    def change_node(self, supervisor: Supervisor) -> None:
        others = list(self.cluster.worker_nodes)
        self.cluster.remove_node(others[0])
        self.cluster.add_node(**NODE)


NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": STORE_BYTES, "include_dashboard": False}


def trained(seed: int, minutes: float, every: float, out: Path) -> tuple[float, dict[str, int]]:
    """A run's exploitability in mbb/h, and what it counted; every: 0 for an undisturbed one."""
    from ray.cluster_utils import Cluster

    os.environ.update(RAY_worker_niceness="0")  # as RayExecutor has it
    cluster = Cluster(initialize_head=True, head_node_args=NODE)
    try:
        cluster.add_node(**NODE)
        run = Run("leduc_poker", "full", seed, 2, rounds=False)
        settings = settings_of(make_game(run.game), run.preset)
        counted: dict[str, int] = {}
        chaos = Chaos(cluster, minutes, every) if every else None

        def look(supervisor: Supervisor) -> None:
            counted.update(vars(supervisor.totals))
            if chaos is not None:
                chaos.look(supervisor)

        where = Placement("ray", 2, cluster.address)
        train_stream(run, settings, out, Until(minutes), False, StreamHooks(look=look), Placed(where))
    finally:
        cluster.shutdown()
    _, network = network_leaves(out / "checkpoint")
    subject = Subject(run.game, network, ResolveSettings(Budget(100, 1.0)))
    return measure_seed(subject, seed), counted


def left_behind(before: set[str]) -> list[str]:
    """Files in shared memory and processes of Ray's that were not there before."""
    deadline = time.monotonic() + 30
    while True:
        left = [f"/dev/shm/{name}" for name in set(os.listdir("/dev/shm")) - before]
        for path in Path("/proc").iterdir():
            if path.name.isdigit():
                try:
                    line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                except OSError:
                    continue
                if line.startswith("ray::") or "/raylet" in line or "/gcs_server" in line:
                    left.append(line[:80])
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.5)


def main() -> int:
    """Run it and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two kills of an actor")
    chosen = parser.parse_args()
    before = set(os.listdir("/dev/shm"))
    found: dict[str, list[float]] = {"undisturbed": [], "disturbed": []}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(chosen.seeds):
            for kind, every in (("undisturbed", 0.0), ("disturbed", chosen.every)):
                value, counted = trained(seed, chosen.minutes, every, Path(folder) / f"{kind}{seed}")
                found[kind].append(value)
                print(f"seed {seed} {kind}: {value:.1f} mbb/h; {counted}", flush=True)
    left = left_behind(before)
    means = [statistics.fmean(values) for values in found.values()]
    spread = [statistics.stdev(v) / len(v) ** 0.5 if len(v) > 1 else float("inf") for v in found.values()]
    apart, error = abs(means[0] - means[1]), sum(s * s for s in spread) ** 0.5
    print(f"undisturbed {means[0]:.1f}, disturbed {means[1]:.1f} mbb/h; apart {apart:.1f}, standard error {error:.1f}")
    print(f"left behind: {left or 'nothing'}")
    return int(apart > 2 * error or bool(left))


if __name__ == "__main__":
    sys.exit(main())
