"""Numba kernels that evaluate a residual network on one core, a few boards at a time.

The same bits come out on every x86-64 and whatever a board is batched with: see products.py, and no function of the
system's mathematical library is called.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sog.arrays import Array, Float32, Int64
from sog.nets.cpu.products import Layer, multiply
from sog.nets.cpu.winograd import convolve
from sog.searches.kernels.dispatch import same_types
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.registers import larger, sum_of
from sog.searches.kernels.vectors import LANES32, load, splat, store

# Columns of PackedResNet.convolutions: where biases and weights begin, and what they are.
BIAS, AT, INPUTS, BLOCKS, REGISTERS, RELU = range(6)
# Columns of PackedResNet.linear.
LINEAR_AT, LINEAR_INPUTS, LINEAR_BLOCKS = range(3)
# Rows of PackedResNet.linear.
REST, HIDDEN, VALUE = range(3)


class ResidualSizes(NamedTuple):
    """Sizes of a network and of its board.

    planes, height, width: of the input.  rows, columns: of a tile, see winograd.py.  step: from board to board in
    `first` and `second`.  boards: at a time.  most: columns of a tile of products.  policy_planes: P.
    """

    planes: int
    height: int
    width: int
    rows: int
    columns: int
    step: int
    boards: int
    most: int
    policy_planes: int


class PackedResNet(NamedTuple):
    """A residual network as kernels take it, batch normalisation folded in, with room to compute in.

    weights: float32[*].  convolutions: int64[L, 6], columns as above: entry, two a block, the policy's, its cells'
    (where policy_planes > 0), the value's.  taps: 3 or 1, the policy's.  linear: int64[3, 3]: biases [16 * blocks],
    then weights [inputs, 16 * blocks]; no blocks: there is no such layer.
    first, second: float32[boards * step], planes with zeros around the board.  spread, product: see winograd.py.
    flat, hidden: float32[*], the inputs and outputs of linear layers.
    """

    weights: Float32
    convolutions: Int64
    linear: Int64
    taps: int
    sizes: ResidualSizes
    first: Float32
    second: Float32
    spread: Float32
    product: Float32
    flat: Float32
    hidden: Float32


@same_types
@njit
def evaluate(network: tuple[Any, ...], x: Array, out: Array) -> None:
    """Answer float32[B, >= C * H * W], planes first, with out, float32[B, 2 + A]: both players' values, then logits.

    Trunk: z = relu(entry(x)), then z = relu(z + second(relu(first(z)))) a block. Values, in [-1, 1]: the head
    answers whoever moves; player 1's are minus player 0's.

    network: a PackedResNet as a plain tuple.
    """
    net = PackedResNet(*network)
    sizes = net.sizes
    count, heads = len(net.convolutions), 3 if sizes.policy_planes else 2
    last = sizes.planes * sizes.height * sizes.width - 1
    # A few boards at a time: enough columns for the tiles of products, and few enough for the cache.
    for start in range(0, len(x), sizes.boards):
        boards = min(sizes.boards, len(x) - start)
        for b in range(boards):
            _spread_planes(sizes, x[start + b], net.second, b * sizes.step)
        _convolution(net, 0, boards, net.second, 0, net.first)
        # A block reads `first`, has its inside in `second` and adds the outcome to `first`.
        for k in range(1, count - heads, 2):
            _convolution(net, k, boards, net.first, 0, net.second)
            _convolution(net, k + 1, boards, net.second, 1, net.first)
        # The value head comes first: the policy head overwrites the trunk.
        _each_cell(net, count - 1, boards, net.first, net.second)
        for b in range(boards):
            # The last plane is 1 where player 0 moves and 0 where player 1 does: the factor is 1 or -1.
            mover = np.float32(2.0) * x[start + b, last] - np.float32(1.0)
            value = np.float32(_value(net, count - 1, b * sizes.step)) * mover
            out[start + b, 0], out[start + b, 1] = value, -value
        _policy(net, count - heads, boards, out[start : start + boards])


@inlined
def _layer(net: PackedResNet, number: int) -> Layer:
    """A convolution as products.multiply takes it."""
    line = net.convolutions[number]
    floor = np.float32(0.0) if line[RELU] else np.float32(-np.inf)
    return line[BIAS], line[AT], line[INPUTS], line[BLOCKS], line[REGISTERS], net.sizes.most, floor


@inlined
def _convolution(net: PackedResNet, number: int, boards: int, x: Array, add: int, y: Array) -> None:
    """One of the network's 3 x 3 convolutions."""
    sizes = net.sizes
    shape = (sizes.height, sizes.width, sizes.rows, sizes.columns, sizes.step)
    convolve(shape, (net.spread, net.product), boards, x, net.weights, _layer(net, number), add, y)


