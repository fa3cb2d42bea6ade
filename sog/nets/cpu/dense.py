"""Numba kernels that evaluate a small MLP on one core, from a belief's features to its values.

Four rows go through a layer at a time, four inputs at a time, so that each load feeds many products. Every row
meets the same instructions wherever it is in a batch: its answer does not depend on what it is batched with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sog.arrays import Array, Float32, Float64, Int64
from sog.searches.kernels.jit import fused
from sog.searches.leaves.pairing import Pairing, expectation, value_unit

ROWS = 4  # rows go through a layer this many at a time
LANES = 16  # widths are padded to a multiple of it with zero weights, which leaves the loops without remainders
CHUNK = 256  # rows go through the network this many at a time, which keeps them in the cache


class Mlp(NamedTuple):
    """A network as kernels take it, with room to compute in.

    weights: float32[*], each layer's biases [N] and weights [K, N], K and N from the padded widths.
    widths: int64[L + 1].  crossed: int64[C], features that are also multiplied with the ranges.
    slots0: player 0's slots.  matchups: it answers with a matchup matrix.
    x: float32[CHUNK, widths[0]], zero where nothing is written.  first, second: float32[*], scratch for CHUNK rows of
    the widest layer.  mass: float64[S0 + S1], scratch.
    """

    weights: Float32
    widths: Int64
    crossed: Int64
    slots0: int
    matchups: bool
    x: Float32
    first: Float32
    second: Float32
    mass: Float64


@fused
def evaluate(
    mlp: tuple[Any, ...],
    pairs: tuple[Any, ...],
    features: Array,
    nodes: Array,
    ranges: Array,
    values: Array,
    logits: Array,
) -> None:
    """Answer beliefs: values, float64[B, S0 + S1], in utilities and logits, float64[B, S * A].

    (y, logits) = layers(encode(features, ranges)): values = value unit * y, or `expectation` of y as a matchup matrix.

    Either may be float64[B, 0], where the network's last layer lacks that part.
    mlp: an Mlp, and pairs: a Pairing, as plain tuples, whose types Numba finds 0.5 microseconds sooner a call.
    features: float32[B, F].  nodes: int32[B], public nodes.  ranges: float64[B, S0 + S1].
    """
    network, pairing = Mlp(*mlp), Pairing(*pairs)
    slots0, width = network.slots0, network.widths[-1]
    matchups = network.matchups and values.shape[1] > 0
    # Outputs of a row: S0 * S1 utilities by pair or S0 + S1 values, then the logits.
    heads = slots0 * (values.shape[1] - slots0) if matchups else values.shape[1]
    for start in range(0, len(ranges), CHUNK):
        count = min(CHUNK, len(ranges) - start)
        encode(features[start : start + count], ranges[start : start + count], slots0, network.crossed, network.x)
        # Rows behind `count` have old numbers in them: computed along, never read.
        padded = count + -count % ROWS
        # Layers write to `first` and `second` in turn; which one has the outputs depends on how many there are.
        last = _mlp(network.x[:padded], network.weights, network.widths, network.first, network.second)
        out = network.first if last == 0 else network.second
        for r in range(count):
            b = start + r
            row = out[r * width : (r + 1) * width]
            for k in range(logits.shape[1]):
                logits[b, k] = row[heads + k]
            # Utilities of pairs become values by both players' posteriors; values are in value units.
            if matchups:
                expectation(pairing, nodes[b], ranges[b], slots0, row, network.mass, values[b])
            else:
                unit = value_unit(pairing, nodes[b])
                for k in range(heads):
                    values[b, k] = row[k] * unit


@fused
def encode(features: Array, ranges: Array, slots0: int, crossed: Array, x: Array) -> None:
    """Write float32[B, F] features, float64[B, S0 + S1] ranges times their slots and the crossed products.

    x[r] = [features, p, feature c * p for each crossed c], with p = ranges times the player's number of slots: float32.
    """
    width, start = ranges.shape[1], features.shape[1]
    for r in range(len(ranges)):
        for k in range(start):
            x[r, k] = features[r, k]
        # A uniform range becomes ones, however many slots there are.
        for k in range(width):
            x[r, start + k] = ranges[r, k] * (slots0 if k < slots0 else width - slots0)
        # Products that a first layer of sums could not make by itself.
        for c in range(len(crossed)):
            feature, at = features[r, crossed[c]], start + width * (c + 1)
            for k in range(width):
                x[r, at + k] = feature * x[r, start + k]


@fused
def _mlp(x: Array, weights: Array, widths: Array, first: Array, second: Array) -> int:
    """Run x, float32[B, widths[0]] with B a multiple of ROWS, through all layers; ReLU between them.

    y = W_L relu(... relu(W_1 x + b_1) ...) + b_L, row by row.

    weights: float32[*], each layer's biases [N] and weights [K, N], K and N from the padded `widths`,
    int64[L + 1].  first, second: float32[*], room for B rows of the widest layer.
    Returns which of the two (0, 1) holds the outputs, row by row.
    """
    at, count, last = 0, len(x), len(widths) - 2
    for layer in range(last + 1):
        width, out = widths[layer], widths[layer + 1]
        bias, matrix = weights[at : at + out], weights[at + out : at + out * (1 + width)].reshape(width, out)
        at += out * (1 + width)
        # No layer may write where it reads: even layers write to `first`, odd ones to `second`.
        if layer == 0:
            _dense(x, bias, matrix, layer < last, first[: count * out].reshape(count, out))
        elif layer % 2 == 1:
            y = second[: count * out].reshape(count, out)
            _dense(first[: count * width].reshape(count, width), bias, matrix, layer < last, y)
        else:
            y = first[: count * out].reshape(count, out)
            _dense(second[: count * width].reshape(count, width), bias, matrix, layer < last, y)
    return last % 2


@fused
def _dense(x: Array, bias: Array, weights: Array, relu: bool, y: Array) -> None:
    """y = x @ weights + bias, then ReLU where wanted; all C-contiguous, the batch a multiple of ROWS.

    y[r, j] = bias[j] + sum over k of x[r, k] * weights[k, j]; with `relu` the larger of that and 0.
    """
    zero = np.float32(0.0)
    count, width = x.shape
    out = weights.shape[1]
    whole = width - width % 4  # is `width`, but knowing that it divides by 4 the compiler spills nothing
    for r in range(0, count - 3, 4):
        y0, y1, y2, y3 = y[r], y[r + 1], y[r + 2], y[r + 3]
        x0, x1, x2, x3 = x[r], x[r + 1], x[r + 2], x[r + 3]
        for j in range(out):
            y0[j] = bias[j]
            y1[j] = bias[j]
            y2[j] = bias[j]
            y3[j] = bias[j]
        # Four rows by four inputs: each row of y and each weight is loaded once for four products.
        for k in range(0, whole, 4):
            a0, a1, a2, a3 = x0[k], x0[k + 1], x0[k + 2], x0[k + 3]
            b0, b1, b2, b3 = x1[k], x1[k + 1], x1[k + 2], x1[k + 3]
            c0, c1, c2, c3 = x2[k], x2[k + 1], x2[k + 2], x2[k + 3]
            d0, d1, d2, d3 = x3[k], x3[k + 1], x3[k + 2], x3[k + 3]
            w0, w1, w2, w3 = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
            for j in range(out):
                p, q, s, t = w0[j], w1[j], w2[j], w3[j]
                y0[j] = y0[j] + a0 * p + a1 * q + a2 * s + a3 * t
                y1[j] = y1[j] + b0 * p + b1 * q + b2 * s + b3 * t
                y2[j] = y2[j] + c0 * p + c1 * q + c2 * s + c3 * t
                y3[j] = y3[j] + d0 * p + d1 * q + d2 * s + d3 * t
        # max(y, 0) of the complete sums.
        if relu:
            for j in range(out):
                y0[j] = max(y0[j], zero)
                y1[j] = max(y1[j], zero)
                y2[j] = max(y2[j], zero)
                y3[j] = max(y3[j], zero)
