"""Evaluators for measuring: they time or count what another one does, or answer the same always, without work."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

from sog.arrays import Float64
from sog.searches.leaves.evaluator import Beliefs, Evaluations, Evaluator


class TimedEvaluator:
    """An evaluator that adds up the processor seconds spent in it, the making of its inputs included."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.seconds = evaluator, 0.0

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        started = process_time()
        answers = self.evaluator(requests)
        self.seconds += process_time() - started
        return answers


class CountingEvaluator:
    """Another evaluator's answers.  beliefs: how many it evaluated."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.beliefs = evaluator, 0

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        self.beliefs += sum(len(request.nodes) for request in requests)
        return self.evaluator(requests)


class SameAnswers:
    """The first of the same rows for every request, without work.

    values: float64[N, I0 + I1] and logits: float64[N, I, A], of which N leaves are the most that a request may have.
    """

    def __init__(self, values: Float64, logits: Float64) -> None:
        self.answers = [Evaluations(values[:count], logits[:count]) for count in range(len(values) + 1)]

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        return [self.answers[len(beliefs.nodes)] for beliefs in requests]
