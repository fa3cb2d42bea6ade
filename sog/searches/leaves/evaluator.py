"""The evaluator protocol: the beliefs at a search's leaves and their evaluations.

A belief is a public state with both players' ranges. Ranges, values and logits are laid out by network
slot: player 0's slots first, then player 1's (`Game.num_slots`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from enum import Enum
from typing import Final, NamedTuple, Protocol

import numpy as np

from sog.arrays import Float64, Int32
from sog.errors import SettingError
from sog.searches.kernels.spans import are_finite
from sog.searches.tree.public_tree import PublicTree


class Wanted(Enum):
    """Which part of the evaluations is read; an evaluator may leave out the other."""

    BOTH = 0
    VALUES = 1
    POLICIES = 2


# Looked up once: `in_shape` runs once a simulation.
_VALUES, _POLICIES = Wanted.VALUES, Wanted.POLICIES
_FLOAT64: Final = np.dtype(np.float64)
_REAL: Final = "fiub"  # kinds of NumPy's numbers: floating-point, whole with and without sign, truth values


class Beliefs(NamedTuple):
    """A batch of public belief states.

    nodes: int32[B], nodes of `public`.  ranges: float64[B, S0 + S1], each player's range summing to 1.
    """

    public: PublicTree
    nodes: Int32
    ranges: Float64
    wanted: Wanted = Wanted.BOTH

    def value_units(self) -> Float64:
        """float64[B]: the utility that a network value of 1 means at each belief's public state."""
        return self.public.value_units(self.nodes)

    def above_baseline(self, values: Float64) -> Float64:
        """A network's values, float64[B, S0 + S1] in utilities, with the game's baseline where it has one."""
        public = self.public
        if not public.game.has_baseline:
            return values
        baseline = public.game.baseline([public.states[s] for s in self.nodes.tolist()], self.ranges)
        return values if baseline is None else values + baseline * self.value_units()[:, None]


class Evaluations(NamedTuple):
    """The values and policy logits of a batch of beliefs.

    values: float64[B, S0 + S1], utilities, conditional on the infostate.
    logits: float64[B, S, A], the actor's prior policy by slot and action identity, S = max(S0, S1). Where the game
    names its legal pairs, float64[B, 1, P] by pair instead, if the evaluator has these alone.
    What is left out has no rows.
    """

    values: Float64
    logits: Float64


def checked(answers: Evaluations, beliefs: Beliefs) -> Evaluations:
    """The evaluations as `in_shape` gives them; SettingError, too, as of `refuse_infinite`."""
    answers = in_shape(answers, beliefs)
    if beliefs.wanted is not _POLICIES:
        refuse_infinite("values", answers.values)
    if beliefs.wanted is not _VALUES:
        refuse_infinite("logits", answers.logits)
    return answers


def in_shape(answers: Evaluations, beliefs: Beliefs) -> Evaluations:
    """The same evaluations in arrays of one type, for kernels whose types are looked at once (kernels/dispatch.py).

    SettingError where they are not of the shapes that these beliefs ask for, since kernels would read past their ends.
    """
    # Once a simulation, so written out for both parts. A part that was not wanted may have any shape: nobody reads it.
    game, count, wanted = beliefs.public.game, len(beliefs.nodes), beliefs.wanted
    zero, one = game.num_slots
    values, logits = answers
    if not (type(values) is type(logits) is np.ndarray):
        answers = values, logits = Evaluations(_array("values", values), _array("logits", logits))
    if wanted is not _POLICIES and values.shape != (count, zero + one):
        raise _misshapen("values", values, (count, zero + one))
    if wanted is not _VALUES and logits.shape != (count, zero if zero > one else one, game.num_actions):
        pairs = game.legal_pairs
        if pairs is None or logits.shape != (count, 1, len(pairs)):
            raise _misshapen("logits", logits, (count, max(zero, one), game.num_actions))
    # NumPy has one object for the type of this machine's float64.
    plain = values.dtype is logits.dtype is _FLOAT64
    if plain and values.flags.carray and logits.flags.carray:
        return answers
    kinds = values.dtype.kind + logits.dtype.kind
    if not set(kinds) <= set(_REAL):
        raise SettingError(f"an evaluator answers arrays of real numbers, not {values.dtype} and {logits.dtype}")
    return Evaluations(*(np.array(part, dtype=np.float64, order="C") for part in answers))


def _array(name: str, part: object) -> Float64:
    """An array, also of a class of NumPy's derived from it; SettingError for anything else."""
    if not isinstance(part, np.ndarray):
        raise SettingError(f"an evaluator answered {name} that are no NumPy array, but {type(part).__name__}")
    return part


