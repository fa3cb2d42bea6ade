"""Tour, 4 of 6. Re-solving: a subgame solved anew from ranges and the opponent's values, and why that needs a gadget.

Next: test_5_training.py. The theory is CFR-D's; play is sog/play/resolver.py, one chain of searches a player.
"""

from __future__ import annotations

import sog
from sog.measure.exploitability import exploitability
from sog.play.resolver import ResolveSettings
from sog.searches.cfr import exact
from sog.searches.cfr.rules import DCFR
from sog.searches.resolving.subgame import combined, nodes_of, safely, summarise, unsafely
from sog.searches.tree.whole import whole_tree

RPS = whole_tree(sog.make_game("rps"))
KUHN = whole_tree(sog.make_game("kuhn_poker"))


def resolved(how: object) -> float:
    """The exploitability of Kuhn's equilibrium with the subgames after the first move re-solved."""
    policy = exact.policy_of(exact.solve(KUHN, DCFR, 1000))
    subgames = how(KUHN, summarise(KUHN, policy, nodes_of(KUHN, ["p", "b"])))  # type: ignore[operator]
    for subgame in subgames:
        subgame.iterate(DCFR, 1000)
    return exact.measure_policy(KUHN, combined(policy, subgames)).exploitability


def test_a_subgame_cannot_be_solved_from_ranges_alone() -> None:
    """With both ranges fixed, the solution may rely on the opponent to have come there as before: unsafe."""
    assert resolved(safely) < 0.01 < resolved(unsafely)


def test_the_gadget_lets_the_opponent_leave_for_what_it_had() -> None:
    """So the subgame's solver cannot give it more than the rest of the game already did."""
    assert resolved(safely) < 0.01


def test_continual_re_solving_plays_a_whole_game() -> None:
    """A search at every decision, each from the ranges and values of the last; with complete trees it is exact."""
    settings = ResolveSettings(sog.Budget(1000, 1.0), complete=True)
    assert exploitability(KUHN, settings, exact.ExactEvaluator(), seed=0) < 0.01


def test_a_loaded_agent_plays_so() -> None:
    """`load_agent` re-solves at every public state, with the shipped network at the leaves of its trees."""
    agent = sog.load_agent("leduc_poker", simulations=20)
    assert agent.policy(0).shape == (2, 6)  # check or bet, with each of six cards
