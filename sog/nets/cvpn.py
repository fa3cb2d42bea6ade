"""CVPN: the counterfactual value-and-policy network (SoG, "Counterfactual value-and-policy networks")."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor, nn

from sog.arrays import Array
from sog.nets.hands import HandNetwork
from sog.nets.network import Network
from sog.nets.resnet import ResNet
from sog.nets.shape import NetworkShape
from sog.nets.stations import StationNetwork
from sog.nets.weights import arrays_of
from sog.searches.leaves.evaluator import Wanted

ILLEGAL: Final = -1e9  # the logit of an illegal action in losses; finite, since 0 * inf is NaN


class CVPN(nn.Module):
    """Encoded beliefs in; values of both players and the actor's policy logits out.

    Input float32[B, D] (encode.encode). Output float32[B, S0 + S1 + S * A]: values conditional on the
    infostate, in the public state's value units, by slot; then logits by slot and action identity, or of the P legal
    pairs (NetworkShape.legal_pairs), float32[B, S0 + S1 + P].
    A new network answers 0 everywhere, so that untrained search starts from zero values and uniform priors.

    matchups: the last layer gives a matrix U[S0, S1] of what player 0 wins in each pair of infostates, and an
    infostate's value is its expectation under what it believes of the opponent (W and the opponent's range):
    the values of both players then agree and sum to zero whatever the weights. For small S0 * S1; ours.
    """

    def __init__(self, shape: NetworkShape, seed: int = 0) -> None:
        """A network with fresh weights drawn from `seed`; torch's global generator is left alone."""
        super().__init__()
        self.shape = shape
        with torch.random.fork_rng(devices=[]):  # torch's layers draw weights of their own
            self.body, width = BODIES[shape.kind](shape)
            self.head: nn.Module = nn.Linear(width, shape.head) if width else nn.Identity()
        self.initialise(seed)

    def initialise(self, seed: int) -> None:
        """He-uniform hidden weights, zero biases and zero last layers; normalisation begins as the identity."""
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for name, weight in self.named_parameters():
                # Zero last layers: every answer is 0, so an untrained search is uniform. He: variance 2 / inputs,
                # uniform within sqrt(6 / inputs).
                if name.endswith("norm.weight"):
                    weight.fill_(1.0)
                elif weight.dim() < 2 or name.endswith(("head.weight", "_last.weight")):
                    weight.zero_()
                elif not weight.is_meta:
                    bound = math.sqrt(6.0 / weight[0].numel())
                    weight.uniform_(-bound, bound, generator=generator)

    def arrays(self) -> dict[str, Array]:
        """The weights by name, which change as the network learns, where they lie on the CPU."""
        return arrays_of(self)

    def forward(self, x: Tensor) -> Tensor:
        return self._answer(self.head(self.body(x[:, : self.shape.seen])), x)

    def learned(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """All that is learned: the output, and float32[B, H * W] who owns each cell, in [-1, 1], [B, 0] without it."""
        if isinstance(self.body, ResNet):
            return self.body.learned(x)
        return self(x), x.new_zeros((len(x), 0))

    def part(self, x: Tensor, wanted: Wanted) -> Tensor:
        """`forward` with the values or the logits alone, float32[B, S0 + S1] or [B, S * A].

        A network with heads of its own gives all of its output, except one over stations or hands.
        """
        if isinstance(self.body, StationNetwork | HandNetwork):
            return self.body.part(x, wanted)
        if wanted is Wanted.BOTH or not isinstance(self.head, nn.Linear):
            whole: Tensor = self(x)
            return whole
        hidden, heads = self.body(x[:, : self.shape.seen]), self.shape.head - self.shape.num_logits
        # Rows of the last layer: values first, logits after them.
        columns = slice(0, heads) if wanted is Wanted.VALUES else slice(heads, self.shape.head)
        out = nn.functional.linear(hidden, self.head.weight[columns], self.head.bias[columns])
        return self._answer(out, x) if wanted is Wanted.VALUES else out

    def _answer(self, out: Tensor, x: Tensor) -> Tensor:
        """Values, and logits where there are any, from what the last layer gives."""
        shape = self.shape
        if not shape.matchups:
            return out
        pairs = shape.slots[0] * shape.slots[1]
        # [B, 2, S0, S1]: what each infostate of player 0, then of player 1, believes of the other.
        believed = x[:, shape.seen :].reshape(-1, 2, *shape.slots)
        # v0[i] = sum over j of U[i, j] b0[i, j], v1[j] = -(sum over i of U[i, j] b1[i, j]).
        expected = out[:, :pairs].reshape(-1, 1, *shape.slots) * believed
        return torch.cat((expected[:, 0].sum(dim=2), -expected[:, 1].sum(dim=1), out[:, pairs:]), dim=1)

    def split(self, out: Tensor) -> tuple[Tensor, Tensor]:
        """Values [B, S0 + S1] and logits [B, S, A], or [B, 1, P] of legal pairs, of an output."""
        shape = self.shape
        logits = out[:, shape.num_values :].reshape(len(out), *shape.logits)
        return out[:, : shape.num_values], logits


def module_of(network: Network) -> CVPN:
    """The network as a module that learns: itself where it is one, otherwise with a copy of its weights."""
    if isinstance(network, CVPN):
        return network
    with torch.device("meta"):
        out = CVPN(network.shape)
    weights = {name: torch.from_numpy(weight.copy()) for name, weight in network.arrays().items()}
    out.load_state_dict(weights, assign=True)
    return out


Body = Callable[[NetworkShape], tuple[nn.Module, int]]


def mlp(shape: NetworkShape) -> tuple[nn.Module, int]:
    """`depth` linear layers of `width` with ReLU (PoG, table 2), and the width they end in."""
    layers: list[nn.Module] = []
    for k in range(shape.depth):
        layers += [nn.Linear(shape.seen if k == 0 else shape.width, shape.width), nn.ReLU()]
    return nn.Sequential(*layers), shape.width


def gelu(shape: NetworkShape) -> tuple[nn.Module, int]:
    """`depth` linear layers of `width`, each with layer normalisation and GELU (ReBeL, section 7), and their width."""
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    for k in range(shape.depth):
        layers[f"layer{k}"] = nn.Linear(shape.seen if k == 0 else shape.width, shape.width)
        layers[f"layer{k}_norm"] = nn.LayerNorm(shape.width)
        layers[f"layer{k}_gelu"] = nn.GELU()
    return nn.Sequential(layers), shape.width


def resnet(shape: NetworkShape) -> tuple[nn.Module, int]:
    """AlphaZero's residual network, with heads of its own."""
    return ResNet(shape), 0


def hands(shape: NetworkShape) -> tuple[nn.Module, int]:
    """Layers that all of hold'em's hands share, with heads of their own."""
    return HandNetwork(shape), 0


def stations(shape: NetworkShape) -> tuple[nn.Module, int]:
    """Layers that all stations of Scotland Yard share, with heads of their own."""
    return StationNetwork(shape), 0


# The bodies a shape can name; a body maps [B, seen] to [B, W] and says its W. W = 0: its outputs are the answer.
# By kind, as `sog.nets.shape.KINDS` has them.
BODIES: dict[str, Body] = {"mlp": mlp, "gelu": gelu, "resnet": resnet, "hands": hands, "stations": stations}
