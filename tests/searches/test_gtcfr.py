"""GT-CFR: its budget, what it asks, how its tree grows, what it counts, and that it converges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import pytest

from sog.arrays import Float64, Int32
from sog.errors import SettingError
from sog.games.base import NATURE, TERMINAL, Fan, Game, Operator, Scaled, State, plain_moves
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.catalog import make_game
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc, LeducState
from sog.games.rules.liars_dice import LiarsDice
from sog.games.rules.rps import RockPaperScissors
from sog.play.resolver import derive_generator
from sog.searches.cfr import exact
from sog.searches.cfr.exact import ExactEvaluator
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import CFR_PLUS, DCFR, SOG, Rule
from sog.searches.gtcfr.search import SearchLog, search
from sog.searches.gtcfr.settings import PAPER, POG, Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations, Evaluator, Wanted, zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Infostate, Kind

BEST = SearchSettings()
# Without what the papers' search lacks, either rule.
PLAIN = replace(PAPER, rule=DCFR)
RULES = pytest.mark.parametrize("settings", [PLAIN, PAPER], ids=["alternating", "simultaneous"])


@dataclass
class Recorder:
    """Answers arbitrarily, the same for the same public state, and keeps what it was asked."""

    scale: float = 1.0
    asked: list[tuple[Int32, Float64]] = field(default_factory=list)

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        return [self.answer(beliefs) for beliefs in requests]

    def answer(self, beliefs: Beliefs) -> Evaluations:
        self.asked.append((beliefs.nodes.copy(), beliefs.ranges.copy()))
        game, turn = beliefs.public.game, beliefs.nodes[:, None] + 1.0
        values = self.scale * np.sin(turn * np.arange(1.0, sum(game.num_slots) + 1))
        count = max(game.num_slots) * game.num_actions
        logits = np.cos(turn * np.arange(1.0, count + 1)).reshape(-1, max(game.num_slots), game.num_actions)
        return Evaluations(values, logits)


def searched(
    game: Game,
    budget: Budget,
    evaluator: Evaluator = zero_evaluator,
    settings: SearchSettings = BEST,
    seed: int = 0,
    log: SearchLog | None = None,
    path: Sequence[int] = (),
) -> tuple[Lookahead, int]:
    """A finished search from the root, growing below the end of `path` (edges from the root), and its start node."""
    tree, start = Lookahead(PublicTree(game), 0, game.root_ranges()), 0
    for edge in path:
        tree.expand(start)
        start = int(tree.child.node[tree.nodes.child0[start] + edge])
    run(search(tree, start, budget, settings, derive_generator(seed, 0, 0), log=log), evaluator)
    return tree, start


def decisions(tree: Lookahead) -> list[int]:
    return [n for n in range(tree.size) if tree.nodes.kind[n] == Kind.INTERIOR and tree.nodes.actor[n] < NATURE]


# --- budgets ---


@pytest.mark.parametrize(
    ("simulations", "per_update", "rounds", "expansions", "updates"),
    [
        (100, 0.1, 100, 1, 10),  # 100 expansions and 1,000 updates
        (1000, 10, 100, 10, 1),  # 1,000 expansions and 100 updates
        (1000, 1, 1000, 1, 1),
        (10, 0.01, 10, 1, 100),
        (10, 0.3, 10, 1, 4),
        (7, 2.5, 3, 3, 1),
        (1, 1, 1, 1, 1),
        (10, 1e12, 1, 10**12, 1),
    ],
)
def test_budget(simulations: int, per_update: float, rounds: int, expansions: int, updates: int) -> None:
    budget = Budget(simulations, per_update)
    assert (budget.rounds, budget.expansions, budget.updates) == (rounds, expansions, updates)


@pytest.mark.parametrize(
    ("simulations", "per_update", "why"),
    [
        (0, 1.0, "simulations is a whole number of at least 1, not 0"),
        (-3, 1.0, "simulations is a whole number of at least 1, not -3"),
        (10, 0.0, "a finite number above 0"),
        (10, -1.0, "a finite number above 0"),
        (10, float("nan"), "a finite number above 0"),
        (10, float("inf"), "a finite number above 0"),
        (10, 1e-310, "at least 1e-06"),
        (10, 1e-300, "at least 1e-06"),  # it would never end
    ],
)
def test_bad_budgets(simulations: int, per_update: float, why: str) -> None:
    with pytest.raises(SettingError, match=why):
        Budget(simulations, per_update)


@pytest.mark.parametrize(
    "wrong", [{"prior_temperature": 0.0}, {"c_puct": -1.0}, {"warm_start": float("nan")}, {"c_puct": float("inf")}]
)
def test_bad_settings(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingError, match="must be"):
        SearchSettings(**wrong)  # type: ignore[arg-type]


def shaped(values: tuple[int, ...], logits: tuple[int, ...]) -> Evaluator:
    """An evaluator that answers with arrays of so much for each belief."""

    def evaluator(requests: Sequence[Beliefs]) -> list[Evaluations]:
        counts = [len(beliefs.nodes) for beliefs in requests]
        return [Evaluations(np.zeros((count, *values)), np.zeros((count, *logits))) for count in counts]

    return evaluator


@pytest.mark.parametrize(("values", "logits"), [((2,), (6, 3)), ((12,), (1, 1)), ((12,), (6, 2)), ((), (6, 3))])
def test_answers_of_another_shape_are_refused(values: tuple[int, ...], logits: tuple[int, ...]) -> None:
    """Kernels would read past their ends."""
    public = PublicTree(Leduc())
    tree = Lookahead(public, 0, public.game.root_ranges())
    with pytest.raises(SettingError, match=r"an evaluator answered (values|logits) of shape"):
        run(search(tree, 0, Budget(10, 1.0), BEST, derive_generator(0, 0, 0)), shaped(values, logits))


def test_after_a_restart_leaves_are_evaluated_again() -> None:
    public, half = PublicTree(TicTacToe()), Believer()
    tree = Lookahead(public, 0, public.game.root_ranges())
    run(search(tree, 0, Budget(10, 1.0), BEST, derive_generator(0, 0, 0)), half)
    tree.restart(public.game.root_ranges())
    half.kept.clear()
    run(search(tree, 0, Budget(10, 1.0), BEST, derive_generator(0, 0, 0)), half)
    evaluated = {int(node) for beliefs in half.kept for node in beliefs.nodes}
    leaves = {tree.public_node(n) for n in range(tree.size) if tree.nodes.kind[n] == Kind.LEAF}
    assert leaves and leaves <= evaluated


def test_priors_that_are_no_numbers_are_refused() -> None:
    def broken(requests: Sequence[Beliefs]) -> list[Evaluations]:
        return [answer._replace(logits=np.full_like(answer.logits, np.nan)) for answer in zero_evaluator(requests)]

    tree = Lookahead(PublicTree(TicTacToe()), 0, TicTacToe().root_ranges())
    with pytest.raises(SettingError, match="logits that are not finite"):
        run(search(tree, 0, Budget(10, 1.0), BEST, derive_generator(0, 0, 0)), broken)


def test_budgets_are_written_as_in_the_papers() -> None:
    assert [str(Budget(100, c)) for c in (0.1, 1.0, 10.0)] == ["(100,0.1)", "(100,1)", "(100,10)"]


# --- what is asked, and how often ---


@RULES
@pytest.mark.parametrize("budget", [Budget(20, 0.25), Budget(12, 1.0), Budget(60, 10.0)], ids=str)
def test_one_evaluation_of_all_leaves_an_iteration(settings: SearchSettings, budget: Budget) -> None:
    recorder = Recorder()
    tree, _ = searched(LiarsDice(1, 4), budget, recorder, asking_every_leaf(settings))
    assert tree.iterations == budget.rounds * budget.updates
    assert len(recorder.asked) == 1 + tree.iterations  # the first look at the root
    for nodes, ranges in recorder.asked:
        assert len(set(nodes.tolist())) == len(nodes)
        np.testing.assert_allclose(ranges[:, :4].sum(axis=1), 1.0)
        np.testing.assert_allclose(ranges[:, 4:].sum(axis=1), 1.0)
    leaves = [n for n in range(tree.size) if tree.nodes.kind[n] == Kind.LEAF]
    assert recorder.asked[-1][0].tolist() == tree.nodes.public[leaves].tolist()


@pytest.mark.parametrize("budget", [Budget(300, 1.0), Budget(100, 0.1), Budget(300, 10.0)], ids=str)
def test_perfect_information_asks_about_each_public_state_once_ever(budget: Budget) -> None:
    recorder = Recorder(0.3)
    tree, _ = searched(TicTacToe(), budget, recorder)
    asked = [int(n) for nodes, _ in recorder.asked for n in nodes]
    assert len(asked) == len(set(asked))
    assert set(asked) == {int(n.public) for n in tree.nodes[: tree.size] if n.kind != Kind.ENDED}


@pytest.mark.parametrize("budget", [Budget(40, 1.0), Budget(40, 0.1)], ids=str)
def test_perfect_information_adds_one_node_an_expansion(budget: Budget) -> None:
    recorder = Recorder(0.01)
    tree, start = searched(TicTacToe(), budget, recorder)
    assert tree.size == 1 + budget.simulations  # the tree is too small for a trajectory to end the game
    assert tree.table(start, Entry.VISITS).sum() == budget.simulations - 1  # the first opened the start itself


# --- growth ---


def test_the_tree_grows_below_its_start_only() -> None:
    tree, start = searched(Leduc(), Budget(60, 1.0), Recorder(), PLAIN, path=(0, 1))
    assert start > 0
    for n in range(tree.size):
        if tree.nodes.kind[n] == Kind.INTERIOR and n > start:
            above = n
            while above > start:
                above = int(tree.nodes.parent[above])
            assert above == start
    assert sum(tree.nodes.kind[: tree.size] == Kind.INTERIOR) > 10


def test_imperfect_information_adds_all_children() -> None:
    tree, _ = searched(Leduc(), Budget(60, 1.0), Recorder())
    for n in range(tree.size):
        if tree.nodes.kind[n] == Kind.INTERIOR:
            first = tree.nodes.child0[n]
            assert (tree.child.node[first : first + tree.nodes.edges[n]] >= 0).all()


@RULES
def test_visits_add_up(settings: SearchSettings) -> None:
    """Each trajectory but the one that opened a node goes on from it."""
    budget = Budget(80, 1.0)
    tree, start = searched(LiarsDice(2, 3), budget, Recorder(), settings)
    assert (tree.entries[Entry.VIRTUAL] == 0).all()
    assert tree.table(start, Entry.VISITS).sum() == budget.rounds - 1
    checked = 0
    for n in decisions(tree):
        for a in range(tree.nodes.actions[n]):
            c = int(tree.child.node[tree.nodes.child0[n] + a])
            passed = tree.table(n, Entry.VISITS)[a].sum()
            if tree.nodes.kind[c] == Kind.INTERIOR:
                assert tree.table(c, Entry.VISITS).sum() == passed - 1
                checked += 1
            elif tree.nodes.kind[c] == Kind.LEAF:
                assert passed == 0
    assert checked > 20


def test_virtual_visits_are_cleared_after_each_phase() -> None:
    tree, start = searched(LiarsDice(2, 3), Budget(200, 20.0), Recorder(), PLAIN)
    assert (tree.entries[Entry.VIRTUAL] == 0).all()
    assert tree.table(start, Entry.VISITS).sum() == 9 * 20


def test_a_large_phase_counts_every_visit() -> None:
    """4,000 trajectories in one phase, several actions each: more than a path of fixed length once held."""
    tree, start = searched(LiarsDice(2, 3), Budget(8_000, 4_000.0), zero_evaluator, replace(PLAIN, fill=False))
    assert (tree.entries[Entry.VIRTUAL] == 0).all()
    assert tree.table(start, Entry.VISITS).sum() == 4_000
    assert sum(tree.table(n, Entry.VISITS).sum() for n in decisions(tree)) > 6_000


def test_a_greedy_prior_decides_what_is_opened() -> None:
    """Priors of almost 1 on the last action: PUCT's half of the trajectories opens the line of last actions first."""

    def last_action(requests: Sequence[Beliefs]) -> list[Evaluations]:
        answers = zero_evaluator(requests)
        for beliefs, answer in zip(requests, answers, strict=True):
            for b, node in enumerate(beliefs.nodes):
                actions = beliefs.public.game.actions(beliefs.public.states[int(node)])
                if len(actions):
                    answer.logits[b, :, actions[-1]] = 20.0
        return answers

    def depth(temperature: float) -> int:
        settings = replace(PLAIN, prior_temperature=temperature)
        tree, _ = searched(TicTacToe(), Budget(12, 1.0), last_action, settings)
        return max(len(tree.public.path(int(n))) for n in tree.nodes.public[: tree.size])

    assert depth(1.0) > depth(1e6)


