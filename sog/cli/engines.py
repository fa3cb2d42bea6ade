"""`sog uci` and `sog gtp`: the agent as an engine for chess and Go programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase, BytesIO, RawIOBase
from typing import TYPE_CHECKING, Annotated

import typer

from sog.cli.frame import stderr
from sog.cli.options import LARGEST_COUNT, LARGEST_SEED, above_zero, not_blank, searching
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.play.player import Player
    from sog.training.opened import Opened

__all__ = ["gtp", "open_with_note", "uci"]

_Checkpoint = Annotated[
    str,
    typer.Argument(
        metavar="CHECKPOINT_OR_GAME", help="A run's folder, or a game: its shipped checkpoint, or an untrained network."
    ),
]
_Simulations = Annotated[
    int,
    typer.Option("--simulations", "-s", min=1, max=LARGEST_COUNT, help="s: expansions a move, unless the client says."),
]
_PerUpdate = Annotated[
    float | None,
    typer.Option("--per-update", "-c", callback=above_zero, help="c: expansions per regret update; by default 10."),
]
_Algorithm = Annotated[
    str,
    typer.Option(callback=not_blank, metavar="ALGORITHM", help="sog, or alphazero: MCTS with the same network."),
]
_Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the searches.")]


def uci(
    checkpoint: _Checkpoint = "chess",
    simulations: _Simulations = 800,
    per_update: _PerUpdate = None,
    algorithm: _Algorithm = "sog",
    seed: _Seed = 0,
) -> None:
    """Run as a chess engine: UCI on stdin and stdout, for any chess program."""
    from sog.games.base import refuse_finished
    from sog.games.boards.chess import Chess
    from sog.protocols.lines import Lines
    from sog.protocols.uci import UciEngine

    opened, player = _open(checkpoint, algorithm, (simulations, per_update), seed)
    if not isinstance(opened.game, Chess):
        raise SettingError(f"UCI is for chess, and {checkpoint} is a network of {opened.game.name}")
    refuse_finished(opened.game)
    with _protocol_only() as say:
        UciEngine(player, opened.game, say, simulations).serve(Lines(_stdin()))


def gtp(
    checkpoint: _Checkpoint = "go(board_size=7)",
    simulations: _Simulations = 800,
    per_update: _PerUpdate = None,
    algorithm: _Algorithm = "sog",
    seed: _Seed = 0,
) -> None:
    """Run as a Go engine: GTP on stdin and stdout, for any Go program. Board size as the network's, any komi."""
    from sog.agents.opening import warm_up
    from sog.games.boards.go import Go
    from sog.protocols.gtp import GtpEngine
    from sog.protocols.lines import Lines

    opened, player = _open(checkpoint, algorithm, (simulations, per_update), seed)
    if not isinstance(opened.game, Go):
        raise SettingError(f"GTP is for Go, and {checkpoint} is a network of {opened.game.name}")
    warm_up(player, opened.game)
    with _protocol_only() as say:
        GtpEngine(player, opened.game, say, simulations).serve(Lines(_stdin()))


def _open(checkpoint: str, algorithm: str, budget: tuple[int, float | None], seed: int) -> tuple[Opened, Player]:
    from threadpoolctl import threadpool_limits

    from sog.agents.opening import make_player
    from sog.algorithms.table import read

    threadpool_limits(1)
    plays = searching(read(algorithm), *budget)
    opened = open_with_note(checkpoint)
    return opened, make_player(opened, plays, seed)


def open_with_note(checkpoint: str, algorithm: str = "sog", game: str | None = None) -> Opened:
    """The network of a checkpoint or game, to play `game` if one is given; prints a note where it is untrained."""
    from sog.agents.opening import open_network

    opened = open_network(checkpoint, algorithm, game)
    if not opened.trained:
        stderr().print(f"sog: no checkpoint of {opened.game.name} is shipped: this network is untrained")
    return opened


@contextmanager
def _protocol_only() -> Iterator[Callable[[str], None]]:
    """Gives a function that writes a line to stdout at once; whatever else is printed there goes to stderr.

    A client that has closed our stdout has left: the block ends quietly, as at the end of our input.
    """
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "wb", buffering=0) as out:
        os.dup2(2, 1)
        try:
            yield lambda line: _write(out, f"{line}\n".encode("utf-8", "replace"))
        except BrokenPipeError:
            pass
        finally:
            os.dup2(out.fileno(), 1)


def _write(out: RawIOBase, left: bytes) -> None:
    """Write all of it, whatever the locale."""
    while left:
        left = left[out.write(left) or 0 :]


def _stdin() -> BufferedIOBase:
    """Our input as bytes, whatever the locale; empty where it is closed."""
    return BytesIO() if sys.stdin is None else os.fdopen(os.dup(0), "rb")
