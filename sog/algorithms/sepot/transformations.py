"""Policy transformations: maps of a policy to another, learned beside it or predefined (SePoT, 4.1, C.2)."""

from __future__ import annotations

from typing import Any, Final, Protocol

import numpy as np
import torch
from torch import Tensor

from sog.algorithms.policy.learners import Update
from sog.algorithms.policy.networks import infostates_once
from sog.arrays import Array, Bool, Float32, Float64, Int32
from sog.errors import SettingError
from sog.games.histories.base import HistoryGame
from sog.games.histories.goofspiel import GoofspielHistories
from sog.nets.perceptron import Perceptron
from sog.training.learner import memory_of, restore_memory

__all__ = [
    "Decisions",
    "Identity",
    "LearnedTransformations",
    "Transformations",
    "Weighted",
    "directions",
    "onto_policies",
]


class Decisions(Protocol):
    """D decisions as transformations see them.  states: int32[D, K].  inputs: float32[D, N].  legal: bool[D, A]."""

    @property
    def states(self) -> Int32: ...

    @property
    def inputs(self) -> Float32: ...

    @property
    def legal(self) -> Bool: ...


class Transformations(Protocol):
    """F transformations of a policy; the first is the identity.

    count: F.
    """

    count: int

    def of(self, played: Decisions, policy: Float32) -> Float32:
        """float32[D, F, A]: what becomes of a policy, float32[D, A], at decisions."""
        ...

    def learn(self, update: Update) -> float:
        """Learn from a step of the policy; the loss, 0 where nothing is learned."""
        ...

    def weights(self) -> dict[str, Array]:
        """What a checkpoint keeps for others to read; empty where nothing is learned."""
        ...

    def state(self) -> dict[str, Any]: ...

    def restore(self, state: dict[str, Any]) -> None: ...


class Identity:
    """The identity alone: leaves are then worth what the policy itself gets, as in any depth-limited search."""

    count = 1

    def of(self, played: Decisions, policy: Float32) -> Float32:
        return policy[:, None, :]

    def learn(self, update: Update) -> float:
        return 0.0

    def weights(self) -> dict[str, Array]:
        return {}

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        return


class Weighted(Identity):
    """The predefined transformations of Goofspiel: probabilities times exp(strength * liking), 22 in all.

    The paper has 22 and does not list them; these are ours. A card's liking is its rank, the same reversed, its
    distance from the middle, the same reversed, whether its number is odd, whether it is even, and nearness to the
    point card; each holds always, or only when ahead in points, or only when not ahead: 7 x 3, and the identity.
    """

    def __init__(self, game: HistoryGame, strength: float = 2.0) -> None:
        if not isinstance(game, GoofspielHistories):
            raise SettingError(f"transformations are predefined for goofspiel only, not for {game.name}")
        self.game, self.strength, self.count = game, strength, 22

    def of(self, played: Decisions, policy: Float32) -> Float32:
        n = self.game.num_cards
        likings = self._likings(played)
        ahead = played.inputs[:, (n - 1) * (n + 3) + n] > 0.0
        held = np.stack((np.ones(len(ahead), dtype=np.bool_), ahead, ~ahead), axis=1)
        # p'[a] = p[a] * exp(strength * liking[a]) / sum, where the condition holds; otherwise p itself.
        power = self.strength * likings[:, :, None, :] * held[:, None, :, None]
        weights = policy[:, None, :] * np.exp(power).reshape(len(ahead), -1, n)
        moved = weights / weights.sum(axis=2, keepdims=True)
        out: Float32 = np.concatenate((policy[:, None, :], moved), axis=1).astype(np.float32)
        return out

    def _likings(self, played: Decisions) -> Float64:
        """float64[D, 7, A]: each between 0 and 1."""
        n = self.game.num_cards
        cards = np.arange(n)
        rank = cards / (n - 1)
        outer = np.abs(2 * rank - 1)
        odd = (cards % 2 == 0).astype(np.float64)  # card 0 is the one
        shown = self.game.public(played.states)
        last = np.where(shown < n, np.arange(shown.shape[1]), -1) * (shown >= 0)
        point = np.take_along_axis(shown, last.max(axis=1)[:, None], axis=1)
        near = 1.0 - np.abs(cards - point) / (n - 1)
        fixed = np.stack((rank, 1 - rank, outer, 1 - outer, odd, 1 - odd))
        return np.concatenate((np.broadcast_to(fixed, (len(shown), *fixed.shape)), near[:, None, :]), axis=1)


