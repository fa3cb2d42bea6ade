"""What every policy learner offers the loop, and networks and optimisers as a checkpoint keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from sog.algorithms.policy.networks import policies_of
from sog.algorithms.policy.trajectories import Trajectories
from sog.arrays import Array, Float32
from sog.errors import CheckpointError
from sog.nets.cvpn import CVPN
from sog.nets.weights import restore_weights, weights_of
from sog.training.learner import memory_of, restore_memory

__all__ = ["PolicyLearner", "Update", "following_rate", "learner_state", "restore_learner"]


@dataclass(frozen=True, eq=False)
class Update:
    """One learner step: from what it learned, and the policies before and after it.

    value_loss, policy_loss: of the step.  The policy before is the one that was played: the actor is on-policy.
    """

    played: Trajectories
    network: CVPN
    value_loss: float
    policy_loss: float

    @property
    def old(self) -> Float32:
        """float32[D, A]: the policy before the step at every decision."""
        return self.played.policy

    def new(self) -> Float32:
        """float32[D, A]: the policy after it; to be called before the next step."""
        return policies_of(self.network, self.played.inputs, self.played.legal)


class PolicyLearner(Protocol):
    """Learns a policy from games that its own network played.

    network: which plays the games.  best: which is to be kept, measured and played against; it may be `network`.
    steps: learner steps so far.
    """

    @property
    def network(self) -> CVPN: ...

    @property
    def steps(self) -> int: ...

    @property
    def best(self) -> CVPN: ...

    def learn(self, played: Trajectories) -> Update:
        """One step on games that `network` played as it is now."""
        ...

    def critic_arrays(self) -> dict[str, Array] | None:
        """The arrays of a second network, for search on top of the policy; None where it learns none."""
        ...

    def state(self) -> dict[str, Any]:
        """All that decides further steps, as numbers and arrays."""
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what `state` gave; CheckpointError where it is another learner's."""
        ...


def following_rate(step: int, power: float) -> float:
    """The share by which a mean follows in step `step`, counted from 0, if steps weigh about step ** power in it.

    mean += share * (x - mean) with share = (power + 1) / (step + power + 1): 1 in step 0; power 0 is the plain mean.
    """
    return (power + 1.0) / (step + power + 1.0)


def learner_state(steps: int, networks: Mapping[str, CVPN], optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    """What `PolicyLearner.state` gives of a learner of these networks; none of them is called steps or optimiser."""
    weights = {name: weights_of(network) for name, network in networks.items()}
    return {"steps": steps, "optimiser": memory_of(optimiser), **weights}


def restore_learner(state: Mapping[str, Any], networks: Mapping[str, CVPN], optimiser: torch.optim.Optimizer) -> int:
    """Put back what `learner_state` gave; the steps. Raises CheckpointError where it is another learner's."""
    try:
        for name, network in networks.items():
            restore_weights(network, state[name], "learner")
        restore_memory(optimiser, state["optimiser"])
        return int(state["steps"])
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError("the checkpoint's learner is damaged") from error
