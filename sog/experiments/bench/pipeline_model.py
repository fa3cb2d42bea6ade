"""A training pipeline as discrete events, from measured rates: rounds on one machine, or many machines without rounds.

It is fed with what one core was measured to do and runs no game, no network and no learner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle

from sog.experiments.bench.events import Gate, Process, Resource, Simulation, Use

__all__ = ["Cluster", "Found", "Rates", "limits", "rounds", "without_rounds"]


@dataclass(frozen=True)
class Rates:
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
class Found:
    """rows_per_second, bytes_per_second: into the replay window.  shares: of each resource that was in use."""

    rows_per_second: float
    bytes_per_second: float
    shares: dict[str, float]

    @property
    def busiest(self) -> str:
        """The resource most in use."""
        return max(self.shares, key=lambda name: self.shares[name])


def rounds(rates: Rates, workers: int, cores: int, count: int = 40) -> Found:
    """So many rounds of `sog train` on one machine; with one worker a single process does everything."""
    simulation, machine = Simulation(), Resource("cores", cores, most=1.0)
    rows, learned, ended = [0], [0], [0.0]
    plays = [cycle(_turned(rates.plays, worker)) for worker in range(workers)]
    done = Gate()

    def worker(plays: Iterator[tuple[float, int]], answer: Gate, brought: list[int]) -> Process:
        seconds, found = next(plays)
        brought.append(found)
        apart = rates.pack * found if workers > 1 else 0.0
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
    return Found(speed, speed * rates.row_bytes, {machine.name: share})


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


def without_rounds(rates: Rates, cluster: Cluster) -> Found:
    """The cluster once it has settled.

    An actor plays a block of rows and ships it, and plays on meanwhile; it waits where its last but one is not taken
    in, or where the learner is behind with what rows are to be learned from (back-pressure).
    """
    simulation = Simulation()
    link_in = Resource(REPLAY_LINK, cluster.link)
    # Actors' cores all do the same, so that one resource stands for all of them.
    cores = Resource(SELF_PLAY, cluster.actors, most=1.0)
    replay = Resource(REPLAY_CORES, cluster.replay_cores, most=1.0)
    learning = Resource(LEARNER, cluster.learner_times, most=cluster.learner_times)
    link_out = Resource(WEIGHTS_LINK, cluster.link)
    block = max(1.0, cluster.block_bytes / rates.row_bytes)
    taken_in, learned = [0.0], [0.0]
    may_play, may_learn = Gate(True), Gate()
    ahead = max(4.0 * rates.batch, _AHEAD * block * cluster.actors)  # rows taken in that are not yet learned from

    def ship(taken: Gate) -> Process:
        yield Use(link_in, block * rates.row_bytes)
        yield Use(replay, block * (rates.unpack + rates.add))
        taken_in[0] += block
        if taken_in[0] - learned[0] > ahead:
            may_play.is_open = False
        simulation.open(may_learn)
        simulation.open(taken)

    def actor(number: int) -> Process:
        before = Gate(True)
        part = (number % 97 + 1) / 97.0  # of the first block, so that actors do not ship in step
        while True:
            yield may_play
            yield Use(cores, part * block * (rates.play + rates.pack))
            part = 1.0
            yield before
            before = Gate()
            simulation.begin(ship(before))

    def learner() -> Process:
        step_rows = rates.batch / rates.updates
        steps = max(1, round(ahead / step_rows / 64))  # taken together: fewer events
        while True:
            while learned[0] + steps * step_rows > taken_in[0]:
                may_learn.is_open = False
                yield may_learn
            yield Use(learning, steps * rates.step)
            learned[0] += steps * step_rows
            if taken_in[0] - learned[0] <= ahead:
                simulation.open(may_play)

    def publisher() -> Process:
        pause = Resource("clock", 1.0)
        machines = -(-cluster.actors // cluster.actors_per_machine)
        while True:
            yield Use(pause, cluster.publish)
            yield Use(link_out, rates.weights_bytes * machines)

    for number in range(cluster.actors):
        simulation.begin(actor(number))
    simulation.begin(learner())
    simulation.begin(publisher())
    turn = ahead / min(bound for name, bound in limits(rates, cluster).items() if name != WEIGHTS_LINK)
    seconds = max(4.0 * cluster.publish, _TURNS * turn)
    simulation.run(max(2.0 * cluster.publish, _SETTLING * turn))
    resources = (cores, link_in, replay, learning, link_out)
    before, start = taken_in[0], {r.name: simulation.share(r) * simulation.now for r in resources}
    simulation.run(seconds)
    shares = {r.name: (simulation.share(r) * simulation.now - start[r.name]) / seconds for r in resources}
    speed = (taken_in[0] - before) / seconds
    return Found(speed, speed * rates.row_bytes, shares)


# Blocks of each actor that may wait to be learned from; a turn is the time in which so many rows come in.
_AHEAD, _SETTLING, _TURNS = 2.0, 3.0, 10.0


def limits(rates: Rates, cluster: Cluster) -> dict[str, float]:
    """Rows a second that each resource alone could bear, by arithmetic; what the simulation must stay below."""
    machines = -(-cluster.actors // cluster.actors_per_machine)
    weights = rates.weights_bytes * machines / cluster.publish
    return {
        SELF_PLAY: cluster.actors / (rates.play + rates.pack),
        REPLAY_LINK: cluster.link / rates.row_bytes,
        REPLAY_CORES: cluster.replay_cores / (rates.unpack + rates.add),
        LEARNER: cluster.learner_times * rates.batch / (rates.step * rates.updates),
        WEIGHTS_LINK: float("inf") if weights <= cluster.link else 0.0,
    }