class LearnedTransformations:
    """Moves the policy by `step` in directions that a network gives, F - 1 of them at each infostate.

    For each game the direction in which the policy moved, over all its decisions, is the target of the one direction
    that is nearest to it in Euclidean distance; the others stay (SePoT, Algorithm 1, lines 7 and 8).
    """

    def __init__(self, game: HistoryGame, widths: tuple[int, ...], count: int, step: float, seed: int) -> None:
        """widths: of the hidden layers.  count: F."""
        self.count, self.step, self.actions = count, step, game.num_actions
        self.network = Perceptron((game.num_inputs, *widths, (count - 1) * game.num_actions), seed, _FRESH)
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=_RATE, betas=_DECAYS, fused=True)

    def of(self, played: Decisions, policy: Float32) -> Float32:
        first, row = infostates_once(played.inputs, played.legal)
        inputs, legal, own = played.inputs[first], played.legal[first], policy[first, None, :]
        with torch.inference_mode():
            direction = self._directions(inputs, legal).numpy().astype(np.float64)
        norms = np.linalg.norm(direction, axis=2, keepdims=True)
        unit = direction / np.maximum(norms, 1e-12)
        # p' = projection of p + step * direction / |direction|.
        moved = onto_policies(own + self.step * unit, legal[:, None, :])
        out: Float32 = np.concatenate((own, moved), axis=1).astype(np.float32)[row]
        return out

    def _directions(self, inputs: Float32, legal: Bool) -> Tensor:
        """float32[U, F - 1, A] at U infostates: sums of 0 over legal actions, 0 at the others."""
        raw = self.network(torch.from_numpy(inputs)).reshape(len(inputs), self.count - 1, self.actions)
        allowed = torch.from_numpy(legal)[:, None, :]
        mean = (raw * allowed).sum(dim=2, keepdim=True) / allowed.sum(dim=2, keepdim=True)
        centred: Tensor = (raw - mean) * allowed
        return centred

    def learn(self, update: Update) -> float:
        played = update.played
        games = torch.from_numpy(played.game.astype(np.int64))
        wanted = torch.from_numpy(directions(update))
        first, row = infostates_once(played.inputs, played.legal)
        learned = self._directions(played.inputs[first], played.legal[first]).index_select(0, torch.from_numpy(row))
        squares = ((learned - wanted[:, None, :]) ** 2).sum(dim=2)
        # Squared distances over all decisions of a game; min: only the nearest direction learns (Algorithm 1, line 8).
        totals = torch.zeros(len(played.utility), self.count - 1).index_add_(0, games, squares)
        loss = totals.min(dim=1).values.mean()
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        return float(loss.detach())

    def weights(self) -> dict[str, Array]:
        return self.network.weights()

    def state(self) -> dict[str, Any]:
        return {"weights": self.network.weights(), "optimiser": memory_of(self.optimiser)}

    def restore(self, state: dict[str, Any]) -> None:
        self.network.restore(state["weights"], "network of transformations")
        restore_memory(self.optimiser, state["optimiser"])


_FRESH: Final = 0.05  # the last layer's largest weight in a new network, so that its directions differ
_RATE: Final = 3e-4  # Table 2's learning rate
_DECAYS: Final = (0.0, 0.999)  # and its b1 of Adam


def directions(update: Update) -> Float32:
    """float32[D, A]: the change of the policy in a step, of length 1 over the decisions of each game; 0 without one."""
    # Algorithm 1, line 7: d = (new - old) / |new - old|, over all decisions of a game together.
    change = update.new().astype(np.float64) - update.old
    lengths = np.sqrt(np.bincount(update.played.game, (change**2).sum(axis=1), len(update.played.utility)))
    direction: Float32 = (change / np.maximum(lengths, 1e-12)[update.played.game][:, None]).astype(np.float32)
    return direction


def onto_policies(points: Float64, legal: Bool) -> Float64:
    """float64[..., A]: the nearest policies over legal actions, by Euclidean distance.

    p[a] = max(x[a] - t, 0), with the t for which they sum to 1: t = (sum of the k largest x - 1) / k, for the largest k
    whose k-th largest x is above its t.
    """
    x = np.where(legal, points, -np.inf)
    ordered = -np.sort(-x, axis=-1)
    rank = np.arange(1, x.shape[-1] + 1)
    finite = np.where(np.isfinite(ordered), ordered, 0.0)
    taken = (np.cumsum(finite, axis=-1) - 1.0) / rank
    support_size = (ordered > taken).sum(axis=-1, keepdims=True)
    out: Float64 = np.maximum(x - np.take_along_axis(taken, support_size - 1, axis=-1), 0.0)
    return out