@dataclass
class Believer(Recorder):
    """Answers by the belief as well, so that an answer to an older one shows."""

    kept: list[Beliefs] = field(default_factory=list)

    def answer(self, beliefs: Beliefs) -> Evaluations:
        answers = super().answer(beliefs)
        self.kept.append(beliefs._replace(nodes=beliefs.nodes.copy(), ranges=beliefs.ranges.copy()))
        shift = np.sin(37.0 * beliefs.ranges)
        logits = answers.logits + shift.sum(axis=1)[:, None, None] * answers.logits
        return Evaluations(answers.values * (1.0 + shift), logits)


def asking_every_leaf(settings: SearchSettings) -> SearchSettings:
    """The same search, but that leaves are asked about again whose belief is as it was."""
    always = replace(settings)
    object.__setattr__(always, "tolerance", -1.0)  # no distance is below it
    return always


@pytest.mark.parametrize("budget", [Budget(30, 1.0), Budget(30, 5.0), Budget(12, 0.25)], ids=str)
@pytest.mark.parametrize("settings", [BEST, PAPER, POG], ids=["ours", "SoG's", "PoG's"])
@pytest.mark.parametrize("game", [Leduc(), LiarsDice(1, 3), Goofspiel(3, "random")], ids=lambda game: game.name)
def test_a_leaf_is_asked_about_again_only_when_its_belief_has_moved(
    game: Game, settings: SearchSettings, budget: Budget
) -> None:
    every, moved = Believer(), Believer()
    one, _ = searched(game, budget, every, asking_every_leaf(settings))
    other, _ = searched(game, budget, moved, settings)
    assert same_bits(one, other)
    for beliefs in moved.kept:
        assert len(beliefs.nodes)  # no empty question
    latest: dict[int, bytes] = {}
    for node, ranges in ((n, r) for beliefs in moved.kept for n, r in zip(beliefs.nodes, beliefs.ranges, strict=True)):
        assert latest.get(int(node)) != ranges.tobytes()
        latest[int(node)] = ranges.tobytes()