@inlined
def _each_cell(net: PackedResNet, number: int, boards: int, x: Array, y: Array) -> None:
    """One of the network's 1 x 1 convolutions."""
    row_step, plane = _steps(net.sizes)
    for b in range(boards):
        # A row of the board is a run of columns; the zeros around the board stay as they are.
        for h in range(net.sizes.height):
            # Past the rows and the column of zeros before the board.
            at = b * net.sizes.step + (h + 1) * row_step + LANES32
            multiply(x, (at, plane), net.sizes.width, net.weights, _layer(net, number), y, (at, plane))


@inlined
def _steps(sizes: ResidualSizes) -> tuple[int, int]:
    """From row to row, and from block to block of 16 planes."""
    down, across = (sizes.height + sizes.rows - 1) // sizes.rows, (sizes.width + sizes.columns - 1) // sizes.columns
    # Rows of whole tiles with a zero on either side, blocks of whole tiles with a row of zeros above and below.
    row_step = (across * sizes.columns + 2) * LANES32
    return row_step, (down * sizes.rows + 2) * row_step


@inlined
def _spread_planes(sizes: ResidualSizes, x: Array, y: Array, to: int) -> None:
    """Planes [C, H, W] into blocks."""
    row_step, plane = _steps(sizes)
    k = 0
    for c in range(sizes.planes):
        for h in range(sizes.height):
            # Channel c is lane c % 16 of block c // 16; row 0 and column 0 of a block lie outside the board.
            at = to + c // LANES32 * plane + (h + 1) * row_step + LANES32 + c % LANES32
            for w in range(sizes.width):
                y[at + w * LANES32] = x[k]
                k += 1


