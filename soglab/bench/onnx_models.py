"""Networks as ONNX graphs, written node by node, for the programs that `soglab.bench.network` compares with."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from sog.errors import SettingError
from sog.nets.cvpn import CVPN
from sog.nets.resnet import Layer, PolicyHead, ResidualBlock, ResNet, ValueHead, inference_copy

__all__ = ["onnx_model"]


def onnx_model(network: CVPN) -> bytes:
    """A resnet, or an MLP without matchups, as a model from x, float32[B, D], to y, float32[B, outputs]."""
    if network.shape.kind == "resnet":
        return _resnet_model(network)
    if network.shape.kind != "mlp" or network.shape.matchups:
        raise SettingError("other programs are given a resnet, or an mlp without matchups")
    graph, out = _Graph(), "x"
    layers = [layer for layer in network.modules() if isinstance(layer, nn.Linear)]
    for k, layer in enumerate(layers):
        out = graph.linear(layer, out)
        if k < len(layers) - 1:
            out = graph.op("Relu", out)
    return graph.model(out, network.shape.inputs, network.shape.outputs)


def _resnet_model(network: CVPN) -> bytes:
    """The network with its batch normalisation folded in: x, float32[B, D], to y, float32[B, 2 + A]."""
    body = inference_copy(network).body
    assert isinstance(body, ResNet)
    graph = _Graph()
    cells = graph.op("Slice", "x", *graph.integers([0], [body.cells], [1]))
    trunk = graph.layer(body.entry, graph.op("Reshape", cells, *graph.integers([-1, *body.planes])))
    for block in body.blocks:
        assert isinstance(block, ResidualBlock)
        inner = graph.layer(block.second, graph.layer(block.first, trunk))
        trunk = graph.op("Relu", graph.op("Add", trunk, inner))
    last = graph.op("Slice", "x", *graph.integers([body.cells - 1], [body.cells], [1]))
    sign = graph.op("Sub", graph.op("Mul", last, graph.number(2.0)), graph.number(1.0))
    value = graph.op("Mul", _value(graph, body.value, trunk), sign)
    out = graph.op("Concat", value, graph.op("Neg", value), _policy(graph, body.policy, trunk), axis=1)
    return graph.model(out, network.shape.inputs, network.shape.outputs)


def _value(graph: _Graph, head: ValueHead, trunk: str) -> str:
    flat = graph.op("Flatten", graph.layer(head.layer, trunk), axis=1)
    return graph.op("Tanh", graph.linear(head.value_last, graph.op("Relu", graph.linear(head.hidden, flat))))


def _policy(graph: _Graph, head: PolicyHead, trunk: str) -> str:
    x, parts = graph.layer(head.layer, trunk), []
    if head.planes:
        cells = graph.op("Transpose", graph.convolution(head.cells_last, x), perm=[0, 2, 3, 1])
        parts.append(graph.op("Flatten", cells, axis=1))
    if head.rest_last is not None:
        seen = graph.op("GlobalAveragePool", x) if head.planes else x
        parts.append(graph.linear(head.rest_last, graph.op("Flatten", seen, axis=1)))
    return graph.op("Concat", *parts, axis=1)


class _Graph:
    """Nodes and weights so far; every method adds some and names its output."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def op(self, kind: str, *sources: str, **attributes: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(sources), [name], **attributes))
        return name

    def constant(self, value: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def number(self, value: float) -> str:
        return self.constant(np.array(value, dtype=np.float32))

    def integers(self, *values: list[int]) -> list[str]:
        return [self.constant(np.array(value, dtype=np.int64)) for value in values]

    def tensor(self, weight: Tensor | None) -> str:
        assert weight is not None
        return self.constant(weight.detach().cpu().contiguous().numpy())

    def convolution(self, conv: nn.Conv2d, source: str) -> str:
        pad = int(conv.padding[0])
        weights = self.tensor(conv.weight), self.tensor(conv.bias)
        return self.op("Conv", source, *weights, pads=[pad] * 4, kernel_shape=list(conv.kernel_size))

    def layer(self, layer: Layer, source: str) -> str:
        out = self.convolution(layer.conv, source)
        return self.op("Relu", out) if layer.relu else out

    def linear(self, linear: nn.Linear, source: str) -> str:
        return self.op("Gemm", source, self.tensor(linear.weight), self.tensor(linear.bias), transB=1)

    def model(self, out: str, inputs: int, outputs: int) -> bytes:
        """The model whose answer is the output of a node."""
        self.nodes.append(helper.make_node("Identity", [out], ["y"]))
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", inputs])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", outputs])
        graph = helper.make_graph(self.nodes, "cvpn", [x], [y], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        serialised: bytes = model.SerializeToString()
        return serialised
