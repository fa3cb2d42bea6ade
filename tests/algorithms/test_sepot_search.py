"""SePoT's search: its histories, ranges and subgames beside brute force, and what it finds beside exact solutions."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from sog.algorithms.policy.agent import infostates_of, policy_at
from sog.algorithms.sepot import subgame
from sog.algorithms.sepot.below import DepthLimit, chance_of, grow
from sog.algorithms.sepot.ranges import infostate_reach, reach_of
from sog.algorithms.sepot.search import PAPERS_ALPHA, SepotSearch, SepotSearchSettings
from sog.algorithms.sepot.subgame import LeafChoice, Subgame
from sog.errors import GameError, SettingError
from sog.games.base import SPARSE, TERMINAL
from sog.games.catalog import make_game, make_history_game
from sog.games.histories.base import HistoryGame, TooManyHistories, deal, drawn
from sog.games.histories.listing import Histories, histories_of, list_histories
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import CFR_PLUS
from sog.searches.tree.players import Players
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import whole_tree
from tests.policies import ExactCritic, RandomPolicy, TablePolicy

GOOF = "goofspiel(imp_info=True,num_cards={},points_order={})"
SHIPS = (
    "battleship(board_width={0},board_height={1},ship_sizes=[{2}],num_shots={3},"
    "allow_repeated_shots=False,returns_type=win_loss)"
)


def middle(game: HistoryGame, turns: int, seed: int) -> np.ndarray:
    """int32[1, K]: a random history in which a player acts after up to so many random turns."""
    rng = np.random.default_rng(seed)
    states = game.begin(1)
    actors = deal(game, states, rng)
    for _ in range(turns):
        before = states.copy()
        game.step(states, drawn(game.legal(states), rng.random(1)))
        actors = deal(game, states, rng)
        if actors[0] == TERMINAL:
            return before
    return states


def keys(rows: np.ndarray) -> set[bytes]:
    return {row.tobytes() for row in rows}


def followed(game: HistoryGame, public: np.ndarray) -> Histories:
    """`histories_of` from the rules alone, without the game's own way."""
    type(game).consistent, own = HistoryGame.consistent, type(game).consistent
    try:
        return histories_of(game, public)
    finally:
        type(game).consistent = own


@pytest.mark.parametrize(
    ("name", "turns"), [(SHIPS.format(3, 3, "2;2", 9), (4, 6, 9, 14)), (SHIPS.format(3, 2, "2;1", 6), (4, 7, 10))]
)
def test_fleets_that_explain_the_shots_are_those_of_brute_force(name: str, turns: tuple[int, ...]) -> None:
    game = make_history_game(name)
    for turn in turns:
        for seed in range(3):
            state = middle(game, turn, seed)
            public = game.public(state)[0]
            found = histories_of(game, public)
            assert keys(game.public(found.states)) == {public.tobytes()}
            brute = followed(game, public)
            assert len(found) == len(brute) and keys(found.states) == keys(brute.states)
    with pytest.raises(GameError, match="possible"):
        histories_of(game, game.public(middle(game, turns[0], 0))[0], most=10)


def test_a_goofspiel_states_histories_are_those_of_the_whole_list() -> None:
    game = make_history_game(GOOF.format(4, "descending"))
    whole = list_histories(game)
    publics = game.public(whole.states)
    for seed in range(6):
        public = game.public(middle(game, seed, seed))[0]
        found = histories_of(game, public)
        assert keys(found.states) == keys(whole.states[(publics == public).all(axis=1)])


@pytest.mark.parametrize("order", ["descending", "ascending", "random"])
def test_bids_that_explain_the_rounds_are_those_of_brute_force(order: str) -> None:
    """At every public state of three cards and some of six; chance's own and those where the game is over included."""
    small, large = (make_history_game(GOOF.format(n, order)) for n in (3, 6))
    publics = [(small, row) for row in np.unique(small.public(list_histories(small).states), axis=0)]
    publics += [(large, large.public(middle(large, turns, turns))[0]) for turns in range(1, 9)]
    for game, public in publics:
        found, brute = histories_of(game, public), followed(game, public)
        np.testing.assert_array_equal(found.actions, brute.actions)
        np.testing.assert_array_equal(found.states, brute.states)
    with pytest.raises(GameError, match="more than 5 histories"):
        histories_of(large, large.public(middle(large, 4, 0))[0], most=5)