@inlined
def _policy(net: PackedResNet, number: int, boards: int, out: Array) -> None:
    """Logits from the trunk, net.first, which is gone afterwards.

    With z = relu(conv(trunk)): the logits of cells are conv1x1(z), P a cell, and the others linear(mean of z over the
    cells); without policy planes all of them are linear(z of all cells).
    """
    sizes = net.sizes
    row_step, plane = _steps(sizes)
    planes, blocks, rest = sizes.policy_planes, net.convolutions[number, BLOCKS], 2
    if net.taps == 3:
        _convolution(net, number, boards, net.first, 0, net.second)
    else:
        _each_cell(net, number, boards, net.first, net.second)
    # For logits by cell a 1 x 1 convolution follows, from the head's channels to `planes` numbers a cell.
    if planes:
        _each_cell(net, number + 1, boards, net.second, net.first)
        # Logits: the two values' places, then `planes` a cell, then the rest.
        rest += sizes.height * sizes.width * planes
    for b in range(boards):
        logits, corner = out[b], b * sizes.step + row_step + LANES32
        k = 2
        # By row, column and plane, as the game numbers its actions.
        for h in range(sizes.height):
            for w in range(sizes.width):
                for p in range(planes):
                    logits[k] = net.first[corner + p // LANES32 * plane + h * row_step + w * LANES32 + p % LANES32]
                    k += 1
        # Further logits from all cells: of their mean beside logits by cell, of each cell where there are only these.
        if net.linear[REST, LINEAR_BLOCKS]:
            if planes:
                _mean(net, corner, blocks)
            else:
                _flatten(net, corner, blocks)
            _linear(net, REST, net.flat, net.hidden)
            for p in range(len(logits) - rest):
                logits[rest + p] = net.hidden[p]


@inlined
def _mean(net: PackedResNet, corner: int, blocks: int) -> None:
    """The mean over all cells of each channel of a board in net.second, into net.flat.

    flat[c] = (sum over the board's cells of second[c, cell]) / (H * W).
    """
    sizes = net.sizes
    row_step, plane = _steps(sizes)
    cells = splat(np.float32(sizes.height * sizes.width))
    for block in range(blocks):
        total = splat(np.float32(0.0))
        # The board's cells alone: tiles reach further, to cells that are 0.
        for h in range(sizes.height):
            for w in range(sizes.width):
                total += load(net.second, np.uint64(corner + block * plane + h * row_step + w * LANES32))
        store(net.flat, np.uint64(block * LANES32), total / cells)


@inlined
def _flatten(net: PackedResNet, corner: int, blocks: int) -> None:
    """Every cell of a board in net.second, [blocks, H, W, 16], into net.flat."""
    row_step, plane = _steps(net.sizes)
    to = 0
    # The order of resnet_packed._by_block: block, cell, lane.
    for block in range(blocks):
        for h in range(net.sizes.height):
            for w in range(net.sizes.width):
                cell = load(net.second, np.uint64(corner + block * plane + h * row_step + w * LANES32))
                store(net.flat, np.uint64(to), cell)
                to += LANES32


@inlined
def _linear(net: PackedResNet, row: int, x: Array, y: Array) -> None:
    """y = x @ weights + biases: four sums of every fourth input, in one order."""
    at, inputs, blocks = net.linear[row, LINEAR_AT], net.linear[row, LINEAR_INPUTS], net.linear[row, LINEAR_BLOCKS]
    weights, width = net.weights, LANES32 * blocks
    for block in range(blocks):
        w = at + block * LANES32
        a, b, c, d = load(weights, np.uint64(w)), splat(np.float32(0)), splat(np.float32(0)), splat(np.float32(0))
        w += width
        # Four sums hide the time that an addition takes; their order is fixed.
        for k in range(0, inputs - inputs % 4, 4):
            a += splat(x[k]) * load(weights, np.uint64(w))
            b += splat(x[k + 1]) * load(weights, np.uint64(w + width))
            c += splat(x[k + 2]) * load(weights, np.uint64(w + 2 * width))
            d += splat(x[k + 3]) * load(weights, np.uint64(w + 3 * width))
            w += 4 * width
        # The inputs behind the last four, into the first sum.
        for k in range(inputs - inputs % 4, inputs):
            a += splat(x[k]) * load(weights, np.uint64(w))
            w += width
        store(y, np.uint64(block * LANES32), (a + b) + (c + d))


@inlined
def _value(net: PackedResNet, number: int, board: int) -> float:
    """The mover's value, from the value head's channels of the board at net.second[board].

    v = tanh(b + sum over k of w[k] * relu(hidden[k])), hidden = the linear layer over the head's channels at all cells.
    """
    height, width = net.sizes.height, net.sizes.width
    row_step, _ = _steps(net.sizes)
    # One channel: lane 0 of every cell. More: all 16 lanes of their blocks.
    if net.linear[HIDDEN, LINEAR_INPUTS] == height * width:
        for h in range(height):
            for w in range(width):
                net.flat[h * width + w] = net.second[board + (h + 1) * row_step + (w + 1) * LANES32]
    else:
        _flatten(net, board + row_step + LANES32, net.convolutions[number, BLOCKS])
    _linear(net, HIDDEN, net.flat, net.hidden)
    # The bias has a register of its own, with the weights behind it (resnet_packed.py).
    at, total = net.linear[VALUE, LINEAR_AT], splat(np.float32(0.0))
    for k in range(0, net.linear[VALUE, LINEAR_INPUTS], LANES32):
        hidden = larger(load(net.hidden, np.uint64(k)), splat(np.float32(0.0)))
        total += hidden * load(net.weights, np.uint64(at + LANES32 + k))
    value: float = tanh(np.float64(net.weights[at] + sum_of(total)))
    return value


@inlined
def tanh(x: float) -> float:
    """tanh to 1e-12, of sums, products and quotients alone: a library's last bits depend on its version.

    tanh |x| = (1 - e^(-2|x|)) / (1 + e^(-2|x|)).
    """
    # Above 20 tanh is 1 to double precision.
    z = min(abs(x), 20.0) / 512.0  # e^(-2 |x|) is the 1024th power of e^-z
    # e^-z by its series up to z^6, z <= 20 / 512.
    power = 1.0 - z * (1.0 - z / 2.0 * (1.0 - z / 3.0 * (1.0 - z / 4.0 * (1.0 - z / 5.0 * (1.0 - z / 6.0)))))
    # Squared ten times: the power of 2^10 = 1024.
    for _ in range(10):
        power *= power
    share = (1.0 - power) / (1.0 + power)
    return share if x >= 0 else -share