def test_unmoved_leaves_are_a_share_of_the_questions() -> None:
    """In Liar's Dice with pure policies many beliefs stay; otherwise the rule above would do nothing."""
    every, moved = Believer(), Believer()
    searched(LiarsDice(1, 3), Budget(30, 0.25), every, asking_every_leaf(PAPER))
    searched(LiarsDice(1, 3), Budget(30, 0.25), moved, PAPER)
    asked = [sum(len(beliefs.nodes) for beliefs in recorder.kept) for recorder in (moved, every)]
    assert asked[0] < 0.9 * asked[1]


def test_with_a_tolerance_fewer_leaves_are_asked_about() -> None:
    counts = []
    for tolerance in (0.0, 0.01, 0.1, 2.0):
        recorder = Believer()
        searched(Leduc(), Budget(30, 0.25), recorder, replace(BEST, tolerance=tolerance))
        counts.append(sum(len(beliefs.nodes) for beliefs in recorder.kept))
    assert counts == sorted(counts, reverse=True) and len(set(counts)) == 4
    tree, _ = searched(Leduc(), Budget(30, 0.25), recorder, replace(BEST, tolerance=2.0))
    assert counts[-1] <= tree.size  # each once
    with pytest.raises(SettingError, match="tolerance"):
        SearchSettings(tolerance=-0.1)


