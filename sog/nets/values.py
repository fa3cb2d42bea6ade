"""A network evaluated for values alone, for solvers that need no priors: by player, or by pair of infostates."""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from torch import Tensor

from sog.arrays import Float32, Float64
from sog.errors import SettingError
from sog.nets.cpu import dense
from sog.nets.cvpn import CVPN
from sog.nets.inference import (
    Answer,
    JoiningEvaluator,
    MlpAnswer,
    TorchEvaluator,
    actors_logits,
    refuse_broken,
    torch_answer,
)
from sog.searches.leaves.evaluator import Beliefs, Droppable, Evaluations, Evaluator, Timed, Wanted


def value_evaluator(network: CVPN, policies: bool = False, pairs: bool = False) -> Evaluator:
    """Values of a network on the CPU; its logits mean nothing unless `policies`.

    SettingError for a resnet, CheckpointError for a NaN or infinite weight.
    pairs: player 0's utilities by pair of slots instead, float64[B, S0 * S1]; SettingError for a network that is not
    an MLP with matchups.
    """
    refuse_broken(network)
    answer = torch_answer(network) if network.shape.kind == "gelu" else MlpAnswer(network)
    return values_of(JoiningEvaluator(answer), policies, pairs)


def values_of(evaluator: Evaluator, policies: bool = False, pairs: bool = False) -> Evaluator:
    """The evaluator of the same network for values, and policies if wanted; an evaluator of another kind as it is.

    pairs: as of `value_evaluator`; SettingError, too, for a network on a GPU.
    """
    if isinstance(evaluator, Timed):
        return Timed(values_of(evaluator.evaluator, policies, pairs), evaluator.clock)
    if isinstance(evaluator, Droppable):
        return Droppable(values_of(evaluator.evaluator, policies, pairs), evaluator.over)
    if pairs and isinstance(evaluator, TorchEvaluator) and _is_pairing(evaluator):
        evaluator = JoiningEvaluator(MlpAnswer(evaluator.network))
    answer: Answer | None = evaluator.answer if isinstance(evaluator, JoiningEvaluator) else None
    whole = isinstance(evaluator, JoiningEvaluator | TorchEvaluator) and not isinstance(answer, _OF_VALUES)
    if pairs and whole and not (isinstance(answer, MlpAnswer) and answer.shape.matchups):
        raise SettingError("only a network with matchups gives values by pair of infostates, as CFR-AVE needs them")
    if not isinstance(answer, MlpAnswer) or (policies and not pairs):
        return evaluator
    return JoiningEvaluator(MatchupAnswer(answer, policies) if pairs else ValueAnswer(answer))


def _is_pairing(evaluator: TorchEvaluator) -> bool:
    """Whether it evaluates an MLP with matchups on the CPU, as it does the wide ones."""
    shape = evaluator.network.shape
    return shape.kind == "mlp" and shape.matchups and evaluator.device.type == "cpu"


class ValueAnswer:
    """An MLP's values by its kernel, whose bits do not depend on what is batched together; all logits are 0."""

    def __init__(self, whole: MlpAnswer) -> None:
        self.whole, self.shape = whole, whole.shape
        self.no_logits: Float64 = np.zeros((0, *whole.shape.answered))

    def __call__(self, beliefs: Beliefs) -> Evaluations:
        values = self.whole(beliefs._replace(wanted=Wanted.VALUES)).values
        # One array for all answers, since NumPy is slow to broadcast.
        if len(values) > len(self.no_logits):
            self.no_logits = np.broadcast_to(0.0, (2 * len(values), *self.shape.answered))
        return Evaluations(values, self.no_logits[: len(values)])


class MatchupAnswer:
    """An MLP's matchup matrices in place of values, by PyTorch, with the weights that an MlpAnswer holds."""

    def __init__(self, whole: MlpAnswer, policies: bool) -> None:
        """policies: answer with logits, too; otherwise they are 0."""
        shape = whole.shape
        self.whole, self.shape, self.policies = whole, shape, policies
        self.entries = shape.slots[0] * shape.slots[1]
        self.layers: list[tuple[Tensor, Tensor]] = []
        at = 0
        for width, out in zip(whole.mlp.widths[:-1], whole.mlp.widths[1:], strict=True):
            block = torch.from_numpy(whole.mlp.weights[at : at + out * (1 + width)].reshape(1 + width, out))
            at += int(out * (1 + width))
            self.layers.append((block[0].clone(), block[1:].clone()))
        bias, matrix = self.layers[-1]
        kept = self.entries + shape.num_logits * policies
        # To whole registers again; what is beyond the wanted columns is left out below.
        kept += -kept % dense.LANES
        self.layers[-1] = bias[:kept].contiguous(), matrix[:, :kept].contiguous()
        self.x = torch.zeros(0, int(whole.mlp.widths[0]))

    def __call__(self, beliefs: Beliefs) -> Evaluations:
        out = self._outputs(beliefs)
        values = np.multiply(out[:, : self.entries], beliefs.value_units()[:, None], dtype=np.float64)
        if not self.policies:
            return Evaluations(values, np.broadcast_to(0.0, (len(out), *self.shape.answered)))
        logits = out[:, self.entries : self.entries + self.shape.num_logits]
        return Evaluations(values, actors_logits(self.shape, beliefs, logits.astype(np.float64)))

    def _outputs(self, beliefs: Beliefs) -> Float32:
        """float32[B, *]: the head's matrices, then as many of its other outputs as fill a vector."""
        count = len(beliefs.nodes)
        if count > len(self.x):
            self.x = torch.zeros(2 * count, self.x.shape[1])
        x = self.x[:count]
        features = beliefs.public.features(beliefs.nodes)
        dense.encode(features, beliefs.ranges, self.shape.slots[0], self.whole.mlp.crossed, x.numpy())
        with torch.inference_mode():
            for k, (bias, matrix) in enumerate(self.layers):
                x = torch.addmm(bias, x, matrix)
                if k < len(self.layers) - 1:
                    x = x.relu_()
        out: Float32 = x.numpy()
        return out


_OF_VALUES: Final = (ValueAnswer, MatchupAnswer)
