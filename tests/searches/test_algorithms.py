"""Every solver by name: what runs, what simultaneous means, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from sog.errors import SettingError
from sog.games.rules.kuhn import Kuhn
from sog.searches.cfr import exact
from sog.searches.cfr.algorithms import NAMES, named
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry

KUHN = PublicTree(Kuhn()).list_all()
IN_TURN = ("cfr", "cfr+", "lcfr", "dcfr", "pcfr+", "fp", "linear-fp", "flop")
SAMPLING = ("external-mccfr", "outcome-mccfr")


def run(name: str, simultaneous: bool = False, seed: int = 0) -> Lookahead:
    tree = exact.full_tree(KUHN)
    named(name, simultaneous, seed).iterate(tree, 2_000)
    tree.update_average_policy()
    return tree


def test_the_names() -> None:
    assert (*IN_TURN[:5], "sog", *IN_TURN[5:], *SAMPLING) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_all_leave_the_same_kind_of_result(name: str) -> None:
    tree = run(name)
    assert named(name).name == name
    assert tree.iterations == 2_000
    assert exact.measure(tree).exploitability < 0.1
    for table in exact.policy_of(tree).values():
        np.testing.assert_allclose(table.sum(axis=0), 1.0)


@pytest.mark.parametrize("name", [*IN_TURN, "sog"])
def test_simultaneous_forms_are_others_than_those_in_turn(name: str) -> None:
    assert named(name, simultaneous=True).name == f"simultaneous {name}"
    in_turn, at_once = run(name), run(name, simultaneous=True)
    assert exact.measure(at_once).exploitability < 0.1
    assert (in_turn.entries[Entry.AVERAGE_POLICY] == at_once.entries[Entry.AVERAGE_POLICY]).all() == (name == "sog")


@pytest.mark.parametrize("name", SAMPLING)
def test_seeds_decide_what_is_drawn(name: str) -> None:
    first, again, other = run(name), run(name), run(name, seed=1)
    np.testing.assert_array_equal(first.entries[Entry.AVERAGE_POLICY], again.entries[Entry.AVERAGE_POLICY])
    assert (first.entries[Entry.AVERAGE_POLICY] != other.entries[Entry.AVERAGE_POLICY]).any()


def test_what_is_refused() -> None:
    with pytest.raises(SettingError, match="known: cfr, "):
        named("bfs")
    for name in SAMPLING:
        with pytest.raises(SettingError, match="no simultaneous form"):
            named(name, simultaneous=True)
