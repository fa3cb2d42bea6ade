"""A network's outputs by PyTorch, by row: of networks that no kernel runs, and to compare kernels with."""

from __future__ import annotations

import torch

from sog.arrays import Float32
from sog.nets.cvpn import module_of
from sog.nets.network import Network
from sog.nets.resnet import inference_copy
from sog.searches.leaves.evaluator import Wanted

__all__ = ["TorchRows"]


class TorchRows:
    """The outputs of any network by PyTorch, with a copy of its weights on the device that holds them."""

    def __init__(self, network: Network) -> None:
        self.shape, self.network = network.shape, inference_copy(module_of(network))
        self.device = next(self.network.parameters()).device

    def __call__(self, x: Float32, wanted: Wanted) -> Float32:
        """See `sog.nets.inference.AnswersByRow`."""
        with torch.inference_mode():
            rows: Float32 = self.network.part(torch.from_numpy(x).to(self.device), wanted).cpu().numpy()
        return rows
