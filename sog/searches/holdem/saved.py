"""Solved hold'em spots on disk: everything to look them up again, or to continue solving."""

from __future__ import annotations

import math
import os
import tempfile
from pathlib import Path
from typing import Final

import numpy as np

from sog.arrays import Array
from sog.errors import CheckpointError, SogError
from sog.games.holdem.strings import SHORT, holdem_from
from sog.games.strings import parse_game
from sog.searches.holdem.entries import BITS
from sog.searches.holdem.locks import locks_of
from sog.searches.holdem.solver import HoldemSolver, Progress

__all__ = ["VERSION", "load", "save"]

VERSION = 2  # of the arrays' layout
_WITH_LOCKS: Final = 3  # of a file with locked decisions, whose averages alone say less than the policy
_FIELDS: Final = ("version", "game", "river_shapes", "iterations", "exploitability", "regrets", "averages")
_SCALES: Final = ("regret_scales", "average_scales")  # of a solver of 16 bits
_LOCKS: Final = ("locked_states", "locked_policies")
_MOST_PARTS: Final = 1024  # as many as there may be threads


def save(solver: HoldemSolver, progress: Progress, path: Path) -> None:
    """Write a solver's state; an older file of this name is replaced only when the new one is complete.

    Raises CheckpointError where the disk refuses.
    """
    part: Path | None = None
    more = {name: getattr(solver, name) for name in _SCALES} if solver.bits < BITS[0] else {}
    locks = solver.program.locks
    if locks:
        names = np.array([solver.game.state_name(lock.state) for lock in locks])
        more |= dict(zip(_LOCKS, (names, np.concatenate([lock.policy for lock in locks])), strict=True))
    try:
        # A name of its own, so that no file of the user's is replaced but the one that was named.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".sog-", delete=False) as file:
            part = Path(file.name)
            np.savez(
                file,
                version=np.int64(_WITH_LOCKS if locks else VERSION),
                game=np.array(solver.game.name),
                river_shapes=np.int64(solver.river_forests),
                iterations=np.int64(solver.iterations),
                exploitability=np.float64(progress.exploitability),
                regrets=solver.regrets,
                averages=solver.averages,
                **more,
            )
            part.chmod(0o666 & ~_umask())
            # On the disk before the name is: a crash leaves the old file or the new one.
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
        # No pickles: a file of unknown origin runs no code.
        with np.load(path, allow_pickle=False) as saved:
            arrays = {name: np.asarray(saved[name]) for name in (*_FIELDS, *({*_SCALES, *_LOCKS} & set(saved)))}
        return _solver_of(arrays, path, threads)
    except (SogError, MemoryError):
        raise
    except Exception as error:  # of many kinds: whatever NumPy and zipfile stumble over in a damaged file
        why = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
        raise CheckpointError(f"{path} is not a solved hold'em spot that can be read{why}") from None


def _solver_of(saved: dict[str, Array], path: Path, threads: int) -> tuple[HoldemSolver, Progress]:
    """The solver and how far it is, by what the file holds."""
    if int(saved["version"]) != (_WITH_LOCKS if _LOCKS[0] in saved else VERSION):
        raise CheckpointError(f"{path} was written by another version of sog")
    short, parameters = parse_game(str(saved["game"]))
    if short != SHORT:
        raise CheckpointError(f"{path} holds {short}, not {SHORT}")
    parts, iterations, chips = int(saved["river_shapes"]), int(saved["iterations"]), float(saved["exploitability"])
    if not (1 <= parts <= _MOST_PARTS and iterations >= 0 and math.isfinite(chips)):
        raise CheckpointError(f"{path} is damaged")
    bits = BITS[1] if saved["regrets"].dtype == np.int16 else BITS[0]
    game = holdem_from(parameters)
    locks = locks_of(game, saved[_LOCKS[0]].tolist(), saved[_LOCKS[1]]) if _LOCKS[0] in saved else ()
    solver = HoldemSolver(game, threads, river_forests=parts, bits=bits, locks=locks)
    # Checked before the copy: NumPy would spread an array of one number over all entries.
    for name in ("regrets", "averages", *(_SCALES if bits < BITS[0] else ())):
        own = getattr(solver, name)
        if saved[name].shape != own.shape or saved[name].dtype != own.dtype:
            raise CheckpointError(f"{path} does not fit its game {solver.game.name}")
        if not np.isfinite(saved[name]).all():
            raise CheckpointError(f"{path} is damaged: {name} are not finite")
        own[:] = saved[name]
    solver.iterations = iterations
    return solver, Progress(iterations, chips, chips / solver.game.spot.pot)
