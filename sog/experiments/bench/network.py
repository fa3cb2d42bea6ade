"""What one evaluator call costs, by back end, network and batch size, on one core.

python -m sog.experiments.bench.network
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN, shape_for
from sog.nets.inference import Answer, MlpAnswer, onnx_answer, torch_answer
from sog.search.leaves.evaluator import Beliefs
from sog.search.tree.public_tree import PublicTree

SIZES = ((128, 2), (256, 2), (256, 3))
BATCHES = (1, 16, 64, 512)


@dataclass(frozen=True)
class Row:
    """Microseconds of processor time from `batch` beliefs to their evaluations."""

    back_end: str
    width: int
    depth: int
    batch: int
    us: float


def bench(
    game: str = "leduc_poker",
    sizes: Sequence[tuple[int, int]] = SIZES,
    batches: Sequence[int] = BATCHES,
    rounds: int = 15,
    rows_a_round: int = 2_000,
) -> list[Row]:
    """Back ends take turns, each answering about `rows_a_round` beliefs a turn; the least of `rounds` counts."""
    torch.set_num_threads(1)
    public = PublicTree(make_game(game)).list_all()
    out = []
    with threadpool_limits(1):
        for width, depth in sizes:
            back_ends = _back_ends(CVPN(shape_for(public.game, width, depth), seed=1))
            for batch in batches:
                beliefs = random_beliefs(public, batch, np.random.default_rng(0))
                best = _least(back_ends, beliefs, rounds, max(1, rows_a_round // batch))
                out += [Row(name, width, depth, batch, 1e6 * seconds) for name, seconds in best.items()]
    return out


def random_beliefs(public: PublicTree, count: int, rng: np.random.Generator) -> Beliefs:
    """Beliefs with ranges drawn uniformly, at decision and chance nodes drawn uniformly."""
    ranges = [rng.dirichlet(np.ones(slots), count) for slots in public.game.num_slots]
    return Beliefs(public, rng.choice(public.ongoing(), count), np.concatenate(ranges, axis=1))


def _back_ends(network: CVPN) -> dict[str, Answer]:
    back_ends: dict[str, Answer] = {"numba": MlpAnswer(network), "pytorch": torch_answer(network)}
    if importlib.util.find_spec("onnxruntime") is not None:
        back_ends["onnxruntime"] = onnx_answer(network)
    return back_ends


def _least(back_ends: dict[str, Answer], beliefs: Beliefs, rounds: int, calls: int) -> dict[str, float]:
    """Each back end's processor seconds a call."""
    best = dict.fromkeys(back_ends, np.inf)
    for _ in range(rounds + 1):  # the first round also compiles, and is slower
        for name, answer in back_ends.items():
            start = time.process_time()
            for _ in range(calls):
                answer(beliefs)
            best[name] = min(best[name], (time.process_time() - start) / calls)
    return best


def main() -> None:
    """Print a table, one line for each network and batch."""
    rows = bench()
    names = list(dict.fromkeys(row.back_end for row in rows))
    print("us a call" + "".join(f"{name:>13}" for name in names))
    for width, depth in SIZES:
        for batch in BATCHES:
            found = {row.back_end: row.us for row in rows if (row.width, row.depth, row.batch) == (width, depth, batch)}
            print(f"{depth}x{width} {batch:>3}" + "".join(f"{found[name]:>13.1f}" for name in names))


if __name__ == "__main__":
    main()
