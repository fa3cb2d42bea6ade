"""The evaluator process: it joins many actors' requests into one batch and answers it.

A batch is answered when it has enough rows, when its oldest request has waited long enough, or when every actor
waits. An actor or the owner may end at any time, kill -9 included.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import selectors
import socket
import time
from collections import deque
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from typing import Final

import numpy as np
import safetensors
import safetensors.torch
import torch

from sog.errors import SettingError, SogError
from sog.nets.serving.resident import Residence, ResidentNetwork
from sog.nets.serving.wire import Message, MessageKind, Slot, listen, receive, send, shared_bytes, user_of
from sog.nets.shape import NetworkShape

__all__ = ["Counters", "Flushing", "run_server"]

_REMEMBERED: Final = 2_000  # requests and batches that the figures are over
_MOST_ROWS: Final = 1 << 20  # of one slot


@dataclass(frozen=True)
class Flushing:
    """When a batch is answered: at this many rows, or after this many microseconds of its oldest request."""

    rows: int = 1024
    microseconds: float = 500.0

    def __post_init__(self) -> None:
        if self.rows < 1 or not self.microseconds >= 0:
            raise SettingError(f"a batch has at least 1 row and 0 microseconds, not {self.rows}, {self.microseconds}")


@dataclass(frozen=True)
class Counters:
    """How an evaluator process is doing.

    version: of its weights.  actors: connected now.  rows, requests, batches: answered so far.  mean_batch: rows, and
    p95_ms: milliseconds from a request's arrival to its answer, 95th percentile, both over the latest 2,000.
    network_share: of its time since they were last read.
    """

    version: int
    actors: int
    rows: int
    requests: int
    batches: int
    mean_batch: float
    p95_ms: float
    network_share: float


@dataclass(eq=False)
class _Client:
    """A connection. slot: None until it has joined.  waiting: rows requested.  since: when, in perf_counter seconds."""

    talk: socket.socket
    slot: Slot | None = None
    waiting: int = 0
    since: float = 0.0


def run_server(ready: Connection, name: str, shape: NetworkShape, residence: Residence, flushing: Flushing) -> None:
    """The process's work: sends "" over `ready` when it can be connected to, or why it cannot."""
    torch.set_num_threads(1)
    try:
        network = ResidentNetwork(shape, residence)
        network.warm_up()
        server = _Server(listen(name), network, flushing)
    except Exception as error:
        ready.send(str(error) if isinstance(error, SogError) else f"{type(error).__name__}: {error}")
        return
    ready.send("")
    server.run()


