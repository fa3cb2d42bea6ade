"""Tasks shared by threads, also where threads outnumber cores: each is done once, and after those it needs."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from sog.arrays import Array
from sog.search.threads import DONE, NEXT, finish, pause, read, released, shared, take

U = np.uint64
WIDTH = 7  # tasks of a stage; each stage needs all before it


@released
def _stages(sync: Array, stages: int, done: Array, early: Array) -> None:
    """Do each task once and note those of the stage before that were not done."""
    task = read(sync, U(NEXT))
    while task < stages * WIDTH:
        before = task - task % WIDTH
        if take(sync, task, before):
            if task % WIDTH == task // WIDTH % WIDTH:  # one of them is always late
                for _ in range(2000):
                    pause()
            for other in range(before):
                early[task] += done[other] != 1
            done[task] += 1
            finish(sync)
        task = read(sync, U(NEXT))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_task_is_done_once_and_after_the_stage_before(threads: int) -> None:
    stages = 100
    sync, done, early = shared(), np.zeros(stages * WIDTH, np.int64), np.zeros(stages * WIDTH, np.int64)
    others = [threading.Thread(target=_stages, args=(sync, stages, done, early)) for _ in range(threads)]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join()
    assert (done == 1).all() and not early.any()
    assert sync[NEXT] == sync[DONE] == stages * WIDTH


def test_a_task_that_another_thread_took_is_not_taken_again() -> None:
    sync = shared()
    sync[NEXT] = 3

    @released
    def taken(sync: Array, task: int, needs: int) -> bool:
        return bool(take(sync, task, needs))

    assert not taken(sync, 2, 0) and sync[NEXT] == 3
    assert not taken(sync, 2, 5)  # nor waited for
    assert taken(sync, 3, 0) and sync[NEXT] == 4
