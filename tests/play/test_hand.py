"""Hands between agents: exact values, duplicate deals, secrets, trees that grow, records and the way back from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
import pytest

from sog.agents.uniform import UniformAgent
from sog.arrays import Float64
from sog.errors import SettingError, TooLarge
from sog.games.base import NATURE, TERMINAL, Operator, Scaled, State
from sog.games.catalog import make_game
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.measure.intervals import mean_of_pairs
from sog.measure.openspiel_table import random_policy
from sog.play.agent import Agent, SearchAgent
from sog.play.hand import Entrant, HandMatch, Seats
from sog.play.hand_match import play_match, read_match, read_records
from sog.play.hand_record import Chance, HandDecision, HandRecord, replay
from sog.play.referee import Referee
from sog.play.resolver import ResolveSettings
from sog.searches.cfr import exact
from sog.searches.cfr.rules import CFR_PLUS
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree

LEDUC, KUHN = PublicTree(Leduc()).list_all(), PublicTree(Kuhn()).list_all()
TURN = "holdem(board=2s2h2d7c,pot=1000,stacks=1000)"


class Fixed(Agent):
    """Plays a policy that is given by public state."""

    def __init__(self, public: PublicTree, player: int, policy: dict[object, Float64]) -> None:
        super().__init__(public, player)
        self.by_state = policy

    def policy(self, node: int) -> Float64:
        return self.by_state[self.state(node)]


def fixed(name: str, public: PublicTree, policy: exact.Policy) -> Entrant:
    by_state = {public.states[node]: found for node, found in policy.items()}
    return entrant(name, lambda tree: lambda player, seed: Fixed(tree, player, by_state))


def entrant(name: str, seats: Seats, grows: bool = True) -> Entrant:
    return Entrant(name, name, seats, grows)


def uniform(name: str = "uniform") -> Entrant:
    return entrant(name, lambda tree: lambda player, seed: UniformAgent(tree, player, seed))


def searching(simulations: int) -> Entrant:
    settings = ResolveSettings(Budget(simulations, 1.0))
    return entrant(
        "searching", lambda tree: lambda player, seed: SearchAgent(tree, player, settings, zero_evaluator, seed)
    )


def played(match: HandMatch, hands: int) -> list[HandRecord]:
    return [hand for block in match.play(0, hands, lambda done, note: None) for hand in block]


def value(public: PublicTree, zero: exact.Policy, one: exact.Policy) -> float:
    """What player 0 wins a hand: exact."""
    both = {node: (zero if public.actor(node) == 0 else one)[node] for node in zero}
    return exact.measure_policy(public, both).value


def solved(public: PublicTree, iterations: int) -> exact.Policy:
    return exact.policy_of(exact.solve(public, CFR_PLUS, iterations))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_leduc_means_are_the_exact_values(seed: int) -> None:
    """Within three standard errors, of three pairs of policies."""
    even = exact.uniform_policy(LEDUC)
    a, b = [(solved(LEDUC, 30), even), (solved(LEDUC, 2), random_policy(even, 1)), (even, random_policy(even, 2))][seed]
    won = [
        hand.won for hand in played(HandMatch(LEDUC.game, (fixed("a", LEDUC, a), fixed("b", LEDUC, b)), 7, LEDUC), 1500)
    ]
    pairs = np.reshape(won, (-1, 2)).mean(axis=1)
    error = pairs.std(ddof=1) / np.sqrt(len(pairs))
    expected = (value(LEDUC, a, b) - value(LEDUC, b, a)) / 2
    assert abs(pairs.mean() - expected) < 3 * error and 0 < error < 0.2
    mean, half = mean_of_pairs(won)
    assert mean == pytest.approx(pairs.mean()) and half == pytest.approx(1.96 * error, rel=0.01)


def test_kuhn_is_exact_deal_by_deal() -> None:
    """Of pure policies a pair of hands has one result a deal, and the six deals are equally likely."""
    policies = []
    for seed in (3, 4):
        drawn = random_policy(exact.uniform_policy(KUHN), seed)
        policies.append({node: np.eye(len(p))[p.argmax(axis=0)].T for node, p in drawn.items()})
    a, b = policies
    by_deal: dict[tuple[int, int], set[float]] = {}
    hands = played(HandMatch(KUHN.game, (fixed("a", KUHN, a), fixed("b", KUHN, b)), 0, KUHN), 120)
    for first, second in zip(hands[::2], hands[1::2], strict=True):
        by_deal.setdefault(first.pair, set()).add((first.won + second.won) / 2)
    assert len(by_deal) == 6 and {len(found) for found in by_deal.values()} == {1}
    mean = sum(sum(found) for found in by_deal.values()) / 6
    assert mean == pytest.approx((value(KUHN, a, b) - value(KUHN, b, a)) / 2) and mean != 0


def test_both_hands_of_a_pair_are_the_same_deal() -> None:
    match = HandMatch(LEDUC.game, (fixed("a", LEDUC, solved(LEDUC, 30)), uniform()), 5, LEDUC)
    hands, boards = played(match, 400), 0
    for first, second in zip(hands[::2], hands[1::2], strict=True):
        assert (first.deal, first.a, second.a) == (second.deal, 0, 1) and first.pair == second.pair
        drawn = [[step for step in hand.steps if isinstance(step, Chance)] for hand in (first, second)]
        for one, other in zip(*drawn, strict=False):
            assert one == other
            boards += 1
    assert boards > 30 and len({hand.pair for hand in hands}) == 30
    assert len({step.edge for hand in hands for step in hand.steps if isinstance(step, Chance)}) == 6


class Moody(UniformAgent):
    """Plays as its seed says: a random policy that is drawn by it."""

    def policy(self, node: int) -> Float64:
        drawn: Float64 = super().policy(node) * np.random.default_rng((self.seed, node)).random((2, 1))
        return drawn / drawn.sum(axis=0)


def test_agents_that_play_alike_by_their_seeds_win_nothing_of_each_other() -> None:
    """A seat has one seed in both hands of a deal, whoever sits there, so that the hands of a pair cancel."""
    moody = entrant("moody", lambda tree: lambda player, seed: Moody(tree, player, seed))
    hands = played(HandMatch(KUHN.game, (moody, moody), 1, KUHN), 40)
    assert all(first.won == -second.won for first, second in zip(hands[::2], hands[1::2], strict=True))
    assert len({(hand.pair, hand.won) for hand in hands}) > 8


def test_duplicate_deals_lower_the_deviation() -> None:
    even = exact.uniform_policy(LEDUC)
    match = HandMatch(LEDUC.game, (fixed("a", LEDUC, even), fixed("b", LEDUC, random_policy(even, 2))), 1, LEDUC)
    won = np.reshape([hand.won for hand in played(match, 1000)], (-1, 2))
    assert won.mean(axis=1).var(ddof=1) < 0.7 * won.var(ddof=1) / 2  # hands of different deals: half of one's


class Spy(UniformAgent):
    """Notes what it is given."""

    given: list[tuple[int, int, str, int]]

    def act(self, node: int, infostate: int, rng: np.random.Generator) -> int:
        self.given.append((self.player, node, str(rng.bit_generator.state["state"]["state"]), infostate))
        return super().act(node, infostate, rng)


@pytest.mark.parametrize("listed", [True, False])
def test_an_agent_is_given_public_nodes_and_its_own_infostate(listed: bool) -> None:
    """What it is given is the same whatever the opponent has: of hands with the same public line and own card."""
    seen: list[tuple[tuple[int, str, int], int]] = []
    spies: list[Spy] = []

    def seats(tree: PublicTree) -> Callable[[int, int], Agent]:
        def seat(player: int, seed: int) -> Agent:
            spy = Spy(tree, player, seed)
            spy.given = []
            spies.append(spy)
            return spy

        return seat

    match = HandMatch(LEDUC.game, (entrant("spy", seats), uniform()), 3, LEDUC if listed else None)
    referee = Referee(LEDUC)
    for hand, spy in zip(played(match, 200), spies, strict=True):
        given = iter(spy.given)
        worlds = list(replay(referee, hand, 3))
        for world, step in zip(worlds, hand.steps, strict=False):
            if isinstance(step, HandDecision) and step.player == spy.player:
                player, node, _, infostate = next(given)
                state, own = LEDUC.states[world.node], world.pair[spy.player]
                assert spy.state(node) == state and infostate == own and player == spy.player
                seen.append(((node if listed else 0, str(state), own), world.pair[1 - player]))
        assert next(given, None) is None
        if not listed:  # the tree of its own is what anybody can see
            assert spy.public is not referee.public and set(spy.public.states) <= set(LEDUC.states)
    assert len({(key, other) for key, other in seen}) > len({key for key, _ in seen}) > 20


def test_what_an_agent_draws_from_tells_nothing_of_chance() -> None:
    """Its generator begins elsewhere than chance's, and is that of its seat in both hands of a deal."""
    states: dict[tuple[int, int], set[str]] = {}
    spies: list[Spy] = []

    def seat(tree: PublicTree, player: int, seed: int) -> Agent:
        spies.append(Spy(tree, player, seed))
        spies[-1].given = []
        return spies[-1]

    both = entrant("spy", lambda tree: lambda player, seed: seat(tree, player, seed))
    hands = played(HandMatch(KUHN.game, (both, both), 0, KUHN), 20)
    for k, spy in enumerate(spies):
        if spy.given:
            states.setdefault((hands[k // 2].deal, spy.player), set()).add(spy.given[0][2])
    assert {len(found) for found in states.values()} == {1}
    assert len({state for found in states.values() for state in found}) == len(states)


@pytest.mark.parametrize("game", ["leduc_poker", "goofspiel(imp_info=True,num_cards=3,points_order=random)"])
def test_trees_that_grow_play_the_same_hands(game: str) -> None:
    """Of agents whose play does not depend on their trees."""
    rules = make_game(game)
    listed = PublicTree(rules).list_all()
    policy = random_policy(exact.uniform_policy(listed), 0)
    entrants = fixed("a", listed, policy), uniform()
    one, other = (played(HandMatch(rules, entrants, 4, tree), 60) for tree in (listed, None))
    assert [hand.line() for hand in one] == [hand.line() for hand in other]


@pytest.mark.parametrize("game", ["holdem", TURN, "scotland_yard(map=london)", "leduc_poker"])
def test_games_that_cannot_be_listed_are_played_and_replayed(game: str) -> None:
    rules = make_game(game)
    match = HandMatch(rules, (uniform("a"), uniform("b")), 2, None, policies=True)
    for hand in played(match, 4):
        again = HandRecord.of_line(hand.line())
        assert again.line() == hand.line()
        referee = Referee(PublicTree(rules))
        worlds = list(replay(referee, again, 2))
        assert len(worlds) == len(hand.steps) + 1 and referee.actor(worlds[-1]) == TERMINAL
        assert referee.utility(worlds[-1]) == (hand.won if hand.a == 0 else -hand.won)
        for world, step in zip(worlds, again.steps, strict=False):
            if isinstance(step, HandDecision):
                actions, widths = referee.public.actions(world.node), referee.public.num_infostates(world.node)
                assert step.policy is not None and step.policy.shape == (len(actions), widths[step.player])
            else:
                assert referee.actor(world) == NATURE


@pytest.mark.parametrize("game", ["holdem", TURN, "scotland_yard(map=london)"])
def test_search_plays_where_the_tree_grows(game: str) -> None:
    """Its hands are the same again, whatever the opponent's tree holds."""
    rules = make_game(game)
    first = played(HandMatch(rules, (searching(2), uniform()), 0, None), 2)
    again = played(HandMatch(rules, (searching(2), uniform()), 0, None), 2)
    assert [hand.line() for hand in first] == [hand.line() for hand in again]


def test_hands_side_by_side_are_the_hands_one_by_one() -> None:
    match = HandMatch(LEDUC.game, (searching(4), uniform()), 6, LEDUC)
    alone = [next(match.play(number, number + 1, lambda done, note: None))[0] for number in range(20)]
    assert [hand.line() for hand in alone] == [hand.line() for hand in played(match, 20)]


def test_an_agent_that_needs_the_whole_tree_is_refused_without() -> None:
    whole = entrant("whole", lambda tree: lambda player, seed: UniformAgent(tree, player), grows=False)
    with pytest.raises(TooLarge, match="which whole needs to play"):
        HandMatch(make_game("holdem"), (uniform(), whole), 0, None)


def test_other_rules_or_seeds_are_found_by_a_replay() -> None:
    hand = played(HandMatch(LEDUC.game, (uniform(), uniform()), 0, LEDUC), 1)[0]
    with pytest.raises(SettingError, match="hand 0 is not what its match's seed deals"):
        for seed in range(1, 9):
            list(replay(Referee(LEDUC), hand, seed))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{}",
        "[1]",
        '{"hand": 0, "a": 0, "pair": [1], "steps": [], "won": 1}',
        '{"hand": Infinity, "a": 0, "pair": [1, 0], "steps": [], "won": 1}',
        '{"hand": 0, "a": 0, "pair": [1, 0], "steps": [], "won": NaN}',
        "[" * 9999,
    ],
)
def test_lines_that_are_no_hands(line: str) -> None:
    with pytest.raises(ValueError):
        HandRecord.of_line(line)


class KuhnAtStakes(Kuhn):
    """A chip is worth `stake`, and the cards are dealt unevenly."""

    def __init__(self, stake: float) -> None:
        super().__init__()
        self.stake, self.u_max = stake, 2.0 * stake
        deal = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]]) / 21
        self._deal, self._showdown = Operator(deal), Operator(deal * np.sign(np.arange(3)[:, None] - np.arange(3)))

    def payoff(self, s: State) -> Scaled:
        payoff = super().payoff(s)
        return Scaled(payoff.operator, payoff.scale * self.stake)


