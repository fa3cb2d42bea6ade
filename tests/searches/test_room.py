"""Room in a lookahead's arrays: a search's tables grow once, and their growth changes no bit of what is found."""

from __future__ import annotations

import tracemalloc
import weakref
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sog.games.base import Game
from sog.games.catalog import make_game
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.leduc.game import Leduc
from sog.games.rules.liars_dice import LiarsDice
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.search import search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations, Evaluator, Wanted, zero_answer, zero_evaluator
from sog.searches.tree import room
from sog.searches.tree.arrays import Room, Tree
from sog.searches.tree.public_tree import PublicTree

TURN = "holdem(board=turn,pot=2000,stacks=20000,bets=0.5;1;allin,raises=0.75;allin,seed=1)"
GLASSES = "scotland_yard(map=glasses)"
GAMES = (Leduc(), Goofspiel(3, "random"), LiarsDice(1, 3), make_game("tic_tac_toe"), make_game(GLASSES))


def searched(game: Game, budget: Budget, first: int | Room = 64, evaluator: Evaluator = zero_evaluator) -> Lookahead:
    public, rng = PublicTree(game), np.ones(1, dtype=np.uint64)
    tree = Lookahead(public, 0, game.root_ranges(), first)
    run(search(tree, 0, budget, SearchSettings(), rng), evaluator)
    tree.update_average_policy()
    return tree


def sizes(tree: Lookahead) -> tuple[int, int, int, int]:
    return len(tree.nodes), len(tree.child), tree.infostates.shape[1], tree.entries.shape[1]


@pytest.fixture
def growths(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each table has been replaced by a longer one."""
    found, lengthened = Counter[str](), room.lengthened

    def counting(tree: Tree, name: str, used: int, need: int) -> Tree:
        found[name] += 1
        return lengthened(tree, name, used, need)

    monkeypatch.setattr(room, "lengthened", counting)
    return found


@pytest.mark.parametrize(
    ("name", "budget", "times"),
    [
        ("leduc_poker", Budget(100), 1),
        ("leduc_poker", Budget(1_000, 10), 1),
        ("connect_four", Budget(400), 1),
        ("connect_four", Budget(400, 10), 1),
        ("liars_dice(numdice=1)", Budget(100), 1),
        (GLASSES, Budget(100), 1),
        (TURN, Budget(60, 10), 2),  # chance's first fan of 48 comes late
    ],
    ids=str,
)
def test_the_tables_of_a_search_grow_once(name: str, budget: Budget, times: int, growths: Counter[str]) -> None:
    tree = searched(make_game(name), budget)
    assert tree.size > 64 and max(growths.values()) == times


def test_a_small_search_and_a_whole_tree_never_grow(growths: Counter[str]) -> None:
    tree = searched(Leduc(), Budget(10))
    assert sizes(tree) == (64, 64, 64 * 12, 3 * 64 * 12)  # nor have they more room than before
    whole = exact.full_tree(PublicTree(Leduc()).list_all())
    used = whole.counts.tolist()
    assert sizes(whole) == (used[0], used[3], used[1], used[2]) and not growths


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(GAMES), st.integers(1, 9), st.sampled_from([Budget(40), Budget(40, 7), Budget(12, 0.5)]))
def test_growth_changes_no_bit(game: Game, first: int, budget: Budget) -> None:
    """The smallest first rooms, which grow many times, beside one that never grows."""
    many, never = searched(game, budget, first), searched(game, budget, 3_000)
    used = never.counts.tolist()
    assert sizes(never)[0] == 3_000 and many.counts.tolist() == used
    for name, count in (("nodes", used[0]), ("child", used[3]), ("ends", used[4])):
        assert getattr(many, name)[:count].tobytes() == getattr(never, name)[:count].tobytes()
    for name, count in (("infostates", used[1]), ("entries", used[2])):
        assert getattr(many, name)[:, :count].tobytes() == getattr(never, name)[:, :count].tobytes()


def test_one_table_at_a_time_is_in_memory_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Lookahead(PublicTree(Leduc()), 0, Leduc().root_ranges(), Room(*[400] * 4))
    replaced, lengthened = list[weakref.ref[np.ndarray[Any, Any]]](), room.lengthened

    def watched(arrays: Tree, name: str, used: int, need: int) -> Tree:
        assert all(old() is None for old in replaced)
        replaced.append(weakref.ref(getattr(arrays, name)))
        return lengthened(arrays, name, used, need)

    monkeypatch.setattr(room, "lengthened", watched)
    tree.reserve(Room(*[40_000] * 4))
    assert len(replaced) == 4 and min(sizes(tree)) >= 40_000


def test_tables_of_a_megabyte_grow_by_a_quarter_and_smaller_ones_double() -> None:
    tree = Lookahead(PublicTree(Leduc()), 0, Leduc().root_ranges(), Room(1_000, 1_000, 1_000, 40_000))
    tree.reserve(Room(1_000, 0, 0, 40_000 - int(tree.counts.entries) + 1))
    assert sizes(tree) == (2_000, 1_000, 1_000, 50_000) and len(tree.ends) == 2_000


def what_is_wanted(requests: Sequence[Beliefs]) -> list[Evaluations]:
    """Zeros, and only the part that is read: policies of all leaves of hold'em would be larger than the tables."""
    return [
        Evaluations(np.zeros(beliefs.ranges.shape), np.zeros((0, 1, 1)))
        if beliefs.wanted is Wanted.VALUES
        else zero_answer(beliefs)
        for beliefs in requests
    ]


def test_a_search_holds_little_more_than_its_tables() -> None:
    """The most that is allocated at once: an old table beside the new ones, beliefs, answers, and the public tree."""
    game, budget = make_game(TURN), Budget(60, 10)
    searched(game, budget, evaluator=what_is_wanted)  # compiles
    tracemalloc.start()
    tree = searched(game, budget, evaluator=what_is_wanted)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    tables = sum(getattr(tree.arrays, name).nbytes for name in Tree._fields)
    assert tree.num_bytes < tables < 1.5 * tree.num_bytes and most < 1.6 * tables
