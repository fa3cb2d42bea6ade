"""`sog uci` and `sog gtp`: the agent as an engine for chess and Go programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from io import BytesIO, RawIOBase
from typing import TYPE_CHECKING, Annotated

import typer

from sog.cli.frame import say
from sog.cli.options import count, not_blank, positive, searching, seed_of
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.play.player import Player
    from sog.protocols.engine import Engine
    from sog.training.opened import Opened

__all__ = ["gtp", "open_with_note", "uci"]

_Checkpoint = Annotated[
    str,
    typer.Argument(
        metavar="CHECKPOINT_OR_GAME", help="A run's folder, or a game: its shipped checkpoint, or an untrained network."
    ),
]
_Simulations = Annotated[int, count("s: expansions a move, unless the client says.", "--simulations", "-s")]
_PerUpdate = Annotated[float | None, positive("c: expansions per regret update; by default 10.", "--per-update", "-c")]
_Algorithm = Annotated[
    str,
    typer.Option(callback=not_blank, metavar="ALGORITHM", help="sog, or alphazero: MCTS with the same network."),
]
_Seed = Annotated[int, seed_of("Seed of the searches.")]


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
    from sog.protocols.uci import UciEngine

    opened, player = _open(checkpoint, algorithm, (simulations, per_update), seed)
    game = opened.game
    if not isinstance(game, Chess):
        raise SettingError(f"UCI is for chess, and {checkpoint} is a network of {game.name}")
    refuse_finished(game)
    _serve(lambda say: UciEngine(player, game, say, simulations))


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

    opened, player = _open(checkpoint, algorithm, (simulations, per_update), seed)
    game = opened.game
    if not isinstance(game, Go):
        raise SettingError(f"GTP is for Go, and {checkpoint} is a network of {game.name}")
    warm_up(player, game)
    _serve(lambda say: GtpEngine(player, game, say, simulations))


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
        say(f"sog: no checkpoint of {opened.game.name} is shipped: this network is untrained")
    return opened


def _serve(make: Callable[[Callable[[str], None]], Engine]) -> None:
    """Run an engine on stdin and stdout; whatever else is printed to stdout goes to stderr.

    A client that has closed our stdout has left: the engine ends quietly, as at the end of our input.
    """
    from sog.protocols.lines import Lines

    sys.stdout.flush()
    stdin = BytesIO() if sys.stdin is None else os.fdopen(os.dup(0), "rb")  # bytes, whatever the locale
    with os.fdopen(os.dup(1), "wb", buffering=0) as out:
        os.dup2(2, 1)
        try:
            make(lambda line: _write(out, f"{line}\n".encode("utf-8", "replace"))).serve(Lines(stdin))
        except BrokenPipeError:
            pass
        finally:
            os.dup2(out.fileno(), 1)


def _write(out: RawIOBase, left: bytes) -> None:
    """Write all of it."""
    while left:
        left = left[out.write(left) or 0 :]
