"""R-NaD: regularised Nash dynamics with neural replicator dynamics (DeepNash, Science 2022; SePoT, Table 2)."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sog.algorithms.policy.action_critic import ActionCritic, ActionCriticSettings
from sog.algorithms.policy.learners import PolicyLearner, Update, following_rate, learner_state, restore_learner
from sog.algorithms.policy.networks import SeenDecisions, answers, seen, visit_weights
from sog.algorithms.policy.trajectories import Trajectories
from sog.algorithms.policy.vtrace import Clips, two_player_vtrace
from sog.errors import CheckpointError, SettingError
from sog.nets.cvpn import CVPN
from sog.nets.weights import follow

__all__ = ["RnadLearner", "RnadSettings", "neurd_loss"]


@dataclass(frozen=True)
class RnadSettings:
    """SePoT, Table 2; defaults are its.

    eta: the weight of the reward's regularisation.  short, shorts, long: the regularisation policy is replaced every
    `short` steps, after `shorts` times every `long` steps.  learning_rate: Adam's learning rate.
    decays: Adam's two betas.  epsilon: Adam's epsilon.
    rate_steps: after t steps the rate is learning_rate / (1 + t / rate_steps); 0 for a constant rate (ours).
    gradient_clip: the largest entry of a gradient.  threshold: beta, the size of a logit beyond which no gradient
    pushes it further.  advantage_clip: the largest advantage.  rho, c: V-trace's largest importance weights.
    target_rate: gamma, the share by which the target network moves to the learned one in each step.
    scale: what a utility of 1 counts as a reward.
    visit_power: an infostate's weight in a step is its number of visits to this power; 1 is on policy, at 0.5 (ours)
    rare ones learn faster.
    critic: of whole histories, which values actions in place of V-trace (ours); None for V-trace.
    average: the network that is kept is the mean of the target networks of all steps, weighed by step ** average (ours:
    play goes around an equilibrium more than towards it); 0 for the target network itself.
    """

    eta: float = 0.2
    short: int = 500
    shorts: int = 200
    long: int = 10_000
    learning_rate: float = 3e-4
    rate_steps: int = 0
    decays: tuple[float, float] = (0.0, 0.999)
    epsilon: float = 1e-8
    gradient_clip: float = 10_000.0
    threshold: float = 2.0
    advantage_clip: float = 10_000.0
    rho: float = float("inf")
    c: float = 1.0
    target_rate: float = 0.001
    scale: float = 1.0
    visit_power: float = 1.0
    critic: ActionCriticSettings | None = None
    average: float = 0.0

    @property
    def networks_beside(self) -> int:
        """None."""
        return 0

    def __post_init__(self) -> None:
        for name in ("short", "long", "learning_rate", "threshold", "target_rate", "scale"):
            if not getattr(self, name) > 0:
                raise SettingError(f"{name} must be positive, not {getattr(self, name)}")
        for name in ("rate_steps", "visit_power", "average"):
            if getattr(self, name) < 0:
                raise SettingError(f"{name} must not be negative, but is {getattr(self, name)}")

    def rate(self, step: int) -> float:
        """The learning rate of step `step`."""
        return self.learning_rate / (1.0 + step / self.rate_steps) if self.rate_steps else self.learning_rate

    def phase(self, step: int) -> tuple[float, bool]:
        """The share of the newer regularisation policy in step `step`, and whether it is replaced after the step."""
        brief = self.short * self.shorts
        size, within = (self.short, step % self.short) if step < brief else (self.long, (step - brief) % self.long)
        # In the first half of a phase the share of the newer regularisation policy grows to 1; then it stays.
        return min(1.0, 2.0 * within / size), within == size - 1

    def make(self, network: CVPN, seed: int) -> PolicyLearner:
        """The learner of this network.  seed: of its critic's first weights."""
        return RnadLearner(network, self, seed)


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
            found, q = self.critic.learn(played, policy.numpy(), log_ratio.numpy(), settings.eta)
        else:
            with torch.no_grad():
                values = answers(self.target, inputs)[0]
            arrays = values.numpy(), policy.numpy(), log_ratio.numpy()
            clips = Clips(settings.rho, settings.c)
            found, q = two_player_vtrace(played, *arrays, settings.eta, clips, settings.scale)
        action_values = torch.from_numpy(q.astype(np.float32))
        # A[a] = q[a] - sum over b of policy[b] * q[b].
        advantage = action_values - (policy * action_values).sum(dim=1, keepdim=True)
        return torch.from_numpy(found.astype(np.float32)), advantage

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
        kept = learner_state(self.steps, self._networks, self.optimiser)
        return kept if self.critic is None else {**kept, "critic": self.critic.state()}

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
