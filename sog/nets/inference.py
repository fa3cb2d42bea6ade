"""Evaluators of a search's beliefs by a network: Numba for small MLPs and networks of other kinds, PyTorch for any.

ONNX Runtime, an optional extra, runs large batches of MLPs faster still, and resnets (`soglab.bench.network`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import nn

from sog.arrays import Float32, Float64, Int64
from sog.errors import CheckpointError, SettingError
from sog.nets.cpu import dense, residual
from sog.nets.cpu.resnet_packed import Tiles, packed_network, tiles_here
from sog.nets.cvpn import CVPN
from sog.nets.encode import encode, join
from sog.nets.hand_rows import HandRows
from sog.nets.hands import HandNetwork
from sog.nets.resnet import inference_copy
from sog.nets.shape import NetworkShape
from sog.nets.station_rows import StationRows
from sog.nets.stations import StationNetwork
from sog.searches.kernels.vectors import padded
from sog.searches.leaves.evaluator import Beliefs, Evaluations, Evaluator, Wanted
from sog.searches.leaves.pairing import plain_pairing

Answer = Callable[[Beliefs], Evaluations]


def network_evaluator(network: CVPN) -> Evaluator:
    """The default evaluator of a network: on the CPU Numba (see `uses_kernels`), otherwise PyTorch.

    It copies the weights, but for an MLP's on a GPU, which it follows. Raises CheckpointError where a weight is NaN or
    infinite, so that no search ever meets one.
    """
    # Once, here: kernels test nothing.
    refuse_broken(network)
    resnet = network.shape.kind == "resnet"
    if uses_kernels(network):
        if isinstance(network.body, HandNetwork):
            return JoiningEvaluator(rows_answer(HandRows(network.body)))
        if isinstance(network.body, StationNetwork):
            return StationEvaluator(StationRows(network.body))
        return ResNetEvaluator(network) if resnet else JoiningEvaluator(MlpAnswer(network))
    if resnet:
        return TorchEvaluator(inference_copy(network))
    return TorchEvaluator(deepcopy(network) if _on_cpu(network) else network)


def uses_kernels(network: CVPN) -> bool:
    """Whether Numba's kernels evaluate it by default: on the CPU all but gelu's."""
    return _on_cpu(network) and network.shape.kind != "gelu"


def _on_cpu(network: CVPN) -> bool:
    return all(weight.device.type == "cpu" for weight in network.parameters())


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


class TorchEvaluator:
    """Any network's answers by PyTorch: the beliefs of all searches in one call, whatever their public trees."""

    def __init__(self, network: CVPN) -> None:
        self.network, self.device = network, next(network.parameters()).device

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        return answer_by_rows(self.network.shape, requests, self._rows)

    def _rows(self, x: Float32, wanted: Wanted) -> Float32:
        with torch.inference_mode():
            rows: Float32 = self.network.part(torch.from_numpy(x).to(self.device), wanted).cpu().numpy()
        return rows


class StationEvaluator:
    """The answers of a network over stations: the beliefs of all searches in one call, whatever their public trees."""

    def __init__(self, rows: StationRows) -> None:
        self.rows = rows

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        return answer_by_rows(self.rows.shape, requests, self.rows)


class ResNetEvaluator:
    """A resnet's answers by sog.nets.cpu.residual, on one core, with a copy of the weights as they are now.

    A belief's answer is the same bits whatever it is joined with, and on every x86-64.
    """

    def __init__(self, network: CVPN, tiles: Tiles | None = None) -> None:
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

    def __init__(self, network: CVPN, registers: int | None = None) -> None:
        """registers: of a tile, by default those that suit this processor; no bit depends on them."""
        if network.shape.kind != "mlp":
            raise SettingError(f"the Numba kernels run an mlp, not a {network.shape.kind}")
        self.shape, self.registers = network.shape, registers or dense.registers_here()
        layers = [np.concatenate((bias[None], weight)) for weight, bias in _layers(network)]
        self.head, padded_layers = layers[-1], _padded_layers(network.shape.seen, layers)
        widths: Int64 = np.array([len(layer) - 1 for layer in padded_layers] + [padded_layers[-1].shape[1]])
        hidden = np.concatenate([dense.packed(layer, self.registers) for layer in padded_layers[:-1]])
        crossed: Int64 = np.array(network.shape.crossed, dtype=np.int64)
        x: Float32 = np.zeros((dense.CHUNK, widths[0]), dtype=np.float32)
        first, second = np.zeros((2, dense.CHUNK * int(widths.max())), dtype=np.float32)
        mass = np.zeros(network.shape.num_values)
        slots0, matchups = network.shape.slots[0], network.shape.matchups
        head = dense.packed(padded_layers[-1], self.registers)
        room = x, first, second, mass
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
        public, nodes = beliefs.public, beliefs.nodes
        features = public.features(nodes)
        dense.evaluate(plain, plain_pairing(public), features, nodes, beliefs.ranges, values, logits)

    def part(self, wanted: Wanted) -> tuple[Any, ...]:
        """The network as the kernel takes it, a plain Mlp with the outputs that are wanted alone."""
        if wanted not in self._plain:
            heads = self.shape.head - self.shape.num_logits
            columns = self.head[:, :heads] if wanted is Wanted.VALUES else self.head[:, heads:]
            head = _padded_layer(columns, int(self.mlp.widths[-2]))
            widths = np.append(self.mlp.widths[:-1], head.shape[1])
            self._plain[wanted] = tuple(self.mlp._replace(head=dense.packed(head, self.registers), widths=widths))
        return self._plain[wanted]


