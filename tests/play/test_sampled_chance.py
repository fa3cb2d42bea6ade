"""Re-solving after a flop: ranges, the estimate of the opponent's values, and a hand of the whole game."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from sog.arrays import Float32, Int32
from sog.games.base import NATURE, TERMINAL, Fan, Game, Links, Moves, Operator, Scaled, State, plain_moves
from sog.games.catalog import make_game
from sog.games.checks.public_states import check_game
from sog.games.holdem.cards import HANDS, live_hands, parse_cards
from sog.games.holdem.game import HoldemState
from sog.games.holdem.strings import holdem_from
from sog.games.strings import parse_game
from sog.measure.exploitability import agent_policy
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.shape import shape_for
from sog.play.agent import SearchAgent
from sog.play.referee import Referee
from sog.play.resolver import ResolveSettings, Resolving
from sog.play.sampled_chance import SIBLINGS, Estimate, baselines, carried, first_after
from sog.searches.cfr import exact
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations, zero_answer, zero_evaluator
from sog.searches.tree.public_tree import PublicTree

SETTINGS = ResolveSettings(Budget(2, 1.0))
CALL = 1


def limped(inputs: str = "paper") -> tuple[PublicTree, list[int]]:
    """The whole game's tree, and its path to a flop after a call and a check."""
    game = holdem_from(parse_game(f"holdem(stacks=2000,bets=1.0,inputs={inputs})")[1])
    public = PublicTree(game)
    path = [0]
    for _ in range(2):
        assert public.list_fan(path[-1])
        edge = list(game.actions(public.states[path[-1]])).index(CALL)
        path.append(public.child(path[-1], edge))
    state = public.states[path[-1]]
    assert isinstance(state, HoldemState) and game.actor(state) == NATURE
    path.append(public.add(game.deal(state, parse_cards("2s7hKd")), path[-1]))
    return public, path


@cache
def ranges() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.random(HANDS), rng.random(HANDS)


def test_the_last_unlisted_event_on_a_path() -> None:
    public, path = limped()
    assert first_after(public, path, closed=False) == 3
    assert first_after(public, path[:3], closed=False) == 0


def test_closed_searches_begin_anew_after_many_outcomes() -> None:
    """A river card has 48 outcomes, a search that opens no chance events begins after it; Leduc's board has 6."""
    game = make_game("holdem(board=3s7hTdKs,pot=1000,stacks=1000,bets=0.5)")
    public = PublicTree(game)
    path = [0]
    for _ in (0, 1):  # both check
        public.list_fan(path[-1])
        path.append(public.child(path[-1], list(public.actions(path[-1])).index(CALL)))
    public.list_fan(path[-1])
    path.append(public.child(path[-1], 5))
    assert first_after(public, path, closed=False) == 0 and first_after(public, path, closed=True) == 3
    leduc = PublicTree(make_game("leduc_poker")).list_all()
    board = next(n for n in range(leduc.size) if n and leduc.actor(leduc.parent[n]) == NATURE)
    assert first_after(leduc, leduc.path(board), closed=True) == 0


def test_the_baseline_of_the_event_and_of_its_outcome_count() -> None:
    """A network that adds nothing: the outcome is worth its baseline, and what was stored above the event's."""
    public, path = limped("strength")
    assert public.game.has_baseline
    event, outcome = path[2:]
    by_slot = public.ranges_by_slot(event, ranges())
    stored = baselines(public, [event], by_slot[None, :])[0][public.places_of(event, 1)] + 7.0
    estimate = Estimate(public, event, outcome, 1, ranges(), stored, np.array([1], dtype=np.uint64))
    run(estimate.steps(), zero_evaluator)
    below = carried(public, event, outcome, ranges())
    mass = public.masses(outcome, *below)[1]
    expected = baselines(public, [outcome], public.ranges_by_slot(outcome, below)[None, :])[0]
    live = live_hands(parse_cards("2s7hKd"))
    found = estimate.values[live] / mass[live]
    np.testing.assert_allclose(found, expected[public.places_of(outcome, 1)][live] + 7.0, atol=1e-9)
    assert np.ptp(found) > 50.0


