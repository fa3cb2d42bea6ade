"""Numba kernels of the network over hold'em's hands (nets/hands.py): its layers on all hands of a belief, on one core.

Hands go through the layers in chunks that stay in the cache. Sums have one order, as in dense.py: a belief's answer
does not depend on what it is batched with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sog.arrays import Array, Float32, Int64
from sog.nets.cpu.dense import LANES, layer
from sog.searches.kernels.jit import fused
from sog.searches.kernels.registers import larger
from sog.searches.kernels.vectors import load, splat, store

__all__ = ["ROWS", "Hands", "evaluate"]

ROWS = 192  # hands that go through the layers together


class Hands(NamedTuple):
    """The network's layers as kernels take them, with room to compute in. W: its width, padded to whole registers.

    first, context, second, last: float32[*], layers one after the other, each with its biases [N], then weights [K, N].
    widths: int64[5, *], rows of the widths that first, context, second and last have, padded; behind them zeros.
    depths: int64[4], how many layers each of them has.  registers: see `dense.registers_here`.
    seen: float32[2 * H * W], every hand after the first layers.  one, two: float32[*], scratch for ROWS rows.
    asked: float32[2, *], what the context's layers see and make.
    """

    first: Float32
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


@fused
def evaluate(
    plain: tuple[Any, ...], hands: Array, shares: Array, features: Array, who: Array, values: Array, logits: Array
) -> None:
    """h = first(hand), s_p = sum over p's hands of share * h, e = second(relu(h + context(s_p, s_-p, features, p))).

    values[b, p, i] and logits[b, i] are last(e): its first output, and for the actor's hands the others.
    plain: Hands as a tuple.  hands: float32[B, 2, L, K].  shares: float32[B, 2, L], of each player's range.
    features: float32[B, F].  who: int64[B], the actor.  values: float32[B, 2, >= L] or with 0 hands where nobody
    reads values.  logits: float32[B, >= L, A] or with 0 hands where nobody reads logits.
    """
    net = Hands(*plain)
    live, wide = hands.shape[2], net.widths[0, net.depths[0]]
    for b in range(len(hands)):
        _look(net, hands[b].reshape(-1), 2 * live, wide)
        for p in range(2):
            _summarise(net, shares[b, p], p * live, wide, p)
        for p in range(2):
            if values.shape[2] == 0 and p != who[b]:
                continue  # nobody reads this player's outputs
            at = _context(net, features[b], wide, p)
            # What the context adds to each hand of this player lies at asked[1, at ..].
            for start in range(0, live, ROWS):
                count = min(ROWS, live - start)
                _add(net, (p * live + start) * wide, at, count, wide)
                out = net.two if _last(net, count, wide) else net.one
                step = net.widths[3, 1]
                for r in range(count):
                    if values.shape[2] > 0:
                        values[b, p, start + r] = out[r * step]
                    if logits.shape[1] > 0 and p == who[b]:
                        for a in range(logits.shape[2]):
                            logits[b, start + r, a] = out[r * step + 1 + a]


@fused
def _look(net: Hands, x: Array, count: int, wide: int) -> None:
    """seen[r] = first(x[r]) of `count` hands; a ReLU follows each layer."""
    inputs = net.widths[0, 0]
    for start in range(0, count, ROWS):
        rows = min(ROWS, count - start)
        source, at = x[start * inputs : (start + rows) * inputs], 0
        for k in range(net.depths[0]):
            width, out = net.widths[0, k], net.widths[0, k + 1]
            # Layers write to `one` and `two` in turn, the last to `seen`.
            target = net.one if k % 2 == 0 else net.two
            if k == net.depths[0] - 1:
                target = net.seen[start * wide : (start + rows) * wide]
            layer(source, net.first, (at, rows, width, out), np.float32(0.0), net.registers, target)
            at += out * (1 + width)
            source = target


@fused
def _summarise(net: Hands, shares: Array, first: int, wide: int, p: int) -> None:
    """asked[0, p * wide ..] = the sum over hands of share * seen."""
    for j in range(0, wide, LANES):
        total = splat(np.float32(0.0))
        for i in range(len(shares)):
            total += load(net.seen, (first + i) * wide + j) * splat(shares[i])
        store(net.asked[0], p * wide + j, total)


@fused
def _context(net: Hands, features: Array, wide: int, p: int) -> int:
    """context(s_p, s_-p, features, p): where in asked[1] it begins."""
    row, inputs, middle = net.asked[0], net.widths[1, 0], net.widths[1, 1]
    x = row[2 * wide : 2 * wide + inputs]
    for j in range(wide):
        x[j], x[wide + j] = row[p * wide + j], row[(1 - p) * wide + j]
    for k in range(len(features)):
        x[2 * wide + k] = features[k]
    x[2 * wide + len(features)] = np.float32(p)
    layer(x, net.context, (0, 1, inputs, middle), np.float32(0.0), net.registers, net.asked[1])
    # The second of the two layers has no ReLU of its own: its outputs are added to what was seen.
    y = net.asked[1][middle:]
    layer(net.asked[1], net.context, (middle * (1 + inputs), 1, middle, wide), -np.float32(np.inf), net.registers, y)
    return int(middle)


@fused
def _add(net: Hands, first: int, at: int, count: int, wide: int) -> None:
    """one[r] = relu(seen[r] + what the context adds)."""
    zero = splat(np.float32(0.0))
    for j in range(0, wide, LANES):
        more = load(net.asked[1], at + j)
        for r in range(count):
            x = load(net.seen, first + r * wide + j) + more
            store(net.one, r * wide + j, larger(x, zero))


@fused
def _last(net: Hands, count: int, wide: int) -> bool:
    """last(second(one[r])) of `count` hands, row by row in `two` where it is true, otherwise in `one`."""
    source, target, at = net.one, net.two, 0
    for _ in range(net.depths[2]):
        layer(source, net.second, (at, count, wide, wide), np.float32(0.0), net.registers, target)
        at += wide * (1 + wide)
        source, target = target, source
    layer(source, net.last, (0, count, wide, net.widths[3, 1]), -np.float32(np.inf), net.registers, target)
    return bool(net.depths[2] % 2 == 0)
