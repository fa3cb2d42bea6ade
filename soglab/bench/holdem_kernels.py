"""Hold'em's payoff kernels against matrices of all pairs of hands, on random boards and sparse ranges.

python -m soglab.bench.holdem_kernels --boards 1000
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from sog.arrays import Float32, Float64, Int32
from sog.games.holdem.cards import CARDS, HANDS, HIGH, LOW, live_hands
from sog.games.holdem.operator import APART, SHOWDOWN, CardOperator
from sog.games.holdem.strength import ranks_of
from sog.searches.holdem.payoffs import U0, Order, Workspace, fold_values, make_workspace, showdown_batch
from sog.searches.holdem.tables import order_of
from sog.searches.kernels.jit import njit
from sog.searches.kernels.vectors import LANES32, padded
from sog.searches.tree.cards import apply_card

__all__ = ["KernelErrors", "kernel_errors", "main"]


@dataclass(frozen=True)
class KernelErrors:
    """The largest difference between a kernel and its matrix, over the sum of the range's weights.

    batch_showdown, batch_fold: the solver's float32 hand vectors.  range_showdown, range_fold: the searches'
    float64 ranges.
    """

    batch_showdown: float
    batch_fold: float
    range_showdown: float
    range_fold: float


def kernel_errors(boards: int, seed: int = 0) -> KernelErrors:
    """The largest errors on random boards, LANES32 random ranges of 1 to 1,000 hands on each."""
    rng = np.random.default_rng(seed)
    worst = np.zeros(4)
    for _ in range(boards):
        board = tuple(int(c) for c in rng.choice(CARDS, size=5, replace=False))
        hands = np.flatnonzero(live_hands(board)).astype(np.int32)
        reach = _sparse_ranges(len(hands), rng)
        exact = reach[:, : len(hands)].astype(np.float64)
        mass = exact.sum(axis=1, keepdims=True)
        folds, showdowns = (exact @ m.T for m in _matrices(board, hands))
        computed = [*_vectors(board, hands, reach), *(_range(k, board, hands, exact[0]) for k in (SHOWDOWN, APART))]
        for k, (values, right) in enumerate(zip(computed, (showdowns, folds, showdowns[0], folds[0]), strict=True)):
            by_range = np.abs(values - right).reshape(-1, len(hands)).max(axis=1)
            worst[k] = np.maximum(worst[k], (by_range / mass[: len(by_range), 0]).max())  # which keeps a NaN
    return KernelErrors(*worst.tolist())


def _sparse_ranges(hands: int, rng: np.random.Generator) -> Float32:
    """float32[LANES32, padded]: ranges in which 10^u hands have a weight, u uniform from 0 to 3."""
    reach = np.zeros((LANES32, padded(hands)), dtype=np.float32)
    for weights in reach:
        chosen = rng.choice(hands, size=int(10 ** rng.uniform(0, 3)), replace=False)
        weights[chosen] = 1.0 - rng.random(len(chosen))
    return reach


def _matrices(board: tuple[int, ...], hands: Int32) -> tuple[Float64, Float64]:
    """float64[H, H] twice: 1 where two hands share no card, and the same with the sign of who wins."""
    low, high = LOW[hands], HIGH[hands]
    meets = low[:, None] == low
    for a, b in ((low, high), (high, low), (high, high)):
        meets |= a[:, None] == b
    apart = 1.0 - meets
    ranks = ranks_of(board, hands)  # 1 is the best
    return apart, apart * np.sign(ranks - ranks[:, None])


def _vectors(board: tuple[int, ...], hands: Int32, reach: Float32) -> tuple[Float32, Float32]:
    """float32[LANES32, H] twice: values at a showdown and after a fold, for one chip."""
    width = reach.shape[1]
    showdown, fold = (make_workspace(LANES32, LANES32, width, width) for _ in range(2))
    for work in (showdown, fold):
        work.reach[:] = reach.ravel()
    amounts, cards = np.ones(LANES32, dtype=np.float32), np.uint64(CARDS - len(board))
    _pay(order_of(board, hands), cards, np.uint64(width), amounts, showdown, fold)
    first, second = (work.values.reshape(reach.shape)[:, : len(hands)] for work in (showdown, fold))
    return first, second


@njit
def _pay(
    order: Order, cards: np.uint64, width: np.uint64, amounts: Float32, showdown: Workspace, fold: Workspace
) -> None:
    """Write the values of LANES32 showdowns and of as many folds.  amounts: float32[LANES32], each one's chips."""
    showdown_batch(showdown, U0, width, order, np.uint64(len(order.hand)), amounts, U0)
    at = U0
    for r in range(LANES32):
        fold_values(fold, at, at, cards, amounts[r])
        at += width


def _range(kind: int, board: tuple[int, ...], hands: Int32, reach: Float64) -> Float64:
    """float64[H]: what apply_card makes of one range, for one chip."""
    wide, out = np.zeros(HANDS), np.ones(HANDS)
    wide[hands] = reach
    apply_card(kind, CardOperator(kind, board).packed(), 0, 1.0, wide, 0, out, 0)
    values: Float64 = out[hands]
    return values


def main() -> None:
    """Print the largest errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    errors = kernel_errors(args.boards, args.seed)
    print(f"{args.boards:,} boards, {LANES32} ranges on each; largest error over the range's weight:")
    print(f"  float32 batches: showdown {errors.batch_showdown:.1e}, fold {errors.batch_fold:.1e}")
    print(f"  float64 ranges:  showdown {errors.range_showdown:.1e}, fold {errors.range_fold:.1e}")


if __name__ == "__main__":
    main()
