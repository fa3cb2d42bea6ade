"""Self-play: sound chains, moves drawn as told, what a game records, resigning and cutting short."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chisquare

from sog.algorithms.student import selfplay
from sog.algorithms.student.selfplay import SelfPlaySettings, SogGame, choose
from sog.games.base import TERMINAL
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.play.resolver import ResolveSettings, Resolving, Solved
from sog.searches.gtcfr.search import SearchLog
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree

TREES = [PublicTree(game).list_all() for game in (Kuhn(), Leduc(), Goofspiel(3, "random"))]
KUHN, LEDUC, GOOFSPIEL = TREES
SETTINGS = SelfPlaySettings(ResolveSettings(Budget(5, 1.0)), queries=2.0)


def played(public: PublicTree, settings: SelfPlaySettings = SETTINGS, seed: int = 0) -> SogGame:
    game = SogGame(public, settings, np.random.default_rng(seed))
    run(game, zero_evaluator)
    return game


@pytest.mark.parametrize("public", TREES, ids=lambda public: public.game.name)
def test_a_game_is_recorded_from_start_to_end(public: PublicTree) -> None:
    game = public.game
    for seed in range(12):
        record = played(public, seed=seed)
        nodes = [visit.node for visit in record.visits]
        for before, after in pairwise(nodes):
            assert before in public.path(after)
        assert record.utility is not None and abs(record.utility) <= game.u_max
        for visit in record.visits:
            s = public.states[visit.node]
            assert game.actor(s) < 2 and game.weights(s).dense()[visit.pair] > 0
            np.testing.assert_allclose(visit.policy.sum(axis=0), 1.0)
            for p in (0, 1):
                own = visit.ranges[public.places_of(visit.node, p)]
                assert own.sum() == pytest.approx(1.0) and own[visit.pair[p]] > 0
        # The next player to act acts at the next visit: nobody's decision is left out.
        ends = [n for n in range(public.size) if public.nodes.actor[n] == TERMINAL and nodes[-1] in public.path(n)]
        assert any([n for n in public.path(end) if public.nodes.actor[n] < 2] == nodes for end in ends), (
            "visits are the decisions on the way to an end"
        )


def test_a_seed_decides_a_game() -> None:
    records = [played(LEDUC, seed=seed) for seed in (3, 3, 4)]

    def told(record: SogGame) -> list[object]:
        return [
            record.utility,
            *((v.node, v.pair, v.policy.tobytes(), v.ranges.tobytes()) for v in record.visits),
            *((q.node, q.ranges.tobytes()) for q in record.queries),
        ]

    assert told(records[0]) == told(records[1]) != told(records[2])


def test_each_player_follows_its_own_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sound self-play: a search starts from its own player's last one, never from the other player's."""
    asked: list[tuple[int, int, Solved | None, int]] = []

    class Recorded(Resolving):
        def __init__(
            self,
            public: PublicTree,
            player: int,
            node: int,
            previous: Solved | None,
            settings: ResolveSettings,
            seed: int,
            log: SearchLog | None = None,
        ) -> None:
            asked.append((player, node, previous, seed))
            super().__init__(public, player, node, previous, settings, seed, log)

    monkeypatch.setattr(selfplay, "Resolving", Recorded)
    for seed in range(6):
        asked.clear()
        played(LEDUC, seed=seed)
        assert len({own_seed for *_, own_seed in asked}) == len(asked)
        latest: dict[int, int] = {}
        for player, node, previous, _ in asked:
            assert LEDUC.nodes.actor[node] == player
            if player not in latest:
                assert previous is None
            else:
                assert previous is not None and (previous.player, previous.node) == (player, latest[player])
            latest[player] = node