def test_blocked_hands_leave_both_ranges() -> None:
    public, path = limped()
    live = live_hands(parse_cards("2s7hKd"))
    for before, after in zip(ranges(), carried(public, path[2], path[3], ranges()), strict=True):
        np.testing.assert_array_equal(after, before * live)


def test_an_outcome_that_was_added_beside_the_listed_ones_blocks_its_own_hands() -> None:
    """As training draws river cards."""
    game = holdem_from(parse_game("holdem(board=3s7hTdKs,pot=1000,stacks=1000,bets=0.5)")[1])
    public, event = PublicTree(game), 0
    for _ in (0, 1):  # both check
        public.list_fan(event)
        event = public.child(event, list(public.actions(event)).index(CALL))
    public.list_fan(event)
    listed, state = public.child(event, 5), public.states[event]
    assert isinstance(state, HoldemState)
    held = ranges()[0] * live_hands(state.board), ranges()[1] * live_hands(state.board)
    for node in (listed, public.add(game.deal(state, parse_cards("9d")), event)):
        outcome = public.states[node]
        assert isinstance(outcome, HoldemState)
        live = live_hands(outcome.board)
        for before, after in zip(held, carried(public, event, node, held), strict=True):
            np.testing.assert_array_equal(after, before * live)


def board_evaluator(requests: Sequence[Beliefs]) -> list[Evaluations]:
    """Values that depend on the hand and on the lowest board card."""
    out = [zero_answer(beliefs) for beliefs in requests]
    for beliefs, answer in zip(requests, out, strict=True):
        for b, node in enumerate(beliefs.nodes):
            state = beliefs.public.states[node]
            assert isinstance(state, HoldemState)
            answer.values[b] = np.arange(2 * HANDS) % 13 + 5.0 * min(state.board, default=0)
    return out


def estimated(stored: np.ndarray | None, evaluator: object) -> tuple[PublicTree, int, np.ndarray]:
    public, path = limped()
    estimate = Estimate(public, path[2], path[3], 1, ranges(), stored, np.array([5], dtype=np.uint64))
    steps = estimate.steps()
    beliefs = next(steps)
    for b, node in enumerate(beliefs.nodes):
        state = public.states[node]
        assert isinstance(state, HoldemState)
        blocked = np.flatnonzero(~live_hands(state.board))
        assert (beliefs.ranges[b, blocked] == 0).all() and (beliefs.ranges[b, HANDS + blocked] == 0).all()
        np.testing.assert_allclose(beliefs.ranges[b, :HANDS].sum(), 1.0)
    assert len(beliefs.nodes) == (1 if stored is None else 1 + SIBLINGS)
    try:
        steps.send(evaluator([beliefs])[0])  # type: ignore[operator]
    except StopIteration:
        return public, path[3], estimate.values
    raise AssertionError("it asks once")


def test_without_stored_values_the_network_answers() -> None:
    public, node, values = estimated(None, board_evaluator)
    mass = public.masses(node, *carried(public, int(public.parent[node]), node, ranges()))[1]
    state = public.states[node]
    assert isinstance(state, HoldemState)
    np.testing.assert_allclose(values, mass * ((np.arange(HANDS) + HANDS) % 13 + 5.0 * min(state.board)))


def test_a_network_that_sees_no_difference_gives_what_was_stored() -> None:
    stored = np.linspace(-3, 3, HANDS)
    public, node, values = estimated(stored, zero_evaluator)
    mass = public.masses(node, *carried(public, int(public.parent[node]), node, ranges()))[1]
    np.testing.assert_allclose(values, mass * stored, atol=1e-12)


