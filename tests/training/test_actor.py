"""One actor's round: games, searches and queries add up, every query becomes a row, a seed decides it to the bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sog.algorithms.student.actor import SogActing, SogActor
from sog.algorithms.student.queries import QuerySettings
from sog.algorithms.student.selfplay import SelfPlaySettings
from sog.games.base import Game
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.shape import NetworkShape, shape_for
from sog.play.referee import World
from sog.play.resolver import ResolveSettings
from sog.play.selfplay import MoveSearch, SelfPlayGame
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree import whole
from sog.searches.tree.public_tree import PublicTree
from sog.training.packing import unpack
from sog.training.rows import Rows
from sog.training.settings import Harvest

SELFPLAY = SelfPlaySettings(ResolveSettings(Budget(4, 1.0)), queries=1.0)
QUERIES = QuerySettings(Budget(4, 1.0), SearchSettings(), recursive=0.5)


def shape_of(game: Game) -> NetworkShape:
    return shape_for(game, 8, 1)


def harvest(
    game: Game, games: int = 6, selfplay: SelfPlaySettings = SELFPLAY, queries: QuerySettings = QUERIES,
    seed: int = 0, width: int = 4,
) -> Harvest:  # fmt: skip
    actor = SogActor(game, shape_of(game), SogActing(selfplay, queries, width))
    return actor.round(games, zero_evaluator, np.random.default_rng(seed))


def rows_of(game: Game, found: Harvest) -> Rows:
    return unpack(shape_of(game), found.rows)


@pytest.mark.parametrize("width", [1, 4, 64])
@pytest.mark.parametrize("game", [Kuhn(), Leduc(), Goofspiel(3, "random")], ids=lambda game: game.name)
def test_every_query_becomes_a_row(game: Game, width: int) -> None:
    found = harvest(game, width=width)
    assert found.games == 6
    assert found.searches >= found.games and found.queries > 0
    assert len(found.rows) == found.queries
    assert rows_of(game, found).value_mask.any(axis=1).all()


def test_without_recursion_the_queries_are_the_searches() -> None:
    found = harvest(Leduc(), 12, queries=replace(QUERIES, recursive=0.0))
    assert 0 < found.queries <= found.searches
    more = harvest(Leduc(), 12, queries=replace(QUERIES, recursive=0.9))
    assert more.queries > found.queries


def test_no_queries_leave_no_rows() -> None:
    found = harvest(Leduc(), 3, replace(SELFPLAY, queries=0.0))
    assert found.games == 3 and found.queries == 0 and len(found.rows) == 0


def test_main_line_rows() -> None:
    """SoG's text: policy targets from the searches of the game; TD(1) adds the outcome of each visited state."""
    text = replace(SELFPLAY, main_line_policies=True, td1=1.0)
    found = harvest(Leduc(), 6, text)
    assert len(found.rows) == found.queries + found.searches
    rows = rows_of(Leduc(), found)
    with_values, with_policies = rows.value_mask.any(axis=1), rows.policy_mask.any(axis=1)
    assert with_policies.sum() == found.searches and with_values.all()
    assert (rows.value_mask.sum(axis=1)[with_policies] == 2).all()
    without = harvest(Leduc(), 6, replace(text, td1=0.0))
    rows = rows_of(Leduc(), without)
    with_values, with_policies = rows.value_mask.any(axis=1), rows.policy_mask.any(axis=1)
    assert with_policies.sum() == without.searches and not (with_values & with_policies).any()


def test_td1_rows_hold_the_policy_used_there() -> None:
    """PoG, Algorithm 2: <beta, (v, p)> of some states played through; other policies are those of queries."""
    found = harvest(Leduc(), 60, replace(SELFPLAY, td1=0.5, queries=0.0))
    assert 0.3 * found.searches < len(found.rows) < 0.7 * found.searches
    rows = rows_of(Leduc(), found)
    assert (rows.value_mask.sum(axis=1) == 2).all() and rows.policy_mask.any(axis=1).all()


def test_resigned_games_leave_td1_rows_only_where_wanted() -> None:
    """PoG, Algorithm 2, returns before it samples them; policies of the main line stay."""
    hopeless = replace(SELFPLAY, td1=1.0, resign_below=1.0, no_resign=0.0, queries=0.0)
    assert len(harvest(Leduc(), 4, hopeless).rows) == 4
    papers = replace(hopeless, td1_resigned=False)
    assert len(harvest(Leduc(), 4, papers).rows) == 0
    played = harvest(Leduc(), 4, replace(papers, no_resign=1.0))
    assert len(played.rows) == played.searches > 4
    policies = rows_of(Leduc(), harvest(Leduc(), 4, replace(papers, main_line_policies=True)))
    assert len(policies) == 4 and policies.policy_mask.any() and not policies.value_mask.any()


def test_nobody_resigns_below_a_bound_of_all_utilities() -> None:
    """Mean values pass the bounds a little: -1 still means never."""

    class Lost(SelfPlayGame):
        def search(self, world: World, mover: int) -> MoveSearch:
            yield from ()
            return -1.01

        def choose(self, world: World, moves: int) -> int:
            return 0

    for below, resigned in ((-1.0, False), (-0.9, True)):
        early_end = replace(SELFPLAY, resign_below=below, no_resign=0.0)
        game = Lost(PublicTree(Kuhn()).list_all(), early_end, np.random.default_rng(0))
        run(game.steps(), zero_evaluator)
        assert game.resigned == resigned


def test_games_cut_short_have_no_outcome() -> None:
    found = harvest(Leduc(), 6, replace(SELFPLAY, td1=1.0, moves_max=1, queries=0.0))
    assert found.searches == 6 and len(found.rows) == 0


def bits(found: Harvest) -> list[bytes]:
    return [found.rows.content.tobytes(), found.rows.ends.tobytes()]


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "too large to list"])
def test_a_seed_decides_a_round_to_the_bit(listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not listed:
        monkeypatch.setattr(whole, "LISTED", 5)
    game = Leduc()
    evaluator = network_evaluator(CVPN(shape_of(game), 3))
    actor = SogActor(game, shape_of(game), SogActing(SELFPLAY, QUERIES, 4))
    assert (actor.public is not None) == listed
    first, second, other = (actor.round(4, evaluator, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert bits(first) == bits(second) != bits(other)
