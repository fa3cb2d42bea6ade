"""CVPN: the counterfactual value-and-policy network (SoG, "Counterfactual value-and-policy networks")."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sog.errors import SettingError
from sog.games.base import DENSE, Game
from sog.nets.encode import input_width
from sog.nets.resnet import ResNet
from sog.search.leaves.evaluator import Wanted


@dataclass(frozen=True)
class NetworkShape:
    """Everything that decides the sizes of a network's weights.

    features, slots, actions: those of the game.  width, depth: of the hidden layers.
    kind: the body, a key of BODIES.  crossed: see encode.encode.  matchups: see CVPN.
    planes, policy_planes: the game's, for a resnet, which has `width` channels and `depth` blocks; otherwise none.
    ownership: a resnet that also learns who will own each cell (Game.owners), and is not asked for it in play.
    policies_apart: each player has logits of its own (SoG, Fig. 6), of which the actor's are read; of an mlp only.
    """

    features: int
    slots: tuple[int, int]
    actions: int
    width: int = 128
    depth: int = 2
    kind: str = "mlp"
    crossed: tuple[int, ...] = ()
    matchups: bool = False
    planes: tuple[int, ...] = ()
    policy_planes: int = 0
    policies_apart: bool = False
    ownership: bool = False

    def __post_init__(self) -> None:
        if self.kind not in BODIES:
            raise SettingError(f"no network is called {self.kind}; known: {', '.join(BODIES)}")
        if min(self.width, self.depth) < 1:
            raise SettingError(f"a network needs width and depth of at least 1, not {self.width}x{self.depth}")
        if any(not 0 <= column < self.features for column in self.crossed):
            raise SettingError(f"crossed features {self.crossed} are not among the game's {self.features}")
        if self.kind == "resnet":
            self._check_planes()
        elif self.ownership:
            raise SettingError(f"who owns a cell is learned by a resnet, not by {self.kind}")

    def _check_planes(self) -> None:
        """SettingError unless planes, one infostate a player and no more make a resnet's input."""
        if len(self.planes) != 3 or math.prod(self.planes) != self.features or self.slots != (1, 1):
            raise SettingError("a resnet is for games of perfect information whose features are planes")
        if self.crossed or self.matchups or self.policies_apart:
            raise SettingError("a resnet has no crossed features, no matchups and one policy for both players")
        if self.policy_planes * self.planes[1] * self.planes[2] > self.actions:
            raise SettingError(f"{self.policy_planes} policy planes hold more than {self.actions} actions")

    @property
    def inputs(self) -> int:
        """D, the length of an encoded belief."""
        return input_width(self.features, self.slots, self.crossed, self.matchups)

    @property
    def seen(self) -> int:
        """How many of the inputs the body sees: all but the beliefs about the opponent."""
        return input_width(self.features, self.slots, self.crossed)

    @property
    def num_values(self) -> int:
        """S0 + S1."""
        return sum(self.slots)

    @property
    def policy_slots(self) -> int:
        """S, the slots that have logits: max(S0, S1), or with policies_apart S0 + S1."""
        return sum(self.slots) if self.policies_apart else max(self.slots)

    @property
    def num_logits(self) -> int:
        """S * A."""
        return self.policy_slots * self.actions

    def first_policy_slot(self, player: int) -> int:
        """Where a player's logits begin among the slots."""
        return self.slots[0] if self.policies_apart and player == 1 else 0

    @property
    def cells(self) -> int:
        """H * W where ownership is learned, otherwise 0."""
        return self.planes[1] * self.planes[2] if self.ownership else 0

    @property
    def outputs(self) -> int:
        """What the network answers with."""
        return self.num_values + self.num_logits

    @property
    def head(self) -> int:
        """Outputs of the last layer: values or a matchup matrix, then logits."""
        return (self.slots[0] * self.slots[1] if self.matchups else self.num_values) + self.num_logits


def shape_for(
    game: Game,
    width: int = 128,
    depth: int = 2,
    kind: str = "mlp",
    crossed: tuple[int, ...] = (),
    matchups: bool = False,
    policies_apart: bool = False,
    ownership: bool = False,
) -> NetworkShape:
    """The shape of a network for this game.

    Raises SettingError for matchups of a game too wide for matrices, and for ownership where a game names no owners.
    """
    if ownership and not game.ownership:
        raise SettingError(f"{game.name} does not say who owns a cell")
    if matchups and game.weights(game.root()).operator.kind != DENSE:
        raise SettingError(f"matchups are for few infostates, not {game.name}'s {game.num_slots[0]:,} a player")
    planes = (game.planes or (), game.policy_planes) if kind == "resnet" else ((), 0)
    sizes = game.num_features, game.num_slots, game.num_actions
    return NetworkShape(*sizes, width, depth, kind, crossed, matchups, *planes, policies_apart, ownership)