def test_bids_that_nothing_explains_are_none_and_a_long_search_for_them_is_given_up() -> None:
    game = make_history_game(GOOF.format(13, "descending"))
    public = game.public(middle(game, 0, 0))[0]
    shown = np.stack((np.arange(12, 0, -1), *np.full((2, 12), 13), np.full(12, 14)), axis=1).ravel()
    public[: len(shown)] = shown  # player 0 won all of twelve rounds: with 1 to 12 against 0 to 11, in any order
    with pytest.raises(GameError, match="more than 1,000 histories"):
        histories_of(game, public, most=1_000)
    three = make_history_game(GOOF.format(3, "descending"))
    public = three.public(middle(three, 0, 0))[0]
    public[:12] = [2, 3, 3, 4, 1, 3, 3, 4, 0, 3, 3, 4]  # all of three rounds
    assert len(histories_of(three, public)) == len(followed(three, public)) == 0


@pytest.mark.parametrize("name", ["leduc_poker", GOOF.format(4, "random"), SHIPS.format(2, 2, "2", 4)])
def test_ranges_are_exact_reaches_from_few_queries(name: str) -> None:
    game = make_history_game(name)
    for turns in (1, 2, 4):
        found = histories_of(game, game.public(middle(game, turns, turns))[0])
        for player in (0, 1):
            policy = RandomPolicy(game, 1)
            reach = infostate_reach(game, found.states, found.actions, player, policy)
            private = keys(game.private(found.states, np.full(len(found), player, dtype=np.int32)))
            assert policy.asked <= len(private) * game.longest
            np.testing.assert_allclose(reach, reach_of(game, found.actions, player, policy))
            slow = np.ones(len(found))
            for h, actions in enumerate(found.actions):
                states = game.begin(1)
                for action in actions[actions >= 0]:
                    if game.actors(states)[0] == player:
                        slow[h] *= policy(states, player)[0, action]
                    game.step(states, np.array([action]))
            np.testing.assert_allclose(reach, slow)


def test_chance_is_the_product_of_its_outcomes() -> None:
    game = make_history_game("leduc_poker")
    found = list_histories(game)
    ends = game.actors(found.states) == TERMINAL
    assert chance_of(game, found.actions).min() == pytest.approx(1 / 120)
    assert set(np.round(1 / chance_of(game, found.actions[ends]))) == {30.0, 120.0}


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", GOOF.format(4, "descending")])
def test_a_subgame_from_the_start_is_the_whole_game(name: str) -> None:
    """Without a limit its solution has the game's value, by the same solver."""
    game = make_history_game(name)
    found = histories_of(game, game.public(middle(game, 0, 0))[0])
    acting = game.actors(found.states) < 2
    below = grow(game, found.states[acting], chance_of(game, found.actions[acting]), DepthLimit(0), 10**6)
    tree = exact.solve(PublicTree(Subgame(game, below)).list_all(), CFR_PLUS, 60)
    whole = exact.solve(whole_tree(make_game(name)), CFR_PLUS, 60)
    ours, theirs = exact.measure(tree), exact.measure(whole)
    assert ours.value == pytest.approx(theirs.value, abs=1e-9)
    assert ours.exploitability == pytest.approx(theirs.exploitability, abs=1e-9)


