"""Interleaved subgames: they come to what the same subgames come to one behind the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sog.arrays import Float64
from sog.games.catalog import make_game
from sog.search.depth_limited import solve as depth_limited
from sog.search.depth_limited.batching import Layouts
from sog.search.depth_limited.interleaved.bundles import Interleaved, worth_interleaving
from sog.search.depth_limited.settings import CFR_AVE, MODIFIED_CFR_AVE, SolveSettings
from sog.search.depth_limited.solve import solve
from sog.search.depth_limited.subgames import Subgames
from sog.search.leaves.drive import run
from sog.search.leaves.evaluator import Beliefs, Evaluations
from sog.search.tree import columns as f
from sog.search.tree.public_tree import PublicTree

DICE = PublicTree(make_game("liars_dice(numdice=1,dice_sides=3)")).list_all()
WIDE = PublicTree(make_game("liars_dice(numdice=2,dice_sides=4)"))  # ten infostates: two registers
SOON = {4: range(30), 5: range(0, 30, 7)}


def roots(public: PublicTree, count: int) -> list[tuple[int, Float64]]:
    """Subgames at public states of a few levels, in ranges with some infostates left out."""
    rng, first = np.random.default_rng(3), public.game.num_slots[0]
    nodes = [0, *(int(n) for n in Layouts(public, depth=1)(0).nodes[1:-3, f.PUBLIC])]
    found = []
    for k in range(count):
        ranges = rng.uniform(size=sum(public.game.num_slots))
        ranges[rng.uniform(size=len(ranges)) < 0.2] = 0.0
        ranges[:first] /= ranges[:first].sum()
        ranges[first:] /= ranges[first:].sum()
        found.append((nodes[k % len(nodes)], ranges))
    return found


def made_up(requests: Sequence[Beliefs]) -> list[Evaluations]:
    """Values that depend on the beliefs a little: conditional on the infostate, or by pair of slots."""
    return [Evaluations(np.cos(3.0 * b.ranges + b.nodes[:, None]), np.zeros((len(b.nodes), 99, 99))) for b in requests]


def made_up_pairs(requests: Sequence[Beliefs]) -> list[Evaluations]:
    halves = [np.split(b.ranges, 2, axis=1) for b in requests]
    tables = [
        zero[:, :, None] * np.cos(one[:, None, :] + b.nodes[:, None, None])
        for b, (zero, one) in zip(requests, halves, strict=True)
    ]
    return [Evaluations(table.reshape(len(table), -1), np.zeros((len(table), 1, 1))) for table in tables]


SETTINGS = {
    "plain": SolveSettings(prune=False, remember=False, correct=False, updates=40),
    "pruned, remembered": SolveSettings(updates=40),
    "simultaneous": SolveSettings(simultaneous=True, updates=40),
    "cfr-ave": SolveSettings(CFR_AVE, updates=40),
    "cfr-ave, recycled": SolveSettings(CFR_AVE, recycle=0.1, correct=False, updates=40),
    "modified cfr-ave": SolveSettings(MODIFIED_CFR_AVE, updates=40),
    "warm": SolveSettings(warm=3, updates=40),
}


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("name", SETTINGS)
def test_interleaving_changes_nothing(name: str, wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    public, settings = WIDE if wide else DICE, SETTINGS[name]
    found = []
    for interleave in (False, True):
        monkeypatch.setattr(depth_limited, "worth_interleaving", lambda layouts, chosen=interleave: chosen)
        games = Subgames(public, roots(public, 30), 2 if not wide else 1)
        seen: list[Float64] = []

        def look(t: int, games: Subgames = games, seen: list[Float64] = seen) -> None:
            for k in SOON.get(t, ()):
                nodes = np.flatnonzero(games.owner == k)
                seen += [games.reaches(int(n), settings.solver.average) for n in nodes]
                seen.append(games.tree.table(int(nodes[0]), f.POLICY).ravel().copy())

        run(solve(games, settings, look, SOON), made_up_pairs if settings.solver is CFR_AVE else made_up)
        values = [value for k in range(len(games)) for value in games.root_values(k)]
        found.append([games.tree.entries[f.AVERAGE_POLICY], *values, *seen])
    assert len(found[0]) == len(found[1])
    for apart, together in zip(*found, strict=True):
        np.testing.assert_allclose(together, apart, atol=1e-6)


def by_public_state(requests: Sequence[Beliefs]) -> list[Evaluations]:
    """Values that differ at every public state and depend on no belief; priors are uniform."""
    return [Evaluations(np.cos(b.ranges * 0.0 + b.nodes[:, None]), np.zeros((len(b.nodes), 99, 99))) for b in requests]


@pytest.mark.parametrize("hold", [0.0, 1.0])
def test_a_warm_start_is_not_remembered_in_the_wrong_places(hold: float) -> None:
    """Before it leaves stand one behind the other, after it in lanes; beliefs are the same at many of them."""
    start, found = DICE.ranges_by_slot(0, DICE.game.root_ranges()), []
    for remember in (True, False):
        games = Subgames(DICE, [(node, start) for node in [*DICE.decisions()][:9] for _ in range(3)], 1)
        run(solve(games, SolveSettings(updates=40, warm=3, hold=hold, remember=remember)), by_public_state)
        found.append(np.concatenate([value for k in range(len(games)) for value in games.root_values(k)]))
    np.testing.assert_array_equal(*found)


def test_numbers_go_to_their_lanes_and_back() -> None:
    games = Subgames(DICE, roots(DICE, 30), 2)
    rng, tree = np.random.default_rng(0), games.tree
    tree.infostates[:], tree.entries[:] = rng.uniform(size=tree.infostates.shape), rng.uniform(size=tree.entries.shape)
    slots, entries = tree.infostates.copy(), tree.entries.copy()
    bundles = Interleaved(tree, games.layouts)
    bundles.take((f.REACH,), (f.POLICY,))
    assert bundles.members.max() == 8
    for k in range(len(games)):
        tree.infostates[:], tree.entries[:] = 0.0, 0.0
        bundles.give_back([k], (f.REACH,), (f.POLICY,))
        own = np.flatnonzero(games.owner == k)
        columns = slice(tree.span(int(own[0]), 0).start, tree.span(int(own[-1]), 1).stop)
        np.testing.assert_array_equal(tree.infostates[f.REACH, columns], slots[f.REACH, columns])
        assert not tree.infostates[f.CFV].any()
        assert np.count_nonzero(tree.infostates[f.REACH]) == columns.stop - columns.start
        block = tree.block(int(own[0]))
        np.testing.assert_array_equal(tree.entries[f.POLICY, block], entries[f.POLICY, block])


def test_only_trees_where_infostates_keep_their_places_are_interleaved() -> None:
    leduc = PublicTree(make_game("leduc_poker")).list_all()
    layouts = Layouts(leduc, depth=0)
    assert not worth_interleaving([layouts(0)] * 9)  # the public card changes who holds what
    layouts = Layouts(DICE)
    root, below = layouts(0), layouts(int(DICE.edges[0, f.CHILD]))
    assert worth_interleaving([root] * 2) and worth_interleaving([root, root, below, below])
    assert not worth_interleaving([root]) and not worth_interleaving([root, below])
