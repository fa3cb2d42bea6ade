"""What one evaluator call costs, by back end, network and batch size, on one core."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final

import numpy as np
import torch

from sog.arrays import Float32, Int32
from sog.games.base import TERMINAL
from sog.games.catalog import make_game
from sog.games.holdem.hand_inputs import has_hand_inputs
from sog.games.scotland_yard.station_inputs import has_station_inputs
from sog.nets.cvpn import CVPN
from sog.nets.encode import encode
from sog.nets.hand_rows import HandRows
from sog.nets.inference import (
    Answer,
    MlpAnswer,
    ResNetEvaluator,
    rows_answer,
    uses_kernels,
)
from sog.nets.one_core import one_core
from sog.nets.resnet import inference_copy
from sog.nets.shape import shape_for
from sog.nets.station_rows import StationRows
from sog.nets.torch_rows import TorchRows
from sog.searches.leaves.evaluator import Beliefs, Wanted
from sog.searches.tree.public_tree import PublicTree
from soglab.bench.form import Benchmark, Column, Report
from soglab.bench.runtimes import other_programs, rows_of_program
from soglab.bench.stopwatch import in_turn

SIZES: Final = ((128, 2), (256, 2), (256, 3), (512, 6), (1024, 3))
RESNETS: Final = ((8, 1), (16, 2), (32, 2), (32, 4), (64, 6))
BATCHES: Final = (1, 16, 64, 512)
RESNET_BATCHES: Final = (1, 8, 64, 256)
HANDS: Final = ((64, 2),)
HAND_BATCHES: Final = (1, 4, 16, 64)
STATIONS: Final = ((64, 1),)
_BLAS: Final = 1_024
# Evaluates the beliefs that are measured with.
_Once = Callable[[], object]


@dataclass(frozen=True)
class BackEndRow:
    """Microseconds of processor time from `batch` beliefs to their evaluations.

    chosen: whether searches use this back end for such a network.  gflops: of its dense layers, 10^9 operations a
    second, a multiplication and an addition being two; None for other layers.  blas: the same of NumPy's product of two
    matrices of _BLAS rows in float32, on the same core in the same run.
    """

    game: str
    kind: Annotated[str, Column("network", lambda row: f"{row.kind} {row.depth}x{row.width} batch {row.batch:>3}")]
    back_end: Annotated[str, Column()]
    width: int
    depth: int
    batch: int
    us: Annotated[float, Column("rows/s", lambda row: f"{1e6 * row.batch / row.us:,.0f}{' *'[row.chosen]}")]
    chosen: bool
    gflops: float | None = None
    blas: float = 0.0


def _shares(rows: Sequence[BackEndRow]) -> str:
    """What the layers of each network that searches use make of the core, at its largest batch."""
    last = {(row.depth, row.width): row for row in rows if row.chosen and row.gflops is not None}
    shares = (f"{d}x{w} {row.gflops:,.0f} ({row.gflops / row.blas:.0%})" for (d, w), row in last.items() if row.gflops)
    first = rows[0]
    return f"GFLOP/s at the largest batch, beside {first.blas:,.0f} of BLAS: {', '.join(shares)}" if last else ""


BACK_ENDS: Final = Benchmark("bench network", "rows", "{game}, one core; *: searches use it", _shares, "back_end")


def bench(
    game: str = "leduc_poker",
    sizes: Sequence[tuple[int, int]] = SIZES,
    batches: Sequence[int] = BATCHES,
    rounds: int = 15,
    rows_a_round: int = 2_000,
    kind: str = "mlp",
) -> Iterator[BackEndRow]:
    """Back ends take turns, each answering about `rows_a_round` beliefs a turn; the least of `rounds` counts.

    kind: of network: mlp, hands, stations (values alone), or resnet, of which planes are made once and not counted.
    """
    public = PublicTree(make_game(game))
    if kind == "mlp":
        public.list_all()
    with one_core():
        blas = _blas_gflops(rounds)
        for width, depth in sizes:
            network = CVPN(shape_for(public.game, width, depth, kind), seed=1).eval()
            flops = 2 * sum(layer.weight.numel() for layer in network.modules() if isinstance(layer, torch.nn.Linear))
            usual = "numba" if uses_kernels(network) else "pytorch"
            for batch in batches:
                beliefs = random_beliefs(public, batch, np.random.default_rng(0))
                back_ends = _BACK_ENDS[kind](network, beliefs)
                calls = max(1, rows_a_round // batch)
                turns = {name: partial(_repeated, once, calls) for name, once in back_ends.items()}
                for name, times in in_turn(turns, rounds + 1).items():  # the first turn also compiles, and is slower
                    us = 1e6 * min(times) / calls
                    gflops = 1e-3 * flops * batch / us if kind == "mlp" else None
                    yield BackEndRow(game, kind, name, width, depth, batch, us, name == usual, gflops, blas)


def _blas_gflops(rounds: int) -> float:
    """10^9 operations a second of NumPy's product of two float32[_BLAS, _BLAS], the best of `rounds`."""
    square = np.random.default_rng(0).random((_BLAS, _BLAS), dtype=np.float32)
    return 2e-9 * _BLAS**3 / min(in_turn({"blas": partial(np.matmul, square, square)}, rounds + 1)["blas"])