@pytest.mark.parametrize("budget", [Budget(30, 1.0), Budget(30, 5.0), Budget(12, 0.25)], ids=str)
@pytest.mark.parametrize("settings", [BEST, PAPER], ids=["ours", "SoG's"])
@pytest.mark.parametrize("game", [Leduc(), LiarsDice(1, 3), Goofspiel(3, "random")], ids=lambda game: game.name)
def test_priors_asked_for_apart_are_those_that_come_with_the_values(
    game: Game, settings: SearchSettings, budget: Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    together, _ = searched(game, budget, Believer(), settings)
    monkeypatch.setattr("sog.searches.tree.room.APART", 1)
    apart = Believer()
    tree, _ = searched(game, budget, apart, settings)
    priors = [beliefs for beliefs in apart.kept if beliefs.wanted is Wanted.POLICIES]
    assert {beliefs.wanted for beliefs in apart.kept} == {Wanted.VALUES, Wanted.POLICIES}
    assert len(priors) == len(decisions(tree)) and all(len(beliefs.nodes) == 1 for beliefs in priors)
    assert tree.counts.nodes == together.counts.nodes and tree.counts.entries < together.counts.entries
    assert tree.infostates.tobytes() == together.infostates.tobytes()
    for n in decisions(tree):  # leaves have entries only where priors come with values
        assert (tree.entries[:, tree.block(n)] == together.entries[:, together.block(n)]).all()


# --- bits ---


def same_bits(one: Lookahead, other: Lookahead) -> bool:
    used = one.counts.tolist()
    return (
        used == other.counts.tolist()
        and bool((one.nodes[: used[0]] == other.nodes[: used[0]]).all())
        and one.infostates[:, : used[1]].tobytes() == other.infostates[:, : used[1]].tobytes()
        and one.entries[:, : used[2]].tobytes() == other.entries[:, : used[2]].tobytes()
    )


@pytest.mark.parametrize("game", [Leduc(), Goofspiel(3, "random"), TicTacToe()], ids=lambda game: game.name)
def test_the_same_seed_gives_the_same_bits(game: Game) -> None:
    trees = [searched(game, Budget(30, 1.0), Recorder(), seed=seed)[0] for seed in (0, 0, 1, 2, 3)]
    assert same_bits(trees[0], trees[1])
    assert not all(same_bits(trees[0], other) for other in trees[2:])


@pytest.mark.parametrize("budget", [Budget(30, 1.0), Budget(30, 5.0), Budget(12, 0.25)], ids=str)
@pytest.mark.parametrize("settings", [BEST, PAPER], ids=["alternating", "simultaneous"])
@pytest.mark.parametrize(
    "game", [Leduc(), LiarsDice(1, 3), Goofspiel(3, "random"), TicTacToe()], ids=lambda game: game.name
)
def test_taking_up_answers_after_each_round_changes_no_bit(
    game: Game, settings: SearchSettings, budget: Budget
) -> None:
    """A search that may be stopped has each round's answers in its tree at once, others with the next look."""
    found = []
    for stoppable in (False, True):
        tree, recorder, log = Lookahead(PublicTree(game), 0, game.root_ranges()), Recorder(), SearchLog(frozenset({5}))
        looks: list[int] = []

        def stopped(tree: Lookahead = tree, looks: list[int] = looks) -> bool:
            looks.append(tree.iterations)
            return False

        rng = derive_generator(1, 0, 0)
        run(search(tree, 0, budget, settings, rng, log=log, stopped=stopped if stoppable else None), recorder)
        found.append((tree, recorder.asked, log.picked, rng))
        assert looks == [budget.updates * k for k in range(1, budget.rounds + 1)] * stoppable
    (late, asked, picked, rng), (early, same_asked, same_picked, same_rng) = found
    assert same_bits(late, early) and rng.tobytes() == same_rng.tobytes()
    assert len(asked) == len(same_asked) > 2 and len(picked) == len(same_picked)
    for one, other in zip((*asked, *picked), (*same_asked, *same_picked), strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("game", [Leduc(), TicTacToe()], ids=lambda game: game.name)
def test_a_stopped_search_is_the_search_of_the_rounds_it_had(game: Game) -> None:
    """Its last answers are in the tree when it is asked whether to stop, and it grows no further."""
    trees = [Lookahead(PublicTree(game), 0, game.root_ranges()) for _ in range(2)]
    stops = iter([False] * 9 + [True])
    rngs = [derive_generator(1, 0, 0) for _ in range(2)]
    run(search(trees[0], 0, Budget(30, 1.0), BEST, rngs[0], stopped=lambda: next(stops)), Recorder())
    run(search(trees[1], 0, Budget(10, 1.0), BEST, rngs[1]), Recorder())
    assert same_bits(trees[0], trees[1]) and trees[0].iterations == 10


@pytest.mark.parametrize("edge", [0, 4])
def test_fill_opens_what_is_below_the_searched_state_first(edge: int) -> None:
    """Positions beside the branch to it, which a game tree without hidden information has no use for, stay leaves."""
    tree, start = searched(TicTacToe(), Budget(300, 1.0), Recorder(), path=(edge,))
    below = {start}
    for n in range(start + 1, tree.size):
        if int(tree.nodes.parent[n]) in below:
            below.add(n)
    beside = [n for n in range(tree.size) if n not in below and tree.nodes.parent[n] > 0]
    assert tree.size > 250 and not beside


class Choosing(Game):
    """Player 0 takes one of so many numbers and wins it: more actions than a tree has room for at first."""

    def __init__(self, count: int) -> None:
        self.name, self.u_max, self.num_slots, self.num_features = f"choosing_{count}", 1.0, (1, 1), 1
        self.num_actions = count

    def root(self) -> State:
        return -1

    def actor(self, s: State) -> int:
        return 0 if s == -1 else TERMINAL

    def num_infostates(self, s: State) -> tuple[int, int]:
        return 1, 1

    def actions(self, s: State) -> np.ndarray:
        return np.arange(self.num_actions if s == -1 else 0, dtype=np.int32)

    def fan(self, s: State) -> Fan:
        return Fan(list(range(self.num_actions)), plain_moves(1, self.num_actions))

    def weights(self, s: State) -> Scaled:
        return Scaled(Operator(np.ones((1, 1))))

    def payoff(self, s: State) -> Scaled:
        return Scaled(Operator(np.ones((1, 1))), int(cast(int, s)) / self.num_actions)

    def features(self, s: State) -> np.ndarray:
        return np.zeros(1, dtype=np.float32)


@pytest.mark.parametrize("count", [300, 500, 3_000])
def test_a_root_may_have_more_actions_than_a_tree_has_room_for_at_first(count: int) -> None:
    """Kernels check no bounds: with 3,000 actions Python died of what was written outside the arrays."""
    tree, _ = searched(Choosing(count), Budget(50, 1.0), Recorder())
    tree.update_average_policy()
    assert tree.policy(0).shape == (count, 1) and tree.policy(0).sum() == pytest.approx(1.0)
    assert (tree.prior(0) > 0).all() and tree.prior(0).max() < 10.0  # of logits that are cosines
    assert (tree.visits(0) >= 0).all() and tree.visits(0).sum() <= 60


# --- queries ---


def test_queries_are_leaf_beliefs_of_the_iterations_asked_for() -> None:
    recorder, log = Recorder(), SearchLog(frozenset({0, 3, 11, 99}))
    searched(LiarsDice(1, 4), Budget(12, 1.0), recorder, log=log)
    assert len(log.picked) == 3  # there is no iteration 99
    for t, (node, ranges) in zip((0, 3, 11), log.picked, strict=True):
        nodes, beliefs = recorder.asked[1 + t]
        at = nodes.tolist().index(node)
        assert (beliefs[at] == ranges).all()


def test_queries_are_spread_over_the_leaves() -> None:
    picked = set()
    for seed in range(30):
        log = SearchLog(frozenset({1}))
        searched(LiarsDice(1, 3), Budget(2, 1.0), Recorder(), seed=seed, log=log)
        picked.add(log.picked[0][0])
    assert len(picked) > 4


def test_a_query_of_an_iteration_that_asks_nothing_is_one_of_the_next_that_does() -> None:
    log, rng = SearchLog(frozenset({1, 2})), derive_generator(0, 0, 0)
    nothing, ranges = np.zeros(0, dtype=np.int32), np.ones((1, 2))
    log.note(1, nothing, np.ones((0, 2)), rng)
    log.note(2, nothing, np.ones((0, 2)), rng)
    assert not log.picked
    log.note(3, np.array([7], dtype=np.int32), ranges, rng)
    assert [node for node, _ in log.picked] == [7, 7]


def test_iterations_that_evaluate_nothing_lose_no_query() -> None:
    """Between two expansions most of them do, since no belief moves in perfect information."""
    log, recorder = SearchLog(frozenset(range(500))), Recorder()
    searched(TicTacToe(), Budget(50, 0.1), recorder, log=log)
    assert len(recorder.asked) < 150 and 490 <= len(log.picked) <= 500


def test_without_leaves_there_are_no_queries() -> None:
    log = SearchLog(frozenset(range(500)))
    searched(Kuhn(), Budget(500, 1.0), Recorder(), log=log)
    assert 0 < len(log.picked) < 100


@pytest.mark.parametrize("game", [LiarsDice(1, 4), TicTacToe()], ids=lambda game: game.name)
def test_uniform_queries_are_spread_over_all_leaf_evaluations(game: Game) -> None:
    """As many of each iteration as it has leaves, so later iterations of a growing tree have more."""
    recorder, count, drawn = Recorder(0.1), 4, []
    for seed in range(400):
        recorder.asked.clear()
        log = SearchLog(uniform=count)
        searched(game, Budget(8, 0.5), recorder, PAPER, seed, log)
        assert len(log.picked) == count
        rows = [zip(nodes, ranges, strict=True) for nodes, ranges in recorder.asked[1:]]
        asked = [(int(n), r.tobytes()) for question in rows for n, r in question]
        places = [[k for k, one in enumerate(asked) if one == (n, r.tobytes())] for n, r in log.picked]
        drawn += [np.mean(found) / (len(asked) - 1) for found in places]  # equal questions stand for one another
    quarters = np.histogram(drawn, bins=4, range=(0.0, 1.0))[0]
    assert quarters.sum() == 400 * count and quarters.min() > 0.2 * 400 * count and quarters.max() < 0.3 * 400 * count


def test_the_searched_state_itself_is_no_query() -> None:
    log = SearchLog(uniform=10_000)
    tree, start = searched(LiarsDice(1, 3), Budget(10, 1.0), Recorder(), PAPER, log=log, path=(2,))
    assert start > 0 and log.picked and tree.public_node(start) not in {node for node, _ in log.picked}
    beside = {tree.public_node(n) for n in range(1, start)}
    assert beside & {node for node, _ in log.picked}  # the branch's other leaves are evaluated as well


# --- values ---


@RULES
@pytest.mark.parametrize("game", [Leduc(), Goofspiel(3, "random")], ids=lambda game: game.name)
def test_values_sum_to_zero_with_the_correction(game: Game, settings: SearchSettings) -> None:
    tree, _ = searched(game, Budget(20, 1.0), Recorder(), replace(settings, correct=True))
    reach, cfv = tree.infostates[Infostate.REACH], tree.infostates[Infostate.CFV]
    for n in range(tree.size):
        mine, other = (reach[tree.span(n, p)] @ cfv[tree.span(n, p)] for p in (0, 1))
        assert mine == pytest.approx(-other, abs=1e-9)
    loose, _ = searched(game, Budget(20, 1.0), Recorder(), SearchSettings(settings.rule, correct=False))
    total = sum(float(loose.ranges(0)[p] @ loose.cfvs(0)[p]) for p in (0, 1))
    assert abs(total) > 1e-3


def root_value(tree: Lookahead) -> float:
    """Player 0's value: the weighted mean over iterations of its values at the root."""
    r0 = tree.root_ranges[0]
    weights = tree.infostates[Infostate.REACH_SUM, tree.span(0, 0)][0] / r0[0]
    return float(tree.infostates[Infostate.CFV_SUM, tree.span(0, 0)] @ r0 / weights)


@pytest.mark.parametrize(
    ("name", "value", "leaf_iterations", "tolerance"),
    [
        ("kuhn_poker", -1 / 18, 60, 1e-3),
        ("leduc_poker", -0.0856064, 30, 1.5e-2),  # of 13 chips
        ("liars_dice(numdice=1,dice_sides=3)", 1 / 9, 60, 1e-2),
        ("goofspiel(imp_info=True,num_cards=3,points_order=descending)", 0.0, 60, 2e-3),
        ("goofspiel(imp_info=True,num_cards=3,points_order=random)", 0.0, 60, 3e-3),
        ("rps", 0.0, 60, 2e-3),
        ("scotland_yard(map=glasses,rounds=3)", 1.0, 60, 1e-9),
    ],
)
def test_exact_leaves_converge_to_the_value_of_the_game(
    name: str, value: float, leaf_iterations: int, tolerance: float
) -> None:
    game, errors = make_game(name), []
    for budget in (Budget(4, 0.25), Budget(10, 0.025)):
        tree, _ = searched(game, budget, ExactEvaluator(leaf_iterations))
        errors.append(abs(root_value(tree) - value))
    assert errors[1] <= tolerance
    assert errors[1] <= errors[0] + 1e-9


def minimax(game: Game, s: State) -> float:
    """Player 0's value of a game of perfect information without chance."""
    if game.actor(s) == TERMINAL:
        return float(game.payoff(s).dense()[0, 0])
    values: list[float] = [minimax(game, child) for child in game.fan(s).children]
    return max(values) if game.actor(s) == 0 else min(values)


@pytest.mark.parametrize("taken", [(0, 1), (0, 4, 1), (0, 4, 8), (4, 0, 8, 2, 1)])
def test_tic_tac_toe_is_played_perfectly_with_exact_leaves(taken: tuple[int, ...]) -> None:
    game = TicTacToe()
    public = PublicTree(game)
    node = 0
    for square in taken:
        public.list_fan(node)
        node = public.child(node, game.actions(public.states[node]).tolist().index(square))
    tree = Lookahead(public, node, (np.ones(1), np.ones(1)))
    run(search(tree, 0, Budget(40, 0.1), BEST, derive_generator(0, 0, 0)), ExactEvaluator(20))
    known = minimax(game, taken)
    assert root_value(tree) == pytest.approx(known, abs=0.05)
    tree.update_average_policy()
    policy = tree.table(0, Entry.AVERAGE_POLICY)[:, 0]
    after = [minimax(game, child) for child in game.fan(taken).children]
    assert policy @ np.array(after) == pytest.approx(known, abs=0.05)


# --- full trees ---


@pytest.mark.parametrize("settings", [BEST, replace(BEST, rule=SOG)], ids=["best", "paper's rule"])
@pytest.mark.parametrize(
    ("game", "sizes"),
    [(Kuhn(), (100, 400, 1_600)), (LiarsDice(1, 3), (200, 800, 3_200)), (Leduc(), (500, 2_000, 8_000))],
    ids=["kuhn", "liars dice", "leduc"],
)
def test_exploitability_falls_with_s_once_the_tree_is_full(
    game: Game, sizes: tuple[int, ...], settings: SearchSettings
) -> None:
    found = []
    for s in sizes:
        tree, _ = searched(game, Budget(s, 1.0), Recorder(0.1), settings)
        assert (tree.nodes.kind[: tree.size] != Kind.LEAF).all()
        tree.update_average_policy()
        found.append(exact.measure(tree).exploitability)
    assert found[0] > 1.3 * found[1] > 1.3**2 * found[2]


def test_a_complete_tree_is_searched_on() -> None:
    """A second search adds its own iterations to those of the first."""
    tree = exact.full_tree(PublicTree(Kuhn()).list_all())
    for iterations in (50, 80):
        run(search(tree, 0, Budget(iterations - tree.iterations), BEST, derive_generator(0, 0, 0)), zero_evaluator)
        assert tree.iterations == iterations
    plain = exact.full_tree(tree.public)
    plain.iterate(BEST.rule, 80)
    np.testing.assert_allclose(tree.entries[Entry.REGRET], plain.entries[Entry.REGRET], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rule", [DCFR, CFR_PLUS, SOG], ids=lambda rule: rule.name)
def test_on_a_complete_tree_search_is_plain_cfr(rule: Rule) -> None:
    """And it asks nobody; sums over iterations hold the values of every turn."""
    settings = SearchSettings(rule)
    public = PublicTree(Leduc()).list_all()
    ours, plain = exact.full_tree(public), exact.full_tree(public)
    recorder = Recorder()
    run(search(ours, 0, Budget(50, 1.0), settings, derive_generator(0, 0, 0)), recorder)
    assert recorder.asked == [] and ours.iterations == 50
    plain.iterate(settings.rule, 50)
    for row in (Entry.REGRET, Entry.POLICY_SUM, Entry.POLICY):
        for n in decisions(plain):
            np.testing.assert_allclose(ours.table(n, row), plain.table(n, row), rtol=1e-6, atol=1e-9)
    cfv_sum, reach_sum = np.zeros(ours.infostates.shape[1]), np.zeros(ours.infostates.shape[1])
    again = exact.full_tree(public)
    for step in settings.rule.steps(1, 50):
        for players in (1, 2) if settings.rule.alternating else (3,):
            again.forward()
            again.payoffs()
            reach_sum += step[2] * again.infostates[Infostate.REACH]
            again.backward(step, players, track=False)
            cfv_sum += step[2] * again.infostates[Infostate.CFV]
    np.testing.assert_allclose(ours.infostates[Infostate.CFV_SUM], cfv_sum, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.infostates[Infostate.REACH_SUM], reach_sum, rtol=1e-6, atol=1e-6)


class WideBoard(Leduc):
    """Leduc whose board card counts as too many to list."""

    def listable(self, s: State) -> bool:
        return self.actor(s) != NATURE


def test_a_chance_event_too_large_to_list_stays_a_leaf() -> None:
    recorder = Recorder()
    tree, _ = searched(WideBoard(), Budget(60, 1.0), recorder)
    kinds = {(int(row.actor), int(row.kind)) for row in tree.nodes[: tree.size]}
    assert kinds == {(0, Kind.INTERIOR), (1, Kind.INTERIOR), (NATURE, Kind.LEAF), (TERMINAL, Kind.ENDED)}
    boards = [tree.public.states[int(n)] for n in recorder.asked[-1][0]]
    assert boards and all(isinstance(s, LeducState) and s.board < 0 for s in boards)


# --- what the papers' search has, and lacks ---


def test_the_papers_first_tree_holds_all_children_of_the_searched_state() -> None:
    """SoG: L0 contains beta and all of its child public states; of perfect information too, where k = 1."""
    for settings, children in ((PAPER, 9), (replace(PAPER, whole_root=False), 1)):
        tree, start = searched(TicTacToe(), Budget(1, 1.0), Recorder(0.01), settings)
        assert sum(child >= 0 for child in tree.children(start)) == children
        tree, _ = searched(TicTacToe(), Budget(20, 1.0), Recorder(0.01), settings)
        assert tree.size == 1 + children + 19
    tree, start = searched(TicTacToe(), Budget(1, 1.0), Recorder(0.01), PAPER, path=(4,))
    assert min(tree.children(start)) >= 0


def test_worlds_are_drawn_by_the_belief_that_the_search_begins_with() -> None:
    """SoG, "sampled from the beliefs in beta_root": a policy of 0 on the way there hides no infostate."""
    game, visits = Leduc(), {}
    for fixed in (True, False):
        tree = Lookahead(PublicTree(game), 0, game.root_ranges())
        tree.expand(0)
        start = next(n for n in tree.children(0) if tree.public.states[tree.public_node(n)] == LeducState("r"))
        raised = tree.public_node(start)

        def evaluator(requests: Sequence[Beliefs], raised: int = raised) -> list[Evaluations]:
            answers = zero_evaluator(requests)
            for beliefs, answer in zip(requests, answers, strict=True):
                below = [raised in beliefs.public.path(int(node)) for node in beliefs.nodes]
                answer.values[below, :6] = [-99.0, -99.0, -99.0, -99.0, -99.0, 99.0]
            return answers

        settings = replace(PAPER, fixed_belief=fixed)
        run(search(tree, start, Budget(200, 1.0), settings, derive_generator(0, 0, 0)), evaluator)
        visits[fixed] = tree.visits(start).sum(axis=0)
    # Player 1 cannot hold the card that alone raises.
    assert visits[False][5] < 0.6 * visits[True][5]
    assert visits[True].min() > 0.5 * visits[True].max()


def test_pog_selects_by_the_current_policy() -> None:
    assert replace(PAPER, select_average=False) == POG and PAPER.select_average
    trees = [searched(Leduc(), Budget(40, 1.0), Recorder(), settings)[0] for settings in (PAPER, POG)]
    assert not same_bits(*trees)


def test_every_expansion_opens_a_node_while_there_is_one_to_open() -> None:
    """Phases of 20 and 50 expansions find fewer evaluated leaves at first: what they owe is opened later."""
    for budget in (*(Budget(s, 1.0) for s in (1, 5, 20, 60)), Budget(60, 20.0), Budget(200, 50.0)):
        tree, _ = searched(Leduc(), budget, Recorder())
        opened = 1 + (budget.rounds - 1) * budget.expansions
        assert sum(tree.nodes.kind[: tree.size] == Kind.INTERIOR) == opened


@pytest.mark.parametrize("seed", range(5))
def test_leaves_that_cannot_be_listed_are_tried_once(seed: int) -> None:
    """Before the board card there are six decisions and five ways to it."""
    tree, _ = searched(WideBoard(), Budget(11, 1.0), Recorder(), seed=seed)
    assert len(decisions(tree)) == 6


def test_an_opened_node_begins_at_its_prior() -> None:
    """And it holds regrets in proportion: prior * opponent's mass * value unit * warm_start."""
    settings = replace(BEST, warm_start=3.0)
    tree, start = searched(Leduc(), Budget(1, 1.0), Recorder(), settings, path=(0,))
    assert tree.iterations == 1
    recorder = Recorder()
    fresh = Lookahead(tree.public, 0, tree.public.game.root_ranges())
    fresh.expand(0)
    generator = search(fresh, start, Budget(1, 1.0), settings, derive_generator(0, 0, 0))
    generator.send(recorder.answer(next(generator)))  # the first look; the first update's question comes next
    prior = fresh.table(start, Entry.PRIOR) / fresh.table(start, Entry.PRIOR).sum(axis=0)
    np.testing.assert_allclose(fresh.table(start, Entry.POLICY), prior)
    assert np.ptp(prior) > 0.05
    s = fresh.public.states[int(fresh.nodes.public[start])]
    mass = fresh.public.game.weights(s).dense().T @ fresh.infostates[Infostate.REACH, fresh.span(start, 0)]
    np.testing.assert_allclose(
        fresh.table(start, Entry.REGRET), 3.0 * fresh.public.game.value_unit(s) * prior * mass, rtol=1e-9
    )


def test_illegal_actions_are_never_played() -> None:
    tree, _ = searched(Goofspiel(3, "descending"), Budget(30, 1.0), Recorder())
    tree.update_average_policy()
    for n in decisions(tree):
        legal = tree.public.legal(int(tree.nodes.public[n]))
        for row in (Entry.POLICY, Entry.AVERAGE_POLICY):
            assert (tree.table(n, row)[legal == 0] == 0).all()
            np.testing.assert_allclose(tree.table(n, row).sum(axis=0), 1.0)


@pytest.mark.parametrize("least", [1e-306, 1e-320])
def test_beliefs_of_what_hardly_anybody_plays_are_beliefs(least: float) -> None:
    game, recorder = Leduc(), Recorder()
    zero, one = game.root_ranges()
    tree = Lookahead(PublicTree(game), 0, (least * zero, least * one))
    run(search(tree, 0, Budget(20, 1.0), BEST, derive_generator(0, 0, 0)), recorder)
    for _, ranges in recorder.asked:
        np.testing.assert_allclose(ranges.sum(axis=1), 2.0)
    tree.update_average_policy()
    assert all(np.isfinite(tree.policy(n)).all() for n in decisions(tree)) and len(recorder.asked) > 10


def test_rock_paper_scissors_is_mixed_right() -> None:
    tree, _ = searched(RockPaperScissors(), Budget(2_000, 1.0))
    tree.update_average_policy()
    np.testing.assert_allclose(tree.table(0, Entry.AVERAGE_POLICY)[:, 0], (0.4, 0.4, 0.2), atol=5e-3)
