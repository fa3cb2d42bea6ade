"""A network over Scotland Yard's stations: the same layers for every station of every map, and one for all detectives.

Its weights depend on neither the map nor the number of detectives or rounds, so that what one map taught plays on any
other. After Deep Sets (Zaheer et al., 2017). What it sees of a station: games/scotland_yard/station_inputs.py.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from sog.games.scotland_yard.rules import TICKETS
from sog.games.scotland_yard.station_inputs import (
    AROUND,
    CONTEXT,
    DETECTIVE,
    WIDTH,
    StationInputs,
    pairs_of,
    station_inputs,
)
from sog.nets.perceptron import relu_layers
from sog.nets.shape import NetworkShape, station_game
from sog.searches.leaves.evaluator import Wanted

__all__ = ["StationNetwork"]


class StationNetwork(nn.Module):
    """Encoded beliefs in; values by slot and the logits of the legal pairs out, float32[B, N + 1 + P].

    h_s = first(station s), summary = (sum over s of share_s h_s, mean over s of h_s),
    c = context(summary, what is public, sum over detectives of each(detective)), e_s = second(h_s + c).
    Mr X's value at s is v_s = tanh(value_last(e_s)), and the detectives' is -(sum over s of share_s v_s).
    Logits: Mr X's from s by ticket k to t, policy_last(relu(leave(e_s) + enter(t) + by(k))); a detective's from f,
    policy_last(relu(chase(c) + enter(t) + stay(f) + by(k))), with last layers of their own.
    Zeros for stations where Mr X cannot be, for pairs from these and for pairs of whoever does not act.
    """

    def __init__(self, shape: NetworkShape) -> None:
        """SettingError unless the shape names a game of Scotland Yard with inputs=stations."""
        super().__init__()
        self.shape, self.game, w = shape, station_game(shape), shape.width
        self.first = relu_layers(WIDTH, w, shape.depth)
        self.each = relu_layers(DETECTIVE, w // 2 + 1, 1)
        self.context = nn.Sequential(*relu_layers(2 * w + CONTEXT + w // 2 + 1, w, 1), nn.Linear(w, w))
        self.second = nn.Sequential(nn.ReLU(), *relu_layers(w, w, shape.depth))
        self.value_last = nn.Linear(w, 1)
        self.enter = nn.Sequential(*relu_layers(WIDTH + AROUND, w, 1), nn.Linear(w, w))
        self.leave, self.chase, self.stay = nn.Linear(w, w), nn.Linear(w, w), nn.Linear(WIDTH + AROUND, w)
        self.by = nn.Linear(len(TICKETS), w, bias=False)
        self.leave_last, self.chase_last = nn.Linear(w, 1), nn.Linear(w, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.part(x, Wanted.BOTH)

    def part(self, x: Tensor, wanted: Wanted) -> Tensor:
        """`forward` with the values or the logits alone, float32[B, N + 1] or [B, P]."""
        raw = x.detach().cpu().numpy()
        if wanted is Wanted.VALUES:
            return self._values(x, *self._seen(x, station_inputs(raw, self.game)[0]))
        every, around = station_inputs(raw, self.game, moves=True)
        possible = np.flatnonzero(every.rows[:, 2] > 0)
        known = StationInputs(
            every.belief[possible], every.station[possible], every.share[possible], every.rows[possible], *every[4:]
        )
        seen = self._seen(x, known)
        logits = self._logits(x, every, torch.from_numpy(around).to(x.device), torch.from_numpy(possible), seen)
        return logits if wanted is Wanted.POLICIES else torch.cat((self._values(x, *seen), logits), dim=1)

    def _seen(self, x: Tensor, known: StationInputs) -> tuple[StationInputs, Tensor, Tensor]:
        """The possible stations' inputs, their layers' e float32[R, W] and the beliefs' c float32[B, W]."""
        belief, share = torch.from_numpy(known.belief).to(x.device), torch.from_numpy(known.share).to(x.device)
        # Sums and values are in 32 bits, also where a training step computes its layers in 16.
        h = self.first(torch.from_numpy(known.rows).to(x.device)).float()
        sums = h.new_zeros((2, len(x), h.shape[1]))
        # Sums over a belief's stations, weighed by the range and evenly.
        weighed = sums[0].index_add(0, belief, share[:, None] * h)
        counts = torch.bincount(belief, minlength=len(x)).clamp(min=1)
        mean = sums[1].index_add(0, belief, h) / counts[:, None]
        detectives = torch.from_numpy(known.detectives).to(x.device)
        # A detective without a station has only zeros.
        placed = (torch.from_numpy(known.places).to(x.device) >= 0)[:, :, None]
        chasing = (self.each(detectives) * placed).sum(dim=1)
        public = torch.from_numpy(known.context).to(x.device)
        c = self.context(torch.cat((weighed, mean, public, chasing), dim=1))
        return known, self.second(h + c[belief]), c

    def _values(self, x: Tensor, known: StationInputs, e: Tensor, _: Tensor) -> Tensor:
        """float32[B, N + 1]: both players' values by slot."""
        belief, share = torch.from_numpy(known.belief).to(x.device), torch.from_numpy(known.share).to(x.device)
        value = torch.tanh(self.value_last(e)[:, 0]).float()
        out = x.new_zeros((len(x), self.shape.num_values))
        out = out.index_put((belief, torch.from_numpy(known.station).to(x.device)), value)
        # Zero sum: the detectives' one infostate loses what Mr X's win in the mean.
        return out.index_put((belief, torch.tensor(self.shape.slots[0])), -share * value, accumulate=True)

    def _logits(
        self,
        x: Tensor,
        every: StationInputs,
        around: Tensor,
        possible: Tensor,
        seen: tuple[StationInputs, Tensor, Tensor],
    ) -> Tensor:
        """float32[B, P].  possible: which rows of `every` are of stations where Mr X can be."""
        _, e, c = seen
        pairs = pairs_of(every, self.game)
        rows = torch.cat((torch.from_numpy(every.rows).to(x.device), around), dim=1)
        enter, by = self.enter(rows), self.by.weight.T
        leave = x.new_zeros((len(rows), e.shape[1])).index_put((possible,), self.leave(e).float())
        out = x.new_zeros((len(x), self.shape.num_logits))
        for mover, (at, last) in enumerate(zip(pairs, (self.leave_last, self.chase_last), strict=True)):
            if not len(at.belief):
                continue
            belief, pair, source, dest, ticket = (torch.from_numpy(part).to(x.device) for part in at)
            own = leave[source] if mover == 0 else (self.chase(c)[belief] + self.stay(rows[source]))
            logits = last(torch.relu(own + enter[dest] + by[ticket]))[:, 0].float()
            out = out.index_put((belief, pair), logits)
        return out
