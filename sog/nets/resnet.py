"""AlphaZero's residual network over planes, with a value for the player to move and policy planes.

AlphaGo Zero, "Neural network architecture"; AlphaZero, "Architecture": a convolution and `depth` residual blocks of
`width` channels, 3 x 3, batch normalisation and ReLU; then a policy head and a value head.
"""

from __future__ import annotations

import copy
from typing import TypeVar

import torch
from torch import Tensor, nn

from sog.nets.network import FEW
from sog.nets.shape import NetworkShape

_Network = TypeVar("_Network", bound=nn.Module)


class Layer(nn.Module):
    """A convolution, batch normalisation, and ReLU where wanted."""

    def __init__(self, inputs: int, outputs: int, kernel: int, relu: bool = True) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
        self.norm: nn.Module = nn.BatchNorm2d(outputs)
        self.relu = relu

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.norm(self.conv(x))
        return torch.relu_(out) if self.relu else out


class ResidualBlock(nn.Module):
    """Two layers around which the input is added."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = Layer(width, width, 3), Layer(width, width, 3, relu=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu_(self.second(self.first(x)).add_(x))


class PolicyHead(nn.Module):
    """Logits of all actions: cells of policy planes, and a linear layer for actions without a cell.

    Without policy planes every action comes from a linear layer over a few channels, as in AlphaGo Zero.
    """

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        _, height, width = shape.planes
        self.planes = shape.policy_planes
        # Actions without a cell, such as Go's pass.
        without = shape.actions - self.planes * height * width
        self.layer = Layer(shape.width, shape.width if self.planes else FEW, 3 if self.planes else 1)
        if self.planes:
            self.cells_last = nn.Conv2d(shape.width, self.planes, 1)
        self.rest_last = nn.Linear(shape.width if self.planes else FEW * height * width, without) if without else None

    def forward(self, x: Tensor) -> Tensor:
        x = self.layer(x)
        parts = []
        if self.planes:
            # [B, planes, H, W] to cell by cell: an action's number is cell * planes + plane.
            parts.append(self.cells_last(x).permute(0, 2, 3, 1).flatten(1))
        if self.rest_last is not None:
            parts.append(self.rest_last(x.mean(dim=(2, 3)) if self.planes else x.flatten(1)))
        return torch.cat(parts, dim=1)


class ValueHead(nn.Module):
    """The mover's value in [-1, 1]: a few channels, a hidden layer, tanh."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        _, height, width = shape.planes
        self.layer = Layer(shape.width, shape.value_planes, 1)
        self.hidden = nn.Linear(shape.value_planes * height * width, shape.width)
        self.value_last = nn.Linear(shape.width, 1)

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.relu(self.hidden(self.layer(x).flatten(1)))
        return torch.tanh(self.value_last(hidden))


class ResNet(nn.Module):
    """float32[B, seen], planes first, to float32[B, 2 + A]: both players' values, then logits.

    The last plane is ones where player 0 acts, which turns the mover's value into the players'.
    """

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.planes = shape.planes
        self.cells = shape.planes[0] * shape.planes[1] * shape.planes[2]
        self.entry = Layer(shape.planes[0], shape.width, 3)
        self.blocks = nn.Sequential(*(ResidualBlock(shape.width) for _ in range(shape.depth)))
        self.policy, self.value = PolicyHead(shape), ValueHead(shape)
        self.ownership_last = nn.Conv2d(shape.width, 1, 1) if shape.ownership else None

    def forward(self, x: Tensor) -> Tensor:
        return self._answer(x, self._trunk(x))

    def learned(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The answer, and float32[B, H * W], who will own each cell: 1 player 0, -1 player 1; [B, 0] without a head.

        Ownership is an auxiliary target (KataGo, "Auxiliary ownership and score targets"); the sum is the score.
        """
        trunk = self._trunk(x)
        if self.ownership_last is None:
            return self._answer(x, trunk), x.new_zeros((len(x), 0))
        return self._answer(x, trunk), torch.tanh(self.ownership_last(trunk)).flatten(1) * self._side(x)

    def _trunk(self, x: Tensor) -> Tensor:
        planes = x[:, : self.cells].reshape(-1, *self.planes)
        planes = planes.contiguous(memory_format=torch.channels_last)  # a step of learning takes a quarter less
        trunk: Tensor = self.blocks(self.entry(planes))
        return trunk

    def _side(self, x: Tensor) -> Tensor:
        """float32[B, 1]: 1 where player 0 acts, -1 where player 1 does."""
        return 2.0 * x[:, self.cells - 1 : self.cells] - 1.0

    def _answer(self, x: Tensor, trunk: Tensor) -> Tensor:
        value = self.value(trunk) * self._side(x)
        return torch.cat((value, -value, self.policy(trunk)), dim=1)


def inference_copy(network: _Network) -> _Network:
    """A copy for answering only: batch normalisation is folded into the convolutions."""
    copied = copy.deepcopy(network).eval().requires_grad_(False)
    # In answers normalisation is a fixed scale and shift, which the convolution can hold.
    for layer in copied.modules():
        if isinstance(layer, Layer) and isinstance(layer.norm, nn.BatchNorm2d):
            layer.conv = torch.nn.utils.fuse_conv_bn_eval(layer.conv, layer.norm)
            layer.norm = nn.Identity()
    return copied.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]
