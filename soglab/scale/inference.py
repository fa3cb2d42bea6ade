"""How many rows a second a network answers by batch size, device, precision and mode, from arrays to arrays."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Annotated, Final

import numpy as np
import torch

from sog.arrays import Float32
from sog.errors import SogError, first_line
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.serving.resident import Residence, ResidentNetwork
from sog.nets.shape import NetworkShape, shape_for
from soglab.bench.form import Benchmark, Column, Report

BATCHES: Final = (1, 4, 16, 64, 256, 1024)
_FEWEST: Final = 5  # calls that a figure is over


@dataclass(frozen=True)
class TimedNetwork:
    """A network to be measured, with random weights, on a game's inputs and outputs.  kind: mlp or resnet."""

    game: str
    depth: int
    width: int
    kind: str = "mlp"

    @property
    def name(self) -> str:
        body = "residual " if self.kind == "resnet" else ""
        return f"{body}{self.depth}x{self.width} {self.game.partition('(')[0]}"

    def shape(self) -> NetworkShape:
        return shape_for(make_game(self.game), self.width, self.depth, self.kind)


NETWORKS: Final = (
    TimedNetwork("leduc_poker", 3, 256),
    TimedNetwork("holdem(bets=0.5;1.0;allin)", 6, 2048),
    TimedNetwork("chess", 6, 64, "resnet"),
)


@dataclass(frozen=True)
class InferenceRow:
    """One measurement. p95_ms: of a call, 95th percentile.  why: nothing was measured; figures are then None."""

    network: Annotated[str, Column("network")]
    device: Annotated[str, Column("device")]
    precision: Annotated[str, Column("precision")]
    mode: Annotated[str, Column("mode")]
    batch: Annotated[int, Column("", ",")]
    rows_per_second: Annotated[float | None, Column("rows/s", ",.4g", missing="-")] = None
    p95_ms: Annotated[float | None, Column("p95", ",.3g", unit="ms", missing="-")] = None
    why: str = ""


def _reasons(rows: Sequence[InferenceRow]) -> str:
    return "\n".join(dict.fromkeys(f"{row.network} {row.device} {row.mode}: {row.why}" for row in rows if row.why))


INFERENCE: Final = Benchmark("bench inference", "rows", "one evaluator, by batch size", _reasons, across="batch")


def devices() -> tuple[str, ...]:
    """The devices of this machine."""
    return ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)


def bench_inference(
    subjects: Sequence[TimedNetwork],
    residences: Sequence[Residence],
    batches: Sequence[int] = BATCHES,
    seconds: float = 1.0,
    limit: float = 20.0,
    report: Report = lambda done, note: None,
) -> Iterator[InferenceRow]:
    """Every network as each residence has it, at every batch size, for `seconds` each and at least five calls.

    limit: a batch size is left out where, by the one before, five calls would take longer, in seconds.
    """
    done = count(1)
    for subject in subjects:
        shape = subject.shape()
        weights = _drawn(shape)
        for residence in residences:
            for row in _rows(subject, shape, weights, replace(residence, buckets=tuple(batches)), seconds, limit):
                yield row
                report(next(done), f"{row.network} {row.device} {row.precision} {row.mode} {row.batch}")


def _drawn(shape: NetworkShape) -> CVPN:
    """A network without zeros, whose products a processor could take short cuts with."""
    network = CVPN(shape, seed=1)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if name.endswith(("head.weight", "_last.weight")):
                weight.normal_(0.0, 0.05, generator=generator)
    return network


def _rows(
    subject: TimedNetwork, shape: NetworkShape, weights: CVPN, residence: Residence, seconds: float, limit: float
) -> Iterator[InferenceRow]:
    """Measurements of one network in one residence, smallest batch first."""
    blank = InferenceRow(subject.name, residence.device, residence.precision, residence.mode, 0)
    torch.compiler.reset()  # what another network had compiled counts towards PyTorch's limit
    why = ""
    try:
        resident = ResidentNetwork(shape, residence)
        resident.load(weights.state_dict())
    except (SogError, RuntimeError) as error:
        why = first_line(error)
    for batch in residence.buckets:
        if not why:
            try:
                x = np.random.default_rng(0).random((batch, shape.inputs), dtype=np.float32)
                times = _times(resident, x, seconds)
            except RuntimeError as error:  # no compiler, no memory
                why = first_line(error)
        if why:
            yield replace(blank, batch=batch, why=why)
            continue
        yield replace(
            blank,
            batch=batch,
            rows_per_second=batch * len(times) / sum(times),
            p95_ms=1e3 * float(np.percentile(times, 95)),
        )
        growth = residence.buckets[min(residence.buckets.index(batch) + 1, len(residence.buckets) - 1)] / batch
        if (expected := _FEWEST * growth * float(np.median(times))) > limit:
            why = f"five calls would take {expected:.0f} s, more than --limit"


def _times(resident: ResidentNetwork, x: Float32, seconds: float) -> list[float]:
    """Seconds of calls, after two that compile and warm up."""
    for _ in range(2):
        resident.answer([x])
    times: list[float] = []
    while sum(times) < seconds or len(times) < _FEWEST:
        started = time.perf_counter()
        resident.answer([x])
        times.append(time.perf_counter() - started)
    return times


def answered_rows(network: CVPN, batch: int, seconds: float) -> float:
    """Rows a second that a network answers on the CPU, uncompiled, in batches of this size."""
    resident = ResidentNetwork(network.shape, Residence(buckets=(batch,)))
    resident.load(network.state_dict())
    times = _times(resident, np.random.default_rng(0).random((batch, network.shape.inputs), dtype=np.float32), seconds)
    return batch * len(times) / sum(times)
