"""R-NaD: regularised Nash dynamics with neural replicator dynamics (DeepNash, Science 2022; SePoT, Table 2)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sog.algorithms.policy.action_critic import ActionCritic
from sog.algorithms.policy.learners import Update, following_rate, learner_state, restore_learner
from sog.algorithms.policy.networks import SeenDecisions, answers, seen, visit_weights
from sog.algorithms.policy.settings import RnadSettings
from sog.algorithms.policy.trajectories import Trajectories
from sog.algorithms.policy.vtrace import Clips, two_player_vtrace
from sog.errors import CheckpointError
from sog.nets.cvpn import CVPN
from sog.nets.weights import follow

__all__ = ["RnadLearner", "neurd_loss"]


class RnadLearner:
    """Learns `network`; its slow copy `target` gives the values and is the policy that is kept, or its average is.

    newer, older: the two regularisation policies, which a phase mixes.  critic: None with V-trace.
    average: of the targets so far; None where the target is kept.
    """

    def __init__(self, network: CVPN, settings: RnadSettings, seed: int = 0) -> None:
        self.network, self.settings, self.steps = network, settings, 0
        self.target, self.newer, self.older = deepcopy(network), deepcopy(network), deepcopy(network)
        self.average = deepcopy(network) if settings.average else None
        self.optimiser = torch.optim.Adam(
            network.parameters(), lr=settings.learning_rate, betas=settings.decays, eps=settings.epsilon, fused=True
        )
        self.critic = ActionCritic(settings.critic, settings.scale, seed + 1) if settings.critic else None

    @property
    def best(self) -> CVPN:
        return self.target if self.average is None else self.average

    def learn(self, played: Trajectories) -> Update:
        """One step on games that `network` played."""
        settings = self.settings
        for group in self.optimiser.param_groups:
            group["lr"] = settings.rate(self.steps)
        share, replaced = settings.phase(self.steps)
        inputs, legal = seen(played.inputs, played.legal), torch.from_numpy(played.legal)
        # The network's own values are learned; those in the targets are the target network's, or the critic's.
        values, logits, log_policy = answers(self.network, inputs)
        targets, forces = self._targets(played, inputs, legal, log_policy.detach(), share)
        each = _weights(played, inputs, settings.visit_power)
        value = (each * (values - targets) ** 2).sum()
        # The advantages, clipped, are the forces on the logits.
        policy = neurd_loss(logits, legal, forces.clamp(-settings.advantage_clip, settings.advantage_clip), settings)
        policy = (each * policy).sum()
        self.optimiser.zero_grad()
        (value + policy).backward()  # type: ignore[no-untyped-call]
        # Entry by entry, as in DeepNash.
        torch.nn.utils.clip_grad_value_(self.network.parameters(), settings.gradient_clip)
        self.optimiser.step()
        self._follow(replaced)
        self.steps += 1
        return Update(played, self.network, float(value.detach()), float(policy.detach()))

    def _targets(
        self, played: Trajectories, inputs: SeenDecisions, legal: Tensor, log_policy: Tensor, share: float
    ) -> tuple[Tensor, Tensor]:
        """Targets of the values [D] and advantages of all actions [D, A]."""
        settings = self.settings
        with torch.no_grad():
            log_magnet = answers(self.newer, inputs)[2]
            if share < 1.0:
                log_magnet = share * log_magnet + (1.0 - share) * answers(self.older, inputs)[2]
        # log(policy / regularisation policy), where the latter is the mixture of two by their logarithms.
        log_ratio = (log_policy - log_magnet).masked_fill(~legal, 0.0)
        policy = log_policy.exp()
        if self.critic is not None:
            value_targets, q = self.critic.learn(played, policy.numpy(), log_ratio.numpy(), settings.eta)
        else:
            with torch.no_grad():
                values = answers(self.target, inputs)[0]
            arrays = values.numpy(), policy.numpy(), log_ratio.numpy()
            clips = Clips(settings.rho, settings.c)
            value_targets, q = two_player_vtrace(played, *arrays, settings.eta, clips, settings.scale)
        action_values = torch.from_numpy(q.astype(np.float32))
        # A[a] = q[a] - sum over b of policy[b] * q[b].
        advantage = action_values - (policy * action_values).sum(dim=1, keepdim=True)
        return torch.from_numpy(value_targets.astype(np.float32)), advantage

    def _follow(self, replaced: bool) -> None:
        """The target network follows, and what is averaged; a phase's last target is the regularisation policy then."""
        follow(self.target, self.network, self.settings.target_rate)
        if self.average is not None:
            follow(self.average, self.target, following_rate(self.steps, self.settings.average))
        # The fixed point of this phase's regularised game is what the next one is regularised by.
        if replaced:
            self.older.load_state_dict(self.newer.state_dict())
            self.newer.load_state_dict(self.target.state_dict())

    def critic_arrays(self) -> None:
        return None

    def state(self) -> dict[str, Any]:
        state = learner_state(self.steps, self._networks, self.optimiser)
        return state if self.critic is None else {**state, "critic": self.critic.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self.steps = restore_learner(state, self._networks, self.optimiser)
        if self.critic is not None:
            try:
                self.critic.restore(state["critic"])
            except (KeyError, TypeError) as error:
                raise CheckpointError("the checkpoint's learner is damaged") from error

    @property
    def _networks(self) -> dict[str, CVPN]:
        always = {"network": self.network, "target": self.target, "newer": self.newer, "older": self.older}
        return always if self.average is None else {**always, "average": self.average}


def neurd_loss(logits: Tensor, legal: Tensor, forces: Tensor, settings: RnadSettings) -> Tensor:
    """[D]: each decision's loss, whose gradient at logit a is mean(g) - g[a] (NeuRD, AAMAS 2020).

    g[a] is the force at a, but 0 where it would drive the logit, less the mean over legal actions, further beyond
    +threshold or -threshold.  logits, forces: float32[D, A].
    """
    mean = (logits * legal).sum(dim=1, keepdim=True) / legal.sum(dim=1, keepdim=True)
    centred = logits - mean
    with torch.no_grad():
        rises = (centred < settings.threshold) * forces.clamp(min=0.0)
        falls = (centred > -settings.threshold) * forces.clamp(max=0.0)
        applied = rises + falls
    return -(centred * applied * legal).sum(dim=1)


def _weights(played: Trajectories, inputs: SeenDecisions, power: float) -> Tensor:
    """float32[D]: for each player a mean over its decisions, those of an infostate by its visits to this power."""
    weights = visit_weights(inputs, power)
    totals = np.bincount(played.actor, weights, minlength=2)
    return torch.from_numpy((weights / totals[played.actor]).astype(np.float32))