def is_for(shape: NetworkShape, game: Game) -> bool:
    """Whether a network of this shape reads this game's beliefs and answers with its values and actions."""
    try:
        sizes = shape.width, shape.depth
        flags = shape.matchups, shape.policies_apart, shape.ownership
        wanted = shape_for(game, *sizes, shape.kind, shape.crossed, *flags)
    except SettingError:
        return False
    return shape == wanted and shape.crossed in ((), tuple(game.crossed))


class CVPN(nn.Module):
    """Encoded beliefs in; values of both players and the actor's policy logits out.

    Input float32[B, D] (encode.encode). Output float32[B, S0 + S1 + S * A]: values conditional on the
    infostate, in the public state's value units, by slot; then logits by slot and action identity.
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
        """He-uniform hidden weights, zero biases and zero last layers; batch normalisation begins as the identity."""
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for name, weight in self.named_parameters():
                if name.endswith("norm.weight"):
                    weight.fill_(1.0)
                elif weight.dim() < 2 or name.endswith(("head.weight", "_last.weight")):
                    weight.zero_()
                elif not weight.is_meta:
                    bound = math.sqrt(6.0 / weight[0].numel())
                    weight.uniform_(-bound, bound, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        return self._answer(self.head(self.body(x[:, : self.shape.seen])), x)

    def learned(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """All that is learned: the output, and float32[B, H * W] who owns each cell, in [-1, 1], [B, 0] without it."""
        if isinstance(self.body, ResNet):
            return self.body.learned(x)
        return self(x), x.new_zeros((len(x), 0))

    def part(self, x: Tensor, wanted: Wanted) -> Tensor:
        """`forward` with the values or the logits alone, float32[B, S0 + S1] or [B, S * A]; all of a resnet's."""
        if wanted is Wanted.BOTH or not isinstance(self.head, nn.Linear):
            whole: Tensor = self(x)
            return whole
        hidden, heads = self.body(x[:, : self.shape.seen]), self.shape.head - self.shape.num_logits
        columns = slice(0, heads) if wanted is Wanted.VALUES else slice(heads, self.shape.head)
        out = nn.functional.linear(hidden, self.head.weight[columns], self.head.bias[columns])
        return self._answer(out, x) if wanted is Wanted.VALUES else out

    def _answer(self, out: Tensor, x: Tensor) -> Tensor:
        """Values, and logits where there are any, from what the last layer gives."""
        shape = self.shape
        if not shape.matchups:
            return out
        pairs = shape.slots[0] * shape.slots[1]
        believed = x[:, shape.seen :].reshape(-1, 2, *shape.slots)
        expected = out[:, :pairs].reshape(-1, 1, *shape.slots) * believed
        return torch.cat((expected[:, 0].sum(dim=2), -expected[:, 1].sum(dim=1), out[:, pairs:]), dim=1)

    def split(self, out: Tensor) -> tuple[Tensor, Tensor]:
        """Values [B, S0 + S1] and logits [B, S, A] of an output."""
        shape = self.shape
        logits = out[:, shape.num_values :].reshape(len(out), shape.policy_slots, shape.actions)
        return out[:, : shape.num_values], logits


Body = Callable[[NetworkShape], tuple[nn.Module, int]]


def mlp(shape: NetworkShape) -> tuple[nn.Module, int]:
    """`depth` linear layers of `width` with ReLU (PoG, table 2), and the width they end in."""
    layers: list[nn.Module] = []
    for k in range(shape.depth):
        layers += [nn.Linear(shape.seen if k == 0 else shape.width, shape.width), nn.ReLU()]
    return nn.Sequential(*layers), shape.width


def resnet(shape: NetworkShape) -> tuple[nn.Module, int]:
    """AlphaZero's residual network, with heads of its own."""
    return ResNet(shape), 0


# The bodies a shape can name; a body maps [B, seen] to [B, W] and says its W. W = 0: its outputs are the answer.
BODIES: dict[str, Body] = {"mlp": mlp, "resnet": resnet}