def _repeated(once: _Once, calls: int) -> None:
    for _ in range(calls):
        once()


def _ongoing(public: PublicTree) -> Int32:
    """int32[*]: the nodes where the game continues."""
    return np.flatnonzero(public.nodes.actor[: public.size] != TERMINAL).astype(np.int32)


def random_beliefs(public: PublicTree, count: int, rng: np.random.Generator) -> Beliefs:
    """Beliefs with ranges drawn uniformly, at decision and chance nodes drawn uniformly of what is listed.

    Boards and maps are not listed before: nodes of random games are.
    """
    game = public.game
    ranges = [rng.dirichlet(np.ones(slots), count) for slots in game.num_slots]
    while (game.planes is not None or has_station_inputs(game)) and len(_ongoing(public)) < count:
        _random_line(public, rng)
    return Beliefs(public, rng.choice(_ongoing(public), count), np.concatenate(ranges, axis=1))


def _random_line(public: PublicTree, rng: np.random.Generator) -> None:
    """List the public states of a random game's first 40 events."""
    node = 0
    for _ in range(40):
        if not public.list_fan(node) or public.num_edges(node) == 0:
            return
        node = public.child(node, int(rng.integers(public.num_edges(node))))


def _mlps(network: CVPN, beliefs: Beliefs) -> dict[str, _Once]:
    """From beliefs to evaluations."""
    answers: dict[str, Answer] = {"numba": MlpAnswer(network), "pytorch": rows_answer(TorchRows(network))}
    answers |= {name: rows_of_program(network, rows) for name, rows in other_programs(network).items()}
    return {name: partial(answer, beliefs) for name, answer in answers.items()}


def _resnets(network: CVPN, beliefs: Beliefs) -> dict[str, _Once]:
    """From planes to outputs; making the planes costs the same for all."""
    folded, x = inference_copy(network), encode(beliefs)
    rows: dict[str, Callable[[Float32], object]] = {
        "numba": ResNetEvaluator(network).rows,
        "pytorch": partial(_by_torch, folded),
    }
    return {name: partial(back_end, x) for name, back_end in (rows | other_programs(network)).items()}


def _by_torch(module: CVPN, x: Float32) -> object:
    with torch.inference_mode():
        out: Float32 = module(torch.from_numpy(x)).numpy()
    return out


def _hands(network: CVPN, beliefs: Beliefs) -> dict[str, _Once]:
    """From beliefs to evaluations, hold'em's baseline included."""
    answers = {"numba": rows_answer(HandRows(network)), "pytorch": rows_answer(TorchRows(network))}
    return {name: partial(answer, beliefs) for name, answer in answers.items()}


def _stations(network: CVPN, beliefs: Beliefs) -> dict[str, _Once]:
    """From beliefs to values, which a search asks for at every update."""
    answers = {"numba": rows_answer(StationRows(network)), "pytorch": rows_answer(TorchRows(network))}
    asked = beliefs._replace(wanted=Wanted.VALUES)
    return {name: partial(answer, asked) for name, answer in answers.items()}


_BACK_ENDS: Final = {"mlp": _mlps, "resnet": _resnets, "hands": _hands, "stations": _stations}


def bench_game(name: str, report: Report) -> Iterator[BackEndRow]:
    """The rows of a game, by the kind of network that it has."""
    game = make_game(name)
    if game.planes is not None:
        rows = bench(name, RESNETS, RESNET_BATCHES, 7, 500, "resnet")
    elif has_hand_inputs(game):
        rows = bench(name, HANDS, HAND_BATCHES, 7, 64, "hands")
    elif has_station_inputs(game):
        rows = bench(name, STATIONS, BATCHES, 15, 500, "stations")
    else:
        rows = bench(name)
    for done, row in enumerate(rows, start=1):
        report(done, f"{row.kind} {row.depth}x{row.width}, {row.batch} at once, {row.back_end}")
        yield row
