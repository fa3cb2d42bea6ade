"""A network evaluated for values alone, for solvers that need no priors: by player, or by pair of infostates."""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError
from sog.nets.cpu import dense
from sog.nets.inference import (
    Answer,
    JoiningEvaluator,
    MlpAnswer,
    RowsEvaluator,
    actors_logits,
    network_evaluator,
)
from sog.nets.network import Network, refuse_broken
from sog.searches.leaves.evaluator import Beliefs, Droppable, Evaluations, Evaluator, Timed, Wanted


def value_evaluator(network: Network, policies: bool = False, pairs: bool = False) -> Evaluator:
    """Values of a network on the CPU; its logits mean nothing unless `policies`.

    One over hands or with GELU answers with both. SettingError for a resnet, CheckpointError for a broken weight.
    pairs: player 0's utilities by pair of slots instead, float64[B, S0 * S1]; SettingError for a network that is not
    an MLP with matchups.
    """
    if network.shape.kind in ("hands", "gelu"):
        return values_of(network_evaluator(network), policies, pairs)
    refuse_broken(network)
    return values_of(JoiningEvaluator(MlpAnswer(network)), policies, pairs)


def values_of(evaluator: Evaluator, policies: bool = False, pairs: bool = False) -> Evaluator:
    """The evaluator of the same network for values, and policies if wanted; an evaluator of another kind as it is.

    pairs: as of `value_evaluator`; SettingError, too, for a network on a GPU.
    """
    if isinstance(evaluator, Timed):
        return Timed(values_of(evaluator.evaluator, policies, pairs), evaluator.clock)
    if isinstance(evaluator, Droppable):
        return Droppable(values_of(evaluator.evaluator, policies, pairs), evaluator.over, evaluator.rows)
    answer: Answer | None = evaluator.answer if isinstance(evaluator, JoiningEvaluator) else None
    whole = isinstance(evaluator, JoiningEvaluator | RowsEvaluator) and not isinstance(answer, _OF_VALUES)
    if pairs and whole and not (isinstance(answer, MlpAnswer) and answer.shape.matchups):
        raise SettingError("only a network with matchups gives values by pair of infostates, as CFR-AVE needs them")
    if not isinstance(answer, MlpAnswer) or (policies and not pairs):
        return evaluator
    return JoiningEvaluator(MatchupAnswer(answer, policies) if pairs else ValueAnswer(answer))


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
    """An MLP's matchup matrices in place of values, by its kernel."""

    def __init__(self, whole: MlpAnswer, policies: bool) -> None:
        """policies: answer with logits, too; otherwise they are 0."""
        self.whole, self.shape, self.policies = whole, whole.shape, policies
        self.entries = self.shape.slots[0] * self.shape.slots[1]
        part = dense.Mlp(*whole.part(Wanted.BOTH if policies else Wanted.VALUES))
        # Without the matrices' expectations the kernel answers with the matrices.
        self.plain = tuple(part._replace(matchups=False))

    def __call__(self, beliefs: Beliefs) -> Evaluations:
        count = len(beliefs.nodes)
        values, logits = np.empty((count, self.entries)), np.empty((count, self.shape.num_logits * self.policies))
        self.whole.evaluate(self.plain, beliefs, values, logits)
        if not self.policies:
            return Evaluations(values, np.broadcast_to(0.0, (count, *self.shape.answered)))
        return Evaluations(values, actors_logits(self.shape, beliefs, logits))


_OF_VALUES: Final = (ValueAnswer, MatchupAnswer)