def rows_answer(rows: HandRows | StationRows) -> Answer:
    """The answers of a network over hands or stations on one core."""

    def answer(beliefs: Beliefs) -> Evaluations:
        return split_output(rows.shape, beliefs, rows(encode(beliefs), beliefs.wanted))

    return answer


def torch_answer(network: CVPN) -> Answer:
    """Any network's answers by PyTorch, on the device that holds its weights."""
    device = next(network.parameters()).device
    network = inference_copy(network) if network.shape.kind == "resnet" else network

    def answer(beliefs: Beliefs) -> Evaluations:
        x = encode(beliefs, network.shape.crossed, network.shape.matchups)
        with torch.inference_mode():
            out: Float32 = network.part(torch.from_numpy(x).to(device), beliefs.wanted).cpu().numpy()
        return split_output(network.shape, beliefs, out)

    return answer


def onnx_answer(network: CVPN) -> Answer:
    """Answers by ONNX Runtime on one core (`pip install sog[onnx]`), see onnx_rows."""
    rows = onnx_rows(network)

    def answer(beliefs: Beliefs) -> Evaluations:
        return split_output(network.shape, beliefs, rows(encode(beliefs, network.shape.crossed)))

    return answer


def onnx_rows(network: CVPN) -> Callable[[Float32], Float32]:
    """The network by ONNX Runtime on one core: from encoded beliefs to outputs, within 1e-4 value units of PyTorch's.

    It copies the weights of a resnet, or of an MLP without matchups. Raises SettingError for others and where ONNX
    Runtime is not installed.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise SettingError("ONNX Runtime is not installed: pip install 'sog[onnx]'") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(_onnx_model(network), options, providers=["CPUExecutionProvider"])

    def rows(x: Float32) -> Float32:
        out: Float32 = session.run(None, {"x": x})[0]
        return out

    return rows


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


def refuse_broken(network: CVPN) -> None:
    """Raise CheckpointError where a weight is NaN or infinite."""
    for name, weight in network.state_dict().items():
        if not bool(torch.isfinite(weight).all()):
            raise CheckpointError(f"the network has a NaN or infinite weight in {name}")


def refuse_nonsense(network: CVPN) -> None:
    """Raise CheckpointError where the network answers a NaN or infinite number to one question, inputs that are all 1.

    Weights may be finite and their products not. Networks over hands and stations read cards and places among their
    inputs, and are not asked.
    """
    if network.shape.kind in ("hands", "stations"):
        return
    learns = network.training
    network.eval()  # otherwise batch normalisation takes the question for a row to learn from
    with torch.no_grad():
        answer = network(torch.ones(1, network.shape.inputs))
    network.train(learns)
    if not bool(torch.isfinite(answer).all()):
        raise CheckpointError("the network answers values that are not finite; its weights may be broken")


def _layers(network: CVPN) -> list[tuple[Float32, Float32]]:
    """Each layer's weights float32[K, N] and biases float32[N]."""
    linear = [layer for layer in [*network.body.modules(), network.head] if isinstance(layer, nn.Linear)]
    return [(layer.weight.detach().cpu().numpy().T, layer.bias.detach().cpu().numpy()) for layer in linear]


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


def _onnx_model(network: CVPN) -> bytes:
    from onnx import TensorProto, helper, numpy_helper

    if network.shape.kind == "resnet":
        from sog.nets.resnet_onnx import resnet_model

        return resnet_model(network)
    if network.shape.kind != "mlp" or network.shape.matchups:
        raise SettingError("ONNX Runtime runs a resnet, or an mlp without matchups")

    # One Gemm a layer, y = x W + b, and ReLU after all but the last.
    nodes, weights, source = [], [], "x"
    layers = _layers(network)
    for k, (weight, bias) in enumerate(layers):
        weights.append(numpy_helper.from_array(np.ascontiguousarray(weight), f"w{k}"))
        weights.append(numpy_helper.from_array(bias, f"b{k}"))
        nodes.append(helper.make_node("Gemm", [source, f"w{k}", f"b{k}"], [f"y{k}"]))
        source = f"y{k}"
        if k < len(layers) - 1:
            nodes.append(helper.make_node("Relu", [source], [f"z{k}"]))
            source = f"z{k}"
    shape = network.shape
    inputs = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", shape.inputs])
    outputs = helper.make_tensor_value_info(source, TensorProto.FLOAT, ["batch", shape.outputs])
    graph = helper.make_graph(nodes, "cvpn", [inputs], [outputs], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    serialised: bytes = model.SerializeToString()
    return serialised
