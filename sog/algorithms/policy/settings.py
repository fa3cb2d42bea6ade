"""How policy learners learn: settings of PPO, R-NaD, its critic, and a learned best response; they run nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sog.errors import SettingError

__all__ = ["ActionCriticSettings", "LearnsPolicy", "PpoSettings", "ResponseSettings", "RnadSettings"]


class LearnsPolicy(Protocol):
    """A learner's settings: a frozen dataclass.

    networks_beside: how many networks of the policy's size it learns beside the policy.
    """

    @property
    def networks_beside(self) -> int: ...


@dataclass(frozen=True)
class PpoSettings:
    """How PPO learns.

    learning_rate: Adam's learning rate.
    anneal: steps over which the learning rate falls linearly to the share `least`; 0 for never.
    least: the share of the learning rate that is left after `anneal` steps.
    rate_steps, rate_power: after t steps the learning rate is divided by (1 + t / rate_steps) ** rate_power,
    unless rate_steps is 0.
    epochs: passes over a step's games.  minibatches: gradient steps of a pass.
    clip: how far the probability ratio may be from 1.
    normalised: whether a minibatch's advantages are shifted and scaled to mean 0 and deviation 1, so that the weights
    of entropy and KL are relative to their noise.
    mixing: lambda of the lambda-returns.  value_weight: the weight of the value loss.
    gradient_norm: the largest norm of a gradient.
    entropy: weight of the policy's entropy, which is the KL divergence to a uniform magnet.
    entropy_steps: after t steps that weight is entropy / sqrt(1 + t / entropy_steps); 0 for a constant weight.
    pull: weight of the KL divergence KL(policy || magnet).  magnet_every: the magnet is a copy of the policy, made
    again after this number of steps; 0 for none.  damping: weight of KL(policy || policy before the step).
    visit_power: in means over decisions an infostate counts as its visits to this power; 1 is on policy, where those
    that play hardly reaches lag behind and play goes around (docs/notes.md).
    average: the network that is kept is the mean of those of all steps, weighed by step ** average; 0: the last one.
    scale: what a utility of 1 counts as a reward.
    """

    learning_rate: float = 2.5e-4
    least: float = 0.0
    anneal: int = 0
    rate_steps: int = 0
    rate_power: float = 0.5
    epochs: int = 4
    minibatches: int = 4
    clip: float = 0.1
    normalised: bool = True
    mixing: float = 0.95
    value_weight: float = 0.5
    gradient_norm: float = 0.5
    entropy: float = 0.05
    entropy_steps: int = 0
    pull: float = 0.0
    magnet_every: int = 0
    damping: float = 0.0
    visit_power: float = 1.0
    average: float = 0.0
    scale: float = 1.0

    @property
    def networks_beside(self) -> int:
        """None."""
        return 0

    def __post_init__(self) -> None:
        for name in ("learning_rate", "epochs", "minibatches", "clip", "scale"):
            if not getattr(self, name) > 0:
                raise SettingError(f"{name} must be positive, not {getattr(self, name)}")
        for name in ("rate_steps", "rate_power", "entropy_steps", "visit_power", "average"):
            if getattr(self, name) < 0:
                raise SettingError(f"{name} must not be negative, not {getattr(self, name)}")
        if self.pull and not self.magnet_every:
            raise SettingError("a magnet that pulls needs magnet_every, the steps after which it is copied anew")

    def rate(self, step: int) -> float:
        """The learning rate of step `step`."""
        linear = max(self.least, 1.0 - step / self.anneal) if self.anneal else 1.0
        return self.learning_rate * linear * _falling(step, self.rate_steps, self.rate_power)

    def entropy_weight(self, step: int) -> float:
        """The entropy's weight in step `step`."""
        return self.entropy * _falling(step, self.entropy_steps, 0.5)


def _falling(step: int, steps: int, power: float) -> float:
    """The share that is left of a weight in step `step`; 1 where it does not fall."""
    return 1.0 / (1.0 + step / steps) ** power if steps else 1.0


@dataclass(frozen=True)
class ActionCriticSettings:
    """The critic beside a policy.

    game: the game string.  critic_width: width of the critic's hidden layers.
    critic_depth: how many hidden layers the critic has.  critic_rate: the critic's learning rate.
    critic_mixing: lambda of the critic's targets; at 1 it learns from whole games, at 0 from its own estimate of the
    next history.
    heaviest: the largest weight (1 / the probability of the action taken) with which the error of the critic's estimate
    is added to the estimate; infinity leaves no bias, 0 no noise.
    """

    game: str
    critic_width: int = 256
    critic_depth: int = 2
    critic_rate: float = 1e-3
    critic_mixing: float = 1.0
    heaviest: float = float("inf")

    def __post_init__(self) -> None:
        if min(self.critic_width, self.critic_depth) < 1 or not self.critic_rate > 0:
            raise SettingError("a critic needs a width and a depth of 1 or more, and a learning rate above 0")
        if not 0.0 <= self.critic_mixing <= 1.0 or not self.heaviest >= 0.0:
            given = f"{self.critic_mixing} and {self.heaviest}"
            raise SettingError(f"critic_mixing is a share and heaviest is at least 0, not {given}")


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


@dataclass(frozen=True)
class ResponseSettings:
    """How a response is learned and measured. steps: of PPO, on `games` games each.  measured: games of its measure,
    played as many at a time.

    width, depth: of its network.
    """

    steps: int = 1_000
    games: int = 2_048
    measured: int = 100_000
    width: int = 256
    depth: int = 2
