"""The ACPC dealer: it deals hands to two clients on sockets, admits their actions, keeps their time, log and actions.

What it does with faults is what the ACPC's reference server does, version 2.0.0 of the protocol: it reads only from the
player to act, ignores every line that does not answer the current state while the player's clock runs, and takes what
is not an action for a call. Silence and a closed connection end the match.
"""

from __future__ import annotations

import os
import re
import select
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sog.errors import SettingError
from sog.files import shown as shown_path
from sog.locks import lock
from sog.play.match import ContestantFault
from sog.progress import Report
from sog.protocols.acpc_states import VERSION, AcpcGame, AcpcHand, Dealt, MatchState
from sog.protocols.words import shown

__all__ = ["Clocks", "Dealer", "DealerFiles", "DealtMatch", "seat_of"]

_LONGEST: Final = 2**16  # bytes of a line; of a longer one the rest is dropped
_VERSION: Final = re.compile(r"VERSION:([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")
_OURS: Final = tuple(int(word) for word in VERSION.partition(":")[2].split("."))
_ENTRY: Final = re.compile(r"([0-9]{1,12}) ([01]) (f|c|r[0-9]{0,12}) ([0-9]{1,12})")


@dataclass(frozen=True)
class Clocks:
    """Milliseconds of a player.  response: for an action.  hand: for all its actions of a hand.

    per_hand: times the hands of the match, for all its actions.  start: until both have connected; None: for ever.
    """

    response: int = 600_000
    hand: int = 600_000
    per_hand: int = 7_000
    start: int | None = None


@dataclass(frozen=True)
class DealtMatch:
    """What decides a match.  game_name: as the log has it.  players: their names, by seat.

    fixed: whether seat s always has position s; otherwise they alternate, and seat s has it in even hands.
    """

    name: str
    game: AcpcGame
    game_name: str
    hands: int
    seed: int
    players: tuple[str, str]
    fixed: bool = False

    def __post_init__(self) -> None:
        """SettingError for names that a log cannot have."""
        for name in (self.name, *self.players):
            if not name or not name.isprintable() or set(name) & set(":| ") or len(name) > 100:
                raise SettingError(f"a log has no name {shown(name)!r}: names have no blanks, colons and bars")

    def header(self) -> str:
        """The first line of its log."""
        return f"# name/game/hands/seed {self.name} {self.game_name} {self.hands} {self.seed}"

    def decided_by(self) -> str:
        """The first line of its actions."""
        game = self.game.text().replace("\n", "; ")
        return f"# {self.name} {self.hands} {self.seed} {'|'.join(self.players)} fixed={self.fixed} {game}"


def seat_of(position: int, hand: int, fixed: bool) -> int:
    """Which player has a position in a hand."""
    return position if fixed else (position + hand) % 2


@dataclass(frozen=True)
class DealerFiles:
    """Where a match is written.  log: its hands.  transactions: its actions, from which a match is resumed.

    resume: whether the files continue, as far as they are there.
    """

    log: Path | None = None
    transactions: Path | None = None
    resume: bool = False


