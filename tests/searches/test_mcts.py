"""MCTS with PUCT: AlphaZero's pseudocode as the reference, tactics, batches, trees that are kept, chance."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sog.algorithms.alphazero.player import AlphaZeroSearch
from sog.errors import GameError, SettingError, TooLarge
from sog.games.base import TERMINAL, Fan, Game, Operator, Scaled, plain_moves
from sog.games.catalog import make_game
from sog.opponents.random_player import RandomPlayer
from sog.play.match import PlayerContestant, play_match_game
from sog.play.player import Limits
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import DCFR
from sog.searches.leaves.drive import drive, run
from sog.searches.leaves.evaluator import Evaluations, zero_answer, zero_evaluator
from sog.searches.mcts.kernels import AWAITED, Stat
from sog.searches.mcts.search import PuctSettings, PuctTree, child_of, search
from sog.searches.tree.public_tree import PublicTree

TIC_TAC_TOE = make_game("tic_tac_toe")


def scrambled(requests):
    """Values and logits that depend on nothing but the state, and differ from state to state."""
    return [scrambled_answer(beliefs) for beliefs in requests]


def scrambled_answer(beliefs):
    values, logits = [], []
    for node in beliefs.nodes:
        rng = np.random.default_rng(list(beliefs.public.states[node]))
        v = rng.uniform(-0.9, 0.9)
        values.append([v, -v])
        logits.append(rng.normal(size=(1, beliefs.public.game.num_actions)))
    return Evaluations(np.array(values), np.array(logits))


def searched(squares, simulations, evaluator=zero_evaluator, seed=0, **options):
    """A finished search of tic-tac-toe after these moves."""
    public, node = after(squares)
    tree = PuctTree(public, node)
    run(search(tree, simulations, PuctSettings(**options), np.random.default_rng(seed)), evaluator)
    return tree


def after(squares):
    public, node = PublicTree(TIC_TAC_TOE), 0
    for square in squares:
        node = child_of(public, node, TIC_TAC_TOE.actions(public.states[node]).tolist().index(square))
    return public, node


def best(tree):
    """The square visited most."""
    return int(TIC_TAC_TOE.actions(tree.public.states[tree.state])[tree.visits().argmax()])


# --- the reference ---


class Plain:
    """AlphaZero's pseudocode, one node an object: values are the actor's chances in [0, 1]."""

    def __init__(self, state, prior=0.0):
        self.state, self.prior, self.visits, self.total, self.children = state, prior, 0, 0.0, []

    def open(self):
        """The value for player 0 in [-1, 1]."""
        actor = TIC_TAC_TOE.actor(self.state)
        if actor == 3:
            return TIC_TAC_TOE.payoff(self.state).scale
        rng = np.random.default_rng(list(self.state))
        value, logits = rng.uniform(-0.9, 0.9), rng.normal(size=(1, 9))[0]
        actions = TIC_TAC_TOE.actions(self.state)
        p = np.exp(logits[actions])
        children = TIC_TAC_TOE.fan(self.state).children
        self.children = [Plain(child, x) for child, x in zip(children, p / p.sum(), strict=True)]
        return value

    def best_child(self, loses, own_value):
        visits = 1 + sum(child.visits for child in self.children)
        explore = (math.log((visits + 19_653) / 19_652) + 1.25) * math.sqrt(visits)
        sign = 1 if TIC_TAC_TOE.actor(self.state) == 0 else -1
        mean = (own_value + sum(child.total for child in self.children)) / visits
        first = 0.0 if loses else 0.5 + 0.5 * sign * mean

        def score(child):
            value = 0.5 + 0.5 * sign * child.total / child.visits if child.visits else first
            return value + explore * child.prior / (1 + child.visits)

        return max(self.children, key=score)


def plain_visits(state, simulations, loses):
    root, own = Plain(state), {}
    own[root] = root.open()
    for _ in range(simulations):
        path = [root]
        while path[-1].children:
            path.append(path[-1].best_child(loses, own[path[-1]]))
        leaf = path[-1]
        if leaf not in own:
            own[leaf] = leaf.open()
        for node in path[1:]:
            node.visits += 1
            node.total += own[leaf]
    return [child.visits for child in root.children]


@pytest.mark.parametrize("squares", [[], [4], [0, 4, 8], [0, 4, 1, 2]])
@pytest.mark.parametrize("loses", [False, True])
def test_visits_are_those_of_alphazeros_pseudocode(squares, loses):
    tree = searched(squares, 150, scrambled, first_play_loses=loses)
    assert tree.visits().tolist() == plain_visits(tuple(squares), 150, loses)


def test_golden_run():
    tree = searched([4], 200, scrambled, seed=3, leaves=4, noise=0.25)
    assert tree.visits().tolist() == [13, 69, 42, 1, 5, 60, 1, 9]
    assert tree.value() == pytest.approx(0.0799993662921217, rel=1e-9)
    assert tree.size == 189  # the root, and a node for each simulation that did not end at a known end of the game


# --- tactics with uniform priors and zero values ---


@pytest.mark.parametrize(
    ("squares", "square"),
    [
        ([0, 3, 1, 4], 2),  # x completes the row
        ([0, 3, 1, 4, 8], 5),  # o completes the row
        ([0, 4, 1], 2),  # o must block
        ([0, 3, 8, 4], 5),  # x must block
    ],
)
@pytest.mark.parametrize("leaves", [1, 8])
def test_finds_wins_and_blocks(squares, square, leaves):
    assert best(searched(squares, 400, leaves=leaves)) == square


@pytest.mark.parametrize(("squares", "sign"), [([0, 3, 1, 4], 1), ([0, 3, 1, 4, 8], -1), ([0, 4, 8, 1, 7, 6, 2], 0)])
def test_values_are_player_0s(squares, sign):
    value = searched(squares, 2000).value()
    assert value == pytest.approx(sign, abs=0.15)


@pytest.mark.parametrize("seat", [0, 1])
def test_never_loses_with_a_deep_search(seat):
    """Against every play of the opponent; the search has no network at all."""
    public, tree_of = PublicTree(TIC_TAC_TOE), {}

    def walk(node):
        state = public.states[node]
        actor = TIC_TAC_TOE.actor(state)
        if actor == 3:
            return TIC_TAC_TOE.payoff(state).scale * (1 if seat == 0 else -1)
        if actor != seat:
            return min(walk(child_of(public, node, a)) for a in range(9 - len(state)))
        if node not in tree_of:
            tree_of[node] = PuctTree(public, node)
            settings = PuctSettings(c_init=0.5, leaves=8)
            run(search(tree_of[node], 1500, settings, np.random.default_rng(0)), zero_evaluator)
        return walk(child_of(public, node, int(tree_of[node].visits().argmax())))

    assert walk(0) >= 0


# --- counting and batches ---


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 300), st.integers(1, 16), st.sampled_from([[], [4], [0, 3, 1, 4], [0, 3, 1, 4, 8, 2, 5]]))
def test_visits_sum_to_the_simulations(simulations, leaves, squares):
    tree = searched(squares, simulations, scrambled, leaves=leaves)
    assert tree.visits().sum() == simulations
    assert not tree.stats[Stat.VIRTUAL].any()
    for n in range(1, tree.size):  # a node's visits: its own evaluations and those passed on
        passed = tree.visits(n).sum()
        own = tree.stats[Stat.VISITS, tree.nodes.entry[n]]
        ended = tree.nodes.columns[n] == 0
        assert passed == 0 if ended else own == passed + 1


def test_virtual_losses_spread_a_batch():
    public = PublicTree(TIC_TAC_TOE)
    steps = search(PuctTree(public), 9, PuctSettings(leaves=9), np.random.default_rng(0))
    root = next(steps)
    assert root.nodes.tolist() == [0]
    batch = steps.send(zero_answer(root))
    assert sorted(batch.nodes.tolist()) == [child_of(public, 0, a) for a in range(9)]
    with pytest.raises(StopIteration):
        steps.send(zero_answer(batch))


def test_a_batch_ends_where_only_an_awaited_leaf_is_left():
    tree = searched([0, 1, 2, 4, 3, 5, 7, 6], 5, leaves=4)  # one move is left, and it ends the game
    assert tree.visits().tolist() == [5]


def test_searches_side_by_side_are_those_alone():
    public = PublicTree(TIC_TAC_TOE)
    alone = [searched(squares, 100, scrambled, leaves=3).visits() for squares in ([], [0], [4])]
    trees = [PuctTree(public, node) for node in (0, child_of(public, 0, 0), child_of(public, 0, 4))]
    jobs = [AlphaZeroSearch(tree, 100, PuctSettings(leaves=3), np.random.default_rng(0)) for tree in trees]
    assert len(list(drive(jobs, scrambled))) == 3
    for tree, visits in zip(trees, alone, strict=True):
        assert tree.visits().tolist() == visits.tolist()


def test_closing_a_search_forgets_what_it_asked_for():
    public = PublicTree(TIC_TAC_TOE)
    tree = PuctTree(public)
    steps = search(tree, 100, PuctSettings(leaves=4, noise=0.5), np.random.default_rng(0))
    beliefs = next(steps)
    for _ in range(3):
        beliefs = steps.send(zero_answer(beliefs))
    steps.close()
    assert tree.visits().sum() == 8
    assert not tree.stats[Stat.VIRTUAL].any()
    assert np.allclose(tree.stats[Stat.PRIOR, tree.columns()], 1 / 9)
    run(search(tree, 20, PuctSettings(), np.random.default_rng(0)), zero_evaluator)
    assert tree.visits().sum() == 28


@pytest.mark.parametrize("leaves", [1, 4])
def test_leaves_that_cannot_be_listed_are_given_up(leaves):
    """A later search on this tree would otherwise wait for their answers for ever."""
    tree = PuctTree(PublicTree(TIC_TAC_TOE, limit=40))
    for _ in range(3):
        with pytest.raises(TooLarge):
            run(search(tree, 200, PuctSettings(leaves=leaves), np.random.default_rng(0)), zero_evaluator)
        used = slice(0, int(tree.counts.columns[0]))
        assert not tree.stats[Stat.VIRTUAL].any() and (tree.child[used] != AWAITED).all()


@pytest.mark.parametrize(("values", "logits"), [(np.nan, 0.0), (0.0, np.inf)])
def test_answers_that_are_not_finite_are_refused_and_forgotten(values, logits):
    def answers(requests):
        (answer,) = zero_evaluator(requests)
        return [Evaluations(answer.values + values, answer.logits + logits) if tree.size == 5 else answer]

    tree = PuctTree(PublicTree(TIC_TAC_TOE))
    with pytest.raises(SettingError, match="values" if values else "logits"):
        run(search(tree, 20, PuctSettings(), np.random.default_rng(0)), answers)
    assert tree.visits().sum() == 4 and not tree.stats[Stat.VIRTUAL].any()
    run(search(tree, 20, PuctSettings(), np.random.default_rng(0)), zero_evaluator)
    assert tree.visits().sum() == 24


# --- the root's noise ---


def test_noise_is_drawn_from_the_generator_and_taken_off_again():
    one, same, other = (searched([], 300, scrambled, seed=seed, noise=0.5) for seed in (1, 1, 2))
    clean = searched([], 300, scrambled)
    assert one.visits().tolist() == same.visits().tolist()
    assert one.visits().tolist() != other.visits().tolist()
    assert one.visits().tolist() != clean.visits().tolist()
    priors = [tree.stats[Stat.PRIOR, tree.columns()] for tree in (one, clean)]
    assert np.array_equal(*priors)


# --- a tree that is kept ---


@pytest.mark.parametrize("column", [0, 4, 7])
def test_advance_keeps_all_that_was_found_below(column):
    tree = searched([], 500, scrambled, leaves=4)
    n = int(tree.child[tree.columns()][column])
    state = int(tree.nodes.public[n])
    before = snapshot(tree, n)
    tree.advance(state)
    assert tree.size == len(before)
    assert snapshot(tree, 0) == before
    run(search(tree, 100, PuctSettings(), np.random.default_rng(0)), scrambled)
    assert tree.visits().sum() == 100 + sum(before[state][0])


def snapshot(tree, top):
    """Everything below node `top`, by public node."""
    out, waiting = {}, [top]
    while waiting:
        n = waiting.pop()
        at = tree.columns(n)
        s = int(tree.nodes.public[n])
        rows = [tree.stats[row, at].tolist() for row in (Stat.VISITS, Stat.TOTAL, Stat.PRIOR)]
        out[s] = (*rows, float(tree.values[n]))
        waiting.extend(int(c) for c in tree.child[at] if c >= 0)
    return out


def test_advance_by_two_moves_and_beyond_the_tree():
    public = PublicTree(TIC_TAC_TOE)
    tree = PuctTree(public)
    run(search(tree, 300, PuctSettings(), np.random.default_rng(0)), zero_evaluator)
    two = child_of(public, child_of(public, 0, 3), 2)
    tree.advance(two)
    assert tree.state == two and tree.size > 1
    deep = two
    for _ in range(4):
        deep = child_of(public, deep, 0)
    tree.advance(deep)
    assert tree.size == 0
    run(search(tree, 10, PuctSettings(), np.random.default_rng(0)), zero_evaluator)
    assert tree.visits().sum() == 10


def test_a_search_can_be_stopped_between_batches():
    tree, counted = PuctTree(PublicTree(TIC_TAC_TOE)), []

    def stopped(simulations):
        counted.append(simulations)
        return len(counted) == 3

    run(search(tree, 10**9, PuctSettings(leaves=4), np.random.default_rng(0), stopped), zero_evaluator)
    assert counted == [4, 8, 12]
    assert tree.visits().sum() == 12
    assert not tree.stats[Stat.VIRTUAL].any()


def test_a_search_whose_tree_is_complete_can_be_stopped():
    """Every simulation ends at a terminal: no leaf hands control back."""
    tree, counted = PuctTree(PublicTree(TIC_TAC_TOE)), []
    node, free = 0, list(range(9))
    for square in (0, 1, 2, 4, 3, 5, 7):  # two squares are left
        node = child_of(tree.public, node, free.index(square))
        free.remove(square)
    tree.advance(node)

    def stopped(simulations):
        counted.append(simulations)
        return simulations > 5_000

    run(search(tree, 2**40, PuctSettings(leaves=4), np.random.default_rng(0), stopped), zero_evaluator)
    assert counted[-1] <= 7_000 and tree.visits().sum() == counted[-1]


def test_an_error_while_it_looks_whether_to_stop_loses_no_answer():
    tree, counted = PuctTree(PublicTree(TIC_TAC_TOE)), []

    def stopped(simulations):
        counted.append(simulations)
        if len(counted) == 3:
            raise OSError

    with pytest.raises(OSError):
        run(search(tree, 10**9, PuctSettings(leaves=4), np.random.default_rng(0), stopped), zero_evaluator)
    assert tree.visits().sum() == 12 and not tree.stats[Stat.VIRTUAL].any()
    run(search(tree, 20, PuctSettings(), np.random.default_rng(0)), zero_evaluator)
    assert tree.visits().sum() == 32 and not tree.stats[Stat.VIRTUAL].any()


def test_the_line_follows_the_visits():
    tree = searched([0, 3, 1, 4], 200)
    assert tree.line() == [int(tree.visits().argmax())]  # the win ends the game


# --- chance, and what is refused ---


class Bet(Game):
    """Player `better` keeps 0.4, or plays for 1 with a chance of 3 in 4, losing 1 otherwise: 0.5 on average."""

    def __init__(self, better):
        self.name, self.u_max, self.num_actions, self.num_slots, self.num_features = "bet", 1.0, 2, (1, 1), 1
        self.perfect_information, self.better, self.one = True, better, Operator(np.ones((1, 1)))

    def root(self):
        return "root"

    def actor(self, s):
        return {"root": self.better, "bet": 2}.get(s, 3)

    def num_infostates(self, s):
        return 1, 1

    def actions(self, s):
        return np.arange(2 if s == "root" else 0, dtype=np.int32)

    def fan(self, s):
        return Fan(["keep", "bet"], plain_moves(1, 2)) if s == "root" else Fan(["won", "lost"])

    def weights(self, s):
        return Scaled(self.one, {"won": 0.75, "lost": 0.25}.get(s, 1.0))

    def payoff(self, s):
        utility = {"keep": 0.4, "won": 1.0, "lost": -1.0}[s]
        return Scaled(self.one, (1 if self.better == 0 else -1) * utility * self.weights(s).scale)

    def features(self, s):
        return np.zeros(1, dtype=np.float32)


@pytest.mark.parametrize("better", [0, 1])
@pytest.mark.parametrize("leaves", [1, 4])
def test_chances_are_visited_in_proportion_and_worth_their_mean(better, leaves):
    tree = PuctTree(PublicTree(Bet(better)))
    run(search(tree, 2000, PuctSettings(c_init=0.1, leaves=leaves), np.random.default_rng(0)), zero_evaluator)
    keep, bet = tree.visits()
    assert bet > 2 * keep
    nature = int(tree.child[tree.columns()][1])
    won, lost = tree.visits(nature)
    assert won == pytest.approx(0.75 * (won + lost), abs=1.5)
    assert tree.value(nature) == pytest.approx(0.5 * (1 if better == 0 else -1), abs=0.01)


def test_a_mean_share_divides_out_the_chance_and_matches_have_none():
    public = PublicTree(Bet(0)).list_all()
    tree = Lookahead(public, 0, public.game.root_ranges()).expand_all()
    tree.iterate(DCFR, 10, track=True)
    for n in range(tree.size):
        if public.game.actor(public.states[tree.public_node(n)]) == TERMINAL and not math.isnan(tree.mean_share(n, 0)):
            assert tree.mean_share(n, 0) == pytest.approx(tree.utility(n, (0, 0)))
    seats = (PlayerContestant(RandomPlayer(), Limits()), PlayerContestant(RandomPlayer(), Limits()))
    with pytest.raises(GameError, match="chance is to move in"):
        play_match_game(Bet(0), seats, [1])


def test_hidden_information_is_refused():
    with pytest.raises(SettingError, match="perfect information"):
        PuctTree(PublicTree(make_game("kuhn_poker")))


def test_an_ended_game_is_refused():
    public, node = after([0, 3, 1, 4, 2])
    with pytest.raises(SettingError, match="player acts"):
        PuctTree(public, node)


@pytest.mark.parametrize("options", [{"leaves": 0}, {"noise": 1.5}, {"concentration": -1.0}, {"c_base": 0.0}])
def test_settings_out_of_range(options):
    with pytest.raises(SettingError):
        PuctSettings(**options)


def test_a_position_is_worth_half_the_difference_of_both_values():
    """A network's two values need not sum to 0."""

    def lopsided(requests):
        answers = [zero_answer(beliefs) for beliefs in requests]
        for answer in answers:
            answer.values[:] = 0.7, 0.1
        return answers

    assert searched([], 1, lopsided).value() == searched([4], 1, lopsided).value() == pytest.approx(0.3)
