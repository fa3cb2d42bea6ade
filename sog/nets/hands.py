"""A network over hold'em's hands: the same layers for every hand of both players, beside a summary of both ranges.

A layer over all hands at once has to learn for each of them anew what a range means to it; here each row of training
teaches 2,256 hands at once. After Deep Sets (Zaheer et al., 2017). What it sees of a hand: games/holdem/hand_inputs.py.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sog.games.holdem.cards import HANDS
from sog.games.holdem.hand_inputs import WIDTH, hand_inputs
from sog.games.holdem.inputs import ACTORS, CHANCE, LEFT
from sog.nets.shape import NetworkShape

_TENTHS = 10.0  # the feature LEFT is in tenths of a pot


class HandNetwork(nn.Module):
    """Encoded beliefs in; values by slot and the actor's logits out, float32[B, 2652 + 1326 * A].

    h = first(hand), s_p = sum over p's hands of range * h, c_p = context(s_p, s_-p, features, p),
    e = second(h + c_p); the value is min(1, left) * value_last(e), with `left` the pots that may still be bet: where
    nothing can be bet, a hand is worth what it wins checked down, to which a network's values are added. Hands that the
    board rules out have zeros.
    """

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.shape, width = shape, shape.width
        self.first = _layers(WIDTH, width, shape.depth)
        self.context = nn.Sequential(nn.Linear(2 * width + shape.features + 1, 2 * width), nn.ReLU())
        self.added = nn.Linear(2 * width, width)
        self.second = nn.Sequential(nn.ReLU(), *_layers(width, width, shape.depth - 1))
        self.value_last = nn.Linear(width, 1)
        self.policy_last = nn.Linear(width, shape.actions)

    def forward(self, x: Tensor) -> Tensor:
        shape, features = self.shape, x[:, : self.shape.features]
        out = x.new_zeros((len(x), shape.outputs))
        # Where chance acts and nothing can be bet, values are 0 and nobody reads logits.
        open_rows = torch.nonzero((features[:, LEFT] > 0) | (features[:, CHANCE] == 0))[:, 0]
        if len(open_rows):
            values, logits = self._answer(x[open_rows])
            out[open_rows] = torch.cat((values.flatten(1), logits.flatten(1)), dim=1)
        return out

    def _answer(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """float32[B, 2, 1326] values and float32[B, 1326, A] logits."""
        shape, features = self.shape, x[:, : self.shape.features]
        hands = torch.from_numpy(hand_inputs(x.detach().cpu().numpy())).to(x.device)
        count, _, live, _ = hands.shape
        # [B, 2, L]: each range's shares of its hands.
        ranges = x[:, shape.features :].reshape(count, 2, HANDS)[:, :, :live]
        shares = ranges / ranges.sum(dim=2, keepdim=True).clamp(min=1e-9)
        seen = self.first(hands)
        summary = torch.matmul(shares[:, :, None, :], seen)[:, :, 0, :]
        contexts = [
            torch.cat((summary[:, p], summary[:, 1 - p], features, features.new_full((count, 1), float(p))), dim=1)
            for p in (0, 1)
        ]
        mixed = self.second(seen + self.added(self.context(torch.stack(contexts, dim=1)))[:, :, None, :])
        left = (_TENTHS * features[:, LEFT]).clamp(max=1.0)
        values = x.new_zeros((count, 2, HANDS))
        values[:, :, :live] = left[:, None, None] * self.value_last(mixed)[..., 0]
        # The actor's; where chance acts nobody reads them.
        actor = features[:, ACTORS].argmax(dim=1).clamp(max=1)
        logits = x.new_zeros((count, HANDS, shape.actions))
        logits[:, :live] = self.policy_last(mixed[torch.arange(count), actor])
        return values, logits


def _layers(inputs: int, width: int, depth: int) -> nn.Sequential:
    """`depth` linear layers of `width` with ReLU."""
    layers: list[nn.Module] = []
    for k in range(depth):
        layers += [nn.Linear(inputs if k == 0 else width, width), nn.ReLU()]
    return nn.Sequential(*layers)
