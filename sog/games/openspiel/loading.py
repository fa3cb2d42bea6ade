"""Loads OpenSpiel's games by their strings, without what OpenSpiel prints."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import pyspiel

from sog.errors import GameError
from sog.games.openspiel.first_look import refuse_bomb
from sog.games.strings import OPENSPIEL

__all__ = [
    "SpielGame",
    "as_openspiel_says",
    "in_turns",
    "load_as_it_is",
    "load_in_turns",
    "load_untried",
    "quiet",
    "registered",
]

SpielGame: TypeAlias = Any  # pyspiel has no types


def registered() -> frozenset[str]:
    """The short names of all games that OpenSpiel has."""
    return frozenset(pyspiel.registered_names())


def load_as_it_is(name: str) -> SpielGame:
    """OpenSpiel's game of this string, with or without `openspiel:` before it; GameError in one line.

    GameError, too, where its parameters would end this process or take too much memory or time.
    """
    name = name.removeprefix(OPENSPIEL)
    refuse_bomb(name)
    return load_untried(name)


def load_untried(name: str) -> SpielGame:
    """OpenSpiel's game of this string, in a process that it may end; GameError in one line."""
    try:
        with quiet():
            if "python_" in name:
                importlib.import_module("open_spiel.python.games")  # OpenSpiel knows these games once it is imported
            game = pyspiel.load_game(name)
            game.new_initial_state()  # some parameters are refused only here
            return game
    except (RuntimeError, ValueError, TypeError, LookupError, MemoryError) as error:  # SpielError is a RuntimeError
        raise GameError(f"OpenSpiel does not load {name}: {as_openspiel_says(error)}") from error


def load_in_turns(name: str) -> SpielGame:
    """OpenSpiel's game of this name; simultaneous moves become moves in turn, of which the first stays hidden."""
    return in_turns(load_as_it_is(name))


def in_turns(original: SpielGame) -> SpielGame:
    """The game with simultaneous moves made in turn."""
    simultaneous = original.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    return pyspiel.convert_to_turn_based(original) if simultaneous else original


def as_openspiel_says(error: Exception) -> str:
    """The first line of an error of OpenSpiel's, which may have none, without its list of all games."""
    return (str(error).splitlines() or ["no reason given"])[0].removesuffix(" Available games are:")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence what OpenSpiel prints to standard error before it raises: the error says it again."""
    sys.stderr.flush()
    stderr, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)
