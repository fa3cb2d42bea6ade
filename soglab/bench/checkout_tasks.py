"""Runs one checkout's tasks on request and says what each cost: the child process of `soglab.bench.checkouts`.

Its argument is the core to run on. It uses only what `import sog` and the command line have had for long, so that it
runs on older checkouts as well. It reads a task's name a line from stdin, and answers with processor seconds and how
many units of work they bought.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from itertools import count
from time import process_time
from typing import Final

import sog
from sog.cli.app import main as command

_DICE4, _DICE6 = "liars_dice(numdice=1,dice_sides=4)", "liars_dice(numdice=1,dice_sides=6)"
_TWO_DICE, _GLASSES = "liars_dice(numdice=2,dice_sides=3)", "scotland_yard(map=glasses)"
_GO = "go(board_size=7,komi=9.0)"
_HOLDEM: Final = "holdem(bets=0.5;1.0;allin)"
_RIVER: Final = "holdem(board=3s7hTdKs2c,pot=2000,stacks=20000,bets=0.5;1.0;allin)"


def _solved(game: str, algorithm: str, iterations: int) -> int:
    sog.solve(game, algorithm, iterations)
    return iterations


def _searched(game: str, expansions: int, per_update: float, network: bool, times: int) -> int:
    for seed in range(times):
        sog.search(game, sog.Budget(expansions, per_update), game if network else None, seed)
    return times


def _first_policy(game: str, algorithm: str, times: int) -> int:
    for seed in range(times):
        sog.load_agent(game, seed=seed, algorithm=algorithm).policy(0)
    return times


def _commanded(words: list[str]) -> int:
    with contextlib.redirect_stdout(io.StringIO()):
        command(words)
    return 1


def _measured(game: str) -> int:
    """A search at every public state, and the exploitability of the policy that they make."""
    return _commanded(["exploit", game, "-s", "400", "-c", "1", "--json"])


def _trained(game: str, rounds: int) -> int:
    """The rows of a run's first rounds."""
    with tempfile.TemporaryDirectory() as folder:
        return sog.train(game, f"{folder}/run", rounds=rounds).rows


# Each returns how many units of work it did: of training rows, which a round has a varying number of.
TASKS: Final[dict[str, Callable[[], int]]] = {
    "CFR+, Leduc": partial(_solved, "leduc_poker", "cfr+", 60_000),
    "CFR+, Liar's Dice 1x6": partial(_solved, _DICE6, "cfr+", 2_000),
    "external MCCFR, Leduc": partial(_solved, "leduc_poker", "external-mccfr", 400_000),
    "outcome MCCFR, Leduc": partial(_solved, "leduc_poker", "outcome-mccfr", 1_000_000),
    "search (100, 1), Leduc": partial(_searched, "leduc_poker", 100, 1.0, True, 40),
    "search (100, 1), Liar's Dice 1x6": partial(_searched, _DICE6, 100, 1.0, True, 20),
    "search (10, 0.1), hold'em, leaves worth 0": partial(_searched, _HOLDEM, 10, 0.1, False, 20),
    "search (400, 1), connect four": partial(_searched, "connect_four", 400, 1.0, True, 12),
    "search (400, 1), 7x7 Go": partial(_searched, _GO, 400, 1.0, True, 12),
    "hold'em river, 3,000 iterations": partial(_commanded, ["solve", _RIVER, "--iterations", "3000", "--json"]),
    "ReBeL's first subgame, Liar's Dice 1x4": partial(_first_policy, _DICE4, "rebel", 20),
    "training, a row, Leduc": partial(_trained, "leduc_poker", 4),
    "training, a row, Liar's Dice 1x6": partial(_trained, _DICE6, 2),
    "training, a row, connect four": partial(_trained, "connect_four", 3),
    "training, a row, 7x7 Go": partial(_trained, _GO, 1),
    "exploitability at (400, 1), Leduc": partial(_measured, "leduc_poker"),
    "exploitability at (400, 1), Liar's Dice 1x6": partial(_measured, _DICE6),
    "exploitability at (400, 1), Liar's Dice 2x3": partial(_measured, _TWO_DICE),
    "exploitability at (400, 1), glasses": partial(_measured, _GLASSES),
}


def main() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(sys.argv[1])})
    answers, numbers = sys.stdout, count()
    sys.stdout = io.StringIO()
    warnings.simplefilter("ignore")  # such as that a network is not trained
    for line in sys.stdin:
        if not next(numbers):
            gc.collect()
            gc.freeze()
        start = process_time()
        units = TASKS[line.strip()]()
        print(process_time() - start, units, file=answers, flush=True)


if __name__ == "__main__":
    main()
