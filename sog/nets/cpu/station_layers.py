"""Numba kernels of the network over Scotland Yard's stations (nets/stations.py): beliefs' values, on one core.

Sums have one order, as in dense.py: a belief's values do not depend on what it is batched with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sog.arrays import Array, Float32, Int64
from sog.nets.cpu.dense import LANES, layer
from sog.nets.cpu.residual import tanh
from sog.searches.kernels.jit import fused
from sog.searches.kernels.registers import larger
from sog.searches.kernels.vectors import load, splat, store

__all__ = ["Stations", "evaluate"]


class Stations(NamedTuple):
    """The network's layers as kernels take them, with room to compute in. W: its width, padded to whole registers.

    first, each, context, second, last: float32[*], layers one after the other, each with its biases, then its weights.
    widths: int64[5, *], rows of the widths that these have, padded; behind them zeros.
    depths: int64[5], how many layers each of them has.  registers: see `dense.registers_here`.
    seen: float32[N * W], a belief's stations after the first layers.  one, two: float32[*], scratch for N rows.
    asked: float32[*], what the context's layers see.  added: float32[W], what they add to each station.
    """

    first: Float32
    each: Float32
    context: Float32
    second: Float32
    last: Float32
    widths: Int64
    depths: Int64
    registers: int
    seen: Float32
    one: Float32
    two: Float32
    asked: Float32
    added: Float32


@fused
def evaluate(plain: tuple[Any, ...], known: tuple[Any, ...], values: Array) -> None:
    """h_s = first(s), c = context(sum of share_s h_s, mean of h_s, what is public, sum over detectives of each(d)).

    values[b, s] = v_s = tanh(last(second(relu(h_s + c)))) of Mr X's possible stations s, and values[b, N] =
    -(sum over s of share_s v_s), the detectives'.
    plain: Stations as a tuple.  known: StationInputs as a tuple.  values: float32[B, N + 1], zeros.
    """
    net = Stations(*plain)
    _, station, share, rows, first, context, detectives, _, places = known
    wide, detectives_slot = net.widths[0, net.depths[0]], values.shape[1] - 1
    for b in range(len(values)):
        begin, count = first[b], first[b + 1] - first[b]
        if count == 0:
            continue
        _through(net, 0, rows[begin : begin + count].reshape(-1), count, net.seen)
        _summarise(net, share[begin : begin + count], wide)
        for k in range(context.shape[1]):
            net.asked[2 * wide + k] = context[b, k]
        _chasing(net, detectives[b], places[b], 2 * wide + context.shape[1])
        _context(net, wide)
        _add(net, count, wide)
        # e_s lies in `seen`, v_s in the first column of `one`.
        _through(net, 3, net.two, count, net.seen)
        step = net.widths[4, 1]
        place = (0, count, wide, step)
        layer(net.seen, net.last, place, -np.float32(np.inf), net.registers, net.one)
        for r in range(count):
            value = np.float32(tanh(np.float64(net.one[r * step])))
            values[b, station[begin + r]] = value
            values[b, detectives_slot] -= share[begin + r] * value


@fused
def _through(net: Stations, part: int, x: Array, count: int, y: Array) -> None:
    """`count` rows of x through the layers of a part (0 first, 3 second), a ReLU after each, the last into y."""
    weights = net.first if part == 0 else net.second
    source, at = x, 0
    for k in range(net.depths[part]):
        width, out = net.widths[part, k], net.widths[part, k + 1]
        # Layers write to `one` and `two` in turn, and never where they read: the second part begins in `two`.
        target = net.one if k % 2 == 0 else net.two
        if k == net.depths[part] - 1:
            target = y
        layer(source, weights, (at, count, width, out), np.float32(0.0), net.registers, target)
        at += out * (1 + width)
        source = target


@fused
def _summarise(net: Stations, share: Array, wide: int) -> None:
    """asked = (sum over stations of share * seen, mean of seen)."""
    part = splat(np.float32(1.0 / len(share)))
    for j in range(0, wide, LANES):
        weighed, even = splat(np.float32(0.0)), splat(np.float32(0.0))
        for r in range(len(share)):
            h = load(net.seen, r * wide + j)
            weighed += h * splat(share[r])
            even += h
        store(net.asked, j, weighed)
        store(net.asked, wide + j, even * part)


@fused
def _chasing(net: Stations, detectives: Array, places: Array, at: int) -> None:
    """asked[at ..] = the sum over detectives with a station of relu(each(detective))."""
    count, (width, out) = len(detectives), net.widths[1, :2]
    layer(detectives.reshape(-1), net.each, (0, count, width, out), np.float32(0.0), net.registers, net.one)
    for j in range(out):
        total = np.float32(0.0)
        for k in range(count):
            if places[k] >= 0:
                total += net.one[k * out + j]
        net.asked[at + j] = total


@fused
def _context(net: Stations, wide: int) -> None:
    """added = context(asked): a layer with a ReLU, then one without."""
    inputs, middle = net.widths[2, 0], net.widths[2, 1]
    layer(net.asked, net.context, (0, 1, inputs, middle), np.float32(0.0), net.registers, net.one)
    place = (middle * (1 + inputs), 1, middle, wide)
    layer(net.one, net.context, place, -np.float32(np.inf), net.registers, net.added)


@fused
def _add(net: Stations, count: int, wide: int) -> None:
    """two[r] = relu(seen[r] + added)."""
    zero = splat(np.float32(0.0))
    for j in range(0, wide, LANES):
        more = load(net.added, j)
        for r in range(count):
            store(net.two, r * wide + j, larger(load(net.seen, r * wide + j) + more, zero))
