"""Makes the sets of connect four positions with every move's exact score, from a seed; stopped, it continues later.

    python -m soglab.checks.connect_four_sets --out positions.csv.gz --journal positions.jsonl

A candidate is what random play has led to after a number of stones drawn uniformly (Begin: 8 to 14, since a position
of fewer stones takes from seconds to hours; Middle: 15 to 28; End: 29 to 40). It is taken where the game continues, the
player to move cannot win with the next stone, no position before it was the same or its mirror image, and its set is
not full. What was solved is kept in the journal, so that a run that was stopped loses nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np

from sog.files import append_line
from sog.opponents.connect_four.bitboards import mirrored
from sog.opponents.connect_four.positions import EASY, SETS, Scored, set_of, write_positions
from sog.opponents.connect_four.solver import Board, ConnectFourSolver, plies_to_end

_STONES: Final = {"End": (29, 40), "Middle": (15, 28), "Begin": (8, 14)}
_REPORT_EVERY: Final = 20.0  # seconds


class Journal:
    """What was solved so far: the score, or every move's, of a line of play; kept in a file if one is named."""

    def __init__(self, solver: ConnectFourSolver, path: Path | None = None) -> None:
        self.solver, self._path = solver, path
        self._known: dict[str, dict[str, int]] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="ascii").splitlines():
                with suppress(ValueError):  # of a line that a kill cut short
                    key, scores = json.loads(line)
                    self._known[key] = scores

    def score(self, moves: tuple[int, ...]) -> int:
        """The position's score."""
        return self._solved(f"score {moves}", lambda: {"": self.solver.score(Board.after(moves))})[""]

    def scores(self, moves: tuple[int, ...]) -> dict[int, int]:
        """Every legal column's score."""
        board = Board.after(moves)
        scores = self._solved(f"scores {moves}", lambda: {str(c): s for c, s in self.solver.scores(board).items()})
        return {int(column): score for column, score in scores.items()}

    def _solved(self, key: str, solve: Callable[[], dict[str, int]]) -> dict[str, int]:
        if key not in self._known:
            self._known[key] = solve()
            if self._path is not None:
                append_line(self._path, json.dumps([key, self._known[key]]))
        return self._known[key]


def random_position(stones: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Random moves until this many stones lie; empty where the game ended before or the player to move wins at once."""
    board, moves = Board(), list[int]()
    for _ in range(stones):
        columns = board.columns()
        if not columns:
            return ()
        moves.append(columns[int(rng.integers(len(columns)))])
        board = board.play(moves[-1])
    return () if board.over or board.wins_at_once() else tuple(moves)


def make_sets(sizes: Mapping[str, int], seed: int, journal: Journal) -> list[Scored]:
    """This many positions for each set, in the order of the sets."""
    sets: dict[str, list[Scored]] = {name: [] for name in sizes}
    reported = time.monotonic()
    for number, (phase, (fewest, most)) in enumerate(_STONES.items()):
        rng, seen = np.random.default_rng((seed, number)), set[tuple[int, int]]()
        wanted = {name for name in sizes if name.startswith(phase)}
        while open_sets := {name for name in wanted if len(sets[name]) < sizes[name]}:
            moves = random_position(int(rng.integers(fewest, most + 1)), rng)
            board = Board.after(moves)
            key = min((board.own, board.mask), mirrored(board.own, board.mask))
            if not moves or key in seen:
                continue
            seen.add(key)
            if open_sets == {f"{phase}-Easy"} and not journal.solver.ends_within(board, EASY):
                continue
            name = set_of(board.stones, plies_to_end(board, journal.score(moves)))
            if name in open_sets:
                sets[name].append(Scored(name, moves, journal.scores(moves)))
            if time.monotonic() - reported > _REPORT_EVERY:
                reported = time.monotonic()
                print(", ".join(f"{name} {len(own)}" for name, own in sets.items()), file=sys.stderr, flush=True)
    return [position for positions in sets.values() for position in positions]


def main() -> None:
    """Make the sets and write them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--journal", type=Path, help="a file that keeps what was solved, to continue from")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    positions = make_sets(SETS, options.seed, Journal(ConnectFourSolver(), options.journal))
    write_positions(options.out, positions)
    print(json.dumps(dict(Counter(position.of for position in positions))))


if __name__ == "__main__":
    main()
