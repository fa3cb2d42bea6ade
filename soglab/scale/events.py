"""Discrete events: processes that use shared resources and wait for one another.

A process is a generator. It yields a `Use` of a resource and continues when that is done, or a `Gate` and continues
when somebody opens it.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Gate", "Process", "Resource", "Simulation", "Use"]


class Resource:
    """Something that its users share evenly, such as a machine's cores or a link.

    capacity: how much all users together can have a second.  most: how much one user can have a second, such as
    one core of several.  used: how much was used so far.
    """

    def __init__(self, name: str, capacity: float, most: float | None = None) -> None:
        self.name, self.capacity, self.used = name, capacity, 0.0
        self.most = capacity if most is None else min(most, capacity)
        self.each, self.at = 0.0, 0.0  # what a user who was there from the start would have had by the time `at`
        self.users: list[tuple[float, int, Process]] = []  # when `each` reaches the first figure, that user is done
        self.version = 0

    def rate(self) -> float:
        """What each user has now, a second."""
        return min(self.most, self.capacity / len(self.users)) if self.users else 0.0

    def move_to(self, now: float) -> None:
        """Let the time pass."""
        had = self.rate() * (now - self.at)
        self.each += had
        self.used += had * len(self.users)
        self.at = now


@dataclass(frozen=True)
class Use:
    """An amount of a resource: core seconds, bytes."""

    resource: Resource
    amount: float


class Gate:
    """What processes wait at until it is opened; it then stays open until it is closed."""

    def __init__(self, is_open: bool = False) -> None:
        self.is_open = is_open
        self.waiting: list[Process] = []


Process: TypeAlias = Generator[Use | Gate, None, None]


class Simulation:
    """Runs processes against a clock of its own.  now: seconds since the start."""

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, Resource, int]] = []
        self._count = itertools.count()

    def begin(self, process: Process) -> None:
        """A process begins now."""
        self._go_on(process)

    def open(self, gate: Gate) -> None:
        """All who wait at the gate continue."""
        gate.is_open = True
        waiting, gate.waiting = gate.waiting, []
        for process in waiting:
            self._go_on(process)

    def run(self, seconds: float) -> None:
        """Let this much time pass."""
        end = self.now + seconds
        while self._events and self._events[0][0] <= end:
            at, _, resource, version = heapq.heappop(self._events)
            if version != resource.version:
                continue
            self.now = at
            resource.move_to(at)
            _, _, process = heapq.heappop(resource.users)
            self._expect(resource)
            self._go_on(process)
        self.now = end

    def share(self, resource: Resource) -> float:
        """How much of the resource was in use, of all it could have given."""
        resource.move_to(self.now)
        self._expect(resource)
        return resource.used / (resource.capacity * self.now) if self.now else 0.0

    def _go_on(self, process: Process) -> None:
        """Let a process run until it has to wait."""
        for wish in process:
            if isinstance(wish, Gate):
                if not wish.is_open:
                    wish.waiting.append(process)
                    return
            elif wish.amount > 0.0:
                resource = wish.resource
                resource.move_to(self.now)
                heapq.heappush(resource.users, (resource.each + wish.amount, next(self._count), process))
                self._expect(resource)
                return

    def _expect(self, resource: Resource) -> None:
        """Note when the next of its users is done."""
        resource.version += 1
        if resource.users:
            left = max(0.0, resource.users[0][0] - resource.each)
            at = self.now + left / resource.rate()
            heapq.heappush(self._events, (at, next(self._count), resource, resource.version))
