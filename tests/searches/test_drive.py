"""The driver: one joined call at a time, lazily read searches, and nobody's result depends on its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest

from sog.arrays import Array
from sog.errors import SettingError
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.leduc.game import Leduc
from sog.play.resolver import derive_generator
from sog.searches.cfr.exact import ExactEvaluator
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.search import search
from sog.searches.gtcfr.settings import PAPER, Budget, SearchSettings
from sog.searches.leaves.drive import drive, drive_with_followers, run
from sog.searches.leaves.evaluator import (
    Beliefs,
    Droppable,
    Dropped,
    Evaluations,
    Evaluator,
    SearchGenerator,
    zero_answer,
    zero_evaluator,
)
from sog.searches.tree.public_tree import PublicTree

LEDUC = PublicTree(Leduc()).list_all()
GOOFSPIEL = PublicTree(Goofspiel(3, "random")).list_all()
BELIEFS = Beliefs(LEDUC, np.zeros(1, dtype=np.int32), np.full((1, 12), 1 / 6))


@dataclass(eq=False)
class Asking:
    """A job that asks so many times the same thing."""

    name: str
    count: int
    heard: list[Evaluations] = field(default_factory=list)

    def steps(self) -> SearchGenerator:
        for _ in range(self.count):
            self.heard.append((yield BELIEFS))


def names(jobs: Iterable[Asking]) -> list[str]:
    return [job.name for job in jobs]


class Counter:
    """Remembers how many searches each call joined."""

    def __init__(self) -> None:
        self.joined: list[int] = []

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        self.joined.append(len(requests))
        return zero_evaluator(requests)


def test_searches_side_by_side_share_each_call() -> None:
    counter = Counter()
    finished = drive([Asking(name, len(name)) for name in ("aaa", "b", "cc", "dd")], counter, width=2)
    assert names(finished) == ["b", "aaa", "cc", "dd"]
    assert counter.joined == [2, 2, 2, 1, 1]  # aaa with b and twice with cc, then dd alone


def test_a_search_that_asks_nothing_is_finished_at_once() -> None:
    counter = Counter()
    assert names(drive([Asking("a", 0), Asking("b", 1), Asking("c", 0)], counter)) == ["a", "c", "b"]
    assert counter.joined == [1]
    assert list(drive([], counter)) == []


def test_everyone_hears_its_own_answer() -> None:
    jobs = [Asking("", count) for count in (1, 2, 3)]
    given: list[Evaluations] = []

    def evaluator(requests: Sequence[Beliefs]) -> list[Evaluations]:
        answers = [zero_answer(beliefs) for beliefs in requests]
        given.extend(answers)
        return answers

    list(drive(jobs, evaluator))
    heard = [job.heard for job in jobs]
    assert [len(own) for own in heard] == [1, 2, 3]
    assert heard[0] == [given[0]] and heard[1] == [given[1], given[3]] and heard[2] == [given[2], given[4], given[5]]


def test_searches_are_read_when_there_is_room() -> None:
    """A search may depend on one that the caller has seen finish."""
    finished: list[str] = []

    def source() -> Iterator[Asking]:
        for k in range(5):
            assert len(finished) >= k - 1  # with a width of 2, all but one of the earlier ones are done
            yield Asking(str(k), 2)

    for job in drive(source(), Counter(), width=2):
        assert job.name not in finished
        finished.append(job.name)
    assert sorted(finished) == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("width", [1, 2, 64])
def test_followers_come_before_further_jobs_and_none_is_lost(width: int) -> None:
    """Every job of one letter leaves two of two letters, and one of these leaves one of three; the last ones, too."""
    begun: list[str] = []

    def make(name: str) -> Asking:
        begun.append(name)
        return Asking(name, 2)

    def followers(job: Asking) -> list[Callable[[], Asking]]:
        further = {1: "xy", 2: "z" if job.name.endswith("y") else ""}
        return [partial(make, job.name + letter) for letter in further.get(len(job.name), "")]

    found = names(drive_with_followers((make(name) for name in "abc"), followers, Counter(), width))
    assert sorted(found) == sorted(begun) == ["a", "ax", "ay", "ayz", "b", "bx", "by", "byz", "c", "cx", "cy", "cyz"]
    if width == 1:
        assert begun == ["a", "ay", "ayz", "ax", "b", "by", "byz", "bx", "c", "cy", "cyz", "cx"]


def test_too_few_answers_are_an_error() -> None:
    with pytest.raises(SettingError, match="answered 1 of 2 requests"):
        list(drive([Asking("a", 1), Asking("b", 1)], lambda requests: zero_evaluator(requests[:1])))


# --- neighbours ---


@dataclass(frozen=True, eq=False)
class Searching:
    """A search of a tree from its root."""

    tree: Lookahead
    budget: Budget
    settings: SearchSettings
    rng: Array

    def steps(self) -> SearchGenerator:
        return search(self.tree, 0, self.budget, self.settings, self.rng)


def searches(count: int) -> list[Searching]:
    """Searches at different nodes of two games, with different ranges, budgets, rules and seeds."""
    out = []
    for k in range(count):
        public = (LEDUC, GOOFSPIEL)[k % 2]
        nodes = [n for n in public.decisions() if n > 0]
        node = nodes[7 * k % len(nodes)]
        rng = np.random.default_rng(k)
        i0, i1 = public.num_infostates(node)
        ranges = (rng.random(i0), rng.random(i1))
        tree = Lookahead(public, node, ranges)
        settings = (SearchSettings(), PAPER)[k % 3 == 0]
        out.append(Searching(tree, Budget(3 + k, (1.0, 0.3)[k % 2]), settings, derive_generator(k, 0, node)))
    return out


@pytest.mark.parametrize("leaves", ["zero", "exact"])
def test_a_result_does_not_depend_on_neighbours(leaves: str) -> None:
    """To the bit, with evaluators that answer each belief by itself."""

    def evaluator() -> Evaluator:
        return zero_evaluator if leaves == "zero" else ExactEvaluator(10)

    alone = []
    for job in searches(8):
        run(job, evaluator())
        alone.append(job.tree)
    for width in (1, 3, 64):
        together = searches(8)
        assert len(list(drive(together, evaluator(), width))) == 8
        for tree, expected in zip((job.tree for job in together), alone, strict=True):
            used = expected.counts
            assert tree.counts == used
            for table, count in (("infostates", used.infostates), ("entries", used.entries)):
                assert getattr(tree, table)[:, :count].tobytes() == getattr(expected, table)[:, :count].tobytes()


def test_a_long_question_is_answered_in_parts_between_which_it_can_end() -> None:
    asked: list[int] = []

    def by_range(requests: Sequence[Beliefs]) -> list[Evaluations]:
        asked.extend(len(beliefs.nodes) for beliefs in requests)
        return [Evaluations(2.0 * beliefs.ranges, beliefs.ranges[:, None, :]) for beliefs in requests]

    ranges = np.random.default_rng(0).random((7, sum(LEDUC.game.num_slots)))
    beliefs = Beliefs(LEDUC, np.zeros(7, dtype=np.int32), ranges)
    (whole,) = by_range([beliefs])
    asked.clear()
    parts = Droppable(by_range, lambda: False, rows=3)([beliefs, beliefs])
    assert asked == [3, 3, 1] * 2
    for part in parts:
        np.testing.assert_array_equal(part.values, whole.values)
        np.testing.assert_array_equal(part.logits, whole.logits)
    asked.clear()
    with pytest.raises(Dropped):
        Droppable(by_range, lambda: len(asked) == 2, rows=3)([beliefs])
    assert asked == [3, 3]
    asked.clear()
    Droppable(by_range, lambda: False)([beliefs])
    assert asked == [7]
