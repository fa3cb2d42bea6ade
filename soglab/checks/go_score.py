"""Our area score beside GNU Go's where no dead stones are left: `python -m soglab.checks.go_score --games 50`.

GNU Go plays both sides under Chinese rules, from a random opening, and captures all dead stones before it passes; then
its final_score and ours must agree.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sog.errors import SettingError, SogError
from sog.games.boards.go import Go
from sog.play.match import random_opening
from sog.protocols.go_setup import COLOURS, GoBoard, read_vertex, write_score, write_vertex
from sog.protocols.gtp_client import GtpPipe

# Where Debian keeps games.
_DEBIAN: Final = Path("/usr/games/gnugo")


@dataclass(frozen=True)
class Compared:
    """One finished game: how many moves, GNU Go's score and ours, and OpenSpiel's winner (1 Black, -1 White, 0)."""

    moves: int
    theirs: str
    ours: str
    winner: float

    @property
    def agree(self) -> bool:
        """Whether all three say the same."""
        winner = {"B": 1.0, "W": -1.0, "0": 0.0}[self.theirs[0]]
        return self.theirs == self.ours and winner == self.winner


def gnugo() -> str:
    """GNU Go's program; SettingError where it is not installed."""
    program = shutil.which("gnugo") or (str(_DEBIAN) if _DEBIAN.exists() else None)
    if program is None:
        raise SettingError("GNU Go is not installed: apt-get install gnugo")
    return program


def compare(size: int, komi: float, seed: int, plies: int = 6) -> Compared | None:
    """One game of GNU Go against itself, scored by both; None where our rules ended it first (a repetition)."""
    board = GoBoard(Go(size, komi))
    options = "--mode gtp --level 1 --chinese-rules --capture-all-dead --never-resign"
    pipe = GtpPipe([gnugo(), *options.split(), "--seed", str(seed + 1)], patience=300.0)
    try:
        for command in (f"boardsize {size}", "clear_board", f"komi {komi:g}"):
            pipe.send(command)
        for action in random_opening(board.game, plies, (seed,)):
            pipe.send(f"play {COLOURS[board.next_colour]} {write_vertex(action, size)}")
            board.play(board.next_colour, action)
        while not board.at.over:
            colour = board.next_colour
            action = read_vertex(pipe.send(f"genmove {COLOURS[colour]}"), size)
            if board.repeats(board.at, action):
                return None
            board.play(colour, action)
        result = board.game.payoff(board.at.position).entry(0, 0)
        return Compared(len(board.at.moves), pipe.send("final_score"), write_score(board.score()), result)
    finally:
        pipe.kill()


def main() -> int:
    """Compare this many games and print {games, agree, repetitions, differing}; 1 where one differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=50)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--komi", type=float, default=7.5)
    arguments = parser.parse_args()
    compared: list[Compared] = []
    repetitions = seed = 0
    started = time.monotonic()
    while len(compared) < arguments.games:
        game = compare(arguments.size, arguments.komi, seed)
        seed += 1
        if game is None:
            repetitions += 1
        else:
            compared.append(game)
        if seed % 10 == 0 and compared:
            each = (time.monotonic() - started) / len(compared)
            left = each * (arguments.games - len(compared))
            agree = sum(c.agree for c in compared)
            print(f"{agree} of {len(compared)} games agree, {each:.1f} s each, {left:.0f} s left", file=sys.stderr)
    differing = [f"{c.theirs} against our {c.ours}" for c in compared if not c.agree]
    answer = {"games": len(compared), "agree": len(compared) - len(differing), "repetitions": repetitions}
    print(json.dumps({**answer, "moves": sum(c.moves for c in compared), "differing": differing}))
    return 1 if differing else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SogError as error:
        print(f"sog: {error}", file=sys.stderr)
        sys.exit(2)
