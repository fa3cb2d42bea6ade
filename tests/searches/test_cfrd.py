"""CFR-D: the trunk's iterates, what is kept, and equilibria from trunk, summaries and re-solving."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sog.errors import SettingError
from sog.games.base import NATURE, Game
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc, LeducState
from sog.games.rules.leduc.ranks import LeducRanks
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import CFR, CFR_PLUS, DCFR, Rule
from sog.searches.resolving.decomposition import TRUNK_RULE, BeginsSubgame, Decomposition
from sog.searches.resolving.subgame import combined, nodes_of, safely
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Infostate


def before_deal(game: Game) -> BeginsSubgame:
    return lambda s: game.actor(s) == NATURE


def after_deal(s: object) -> bool:
    return isinstance(s, LeducState) and s.board >= 0


def resolved(search: Decomposition) -> float:
    """Exploitability of the trunk's policy with every subgame re-solved from what was kept of it."""
    public = PublicTree(search.game).list_all()
    trunk, kept = search.policy(), search.summaries()
    resolving = safely(public, dict(zip(nodes_of(public, kept), kept.values(), strict=True)))
    for subgame in resolving:
        subgame.iterate(DCFR, 500)
    policy = combined(dict(zip(nodes_of(public, trunk), trunk.values(), strict=True)), resolving)
    return exact.measure_policy(public, policy).exploitability


@pytest.mark.parametrize("rule", [TRUNK_RULE, replace(CFR_PLUS, alternating=False)], ids=lambda r: r.name)
def test_without_a_cut_it_is_plain_cfr(rule: Rule) -> None:
    search = Decomposition(Kuhn(), lambda s: False, 1, trunk_rule=rule)
    search.iterate(5)
    search.iterate(15)
    public = PublicTree(Kuhn()).list_all()
    expected = exact.policy_of(exact.solve(public, rule, 20))
    found = search.policy()
    assert len(found) == len(expected) == 4
    for n, table in expected.items():
        np.testing.assert_allclose(found[public.states[n]], table)


@pytest.mark.parametrize(
    ("game", "cut", "iterations", "bound"),
    [
        (Kuhn(), lambda s: len(str(s)) == 1, 300, 0.01),
        (Kuhn(), lambda s: str(s).endswith("b"), 300, 0.01),
        (Goofspiel(3, "descending"), before_deal(Goofspiel(3, "descending")), 100, 0.05),
        (LeducRanks(), before_deal(LeducRanks()), 200, 0.12),
        (LeducRanks(), after_deal, 200, 0.12),
    ],
    ids=["kuhn after one action", "kuhn after a bet", "goofspiel", "leduc before the deal", "leduc after it"],
)
def test_the_trunk_comes_to_an_equilibrium(game: Game, cut: BeginsSubgame, iterations: int, bound: float) -> None:
    search = Decomposition(game, cut, 150, DCFR, keep_trees=True)
    search.iterate(iterations // 10)
    early = resolved(search)
    search.iterate(iterations - iterations // 10)
    late = resolved(search)
    assert late <= bound
    assert late < early / 2


def test_better_subgames_help() -> None:
    game = LeducRanks()
    rough, fine = (Decomposition(game, before_deal(game), count, keep_trees=True) for count in (3, 100))
    rough.iterate(150)
    fine.iterate(150)
    assert resolved(fine) < resolved(rough) / 2


@pytest.mark.parametrize("game", [Leduc(), LeducRanks(), Goofspiel(3, "descending")], ids=lambda g: g.name)
def test_outcomes_of_chance_are_solved_apart_as_together(game: Game) -> None:
    """With ranges given they are independent: the values are those of one tree over all outcomes."""
    search = Decomposition(game, before_deal(game), 20)
    search.iterate(3)
    trunk = search.trunk
    trunk.forward()
    for n in search.roots:
        search._solve_below(n)
        reach = trunk.infostates[Infostate.REACH]
        ranges = reach[trunk.span(n, 0)].copy(), reach[trunk.span(n, 1)].copy()
        whole = Lookahead(PublicTree(game).list_all(), 0, game.root_ranges()).public
        (root,) = nodes_of(whole, [trunk.public.states[int(trunk.nodes.public[n])]])
        tree = Lookahead(whole, root, ranges).expand_all()
        tree.iterate(CFR, 20)
        tree.update_average_policy()
        for p, values in enumerate(tree.evaluate()):
            np.testing.assert_allclose(trunk.infostates[Infostate.CFV, trunk.span(n, p)], values, atol=1e-12)


def test_subgames_are_discarded() -> None:
    """Keeping their trees listed changes no bit, and the trunk lists nothing below the cut."""
    game = LeducRanks()
    kept, discarded = (Decomposition(game, before_deal(game), 10, keep_trees=keep) for keep in (True, False))
    for search in (kept, discarded):
        search.iterate(4)
    assert kept.trunk.public.size == discarded.trunk.public.size == 6 + 5 + 4  # decisions, deals, folds
    for s, table in kept.policy().items():
        np.testing.assert_array_equal(table, discarded.policy()[s])
    for s, summary in kept.summaries().items():
        for p in (0, 1):
            np.testing.assert_array_equal(summary.values[p], discarded.summaries()[s].values[p])
    assert discarded._trees is None


def test_what_is_kept_of_a_subgame_is_the_mean_over_iterations() -> None:
    game = LeducRanks()
    search = Decomposition(game, before_deal(game), 10, trunk_rule=replace(CFR_PLUS, alternating=False))
    root, total, weight = search.roots[1], np.zeros(3), 0.0
    for t in (1, 2, 3):
        search.iterate(1)
        total += t * search.trunk.infostates[Infostate.CFV, search.trunk.span(root, 1)]
        weight += t
    state = search.trunk.public.states[int(search.trunk.nodes.public[root])]
    np.testing.assert_allclose(search.summaries()[state].values[1], total / weight)


def test_what_it_refuses() -> None:
    with pytest.raises(SettingError, match="cfr here does not"):
        Decomposition(Kuhn(), after_deal, 1, trunk_rule=CFR)
    with pytest.raises(SettingError, match="leaves no trunk"):
        Decomposition(Kuhn(), lambda s: True, 1)
    with pytest.raises(SettingError, match="no averages before the first iteration"):
        Decomposition(Kuhn(), after_deal, 1).summaries()
