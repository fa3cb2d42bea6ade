"""A network evaluated for values alone, in large batches: without its policy head, its matrices multiplied by PyTorch.

For solvers that need no priors and evaluate many leaves at once.
"""

from __future__ import annotations

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
from sog.searches.leaves.pairing import expectations, pairing_of

# Smaller batches go through the Numba kernels, whose answers do not depend on what they are batched with.
LARGE = 96


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
    whole = isinstance(evaluator, JoiningEvaluator | TorchEvaluator) and not isinstance(answer, ValueAnswer)
    if pairs and whole and not (isinstance(answer, MlpAnswer) and answer.shape.matchups):
        raise SettingError("only a network with matchups gives values by pair of infostates, as CFR-AVE needs them")
    if not isinstance(answer, MlpAnswer):
        return evaluator
    return JoiningEvaluator(ValueAnswer(answer, pairs=pairs, policies=policies))


def _is_pairing(evaluator: TorchEvaluator) -> bool:
    """Whether it evaluates an MLP with matchups on the CPU, as it does the wide ones."""
    shape = evaluator.network.shape
    return shape.kind == "mlp" and shape.matchups and evaluator.device.type == "cpu"


class ValueAnswer:
    """An MLP's values, or its matchup matrices, with the weights that an MlpAnswer holds."""

    def __init__(self, whole: MlpAnswer, pairs: bool = False, policies: bool = False) -> None:
        """pairs: answer with matchup matrices in place of values.  policies: answer with logits, too."""
        shape = whole.shape
        self.whole, self.shape, self.pairs, self.policies = whole, shape, pairs, policies
        self.value_width = shape.slots[0] * shape.slots[1] if shape.matchups else shape.num_values
        self.layers: list[tuple[Tensor, Tensor]] = []
        at = 0
        for width, out in zip(whole.mlp.widths[:-1], whole.mlp.widths[1:], strict=True):
            block = torch.from_numpy(whole.mlp.weights[at : at + out * (1 + width)].reshape(1 + width, out))
            at += int(out * (1 + width))
            self.layers.append((block[0].clone(), block[1:].clone()))
        bias, matrix = self.layers[-1]
        kept = self.value_width + shape.num_logits * policies
        # To whole registers again; what is beyond the wanted columns is left out below.
        kept += -kept % dense.LANES
        self.layers[-1] = bias[:kept].contiguous(), matrix[:, :kept].contiguous()
        self.x = torch.zeros(0, int(whole.mlp.widths[0]))
        self.no_logits: Float64 = np.zeros((0, *shape.answered))

    def __call__(self, beliefs: Beliefs) -> Evaluations:
        # Few rows: the kernel, whose bits do not depend on what is batched together.
        if len(beliefs.nodes) < LARGE and not self.pairs:
            if self.policies:
                return self.whole(beliefs)
            return self._without_logits(self.whole(beliefs._replace(wanted=Wanted.VALUES)).values)
        out = self._outputs(beliefs)
        if self.shape.matchups and not self.pairs:
            values = self._expected(beliefs, out)
        else:
            values = np.multiply(out[:, : self.value_width], beliefs.value_units()[:, None], dtype=np.float64)
        if not self.policies:
            return self._without_logits(values)
        logits = out[:, self.value_width : self.value_width + self.shape.num_logits]
        return Evaluations(values, actors_logits(self.shape, beliefs, logits.astype(np.float64)))

    def _without_logits(self, values: Float64) -> Evaluations:
        # One array for all answers, since NumPy is slow to broadcast.
        if len(values) > len(self.no_logits):
            self.no_logits = np.broadcast_to(0.0, (2 * len(values), *self.shape.answered))
        return Evaluations(values, self.no_logits[: len(values)])

    def _outputs(self, beliefs: Beliefs) -> Float32:
        """float32[B, *]: the head's values or matrices, then as many of its other outputs as fill a vector."""
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

    def _expected(self, beliefs: Beliefs, out: Float32) -> Float64:
        """float64[B, S0 + S1]: both players' expectations of the matchup matrices."""
        pairing, values = pairing_of(beliefs.public), np.empty((len(out), self.shape.num_values))
        slots0, mass = self.shape.slots[0], self.whole.mlp.mass
        expectations(pairing, beliefs.nodes, beliefs.ranges, slots0, out, mass, values)
        return values
