"""Moves of `sog gtp` under each kind of clock beside busy processes: `python -m soglab.checks.gtp_clocks --moves 20`.

None may be late. The client never says time_left, so the engine keeps its clock by itself.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Final

from sog.errors import SogError
from sog.protocols.gtp_client import GtpPipe
from sog.protocols.gtp_clock import TimeSettings
from soglab.checks.gtp_soak import our_engine

# By kind the words after kgs-time_settings, and what they mean; `none` has only simulations.
_KINDS: Final = {
    "absolute": ("absolute 12", TimeSettings(12.0)),
    "canadian": ("canadian 2 5 10", TimeSettings(2.0, 5.0, 10)),
    "byoyomi": ("byoyomi 2 1 3", TimeSettings(2.0, 1.0, 0, 3)),
    "none": ("none", None),
}
_A_GAME: Final = 20  # moves of one colour


def late_moves(settings: TimeSettings, took: Sequence[float]) -> int:
    """How many moves of one game, by the seconds that each took, a referee with this clock calls late."""
    main, left, stones, late = settings.main, settings.period, settings.stones, 0
    for seconds in took:
        main, seconds = max(0.0, main - seconds), max(0.0, seconds - main)
        if seconds == 0.0:
            continue  # all of it was main time
        if settings.stones == 0:
            late += seconds > settings.period
            continue
        left, stones = left - seconds, stones - 1
        late += left < 0
        if stones == 0:
            left, stones = settings.period, settings.stones
    return late


def clocked(pipe: GtpPipe, kind: str, moves: int) -> dict[str, float]:
    """Moves under a kind of clock, in games of 20: those that were late, seconds, and the share of the time used."""
    (words, settings), games = _KINDS[kind], list[list[float]]()
    pipe.send(f"kgs-time_settings {words}")
    for begun in range(0, moves, _A_GAME):
        pipe.send("clear_board")
        games.append([])
        for _ in range(min(_A_GAME, moves - begun)):
            started = time.monotonic()
            pipe.send("genmove black")
            games[-1].append(time.monotonic() - started)
    took = sum(games, list[float]())
    row: dict[str, float] = {
        "moves": moves,
        "late": 0,
        "longest": round(max(took), 3),
        "mean": round(sum(took) / moves, 3),
    }
    if settings is not None:
        allowed = len(games) * settings.main + moves * settings.a_move
        row |= {"late": sum(late_moves(settings, game) for game in games), "used": round(sum(took) / allowed, 3)}
    return row


def main() -> int:
    """Print a row for each kind as JSON; 1 where a move was late."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default="go(board_size=7,komi=7.5)", help="a game that a network ships for")
    parser.add_argument("--simulations", type=int, default=50, help="of a move without a clock")
    parser.add_argument("--moves", type=int, default=20, help="for each kind of clock")
    parser.add_argument("--busy", type=int, default=2, help="processes that compute beside it")
    said, started = parser.parse_args(), time.monotonic()
    pipe = our_engine(said.network, said.simulations)
    others = [subprocess.Popen([sys.executable, "-I", "-S", "-c", "while True: pass"]) for _ in range(said.busy)]
    try:
        clocks = {kind: clocked(pipe, kind, said.moves) for kind in _KINDS}
    finally:
        pipe.kill()
        for each in others:
            each.kill()
            each.wait()
    print(json.dumps({**clocks, "seconds": round(time.monotonic() - started, 1)}))
    return 1 if any(row["late"] for row in clocks.values()) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SogError as error:
        print(f"sog: {error}", file=sys.stderr)
        sys.exit(2)
