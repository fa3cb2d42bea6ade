"""The messages between actors and an evaluator process, and the memory they share.

Rows lie in anonymous memory (memfd) whose descriptor is sent over a socket of the abstract namespace. Neither has a
name in a file system: however the processes end, kill -9 included, the kernel frees both with the last of them.
"""

from __future__ import annotations

import array
import mmap
import os
import socket
import struct
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Float32
from sog.errors import SogError

__all__ = [
    "Message",
    "MessageKind",
    "Slot",
    "address",
    "connect",
    "listen",
    "new_memory",
    "receive",
    "send",
    "shared_bytes",
    "shared_copy",
    "user_of",
]

_HEAD: Final = struct.Struct("<BIq")
_LONGEST: Final = 60_000  # bytes of a message; the kernel's own limit is higher


class MessageKind(IntEnum):
    """What a message is about."""

    JOIN = 1  # an actor's slot of `rows` rows; the memory's descriptor comes with it
    EVALUATE = 2  # the first `rows` rows of the slot wait for an answer
    ANSWER = 3  # they are answered, by weights of this version
    LOAD = 4  # weights of this version; the memory's descriptor comes with it
    COUNT = 5  # a request for the counters
    DONE = 6  # the request is done; text: JSON where it has a result
    REFUSED = 7  # text: why


class Message(NamedTuple):
    """One message. rows: of a slot.  version: of the weights.  descriptor: of memory that came with it, or -1."""

    kind: MessageKind
    rows: int = 0
    version: int = 0
    text: str = ""
    descriptor: int = -1


class Slot:
    """Memory of one actor, which its evaluator process sees too: rows to be answered, and the answers.

    inputs: float32[R, D].  outputs: float32[R, O].
    """

    def __init__(self, descriptor: int, rows: int, inputs: int, outputs: int) -> None:
        """Map memory of this size. Raises SogError where it is smaller."""
        size = 4 * rows * (inputs + outputs)
        if os.fstat(descriptor).st_size < size:
            raise SogError(f"the shared memory holds fewer than {rows} rows")
        whole: Float32 = np.frombuffer(mmap.mmap(descriptor, size), dtype=np.float32)
        self.rows = rows
        self.inputs: Float32 = whole[: rows * inputs].reshape(rows, inputs)
        self.outputs: Float32 = whole[rows * inputs :].reshape(rows, outputs)


def new_memory(size: int) -> int:
    """The descriptor of new anonymous memory of this many bytes."""
    descriptor = os.memfd_create("sog")
    os.ftruncate(descriptor, size)
    return descriptor


def shared_copy(content: bytes) -> int:
    """The descriptor of memory that holds these bytes."""
    descriptor = new_memory(len(content))
    with mmap.mmap(descriptor, len(content)) as memory:
        memory[:] = content
    return descriptor


def shared_bytes(descriptor: int) -> bytes:
    """The bytes of such memory."""
    with mmap.mmap(descriptor, os.fstat(descriptor).st_size, prot=mmap.PROT_READ) as memory:
        return memory[:]


def address(name: str) -> str:
    """The socket's address of the evaluator process with this name."""
    return f"\0sog-evaluator-{name}"


def listen(name: str) -> socket.socket:
    """The socket of a new evaluator process. Raises SogError where another has the name."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        listener.bind(address(name))
    except OSError as error:
        listener.close()
        raise SogError(f"an evaluator process called {name} runs already") from error
    listener.listen(1024)
    return listener


def connect(name: str) -> socket.socket:
    """A socket to the evaluator process with this name. Raises SogError where no process of this user has it."""
    talk = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        talk.connect(address(name))
    except OSError as error:
        talk.close()
        raise SogError(f"no evaluator process is called {name}") from error
    # Any user may take a name in the abstract namespace.
    if user_of(talk) != os.getuid():
        talk.close()
        raise SogError(f"the evaluator process called {name} is another user's")
    return talk


def user_of(talk: socket.socket) -> int:
    """The user whose process is on the other side."""
    credentials = talk.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[1])


def send(talk: socket.socket, message: Message) -> None:
    """Send a message. Raises OSError where the other side has ended."""
    packet = _HEAD.pack(message.kind, message.rows, message.version)
    packet += message.text.encode()[: _LONGEST - _HEAD.size]
    if message.descriptor < 0:
        talk.sendmsg([packet], [], socket.MSG_NOSIGNAL)
    else:
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [message.descriptor]))
        talk.sendmsg([packet], [rights], socket.MSG_NOSIGNAL)


def receive(talk: socket.socket) -> Message | None:
    """The next message, None where the other side has ended; ValueError for bytes that are not a message."""
    try:
        packet, descriptors, _, _ = socket.recv_fds(talk, _LONGEST, 1)
    except ConnectionError:
        return None
    try:
        if len(packet) < _HEAD.size:
            raise ValueError("no message")
        kind, rows, version = _HEAD.unpack(packet[: _HEAD.size])
        text = packet[_HEAD.size :].decode()
        return Message(MessageKind(kind), rows, version, text, descriptors[0] if descriptors else -1)
    except ValueError:
        # Descriptors are open as soon as they are received: unclosed, their memory would never be freed.
        for descriptor in descriptors:  # which nobody else has yet
            os.close(descriptor)
        if not packet:
            return None
        raise
