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
from sog.nets.perceptron import relu_layers
from sog.nets.shape import NetworkShape
from sog.searches.leaves.evaluator import Wanted

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
        self.first = relu_layers(WIDTH, width, shape.depth)
        self.context = nn.Sequential(nn.Linear(2 * width + shape.features + 1, 2 * width), nn.ReLU())
        self.added = nn.Linear(2 * width, width)
        self.second = nn.Sequential(nn.ReLU(), *relu_layers(width, width, shape.depth - 1))
        self.value_last = nn.Linear(width, 1)
        self.policy_last = nn.Linear(width, shape.actions)

    def forward(self, x: Tensor) -> Tensor:
        return self.part(x, Wanted.BOTH)

    def part(self, x: Tensor, wanted: Wanted) -> Tensor:
        """`forward`, or its values alone, float32[B, 2652], or its logits, float32[B, 1326 * A]."""
        shape, features = self.shape, x[:, : self.shape.features]
        parts = [
            0 if wanted is Wanted.POLICIES else shape.num_values,
            0 if wanted is Wanted.VALUES else shape.num_logits,
        ]
        out = x.new_zeros((len(x), sum(parts)))
        # Where chance acts and nothing can be bet, values are 0 and nobody reads logits.
        open_rows = torch.nonzero((features[:, LEFT] > 0) | (features[:, CHANCE] == 0))[:, 0]
        if len(open_rows):
            out[open_rows] = torch.cat(self._answer(x[open_rows], wanted), dim=1)
        return out

    def _answer(self, x: Tensor, wanted: Wanted) -> list[Tensor]:
        """float32[B, 2652] values and float32[B, 1326 * A] logits, or one of them."""
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
        out = []
        if wanted is not Wanted.POLICIES:
            left = (_TENTHS * features[:, LEFT]).clamp(max=1.0)
            values = x.new_zeros((count, 2, HANDS))
            values[:, :, :live] = left[:, None, None] * self.value_last(mixed)[..., 0]
            out.append(values.flatten(1))
        if wanted is not Wanted.VALUES:
            # The actor's; where chance acts nobody reads them.
            actor = features[:, ACTORS].argmax(dim=1).clamp(max=1)
            logits = x.new_zeros((count, HANDS, shape.actions))
            logits[:, :live] = self.policy_last(mixed[torch.arange(count), actor])
            out.append(logits.flatten(1))
        return out
