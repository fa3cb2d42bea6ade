"""Blueprints of whole hold'em: buckets, the tree of betting, MCCFR on it, the file, and what the agent plays."""

from __future__ import annotations

import hashlib
import itertools
from pathlib import Path

import numpy as np
import pytest

from sog.agents.entrants import policy_entrant
from sog.agents.poker import open_agent
from sog.arrays import Array, Float64
from sog.errors import CheckpointError, SettingError
from sog.games.base import NATURE, TERMINAL
from sog.games.catalog import make_game
from sog.games.holdem.cards import CARDS, HANDS, hand_number, live_hands, parse_cards, permuted_hands
from sog.games.holdem.equity import against_range
from sog.games.holdem.game import Holdem, HoldemState
from sog.opponents.holdem import blueprint as blueprints
from sog.opponents.holdem import monte_carlo
from sog.opponents.holdem.blueprint import BUCKETS, Blueprint, BlueprintAgent, BlueprintSolver, load, save
from sog.opponents.holdem.buckets import (
    BucketTables,
    canonical_flops,
    class_of,
    hand_buckets,
    later_boards,
    table_row,
    tables,
)
from sog.opponents.holdem.monte_carlo import FOLDED, SHOWDOWN, BlueprintSums, betting_tree, walk, work_of
from sog.searches.cfr import exact
from sog.searches.tree.public_tree import PublicTree

GAME = "holdem(stacks=2000,bets=0.5;1.0)"
OTHERS = ("holdem(bets=random)", "holdem(stacks=1000;3000,bets=0.33;2;allin)", "holdem(stacks=900,blinds=50;75,bets=3)")


def holdem(name: str) -> Holdem:
    game = make_game(name)
    assert isinstance(game, Holdem)
    return game


def scattered(rows: int) -> Array:
    """uint8[rows, 1326]: buckets without a meaning."""
    return (np.arange(rows)[:, None] * 7 + np.arange(HANDS) * 13).astype(np.uint8) % BUCKETS


@pytest.fixture(scope="module")
def made_up() -> BucketTables:
    """Tables of the right shape whose buckets mean nothing, on the river none."""
    flops = canonical_flops()
    turns = later_boards(flops.cards)
    rivers = later_boards(turns.cards)
    on_rivers = np.zeros((len(rivers.cards), HANDS), dtype=np.uint8)
    keys = flops.keys, turns.keys, rivers.keys
    return BucketTables(class_of(), *keys, scattered(len(flops.cards)), scattered(len(turns.cards)), on_rivers)


@pytest.fixture(scope="module")
def solved(made_up: BucketTables) -> Blueprint:
    solver = BlueprintSolver(holdem(GAME), made_up)
    solver.iterate(2000)
    return solver.blueprint()


def random_line(game: Holdem, rng: np.random.Generator) -> list[HoldemState]:
    """The states of a game played at random; folds are rare, so that lines are long."""
    states, deck = [game.root()], [int(c) for c in rng.permutation(CARDS)]
    while (actor := game.actor(states[-1])) != TERMINAL:
        s = states[-1]
        if actor == NATURE:
            cards = tuple(sorted(deck.pop() for _ in range(game.cards_to_deal(s))))
            states.append(game.deal(s, cards))
            continue
        actions = [int(a) for a in game.actions(s)]
        if s.betting.facing and rng.random() < 0.9:
            actions = actions[1:]
        states.append(game.after(s, int(rng.choice(actions))))
    return states


# --- buckets ---


