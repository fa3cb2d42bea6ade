"""The history critic: what histories are worth under transformed policies, by V-trace off policy (SePoT, 4.1)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

import numpy as np
import torch

from sog.algorithms.policy.learners import following_rate
from sog.algorithms.policy.networks import each_once
from sog.algorithms.policy.trajectories import Trajectories
from sog.algorithms.policy.vtrace import Clips
from sog.arrays import Array, Float32, Float64, Int32, Int64
from sog.games.histories.base import HistoryGame
from sog.nets.perceptron import Perceptron
from sog.nets.weights import follow
from sog.searches.kernels.jit import njit
from sog.training.learner import memory_of, restore_memory

__all__ = ["CriticLearner", "history_vtrace", "profiles", "ratios_of"]

_EARLY: Final = 3.0  # early on `best` is the mean over steps t weighed by t ** _EARLY, until target_rate takes over


def profiles(count: int) -> Int64:
    """int64[Q, 2]: which transformations of players 0 and 1 the critic values, of `count` each.

    Those where one player plays the identity, 0; player 0's choices come first.
    """
    each, zero = np.arange(count), np.zeros(count - 1, dtype=np.int64)
    return np.concatenate((np.stack((each, each * 0), axis=1), np.stack((zero, each[1:]), axis=1)))


def ratios_of(played: Trajectories, transformed: Float32, pairs: Int64) -> Float64:
    """float64[D, Q]: how likelier each profile's policies, float32[D, F, A], take the action than who played did."""
    rows = np.arange(len(played))
    chosen = transformed[rows, :, played.action].astype(np.float64)
    # Who acts plays its part of the profile: column p of `pairs` says which transformation.
    own = chosen[rows[:, None], pairs[:, played.actor].T]
    ratios: Float64 = own / played.policy[rows, played.action].astype(np.float64)[:, None]
    return ratios


def history_vtrace(played: Trajectories, values: Float32, ratios: Float64, clips: Clips) -> Float64:
    """float64[D, Q]: targets of the values of histories, player 0's utilities (SePoT, (2), one for each profile).

    values: float32[D, Q].  ratios: float64[D, Q], of who acts, target policy over behaviour.
    """
    targets = np.zeros(values.shape)
    following = np.repeat(played.utility[:, None, None], values.shape[1], axis=1).repeat(2, axis=2)
    _backwards(played.game, values, ratios, clips, following, targets)
    return targets


@njit
def _backwards(games: Int32, values: Array, ratios: Array, clips: Clips, following: Array, targets: Array) -> None:
    """target = v + min(rho, ratio) * (V' - v) + min(c, ratio) * (T' - V'), with V' and T' of the next history.

    Each profile by itself.  following: float64[B, Q, 2], each game's next value and target; the utility at its end.
    """
    for d in range(len(games) - 1, -1, -1):
        after = following[games[d]]
        for q in range(values.shape[1]):
            # Only who acts has a ratio: each decision is corrected by itself, and chance is sampled as it is.
            v, ratio = float(values[d, q]), ratios[d, q]
            target = v + min(clips.rho, ratio) * (after[q, 0] - v) + min(clips.c, ratio) * (after[q, 1] - after[q, 0])
            targets[d, q] = target
            after[q, 0], after[q, 1] = v, target


class CriticLearner:
    """Learns a network of all profiles' values, in units of the game's largest utility; L2 loss.

    best: the network that is kept and searched with, a slow average of `network`: one batch of games changes the
    latter's values by about as much as two actions differ in.  steps: learner steps so far.
    """

    def __init__(
        self, game: HistoryGame, pairs: Int64, widths: tuple[int, ...], rate: float, target_rate: float, seed: int
    ) -> None:
        """pairs: int64[Q, 2], see `profiles`.  widths: of the hidden layers.  target_rate: at which `best` follows."""
        self.game, self.pairs, self.steps, self.target_rate = game, pairs, 0, target_rate
        self.network = Perceptron((game.num_critic_inputs, *widths, len(pairs)), seed)
        self.best = deepcopy(self.network)
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=rate, betas=(0.0, 0.999), fused=True)

    def learn(self, played: Trajectories, transformed: Float32, clips: Clips) -> float:
        """One step on games; the loss.  transformed: float32[D, F, A], what the profiles' players would play."""
        outputs = each_once(self.network, played.states, self.game.critic_inputs)
        unit = self.game.u_max
        ratios = ratios_of(played, transformed, self.pairs)
        values: Float32 = outputs.detach().mul(unit).numpy()
        targets = history_vtrace(played, values, ratios, clips) / unit
        loss = ((outputs - torch.from_numpy(targets.astype(np.float32))) ** 2).mean()
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        # The mean of all steps at first, then a moving one: the fresh network's zeros are soon gone.
        follow(self.best, self.network, max(self.target_rate, following_rate(self.steps, _EARLY)))
        self.steps += 1
        return float(loss.detach())

    def state(self) -> dict[str, Any]:
        weights = {"weights": self.network.weights(), "best": self.best.weights()}
        return {**weights, "steps": self.steps, "optimiser": memory_of(self.optimiser)}

    def restore(self, state: dict[str, Any]) -> None:
        self.network.restore(state["weights"])
        self.best.restore(state["best"])
        self.steps = int(state["steps"])
        restore_memory(self.optimiser, state["optimiser"])
