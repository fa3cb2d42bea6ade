"""The search from the first decision as it is timed: rows that add up."""

from __future__ import annotations

import pytest

from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.searches.gtcfr.settings import Budget
from soglab.bench.root import PARTS, bench_root


def test_rows_of_the_whole_game() -> None:
    game = make_game("holdem(bets=1.0)")
    network = CVPN(shape_for(game, width=8, depth=1))
    told: list[tuple[int, str]] = []

    def report(done: int, what: str) -> None:
        told.append((done, what))

    rows = list(bench_root(game, network, [Budget(3, 0.5), Budget(6)], 1, False, report))
    assert [row.search for row in rows] == ["(3,0.5)", "(6,1)"]
    assert told == [(0, "SoG(3,0.5)"), (1, "SoG(6,1)")]
    for row, expansions in zip(rows, (3, 6), strict=True):
        shares = row.network_share, row.sweep_share, row.growth_share, row.python_share
        assert sum(shares) == pytest.approx(1.0)
        assert min(shares[:3]) > 0
        assert set(row.part_ms) == set(PARTS)
        assert row.nodes > expansions
        assert row.tree_megabytes > row.nodes * 2652 * 5 * 8e-6
        assert row.beliefs >= row.leaves


def test_chance_can_be_left_closed() -> None:
    """Leduc's board is not dealt in the tree then: every leaf that is left is an end or chance's."""
    game = make_game("leduc_poker")
    network = CVPN(shape_for(game, width=8, depth=1))
    opened, closed = (
        next(iter(bench_root(game, network, [Budget(200)], 1, chance, lambda done, what: None))).nodes
        for chance in (False, True)
    )
    assert closed < 40 < opened