def test_tables_hold_the_buckets_of_every_board() -> None:
    """Counted from rivers up, with suits exchanged, they are those of each board alone."""
    flops, rng = canonical_flops().cards, np.random.default_rng(0)
    assert len(flops) == 1755
    chosen = flops[[5, 900]]
    found = tables(chosen, BUCKETS, lambda done: None)
    for flop, _ in itertools.product(chosen, range(3)):
        further = rng.choice([c for c in range(CARDS) if c not in flop], 2, replace=False)
        suits = rng.permutation(4)
        board = tuple(int(4 * (c // 4) + suits[c % 4]) for c in (*rng.permutation(flop), *further))
        rows = (found.flop_keys, found.flops), (found.turn_keys, found.turns), (found.river_keys, found.rivers)
        for cards, (keys, table) in zip((3, 4, 5), rows, strict=True):
            np.testing.assert_array_equal(table_row(board[:cards], keys, table), hand_buckets(board[:cards], BUCKETS))


@pytest.mark.parametrize("board", ["2c7d9h", "2c7d9hJs", "2c7d9hJsJc", "TcJcQcKcAc"])
def test_better_hands_are_in_no_lower_bucket(board: str) -> None:
    cards = parse_cards(board)
    live = live_hands(cards)
    bucket, equity = hand_buckets(cards, BUCKETS)[live], against_range(cards, live.astype(np.float64))[live]
    order = np.argsort(equity)
    assert (np.diff(bucket[order]) >= 0).all()
    assert all(len(set(bucket[equity == x])) == 1 for x in np.unique(equity))
    if board != "TcJcQcKcAc":  # there all hands tie
        assert bucket.min() == 0 and bucket.max() == BUCKETS - 1
        assert np.bincount(bucket).max() < 0.1 * len(bucket)


def test_hands_that_differ_by_suits_alone_share_a_bucket() -> None:
    board = parse_cards("2c7c9c")  # diamonds, hearts and spades are alike
    for suits in ((0, 2, 3, 1), (0, 2, 1, 3)):
        bucket = hand_buckets(board, BUCKETS)
        np.testing.assert_array_equal(bucket, bucket[permuted_hands(suits)])
    assert len(set(class_of())) == 169
    classes = {name: class_of()[hand_number(*parse_cards(name))] for name in ("AsKs", "AhKh", "AsKh", "KsAh")}
    assert classes["AsKs"] == classes["AhKh"] != classes["AsKh"] == classes["KsAh"]


# --- the tree and MCCFR on it ---


@pytest.mark.parametrize("name", ["holdem(bets=0.75)", "holdem(stacks=700;300,bets=0.5;allin,pot=30)", *OTHERS])
def test_the_tree_has_the_games_actors_and_payoffs(name: str) -> None:
    game, rng = holdem(name), np.random.default_rng(1)
    tree, _ = betting_tree(game, (1, 1, 1, 1))
    for _ in range(20):
        n = 0
        states = random_line(game, rng)
        for s, after in itertools.pairwise(states):
            if game.actor(s) == NATURE:
                continue
            actions = game.actions(s).tolist()
            assert (tree.kind[n], tree.street[n], tree.actions[n]) == (game.actor(s), s.betting.street, len(actions))
            n = tree.first[n] + [game.after(s, a) for a in actions].index(after)
        s = states[-1]
        i0, i1 = (hand_number(*pair) for pair in np.reshape([c for c in range(CARDS) if c not in s.board][:4], (2, 2)))
        utility = game.payoff(s).entry(i0, i1) / game.weights(s).entry(i0, i1)
        if tree.kind[n] == FOLDED:
            assert tree.payoff[n] == pytest.approx(utility)
        else:
            assert tree.kind[n] == SHOWDOWN and abs(utility) in (0, pytest.approx(tree.payoff[n]))


def test_mccfr_finds_kuhn_pokers_value() -> None:
    """A spot with a pot of two chips and one to bet is Kuhn poker, with a card of three as a bucket."""
    tree, _ = betting_tree(holdem("holdem(board=2s2h2d7c9c,pot=2,stacks=1,blinds=1;1,bets=allin)"), (3, 3, 3, 3))
    size, rng = int(tree.actions.sum()) * 3, np.random.default_rng(0)
    sums, work = BlueprintSums(np.zeros(size), np.zeros(size)), work_of(tree)
    for t in range(1, 20_001):
        work.bucket[:] = rng.choice(3, 2, replace=False)[:, None]
        for p in (0, 1):
            walk(tree, sums, work, p, int(np.sign(work.bucket[0, 0] - work.bucket[1, 0])), float(t))

    def rows(n: int) -> Float64:
        share = sums.average[tree.entry[n] : tree.entry[n] + 3 * tree.actions[n]].reshape(3, -1)
        policy: Float64 = share / share.sum(axis=1, keepdims=True)
        return policy

    def value(n: int, cards: tuple[int, int]) -> float:
        if tree.kind[n] >= FOLDED:
            sign = 1 if tree.kind[n] == FOLDED else np.sign(cards[0] - cards[1])
            return float(tree.payoff[n] * sign)
        policy = rows(n)[cards[tree.kind[n]]]
        return sum(float(q) * value(tree.first[n] + a, cards) for a, q in enumerate(policy))

    mean = np.mean([value(0, cards) for cards in itertools.permutations(range(3), 2)])
    assert mean == pytest.approx(-1 / 18, abs=0.005)
    bet = int(tree.first[0]) + 1  # an answer to a bet: queens call a third of the time, kings always, jacks never
    np.testing.assert_allclose(rows(bet)[:, 1], [0, 1 / 3, 1], atol=0.05)


def test_a_seed_makes_one_table(made_up: BucketTables, solved: Blueprint) -> None:
    """In one run or in parts; another seed makes another."""
    parts = BlueprintSolver(holdem(GAME), made_up)
    for count in (1, 499, 1500):
        parts.iterate(count)
    again = parts.blueprint()
    np.testing.assert_array_equal(again.policy, solved.policy)
    assert hashlib.sha256(again.policy.tobytes()).hexdigest()[:16] == "43d049ebc0d57683"
    other = BlueprintSolver(holdem(GAME), made_up, seed=1)
    other.iterate(2000)
    assert (other.blueprint().policy != solved.policy).any()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("holdem(bets=any)", "too many lines"),
        ("holdem(bets=random)", "is drawn anew"),
        ("holdem(stacks=50)", "has no decisions"),
        ("holdem(range0=AA)", "leave out range0"),
        ("holdem(board=2c7d9h,pot=100)", "after the flop"),
    ],
)
def test_games_without_a_blueprint(name: str, says: str, made_up: BucketTables) -> None:
    with pytest.raises(SettingError, match=says):
        BlueprintSolver(holdem(name), made_up)


def test_a_tree_that_grows_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monte_carlo, "_MOST_NODES", 1000)
    with pytest.raises(SettingError, match="too many lines of betting"):
        betting_tree(holdem(GAME), (1, 1, 1, 1))


