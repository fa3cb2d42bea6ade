"""A training pipeline as discrete events, from measured rates: rounds on one machine, or many machines without rounds.

It is fed with what one core was measured to do and runs no game, no network and no learner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle

from soglab.scale.events import Gate, Process, Resource, Simulation, Use

__all__ = ["Cluster", "CoreRates", "PipelineFlow", "limits", "rounds", "without_rounds"]


@dataclass(frozen=True)
class CoreRates:
    """What one core was measured to do. Times are core seconds.

    plays: (seconds, rows) of single rounds of one worker.  step: of a learner's step, its sample included.
    batch: rows of a step.  updates: how often each row is learned from.  row_bytes: of a row on its way.
    pack, unpack, add: of a row: into bytes, out of them, into the replay window.  weights_bytes: of a network.
    save, load: of a network: into bytes; out of them, ready to answer.
    """

    plays: tuple[tuple[float, int], ...]
    step: float
    batch: int
    updates: float
    row_bytes: float
    pack: float
    unpack: float
    add: float
    weights_bytes: int
    save: float
    load: float

    @property
    def play(self) -> float:
        """Core seconds of self-play a row."""
        return sum(seconds for seconds, _ in self.plays) / max(1, sum(rows for _, rows in self.plays))


@dataclass(frozen=True)
class Cluster:
    """Machines without rounds: actors, one machine with the replay window, one with the learner.

    actors: single cores that play.  actors_per_machine: that share a link and one copy of the weights.
    link: bytes a second of a machine's link.  replay_cores: that take in rows.  learner_times: how many times as fast
    as the measured core the learner is.  publish: seconds between two networks.  block_bytes: shipped at once.
    """

    actors: int
    actors_per_machine: int = 1
    link: float = 1.25e9
    replay_cores: int = 16
    learner_times: float = 1.0
    publish: float = 10.0
    block_bytes: float = 256e3


@dataclass(frozen=True)
class PipelineFlow:
    """What a simulated pipeline carries.

    rows_per_second, bytes_per_second: into the replay window.  shares: of each resource that was in use.
    """

    rows_per_second: float
    bytes_per_second: float
    shares: dict[str, float]

    @property
    def busiest(self) -> str:
        """The resource most in use."""
        return max(self.shares, key=lambda name: self.shares[name])


def rounds(rates: CoreRates, workers: int, cores: int, count: int = 40) -> PipelineFlow:
    """`count` rounds of `sog train` on one machine; with one worker a single process does everything."""
    simulation, machine = Simulation(), Resource("cores", cores, most=1.0)
    rows, learned, ended = [0], [0], [0.0]
    plays = [cycle(_turned(rates.plays, worker)) for worker in range(workers)]
    done = Gate()

    def worker(plays: Iterator[tuple[float, int]], answer: Gate, brought: list[int]) -> Process:
        seconds, num_rows = next(plays)
        brought.append(num_rows)
        apart = rates.pack * num_rows if workers > 1 else 0.0
        yield Use(machine, rates.load + seconds + apart)
        simulation.open(answer)

    def learner() -> Process:
        allowed = int(rates.updates * rows[0] / rates.batch)
        yield Use(machine, rates.step * (allowed - learned[0]))
        learned[0] = allowed

    def driver() -> Process:
        for _ in range(count):
            answers, brought = [Gate() for _ in plays], list[int]()
            yield Use(machine, rates.save)
            if workers == 1:
                yield from learner()
                yield from worker(plays[0], answers[0], brought)
            else:
                for own, answer in zip(plays, answers, strict=True):
                    simulation.begin(worker(own, answer, brought))
                yield from learner()
                for answer in answers:
                    yield answer
                yield Use(machine, rates.unpack * sum(brought))
            yield Use(machine, rates.add * sum(brought))
            rows[0] += sum(brought)
        ended[0] = simulation.now
        simulation.open(done)

    simulation.begin(driver())
    while not done.is_open:
        simulation.run(1.0)
    speed, share = rows[0] / ended[0], simulation.share(machine) * simulation.now / ended[0]
    return PipelineFlow(speed, speed * rates.row_bytes, {machine.name: share})


def _turned(plays: tuple[tuple[float, int], ...], by: int) -> list[tuple[float, int]]:
    """The measured rounds in another order, so that workers are not in step."""
    start = by % len(plays)
    return [*plays[start:], *plays[:start]]


SELF_PLAY, REPLAY_LINK, REPLAY_CORES, LEARNER, WEIGHTS_LINK = (
    "self-play",
    "replay's link in",
    "replay's cores",
    "learner",
    "weights' link out",
)


# Blocks of each actor that may wait to be learned from; a turn is the time in which as many rows come in.
_AHEAD, _SETTLING, _TURNS = 2.0, 3.0, 10.0


def without_rounds(rates: CoreRates, cluster: Cluster) -> PipelineFlow:
    """The cluster once it has settled.

    An actor plays a block of rows and ships it, and plays on meanwhile; it waits where its last but one is not taken
    in, or where the learner is behind with what rows are to be learned from (back-pressure).
    """
    simulation = Simulation()
    pipeline = _Pipeline(rates, cluster, simulation)
    for number in range(cluster.actors):
        simulation.begin(pipeline.actor(number))
    simulation.begin(pipeline.learner())
    simulation.begin(pipeline.publisher())
    turn = pipeline.ahead / min(bound for name, bound in limits(rates, cluster).items() if name != WEIGHTS_LINK)
    simulation.run(max(2.0 * cluster.publish, _SETTLING * turn))
    return pipeline.flow_over(max(4.0 * cluster.publish, _TURNS * turn))


class _Pipeline:
    """Actors, replay window, learner and publisher as processes that share resources.

    block: rows shipped at once.  ahead: rows that may be taken in and not yet learned from.
    """

    def __init__(self, rates: CoreRates, cluster: Cluster, simulation: Simulation) -> None:
        self.rates, self.cluster, self.simulation = rates, cluster, simulation
        # Actors' cores all do the same, so that one resource is all of them.
        self.cores = Resource(SELF_PLAY, cluster.actors, most=1.0)
        self.link_in = Resource(REPLAY_LINK, cluster.link)
        self.replay = Resource(REPLAY_CORES, cluster.replay_cores, most=1.0)
        self.learning = Resource(LEARNER, cluster.learner_times, most=cluster.learner_times)
        self.link_out = Resource(WEIGHTS_LINK, cluster.link)
        self.block = max(1.0, cluster.block_bytes / rates.row_bytes)
        self.ahead = max(4.0 * rates.batch, _AHEAD * self.block * cluster.actors)
        self.taken_in, self.learned = 0.0, 0.0
        self.may_play, self.may_learn = Gate(True), Gate()

    def actor(self, number: int) -> Process:
        """Plays blocks and ships each while it plays the next."""
        before = Gate(True)
        part = (number % 97 + 1) / 97.0  # of the first block, so that actors do not ship in step
        while True:
            yield self.may_play
            yield Use(self.cores, part * self.block * (self.rates.play + self.rates.pack))
            part = 1.0
            yield before
            before = Gate()
            self.simulation.begin(self._ship(before))

    def _ship(self, taken: Gate) -> Process:
        """A block on its way into the replay window; opens `taken` when it is in."""
        yield Use(self.link_in, self.block * self.rates.row_bytes)
        yield Use(self.replay, self.block * (self.rates.unpack + self.rates.add))
        self.taken_in += self.block
        if self.taken_in - self.learned > self.ahead:
            self.may_play.is_open = False
        self.simulation.open(self.may_learn)
        self.simulation.open(taken)

    def learner(self) -> Process:
        """Takes steps as rows come in, several together, which are fewer events."""
        step_rows = self.rates.batch / self.rates.updates
        steps = max(1, round(self.ahead / step_rows / 64))
        while True:
            while self.learned + steps * step_rows > self.taken_in:
                self.may_learn.is_open = False
                yield self.may_learn
            yield Use(self.learning, steps * self.rates.step)
            self.learned += steps * step_rows
            if self.taken_in - self.learned <= self.ahead:
                self.simulation.open(self.may_play)

    def publisher(self) -> Process:
        """Sends the network to every machine from time to time."""
        pause = Resource("clock", 1.0)
        while True:
            yield Use(pause, self.cluster.publish)
            yield Use(self.link_out, self.rates.weights_bytes * _machines(self.cluster))

    def flow_over(self, seconds: float) -> PipelineFlow:
        """What the next `seconds` bring."""
        simulation, before = self.simulation, self.taken_in
        resources = (self.cores, self.link_in, self.replay, self.learning, self.link_out)
        start = {r.name: simulation.share(r) * simulation.now for r in resources}
        simulation.run(seconds)
        shares = {r.name: (simulation.share(r) * simulation.now - start[r.name]) / seconds for r in resources}
        speed = (self.taken_in - before) / seconds
        return PipelineFlow(speed, speed * self.rates.row_bytes, shares)


def _machines(cluster: Cluster) -> int:
    return -(-cluster.actors // cluster.actors_per_machine)


def limits(rates: CoreRates, cluster: Cluster) -> dict[str, float]:
    """Rows a second that each resource alone could bear, by arithmetic; what the simulation must stay below."""
    weights = rates.weights_bytes * _machines(cluster) / cluster.publish
    return {
        SELF_PLAY: cluster.actors / (rates.play + rates.pack),
        REPLAY_LINK: cluster.link / rates.row_bytes,
        REPLAY_CORES: cluster.replay_cores / (rates.unpack + rates.add),
        LEARNER: cluster.learner_times * rates.batch / (rates.step * rates.updates),
        WEIGHTS_LINK: float("inf") if weights <= cluster.link else 0.0,
    }
