"""Evaluators that answer a search's beliefs with a network: NumPy for MLPs, PyTorch for any network."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn

from sog.arrays import Float32
from sog.errors import CheckpointError
from sog.nets.cvpn import CVPN, NetworkShape
from sog.nets.encode import encode, join, value_units
from sog.search.evaluator import Beliefs, Evaluations, Evaluator

# float32[B, D] -> float32[B, S0 + S1 + S * A]; the answer may be overwritten by the next call.
Forward = Callable[[Float32], Float32]


def network_evaluator(network: CVPN) -> Evaluator:
    """The fastest evaluator there is for this network; it keeps a copy of the weights as they are now.

    Raises CheckpointError where a weight is NaN or infinite.
    """
    refuse_broken(network)
    on_cpu = all(weight.device.type == "cpu" for weight in network.parameters())
    forward = numpy_forward(network) if on_cpu and network.shape.kind == "mlp" else torch_forward(network)
    return NetworkEvaluator(network.shape, forward)


class NetworkEvaluator:
    """Joins all requests into one call of the network; raises nothing once it is built.

    The same requests in the same process get the same bits. A belief's answer may differ in its last
    bits with the beliefs it is joined with, since matrix products choose their order by size.
    """

    def __init__(self, shape: NetworkShape, forward: Forward) -> None:
        self.shape, self.forward = shape, forward

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        out: list[Evaluations] = []
        for joined, counts in join(requests):
            answer = self._answer(joined)
            stop = 0
            for count in counts:
                start, stop = stop, stop + count
                out.append(Evaluations(answer.values[start:stop], answer.logits[start:stop]))
        return out

    def _answer(self, beliefs: Beliefs) -> Evaluations:
        shape = self.shape
        out = self.forward(encode(beliefs, shape.crossed))
        values = np.multiply(out[:, : shape.num_values], value_units(beliefs)[:, None])
        logits = out[:, shape.num_values :].astype(np.float64)
        return Evaluations(values, logits.reshape(len(out), max(shape.slots), shape.actions))


def refuse_broken(network: CVPN) -> None:
    """Raise CheckpointError where a weight is NaN or infinite."""
    for name, weight in network.state_dict().items():
        if not bool(torch.isfinite(weight).all()):
            raise CheckpointError(f"the network has a NaN or infinite weight in {name}")


def torch_forward(network: CVPN) -> Forward:
    """The network itself, on the device that holds its weights."""
    device = next(network.parameters()).device

    def forward(x: Float32) -> Float32:
        with torch.inference_mode():
            out: Float32 = network(torch.from_numpy(x).to(device)).cpu().numpy()
        return out

    return forward


def numpy_forward(network: CVPN) -> Forward:
    """An MLP as matrix products into buffers that are kept between calls."""
    layers = [
        (np.ascontiguousarray(layer.weight.detach().numpy().T), layer.bias.detach().numpy().copy())
        for layer in [*network.body.modules(), network.head]
        if isinstance(layer, nn.Linear)
    ]
    buffers = [np.empty((64, len(bias)), dtype=np.float32) for _, bias in layers]

    def forward(x: Float32) -> Float32:
        count = len(x)
        if count > len(buffers[0]):
            buffers[:] = [np.empty((2 * count, len(bias)), dtype=np.float32) for _, bias in layers]
        for k, ((weight, bias), buffer) in enumerate(zip(layers, buffers, strict=True)):
            y = buffer[:count]
            np.matmul(x, weight, out=y)
            y += bias
            if k < len(layers) - 1:
                np.maximum(y, 0.0, out=y)
            x = y
        return x

    return forward
