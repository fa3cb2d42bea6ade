"""Evaluators of a search's beliefs by a network: Numba for small MLPs and networks of other kinds, PyTorch for any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import numpy as np

from sog.arrays import Float32, Float64, Int64
from sog.errors import SettingError, needs_pytorch
from sog.nets.cpu import dense, residual
from sog.nets.cpu.resnet_packed import Tiles, packed_network, tiles_here
from sog.nets.encode import encode, join
from sog.nets.hand_rows import HandRows
from sog.nets.network import Network, refuse_broken
from sog.nets.packed_layers import Linear, linear, linear_layers
from sog.nets.shape import NetworkShape
from sog.nets.station_rows import StationRows
from sog.searches.kernels.vectors import padded
from sog.searches.leaves.evaluator import Beliefs, Evaluations, Evaluator, Wanted
from sog.searches.leaves.pairing import plain_pairing

Answer = Callable[[Beliefs], Evaluations]

_SORTED_FROM: Final = 64  # beliefs, from which on sorting them costs less than it saves


class AnswersByRow(Protocol):
    """A network's answers by row.  shape: the network's."""

    shape: NetworkShape

    def __call__(self, x: Float32, wanted: Wanted) -> Float32:
        """float32[B, O] of encoded beliefs float32[B, D], of which what is not wanted may be left out."""
        ...


def network_evaluator(network: Network) -> Evaluator:
    """The default evaluator of a network, with a copy of its weights: Numba (see `uses_kernels`), otherwise PyTorch.

    Raises CheckpointError where a weight is NaN or infinite, so that no search ever meets one, and SettingError where
    PyTorch is needed and not installed.
    """
    # Once, here: kernels test nothing.
    refuse_broken(network)
    if not uses_kernels(network):
        with needs_pytorch(f"a network of kind {network.shape.kind}"):
            from sog.nets.torch_rows import TorchRows
        return RowsEvaluator(TorchRows(network))
    if network.shape.kind == "hands":
        return JoiningEvaluator(rows_answer(HandRows(network)))
    if network.shape.kind == "stations":
        return RowsEvaluator(StationRows(network))
    return ResNetEvaluator(network) if network.shape.kind == "resnet" else JoiningEvaluator(MlpAnswer(network))


def uses_kernels(network: Network) -> bool:
    """Whether Numba's kernels evaluate it by default: all but gelu's."""
    return network.shape.kind != "gelu"


class JoiningEvaluator:
    """Joins the requests of all searches into one call of the network and takes its answers apart again.

    The same requests get the same bits every time. With MlpAnswer, a belief's answer is even the same bits
    whatever it is joined with; PyTorch and ONNX Runtime choose their order of summation by batch size.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        out: dict[int, Evaluations] = {}
        for joined, numbers in join(requests):
            out |= _apart(self.answer(joined), requests, numbers)
        return [out[k] for k in range(len(requests))]


class RowsEvaluator:
    """A network's answers by row: the beliefs of all searches in one call, whatever their public trees."""

    def __init__(self, rows: AnswersByRow) -> None:
        self.rows = rows

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        return answer_by_rows(self.rows.shape, requests, self.rows)


class ResNetEvaluator:
    """A resnet's answers by sog.nets.cpu.residual, on one core, with a copy of the weights as they are now.

    A belief's answer is the same bits whatever it is joined with, and on every x86-64.
    """

    def __init__(self, network: Network, tiles: Tiles | None = None) -> None:
        """`tiles`: see resnet_packed; those that suit this processor by default."""
        self.shape, packed = network.shape, packed_network(network, tiles or tiles_here())
        self.plain = tuple(packed)

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        return answer_by_rows(self.shape, requests, self.rows, _features)

    def rows(self, x: Float32, wanted: Wanted = Wanted.BOTH) -> Float32:
        """float32[B, 2 + A]: the network's outputs for planes float32[B, >= C * H * W], whatever is wanted of them."""
        out: Float32 = np.empty((len(x), self.shape.outputs), dtype=np.float32)
        residual.evaluate(self.plain, x, out)
        return out


