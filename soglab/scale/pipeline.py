"""Measures what one core does in each part of training, and what training does with one process and with several."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final

import numpy as np

from sog.algorithms.table import settings_of
from sog.games.catalog import make_game
from sog.nets.cvpn import module_of
from sog.nets.inference import network_evaluator
from sog.nets.network import Network
from sog.nets.one_core import one_core
from sog.nets.serialized import network_bytes, network_of
from sog.training.checkpoint import load_network
from sog.training.curve import Point
from sog.training.learner import Learner
from sog.training.packing import unpack
from sog.training.replay import ReplayWindow
from sog.training.run import Run
from sog.training.settings import Harvest, TrainSettings
from sog.training.workers import make_actor
from soglab.bench.evaluators import CountingEvaluator
from soglab.bench.form import Benchmark, Column
from soglab.bench.training_minute import processor_seconds
from soglab.runs import train_watched
from soglab.scale.inference import answered_rows
from soglab.scale.pipeline_model import (
    LEARNER,
    SELF_PLAY,
    WEIGHTS_LINK,
    Cluster,
    CoreRates,
    limits,
    rounds,
    without_rounds,
)

_BATCHES: Final = (1, 16, 64, 256, 1024)


def pipeline_settings(run: Run) -> TrainSettings:
    """The settings of a training run that is measured; AssertionError for a policy learner's."""
    settings = settings_of(make_game(run.game), run.preset, run.algorithm)
    assert isinstance(settings, TrainSettings)
    return settings


# Clusters of the papers' sizes.
SCENARIOS: Final = {
    "3,500 actors (PoG)": Cluster(actors=3_500),
    "90 machines of 40 cores (ReBeL)": Cluster(actors=3_600, actors_per_machine=40),
}


@dataclass(frozen=True)
class MeasuredCore:
    """Rates of one core, and what else a plan needs.

    beliefs_per_row: leaf beliefs that the network answers for a training row.  searches_per_second: of an actor.
    inference: rows a second of the network by batch size.
    """

    rates: CoreRates
    beliefs_per_row: float
    searches_per_second: float
    inference: dict[int, float]


@dataclass(frozen=True)
class Speed:
    """Training rows a second.

    rows_per_second: of the clock.  rows_per_core_second: of the processor time that the processes had together.
    Other programs on the machine make the first smaller and hardly change the second.
    """

    rows_per_second: float
    rows_per_core_second: float


@dataclass(frozen=True)
class Throughput:
    """A run with some number of worker processes, measured and predicted.

    error: of the predicted rows a second, as a share of what was measured.  core_error: of rows by processor time.
    """

    workers: Annotated[int, Column("workers")]
    measured: Annotated[Speed, Column("rows/s", lambda run: f"{run.measured.rows_per_second:,.1f}")]
    predicted: Annotated[Speed, Column("predicted", lambda run: f"{run.predicted.rows_per_second:,.1f}")]
    error: Annotated[float, Column("error", "+.1%")]
    core_error: Annotated[
        float,
        Column("rows a core second", lambda run: f"{run.measured.rows_per_core_second:,.1f}"),
        Column("predicted", lambda run: f"{run.predicted.rows_per_core_second:,.1f}"),
        Column("error", "+.1%"),
    ]


RUNS: Final = Benchmark("", "", "sog train; a core second is a second of processor time")


def measure_throughput(run: Run, seconds: float) -> tuple[Speed, Network]:
    """The speed of a run from scratch, from its third round on, and its network at the end.

    The first rounds, in which kernels load and the learner has little to learn from, do not count.
    """
    points: list[Point] = []
    times: list[float] = []
    worked: list[float] = []

    def report(point: Point) -> bool:
        points.append(point)
        times.append(time.perf_counter())
        worked.append(time.process_time() + (processor_seconds() or 0.0))
        return len(points) > _UNCOUNTED + 1 and times[-1] - times[_UNCOUNTED - 1] > seconds

    with tempfile.TemporaryDirectory() as folder:
        train_watched(run, pipeline_settings(run), Path(folder), report)
        newest = max((Path(folder) / "snapshots").iterdir())
        network = load_network(newest)[1]
    rows = points[-1].rows - points[_UNCOUNTED - 1].rows
    spent = [clock[-1] - clock[_UNCOUNTED - 1] for clock in (times, worked)]
    return Speed(rows / spent[0], rows / spent[1]), network


_UNCOUNTED: Final = 2


def measure_rates(
    run: Run, network: Network, seconds: float, note: Callable[[str], None] = lambda text: None
) -> MeasuredCore:
    """What one core does, with this network: `seconds` of self-play, and a second or so of each other part.

    In processor time, so that other programs on the machine hardly matter; the network's rows go by the clock.
    """
    settings = pipeline_settings(run)
    with one_core():
        note("self-play")
        plays, harvests, beliefs = _play(run, settings, network, seconds)
        rows = sum(len(harvest.rows) for harvest in harvests)
        note("learner")
        step, add = _learn(settings, network, harvests)
        note("weights and rows on their way")
        pack, unpack, row_bytes = _ship(harvests)
        weights = network_bytes(network)
        save = _seconds(lambda: network_bytes(network))
        load = _seconds(lambda: network_evaluator(network_of(settings.shape, weights)))
        note("network")
        inference = {size: answered_rows(module_of(network), size, 0.2) for size in _BATCHES}
    rates = CoreRates(
        plays,
        step,
        settings.learner.batch,
        settings.learner.updates_per_example,
        row_bytes,
        pack,
        unpack,
        add,
        len(weights),
        save,
        load,
    )
    spent = sum(seconds for seconds, _ in plays)
    return MeasuredCore(rates, beliefs / rows, sum(h.searches + h.queries for h in harvests) / spent, inference)


