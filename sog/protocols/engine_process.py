"""Another program on pipes: lines to it, its lines within a time, its end and its children's."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Final

from sog.cluster.parent_death import ending_with_us
from sog.errors import SettingError
from sog.play.match import ContestantFault
from sog.protocols.words import shown

__all__ = ["LONGEST", "STARTING", "EngineProcess"]

# Bytes that a program may print without an end: of a line, or of an answer.
LONGEST: Final = 2**20
# Seconds that a program has at least for its first answer, which comes once it has started.
STARTING: Final = 10.0
# Seconds between two looks at whether the program still runs, and for one that has closed its output to end.
_LOOK: Final = 0.1
_ENDING: Final = 1.0


class EngineProcess:
    """A program started here, in a session of its own. What it does wrong later is a ContestantFault.

    On Linux it ends with the thread that started it. It is read only while a line is wanted, so it cannot fill the
    memory.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """SettingError where it does not start: no game is lost by a command that names no program."""
        if os.name != "posix":
            raise SettingError("programs behind UCI and GTP need Linux, macOS or WSL")
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
                preexec_fn=ending_with_us(),
            )
        except (OSError, ValueError) as error:  # ValueError: a NUL in the command
            raise SettingError(f"{shown(command[0])} does not start: {getattr(error, 'strerror', error)}") from error
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        self._read = bytearray()
        self.allow(0.0)

    def allow(self, seconds: float) -> None:
        """Limit the time for all lines to it and from it, from now until this is called again."""
        self._seconds, self._until = seconds, time.monotonic() + seconds

    def say(self, line: str) -> None:
        """Write a line; ContestantFault where it is not taken in time."""
        left = line.encode() + b"\n"
        while left:
            self._wait(self._in, select.POLLOUT)
            try:
                left = left[os.write(self._in, left) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._gone("has closed its input") from None

    def line(self) -> str:
        """Its next line; ContestantFault where it is late, endless, or will never come."""
        while (end := self._read.find(b"\n")) < 0:
            if len(self._read) > LONGEST:
                raise ContestantFault(f"printed a line of more than {LONGEST:,} bytes")
            self._wait(self._out, select.POLLIN)
            if not (chunk := os.read(self._out, 2**16)):
                raise self._gone("has closed its output")
            self._read += chunk
        if time.monotonic() > self._until:
            raise self._late()
        line = self._read[:end].decode("utf-8", "replace")
        del self._read[: end + 1]
        return line.rstrip("\r")

    def kill(self) -> None:
        """End the program and what it started, whatever they do. What has left its session is not ended."""
        if self._process.returncode is None:
            self._kill_group()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _wait(self, end: int, event: int) -> None:
        """Until a pipe can be written or read; ContestantFault where the time is over or the program has ended."""
        poll = select.poll()
        poll.register(end, event)
        while not poll.poll(1000.0 * max(0.0, min(_LOOK, self._until - time.monotonic()))):
            if (ending := self._ended()) is not None and not poll.poll(0.0):
                raise ContestantFault(ending)  # though a child of it may hold the pipe open
            if time.monotonic() >= self._until:
                raise self._late()

    def _late(self) -> ContestantFault:
        return ContestantFault(f"took longer than {self._seconds:g} s")

    def _gone(self, otherwise: str) -> ContestantFault:
        """Why a pipe is closed: the program has ended, which shows a moment later, or it has only closed the pipe."""
        until = time.monotonic() + _ENDING
        while (ending := self._ended()) is None and time.monotonic() < until:
            time.sleep(0.01)
        return ContestantFault(ending or otherwise)

    def _ended(self) -> str | None:
        """How the program has ended; None while it runs. It is not reaped, so its number stays its own until `kill`.

        Where the system cannot look without reaping (macOS), what it started is ended at once.
        """
        if not hasattr(os, "waitid"):
            if (code := self._process.poll()) is None:
                return None
            self._kill_group()
            return f"has ended ({'exit code' if code >= 0 else 'signal'} {abs(code)})"
        seen = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if seen is None:
            return None
        kind = "exit code" if seen.si_code == os.CLD_EXITED else "signal"
        return f"has ended ({kind} {seen.si_status})"