def answer_by_rows(
    shape: NetworkShape,
    requests: Sequence[Beliefs],
    rows: Callable[[Float32, Wanted], Float32],
    read: Callable[[Beliefs], Float32] | None = None,
) -> list[Evaluations]:
    """Answer all requests: those of which the same part is wanted in one call of `rows`.

    rows: from inputs float32[B, D] and what is wanted to outputs float32[B, O], of which the rest may be left out.
    read: the inputs of beliefs; encode(), unless another is given.
    """
    out: dict[int, Evaluations] = {}
    every = join(requests)
    for wanted in Wanted:
        joined = [(beliefs, numbers) for beliefs, numbers in every if beliefs.wanted is wanted]
        if not joined:
            continue
        inputs = np.concatenate([_encoded(shape, x) if read is None else read(x) for x, _ in joined])
        # One call of the network for all public trees; each part is read by its own tree's slots and units.
        answers, stop = rows(inputs, wanted), 0
        for beliefs, numbers in joined:
            start, stop = stop, stop + len(beliefs.nodes)
            out |= _apart(split_output(shape, beliefs, answers[start:stop]), requests, numbers)
    return [out[k] for k in range(len(requests))]


def _encoded(shape: NetworkShape, beliefs: Beliefs) -> Float32:
    return encode(beliefs, shape.crossed, shape.matchups)


def _features(beliefs: Beliefs) -> Float32:
    """What a resnet reads of a belief: no ranges."""
    return beliefs.public.features(beliefs.nodes)


def _apart(whole: Evaluations, requests: Sequence[Beliefs], numbers: list[int]) -> dict[int, Evaluations]:
    """The answers to the joined requests with these numbers, by number."""
    out, stop = {}, 0
    for k in numbers:
        start, stop = stop, stop + len(requests[k].nodes)
        out[k] = Evaluations(whole.values[start:stop], whole.logits[start:stop])
    return out


class MlpAnswer:
    """An MLP's answers on one core (cpu/dense.py), with a copy of its weights; SettingError for another network."""

    def __init__(self, network: Network, registers: int | None = None) -> None:
        """registers: of a tile, by default those that suit this processor; no bit depends on them."""
        if network.shape.kind != "mlp":
            raise SettingError(f"the Numba kernels run an mlp, not a {network.shape.kind}")
        self.shape, self.registers = network.shape, registers or dense.registers_here()
        layers = [np.concatenate((bias[None], weight.T)) for weight, bias in _layers(network)]
        self.head, padded_layers = layers[-1], _padded_layers(network.shape.seen, layers)
        widths: Int64 = np.array([len(layer) - 1 for layer in padded_layers] + [padded_layers[-1].shape[1]])
        hidden = np.concatenate([dense.packed(layer, self.registers) for layer in padded_layers[:-1]])
        crossed: Int64 = np.array(network.shape.crossed, dtype=np.int64)
        x: Float32 = np.zeros((dense.CHUNK, widths[0]), dtype=np.float32)
        first, second = np.zeros((2, dense.CHUNK * int(widths.max())), dtype=np.float32)
        mass = np.zeros(network.shape.num_values)
        slots0, matchups = network.shape.slots[0], network.shape.matchups
        head = dense.packed(padded_layers[-1], self.registers)
        room = x, first, second, mass, np.zeros(int(widths.max()), dtype=np.int32)
        self.mlp = dense.Mlp(hidden, head, widths, crossed, slots0, matchups, self.registers, *room)
        self._plain = {Wanted.BOTH: tuple(self.mlp)}

    def __call__(self, beliefs: Beliefs) -> Evaluations:
        shape, count, wanted = self.shape, len(beliefs.nodes), beliefs.wanted
        values = np.empty((count, 0 if wanted is Wanted.POLICIES else shape.num_values))
        logits = np.empty((count, 0 if wanted is Wanted.VALUES else shape.num_logits))
        self.evaluate(self.part(wanted), beliefs, values, logits)
        return read_answers(shape, beliefs, values, logits)

    def evaluate(self, plain: tuple[Any, ...], beliefs: Beliefs, values: Float64, logits: Float64) -> None:
        """Fill values and logits by a network as the kernel takes it; see `dense.evaluate`."""
        public, nodes, ranges, order = beliefs.public, beliefs.nodes, beliefs.ranges, None
        # Beliefs about one public state one after another: their hidden units are 0 together.
        if len(nodes) > _SORTED_FROM:
            order = np.argsort(nodes)
            nodes, ranges = nodes[order], ranges[order]
        answers = (values, logits) if order is None else (np.empty_like(values), np.empty_like(logits))
        dense.evaluate(plain, plain_pairing(public), public.features(nodes), nodes, ranges, *answers)
        if order is not None:
            values[order], logits[order] = answers

    def part(self, wanted: Wanted) -> tuple[Any, ...]:
        """The network as the kernel takes it, a plain Mlp with the outputs that are wanted alone."""
        if wanted not in self._plain:
            heads = self.shape.head - self.shape.num_logits
            columns = self.head[:, :heads] if wanted is Wanted.VALUES else self.head[:, heads:]
            head = _padded_layer(columns, int(self.mlp.widths[-2]))
            widths = np.append(self.mlp.widths[:-1], head.shape[1])
            self._plain[wanted] = tuple(self.mlp._replace(head=dense.packed(head, self.registers), widths=widths))
        return self._plain[wanted]