def test_values_move_by_what_the_siblings_mean_differs() -> None:
    """With values linear in the lowest card, hands no board touches differ only by what was stored."""
    stored = np.linspace(-3, 3, HANDS)
    public, node, values = estimated(stored, board_evaluator)
    mass = public.masses(node, *carried(public, int(public.parent[node]), node, ranges()))[1]
    boards = [s.board for s in public.states[node:] if isinstance(s, HoldemState)]
    assert len(boards) == 1 + SIBLINGS
    free = np.flatnonzero(np.all([live_hands(b) for b in boards], axis=0))
    assert len(free) > 5
    lowest = np.array([5.0 * min(b) for b in boards])
    shift = values[free] / mass[free] - stored[free]  # the network's answer here less its mean
    np.testing.assert_allclose(shift, lowest[0] - lowest.mean(), atol=0.1 * np.ptp(lowest))


def test_exact_values_are_left_as_they_are_whatever_the_opponent_holds() -> None:
    """Three outcomes in place of flops, weights that differ by hand, and a range with one hand ten times as often."""
    masses = np.array([[0.5, 0.1], [0.3, 0.1], [0.2, 0.8]])
    values, held = np.array([[1.0, -2.0], [0.0, 3.0], [-1.0, 1.0]]), np.array([1.0, 0.1])
    weights = masses @ held
    drawn = np.random.default_rng(0).choice(3, 100_000, p=weights / weights.sum()).tolist()
    stored = (masses * values).sum(axis=0) / masses.sum(axis=0)
    game = SimpleNamespace(chance_carry=lambda event, outcome: (None, None))
    public = SimpleNamespace(states=[None] * 4, game=game, list_fan=lambda node: False)
    estimate = Estimate(public, 3, 0, 1, (held, held), stored, np.array([5], dtype=np.uint64))  # type: ignore[arg-type]
    of = [[column[c] for c in drawn] for column in (values, masses, weights)]
    np.testing.assert_allclose(estimate._shift(drawn, *of, stored), 0.0, atol=0.02)


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_a_search_goes_on_after_the_flop(alpha: float) -> None:
    public, path = limped()
    settings = ResolveSettings(Budget(4, 1.0), alpha=alpha)
    first = Resolving(public, 0, path[1], None, settings, seed=1)
    run(first, board_evaluator)
    solved, live = first.solved(), live_hands(parse_cards("2s7hKd"))
    second = Resolving(public, 0, path[3], solved, settings, seed=1)
    assert int(second.tree.nodes.public[0]) == path[3]
    assert second.gadget is not None and second.gadget.opponent == 1
    believed = solved.opponent_range(solved.index[path[2]]) * live
    np.testing.assert_allclose(second.gadget.previous, believed / believed.max())
    run(second, board_evaluator)
    assert np.abs(second.gadget.leave).max() > 0
    assert (second.gadget.follow[~live] == 0).all() and (second.own[~live] == 0).all()
    np.testing.assert_allclose(second.solved().policy().sum(axis=0), 1.0)


def test_two_agents_play_hands_of_the_whole_game() -> None:
    game = holdem_from(parse_game("holdem(stacks=600,bets=1.0)")[1])
    evaluator = network_evaluator(CVPN(shape_for(game, width=8, depth=1)))
    streets, rng = set(), np.random.default_rng(4)
    for seed in range(2):
        public = PublicTree(game)
        referee = Referee(public)
        agents = [SearchAgent(public, p, SETTINGS, evaluator, seed) for p in (0, 1)]
        world = referee.deal(rng)
        while (actor := referee.actor(world)) != TERMINAL:
            state = public.states[world.node]
            assert isinstance(state, HoldemState)
            streets.add(state.betting.street)
            world = referee.act(world, agents[actor].act(world.node, world.pair[actor], rng), rng)
        assert abs(referee.utility(world)) <= 600
    assert {0, 1} <= streets


# --- chance events that are listed, and infostates that change over them ---


