"""A match of hands with a records file that it continues from; hand_record.py has the file's form."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

from sog.errors import SettingError
from sog.files import shown
from sog.locks import lock
from sog.play.hand import HandMatch
from sog.play.hand_record import FORM, HandRecord
from sog.progress import Report

__all__ = ["play_match", "read_match", "read_records"]

_LONGEST: Final = 2**30  # bytes of a line
_ROUNDING: Final = 1e-9  # of a utility, as a share of u_max


# Opens a progress bar where this many hands are finished already.
OpenBar: TypeAlias = Callable[[int], AbstractContextManager[Report]]


def play_match(match: HandMatch, hands: int, records: Path | None, bar: OpenBar) -> list[float]:
    """What A wins in each hand, in utilities.

    records: hands that are in this file are not played again, and those that are played are added to it. SettingError
    for a file that cannot be written, is of another match or in use.
    """
    if records is None:
        with bar(0) as report:
            return [hand.won for block in match.play(0, hands, report) for hand in block]
    with _opened(records) as file:
        won = _continued(file, records, match)
        with bar(min(len(won), hands)) as report:
            for block in match.play(len(won), hands, report):
                # In one piece, so that a kill leaves whole hands.
                file.write("".join(f"{hand.line()}\n" for hand in block).encode())
                file.flush()
                won += [hand.won for hand in block]
    return won[:hands]


def read_match(path: Path) -> dict[str, Any]:
    """The first line of a records file; SettingError for another line."""
    with _to_read(path) as file:
        return _Lines(file, path).match


def read_records(path: Path) -> Iterator[HandRecord]:
    """The hands of a records file, in order; a last line that a kill cut short is left out.

    SettingError for another or a damaged file.
    """
    with _to_read(path) as file:
        yield from _Lines(file, path)


@contextmanager
def _to_read(path: Path) -> Iterator[BinaryIO]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise SettingError(f"{shown(path)} cannot be read: {error.strerror}") from error
    with file:
        yield file


def _header(match: HandMatch) -> dict[str, Any]:
    """What decides the hands of a match."""
    a, b = (entrant.plays for entrant in match.entrants)
    header = {"match": FORM, "game": match.game.name, "a": a, "b": b, "seed": match.seed}
    return header | {"policies": match.policies}


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file, to be read and added to, for this process alone."""
    try:
        file = path.open("ab+")
    except OSError as error:
        raise SettingError(f"cannot write {shown(path)}: {error.strerror}") from error
    with file:
        try:
            lock(file.fileno())
        except BlockingIOError as error:
            raise SettingError(f"another match is adding hands to {shown(path)}") from error
        except OSError:  # some network file systems have no locks, nor has Windows
            pass
        yield file


def _continued(file: BinaryIO, path: Path, match: HandMatch) -> list[float]:
    """What A won in the hands of an opened file, which gets its first line where it has none; SettingError as above."""
    wanted = _header(match)
    first = f"{json.dumps(wanted)}\n".encode()
    file.seek(0)
    if first.startswith(file.read(len(first))) and not file.read(1):  # nothing, or a first line that a kill cut short
        os.ftruncate(file.fileno(), 0)
        file.write(first)
        file.flush()
        return []
    lines = _Lines(file, path)
    for key, value in wanted.items():
        if lines.match.get(key) != value:
            was = f"its {key} is {shown(lines.match.get(key))}, not {shown(value)}"
            raise SettingError(f"{shown(path)} is of another match: {was}; name another file")
    won = [hand.won for hand in lines]
    most = match.game.u_max * (1 + _ROUNDING)
    if wrong := [number for number, one in enumerate(won) if abs(one) > most]:
        raise SettingError(f"{shown(path)} is damaged at hand {wrong[0]}; name another file")
    os.ftruncate(file.fileno(), lines.whole)  # without the last line, where a kill cut it short
    return won


class _Lines:
    """The lines of a records file: what its match is, then its hands.  whole: the bytes of the lines read so far."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self.file, self.path, self.whole = file, path, 0
        file.seek(0)
        with self._sense("is no file of a match's hands"):
            self.match: dict[str, Any] = json.loads(self._line())
            if not isinstance(self.match, dict) or self.match.get("match") != FORM:
                raise ValueError("no match")

    def __iter__(self) -> Iterator[HandRecord]:
        number = 0
        while line := self._line():
            with self._sense(f"is damaged at hand {number}"):
                record = HandRecord.of_line(line)
                if record.number != number:
                    raise ValueError("a hand is missing")
            yield record
            number += 1

    def _line(self) -> bytes:
        """The next whole line; empty at the end."""
        line = self.file.readline(_LONGEST)
        if not line.endswith(b"\n"):
            return b""
        self.whole += len(line)
        return line

    @contextmanager
    def _sense(self, fault: str) -> Iterator[None]:
        try:
            yield
        except (ValueError, RecursionError) as error:
            raise SettingError(f"{shown(self.path)} {fault}; name another file") from error
