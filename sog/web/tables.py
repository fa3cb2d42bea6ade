"""Games in play: what the referee knows of each, and its file, to which every move is added before it counts.

A file has a line for the game and then one a move:

    {"table": 1, "game": "leduc_poker", "chairs": [{...}, {...}], "seed": 7}
    {"column": 1, "belief": [[0, 0.5], [3, 0.5]], "words": "", "note": ""}

seed: decides chance.  column: the action's place among those of the public state.  belief and the rest: of an agent.
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
from sog.web.asked import Chair, MoveAsked, MoveFound, Way

__all__ = ["Made", "PlayTable", "PlayTables"]

_FORM: Final = 1
_LARGEST: Final = 20_000_000  # bytes of a file
_ID: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Made:
    """A move that was made.  before, after: worlds, chance played on.  found: what an agent answered with it."""

    player: int
    column: int
    before: World
    after: World
    found: MoveFound | None = None


class PlayTable:
    """A game in play.  `lock` is held whenever it is read or changed: the public tree grows by both."""

    def __init__(self, name: str, game: Game, chairs: tuple[Chair, Chair], seed: int) -> None:
        self.name, self.game, self.chairs, self.seed = name, game, chairs, seed
        self.public = PublicTree(game)
        self.referee = Referee(self.public)
        self.lock = threading.RLock()
        self.first = self.referee.deal(self._chance(0))
        self.made: list[Made] = []

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

    def move(self, column: int, found: MoveFound | None = None) -> None:
        """Whoever acts does it. GameError where it is illegal."""
        before = self.world
        after = self.referee.act(before, column, self._chance(1 + len(self.made)))
        self.made.append(Made(self.referee.actor(before), column, before, after, found))

    def way(self, node: int) -> Way:
        """From the root to a public node."""
        path = self.public.path(node)
        edges = [self.referee.edge_into.get(below) for _, below in pairwise(path)]
        return tuple(self.public.states[s] if e is None else e for e, s in zip(edges, path[1:], strict=True))

    def asked(self) -> MoveAsked:
        """What the agent that is to move is asked."""
        player, world = self.actor, self.world
        decisions = [*(made.before for made in self.made if made.player == player), world]
        own = tuple((len(self.public.path(each.node)) - 1, each.pair[player]) for each in decisions)
        seed = int(np.random.SeedSequence((self.seed, 1, player)).generate_state(1)[0]) >> 1
        return MoveAsked(self.name, self.game.name, self.chairs[player], player, seed, self.way(world.node), own)

    def _chance(self, number: int) -> np.random.Generator:
        """What chance draws with before the first move, after the first, and so on."""
        return np.random.default_rng((self.seed, 0, number))


class PlayTables:
    """The games of a folder, of which the `most` used last are in memory."""

    def __init__(self, folder: Path, most: int = 32) -> None:
        self.folder = folder
        self._held, self._lock = LruCache[str, PlayTable](most), threading.Lock()

    def begin(self, game: Game, chairs: tuple[Chair, Chair]) -> PlayTable:
        """A new game, dealt. OSError where its file cannot be made."""
        name, seed = secrets.token_hex(16), secrets.randbits(62)
        table = PlayTable(name, game, chairs, seed)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        head = {"table": _FORM, "game": game.name, "chairs": [asdict(chair) for chair in chairs], "seed": seed}
        append_line(self._file(name), json.dumps(head))
        with self._lock:
            self._held[name] = table
        return table

    def move(self, table: PlayTable, column: int, found: MoveFound | None = None) -> None:
        """A move, which is in the file before it counts. SettingError where it is illegal."""
        with table.lock:
            with self._lock:
                if table.name not in self._held or self._held[table.name] is not table:
                    raise SettingError("many games were played meanwhile: go back to this one")
            if column not in table.referee.legal(table.world):
                raise SettingError("this move is not possible now")
            append_line(
                self._file(table.name), json.dumps({"column": column, **({} if found is None else asdict(found))})
            )
            table.move(column, found)

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
                table.move(int(line["column"]), _found_of(line))
        except FileNotFoundError as error:
            raise SettingError("there is no such game") from error
        except (OSError, ValueError, KeyError, TypeError, AssertionError, SogError) as error:
            raise SettingError(f"the game's file cannot be read: {error}") from error
        return table


def _whole_lines(content: bytes) -> Sequence[Any]:
    """What the lines say; one that a kill cut short was never answered, and is left out."""
    found = []
    for line in content.split(b"\n"):
        try:
            found.append(bounded_json(line))
        except ValueError:
            continue
    return found


def _found_of(line: Any) -> MoveFound | None:
    """What an agent answered; None for a person's move."""
    if "belief" not in line:
        return None
    belief = tuple((int(i), float(p)) for i, p in line["belief"])
    return MoveFound(int(line["column"]), belief, str(line["words"]), str(line["note"]))