# --- the file ---


def test_a_file_holds_the_blueprint(solved: Blueprint, tmp_path: Path) -> None:
    path = tmp_path / "blueprint.npz"
    assert save(solved, path) == path.stat().st_size
    found = load(path)
    assert (found.game.name, found.iterations, found.known) == (solved.game.name, 2000, solved.known)
    np.testing.assert_array_equal(found.policy, solved.policy)
    np.testing.assert_array_equal(found.flops, solved.flops)


def test_a_damaged_file_is_refused_in_one_line(
    solved: Blueprint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, game = tmp_path / "blueprint.npz", holdem(GAME)
    save(solved, path)
    policy_entrant("A", str(path), game)
    whole = path.read_bytes()
    for content in (whole[:-1], whole[: len(whole) // 2], whole[:100]):
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=r"^[^\n]*is not a blueprint that can be read$"):
            policy_entrant("A", str(path), game)
    negative, short = solved.policy.copy(), solved.policy[:-1]
    negative[:2] += (-2, 2)  # their sum stays 1
    for policy in (negative, short, solved.policy * 2, np.full_like(solved.policy, np.nan)):
        save(Blueprint(solved.game, 1, BUCKETS, policy, solved.flops), path)
        with pytest.raises(CheckpointError, match=r"^[^\n]*is damaged$"):
            policy_entrant("A", str(path), game)
    save(Blueprint(solved.game, 1, BUCKETS, solved.policy, solved.flops + np.uint8(BUCKETS)), path)
    with pytest.raises(CheckpointError, match="is damaged"):
        load(path)
    monkeypatch.setattr(blueprints, "_VERSION", 2)
    save(solved, path)
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match=r"^[^\n]*another version of sog$"):
        policy_entrant("A", str(path), game)


def test_other_games_are_refused_in_one_line(solved: Blueprint, tmp_path: Path) -> None:
    path = tmp_path / "blueprint.npz"
    save(solved, path)
    for name in ("leduc_poker", "holdem(board=2s2h2d7c9c,pot=10)"):
        with pytest.raises(SettingError, match=r"^[^\n]*is a blueprint of whole hold'em, and does not play [^\n]*$"):
            policy_entrant("A", str(path), make_game(name))


# --- play ---


@pytest.mark.parametrize("name", [GAME, *OTHERS])
def test_it_has_a_policy_at_every_decision(name: str, solved: Blueprint) -> None:
    game, rng = holdem(name), np.random.default_rng(2)
    for _ in range(8):
        public = PublicTree(game)
        for s in random_line(game, rng):
            if (actor := game.actor(s)) in (NATURE, TERMINAL):
                continue
            limits = s.betting.raise_limits
            node = public.add(game.offer(s, int(rng.integers(limits[0], limits[1] + 1))) if limits[1] else s, 0)
            policy = BlueprintAgent(public, actor, solved).policy(node)
            public.list_fan(node)
            assert not exact.flaw_of(policy, public.legal(node))
            if not s.betting.facing:
                assert len(policy) == len(game.actions(public.states[node]))


def test_it_plays_its_own_game_as_the_table_says(solved: Blueprint) -> None:
    public = PublicTree(solved.game)
    policy = BlueprintAgent(public, 1, solved).policy(0)
    rows = solved.policy[: 169 * len(policy)].reshape(169, -1)
    aces = hand_number(*parse_cards("AcAd"))
    np.testing.assert_allclose(policy[:, aces], rows[class_of()[aces]], atol=1e-6)
    assert not np.array_equal(policy[:, aces], policy[:, hand_number(*parse_cards("7c2d"))])


def test_raises_go_to_the_nearest_in_fractions_of_the_pot(solved: Blueprint) -> None:
    """The blueprint has half a pot and a pot: 0.6 counts as the first, two pots as the second.

    What it plays itself goes the same way back: a pot is nearer to 0.6 than to two pots.
    """
    game = holdem("holdem(stacks=2000,bets=0.6;2.0)")
    tree, root = solved.tree, game.root()
    first = int(tree.first[0]) + 2  # after fold and call
    for k, action in enumerate(a for a, _ in game.raises(root)):
        assert solved.node_of(game, game.after(root, action)) == first + k
    own = BlueprintAgent(PublicTree(solved.game), 1, solved).policy(0)
    two = BlueprintAgent(PublicTree(game), 1, solved).policy(0)
    np.testing.assert_allclose(two, [own[0], own[1], own[2] + own[3], np.zeros(HANDS)])
    one = BlueprintAgent(PublicTree(holdem("holdem(stacks=2000,bets=0.7)")), 1, solved).policy(0)
    np.testing.assert_allclose(one, [own[0], own[1], own[2] + own[3]])


def test_it_checks_or_calls_where_the_table_has_nothing(solved: Blueprint) -> None:
    game = holdem("holdem(stacks=2000000,bets=1)")
    public, s = PublicTree(game), game.root()
    while solved.node_of(game, s) >= 0:  # raises without end, longer than the blueprint's stacks allow
        s = game.after(s, int(game.actions(s)[-1]))
    policy = BlueprintAgent(public, game.actor(s), solved).policy(public.add(s, 0))
    np.testing.assert_array_equal(policy, np.eye(3)[1][:, None] * np.ones(HANDS))


def test_who_opens_an_agent_opens_a_blueprint(solved: Blueprint, tmp_path: Path) -> None:
    path = tmp_path / "blueprint.npz"
    save(solved, path)
    own = open_agent(str(path), None, pytest.fail)
    assert own.game.name == solved.game.name
    other = open_agent(str(path), "holdem(bets=1)", pytest.fail)
    assert isinstance(other.seats(PublicTree(other.game), 1), BlueprintAgent)
    played = policy_entrant("A", str(path), other.game)
    assert played.seats(PublicTree(other.game))(1, 0).policy(0).shape == (3, HANDS)