def _play(
    run: Run, settings: TrainSettings, network: Network, seconds: float
) -> tuple[tuple[tuple[float, int], ...], list[Harvest], int]:
    """Rounds of one worker: their seconds and rows, what they brought in, and how many leaf beliefs were evaluated."""
    actor = make_actor(run.game, settings)
    evaluator = CountingEvaluator(network_evaluator(network))
    actor.round(1, evaluator, np.random.default_rng(0), 0)  # kernels load
    evaluator.beliefs = 0
    plays: list[tuple[float, int]] = []
    harvests: list[Harvest] = []
    while sum(spent for spent, _ in plays) < seconds or len(plays) < _FEWEST_ROUNDS:
        started = time.process_time()
        harvests.append(actor.round(settings.games, evaluator, np.random.default_rng((1, len(plays))), len(plays)))
        plays.append((time.process_time() - started, len(harvests[-1].rows)))
    return tuple(plays), harvests, evaluator.beliefs


_FEWEST_ROUNDS: Final = 3


def _learn(settings: TrainSettings, network: Network, harvests: list[Harvest]) -> tuple[float, float]:
    """Seconds of a learner's step with its sample, and of adding a row to the replay window."""
    window = ReplayWindow(settings.shape, settings.replay)
    started = time.process_time()
    for harvest in harvests:
        window.add(harvest.rows)
    add = (time.process_time() - started) / window.added
    copied, rng = module_of(network_of(settings.shape, network_bytes(network))), np.random.default_rng(0)
    learner = Learner(copied, settings.learner)
    return _seconds(lambda: learner.step(unpack(settings.shape, window.sample(rng, settings.learner.batch)))), add


def _ship(harvests: list[Harvest]) -> tuple[float, float, float]:
    """Seconds to make a row into bytes and out of them, and the bytes."""
    rows = sum(len(harvest.rows) for harvest in harvests)
    started = time.process_time()
    packed = [pickle.dumps(harvest, protocol=5) for harvest in harvests]
    between = time.process_time()
    for content in packed:
        pickle.loads(content)
    ended = time.process_time()
    return (between - started) / rows, (ended - between) / rows, sum(map(len, packed)) / rows


def _seconds(call: Callable[[], object], least: float = 0.5) -> float:
    """The median of a call's seconds, the first left out."""
    call()
    times: list[float] = []
    while sum(times) < least or len(times) < 3:
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return float(np.median(times))


def compared(core: MeasuredCore, workers: int, measured: Speed) -> Throughput:
    """A run of `sog train` on this machine beside the model, in which the machine does nothing else."""
    cores = os.cpu_count() or 1
    flow = rounds(core.rates, workers, cores)
    predicted = Speed(flow.rows_per_second, flow.rows_per_second / (cores * max(flow.shares.values())))
    error = predicted.rows_per_second / measured.rows_per_second - 1.0
    core_error = predicted.rows_per_core_second / measured.rows_per_core_second - 1.0
    return Throughput(workers, measured, predicted, error, core_error)


@dataclass(frozen=True)
class ClusterPlan:
    """What a cluster would do with all its actors.

    learner: which, in words.  busiest: the resource most in use.  shares: of each resource that was in use.
    enough_actors: as many saturate what saturates first.  curve: (actors, rows a second).  bounds: rows a second that
    the other resources could bear, by name.
    """

    scenario: Annotated[str, Column("cluster")]
    learner: Annotated[str, Column("learner")]
    busiest: Annotated[str, Column("saturated")]
    shares: Annotated[dict[str, float], Column("in use", lambda plan: f"{plan.shares[plan.busiest]:.0%}")]
    rows_per_second: Annotated[float, Column("rows/s", ",.0f")]
    megabytes_per_second: Annotated[float, Column("MB/s", ",.1f")]
    enough_actors: Annotated[float, Column("actors that saturate it", ",.0f")]
    curve: tuple[tuple[int, float], ...]
    bounds: dict[str, float]


PLANS: Final = Benchmark("", "", "without rounds, simulated")


def plans(measured: MeasuredCore) -> list[ClusterPlan]:
    """Every scenario, with a learner that is the measured core and with one that always keeps up."""
    return [
        _plan(measured.rates, scenario, learner, replace(cluster, learner_times=times))
        for scenario, cluster in SCENARIOS.items()
        for learner, times in (("this core", 1.0), ("one that keeps up", _ANY_SPEED))
    ]


_ANY_SPEED: Final = 1e9


def _plan(rates: CoreRates, scenario: str, learner: str, cluster: Cluster) -> ClusterPlan:
    counts = [int(count) for count in np.geomspace(cluster.actors / 1_000, cluster.actors, 7)]
    flows = [without_rounds(rates, replace(cluster, actors=count)) for count in counts]
    unbounded = (SELF_PLAY, WEIGHTS_LINK, *((LEARNER,) if cluster.learner_times == _ANY_SPEED else ()))
    bounds = {name: bound for name, bound in limits(rates, cluster).items() if name not in unbounded}
    return ClusterPlan(
        scenario,
        learner,
        flows[-1].busiest,
        flows[-1].shares,
        flows[-1].rows_per_second,
        1e-6 * flows[-1].bytes_per_second,
        min(bounds.values()) * (rates.play + rates.pack),
        tuple((count, flow.rows_per_second) for count, flow in zip(counts, flows, strict=True)),
        bounds,
    )
