"""The learner: Huber loss on values, KL divergence on policies (PoG, B.3)."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sog.arrays import Array
from sog.errors import CheckpointError
from sog.nets.cvpn import CVPN, ILLEGAL
from sog.nets.policy_pairs import by_slot
from sog.nets.weights import arrays_of, follow, restore_weights
from sog.training.rows import Rows
from sog.training.settings import LearnerSettings

__all__ = ["Learner", "Losses", "losses", "memory_of", "restore_memory"]

_TENTH = 10.0  # an average over a tenth of t steps follows by 10 / t in the last of them
_MOST_STEPS = 2**62  # which no run takes; what a checkpoint states may be anything
# What an optimiser remembers of each weight.
_MEMORY = {"adam": {"step", "exp_avg", "exp_avg_sq"}, "sgd": {"momentum_buffer"}}
_PLAIN = LearnerSettings()


@dataclass(frozen=True)
class Losses:
    """One step's losses: Huber of the values, KL of the policies, Huber of the ownership, and their weighted sum."""

    value: float
    policy: float
    ownership: float
    total: float


class Learner:
    """Takes gradient steps on `network`, on the device that holds it.

    steps: taken so far.  averaged: the network that plays and is saved, `network` itself or the average of its weights.
    """

    def __init__(self, network: CVPN, settings: LearnerSettings) -> None:
        self.network, self.settings, self.steps = network, settings, 0
        self.averaged = deepcopy(network) if settings.average else network
        self.device = next(network.parameters()).device
        self.optimiser = _make_optimiser(network, settings)

    def allowed(self, added: int) -> int:
        """Steps it may have taken in all once `added` rows have been seen."""
        # updates_per_example = steps * batch / rows at most: PoG's "max grad updates per example" (Table 3).
        return int(self.settings.updates_per_example * added / self.settings.batch)

    def step(self, rows: Rows) -> Losses:
        """One gradient step on a batch."""
        settings, optimiser = self.settings, self.optimiser
        # The rate follows from the step alone, so a resumed run has the same.
        for group in optimiser.param_groups:
            group["lr"] = settings.rate_of(self.steps)
        value, policy, ownership = losses(self.network, rows, settings)
        total = settings.value_weight * value + settings.policy_weight * policy
        if settings.ownership_weight:
            total = total + settings.ownership_weight * ownership
        optimiser.zero_grad()
        total.backward()  # type: ignore[no-untyped-call]
        # After backward, before the step: the gradient of the weighted sum is what is clipped.
        if settings.clip:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), settings.clip)
        optimiser.step()
        self.steps += 1
        # averaged += share * (network - averaged): `average`, or 10 / t while the last tenth of the t steps is fewer.
        if settings.average:
            follow(self.averaged, self.network, max(settings.average, _TENTH / (self.steps + _TENTH)))
        return Losses(*(float(loss.detach()) for loss in (value, policy, ownership, total)))

    def state(self) -> dict[str, Any]:
        """Steps taken and the optimiser's memory, as numbers and arrays; the averaged network is saved beside it.

        The arrays change with the next step.
        """
        state = {"steps": self.steps, "optimiser": _memory(self.optimiser)}
        return {**state, "network": arrays_of(self.network)} if self.settings.average else state

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what `state` gave; raises CheckpointError where it is another network's."""
        try:
            memory, self.steps = state["optimiser"], int(state["steps"])
            if not 0 <= self.steps < _MOST_STEPS:
                raise ValueError("steps")
        except (KeyError, ValueError, TypeError) as error:
            raise CheckpointError("the checkpoint's optimiser is damaged") from error
        restore_memory(self.optimiser, memory)
        if self.settings.average:
            try:
                restore_weights(self.network, state["network"], "learner")
            except (KeyError, TypeError) as error:
                raise CheckpointError("the checkpoint's learner is damaged") from error


def memory_of(optimiser: torch.optim.Optimizer) -> dict[str, dict[str, Array]]:
    """What an optimiser remembers of each weight, as arrays by the weight's number; copies, not views."""
    return {index: {name: value.copy() for name, value in entry.items()} for index, entry in _memory(optimiser).items()}


def _memory(optimiser: torch.optim.Optimizer) -> dict[str, dict[str, Array]]:
    """`memory_of`, but views, which change with the next step."""
    state = optimiser.state_dict()["state"]
    return {str(index): {name: value.cpu().numpy() for name, value in entry.items()} for index, entry in state.items()}


