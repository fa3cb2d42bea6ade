"""How fast and how exact hold'em is solved here: the figures of the river, the turn and the kernels.

python -m sog.experiments.bench_holdem --json        rows of spot, threads, ms an iteration, seconds to 0.5%
python -m sog.experiments.bench_holdem --kernels     kernels against matrices on 1,000 random boards
python -m sog.experiments.bench_holdem --curve       exploitability of ReBeL's turn endgame by iteration
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass

import numpy as np

from sog.arrays import Array, Float32, Float64
from sog.games.holdem import Holdem
from sog.games.holdem_cards import CARDS, HANDS, HIGH, LOW, live_hands
from sog.games.holdem_names import holdem_from
from sog.games.holdem_strength import ladder
from sog.games.names import parse_game
from sog.search.cards import fold_values, showdown_batch
from sog.search.holdem_program import padded
from sog.search.holdem_solver import HoldemSolver, aligned
from sog.search.jit import njit
from sog.search.lanes import LANES

U = np.uint64
TARGET = 0.005  # of the pot
RIVER = "holdem(board=2s2h2d7c9c,pot=1000,stacks=20000,bets=0.5;1.0;allin)"
TURN = "holdem(board=3s7hTdKs,pot=1000,stacks=20000,bets=0.5;1.0;allin)"
ENDGAME = "holdem(board=3s7hTdKs,pot=2000,stacks=20000,bets=0.5;1.0;allin,raises=0.75;allin)"  # ReBeL C.2


@dataclass(frozen=True)
class Row:
    """One line of the benchmark; iterations and seconds are those to `TARGET` of the pot, measuring included."""

    spot: str
    threads: int
    ms_per_iteration: float
    seconds_to_half_percent: float
    iterations: int
    memory_mb: float

    def __str__(self) -> str:
        return (
            f"{self.spot}  threads {self.threads}  {self.ms_per_iteration:.3f} ms an iteration  "
            f"{self.seconds_to_half_percent:.3f} s and {self.iterations} iterations to 0.5%  {self.memory_mb:,.0f} MB"
        )


def game_of(text: str) -> Holdem:
    return holdem_from(parse_game(text)[1])


def bench(text: str, threads: int, every: int, repeats: int) -> Row:
    """Solve a spot to TARGET `repeats` times and report the fastest; kernels are compiled before."""
    game = game_of(text)
    seconds, pace, done = np.inf, np.inf, 0
    HoldemSolver(game_of(RIVER), threads).solve(TARGET, 1)
    for _ in range(repeats):
        solver = HoldemSolver(game, threads)
        solver.iterate(0)
        start, spent = time.perf_counter(), 0.0
        while True:
            before = time.perf_counter()
            solver.iterate(every)
            spent += time.perf_counter() - before
            if solver.progress().of_pot <= TARGET:
                break
        seconds = min(seconds, time.perf_counter() - start)
        done, pace = solver.iterations, min(pace, 1000 * spent / solver.iterations)
    return Row(game.name, threads, pace, seconds, done, solver.program.memory(threads) / 1e6)


def curve(text: str, iterations: int, threads: int) -> None:
    """Print exploitability and seconds at 1, 2, 5, 10, 20, 50 ... iterations."""
    solver = HoldemSolver(game_of(text), threads)
    print(f"{solver.game.name}: {solver.program.memory(threads) / 1e6:,.0f} MB")
    marks = [m * 10**k for k in range(6) for m in (1, 2, 5) if m * 10**k <= iterations]
    spent = 0.0
    for mark in marks:
        before = time.perf_counter()
        solver.iterate(mark - solver.iterations)
        spent += time.perf_counter() - before
        now = solver.progress()
        chips, percent = now.exploitability, 100 * now.of_pot
        print(f"{mark:6d} iterations {spent:8.1f} s {chips:10.3f} chips {percent:8.4f}% of the pot", flush=True)


@njit
def _pay(
    ordered: Array, ends: Array, natural: Array, cards: int, reach: Array, values: Array, folds: Array,
    amounts: Array, width: int, scratch: Array,
) -> None:  # fmt: skip
    showdown_batch(
        ordered, ends, natural, U(0), U(len(ends)), reach, U(0), values, U(0), U(width), amounts, U(0), scratch
    )
    for r in range(LANES):
        at = U(r) * U(width)
        fold_values(reach, at, U(cards), amounts[r], scratch, folds, at)


def largest_kernel_error(boards: int, seed: int = 0) -> float:
    """Showdown and fold kernels against matrices on random boards and sparse ranges: the largest difference
    over the sum of the range's weights."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(boards):
        board = tuple(int(c) for c in rng.choice(CARDS, size=5, replace=False))
        hands = np.flatnonzero(live_hands(board))
        width = padded(len(hands))
        reach = np.zeros((LANES, width), dtype=np.float32)
        for row in reach:
            chosen = rng.choice(len(hands), size=int(10 ** rng.uniform(0, 3)), replace=False)
            row[chosen] = rng.random(len(chosen))
        values, folds = _kernels(board, hands, reach, width)
        apart = _apart(hands)
        exact = reach[:, : len(hands)].astype(np.float64)
        mass = exact.sum(axis=1, keepdims=True)
        place = ladder(board).places()[hands]
        signs = np.sign(place[:, None] - place[None, :])
        for found, matrix in ((values, apart * signs), (folds, apart)):
            worst = max(worst, float(np.max(np.abs(found[:, : len(hands)] - exact @ matrix.T) / mass)))
    return worst