@pytest.mark.parametrize("stake", [1e-12, 1e9])
def test_a_match_goes_on_whatever_a_chip_is_worth(stake: float, tmp_path: Path) -> None:
    """Rounding is a share of the largest utility, and so is what no hand can have won."""
    path, match = tmp_path / "hands.jsonl", HandMatch(KuhnAtStakes(stake), (uniform("a"), uniform("b")), 2, None)
    first = play_match(match, 200, path, no_bar)
    assert play_match(match, 220, path, no_bar)[:200] == first and max(first) == pytest.approx(2 * stake)
    lines = path.read_text().splitlines()
    lines[-1] = json.dumps(json.loads(lines[-1]) | {"won": 3 * stake})
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(SettingError, match="is damaged at hand 219"):
        play_match(match, 222, path, no_bar)


def no_bar(finished: int) -> AbstractContextManager[Callable[[int, str], None]]:
    return nullcontext(lambda done, note: None)


def test_files_that_are_no_records(tmp_path: Path) -> None:
    path = tmp_path / "hands.jsonl"
    for text in ("", "x\n", '{"match": 2}\n', "[]\n"):
        path.write_text(text)
        with pytest.raises(SettingError, match="is no file of a match's hands"):
            read_match(path)
    path.write_text(json.dumps({"match": 1}) + "\n{}\n")
    with pytest.raises(SettingError, match="is damaged at hand 0"):
        list(read_records(path))