def restore_memory(optimiser: torch.optim.Optimizer, saved: dict[str, dict[str, Array]]) -> None:
    """Give an optimiser of the same weights what `memory_of` gave; CheckpointError where they are others."""
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    expected = _MEMORY["adam" if isinstance(optimiser, torch.optim.Adam) else "sgd"]
    memory: dict[int, dict[str, Tensor]] = {}
    try:
        for index, entry in saved.items():
            memory[int(index)] = {name: torch.from_numpy(value.copy()) for name, value in entry.items()}
            if int(index) < 0 or set(entry) != expected:
                raise ValueError("memory")
        # Step counts are numbers without dimensions; everything else has its weight's shape.
        shapes = [(t.shape, weights[i].shape) for i, entry in memory.items() for t in entry.values() if t.dim()]
    except (IndexError, KeyError, ValueError, AttributeError, TypeError) as error:
        raise CheckpointError("the checkpoint's optimiser is damaged") from error
    if any(own != wanted for own, wanted in shapes):
        raise CheckpointError("the checkpoint's optimiser belongs to another network")
    optimiser.load_state_dict({"state": memory, "param_groups": optimiser.state_dict()["param_groups"]})


def losses(network: CVPN, rows: Rows, settings: LearnerSettings = _PLAIN) -> tuple[Tensor, Tensor, Tensor]:
    """Mean Huber loss over trained values, mean KL over trained infostates, mean Huber loss over owned cells.

    huber(x) = x^2 / 2 where |x| <= 1, otherwise |x| - 1 / 2;  KL_i = sum over a of target[a] * log(target[a] / p[a]),
    p: the softmax over legal actions. Means make w_v and w_p mean the same in every game.
    sum_policies: KL is summed over a row's infostates, and the mean is over the rows that train any (PoG, B.3: "w_p *
    sum_i l_KL"). PoG does not say how Huber goes over the values; that Table 3's w_p falls as infostates grow (1,
    0.05, 0.01) while w_v does not speaks for a mean.
    policies_by_row: each row counts alike, whatever its number of infostates; else a player with many of them teaches
    its policy almost alone.
    squared_policies: the squared error of the probabilities, summed over actions, in place of KL (ReBeL, section 7).
    """
    device = next(network.parameters()).device
    inputs, targets, mask, policies, weights, legal, owners, owned = (
        torch.from_numpy(column).to(device) for column in rows.columns().values()
    )
    with torch.autocast(device.type, torch.bfloat16, enabled=settings.bfloat16):
        answer, ownership = network.learned(inputs)
    # Losses are in 32 bits: a sum of thousands of terms has more digits than 16 bits hold.
    values, logits = network.split(answer.float())
    ownership = ownership.float()
    # Masked values, such as a TD(1) row's infostates that were not visited, train nothing; a batch without any has loss
    # 0.
    huber = torch.nn.functional.huber_loss(values, targets, reduction="none")
    value = (huber * mask).sum() / mask.sum().clamp(min=1.0)
    # Of legal pairs, player by player.
    shape, squared = network.shape, settings.squared_policies
    players = zip(by_slot(shape, logits), by_slot(shape, legal), by_slot(shape, policies), strict=True)
    apart = torch.cat([_policies_apart(own, may, wanted, squared) for own, may, wanted in players], dim=1)
    if settings.policies_by_row:
        weights = weights / weights.sum(dim=1, keepdim=True).clamp(min=1e-6)
    # PoG's sum over infostates, or the mean over all of them.
    trained = (weights > 0).any(dim=1).sum().clamp(min=1) if settings.sum_policies else weights.sum().clamp(min=1e-6)
    policy = (apart * weights).sum() / trained
    # `owned` is a row's, each[N, cells] a cell's: the mean is over cells.
    each = torch.nn.functional.huber_loss(ownership, owners, reduction="none")
    return value, policy, (each * owned).sum() / (owned.sum() * max(1, owners.shape[1])).clamp(min=1.0)


def _policies_apart(logits: Tensor, legal: Tensor, policies: Tensor, squared: bool) -> Tensor:
    """float32[N, S]: how far each slot's policy is from its target, see `losses`; all of them [N, S, A]."""
    # ILLEGAL is finite: a row without legal actions gets no NaN into the gradient.
    log_policy = torch.log_softmax(logits.masked_fill(~legal, ILLEGAL), dim=-1)
    if squared:
        return (log_policy.exp() - policies).square().sum(dim=-1)
    # KL holds the target's entropy, so that a perfect fit has loss 0; xlogy(0, 0) is 0.
    return (torch.xlogy(policies, policies) - policies * log_policy).sum(dim=-1)


def _make_optimiser(network: CVPN, settings: LearnerSettings) -> torch.optim.Optimizer:
    parameters, rate = network.parameters(), settings.learning_rate
    if settings.optimiser == "adam":
        return torch.optim.Adam(parameters, lr=rate, fused=True)
    return torch.optim.SGD(parameters, lr=rate, momentum=settings.momentum, fused=True)