def _misshapen(name: str, part: Float64, shape: tuple[int, ...]) -> SettingError:
    return SettingError(f"an evaluator answered {name} of shape {part.shape}, not {shape}")


def refuse_infinite(name: str, numbers: Float64) -> None:
    """SettingError where an evaluator's values or logits are NaN, infinite, or so large that their squares are."""
    # NumPy's products of long rows would wake BLAS's threads, which cost more than the check.
    if not are_finite(np.ascontiguousarray(numbers, dtype=np.float64).reshape(-1)):
        raise _infinite(name)


def infinite(answers: Evaluations) -> SettingError:
    """The error for evaluations that a kernel refused: it names the values, or the logits if the values are finite."""
    refuse_infinite("values", answers.values)
    return _infinite("logits")


def _infinite(name: str) -> SettingError:
    return SettingError(f"an evaluator answered {name} that are not finite; a network's weights may be broken")


def ask(evaluator: Evaluator, requests: Sequence[Beliefs]) -> list[Evaluations]:
    """An evaluator's answers; SettingError where they are not one Evaluations for each request."""
    answers: object = evaluator(requests)
    # The common case first: this is once a simulation.
    if type(answers) is list and len(answers) == 1 == len(requests) and type(answers[0]) is Evaluations:
        return answers
    kind = type(answers).__name__
    if isinstance(answers, list):
        for answer in answers:
            if not isinstance(answer, Evaluations):
                kind = f"a list with {type(answer).__name__}"
                break
        else:
            if len(answers) != len(requests):
                raise SettingError(f"an evaluator answered {len(answers)} of {len(requests)} requests")
            return answers
    raise SettingError(f"an evaluator answers a list of Beliefs with a list of Evaluations, not {kind}")


# A search as it is driven: it yields the beliefs at its leaves and is sent their evaluations.
SearchGenerator = Generator[Beliefs, Evaluations, None]


class Evaluator(Protocol):
    """Evaluates beliefs of several searches at once, in order."""

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]: ...


class Clock:
    """Seconds spent so far, which several evaluators may add to."""

    seconds = 0.0


class Timed:
    """Another evaluator's answers; what they take is added to a clock."""

    def __init__(self, evaluator: Evaluator, clock: Clock) -> None:
        self.evaluator, self.clock = evaluator, clock

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        started = time.perf_counter()
        answers = self.evaluator(requests)
        self.clock.seconds += time.perf_counter() - started
        return answers


class Dropped(BaseException):
    """The current work is dropped, and none of it counts. Not an Exception, so that no handler of errors catches it."""


class Droppable:
    """Another evaluator's answers until `over` is true; then it raises Dropped, which ends the searches that ask.

    rows: the most beliefs that are answered at once, in parts between which `over` is asked; 0: no limit.
    """

    def __init__(self, evaluator: Evaluator, over: Callable[[], bool], rows: int = 0) -> None:
        self.evaluator, self.over, self.rows = evaluator, over, rows

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        if self.rows and max(len(beliefs.nodes) for beliefs in requests) > self.rows:
            return [self._in_parts(beliefs) for beliefs in requests]
        return self._answered(requests)

    def _answered(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        if self.over():
            raise Dropped
        return self.evaluator(requests)

    def _in_parts(self, beliefs: Beliefs) -> Evaluations:
        firsts = range(0, len(beliefs.nodes), self.rows)
        parts = [slice(first, first + self.rows) for first in firsts]
        pieces = [beliefs._replace(nodes=beliefs.nodes[at], ranges=beliefs.ranges[at]) for at in parts]
        answers = [self._answered([piece])[0] for piece in pieces]
        return Evaluations(*(np.concatenate(columns) for columns in zip(*answers, strict=True)))


def drop_if_over(evaluator: Evaluator) -> None:
    """Raise Dropped where the current work is over: for long work that asks an evaluator nothing."""
    while isinstance(evaluator, Timed):
        evaluator = evaluator.evaluator
    if isinstance(evaluator, Droppable) and evaluator.over():
        raise Dropped


def zero_evaluator(requests: Sequence[Beliefs]) -> list[Evaluations]:
    """Every value 0 and every prior uniform: used in place of an untrained network."""
    return [zero_answer(beliefs) for beliefs in requests]


def zero_answer(beliefs: Beliefs) -> Evaluations:
    """Zero values and logits of the right shapes."""
    game, count = beliefs.public.game, len(beliefs.nodes)
    return Evaluations(np.zeros((count, sum(game.num_slots))), np.zeros((count, max(game.num_slots), game.num_actions)))
