"""Games of `sog gtp` against GNU Go with a controller between them: `python -m soglab.checks.gtp_soak --games 20`.

The controller sets positions up colour by colour, passes for either colour, takes moves back, and plays on after two
passes with kgs-genmove_cleanup. After each command both programs must have the same stones.

Prints commands, moves of ours, undos, passes of ours; early: those while GNU Go calls a stone of the opponent dead;
behind: early ones in a position that counts as lost with all stones alive; left: cleanups that ended early; faults:
error answers, late ones, moves that only one takes, boards that differ.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from typing import Final

import numpy as np

from sog.errors import SettingError, SogError
from sog.games.boards.go import Go
from sog.games.catalog import make_game
from sog.play.match import ContestantFault
from sog.protocols.go_setup import COLOURS, write_vertex
from sog.protocols.gtp_client import GtpPipe
from soglab.checks.go_score import gnugo

_PATIENCE: Final = 300.0  # seconds for an answer
_UNDO, _SKIP = 0.06, 0.1  # below the first a step takes two moves back, below the second it passes for the mover


class SoakPair:
    """Our engine and GNU Go with the same stones; made: how many moves can be taken back."""

    def __init__(self, network: str, size: int, simulations: int, seed: int, count: Counter[str]) -> None:
        self.size, self.count, self.made = size, count, 0
        self.ours = our_engine(network, simulations)
        options = "--mode gtp --level 1 --chinese-rules --capture-all-dead --never-resign --positional-superko"
        self.theirs = GtpPipe([gnugo(), *options.split(), "--seed", str(seed + 1)], _PATIENCE)

    def both(self, command: str) -> bool:
        """Say a command to both; whether both took it. ContestantFault where only one does, or their stones differ."""
        theirs, ours = (_takes(pipe, command) for pipe in (self.theirs, self.ours))
        if theirs != ours:
            raise ContestantFault(f"{command}: GNU Go takes it: {theirs}, ours: {ours}")
        self._compare(command)
        return ours

    def move(self, colour: int, mine: bool, command: str = "genmove") -> str:
        """A move of ours or of GNU Go's, played by the other, too."""
        mover, other = (self.ours, self.theirs) if mine else (self.theirs, self.ours)
        vertex = mover.send(f"{command} {COLOURS[colour]}").lower()
        other.send(f"play {COLOURS[colour]} {vertex}")
        self.made += 1
        self.count["moves"] += mine
        self._compare(f"{command} {COLOURS[colour]}, {vertex}")
        return vertex

    def undo(self, moves: int) -> None:
        for _ in range(min(moves, self.made)):
            self.both("undo")
            self.made, self.count["undos"] = self.made - 1, self.count["undos"] + 1

    def dead(self, colour: int) -> bool:
        """Whether GNU Go calls a stone of this colour dead."""
        dead = set(self.theirs.send("final_status_list dead").split())
        return bool(dead & set(self.theirs.send(f"list_stones {COLOURS[colour]}").split()))

    def kill(self) -> None:
        self.ours.kill()
        self.theirs.kill()

    def _compare(self, after: str) -> None:
        self.count["commands"] += 2
        ours = set(self.ours.send("final_status_list alive").split())
        theirs = {stone for name in COLOURS for stone in self.theirs.send(f"list_stones {name}").split()}
        if ours != theirs:
            raise ContestantFault(f"after {after} only one has {sorted(ours ^ theirs)}")


def our_engine(network: str, simulations: int) -> GtpPipe:
    """`sog gtp` on pipes, once it answers."""
    pipe = GtpPipe([sys.executable, "-m", "sog.cli.app", "gtp", network, "-s", str(simulations)], _PATIENCE)
    pipe.send("protocol_version")
    return pipe


def _takes(pipe: GtpPipe, command: str) -> bool:
    """Whether it answers without an error; ContestantFault where it does not answer."""
    try:
        pipe.send(command)
    except ContestantFault as fault:
        if ": answered ?" not in str(fault):
            raise
        return False
    return True


def soak_game(pair: SoakPair, komi: float, rng: np.random.Generator) -> None:
    """One game from stones of Black and then of White; ours has either colour. ContestantFault where one errs."""
    for command in (f"boardsize {pair.size}", "clear_board", f"komi {komi:g}"):
        pair.both(command)
    pair.made = 0
    for name in COLOURS:
        points = rng.choice(pair.size**2 + 1, int(rng.integers(1, pair.size)), replace=False)
        pair.made += sum(pair.both(f"play {name} {write_vertex(int(point), pair.size)}") for point in points)
    pair.undo(int(rng.integers(3)))
    ours, turn, passes = int(rng.integers(2)), int(rng.integers(2)), 0
    for _ in range(3 * pair.size**2):
        chance = rng.random()
        if chance < _UNDO:
            pair.undo(2)
            passes = 0
            continue
        skipped = chance < _SKIP and pair.both(f"play {COLOURS[turn]} pass")
        pair.made += skipped
        passed = skipped or pair.move(turn, turn == ours) == "pass"
        if passed and not skipped and turn == ours:
            early = pair.dead(1 - ours)
            behind = not pair.ours.send("final_score").startswith("BW"[ours])
            pair.count.update(passes=1, early=int(early), behind=int(early and behind))
        passes, turn = passes + 1 if passed else 0, 1 - turn
        if passes == 2:
            break
    while pair.move(ours, True, "kgs-genmove_cleanup") != "pass":  # each takes something or comes nearer to it
        pair.both(f"play {COLOURS[1 - ours]} pass")
    pair.count.update(games=1, left=int(pair.dead(1 - ours)))


def soak(network: str, simulations: int, games: int) -> tuple[Counter[str], list[str]]:
    """Games in a row by the same two programs, which are started anew after a fault; what was seen, and the faults."""
    count, faults, game = Counter[str](games=0, moves=0, early=0, left=0), list[str](), make_game(network)
    if not isinstance(game, Go):
        raise SettingError(f"GTP is for Go, not {game.name}")
    pair: SoakPair | None = None
    for number in range(games):
        pair = pair or SoakPair(network, game.size, simulations, number, count)
        try:
            soak_game(pair, game.komi, np.random.default_rng(number))
        except ContestantFault as fault:
            faults.append(f"game {number}: {fault}")
            pair.kill()
            pair = None
        print(f"{number + 1} of {games} games, {len(faults)} faults", file=sys.stderr)
    if pair is not None:
        pair.kill()
    return count, faults


def main() -> int:
    """Print what was seen as JSON; 1 where there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default="go(board_size=7,komi=7.5)", help="a game that a network ships for")
    parser.add_argument("--simulations", type=int, default=50)
    parser.add_argument("--games", type=int, default=20)
    said, started = parser.parse_args(), time.monotonic()
    count, faults = soak(said.network, said.simulations, said.games)
    seconds = round(time.monotonic() - started, 1)
    print(json.dumps({**count, "faults": len(faults), "first": faults[:5], "seconds": seconds}))
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SogError as error:
        print(f"sog: {error}", file=sys.stderr)
        sys.exit(2)
