"""The simulator of the training pipeline against cases whose answer is arithmetic."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soglab.scale.events import Gate, Process, Resource, Simulation, Use
from soglab.scale.pipeline_model import (
    LEARNER,
    REPLAY_LINK,
    SELF_PLAY,
    Cluster,
    CoreRates,
    limits,
    rounds,
    without_rounds,
)

# 100 rows a second of self-play; a row costs 2.5 ms of learning.
RATES = CoreRates(((1.0, 100),), 0.1, 400, 10.0, 1_000.0, 0.0, 1e-7, 1e-7, 1_000_000, 0.0, 0.0)


def used(simulation: Simulation, resource: Resource, amounts: list[float]) -> list[float]:
    """When users who begin together are done."""
    ends = [0.0] * len(amounts)

    def user(k: int) -> Process:
        yield Use(resource, amounts[k])
        ends[k] = simulation.now

    for k in range(len(amounts)):
        simulation.begin(user(k))
    simulation.run(1e6)
    return ends


def test_a_resource_is_shared_evenly() -> None:
    assert used(Simulation(), Resource("link", 10.0), [10.0, 10.0, 40.0]) == pytest.approx([3.0, 3.0, 6.0])
    assert used(Simulation(), Resource("cores", 2.0, most=1.0), [1.0, 1.0]) == pytest.approx([1.0, 1.0])
    assert used(Simulation(), Resource("cores", 2.0, most=1.0), [1.0, 1.0, 1.0]) == pytest.approx([1.5] * 3)


@settings(max_examples=30)
@given(st.lists(st.floats(0.01, 10.0), min_size=1, max_size=12), st.integers(1, 4))
def test_work_is_conserved(amounts: list[float], cores: int) -> None:
    """Nobody is done before the work allows, all is done in the end, and the share in use is the work over the time."""
    simulation, resource = Simulation(), Resource("cores", float(cores), most=1.0)
    ends = used(simulation, resource, amounts)
    assert max(ends) >= max(max(amounts), sum(amounts) / cores) - 1e-9
    assert all(end >= amount - 1e-9 for end, amount in zip(ends, amounts, strict=True))
    assert simulation.share(resource) * cores * 1e6 == pytest.approx(sum(amounts), rel=1e-6)


def test_gates() -> None:
    simulation, gate, said = Simulation(), Gate(), list[float]()

    def waiting() -> Process:
        yield gate
        said.append(simulation.now)
        yield gate  # stays open
        said.append(simulation.now)

    def opening() -> Process:
        yield Use(Resource("clock", 1.0), 2.0)
        simulation.open(gate)

    simulation.begin(waiting())
    simulation.begin(opening())
    simulation.run(5.0)
    assert said == [2.0, 2.0]


def test_one_process_does_one_thing_after_the_other() -> None:
    """A row costs 10 ms of play and 2.5 ms of learning."""
    found = rounds(RATES, 1, 2, 400)
    assert found.rows_per_second == pytest.approx(1 / 0.0125, rel=0.01)
    assert found.bytes_per_second == pytest.approx(1000 / 0.0125, rel=0.01)


@pytest.mark.parametrize(("workers", "cores", "rate"), [(2, 3, 200.0), (2, 2, 160.0), (4, 2, 160.0), (3, 4, 300.0)])
def test_several_processes_share_the_cores(workers: int, cores: int, rate: float) -> None:
    """As many cores as processes: play alone counts. Fewer: all work over all cores."""
    assert rounds(RATES, workers, cores, 400).rows_per_second == pytest.approx(rate, rel=0.02)


def test_the_slowest_worker_sets_the_pace() -> None:
    uneven = replace(RATES, plays=((1.0, 100), (3.0, 100)), step=0.0)
    assert rounds(uneven, 2, 2, 400).rows_per_second == pytest.approx(200 / 3.0, rel=0.02)


@pytest.mark.parametrize(
    ("cluster", "busiest"),
    [
        (Cluster(10, learner_times=1e6), SELF_PLAY),
        (Cluster(1_000, learner_times=1.0), LEARNER),
        (Cluster(500, learner_times=1e6, link=1e7, publish=1e3), REPLAY_LINK),
    ],
)
def test_a_cluster_meets_its_limit(cluster: Cluster, busiest: str) -> None:
    """The least of what each resource can bear is reached, and that resource is the one in use."""
    found, bounds = without_rounds(RATES, cluster), limits(RATES, cluster)
    assert min(bounds, key=lambda name: bounds[name]) == busiest == found.busiest
    assert found.rows_per_second == pytest.approx(bounds[busiest], rel=0.05)
    assert found.rows_per_second <= bounds[busiest] * 1.02
