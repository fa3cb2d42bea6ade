"""Both executors do the same: calls in order, errors in one line, deaths noticed, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

import sog.version
from sog.cluster.executor import Executor, WorkLost, compute
from sog.cluster.local import LocalExecutor
from sog.cluster.placement import Placement, executor, placement_of
from sog.errors import GameError, SettingError, SogError
from tests.cluster.work import Counter, always_dies, dies_once, square
from tests.waiting import alive, wait_for


def begun(kind: str, places: int, open_in: ExitStack) -> Executor:
    """The executor; where Ray cannot start the tests are skipped and say why."""
    if kind == "ray":
        pytest.importorskip("ray")
    try:
        return open_in.enter_context(executor(Placement(kind, places)))
    except SogError as error:
        pytest.skip(f"WARNING: no Ray here: {error}")


@pytest.fixture(scope="module", params=["local", "ray"])
def there(request: pytest.FixtureRequest) -> Iterator[Executor]:
    in_memory = set(os.listdir("/dev/shm"))
    with ExitStack() as stack:
        yield begun(request.param, 2, stack)
    wait_for(lambda: set(os.listdir("/dev/shm")) <= in_memory)


def test_calls(there: Executor) -> None:
    """One after the other, in another process, with answers of other calls and shared bytes as arguments."""
    first, second = there.start(Counter, 10), there.start(Counter, 0)
    answers = [first.call("add", number) for number in (1, 2, 3)]
    assert [answer.result() for answer in answers] == [11, 13, 16]
    assert second.call("add", first.call("add", 4)).result() == 20
    shared = there.share(b"x" * 100_000)
    assert [remote.call("length", shared).result() for remote in (first, second)] == [100_000] * 2
    assert len({first.process(), second.process(), os.getpid()}) == 3
    assert set(first.call("threads").result()) == {1}
    for remote in (first, second):
        process = remote.process()
        remote.end()
        wait_for(lambda process=process: not alive(process))


def test_another_version_elsewhere(there: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of a Ray cluster with another sog is refused in one line; on this machine there is only one."""
    monkeypatch.setattr("sog.version.VERSION", "0.0.0")  # of this process alone
    remote = there.start(Counter, 0)
    if isinstance(there, LocalExecutor):
        assert remote.call("add", 1).result() == 1
    else:
        with pytest.raises(SettingError, match=r"has sog .*, not 0\.0\.0"):
            remote.call("add", 1).result()
    remote.end()


def test_errors_are_told(there: Executor) -> None:
    remote = there.start(Counter, 0)
    with pytest.raises(GameError, match="no such game"):
        remote.call("fail", True).result()
    with pytest.raises(SogError, match="RuntimeError: two"):
        remote.call("fail", False).result()
    with pytest.raises(SogError, match=r"own code ended the program \(sys\.exit\)"):
        remote.call("leave").result()
    assert remote.call("add", 1).result() == 1
    remote.end()
    broken = there.start(Counter, -1)
    with pytest.raises(SogError):
        broken.call("add", 1).result()
    broken.end()


def test_what_cannot_be_pickled_is_an_error_and_no_more(there: Executor) -> None:
    """Whether it is sent at once or waits its turn: calls before and after it are answered."""
    remote = there.start(Counter, 0)
    for _ in range(2):
        before = remote.call("add", 1)
        with pytest.raises(Exception, match=r"(?i)pickle|serializ"):
            remote.call("add", threading.Lock()).result()
        after = remote.call("add", 1)
        assert after.result() - before.result() == 1
    with pytest.raises(Exception, match=r"(?i)pickle|serializ"):
        remote.call("add", threading.Lock()).result()
    assert remote.call("add", 1).result() == 5
    remote.end()


def test_waiting(there: Executor, tmp_path: Path) -> None:
    """The quick one is there first; a time that passes brings nothing; what is done comes at once."""
    quick, slow = there.start(Counter, 1), there.start(Counter, 2)
    assert [remote.call("add", 0).result() for remote in (quick, slow)] == [1, 2]
    late, soon = slow.call("wait_for", str(tmp_path / "now")), quick.call("slow", 0.01)
    assert there.wait([late, soon]) == [soon] and there.wait([late, soon]) == [soon]
    assert there.wait([late], 0.01) == []
    (tmp_path / "now").touch()
    assert there.wait([late]) == [late] and late.result() == 2
    for remote in (quick, slow):
        remote.end()


def test_large_questions_and_answers_cross(there: Executor) -> None:
    """Neither side waits for the other to read."""
    remote, large = there.start(Counter, 0), b"x" * 3_000_000
    answers = [remote.call("echo", large) for _ in range(4)]
    assert [len(answer.result()) for answer in answers] == [3_000_000] * 4
    remote.end()


