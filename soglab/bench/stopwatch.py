"""How benchmarks time: calls in turn, rates, and timers around functions of the library, which a block puts on them.

A stopwatch's timers are wall time, everything else is processor time, so that other programs hardly matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from time import perf_counter, process_time
from typing import Any, TypeAlias, TypeVar

Timed: TypeAlias = Callable[..., Any]
# (module or class, name of its function, what a call counts as, whether it makes a generator that is a job).
Place: TypeAlias = tuple[Any, str, str, bool]
_Key = TypeVar("_Key")


def in_turn(calls: Mapping[_Key, Callable[[], object]], rounds: int) -> dict[_Key, list[float]]:
    """Seconds of each call in each round; all are slowed down alike by what else the machine does."""
    seconds: dict[_Key, list[float]] = {key: [] for key in calls}
    for _ in range(rounds):
        for key, call in calls.items():
            start = process_time()
            call()
            seconds[key].append(process_time() - start)
    return seconds


def counted(call: Callable[[], int], seconds: float) -> tuple[int, float]:
    """What calls return in all until `seconds` are over, and the seconds that they took."""
    start, count = process_time(), 0
    while (spent := process_time() - start) < seconds:
        count += call()
    return count, spent


class Stopwatch:
    """Wall seconds of timed calls by (job, part), and of jobs as a whole under the part WHOLE.

    A job is what generators of one kind do between their yields; job "" is everything else. Timed calls must
    not nest. Totals are less what the timers themselves cost, about.
    """

    WHOLE = "whole"

    def __init__(self) -> None:
        self._seconds: dict[tuple[str, str], float] = defaultdict(float)
        self._calls: dict[tuple[str, str], int] = defaultdict(int)
        self._job = ""
        self._cost = 0.0
        self._started = perf_counter()
        self._cost = self._calibrated()
        self.restart()

    def restart(self) -> None:
        """Forget what was counted."""
        self._seconds.clear()
        self._calls.clear()
        self._started = perf_counter()

    def seconds(self, part: str, job: str | None = None) -> float:
        """Seconds of a part in one job, or in all."""
        return sum(t for (j, p), t in self._seconds.items() if p == part and job in (None, j))

    def whole(self, job: str) -> float:
        """Seconds of a job, all its parts and its own code."""
        own = self._seconds[job, self.WHOLE]
        return own - self._cost * sum(n for (j, p), n in self._calls.items() if j == job and p != self.WHOLE)

    def total(self) -> float:
        """Seconds since the start."""
        return perf_counter() - self._started - self._cost * sum(self._calls.values())

    def timed(self, part: str, function: Timed) -> Timed:
        """The function with a timer."""
        seconds, calls = self._seconds, self._calls

        def call(*args: Any, **kwargs: Any) -> Any:
            start = perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                key = self._job, part
                seconds[key] += perf_counter() - start
                calls[key] += 1

        return call

    def timed_job(self, job: str, function: Timed) -> Timed:
        """A generator function whose generators count as this job."""
        seconds, calls = self._seconds, self._calls
        key = job, self.WHOLE

        def steps(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            generator, answer = function(*args, **kwargs), None
            while True:
                start, self._job = perf_counter(), job
                try:
                    request = generator.send(answer)
                except StopIteration as end:
                    return end.value
                finally:
                    self._job = ""
                    seconds[key] += perf_counter() - start
                    calls[key] += 1
                answer = yield request

        return steps

    @contextmanager
    def watching(self, places: Sequence[Place]) -> Iterator[None]:
        """Time these functions until the end of the block."""
        with ExitStack() as stack:
            for owner, name, part, is_job in places:
                wrap = self.timed_job if is_job else self.timed
                stack.enter_context(replaced(owner, name, wrap(part, vars(owner)[name])))
            yield

    def _calibrated(self, count: int = 20_000) -> float:
        """Seconds that one timer adds around what it times."""
        empty = self.timed("", lambda: None)
        start = perf_counter()
        for _ in range(count):
            empty()
        return (perf_counter() - start - self.seconds("")) / count


@contextmanager
def replaced(owner: Any, name: str, function: Timed) -> Iterator[None]:
    """Put another function in the place of a module's or a class's until the end of the block."""
    before = vars(owner)[name]
    setattr(owner, name, function)
    try:
        yield
    finally:
        setattr(owner, name, before)
