"""Keeps actors, replay window and learner of a run without rounds at work, and replaces those that die.

All state is the replay window's and the learner's. What dies is started again from the latest checkpoint, an actor
with a new seed. Neither side runs ahead of the other: actors wait where rows wait to be learned from, and the learner
waits where it has learned from each row as often as its settings say (back-pressure by samples a row).
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from sog.cluster.executor import Executor, Pending, Remote, WorkLost
from sog.nets.serialized import network_of
from sog.nets.serving.client import EvaluatorProcess
from sog.searches.kernels.compiling import WATCH
from sog.training.settings import TrainSettings
from sog.training.state import State
from sog.training.stream.parts import ActorPart, LearnerPart, LearnerSteps, ReplayPart, Taken, steps_of

__all__ = ["Start", "Supervisor", "Totals", "Vitals", "totals_from"]

_STEPS: Final = 16  # of the learner at once, at most
_AHEAD: Final = 4.0  # blocks of each actor that may wait to be learned from
_RECENT: Final = 30.0  # seconds that rates are over


@dataclass
class Totals:
    """What a run has done in all. rows: added to the window.  lost_rows: with a window that died."""

    rows: int = 0
    games: int = 0
    searches: int = 0
    queries: int = 0
    steps: int = 0
    deaths: int = 0
    lost_rows: int = 0
    lost_blocks: int = 0
    lost_steps: int = 0
    incarnations: int = 0
    value: float = math.nan
    policy: float = math.nan


def totals_from(stored: dict[str, Any]) -> Totals:
    """Totals from what a checkpoint says; a kind of error that `sog.training.run.DAMAGE` names where it says none."""
    losses = {"value", "policy"}
    read: dict[str, Any] = {name: (float if name in losses else int)(stored[name]) for name in asdict(Totals())}
    return Totals(**read)


@dataclass(frozen=True)
class Vitals:
    """How a run is doing, over the latest half a minute.

    rates: rows and searches a second by machine.  fill: rows in the window over its capacity.  samples_per_row: learned
    from so far.  age: learner steps since the weights of the window's rows were made, mean.  network_share: of actors'
    time.
    """

    rates: dict[str, tuple[float, float]]
    fill: float
    samples_per_row: float
    age: float
    network_share: float
    deaths: int
    lost_rows: int
    waiting_actors: int


@dataclass(frozen=True)
class Start:
    """Where a run begins. load: the states of (learner, replay) in the latest checkpoint, None before the first.

    name: the run's, one of a kind in a cluster.  evaluator: the process that answers all actors' networks; None where
    each has its own.
    """

    name: str
    game: str
    settings: TrainSettings
    seed: int
    actors: int
    device: str
    load: Callable[[], tuple[State, State] | None]
    evaluator: EvaluatorProcess | None = None


@dataclass(eq=False)
class _ActorAtWork:
    """An actor.

    block: being played, or on its way into the window where `taking`.  publication: the one whose weights it has.
    """

    number: int
    remote: Remote
    block: Pending | None = None
    taking: bool = False
    publication: int = 0


@dataclass(eq=False)
class _RecentBlocks:
    """What has come in lately: (time, block)."""

    blocks: deque[tuple[float, Taken]] = field(default_factory=deque)
    since: float = field(default_factory=time.monotonic)

    def add(self, taken: Taken) -> None:
        now = time.monotonic()
        self.blocks.append((now, taken))
        while self.blocks[0][0] < now - _RECENT:
            self.since = self.blocks.popleft()[0]


class Supervisor:
    """A run in progress: call `turn` again and again."""

    def __init__(self, there: Executor, start: Start, totals: Totals) -> None:
        self.there, self.start, self.totals = there, start, totals
        self.settings = start.settings
        self.compiling = 0.0
        self.held, self.row_version, self.block_rows = 0, 0.0, 0.0
        self.watched = _RecentBlocks()
        self.sampling: Pending | None = None
        self.learning: Pending | None = None
        self.fetching: Pending | None = None
        self.published, self.publication = -1, 0  # the learner's steps and the count; no network yet
        self.weights: Any = None
        self._start_replay()
        self._start_learner()
        self.actors = [self._new_actor(number) for number in range(start.actors)]

    # --- starting, and starting again ---

    def _new_actor(self, number: int) -> _ActorAtWork:
        self.totals.incarnations += 1
        start, evaluator = self.start, self.start.evaluator
        name = "" if evaluator is None else evaluator.name
        given = start.game, self.settings, start.seed, number, self.totals.incarnations, name
        return _ActorAtWork(number, self.there.start(ActorPart, *given))

    def _start_replay(self) -> None:
        saved = self.start.load()
        state = None if saved is None else saved[1]
        self.replay = self.there.keep(f"{self.start.name} replay", ReplayPart, self.settings, state)
        saved_rows = 0 if state is None else int(state["window"]["added"])
        self.totals.lost_rows += max(0, self.totals.rows - saved_rows)
        self.totals.rows = saved_rows
        self.held = 0 if state is None else min(len(state["versions"]), self.settings.replay)
        self.sampling = None

    def _start_learner(self) -> None:
        saved = self.start.load()
        state = None if saved is None else saved[0]
        start = self.start
        given = start.game, self.settings, start.seed, start.device, state
        self.learner = self.there.keep(f"{start.name} learner", LearnerPart, *given)
        saved_steps = 0 if state is None else steps_of(state)
        self.totals.lost_steps += max(0, self.totals.steps - saved_steps)
        self.totals.steps = saved_steps
        self.sampling = self.learning = None  # what the one before was asked
        self.fetching = self.learner.call("weights")

    def _publish(self, weights: Pending) -> None:
        """Give actors the learner's network from now on.

        Publications are counted apart from steps: a learner that replaces a dead one reaches the same steps again, with
        other weights.
        """
        self.published, content = weights.result()
        self.publication += 1
        if self.start.evaluator is None:
            self.weights = self.there.share(content)
        else:
            self.weights = b""
            self.start.evaluator.load(network_of(self.settings.shape, content), self.published)

    # --- a turn ---

    def turn(self, seconds: float = 1.0) -> None:
        """Begin what can be begun, wait for something to be done, and take it up."""
        self._feed_actors()
        self._feed_learner()
        working = [actor.block for actor in self.actors if actor.block is not None]
        working += [one for one in (self.sampling, self.learning, self.fetching) if one is not None]
        # Whatever is done first: an actor's block, a sample, a learner's steps, or weights.
        done = set(map(id, self.there.wait(working, seconds)))
        for actor in self.actors:
            if id(actor.block) in done:
                self._take_block(actor)
        try:
            self._take_learned(done)
        except WorkLost:
            self.sampling = self.learning = self.fetching = None
            self.replace_dead()

    def _ahead(self) -> float:
        """Rows in the window that the learner may learn from and has not."""
        learner = self.settings.learner
        # A row is used up after updates_per_example samples: steps * batch / updates_per_example rows are.
        return self.totals.rows - self.totals.steps * learner.batch / learner.updates_per_example

    def _may_play(self) -> bool:
        learner = self.settings.learner
        if self.totals.rows == 0:
            return True
        # Some blocks for each actor, but at least the rows of two steps, which the learner waits for.
        room = max(_AHEAD * self.block_rows * len(self.actors), 2.0 * learner.batch / learner.updates_per_example)
        return self._ahead() <= room

    def _feed_actors(self) -> None:
        if self.published < 0 or not self._may_play():
            return
        for actor in self.actors:
            if actor.block is None:
                fresh = b"" if actor.publication == self.publication else self.weights
                actor.block = actor.remote.call("play", fresh, self.published, self.settings.games or 1, self.round)
                actor.taking, actor.publication = False, self.publication

    def _feed_learner(self) -> None:
        if self.published < 0 and self.fetching is None:
            self.fetching = self.learner.call("weights")
        if self.sampling is None and self.learning is None and self.held:
            learner = self.settings.learner
            # As many steps as the rows allow, in pieces of at most _STEPS, so that new weights come often.
            steps = int(self._ahead() * learner.updates_per_example / learner.batch)
            if steps > 0:
                seed = (self.start.seed, 2**20, self.totals.steps, self.totals.incarnations)
                self.sampling = self.replay.call("sample", min(steps, _STEPS), seed)

    def _take_block(self, actor: _ActorAtWork) -> None:
        """A block that was played is sent to the window; one that has arrived there is counted."""
        try:
            assert actor.block is not None
            if not actor.taking:
                actor.block, actor.taking = self.replay.call("add", actor.block), True
                return
            taken: Taken = actor.block.result()
        except WorkLost:
            self.totals.lost_blocks += 1
            actor.block = None
            self.replace_dead(actor)
            return
        actor.block = None
        self._count(taken)

    def _count(self, taken: Taken) -> None:
        totals = self.totals
        totals.rows, self.held, self.row_version = taken.added, taken.held, taken.version
        harvest, compiling = taken.block.harvest, taken.block.compiling
        totals.games += harvest.games
        totals.searches += harvest.searches
        totals.queries += harvest.queries
        # The largest block lately; it fades, so that one long game does not set the room for good.
        self.block_rows = max(self.block_rows * 0.9, float(taken.rows))
        self.watched.add(taken)
        WATCH.add(max(0.0, compiling - self.compiling))
        self.compiling = max(self.compiling, compiling)

    def _take_learned(self, done: set[int]) -> None:
        if self.sampling is not None and id(self.sampling) in done:
            self.learning, self.sampling = self.learner.call("learn", self.sampling), None
        elif self.learning is not None and id(self.learning) in done:
            learned: LearnerSteps = self.learning.result()
            self.learning = None
            totals = self.totals
            totals.steps, totals.value, totals.policy = learned.steps, learned.value, learned.policy
            if self.fetching is None:
                self.fetching = self.learner.call("weights")
        if self.fetching is not None and id(self.fetching) in done:
            fetched, self.fetching = self.fetching, None
            self._publish(fetched)

    def replace_dead(self, actor: _ActorAtWork | None = None) -> None:
        """Find who has died, and start another from the latest checkpoint. actor: one whose block was lost."""
        # A lost block does not mean a dead actor: the window may have died with the block in its hands.
        if actor is not None and not actor.remote.alive():
            self.totals.deaths += 1
            actor.remote.end()
            actor.remote, actor.publication = self._new_actor(actor.number).remote, 0
        for remote, again in ((self.replay, self._start_replay), (self.learner, self._start_learner)):
            if not remote.alive():
                self.totals.deaths += 1
                remote.end()
                again()

    # --- what others want to know ---

    @property
    def round(self) -> int:
        """How many rounds' worth of games are in; schedules count them."""
        return self.totals.games // ((self.settings.games or 1) * self.start.actors)

    def states(self) -> tuple[State, State]:
        """What a checkpoint keeps of learner and replay; raises WorkLost where one of them has died."""
        return self.learner.call("state").result(), self.replay.call("state").result()

    def vitals(self) -> Vitals:
        """How it is doing."""
        now = time.monotonic()
        recent = [taken for at, taken in self.watched.blocks if at >= now - _RECENT]
        # Rates over half a minute, or since the start where that is less.
        span = max(1e-3, min(_RECENT, now - self.watched.since))
        rates: dict[str, tuple[float, float]] = {}
        for taken in recent:
            block = taken.block
            rows, searches = rates.get(block.machine, (0.0, 0.0))
            searched = block.harvest.searches + block.harvest.queries
            rates[block.machine] = rows + taken.rows / span, searches + searched / span
        spent = sum(taken.block.seconds for taken in recent)
        totals, learner = self.totals, self.settings.learner
        return Vitals(
            rates,
            self.held / self.settings.replay,
            totals.steps * learner.batch / max(1, totals.rows),
            totals.steps - self.row_version,
            sum(taken.block.network for taken in recent) / max(1e-9, spent),
            totals.deaths,
            totals.lost_rows,
            sum(actor.block is None for actor in self.actors),
        )
