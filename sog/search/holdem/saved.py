"""Solved hold'em spots on disk: everything to look them up again, or to go on solving."""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from sog.errors import CheckpointError, GameError
from sog.games.holdem.names import SHORT, holdem_from
from sog.games.names import parse_game
from sog.search.holdem.solver import HoldemSolver, Progress

__all__ = ["VERSION", "load", "save"]

VERSION = 2  # of the arrays' layout


def save(solver: HoldemSolver, progress: Progress, path: Path) -> None:
    """Write a solver's state; an older file of this name is replaced only when the new one is complete.

    Raises CheckpointError where the disk refuses.
    """
    part: Path | None = None
    try:
        # A name of its own, so that no file of the user's is replaced but the one that was named.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:100]}.", delete=False) as file:
            part = Path(file.name)
            np.savez(
                file,
                version=np.int64(VERSION),
                game=np.array(solver.game.name),
                river_shapes=np.int64(solver.river_forests),
                iterations=np.int64(solver.iterations),
                exploitability=np.float64(progress.exploitability),
                regrets=solver.regrets,
                averages=solver.averages,
            )
            os.fchmod(file.fileno(), 0o666 & ~_umask())
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException as error:
        if part is not None:
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise CheckpointError(f"cannot write {path}: {error.strerror or error}") from error
        raise


def _umask() -> int:
    """The permissions that new files lack; a temporary file lacks more."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def load(path: Path, threads: int = 1) -> tuple[HoldemSolver, Progress]:
    """The solver as it was saved; CheckpointError where the file is missing, broken or foreign."""
    try:
        with np.load(path, allow_pickle=False) as saved:
            if int(saved["version"]) != VERSION:
                raise CheckpointError(f"{path} was written by another version of sog")
            short, parameters = parse_game(str(saved["game"]))
            if short != SHORT:
                raise CheckpointError(f"{path} holds {short}, not {SHORT}")
            solver = HoldemSolver(holdem_from(parameters), threads, river_forests=int(saved["river_shapes"]))
            if saved["regrets"].shape != solver.regrets.shape:
                raise CheckpointError(f"{path} does not fit its game {solver.game.name}")
            solver.regrets[:] = saved["regrets"]
            solver.averages[:] = saved["averages"]
            solver.iterations = int(saved["iterations"])
            chips = float(saved["exploitability"])
    except (OSError, TypeError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, (CheckpointError, GameError)):
            raise
        why = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
        raise CheckpointError(f"{path} is not a solved hold'em spot that can be read{why}") from None
    return solver, Progress(solver.iterations, chips, chips / solver.game.spot.pot)
