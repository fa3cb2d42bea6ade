"""What one evaluator call costs, by back end, network and batch size, on one core.

python -m soglab.bench.network [GAME ...]
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import torch

from sog.arrays import Float32
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.encode import encode
from sog.nets.inference import Answer, MlpAnswer, ResNetEvaluator, onnx_answer, onnx_rows, torch_answer, uses_kernels
from sog.nets.one_core import one_core
from sog.nets.resnet import inference_copy
from sog.nets.shape import shape_for
from sog.searches.leaves.evaluator import Beliefs
from sog.searches.tree.public_tree import PublicTree

SIZES: Final = ((128, 2), (256, 2), (256, 3))
RESNETS: Final = ((8, 1), (16, 2), (32, 2), (32, 4), (64, 6))
BATCHES: Final = (1, 16, 64, 512)
RESNET_BATCHES: Final = (1, 8, 64, 256)


@dataclass(frozen=True)
class Row:
    """Microseconds of processor time from `batch` beliefs to their evaluations.

    chosen: whether searches use this back end for such a network.
    """

    game: str
    kind: str
    back_end: str
    width: int
    depth: int
    batch: int
    us: float
    chosen: bool

    @property
    def network(self) -> str:
        """Such as mlp 2x128."""
        return f"{self.kind} {self.depth}x{self.width}"


def bench(
    game: str = "leduc_poker",
    sizes: Sequence[tuple[int, int]] = SIZES,
    batches: Sequence[int] = BATCHES,
    rounds: int = 15,
    rows_a_round: int = 2_000,
    kind: str = "mlp",
) -> list[Row]:
    """Back ends take turns, each answering about `rows_a_round` beliefs a turn; the least of `rounds` counts.

    kind: of network, mlp or resnet, of which planes are made once and not counted.
    """
    public = PublicTree(make_game(game))
    if kind == "mlp":
        public.list_all()
    out = []
    with one_core():
        for width, depth in sizes:
            network = CVPN(shape_for(public.game, width, depth, kind), seed=1).eval()
            usual = "numba" if uses_kernels(network) else "pytorch"
            for batch in batches:
                beliefs = random_beliefs(public, batch, np.random.default_rng(0))
                back_ends = _resnets(network, beliefs) if kind == "resnet" else _mlps(network, beliefs)
                best = _least(back_ends, rounds, max(1, rows_a_round // batch))
                out += [
                    Row(game, kind, name, width, depth, batch, 1e6 * seconds, name == usual)
                    for name, seconds in best.items()
                ]
    return out


def random_beliefs(public: PublicTree, count: int, rng: np.random.Generator) -> Beliefs:
    """Beliefs with ranges drawn uniformly, at decision and chance nodes drawn uniformly (planes: in random games)."""
    ranges = [rng.dirichlet(np.ones(slots), count) for slots in public.game.num_slots]
    while public.game.planes is not None and len(public.ongoing()) < count:
        _random_line(public, rng)
    return Beliefs(public, rng.choice(public.ongoing(), count), np.concatenate(ranges, axis=1))


def _random_line(public: PublicTree, rng: np.random.Generator) -> None:
    """List the positions of a random game of at most 40 moves."""
    node = 0
    for _ in range(40):
        actions = public.actions(node)
        if len(actions) == 0:
            return
        node = public.child(node, int(rng.integers(len(actions))))


# Evaluates the beliefs that are measured with.
_Once = Callable[[], object]


def _mlps(network: CVPN, beliefs: Beliefs) -> dict[str, _Once]:
    """From beliefs to evaluations."""
    answers: dict[str, Answer] = {"numba": MlpAnswer(network), "pytorch": torch_answer(network)}
    if _has_onnx():
        answers["onnxruntime"] = onnx_answer(network)
    return {name: partial(answer, beliefs) for name, answer in answers.items()}


def _resnets(network: CVPN, beliefs: Beliefs) -> dict[str, _Once]:
    """From planes to outputs; making the planes costs the same for all."""
    folded, x = inference_copy(network), encode(beliefs)
    rows: dict[str, Callable[[Float32], object]] = {
        "numba": ResNetEvaluator(network).rows,
        "pytorch": partial(_by_torch, folded),
    }
    if _has_onnx():
        rows["onnxruntime"] = onnx_rows(network)
    return {name: partial(back_end, x) for name, back_end in rows.items()}


def _by_torch(module: CVPN, x: Float32) -> object:
    with torch.inference_mode():
        out: Float32 = module(torch.from_numpy(x)).numpy()
    return out


def _has_onnx() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("onnx", "onnxruntime"))


def _least(back_ends: dict[str, _Once], rounds: int, calls: int) -> dict[str, float]:
    """Each back end's processor seconds a call."""
    best = dict.fromkeys(back_ends, np.inf)
    for _ in range(rounds + 1):  # the first round also compiles, and is slower
        for name, once in back_ends.items():
            start = time.process_time()
            for _ in range(calls):
                once()
            best[name] = min(best[name], (time.process_time() - start) / calls)
    return best


def main() -> None:
    """Print a table for each game, one line for each network and batch; residual networks for games with planes."""
    for game in sys.argv[1:] or ["leduc_poker"]:
        planes = make_game(game).planes is not None
        print_table(bench(game, RESNETS, RESNET_BATCHES, 7, 500, "resnet") if planes else bench(game))


def print_table(rows: Sequence[Row]) -> None:
    """Rows a second of each back end, a star at the one that searches use."""
    names = list(dict.fromkeys(row.back_end for row in rows))
    print(f"{rows[0].game}, rows a second, one core{'':<18}" + "".join(f"{name:>14}" for name in names))
    for network, batch in dict.fromkeys((row.network, row.batch) for row in rows):
        found = {row.back_end: row for row in rows if (row.network, row.batch) == (network, batch)}
        speeds = [f"{1e6 * batch / found[name].us:>13,.0f}{'*' if found[name].chosen else ' '}" for name in names]
        print(f"{network:<14} batch {batch:>3}" + "".join(speeds))


if __name__ == "__main__":
    main()