@pytest.mark.parametrize("gadget", ["critic", "previous"])
def test_operators_of_few_entries_change_nothing(gadget: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goofspiel after draws, where an infostate of one player leaves one of the other: the same policies."""
    game = make_history_game(GOOF.format(5, "descending"))
    policy = RandomPolicy(game)
    critic = ExactCritic(game, [[policy], [policy]])
    public = [game.public(middle(game, turns, 3))[0] for turns in (2, 4)]
    found = []
    for few in (True, False):
        monkeypatch.setattr(Subgame, "sparse", few)
        search = SepotSearch(game, policy, critic, SepotSearchSettings(50, DepthLimit(1), gadget=gadget))
        found.append([search.search(row, 0).policy for row in public])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_a_draw_leaves_operators_of_few_entries() -> None:
    """Two rounds of Goofspiel 6 that were both drawn: 30 infostates each, every one with a single one of the other."""
    game = make_history_game(GOOF.format(6, "descending"))
    states = game.begin(1)
    for action in (3, 3, 5, 5):
        deal(game, states, np.random.default_rng(0))
        game.step(states, np.array([action], dtype=np.int32))
    deal(game, states, np.random.default_rng(0))
    found = histories_of(game, game.public(states)[0])
    assert len(found) == 30
    below = grow(game, found.states, chance_of(game, found.actions), DepthLimit(0, fitted=True), 2_000)
    few = Subgame(game, below)
    operators = [few.weights(s).operator for s in range(few.num_states)]
    assert any(operator.kind == SPARSE for operator in operators)
    wasteful = [one for one in operators if np.count_nonzero(one.matrix) * 8 < one.matrix.size]
    assert wasteful and all(one.kind == SPARSE for one in wasteful)
    assert few.num_entries < 0.2 * few.tree.sizes.prod(axis=1).sum()


def test_too_many_histories_are_refused() -> None:
    game = make_history_game(GOOF.format(5, "random"))
    states = middle(game, 0, 0)
    with pytest.raises(TooManyHistories, match="more than 1,000"):
        grow(game, states, np.ones(1), DepthLimit(0), 1_000)


# --- leaves by hand ---


class Constant:
    """A critic whose values of leaves are given by hand: by player 0's bid, player 1's bid and the choices."""

    def __init__(self, game: HistoryGame, table: np.ndarray) -> None:
        """table: float64[3, 3, F, F], by the bids and then the transformations of players 0 and 1."""
        self.game, self.table = game, table

    def bids(self, states: np.ndarray) -> np.ndarray:
        one = np.ones(len(states), dtype=np.int32)
        return np.stack([self.game.private(states, one * p)[:, 0] for p in (0, 1)], axis=1)

    def values(self, states: np.ndarray, chooser: int) -> np.ndarray:
        bids = self.bids(states)
        found = self.table[bids[:, 0], bids[:, 1]]
        return found[:, :, 0] if chooser == 0 else found[:, 0, :]


def tree_with_leaves(game: HistoryGame, chooser: int, table: np.ndarray) -> tuple[Subgame, Lookahead]:
    states = middle(game, 0, 0)
    below = grow(game, states, np.ones(1), DepthLimit(1), 1000)
    values = Constant(game, table).values(below.states[below.leaf], chooser)
    subgame = Subgame(game, below, LeafChoice(chooser, values))
    return subgame, exact.full_tree(PublicTree(subgame).list_all())


def test_the_opponent_chooses_once_for_each_of_its_infostates() -> None:
    """After one bid each by uniform policies, player 1's best choices at the leaves: the paper's formula by hand.

    A public state is who won; for each bid of player 1's in it the transformation with the least sum over player 0's.
    """
    game = make_history_game(GOOF.format(3, "descending"))
    square = np.random.default_rng(3).normal(size=(3, 3, 4, 4))
    _, tree = tree_with_leaves(game, 1, square)
    tree.update_average_policy()
    best = float(tree.evaluate(best=Players.SECOND)[1] @ tree.root_ranges[1])
    by_bid = [sum(square[g, bid, 0].sum(axis=0).min() for g in groups_of(bid) if g) / 3 for bid in range(3)]
    assert best == pytest.approx(-min(by_bid))
    knowing = [sum(square[b, bid, 0].min() for b in range(3)) / 3 for bid in range(3)]
    assert best < -min(knowing)  # it does not see player 0's bid


def groups_of(second: int) -> list[list[int]]:
    """Player 0's bids by who wins against player 1's bid."""
    return [[b for b in range(3) if b > second], [b for b in range(3) if b < second], [second]]


def test_whoever_chooses_at_leaves_takes_its_best() -> None:
    """Rock, paper, scissors at every leaf, where the other has chosen rock."""
    game = make_history_game(GOOF.format(3, "descending"))
    rps = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    table = np.broadcast_to(rps, (3, 3, 3, 3))
    for chooser, value in ((0, 1.0), (1, -1.0)):
        _, tree = tree_with_leaves(game, chooser, table)
        tree.iterate(CFR_PLUS, 300)
        tree.update_average_policy()
        assert exact.measure(tree).value == pytest.approx(value, abs=0.02)


def test_where_nobody_chooses_a_leaf_is_worth_what_the_policy_gets() -> None:
    """The other transformations do not matter then: the search is the one with the identity alone."""
    name = GOOF.format(4, "descending")
    game = make_history_game(name)
    policies = [[RandomPolicy(game, 4 * p + k) for k in range(4)] for p in (0, 1)]
    many, alone = ExactCritic(game, policies), ExactCritic(game, [own[:1] for own in policies])
    state, found = middle(game, 3, 0), []
    for critic, choosers in ((many, "opponent"), (many, "nobody"), (alone, "opponent")):
        settings = SepotSearchSettings(50, DepthLimit(1), gadget="critic", choosers=choosers)
        found.append(SepotSearch(game, policies[0][0], critic, settings).policy(state, int(game.actors(state)[0])))
    assert np.array_equal(found[1], found[2]) and not np.allclose(found[0], found[1])


# --- what the search finds ---


@lru_cache(maxsize=2)
def solved(name: str) -> tuple[PublicTree, exact.Policy]:
    public = whole_tree(make_game(name))
    return public, exact.policy_of(exact.solve(public, CFR_PLUS, 400))


def searched_policy(public: PublicTree, policy: exact.Policy, search: SepotSearch, only: set[int]) -> exact.Policy:
    """A policy with what the search plays at some public nodes."""
    seen, out = infostates_of(public), dict(policy)
    for n in only:
        first, stop = seen.starts[n]
        out[n] = policy_at(public, n, search.policy(seen.states[first:stop], public.actor(n)))
    return out


def noisy(public: PublicTree, policy: exact.Policy, nodes: set[int]) -> exact.Policy:
    """A policy made uniform at some nodes."""
    out = dict(policy)
    for n in nodes:
        legal = public.legal(n)
        out[n] = legal / np.maximum(legal.sum(axis=0), 1.0)
    return out


def test_leducs_second_round_is_solved_again() -> None:
    """A network that plays the second round at random, an exact critic of the equilibrium: the search repairs it."""
    public, policy = solved("leduc_poker")
    game = make_history_game("leduc_poker")
    seen = infostates_of(public)
    late = {n for n, (first, _) in seen.starts.items() if seen.states[first, 2] >= 0}
    good = exact.measure_policy(public, policy).exploitability
    broken = noisy(public, policy, late)
    assert exact.measure_policy(public, broken).exploitability > 1.0
    equilibrium = TablePolicy(public, policy)
    critic = ExactCritic(game, [[equilibrium], [equilibrium]])
    for gadget, most in (("previous", 0.01), ("critic", 0.1)):
        # The equilibrium's values bind later searches to what earlier ones no longer play: hence the wider bound.
        settings = SepotSearchSettings(iterations=300, limit=DepthLimit(0), gadget=gadget)
        search = SepotSearch(game, TablePolicy(public, broken), critic, settings)
        repaired = exact.measure_policy(public, searched_policy(public, broken, search, late)).exploitability
        assert repaired < good + most


class Generous:
    """A critic who thinks that the opponent wins everything, so that a gadget's opponent always leaves."""

    def values(self, states: np.ndarray, chooser: int) -> np.ndarray:
        return np.full((len(states), 1), 13.0 if chooser == 0 else -13.0)


def test_where_the_opponent_always_leaves_its_own_range_lets_the_search_learn() -> None:
    """Leduc's second round, played at random by the network, the first as in an equilibrium."""
    public, policy = solved("leduc_poker")
    game = make_history_game("leduc_poker")
    seen = infostates_of(public)
    late = {n for n, (first, _) in seen.starts.items() if seen.states[first, 2] >= 0}
    table = TablePolicy(public, noisy(public, policy, late))
    found = []
    for alpha in (PAPERS_ALPHA, 0.9):
        settings = SepotSearchSettings(iterations=300, limit=DepthLimit(0), alpha=alpha)
        search = SepotSearch(game, table, Generous(), settings)
        found.append(exact.measure_policy(public, searched_policy(public, policy, search, late)).exploitability)
    assert found[1] < 0.5 * found[0]
    with pytest.raises(SettingError, match="alpha"):
        SepotSearchSettings(alpha=1.5)


def test_a_search_from_the_start_with_exact_leaves_is_near_an_equilibrium() -> None:
    """Goofspiel 4, one bid each and then pure policies' worth: with the opponent's best answers among the choices."""
    name = GOOF.format(3, "descending")
    public, policy = solved(name)
    game = make_history_game(name)
    table = TablePolicy(public, policy)
    options = [[table, *(RandomPolicy(game, k) for k in range(3))] for _ in (0, 1)]
    for gadget in ("critic", "previous"):
        settings = SepotSearchSettings(iterations=300, gadget=gadget)
        search = SepotSearch(game, table, ExactCritic(game, options), settings)
        found = searched_policy(public, policy, search, set(public.decisions()))
        assert exact.measure_policy(public, found).exploitability < 0.02
        assert search.searched > 3


class Unseen(HistoryGame):
    """A 3x3 game in which nobody sees that player 0 has moved: both players act at the same public row."""

    payoffs = np.array([[2.0, -1.0, 0.0], [0.0, 1.0, -1.0], [-3.0, 0.0, 1.0]])

    def __init__(self) -> None:
        self.name, self.u_max, self.num_actions, self.num_outcomes, self.longest = "unseen", 3.0, 3, 0, 2
        self.num_inputs, self.num_private = 1, 1

    def begin(self, count: int) -> np.ndarray:
        return np.full((count, 2), -1, dtype=np.int32)

    def actors(self, states: np.ndarray) -> np.ndarray:
        return np.select([states[:, 0] < 0, states[:, 1] < 0], [0, 1], TERMINAL).astype(np.int32)

    def legal(self, states: np.ndarray) -> np.ndarray:
        return np.repeat((self.actors(states) != TERMINAL)[:, None], 3, axis=1)

    def chances(self, states: np.ndarray) -> np.ndarray:
        return np.zeros((len(states), 0))

    def step(self, states: np.ndarray, actions: np.ndarray) -> None:
        rows = np.flatnonzero(actions >= 0)
        states[rows, (states[rows] >= 0).sum(axis=1)] = actions[rows]

    def utilities(self, states: np.ndarray) -> np.ndarray:
        return np.where(states[:, 1] >= 0, self.payoffs[states[:, 0], states[:, 1]], 0.0)

    def inputs(self, states: np.ndarray, viewers: np.ndarray) -> np.ndarray:
        return np.zeros((len(states), 1), dtype=np.float32)

    def public(self, states: np.ndarray) -> np.ndarray:
        return np.where((states[:, 1] >= 0)[:, None], states, -1).astype(np.int32)

    def private(self, states: np.ndarray, viewers: np.ndarray) -> np.ndarray:
        return np.where(viewers == 0, states[:, 0], -1)[:, None].astype(np.int32)


class Uniform:
    """Three actions alike."""

    def __call__(self, states: np.ndarray, player: int) -> np.ndarray:
        return np.full((len(states), 3), 1 / 3)


def test_both_players_policies_at_one_public_row_are_kept_apart() -> None:
    """In whichever order they are asked for; player 1's is that of the game where it moves first, too."""
    game, found = Unseen(), []
    begun = game.begin(1)
    moved = begun.copy()
    game.step(moved, np.array([2]))
    for order in ((0, 1), (1, 0)):
        search = SepotSearch(game, Uniform(), Generous(), SepotSearchSettings(300, DepthLimit(0)))
        policies = {player: search.policy((begun, moved)[player], player) for player in order}
        found.append(np.stack((policies[0], policies[1])))
    np.testing.assert_array_equal(found[0], found[1])
    rows, columns = found[0][:, 0]
    value = rows @ game.payoffs @ columns
    assert (game.payoffs @ columns).max() - value < 0.02 and value - (rows @ game.payoffs).min() < 0.02


def test_large_subgames_are_left_to_the_network() -> None:
    game = make_history_game(GOOF.format(5, "random"))
    policy = RandomPolicy(game)
    search = SepotSearch(game, policy, ExactCritic(game, [[policy], [policy]]), SepotSearchSettings(most=20))
    state = middle(game, 3, 0)
    player = int(game.actors(state)[0])
    np.testing.assert_array_equal(search.policy(state, player), policy(state, player))
    assert search.searched == 0
    with pytest.raises(SettingError, match="no gadget is called"):
        SepotSearchSettings(gadget="none")


def test_an_error_of_the_rules_is_no_large_subgame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Left to the network, it would be a search that nobody knows is missing."""
    game = make_history_game(GOOF.format(4, "random"))
    policy = RandomPolicy(game)
    search = SepotSearch(game, policy, ExactCritic(game, [[policy], [policy]]), SepotSearchSettings())
    state = middle(game, 3, 0)

    def broken(public: np.ndarray, most: int) -> np.ndarray:
        raise GameError("the rules are wrong")

    monkeypatch.setattr(game, "consistent", broken)
    with pytest.raises(GameError, match="the rules are wrong"):
        search.policy(state, int(game.actors(state)[0]))


def test_a_search_deeper_than_one_round_needs_the_values_of_the_search_before() -> None:
    """Goofspiel 4 with exact values of a noisy equilibrium: the default is near an equilibrium, the critic's is not.

    The critic says what the network's play is worth to the opponent, which is not what a plan over three rounds
    relied on; planned from such values at every step, play is no better than to depth 1.
    """
    public, policy = solved(GOOF.format(4, "descending"))
    game = make_history_game(GOOF.format(4, "descending"))
    blueprint, rng = {}, np.random.default_rng(0)
    for n, played in policy.items():
        weights = (played + 0.01) * np.exp(rng.normal(size=played.shape)) * (public.legal(n) > 0)
        blueprint[n] = weights / weights.sum(axis=0)
    table = TablePolicy(public, blueprint)
    critic = ExactCritic(game, [[table], [table]])
    alone = exact.measure_policy(public, blueprint).exploitability
    found = {}
    for gadget in ("critic", "previous"):
        search = SepotSearch(game, table, critic, SepotSearchSettings(200, DepthLimit(3), gadget=gadget))
        everywhere = searched_policy(public, blueprint, search, set(public.decisions()))
        found[gadget] = exact.measure_policy(public, everywhere).exploitability
    assert alone > 0.1 and found["previous"] < 0.1 * alone and found["critic"] > 0.5 * alone
    assert SepotSearchSettings().gadget == "previous"


def test_a_subgame_ends_where_it_still_fits() -> None:
    """Goofspiel 4: as many rounds as have no more histories than may be listed, one at least."""
    game = make_history_game(GOOF.format(4, "descending"))
    states, one = game.begin(1), np.ones(1)
    deal(game, states, np.random.default_rng(0))
    sizes = {depth: len(grow(game, states, one, DepthLimit(depth), 10**6)) for depth in (0, 1, 2, 3)}
    assert sizes[1] < sizes[2] < sizes[3] <= sizes[0]
    for most, depth in ((sizes[0], 0), (sizes[0] - 1, 2 if sizes[3] == sizes[0] else 3), (sizes[2], 2), (sizes[1], 1)):
        below = grow(game, states, one, DepthLimit(0, fitted=True), most)
        assert len(below) == sizes[depth] and below.leaf.any() == (depth > 0)
    with pytest.raises(TooManyHistories):
        grow(game, states, one, DepthLimit(0, fitted=True), sizes[1] - 1)
    with pytest.raises(TooManyHistories):
        grow(game, states, one, DepthLimit(0), sizes[0] - 1)


def test_a_subgame_that_ends_at_chance_begins_there_too() -> None:
    """Leduc's decisions of a round share one subgame, so that the round is solved once, as in the paper (C.1)."""
    public, policy = solved("leduc_poker")
    game = make_history_game("leduc_poker")
    table = TablePolicy(public, policy)
    settings = SepotSearchSettings(10, DepthLimit(0, at_chance=True))
    search = SepotSearch(game, table, ExactCritic(game, [[table], [table]]), settings)
    begins: dict[tuple[int, int], set[bytes]] = {}
    seen = infostates_of(public)
    for first, _ in seen.starts.values():
        state = seen.states[first : first + 1]
        root = search._root(game.public(state)[0], int(game.actors(state)[0]))
        begins.setdefault((int(state[0, 2]), int(state[0, 2] >= 0)), set()).add(root.public.tobytes())
        assert root.acted == ((state[0, 2] >= 0), (state[0, 2] >= 0))
    assert {late: len(rows) for (_, late), rows in begins.items() if not late} == {0: 1}


def test_a_subgame_that_ends_at_chance_has_no_other_limit() -> None:
    for limit in ({"depth": 1}, {"depth": 0, "fitted": True}):
        with pytest.raises(SettingError, match="ends at chance"):
            DepthLimit(at_chance=True, **limit)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="no negative number"):
        DepthLimit(-1)


def test_a_subgame_with_too_many_pairs_of_infostates_is_searched_less_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goofspiel 4, whose histories fit and matrices do not: so many rounds as do, or the network."""
    game = make_history_game(GOOF.format(4, "descending"))
    policy = RandomPolicy(game)
    critic, begun = ExactCritic(game, [[policy], [policy]]), game.begin(1)
    deal(game, begun, np.random.default_rng(0))
    public, player = game.public(begun)[0], int(game.actors(begun)[0])
    sizes = []
    for pairs in (10**6, 1_000, 100, 1):
        monkeypatch.setattr(subgame, "_PAIRS", pairs)
        found = SepotSearch(game, policy, critic, SepotSearchSettings(10)).search(public, player)
        sizes.append(0 if found is None else found.histories)
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) >= 3 and sizes[-1] == 0
    monkeypatch.setattr(subgame, "_PAIRS", 1_000)
    assert SepotSearch(game, policy, critic, SepotSearchSettings(10, DepthLimit(0))).search(public, player) is None
