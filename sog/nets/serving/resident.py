"""A network that stays on its device and answers batches of encoded rows.

Weights are copied into place, so that compiled graphs, which have their addresses inside, stay valid. Compiled,
batches are padded to one of a few sizes, each compiled once: CUDA graphs need fixed shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from sog.arrays import Float32
from sog.errors import SettingError
from sog.nets.cvpn import CVPN
from sog.nets.device import find_device
from sog.nets.network import refuse_broken
from sog.nets.resnet import inference_copy
from sog.nets.shape import NetworkShape

__all__ = ["MODES", "PRECISIONS", "Residence", "ResidentNetwork"]

PRECISIONS: Final = {"f32": torch.float32, "bf16": torch.bfloat16}
MODES: Final = ("eager", "compiled")
_MOST_BUCKETS: Final = 8  # PyTorch compiles no function more often than this


@dataclass(frozen=True)
class Residence:
    """Where and how a network answers.

    device: cpu, cuda or cuda:N.  precision: of the network alone, f32 or bf16; rows and answers are float32.
    mode: eager or compiled.  buckets: the batch sizes that compiled networks are padded to; the last one is also the
    largest batch of an eager one.
    """

    device: str = "cpu"
    precision: str = "f32"
    mode: str = "eager"
    buckets: tuple[int, ...] = (16, 64, 256, 1024)

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise SettingError(f"no precision is called {self.precision}; known: {', '.join(PRECISIONS)}")
        if self.mode not in MODES:
            raise SettingError(f"no mode is called {self.mode}; known: {', '.join(MODES)}")
        rising = all(a < b for a, b in zip((0, *self.buckets), self.buckets, strict=False))
        if not (rising and 1 <= len(self.buckets) <= _MOST_BUCKETS):
            raise SettingError(f"buckets are 1 to {_MOST_BUCKETS} rising batch sizes, not {self.buckets}")


class ResidentNetwork:
    """A network of this shape where `residence` says. Raises SettingError where there is no such device."""

    def __init__(self, shape: NetworkShape, residence: Residence) -> None:
        self.shape, self.residence = shape, residence
        self.device, self.dtype = find_device(residence.device), PRECISIONS[residence.precision]
        self._answering = _Answering(_inference(CVPN(shape)), self.dtype).to(self.device)
        self._run: Callable[[Tensor], Tensor] = self._answering
        if residence.mode == "compiled":
            self._run = torch.compile(self._answering, dynamic=False, fullgraph=True, mode=_COMPILING[self.device.type])
        pinned = self.device.type == "cuda"
        self._rows = torch.zeros((residence.buckets[-1], shape.inputs), pin_memory=pinned)
        self._view: Float32 = self._rows.numpy()

    def load(self, weights: Mapping[str, Tensor]) -> None:
        """Copy weights, as a CVPN's state_dict() names them, into place.

        Raises SettingError where they are another network's and CheckpointError where one is NaN or infinite; the
        weights of before then stay.
        """
        # Into a network aside first: what is refused leaves the one that answers as it was.
        fresh = CVPN(self.shape)
        try:
            fresh.load_state_dict(weights)
        except RuntimeError as error:
            raise SettingError("the weights are another network's") from error
        refuse_broken(fresh)
        mine = self.weights()
        with torch.no_grad():
            for name, weight in _inference(fresh).state_dict().items():
                mine[name].copy_(weight)

    def weights(self) -> Mapping[str, Tensor]:
        """The weights that answer, in place."""
        return self._answering.network.state_dict()

    def warm_up(self) -> None:
        """Answer a batch of every size, which compiles it."""
        for size in self.residence.buckets:
            self.answer([np.zeros((size, self.shape.inputs), dtype=np.float32)])

    def answer(self, parts: Sequence[Float32]) -> Float32:
        """float32[B, O], the answers to the rows of all parts, float32[., D] each, in order."""
        most, out = self.residence.buckets[-1], []
        count = 0
        for part in parts:
            # Rows of all parts fill one buffer, of the largest bucket; a full one is answered at once.
            while len(part):
                taken = min(len(part), most - count)
                self._view[count : count + taken] = part[:taken]
                part, count = part[taken:], count + taken
                if count == most:
                    out.append(self._batch(count))
                    count = 0
        if count or not out:
            out.append(self._batch(count))
        return out[0] if len(out) == 1 else np.concatenate(out)

    def _batch(self, count: int) -> Float32:
        """The answers to the first rows of the buffer."""
        size = self.padded(count)
        # Padding rows are zeros: what a row's answer is does not depend on them.
        self._view[count:size] = 0.0
        with torch.inference_mode():
            rows = self._rows[:size].to(self.device, non_blocking=True)
            answers: Float32 = self._run(rows)[:count].cpu().numpy()
        return answers

    def padded(self, count: int) -> int:
        """How many rows the network sees for a batch of this many."""
        if self.residence.mode == "eager":
            return count
        return next(size for size in self.residence.buckets if size >= count)


_COMPILING: Final = {"cpu": "default", "cuda": "reduce-overhead"}  # the latter: CUDA graphs


class _Answering(nn.Module):
    """A network of any precision between float32 rows and float32 answers."""

    def __init__(self, network: CVPN, dtype: torch.dtype) -> None:
        super().__init__()
        self.network, self.dtype = network.to(dtype), dtype

    def forward(self, x: Tensor) -> Tensor:
        answer: Tensor = self.network(x.to(self.dtype)).float()
        return answer


def _inference(network: CVPN) -> CVPN:
    """The network as it answers fastest; a resnet's batch normalisation is folded into its convolutions."""
    if network.shape.kind == "resnet":
        return inference_copy(network)
    return network.eval().requires_grad_(False)
