"""User-defined games: what the modules that the environment variable SOG_GAMES names add to the table of games.

Such a module has a dictionary GAMES, by public states, or HISTORY_GAMES, by histories, or both: from a short name to
what makes the game, a class or a function that takes the game string's parameters as keywords. Workers are processes
that inherit the variable, so a user-defined game needs no change in this package. A game that exists as an object alone
can be lent to this process under its name (`lend`).
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final

from sog.errors import GameError
from sog.games.blame import code_of
from sog.games.parameters import refuse_unknown
from sog.games.strings import OPENSPIEL, Parameters, parse_game

__all__ = [
    "VARIABLE",
    "imported",
    "is_own",
    "lend",
    "lent_games",
    "make_own",
    "own_games",
    "refuse_class",
    "refuse_taken",
]

VARIABLE: Final = "SOG_GAMES"  # modules, with commas between them

# By table and game string, the games that `lend` gave to this process.
_LENT: ContextVar[Mapping[str, Mapping[str, Any]]] = ContextVar("_LENT", default=MappingProxyType({}))


def own_games(table: str) -> dict[str, Callable[..., Any]]:
    """By short name, what makes a game: those of the dictionary called `table`, in each module of SOG_GAMES.

    GameError where a module cannot be imported, its table is not a dictionary of callables, or a name occurs twice.
    """
    by_name: dict[str, Callable[..., Any]] = {}
    for name in filter(None, (part.strip() for part in os.environ.get(VARIABLE, "").split(","))):
        if not all(part.isidentifier() for part in name.split(".")) or name.endswith(".py"):
            raise GameError(f"{VARIABLE} names modules, such as my_games, with commas between them, not {name}")
        module = imported(name, f"{VARIABLE}={name}")
        games = getattr(module, table, {})
        if not isinstance(games, Mapping) or not all(callable(make) for make in games.values()):
            raise GameError(f"{VARIABLE}: {table} of {name} is no dictionary from names to classes of games")
        if not hasattr(module, "GAMES") and not hasattr(module, "HISTORY_GAMES"):
            raise GameError(f"{VARIABLE}: {name} has neither GAMES nor HISTORY_GAMES, dictionaries from names to games")
        if wrong := [key for key in games if not isinstance(key, str) or not key.isidentifier()]:
            raise GameError(f"{VARIABLE}: {table} of {name} calls a game {wrong[0]!r}, which is no word")
        if twice := sorted(set(games) & set(by_name)):
            raise GameError(f"{VARIABLE}: several modules have a game called {twice[0]}")
        by_name |= games
    return by_name | _givers(lent_games(table))


def lent_games(table: str) -> Mapping[str, Any]:
    """By game string, the games that `lend` gave to this process."""
    return _LENT.get().get(table, {})


def _givers(lent: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """By short name, what gives the lent game of a game string's parameters; GameError where none has them."""

    def of_parameters(short: str, given: Parameters) -> Any:
        for name, game in lent.items():
            if parse_game(name) == (short, given):
                return game
        known = ", ".join(name for name in lent if parse_game(name)[0] == short)
        raise GameError(f"the games called {short} in this process are {known}")

    def giver(short: str) -> Callable[..., Any]:
        return lambda **given: of_parameters(short, given)

    return {short: giver(short) for short in dict.fromkeys(parse_game(name)[0] for name in lent)}


def lend(game: Any, table: str) -> None:
    """From now on the game's name means it, in this process alone. GameError for the name of a module's game."""
    short, lent = parse_game(game.name)[0], lent_games(table)
    if short in own_games(table) and short not in _givers(lent):
        raise GameError(f"{VARIABLE}: {short} is a game of a module; give this one another name")
    _LENT.set({**_LENT.get(), table: {**lent, game.name: game}})


def refuse_class(name: str) -> None:
    """GameError for a class, MODULE:CLASS, in place of a game string."""
    module, colon, kind = name.partition(":")
    if colon and kind.isidentifier() and all(part.isidentifier() for part in module.split(".")):
        advice = f'with GAMES = {{"a_name": {kind}}} in {module} and {VARIABLE}={module} in the environment'
        raise GameError(f"{name} names a class, not a game; {advice} a_name is a game string")


def is_own(name: str, table: str) -> bool:
    """Whether a game string names a game of such a dictionary."""
    return not name.startswith(OPENSPIEL) and parse_game(name)[0] in own_games(table)


def make_own(short: str, make: Callable[..., Any], given: Parameters, kind: type[Any]) -> Any:
    """The game that `make` makes of a game string's parameters; GameError where it raises or makes another thing.

    The game's name has to have every parameter that is not its default: a checkpoint would otherwise name another game.
    """
    known: Mapping[str, inspect.Parameter] = {}
    with suppress(ValueError):  # raised where Python cannot list the parameters
        known = inspect.signature(make).parameters
        if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values()):
            refuse_unknown(short, given, known)
    with code_of(f"{short}'s constructor", GameError):
        game = make(**given)
    if not isinstance(game, kind):
        raise GameError(f"{VARIABLE}: {short} makes a value of type {type(game).__name__}, not a {kind.__name__}")
    name = getattr(game, "name", None)
    again, named = parse_game(name) if isinstance(name, str) else (None, {})
    if again != short:
        raise GameError(f"{VARIABLE}: the game {short} has the name {name!r}, not the game string that makes it again")
    for key, value in given.items():
        if named.get(key, known[key].default if key in known else inspect.Parameter.empty) != value:
            lost = f"the game {short} with {key}={value} has the name {name!r}, which makes another game"
            raise GameError(f"{VARIABLE}: {lost}; its name must say {key}")
    return game


def refuse_taken(short: str, table: str) -> None:
    """GameError where a user-defined game has the name of a game of this program, which it would be mistaken for.

    A module of SOG_GAMES that cannot be read is ignored here: the text named a game of this program.
    """
    own: Mapping[str, object] = {}
    with suppress(GameError):
        own = own_games(table)
    if short in own:
        raise GameError(f"{VARIABLE}: {short} is a game of this program; give yours another name in {table}")


def imported(module: str, named: str) -> ModuleType:
    """A module by name, looked for in the current folder too; GameError, which begins with `named`, without it."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    with code_of(f"the module {module}", GameError):
        try:
            return importlib.import_module(module)
        except ImportError as error:
            raise GameError(f"{named}: {error}") from error
        except SystemExit as error:
            raise GameError(f"the module {module} ended the program while it was imported") from error