class Dealer:
    """One match: `ports` are open once it is made; `play` waits for the clients and deals.  totals: chips, by seat."""

    def __init__(
        self,
        match: DealtMatch,
        clocks: Clocks,
        files: DealerFiles,
        warn: Callable[[str], None],
        host: str = "127.0.0.1",
        ports: tuple[int, int] = (0, 0),
    ) -> None:
        """ports: 0 for any.  warn: takes a line for each fault that was let pass.

        SettingError where a port or a file cannot be opened, or a file is of another match.
        """
        self.match, self.clocks, self.warn = match, clocks, warn
        self.totals = [0, 0]
        self._spent, self._spent_hand = [0, 0], [0, 0]  # milliseconds, by seat
        self._players: list[_Connection] = []
        self._known: deque[tuple[int, int, str, int]] = deque()  # actions of the match that is resumed
        self._log = self._actions = None
        if files.transactions is not None:
            self._actions = _LinesFile(files.transactions, files.resume)
            self._known.extend(self._entries())
            self._actions.write(match.decided_by())
        if files.log is not None:
            self._log = _LinesFile(files.log, files.resume)
            self._write(match.header())
        self._open: list[socket.socket] = []
        for port in ports:
            self._open.append(_listening(host, port))
        self.ports: tuple[int, int] = (self._open[0].getsockname()[1], self._open[1].getsockname()[1])

    def play(self, report: Report = lambda done, note: None) -> None:
        """All hands; ContestantFault where a player ends the match."""
        match = self.match
        try:
            self._connect()
            for number in range(match.hands):
                self._hand(number)
                report(number + 1, "")
            names = "|".join(match.players)
            self._write(self.score() + f":{names}")
        finally:
            self.close()

    def score(self) -> str:
        """The last line of a log, without the names."""
        return f"SCORE:{self.totals[0]}|{self.totals[1]}"

    def close(self) -> None:
        """Hang up: nothing in the protocol says that a match is over."""
        for one in (*self._players, *self._open, self._log, self._actions):
            if one is not None:
                one.close()

    # --- a hand ---

    def _hand(self, number: int) -> None:
        match = self.match
        hand, dealt = AcpcHand.begun(match.game), Dealt.of(match.seed, number)
        self._spent_hand = [0, 0]
        self._send(number, hand, dealt)
        while not hand.over:
            seat = seat_of(hand.betting.actor, number, match.fixed)
            action = self._action(seat, number, hand, dealt)
            hand = hand.after(action)
            self._send(number, hand, dealt)
        won = dealt.won(hand.betting)
        names = []
        for position in (0, 1):
            seat = seat_of(position, number, match.fixed)
            self.totals[seat] += won[position]
            names.append(match.players[seat])
        cards = dealt.seen(hand.betting.street).text()
        self._write(f"STATE:{number}:{hand.text}:{cards}:{won[0]}|{won[1]}:{names[0]}|{names[1]}")

    def _state(self, number: int, hand: AcpcHand, dealt: Dealt, position: int) -> str:
        """What a position is sent: the other's cards at a showdown alone."""
        seen = dealt.seen(hand.betting.street, None if hand.shown_down else position)
        return MatchState(position, number, hand.text, seen).line()

    def _send(self, number: int, hand: AcpcHand, dealt: Dealt) -> None:
        """The state to both players; what the match had reached before it was resumed is not sent again."""
        if self._known:
            return
        for position in (0, 1):
            player = self._players[seat_of(position, number, self.match.fixed)]
            player.say(self._state(number, hand, dealt, position), self.clocks.response)

    def _action(self, seat: int, number: int, hand: AcpcHand, dealt: Dealt) -> str:
        """The action that is admitted of a player, which is noted with its time."""
        if self._known:
            entry = self._known.popleft()
            if entry[:2] != (number, seat) or hand.admitted(entry[2]) != (entry[2], ""):
                raise SettingError(f"the actions of hand {entry[0]} are not those of this match")
            action, spent = entry[2:]
        else:
            action, spent = self._asked(seat, hand, self._state(number, hand, dealt, hand.betting.actor))
        self._spent[seat] += spent
        self._spent_hand[seat] += spent
        if self._actions is not None:
            self._actions.write(f"{number} {seat} {action} {spent}")
        return action

    def _asked(self, seat: int, hand: AcpcHand, state: str) -> tuple[str, int]:
        """A player's action and the milliseconds that it took; ContestantFault where none comes in time."""
        player, clocks, begun = self._players[seat], self.clocks, time.monotonic()
        left = {
            "an action": clocks.response,
            "a hand": clocks.hand - self._spent_hand[seat],
            "the match": clocks.per_hand * self.match.hands - self._spent[seat],
        }
        limit = min(left, key=lambda name: left[name])
        until = begun + max(0, left[limit]) / 1000
        while True:
            line = player.line(until, f"has used up its time for {limit}")
            if line[:1] in ("#", ";"):  # a comment
                continue
            echoed, colon, reply = line.rpartition(":")
            if colon and echoed == state:
                break
            self.warn(f"{player.name}: ignored, since it answers another state than {state}: {shown(line)!r}")
        action, why = hand.admitted(reply)
        if why:
            self.warn(f"{player.name}: {why}")
        return action, int(1000 * (time.monotonic() - begun))

    # --- files and connections ---

    def _connect(self) -> None:
        """Wait for both players and read what version each speaks; one that is not ours is let in with a warning."""
        until = None if self.clocks.start is None else time.monotonic() + self.clocks.start / 1000
        for name, listener in zip(self.match.players, self._open, strict=True):
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([listener], [], [], left)[0]:
                raise ContestantFault(f"{name} has not connected in time")
            self._players.append(_Connection(name, listener.accept()[0]))
        for player in self._players:
            limit = time.monotonic() + self.clocks.response / 1000
            line = player.line(limit if until is None else until, "has not said in time which version it speaks")
            match = _VERSION.fullmatch(line)
            if match is None:
                raise ContestantFault(f"{player.name} says no version such as {VERSION}: {shown(line)!r}")
            major, minor = int(match[1]), int(match[2])
            if major != _OURS[0] or minor > _OURS[1]:
                self.warn(f"{player.name}: {line} is not {VERSION}; it plays nevertheless")

    def _write(self, line: str) -> None:
        if self._log is not None:
            self._log.write(line)

    def _entries(self) -> list[tuple[int, int, str, int]]:
        """The actions in the file of a match that is resumed: hand, seat, action, milliseconds."""
        assert self._actions is not None
        entries = []
        for line in self._actions.lines()[1:]:
            match = _ENTRY.fullmatch(line)
            if match is None:
                raise SettingError(f"{shown_path(self._actions.path)} is no file of a match's actions: {shown(line)!r}")
            entries.append((int(match[1]), int(match[2]), match[3], int(match[4])))
        return entries