def _apart(hands: Array) -> Float64:
    """float64[H, H]: 1 where two hands share no card."""
    low, high = LOW[hands], HIGH[hands]
    meets = [a[:, None] == b[None, :] for a in (low, high) for b in (low, high)]
    apart: Float64 = 1.0 - np.any(meets, axis=0)
    return apart


def _kernels(board: tuple[int, ...], hands: Array, reach: Float32, width: int) -> tuple[Float32, Float32]:
    """Values of LANES rows at a showdown and after a fold, for one chip."""
    order = ladder(board)
    place = np.full(HANDS, -1)
    place[hands] = np.arange(len(hands))
    live = np.cumsum([c not in board for c in range(CARDS)]) - 1
    ordered = LANES * np.stack([place[order.hands], live[LOW[order.hands]], live[HIGH[order.hands]]], axis=1)
    natural = LANES * np.stack([live[LOW[hands]], live[HIGH[hands]]], axis=1)
    values, folds = aligned(reach.size), aligned(reach.size)
    _pay(
        ordered.astype(np.int32).ravel(), order.ends, natural.astype(np.int32).ravel(), CARDS - len(board),
        reach.ravel(), values, folds, np.ones(LANES, dtype=np.float32), width, aligned((2 * width + 64) * LANES),
    )  # fmt: skip
    return values.reshape(reach.shape), folds.reshape(reach.shape)


def main() -> None:
    """Print what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--spots", choices=["river", "turn", "both"], default="both")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--iterations", type=int, default=1000, help="of the curve")
    parser.add_argument("--threads", type=int, default=2, help="of the curve")
    args = parser.parse_args()
    if args.kernels:
        print(f"1,000 boards: largest error {largest_kernel_error(1000):.1e} of a range's weight")
    elif args.curve:
        curve(ENDGAME, args.iterations, args.threads)
    else:
        _print(bench_rows(args.spots), args.json)


def bench_rows(spots: str) -> list[Row]:
    """The river, the turn or both, on one thread and on two."""
    rows = []
    for spot, text, every, repeats in (("river", RIVER, 20, 10), ("turn", TURN, 20, 1)):
        if spots in (spot, "both"):
            rows += [bench(text, threads, every, repeats) for threads in (1, 2)]
    return rows


def _print(rows: list[Row], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"rows": [asdict(r) for r in rows]}, indent=2))
    else:
        print("\n".join(str(r) for r in rows))


if __name__ == "__main__":
    main()