class Wheel(Game):
    """Each player picks 0 or 1 in secret; a wheel of 20 numbers is turned and player 1 sees a bit; both bet or not.

    Player 1's infostates after the wheel are its pick and its bit, in another order than before. A state is a word: ""
    (player 0 picks), "a" (player 1 picks), "ab" (the wheel), then the number, as a letter, and the bets.
    """

    def __init__(self) -> None:
        self.name, self.u_max, self.num_actions, self.num_slots, self.num_features = "wheel", 5.0, 2, (2, 4), 4
        self.chance = [Operator(np.ones(shape)) for shape in ((1, 1), (2, 1), (2, 2), (2, 4))]
        self.pays = np.clip(np.random.default_rng(2).normal(size=(20, 2, 2, 2, 4)), -5.0, 5.0)
        self.operators = {(k, c, d): Operator(self.pays[k, c, d]) for k in range(20) for c in (0, 1) for d in (0, 1)}

    def root(self) -> State:
        return ""

    def actor(self, s: State) -> int:
        return (0, 1, NATURE, 0, 1, TERMINAL)[len(str(s))]

    def num_infostates(self, s: State) -> tuple[int, int]:
        i0, i1 = self.chance[min(len(str(s)), 3)].shape
        return i0, i1

    def actions(self, s: State) -> Int32:
        return np.arange(2 if self.actor(s) < NATURE else 0, dtype=np.int32)

    def fan(self, s: State) -> Fan:
        word, pick = str(s), np.array([[0, 1]], dtype=np.int32)
        if len(word) < 2:
            return Fan([word + "ab"[len(word)]], Moves(np.zeros_like(pick), pick))
        if len(word) == 2:
            links = Links(np.array([0, 0, 1, 1], dtype=np.int32), np.array([3, 1, 0, 2], dtype=np.int32))
            return Fan([word + chr(97 + k) for k in range(20)], None, [(None, links)] * 20)
        return Fan([word + "0", word + "1"], plain_moves(2 if len(word) == 3 else 4, 2))

    def weights(self, s: State) -> Scaled:
        return Scaled(self.chance[min(len(str(s)), 3)], 1.0 if len(str(s)) < 3 else 1 / 40)

    def payoff(self, s: State) -> Scaled:
        word = str(s)
        return Scaled(self.operators[ord(word[2]) - 97, int(word[3]), int(word[4])], 1 / 40)

    def features(self, s: State) -> Float32:
        return np.array([len(str(s)), *(ord(letter) for letter in str(s)[2:].ljust(3, " "))], dtype=np.float32)


def closed(simulations: int) -> ResolveSettings:
    return ResolveSettings(Budget(simulations, 1.0), SearchSettings(chance_leaves=True))


def test_infostates_that_change_over_listed_outcomes_are_followed() -> None:
    """With exact values at the wheel a search that does not open it is hardly exploitable, and lists nothing anew."""
    check_game(Wheel())
    public = PublicTree(Wheel()).list_all()
    listed = public.size
    policy = agent_policy(public, closed(100), exact.ExactEvaluator(100), seed=0)
    assert exact.measure_policy(public, policy).exploitability < 0.01
    assert public.size == listed


def test_ranges_go_down_to_an_event_that_the_last_search_did_not_reach() -> None:
    public = PublicTree(Wheel()).list_all()
    first = Resolving(public, 0, 0, None, closed(1), seed=0)
    run(first, zero_evaluator)
    solved, outcome = first.solved(), public.states.index("abc")
    event = int(public.parent[outcome])
    assert event not in solved.index
    second = Resolving(public, 0, outcome, solved, closed(1), seed=0)
    assert second.estimate is not None and second.estimate.stored is None
    np.testing.assert_array_equal([len(own) for own in second.estimate.ranges], [2, 2])
    np.testing.assert_array_equal(second.tree.ranges(0)[1], np.ones(4))
    run(second, zero_evaluator)
    np.testing.assert_allclose(second.solved().policy().sum(axis=0), 1.0)
