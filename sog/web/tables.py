"""Games in play: what the referee knows of each, and its file, to which every move is added before it counts.

A file has a line for the game and then one for each move, hint and taking back:

    {"table": 1, "game": "leduc_poker", "chairs": [{...}, {...}], "seed": 7}
    {"column": 1, "belief": [[0, 0.5], [3, 0.5]], "words": "", "note": ""}
    {"hint": [[0, 0.25], [1, 0.75]], "note": ""}
    {"back": 2}

seed: decides chance.  column: the action's place among those of the public state.  belief and the rest: of an agent.
hint: what a person was shown.  back: how many moves were taken back.
Files are secret while a game lasts. A server that begins anew reads them and plays on.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from sog.errors import SettingError, SogError
from sog.files import append_line, bounded_json, open_regular, read_bounded
from sog.games.base import TERMINAL, Game
from sog.games.catalog import make_game
from sog.lru import LruCache
from sog.play.referee import Referee, World
from sog.searches.tree.public_tree import PublicTree
from sog.web.asked import Chair, HintReply, MoveAsked, MoveReply, Way

__all__ = ["Made", "PlayTable", "PlayTables"]

_FORM: Final = 1
_LARGEST: Final = 20_000_000  # bytes of a file
_ID: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Made:
    """A move that was made.  before, after: worlds, chance played on.  reply: what an agent answered with it."""

    player: int
    column: int
    before: World
    after: World
    reply: MoveReply | None = None


class PlayTable:
    """A game in play.  `lock` is held whenever it is read or changed: the public tree grows by both."""

    def __init__(
        self, name: str, game: Game, chairs: tuple[Chair, Chair], seed: int, columns: Sequence[int] = ()
    ) -> None:
        """columns: moves that were made elsewhere. GameError where one is illegal."""
        self.name, self.game, self.chairs, self.seed = name, game, chairs, seed
        self.public = PublicTree(game)
        self.referee = Referee(self.public)
        self.lock = threading.RLock()
        self.first = self.referee.deal(self._chance(0))
        self.made: list[Made] = []
        self.changes = 0  # moves and takings back
        self.hint: HintReply | None = None  # of the person's decision now
        for column in columns:
            self.move(column)

    @property
    def person(self) -> int | None:
        """The seat of the only person; None without a person, or with two."""
        persons = [p for p in (0, 1) if self.chairs[p].is_person]
        return persons[0] if len(persons) == 1 else None

    @property
    def world(self) -> World:
        """Where the game is."""
        return self.made[-1].after if self.made else self.first

    @property
    def actor(self) -> int:
        """0, 1 or TERMINAL."""
        return self.referee.actor(self.world)

    @property
    def is_over(self) -> bool:
        return self.actor == TERMINAL

    def move(self, column: int, reply: MoveReply | None = None) -> None:
        """Whoever acts does it. GameError where it is illegal."""
        before = self.world
        after = self.referee.act(before, column, self._chance(1 + len(self.made)))
        self.made.append(Made(self.referee.actor(before), column, before, after, reply))
        self._changed()

    def undoable(self) -> int:
        """How many moves the person takes back: the last of its own and what came after it. 0 where it cannot.

        A game with open hands is over for good.
        """
        last = max((k for k, made in enumerate(self.made) if made.player == self.person), default=None)
        if self.person is None or last is None or (self.is_over and not self.game.perfect_information):
            return 0
        return len(self.made) - last

    def take_back(self, count: int) -> None:
        """Forget the last moves. What chance does after as many moves is the same again."""
        if not 0 < count <= len(self.made):
            raise SettingError(f"{count} of {len(self.made)} moves cannot be taken back")
        del self.made[-count:]
        self._changed()

    def _changed(self) -> None:
        self.changes, self.hint = self.changes + 1, None

    def way(self, node: int) -> Way:
        """The way from the root to a public node."""
        path = self.public.path(node)
        edges = [self.referee.edge_into.get(below) for _, below in pairwise(path)]
        return tuple(self.public.states[s] if e is None else e for e, s in zip(edges, path[1:], strict=True))

    def asked(self) -> MoveAsked:
        """What the agent that is to move is asked."""
        seed = int(np.random.SeedSequence((self.seed, 1, self.actor)).generate_state(1)[0]) >> 1
        return self._asked(self.chairs[self.actor], seed)

    def hint_asked(self) -> MoveAsked:
        """What the other seat's agent is asked in the person's place, with all that the person may know.

        Its seed is not the game's, which decides what the agent holds.
        """
        return self._asked(self.chairs[1 - self.actor], 0)

    def _asked(self, chair: Chair, seed: int) -> MoveAsked:
        """What is asked of an agent in the place of whoever is to move."""
        player, world = self.actor, self.world
        decisions = [*(made.before for made in self.made if made.player == player), world]
        own = tuple((len(self.public.path(each.node)) - 1, each.pair[player]) for each in decisions)
        return MoveAsked(self.name, self.game.name, chair, player, seed, self.way(world.node), own)

    def _chance(self, number: int) -> np.random.Generator:
        """What chance draws with before the first move, after the first, and so on."""
        return np.random.default_rng((self.seed, 0, number))


class PlayTables:
    """The games of a folder, of which the `most` used last are in memory."""

    def __init__(self, folder: Path, most: int = 32) -> None:
        self.folder = folder
        self._held, self._lock = LruCache[str, PlayTable](most), threading.Lock()

    def begin(
        self, game: Game, chairs: tuple[Chair, Chair], seed: int | None = None, columns: Sequence[int] = ()
    ) -> PlayTable:
        """A new game, dealt, with moves that were made elsewhere. OSError where its file cannot be made.

        seed: of its deal, None for any. GameError where a move is illegal.
        """
        name, seed = secrets.token_hex(16), secrets.randbits(62) if seed is None else seed
        table = PlayTable(name, game, chairs, seed, columns)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        head = {"table": _FORM, "game": game.name, "chairs": [asdict(chair) for chair in chairs], "seed": seed}
        append_line(self._file(name), "\n".join(map(json.dumps, (head, *({"column": column} for column in columns)))))
        with self._lock:
            self._held[name] = table
        return table

    def move(self, table: PlayTable, column: int, reply: MoveReply | None = None) -> None:
        """A move, which is in the file before it counts. SettingError where it is illegal."""
        with table.lock:
            if column not in table.referee.legal(table.world):
                raise SettingError("this move is not possible now")
            self._append(table, {"column": column, **({} if reply is None else asdict(reply))})
            table.move(column, reply)

    def take_back(self, table: PlayTable) -> None:
        """The person's last move and the agent's after it are taken back. SettingError without such a move."""
        with table.lock:
            count = table.undoable()
            if not count:
                raise SettingError("there is no move of yours to take back")
            self._append(table, {"back": count})
            table.take_back(count)

    def show_hint(self, table: PlayTable, hint: HintReply) -> None:
        """A hint for the person's decision."""
        with table.lock:
            self._append(table, {"hint": hint.shares, "note": hint.note})
            table.hint = hint

    def _append(self, table: PlayTable, line: dict[str, Any]) -> None:
        with self._lock:
            if table.name not in self._held or self._held[table.name] is not table:
                raise SettingError("many games were played meanwhile: go back to this one")
        append_line(self._file(table.name), json.dumps(line))

    def get(self, name: str) -> PlayTable:
        """The game of this name, read from its file where it is not in memory. SettingError for an unknown name."""
        with self._lock:
            if not _ID.fullmatch(name):
                raise SettingError("there is no such game")
            if name not in self._held:
                self._held[name] = self._read(name)
            return self._held[name]

    def latest(self, count: int) -> list[str]:
        """Names of the games that were played on last."""
        try:
            files = [file for file in self.folder.glob("*.jsonl") if _ID.fullmatch(file.stem)]
            files.sort(key=lambda file: (-file.stat().st_mtime, file.name))
        except OSError:
            return []
        return [file.stem for file in files[:count]]

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.jsonl"

    def _read(self, name: str) -> PlayTable:
        try:
            with open_regular(self._file(name), _LARGEST) as (file, size):
                lines = _whole_lines(read_bounded(file, size))
            head, *moves = lines
            chairs = tuple(Chair(**each) for each in head["chairs"])
            if head["table"] != _FORM or len(chairs) != 2:
                raise SettingError("it is of another form")
            table = PlayTable(name, make_game(head["game"]), (chairs[0], chairs[1]), int(head["seed"]))
            for line in moves:
                _take_up(table, line)
        except FileNotFoundError as error:
            raise SettingError("there is no such game") from error
        except (OSError, ValueError, KeyError, TypeError, AssertionError, SogError) as error:
            raise SettingError(f"the game's file cannot be read: {error}") from error
        return table


def _whole_lines(content: bytes) -> Sequence[Any]:
    """What the lines say; one that a kill cut short was never answered, and is left out."""
    entries = []
    for line in content.split(b"\n"):
        try:
            entries.append(bounded_json(line))
        except ValueError:
            continue
    return entries


def _take_up(table: PlayTable, line: Any) -> None:
    """What a line says."""
    if "back" in line:
        table.take_back(int(line["back"]))
    elif "hint" in line:
        table.hint = HintReply(tuple((int(a), float(p)) for a, p in line["hint"]), str(line["note"]))
    else:
        table.move(int(line["column"]), _reply_of(line))


def _reply_of(line: Any) -> MoveReply | None:
    """What an agent answered; None for a person's move."""
    if "belief" not in line:
        return None
    belief = tuple((int(i), float(p)) for i, p in line["belief"])
    return MoveReply(int(line["column"]), belief, str(line["words"]), str(line["note"]))
