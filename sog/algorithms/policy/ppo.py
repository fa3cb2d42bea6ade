"""PPO with a magnet: MMD (Sokota et al., ICLR 2023) and NashPG (TMLR 2026) by their settings."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sog.algorithms.policy.learners import Update, following_rate, learner_state, restore_learner
from sog.algorithms.policy.networks import SeenDecisions, answers, seen, visit_weights
from sog.algorithms.policy.settings import PpoSettings
from sog.algorithms.policy.trajectories import Trajectories
from sog.algorithms.policy.vtrace import advantages
from sog.nets.cvpn import CVPN
from sog.nets.weights import follow

__all__ = ["PpoLearner"]


@dataclass(frozen=True, eq=False)
class _Batch:
    """What a step learns from, as tensors of D rows.  weight: of each row, 1 in the mean."""

    inputs: SeenDecisions
    legal: Tensor
    action: Tensor
    log_before: Tensor
    log_magnet: Tensor
    advantage: Tensor
    returns: Tensor
    weight: Tensor

    def take(self, rows: Tensor) -> _Batch:
        return _Batch(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


class PpoLearner:
    """Learns `network`; its mean over steps is kept, if there is one."""

    def __init__(self, network: CVPN, settings: PpoSettings, seed: int = 0) -> None:
        self.network, self.settings, self.seed, self.steps = network, settings, seed, 0
        self.magnet, self.mean = deepcopy(network), deepcopy(network) if settings.average else None
        self.optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate, eps=1e-5, fused=True)

    @property
    def best(self) -> CVPN:
        return self.network if self.mean is None else self.mean

    def learn(self, played: Trajectories) -> Update:
        """One step, of several passes, on games that `network` played."""
        settings = self.settings
        for group in self.optimiser.param_groups:
            group["lr"] = settings.rate(self.steps)
        batch = self._batch(played)
        # 2^21 keeps the minibatches' draws apart from the actor's (seed, step).
        rng = np.random.default_rng((self.seed, 2**21, self.steps))
        parts = min(settings.minibatches, len(played))
        shares = [np.array_split(rng.permutation(len(played)), parts) for _ in range(settings.epochs)]
        losses = [self._descend(batch.take(torch.from_numpy(rows))) for share in shares for rows in share]
        if self.mean is not None:
            follow(self.mean, self.network, following_rate(self.steps, settings.average))
        self.steps += 1
        # The magnet is the policy after this step: the next steps are pulled towards it.
        if settings.magnet_every and self.steps % settings.magnet_every == 0:
            self.magnet.load_state_dict(self.network.state_dict())
        value, policy = np.mean(losses, axis=0)
        return Update(played, self.network, float(value), float(policy))

    def _batch(self, played: Trajectories) -> _Batch:
        inputs, legal = seen(played.inputs, played.legal), torch.from_numpy(played.legal)
        with torch.no_grad():
            values, _, log_before = answers(self.network, inputs)
            log_magnet = answers(self.magnet, inputs)[2] if self.settings.pull else log_before
        # Once a step, before the passes: the passes change the network, not what was done.
        gained = advantages(played, values.numpy(), self.settings.mixing, self.settings.scale)
        advantage = torch.from_numpy(gained.astype(np.float32))
        action = torch.from_numpy(played.action.astype(np.int64))
        weights = visit_weights(inputs, self.settings.visit_power)
        # 1 in the mean, so that learning rates do not depend on visit_power.
        weight = torch.from_numpy((weights / weights.mean()).astype(np.float32))
        return _Batch(inputs, legal, action, log_before, log_magnet, advantage, values + advantage, weight)

    def _descend(self, batch: _Batch) -> tuple[float, float]:
        """One gradient step on some rows; their value loss and policy loss."""
        settings = self.settings
        values, _, log_policy = answers(self.network, batch.inputs)
        value = (batch.weight * (values - batch.returns) ** 2).mean()
        policy = self._surrogate(batch, log_policy) + self._regularisation(batch, log_policy)
        self.optimiser.zero_grad()
        (settings.value_weight * value + policy).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), settings.gradient_norm)
        self.optimiser.step()
        return float(value.detach()), float(policy.detach())

    def _surrogate(self, batch: _Batch, log_policy: Tensor) -> Tensor:
        """PPO's clipped objective, to be made small: -mean of min(x A, clip(x, 1 - clip, 1 + clip) A).

        x = policy / policy before the step, of the action taken.
        """
        advantage = batch.advantage
        if self.settings.normalised and len(advantage) > 1:  # one row has no spread
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        chosen = batch.action[:, None]
        ratio = (log_policy.gather(1, chosen) - batch.log_before.gather(1, chosen)).exp()[:, 0]
        clipped = ratio.clamp(1.0 - self.settings.clip, 1.0 + self.settings.clip)
        return -(batch.weight * torch.minimum(ratio * advantage, clipped * advantage)).mean()

    def _regularisation(self, batch: _Batch, log_policy: Tensor) -> Tensor:
        """entropy * sum p log p + pull * KL(p || magnet) + damping * KL(p || p before), each a mean over decisions."""
        settings, policy = self.settings, log_policy.exp()

        def kl(log_other: Tensor | float) -> Tensor:
            each = (policy * (log_policy - log_other).masked_fill(~batch.legal, 0.0)).sum(dim=1)
            return (batch.weight * each).mean()

        # kl(0) is the negative entropy, the KL to the uniform policy but for a constant.
        total = settings.entropy_weight(self.steps) * kl(0.0)
        if settings.pull:
            total = total + settings.pull * kl(batch.log_magnet)
        if settings.damping:
            total = total + settings.damping * kl(batch.log_before)
        return total

    def critic_arrays(self) -> None:
        return None

    def state(self) -> dict[str, Any]:
        return learner_state(self.steps, self._networks, self.optimiser)

    def restore(self, state: dict[str, Any]) -> None:
        self.steps = restore_learner(state, self._networks, self.optimiser)

    @property
    def _networks(self) -> dict[str, CVPN]:
        always = {"network": self.network, "magnet": self.magnet}
        return always if self.mean is None else {**always, "mean": self.mean}
