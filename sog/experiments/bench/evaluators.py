"""Evaluators around another one that say what it was asked for: the processor time that it took, or the beliefs."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

from sog.search.leaves.evaluator import Beliefs, Evaluations, Evaluator


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
