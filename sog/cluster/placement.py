"""What `--cluster` may say, and the executor that it names."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Final

from sog.cluster.executor import MOST_PROCESSES, Executor
from sog.cluster.local import LocalExecutor
from sog.errors import SettingError

__all__ = ["Placement", "executor", "placement_of", "usable_cores"]

_LAST_PORT: Final = 65_535
_KNOWN: Final = "local:N (processes of this machine), ray:N (a Ray of this machine), auto or HOST:PORT (a Ray cluster)"


@dataclass(frozen=True)
class Placement:
    """Where a command's processes run: on this machine or on a Ray cluster.

    kind: local or ray.  places: how many cores are to be kept busy.  address: of a running cluster.
    """

    kind: str
    places: int
    address: str = ""


def placement_of(text: str | None, workers: int | None) -> Placement:
    """What --cluster and --workers say together; SettingError where that is nothing, or too much."""
    if workers is not None and workers < 1:
        raise SettingError(f"--workers must be at least 1, not {workers}")
    if text is None:
        return Placement("local", workers or usable_cores())
    if text.startswith("ray://"):
        raise SettingError(
            "ray:// is Ray Client, which Ray's authors advise against for work like this; run sog on a machine of "
            "the cluster with --cluster auto, or hand it over with `ray job submit`"
        )
    if match := re.fullmatch(r"(local|ray):([0-9]{1,9})", text):
        if workers is not None:
            raise SettingError(f"--cluster {text} says how many processes there are; leave out --workers")
        if not 1 <= int(match[2]) <= MOST_PROCESSES:
            raise SettingError(f"--cluster {text}: processes of one machine are 1 to {MOST_PROCESSES}")
        return Placement(match[1], int(match[2]))
    host = re.fullmatch(r"[A-Za-z0-9._-]+:([0-9]{1,5})", text)
    if text == "auto" or (host and 1 <= int(host[1]) <= _LAST_PORT):
        return Placement("ray", workers or 0, text)
    raise SettingError(f"--cluster {text} is not one of {_KNOWN}")


def usable_cores() -> int:
    """The cores that this process may use, which taskset or a batch system can make fewer than the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def executor(placement: Placement) -> Iterator[Executor]:
    """The executor, which ends what it started with the block. Raises SettingError and SogError as RayExecutor does."""
    made: Executor
    with ExitStack() as stack:
        if placement.kind == "local":
            made = LocalExecutor(placement.places)
        else:
            from sog.cluster.on_ray import RayExecutor

            stack.enter_context(redirect_stdout(sys.stderr))  # Ray prints which processes died where results go
            made = RayExecutor(placement.address, placement.places)
        stack.callback(made.close)
        yield made