@dataclass
class _Connection:
    """A connection.  read: bytes that came and were not asked for yet."""

    name: str
    link: socket.socket
    read: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self.link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def say(self, line: str, milliseconds: int) -> None:
        """ContestantFault where it does not take the line in this time."""
        self.link.settimeout(max(1, milliseconds) / 1000)
        try:
            self.link.sendall(f"{line}\r\n".encode())
        except OSError:
            raise ContestantFault(f"{self.name} takes no more lines") from None

    def line(self, until: float, late: str) -> str:
        """The next line; ContestantFault where none comes up to this time, or ever.

        Of a line that is too long only the beginning is given, and no more than that is kept.
        """
        while (left := until - time.monotonic()) > 0:
            end = self.read.find(b"\n")
            if end >= 0:
                line = self.read[:end].decode("utf-8", "replace")
                del self.read[: end + 1]
                return line.removesuffix("\r")
            del self.read[_LONGEST:]
            if not select.select([self.link], [], [], left)[0]:
                break
            try:
                came = self.link.recv(2**16)
            except OSError:
                came = b""
            if not came:
                raise ContestantFault(f"{self.name} has hung up")
            self.read += came
        raise ContestantFault(f"{self.name} {late}")

    def close(self) -> None:
        self.link.close()


class _LinesFile:
    """A file of lines that is written from its start: lines that it has already are compared and not written again."""

    def __init__(self, path: Path, resume: bool) -> None:
        """SettingError where it cannot be written, is there already and not resumed, or is in use."""
        self.path = path
        try:
            self.file = path.open("ab+" if resume else "xb+")
            lock(self.file.fileno())
            self.file.seek(0)
            self._there = self.file.read()
            self._there = self._there[: self._there.rfind(b"\n") + 1]  # without a line that a kill cut short
            os.ftruncate(self.file.fileno(), len(self._there))
        except FileExistsError as error:
            raise SettingError(f"{shown_path(path)} exists already: continue it with --resume") from error
        except BlockingIOError as error:
            raise SettingError(f"another match is writing {shown_path(path)}") from error
        except OSError as error:
            raise SettingError(f"cannot write {shown_path(path)}: {error.strerror}") from error
        self._at = 0

    def lines(self) -> list[str]:
        """What the file had when it was opened."""
        return self._there.decode("utf-8", "replace").splitlines()

    def write(self, line: str) -> None:
        """SettingError where another line has this place, or the disk is full."""
        content = f"{line}\n".encode()
        if self._at < len(self._there):
            if not self._there.startswith(content, self._at):
                raise SettingError(f"{shown_path(self.path)} is of another match: it has not {shown(line)!r}")
            self._at += len(content)
            return
        try:
            self.file.write(content)
            self.file.flush()
        except OSError as error:
            raise SettingError(f"cannot write {shown_path(self.path)}: {error.strerror}") from error

    def close(self) -> None:
        self.file.close()


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), backlog=1)
    except (OSError, OverflowError) as error:
        raise SettingError(f"cannot listen at {shown(host)}, port {port}: {error}") from error