def test_deaths_are_noticed(there: Executor) -> None:
    """Of calls in hand, waiting and later; and of an answer that another call was to get."""
    remote, other = there.start(Counter, 0), there.start(Counter, 0)
    answers = [remote.call("die"), remote.call("add", 1)]
    for answer in answers:
        assert answer in there.wait(answers)
        with pytest.raises(WorkLost):
            answer.result()
    with pytest.raises(WorkLost):
        remote.call("add", 1).result()
    with pytest.raises(WorkLost):
        other.call("add", answers[1]).result()
    assert other.call("add", 5).result() == 5
    other.end()


def test_processes_that_ended_leave_no_open_files() -> None:
    with executor(Placement("local", 1)) as here:
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            remote = here.start(Counter, 0)
            assert remote.call("add", 1).result() == 1 and remote.alive()
            remote.end()
            remote.end()
            assert not remote.alive()
        assert len(os.listdir("/proc/self/fd")) <= before + 1  # Python's own process that tracks resources
        assert isinstance(here, LocalExecutor) and len(here._started) == 1


def test_a_named_object_is_not_ended_while_it_is_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from sog.cluster import on_ray

    ended = threading.Event()
    monkeypatch.setattr(on_ray.os, "_exit", lambda code: ended.set())
    made = on_ray._Host(sog.version.VERSION, 0.2, slow_counter, ())  # twice its patience
    assert not ended.is_set() and made.call("add", 1) == 1
    assert ended.wait(10)


def slow_counter() -> Counter:
    time.sleep(0.4)
    return Counter(0)


def test_compute(there: Executor, tmp_path: Path) -> None:
    """Every key once, whatever dies of it; a key that always kills ends the work."""
    assert dict(compute(there, square, range(7))) == {k: k * k for k in range(7)}
    keys = [(str(tmp_path / "died"), k) for k in range(6)]
    assert sorted(found for _, found in compute(there, dies_once, keys)) == list(range(6))
    assert (tmp_path / "died").exists()
    with pytest.raises(WorkLost):
        list(compute(there, always_dies, [1]))


@pytest.mark.parametrize(
    ("text", "workers", "expected"),
    [
        (None, 3, Placement("local", 3)),
        ("local:2", None, Placement("local", 2)),
        ("ray:2", None, Placement("ray", 2)),
        ("auto", None, Placement("ray", 0, "auto")),
        ("10.0.0.1:6379", 5, Placement("ray", 5, "10.0.0.1:6379")),
    ],
)
def test_where(text: str | None, workers: int | None, expected: Placement) -> None:
    assert placement_of(text, workers) == expected


def test_one_process_for_each_core_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 8})
    assert placement_of(None, None) == Placement("local", 3)


@pytest.mark.parametrize(
    ("text", "workers", "why"),
    [
        ("ray://head:10001", None, "Ray Client"),
        ("local:2", 2, "leave out --workers"),
        ("local:0", None, "1 to 1024"),
        ("local:99999", None, "1 to 1024"),
        ("local:" + "9" * 5000, None, "is not one of"),
        ("10.0.0.1:99999", None, "is not one of"),
        (None, 0, "at least 1"),
        ("somewhere", None, "is not one of"),
    ],
)
def test_wrong_places(text: Any, workers: int | None, why: str) -> None:
    with pytest.raises(SettingError, match=why):
        placement_of(text, workers)


_PROGRAM = """
import sys, time
from sog.cluster import on_ray
from tests.cluster.work import Counter
on_ray.LONELY = float(sys.argv[2])
executor = on_ray.RayExecutor(sys.argv[1], 1)
print(executor.keep("a window", Counter, 1).process(), flush=True)
time.sleep(600)
"""


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a Ray cluster that programs come and go on."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    try:
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "object_store_memory": 80 * 2**20})
    except Exception as error:
        pytest.skip(f"WARNING: no Ray here: {error}")
    try:
        yield made.address
    finally:
        made.shutdown()


@contextmanager
def program(address: str, idle_limit: float) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A program that keeps a named object, and that object's process."""
    line = [sys.executable, "-c", _PROGRAM, address, str(idle_limit)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            yield running, int(running.stdout.readline())
        finally:
            running.kill()


def test_a_named_object_outlives_its_program_until_the_next_one_or_for_a_while(cluster: str) -> None:
    with program(cluster, 600) as (first, kept):
        first.kill()
        first.wait()
        time.sleep(2.0)
        assert alive(kept)
        with program(cluster, 5) as (second, other):
            wait_for(lambda: not alive(kept))
            time.sleep(7.0)
            assert alive(other)  # it hears from its program, which calls nothing
            second.kill()
            wait_for(lambda: not alive(other))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_outlives_the_signals_of_its_group(number: signal.Signals) -> None:
    """`timeout` and a terminal send them to all processes; the parent finishes its round with the workers it has."""
    remote = LocalExecutor(1).start(Counter, 0)
    assert remote.call("add", 1).result() == 1
    os.kill(remote.process(), number)
    assert remote.call("add", 1).result() == 2
    remote.end()
