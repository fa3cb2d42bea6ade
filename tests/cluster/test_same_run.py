"""With rounds, the same seed gives the same checkpoint to the bit here, in processes of this machine, and on Ray."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sog.algorithms.table import settings_of
from sog.cluster.on_ray import STORE_BYTES
from sog.cluster.placement import Placement
from sog.games.catalog import make_game
from sog.nets.serialized import network_bytes
from sog.training import checkpoint
from sog.training.run import Run, Until
from sog.training.self_play import train
from sog.training.state import pack

RUNS = [
    pytest.param("leduc_poker", "sog", 2, id="leduc"),
    pytest.param("liars_dice(numdice=1,dice_sides=4)", "rebel", 2, id="rebel"),
    pytest.param("connect_four", "alphazero", 2, id="alphazero"),
]


def digest(folder: Path) -> str:
    """Of all that a checkpoint holds but the clock."""
    out = hashlib.sha256(network_bytes(checkpoint.load_network(folder)[1]))
    state = checkpoint.load_state(folder)
    minutes = 1  # in a point
    points = [[x for k, x in enumerate(point) if k != minutes] for point in state.pop("points")]
    state.pop("seconds")
    state.pop("processor")
    skeleton, arrays = pack({**state, "points": points})
    out.update(repr(skeleton).encode())
    for name in sorted(arrays):
        out.update(name.encode() + arrays[name].tobytes())
    return out.hexdigest()


def trained(out: Path, game: str, algorithm: str, rounds: int, where: Placement) -> str:
    settings = settings_of(make_game(game), "demo", algorithm)
    settings = replace(settings, games=2, replay=2_000, learner=replace(settings.learner, batch=16))
    train(Run(game, "demo", 3, where.places, algorithm), settings, out, Until(rounds=rounds), placement=where)
    return digest(out / "checkpoint")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A Ray cluster of this machine alone."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    os.environ.update(RAY_worker_niceness="0")  # as RayExecutor has it
    node = {"num_cpus": 2, "object_store_memory": STORE_BYTES, "include_dashboard": False}
    try:
        cluster = Cluster(initialize_head=True, head_node_args=node)
    except Exception as error:
        pytest.skip(f"WARNING: no Ray here: {error}")
    yield cluster.address
    cluster.shutdown()


@pytest.mark.parametrize(("game", "algorithm", "rounds"), RUNS)
def test_the_same_checkpoint(game: str, algorithm: str, rounds: int, address: str, tmp_path: Path) -> None:
    for places in (1, 2):
        here = trained(tmp_path / f"local{places}", game, algorithm, rounds, Placement("local", places))
        there = trained(tmp_path / f"ray{places}", game, algorithm, rounds, Placement("ray", places, address))
        assert here == there