def rows_answer(rows: AnswersByRow) -> Answer:
    """A network's answers from its rows."""

    def answer(beliefs: Beliefs) -> Evaluations:
        x = encode(beliefs, rows.shape.crossed, rows.shape.matchups)
        return split_output(rows.shape, beliefs, rows(x, beliefs.wanted))

    return answer


def split_output(shape: NetworkShape, beliefs: Beliefs, out: Float32) -> Evaluations:
    """A network's output float32[B, S0 + S1 + S * A], or what is wanted of it, as evaluations in utilities."""
    whole = out.shape[1] == shape.outputs
    # A network that answers all has its values first, wanted or not.
    heads = 0 if beliefs.wanted is Wanted.POLICIES and not whole else shape.num_values
    values = out[:, :heads] * beliefs.value_units()[:, None]
    return read_answers(shape, beliefs, values, out[:, heads:].astype(np.float64))


def read_answers(shape: NetworkShape, beliefs: Beliefs, values: Float64, logits: Float64) -> Evaluations:
    """Evaluations from values float64[B, S0 + S1], in utilities, and logits float64[B, S * A]; one may be [B, 0]."""
    if values.shape[1]:
        values = beliefs.above_baseline(values)
    else:
        values = np.zeros((0, shape.num_values))
    if not logits.shape[1]:
        return Evaluations(values, np.zeros((0, *shape.answered)))
    return Evaluations(values, actors_logits(shape, beliefs, logits))


def actors_logits(shape: NetworkShape, beliefs: Beliefs, logits: Float64) -> Float64:
    """float64[W, max(S0, S1), A]: of a network's logits, float64[W, S * A], those of the player who acts.

    Of legal pairs all, float64[W, 1, P]: a search looks up the pairs that it needs.
    beliefs: the first W of them are meant. Where chance acts, player 0's.
    """
    table = logits.reshape(len(logits), *shape.logits)
    if shape.legal_pairs or not shape.policies_apart:
        return table
    own = np.zeros((len(table), max(shape.slots), shape.actions))
    actors = np.array([beliefs.public.actor(int(node)) for node in beliefs.nodes[: len(table)]])
    for player in (0, 1):
        rows, first, width = (actors == 1) == (player == 1), shape.first_policy_slot(player), shape.slots[player]
        own[rows, :width] = table[rows, first : first + width]
    return own


def _layers(network: Network) -> list[Linear]:
    """An MLP's layers, the last one last."""
    weights = network.arrays()
    return [*linear_layers(weights, "body"), linear(weights, "head")]


def _padded_layers(inputs: int, layers: Sequence[Float32]) -> list[Float32]:
    """Layers float32[1 + K, N], biases first, with K and N padded to whole vector registers with zeros."""
    whole: list[Float32] = []
    for layer in layers:
        whole.append(_padded_layer(layer, whole[-1].shape[1] if whole else padded(inputs)))
    return whole


def _padded_layer(layer: Float32, inputs: int) -> Float32:
    wide: Float32 = np.zeros((1 + inputs, padded(layer.shape[1])), dtype=np.float32)
    wide[: len(layer), : layer.shape[1]] = layer
    return wide