@pytest.mark.parametrize("papers", [False, True], ids=["ours", "papers"])
def test_positions_are_searched_as_they_are_or_re_solved(monkeypatch: pytest.MonkeyPatch, papers: bool) -> None:
    """The papers re-solve in perfect information too: from scratch, with the gadget after a player's first search."""
    made: list[Resolving] = []

    class Recorded(Resolving):
        def __init__(
            self,
            public: PublicTree,
            player: int,
            node: int,
            previous: Solved | None,
            settings: ResolveSettings,
            seed: int,
            log: SearchLog | None = None,
        ) -> None:
            super().__init__(public, player, node, previous, settings, seed, log)
            assert self.tree.iterations == 0
            made.append(self)

    monkeypatch.setattr(selfplay, "Resolving", Recorded)
    record = played(PublicTree(TicTacToe()), replace(SETTINGS, resolve_positions=papers))
    assert len(made) == (len(record.visits) if papers else 0)
    for k, one in enumerate(made):
        assert (one.gadget is None) == (k < 2)
        assert one.gadget is None or one.gadget.opponent == 1 - one.player


def test_moves_mix_the_policy_with_uniform_play() -> None:
    policy, legal = np.array([0.0, 0.9, 0.1, 0.0]), [0, 1, 2]
    for share in (0.0, 0.3, 1.0):
        settings, rng = replace(SETTINGS, uniform_mix=share), np.random.default_rng(0)
        found = Counter(choose(policy, legal, settings, 1, rng) for _ in range(4_000))
        expected = (1 - share) * policy[legal] + share / 3
        assert set(found) <= set(legal)
        kept = expected > 0
        assert found[0] > 0 or not kept[0]
        counts = np.array([found[a] for a in legal])[kept]
        assert chisquare(counts, expected[kept] * 4_000).pvalue > 1e-3


def test_late_in_the_game_the_best_move_is_played() -> None:
    policy, settings = np.array([0.2, 0.45, 0.35]), replace(SETTINGS, uniform_mix=0.5, greedy_after=3)
    rng = np.random.default_rng(0)
    assert {choose(policy, [0, 1, 2], settings, 4, rng) for _ in range(50)} == {1}
    assert {choose(policy, [0, 2], settings, 4, rng) for _ in range(50)} == {2}
    assert {choose(policy, [0, 1, 2], settings, 3, rng) for _ in range(50)} == {0, 1, 2}


def test_queries_are_beliefs_of_the_searches() -> None:
    """q_search of them a search, all of them leaves that can be asked about."""
    none = played(LEDUC, replace(SETTINGS, queries=0.0))
    assert none.queries == []
    searches = queries = 0
    for seed in range(20):
        record = played(LEDUC, replace(SETTINGS, queries=1.5), seed)
        searches, queries = searches + len(record.visits), queries + len(record.queries)
        for query in record.queries:
            assert LEDUC.nodes.actor[query.node] != TERMINAL
            assert query.ranges.sum() == pytest.approx(2.0) and (query.ranges >= 0).all()
    assert queries > searches  # 1.5 a search, fewer where a search has no leaves left to ask about


def test_a_game_may_be_cut_short() -> None:
    record = played(LEDUC, replace(SETTINGS, moves_max=1))
    assert len(record.visits) == 1 and record.utility is None


def test_resigning_loses_the_largest_utility() -> None:
    always = replace(SETTINGS, resign_below=1.0, no_resign=0.0)  # whoever is first to act gives up
    record = played(KUHN, always)
    assert len(record.visits) == 1 and record.utility == -KUHN.game.u_max
    second = KUHN.states.index("p")
    for seed in range(40):
        record = played(KUHN, replace(always, resign_below=-0.4), seed)
        if record.visits[-1].node == second and record.utility == KUHN.game.u_max:
            break
    else:
        pytest.fail("player 1 never gave up")
    assert played(KUHN, replace(always, no_resign=1.0)).utility in (-2.0, -1.0, 1.0, 2.0)
    assert len(played(KUHN, replace(always, no_resign=1.0), 1).visits) > 1
