"""The actors' side of an evaluator process: an ordinary evaluator, and what its owner does with it."""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final
from uuid import uuid4

import numpy as np

from sog.arrays import Float32
from sog.cluster.parent_death import run_worker
from sog.errors import SogError
from sog.nets.inference import answer_by_rows
from sog.nets.network import Network
from sog.nets.serialized import network_bytes
from sog.nets.serving.resident import Residence
from sog.nets.serving.server import Counters, Flushing, run_server
from sog.nets.serving.wire import Message, MessageKind, Slot, connect, new_memory, receive, send, shared_copy
from sog.nets.shape import NetworkShape
from sog.searches.leaves.evaluator import Beliefs, Evaluations, Wanted

__all__ = ["EvaluatorLost", "EvaluatorProcess", "ServedEvaluator", "serving"]

# Rows of a slot: a search's batch fits in one request, and a wider one is split.
ROWS: Final = 1024


class EvaluatorLost(SogError):
    """The evaluator process has ended; a new one of the same name may be connected to."""


class _Talk:
    """A connection to an evaluator process on which requests are answered one by one."""

    def __init__(self, name: str) -> None:
        """Connect; raises EvaluatorLost where there is no such process."""
        try:
            self._socket: socket.socket = connect(name)
        except SogError as error:
            raise EvaluatorLost(str(error)) from error

    def call(self, message: Message) -> Message:
        """The answer. Raises EvaluatorLost where the process has ended, and SogError where it refuses."""
        try:
            send(self._socket, message)
            answer = receive(self._socket)
        except OSError as error:
            raise EvaluatorLost("the evaluator process has ended") from error
        except BaseException:  # an interrupt: the answer on its way must not be taken for the next request's
            self._socket.close()
            raise
        if answer is None:
            raise EvaluatorLost("the evaluator process has ended")
        if answer.kind == MessageKind.REFUSED:
            raise SogError(answer.text)
        return answer

    def call_with_memory(self, message: Message, descriptor: int) -> Message:
        """The same, with memory that the other side may keep; ours of it is closed."""
        try:
            return self.call(message._replace(descriptor=descriptor))
        finally:
            os.close(descriptor)

    def close(self) -> None:
        self._socket.close()


class ServedEvaluator:
    """An evaluator (sog.searches.leaves.evaluator) whose rows another process of this machine answers.

    version: of the weights that answered last.  What rows are batched with depends on time, and so may the last bits
    of an answer.
    """

    def __init__(self, name: str, shape: NetworkShape, rows: int = ROWS) -> None:
        """Connect to the process called `name`. Raises EvaluatorLost where it is gone."""
        self.shape = shape
        self._talk = _Talk(name)
        memory = new_memory(4 * rows * (shape.inputs + shape.outputs))
        self._slot = Slot(memory, rows, shape.inputs, shape.outputs)
        self.version = self._talk.call_with_memory(Message(MessageKind.JOIN, rows), memory).version

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        return answer_by_rows(self.shape, requests, self.rows)

    def rows(self, x: Float32, wanted: Wanted = Wanted.BOTH) -> Float32:
        """float32[B, O], the network's answers to rows float32[B, D], whatever is wanted; raises EvaluatorLost."""
        slot, out = self._slot, np.empty((len(x), self.shape.outputs), dtype=np.float32)
        for start in range(0, len(x), slot.rows):
            part = x[start : start + slot.rows]
            # Shared memory: only the message goes over the socket.
            slot.inputs[: len(part)] = part
            self.version = self._talk.call(Message(MessageKind.EVALUATE, len(part))).version
            out[start : start + len(part)] = slot.outputs[: len(part)]
        return out

    def close(self) -> None:
        """Leave; the process frees the slot."""
        self._talk.close()


class EvaluatorProcess:
    """An evaluator process as its owner sees it.  name: what actors connect to."""

    def __init__(self, name: str) -> None:
        """Connect; raises EvaluatorLost where there is no such process."""
        self.name = name
        self._talk = _Talk(name)

    def load(self, network: Network, version: int) -> None:
        """Copy its weights into the network between two batches; raises SogError where they do not fit it."""
        content = network_bytes(network)
        self._talk.call_with_memory(Message(MessageKind.LOAD, version=version), shared_copy(content))

    def counters(self) -> Counters:
        """How it is doing now."""
        return Counters(**json.loads(self._talk.call(Message(MessageKind.COUNT)).text))

    def close(self) -> None:
        self._talk.close()


@contextmanager
def serving(
    shape: NetworkShape, residence: Residence | None = None, flushing: Flushing | None = None, name: str = ""
) -> Iterator[EvaluatorProcess]:
    """An evaluator process of this process's own, with a network of zeros until weights are loaded.

    It ends with the block, and with this process however that ends. Raises SogError where it cannot start.
    """
    name = name or uuid4().hex
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    arguments = name, shape, residence or Residence(), flushing or Flushing()
    process = context.Process(target=run_worker, args=(theirs, os.getpid()), daemon=True, name=f"sog-evaluator-{name}")
    process.start()
    # Closed here, so that `recv` ends where the process dies before it is ready.
    theirs.close()
    ours.send((run_server, arguments))
    try:
        try:
            trouble = ours.recv()
        except EOFError:
            trouble = "it ended while it started"
        if trouble:
            raise SogError(f"evaluator process: {trouble}")
        owner = EvaluatorProcess(name)
        try:
            yield owner
        finally:
            owner.close()
    finally:
        ours.close()
        process.kill()  # it holds nothing that anyone would miss
        process.join()
