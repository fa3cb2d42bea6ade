"""Threads in step: nobody passes the barrier before everyone has come, also where threads outnumber cores."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from sog.arrays import Array
from sog.searches.kernels.threads import NEXT, fetch_add, pause, read, released, shared, wait_for_all, write

U = np.uint64


@released
def _rounds(me: int, threads: int, sync: Array, rounds: int, done: Array, late: Array) -> None:
    """Each round: say so, meet, count those who have not said so, meet again."""
    for k in range(rounds):
        if me == k % threads:  # somebody is always late
            for _ in range(1000):
                pause()
        done[me] = k + 1
        wait_for_all(sync, threads)
        for other in range(threads):
            late[me] += done[other] != k + 1
        wait_for_all(sync, threads)


@released
def _tasks(me: int, threads: int, sync: Array, taken: Array) -> None:
    """Take tasks until none is left."""
    task = fetch_add(sync, U(NEXT), 1)
    while task < len(taken):
        taken[task] += 1 + 100 * (read(sync, U(NEXT)) <= task)
        task = fetch_add(sync, U(NEXT), 1)
    wait_for_all(sync, threads)
    if me == 0:
        write(sync, U(NEXT), 0)


def _together(kernel: object, threads: int, *arrays: object) -> None:
    assert callable(kernel)
    sync = shared()
    others = [threading.Thread(target=kernel, args=(me, threads, sync, *arrays)) for me in range(threads)]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_nobody_passes_before_everyone_has_come(threads: int) -> None:
    done, late = np.zeros(threads, dtype=np.int64), np.zeros(threads, dtype=np.int64)
    _together(_rounds, threads, 300, done, late)
    assert done.tolist() == [300] * threads and not late.any()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_task_is_taken_once(threads: int) -> None:
    taken = np.zeros(10_000, dtype=np.int64)
    _together(_tasks, threads, taken)
    assert (taken == 1).all()