class _Server:
    def __init__(self, listener: socket.socket, network: ResidentNetwork, flushing: Flushing) -> None:
        self.listener, self.network, self.flushing = listener, network, flushing
        self.actors: dict[int, _Client] = {}
        self.version = self.rows = self.requests = self.batches = 0
        self.sizes: deque[int] = deque(maxlen=_REMEMBERED)
        self.latencies: deque[float] = deque(maxlen=_REMEMBERED)
        self.computed, self.counted = 0.0, time.perf_counter()
        self.selector = selectors.SelectSelector()  # epoll waits whole milliseconds
        self.selector.register(listener, selectors.EVENT_READ)

    def run(self) -> None:
        """Answer until the parent process ends."""
        parent = multiprocessing.parent_process()
        assert parent is not None
        self.selector.register(parent.sentinel, selectors.EVENT_READ)
        while True:
            # Wait for whatever comes first: the parent's end, a new actor, a message, or the oldest request's patience.
            for key, _ in self.selector.select(self._patience()):
                if key.fd == parent.sentinel:
                    return
                if key.fd == self.listener.fileno():
                    self._welcome()
                else:
                    self._hear(self.actors[key.fd])
            if self._is_due():
                self._flush()

    def _welcome(self) -> None:
        talk, _ = self.listener.accept()
        if user_of(talk) != os.getuid():
            talk.close()
            return
        self.actors[talk.fileno()] = _Client(talk)
        self.selector.register(talk, selectors.EVENT_READ)

    def _hear(self, actor: _Client) -> None:
        """One message; its end, and whatever cannot be understood, ends the connection."""
        try:
            message = receive(actor.talk)
            if message is None:
                self._part_from(actor)
                return
            try:
                answer = self._answer_to(actor, message)
            finally:
                if message.descriptor >= 0:
                    os.close(message.descriptor)
            if answer is not None:
                send(actor.talk, answer)
        except SogError as error:
            self._send(actor, Message(MessageKind.REFUSED, text=str(error)))
        except (OSError, ValueError):
            self._part_from(actor)

    def _answer_to(self, actor: _Client, message: Message) -> Message | None:
        # Not answered yet: it waits for its batch.
        if message.kind == MessageKind.EVALUATE and actor.slot is not None and 0 < message.rows <= actor.slot.rows:
            actor.waiting, actor.since = message.rows, time.perf_counter()
            return None
        if message.kind == MessageKind.JOIN and 0 < message.rows <= _MOST_ROWS:
            shape = self.network.shape
            actor.slot = Slot(message.descriptor, message.rows, shape.inputs, shape.outputs)
            return Message(MessageKind.DONE, version=self.version)
        if message.kind == MessageKind.LOAD:
            self._load(message)
            return Message(MessageKind.DONE, version=self.version)
        if message.kind == MessageKind.COUNT:
            return Message(MessageKind.DONE, version=self.version, text=json.dumps(asdict(self._counters())))
        raise SogError("the evaluator process was sent what it does not understand")

    def _load(self, message: Message) -> None:
        try:
            weights = safetensors.torch.load(shared_bytes(message.descriptor))
        except (safetensors.SafetensorError, ValueError) as error:
            raise SogError("the weights are damaged") from error
        self.network.load(weights)
        self.version = message.version

    def _waiting(self) -> list[_Client]:
        return [actor for actor in self.actors.values() if actor.waiting]

    def _patience(self) -> float | None:
        """Seconds until the oldest request has waited long enough; None where no request waits."""
        oldest = min((actor.since for actor in self._waiting()), default=None)
        if oldest is None:
            return None
        return max(0.0, oldest + 1e-6 * self.flushing.microseconds - time.perf_counter())

    def _is_due(self) -> bool:
        waiting = self._waiting()
        if not waiting:
            return False
        # Where every actor waits, nothing more can come: to wait longer would only lose time.
        joined = sum(actor.slot is not None for actor in self.actors.values())
        enough = sum(actor.waiting for actor in waiting) >= self.flushing.rows or len(waiting) == joined
        return enough or self._patience() == 0.0

    def _flush(self) -> None:
        """Answer all that wait in one batch."""
        waiting = [(actor, actor.slot, actor.waiting) for actor in self._waiting() if actor.slot is not None]
        started = time.perf_counter()
        answers = self.network.answer([slot.inputs[:rows] for _, slot, rows in waiting])
        ended = time.perf_counter()
        stop = 0
        for actor, slot, rows in waiting:
            start, stop = stop, stop + rows
            # The answer is written into the actor's memory before the message that says so.
            slot.outputs[:rows] = answers[start:stop]
            actor.waiting = 0
            self.latencies.append(ended - actor.since)
            self._send(actor, Message(MessageKind.ANSWER, rows, self.version))
        self.rows, self.requests, self.batches = self.rows + stop, self.requests + len(waiting), self.batches + 1
        self.sizes.append(stop)
        self.computed += ended - started

    def _send(self, actor: _Client, message: Message) -> None:
        """Send a message to somebody who may have ended meanwhile."""
        try:
            send(actor.talk, message)
        except OSError:
            self._part_from(actor)

    def _part_from(self, actor: _Client) -> None:
        """Forget a connection; its memory goes with the last reference to it."""
        del self.actors[actor.talk.fileno()]
        self.selector.unregister(actor.talk)
        actor.talk.close()

    def _counters(self) -> Counters:
        now = time.perf_counter()
        share = self.computed / max(1e-9, now - self.counted)
        self.computed, self.counted = 0.0, now
        return Counters(
            self.version,
            sum(actor.slot is not None for actor in self.actors.values()),
            self.rows,
            self.requests,
            self.batches,
            float(np.mean(self.sizes)) if self.sizes else 0.0,
            1e3 * float(np.percentile(self.latencies, 95)) if self.latencies else 0.0,
            share,
        )
