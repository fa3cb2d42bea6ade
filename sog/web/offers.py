"""What a server offers: games, runs, and who may sit at a game. Requests choose from it, and name nothing else.

PyTorch is not imported here, so checkpoints are only glanced at; the process that opens one checks it.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np

from sog.errors import SettingError, SogError
from sog.files import bounded_json, open_regular, read_bounded, shown
from sog.games.base import Game, refuse_finished
from sog.games.boards.chess import Chess
from sog.games.boards.go import Go
from sog.games.catalog import known_games, make_game
from sog.games.own import VARIABLE, own_games
from sog.training.curve import CURVE
from sog.web.asked import PERSON, RANDOM, Chair, check_budget

__all__ = ["NETWORK", "Offers", "RunFolder", "Sitter", "SpotFile"]

_META: Final = "meta.json"
_LARGEST_META: Final = 2_000_000
NETWORK: Final = "network"


@dataclass(frozen=True)
class RunFolder:
    """A training run's folder.  game: "" where it has no checkpoint yet."""

    name: str
    folder: Path
    game: str


@dataclass(frozen=True)
class SpotFile:
    """A solved hold'em spot, a file of `sog solve --out`."""

    name: str
    file: Path
    game: str


@dataclass(frozen=True)
class Sitter:
    """Who may sit at a game.  key: as requests name it.  label: for people.  agent: see `Chair`."""

    key: str
    label: str
    agent: str
    searches: bool = False


class Offers:
    """What the command line named, besides the games of `sog games`."""

    def __init__(self, named: Sequence[str] = (), code: Sequence[str] = (), engines: Sequence[str] = ()) -> None:
        """named: runs' folders, solved spots and game strings.  code: agents as MODULE:CLASS, which play any game.

        engines: command lines of programs that speak UCI, which play chess, or GTP, which play Go.

        SettingError for a folder that is no run's, GameError for what is no game.
        """
        self.runs: dict[str, RunFolder] = {}
        self.spots: dict[str, SpotFile] = {}
        self.code, self.engines = tuple(code), tuple(map(Chair.of_engine, engines))
        for engine in self.engines:
            assert Chair(engine, engine).command  # SettingError for what is no command line
        self.games = dict(known_games())
        self.games |= dict.fromkeys(own_games("GAMES"), f"your own, from {VARIABLE}")
        for name in _shipped():
            self.games.setdefault(name, "trained, with other parameters")
        for text in named:
            if os.path.isfile(text):
                self._add_spot(Path(text))
            elif os.path.lexists(text) or ("/" in text and "(" not in text):
                self._add_run(Path(text))
            else:
                self.games.setdefault(make_game(text).name, "named on the command line")

    def _add_run(self, folder: Path) -> None:
        game = _game_of(folder / "checkpoint" if (folder / "checkpoint").is_dir() else folder)
        if not game and not (folder / CURVE).is_file():
            raise SettingError(f"{shown(folder)} is no run's folder: it has neither a checkpoint nor {CURVE}")
        name = _unused(folder.resolve().name, self.runs)
        self.runs[name] = RunFolder(name, folder.resolve(), game)
        if game:
            self.games.setdefault(game, f"the game of {name}")

    def _add_spot(self, path: Path) -> None:
        file = path.resolve()
        name, game = _unused(file.stem, self.spots), make_game(_spot_game(file)).name
        self.spots[name] = SpotFile(name, file, game)
        self.games.setdefault(game, f"the spot of {name}")

    def trained(self, name: str) -> bool:
        """Whether a network of exactly this game comes with the program."""
        return name in _shipped()

    def game(self, name: str) -> Game:
        """A game that is offered. SettingError for another, GameError where it is over where it begins."""
        if name not in self.games:
            raise SettingError("this game is not offered here: name it on the command line of `sog serve`")
        return _made(name)

    def sitters(self, game: Game) -> list[Sitter]:
        """Who may sit at it, a person first."""
        sitters = [Sitter(PERSON, "a person", PERSON)]
        words = "the network that ships with it" if _has_network(game) else "search with an untrained network"
        sitters.append(Sitter(NETWORK, words, game.name, True))
        sitters += [
            Sitter(f"run {run.name}", f"the run {run.name}", str(run.folder), True)
            for run in self.runs.values()
            if run.game and _family(run.game) == game.family
        ]
        sitters += [
            Sitter(f"spot {spot.name}", f"the solution {spot.name}", str(spot.file))
            for spot in self.spots.values()
            if spot.game == game.name
        ]
        sitters.append(Sitter(RANDOM, "random moves", RANDOM))
        if isinstance(game, (Chess, Go)):
            sitters += [Sitter(f"engine {k}", engine, engine) for k, engine in enumerate(self.engines)]
        return sitters + [Sitter(f"code {k}", text, text) for k, text in enumerate(self.code)]

    def chair(self, game: Game, key: str, simulations: int | None, per_update: float | None) -> Chair:
        """The chair that a request chooses. SettingError for one that is not offered, or such a budget."""
        for sitter in self.sitters(game):
            if sitter.key == key:
                if not sitter.searches:
                    return Chair(sitter.agent, sitter.label)
                check_budget(1 if simulations is None else simulations, 1.0 if per_update is None else per_update)
                return Chair(sitter.agent, sitter.label, simulations, per_update)
        raise SettingError("this player is not offered here")

    def refuse_unnamed(self, chair: Chair) -> None:
        """SettingError for code or a program that the command line does not name: a game's file may say anything."""
        if chair.is_engine and chair.agent not in self.engines:
            raise SettingError("an engine plays here: name it with --engine on the command line of `sog serve`")
        if chair.is_code and chair.agent not in self.code:
            raise SettingError("code of your own plays here: name it with --agent on the command line of `sog serve`")


def _game_of(checkpoint: Path) -> str:
    """The game that a checkpoint says it is of; "" where nothing readable is there."""
    try:
        with open_regular(checkpoint / _META, _LARGEST_META) as (file, size):
            game = bounded_json(read_bounded(file, size))["game"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return game if isinstance(game, str) else ""


def _unused(name: str, used: Container[str]) -> str:
    """The name, with a number where another has it."""
    unused, number = name, 2
    while unused in used:
        unused, number = f"{name}-{number}", number + 1
    return unused


def _spot_game(file: Path) -> str:
    """The game of a solved spot. SettingError for any other file."""
    try:
        with np.load(file, allow_pickle=False) as saved:
            return str(saved["game"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        raise SettingError(f"{shown(file)} is no solved spot: `sog solve SPOT --out FILE` writes one") from None


@lru_cache(1)
def _shipped() -> tuple[str, ...]:
    """The games that a network comes with the program for."""
    root = Path(str(resources.files("sog"))) / "checkpoints"
    games = {_game_of(file.parent) for file in root.glob(f"*/{_META}")}
    return tuple(sorted(games - {""}))


@lru_cache(64)
def _made(name: str) -> Game:
    game = make_game(name)
    refuse_finished(game)
    return game


@lru_cache(64)
def _family(name: str) -> str:
    """The family of a game; "" for one that cannot be made here."""
    try:
        return make_game(name).family
    except SogError:
        return ""


def _has_network(game: Game) -> bool:
    """Whether a network of its family comes with the program."""
    short = game.name.partition("(")[0]
    return any(game.family == _family(name) for name in _shipped() if name.partition("(")[0] == short)
