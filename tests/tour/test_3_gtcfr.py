"""Tour, 3 of 6. Growing-tree CFR: a search whose tree grows where its simulations lead, with values at its leaves.

Next: test_4_resolving.py. The search is sog/searches/gtcfr/search.py, PoG's Algorithm 1.
"""

from __future__ import annotations

import numpy as np
import pytest

import sog
from sog.searches.leaves.evaluator import zero_evaluator

LEDUC = sog.make_game("leduc_poker")


def test_a_budget_is_expansions_and_updates() -> None:
    """(100, 1): one regret update an expansion. (100, 0.1): ten updates each. (100, 10): ten expansions an update."""
    assert [sog.Budget(100, c).updates for c in (1.0, 0.1, 10.0)] == [1, 10, 1]
    assert [sog.Budget(100, c).expansions for c in (1.0, 0.1, 10.0)] == [1, 1, 10]


def test_the_tree_grows_with_the_budget() -> None:
    sizes = [sog.search(LEDUC, sog.Budget(s)).states for s in (2, 10, 100)]
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1]


def test_an_evaluator_values_the_leaves() -> None:
    """It is asked with beliefs, a public state and both ranges, and answers with a value for each infostate."""
    asked = []

    def watched(requests):  # type: ignore[no-untyped-def]
        asked.extend(requests)
        return zero_evaluator(requests)

    sog.search(LEDUC, sog.Budget(10), watched)
    ranges = np.concatenate([beliefs.ranges for beliefs in asked])
    assert len(ranges) > 10 and ranges.shape[1] == sum(LEDUC.num_slots) and (ranges >= 0).all()


def test_with_the_whole_tree_it_is_cfr() -> None:
    """A budget larger than the game: the search solves it."""
    found = sog.search("kuhn_poker", sog.Budget(400, 0.1))
    value = np.einsum("ij,i->", sog.make_game("kuhn_poker").weights("").operator.matrix, found.values[0])
    assert value == pytest.approx(-1 / 18, abs=0.01)


def test_a_network_at_the_leaves_stands_for_the_rest_of_the_game() -> None:
    """The shipped network was trained by such searches; the first player's value in Leduc is -0.086 chips."""
    found = sog.search(LEDUC, sog.Budget(100), leaves="leduc_poker")
    assert abs(found.values[0].mean() + 0.086) < 0.05
