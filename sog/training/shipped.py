"""Finds a checkpoint: a training run's folder, a checkpoint's own, or the one shipped for a game."""

from __future__ import annotations

import os
from pathlib import Path

from sog.errors import CheckpointError, SettingError, UnknownGame
from sog.files import shown
from sog.games.base import Game
from sog.games.catalog import GAMES, make_game
from sog.games.holdem.game import is_beyond
from sog.nets.shape import NetworkShape, is_for, shape_on
from sog.training.checkpoint import load_meta
from sog.training.settings import DEFAULT
from sog.training.shipped_folders import shipped_checkpoints, shipped_games

__all__ = ["find_checkpoint", "fits", "named_checkpoint", "names_a_path"]


def find_checkpoint(text: str, algorithm: str = DEFAULT) -> Path:
    """The checkpoint folder that a path or a game string names; of several, the one that this algorithm trained.

    Raises CheckpointError where the path holds none or no checkpoint is shipped for the game, and GameError where
    the text is neither a path nor a game.
    """
    folder = named_checkpoint(text, algorithm)
    if folder is None:
        name, shipped = make_game(text).name, ", ".join(shipped_games())
        raise CheckpointError(f"no checkpoint is shipped for {name}; train one, or name one of {shipped}")
    return folder


def named_checkpoint(text: str, algorithm: str = DEFAULT) -> Path | None:
    """As `find_checkpoint`, but None for a game that no checkpoint is shipped for.

    A game that none is shipped for gets one of its family whose network fits it, such as Go's at another komi. Raises
    CheckpointError where a shipped one is damaged, so that no untrained network replaces it.
    """
    path = Path(text)
    if os.path.lexists(path):
        folder = path / "checkpoint" if os.path.isdir(path / "checkpoint") else path
        if text in GAMES and not os.path.exists(folder / "meta.json"):
            raise CheckpointError(f"the folder {text} here is no checkpoint; write {text}() for the game of that name")
        return folder
    if names_a_path(text):
        raise CheckpointError(f"{shown(text)}: no such checkpoint")
    try:
        game = make_game(text)
    except UnknownGame as error:
        raise UnknownGame(f"no folder {shown(text)} is here, and {error}") from error
    metas = {folder: load_meta(folder) for folder in shipped_checkpoints()}
    # The game itself first, then its family; of several, the algorithm's own, then by name.
    known = [folder for folder, meta in metas.items() if meta.game == game.name]
    known = known or [folder for folder, meta in metas.items() if fits(meta.shape, make_game(meta.game), game)]
    return min(known, key=lambda folder: metas[folder].algorithm != algorithm, default=None)


def fits(shape: NetworkShape, trained_on: Game, game: Game) -> bool:
    """Whether a network of one game plays another: one of its family, with equal sizes, and nothing that it never saw.

    One over stations fits every map.
    """
    if trained_on.family != game.family or is_beyond(game, trained_on):
        return False
    try:
        return is_for(shape_on(shape, game), game)
    except SettingError:
        return False


def names_a_path(text: str) -> bool:
    """Whether it can only be a file's or folder's name, there or not, and no game string."""
    return os.path.lexists(text) or ("/" in text and "(" not in text)
