"""AIVAT: exactly unbiased by enumeration for any values, less deviation, and records or values that cheat are found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from sog.agents.uniform import UniformAgent
from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.base import NATURE, TERMINAL, Scaled, State, carried_down, followers
from sog.games.catalog import make_game
from sog.games.rules.kuhn import Kuhn
from sog.measure.aivat import Aivat, AivatFigure, AivatSettings, aivat
from sog.measure.aivat_values import HoldemEquity, ListedValues, Ranges, Values, call_policy
from sog.measure.openspiel_table import random_policy
from sog.opponents.holdem.simple import AlwaysCall
from sog.play.agent import Agent
from sog.play.hand import Entrant, HandMatch
from sog.play.hand_record import Chance, HandDecision, HandRecord
from sog.play.referee import Referee, World
from sog.searches.cfr import exact
from sog.searches.cfr.rules import CFR_PLUS
from sog.searches.tree.public_tree import PublicTree

GOOFSPIEL = "goofspiel(imp_info=True,num_cards=3,points_order=random)"
BOTH, ONLY_A, ONLY_B, NONE = (frozenset(known) for known in ((0, 1), (0,), (1,), ()))


@cache
def tree(game: str) -> PublicTree:
    return PublicTree(make_game(game)).list_all()


@cache
def mixed(game: str, seed: int) -> exact.Policy:
    return random_policy(exact.uniform_policy(tree(game)), seed)


@cache
def solved(game: str, iterations: int) -> exact.Policy:
    return exact.policy_of(exact.solve(tree(game), CFR_PLUS, iterations))


class AnyValues(ListedValues):
    """Random values at every decision."""

    def worth(self, node: int) -> Float64:
        found = super().worth(node)
        if self.public.actor(node) >= NATURE:
            return found
        return np.random.default_rng(node).normal(size=found.shape) * self.public.weights(node)


@dataclass
class Line:
    """A way that a hand can go, with its probability."""

    odds: float
    worlds: list[World]
    steps: list[Chance | HandDecision]


def every_line(public: PublicTree, policy: exact.Policy, logged: exact.Policy) -> Iterator[Line]:
    """Every deal, outcome and action.  logged: what the records say of the policy."""
    game, referee = public.game, Referee(public)
    r0, r1 = game.root_ranges()
    weight = r0[:, None] * public.weights(0) * r1
    waiting = [Line(weight[i, j], [World(0, (int(i), int(j)))], []) for i, j in np.argwhere(weight > 0)]
    while waiting:
        line = waiting.pop()
        world = line.worlds[-1]
        node, actor = world.node, referee.actor(world)
        if actor == TERMINAL:
            yield line
        elif actor == NATURE:
            waiting += after_chance(public, line)
        else:
            i = world.pair[actor]
            for column in referee.legal(world):
                after = referee.take(world, column)
                action, edge = int(public.actions(node)[column]), referee.edge_into[after.node]
                step = HandDecision(actor, i, action, edge, logged.get(node))
                odds = line.odds * policy[node][column, i]
                if odds > 0:
                    waiting.append(Line(odds, [*line.worlds, after], [*line.steps, step]))


def after_chance(public: PublicTree, line: Line) -> list[Line]:
    world = line.worlds[-1]
    fan, found = public.game.fan(public.states[world.node]), []
    for edge in range(len(fan.children)):
        child = public.child(world.node, edge)
        for j0 in followers(fan, edge, 0, world.pair[0]):
            for j1 in followers(fan, edge, 1, world.pair[1]):
                after = World(child, (int(j0), int(j1)))
                odds = public.weights(child)[j0, j1]
                found.append(Line(odds, [*line.worlds, after], [*line.steps, Chance(edge, after.pair)]))
    total = sum(each.odds for each in found)
    return [replace(each, odds=line.odds * each.odds / total) for each in found if each.odds > 0]


def record_of(public: PublicTree, line: Line, a: int, number: int = 0) -> HandRecord:
    won = public.utility(line.worlds[-1].node, line.worlds[-1].pair) * (-1.0 if a else 1.0)
    return HandRecord(number, a, line.worlds[0].pair, tuple(line.steps), won)


def biases(
    game: str, values: Values, known: frozenset[int], logged: exact.Policy | None = None, a: int = 0
) -> tuple[float, float]:
    """The mean of what is corrected less that of what is won, and the mean itself."""
    public, policy = tree(game), mixed(game, 5)
    corrects = Aivat(public.game, AivatSettings((values, values), 0), known)
    raw = corrected = odds = 0.0
    told = {node: p for node, p in (logged or policy).items() if public.actor(node) ^ a in known}
    for line in every_line(public, policy, told):
        record = record_of(public, line, a)
        odds += line.odds
        raw += line.odds * record.won
        corrected += line.odds * corrects.corrected(public, record, line.worlds)
    assert odds == pytest.approx(1.0, abs=1e-12)
    expected = exact.measure_policy(public, policy).value * (-1.0 if a else 1.0)
    assert raw == pytest.approx(expected, abs=1e-12)
    return corrected - expected, expected


@pytest.mark.parametrize("known", [BOTH, ONLY_A, ONLY_B, NONE], ids=["both", "a", "b", "none"])
@pytest.mark.parametrize("kind", [ListedValues, AnyValues])
@pytest.mark.parametrize("game", ["kuhn_poker", GOOFSPIEL])
def test_the_mean_is_the_games_value_whatever_the_values(game: str, kind: type, known: frozenset[int]) -> None:
    """Over every deal, chance event and action; goofspiel's actions are hidden, and its cards are drawn."""
    for a in (0, 1):
        values = kind(tree(game), mixed(game, 9), "")
        assert abs(biases(game, values, known, a=a)[0]) < 1e-12


def test_leduc_is_unbiased_too() -> None:
    """With equities as values, and one known player."""
    public = tree("leduc_poker")
    values = ListedValues(public, call_policy(public), "")
    assert abs(biases("leduc_poker", values, ONLY_B)[0]) < 1e-12


def test_the_tables_hold_the_games_value() -> None:
    public, policy = tree("leduc_poker"), mixed("leduc_poker", 1)
    won, mass = ListedValues(public, policy, "").sums(public, 0, public.game.root_ranges())
    assert won == pytest.approx(exact.measure_policy(public, policy).value, abs=1e-12) and mass == pytest.approx(1.0)


def test_a_row_changed_after_the_draw_biases_the_mean() -> None:
    changed = {node: (p[:, ::-1] + 1.0) / 3 if node == 0 else p for node, p in mixed("kuhn_poker", 5).items()}
    changed[0] /= changed[0].sum(axis=0)
    for known in (BOTH, ONLY_A):
        values = ListedValues(tree("kuhn_poker"), mixed("kuhn_poker", 9), "")
        assert abs(biases("kuhn_poker", values, known, changed)[0]) > 0.01


class Looks(ListedValues):
    """Values that see how the hand ends."""

    line: Line

    def sums(self, public: PublicTree, node: int, ranges: Ranges) -> tuple[float, float]:
        won, mass = super().sums(public, node, ranges)
        end = self.line.worlds[-1]
        ahead = node in [world.node for world in self.line.worlds[1:-1]]
        return won + mass * public.utility(end.node, end.pair) * ahead, mass


def test_values_that_look_at_the_outcome_bias_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    values = Looks(tree("kuhn_poker"), mixed("kuhn_poker", 9), "")

    def looking(public: PublicTree, line: Line, a: int, number: int = 0) -> HandRecord:
        values.line = line
        return record(public, line, a, number)

    record = record_of
    monkeypatch.setitem(globals(), "record_of", looking)
    assert abs(biases("kuhn_poker", values, BOTH)[0]) > 0.001


# --- matches ---


class Fixed(Agent):
    """Plays a policy of the tree."""

    table: exact.Policy

    def policy(self, node: int) -> Float64:
        return self.table[node]


class Silent(Fixed):
    """Says nothing of what it draws from."""

    def act(self, node: int, infostate: int, rng: np.random.Generator) -> int:
        row = self.table[node][:, infostate]
        return int(rng.choice(len(row), p=row / row.sum()))


def entrant(policy: exact.Policy, kind: type[Fixed] = Fixed) -> Entrant:
    def made(public: PublicTree, player: int) -> Agent:
        agent = kind(public, player)
        agent.table = policy
        return agent

    return Entrant("x", "x", lambda public: lambda player, seed: made(public, player), False)


def match_of(a: Entrant, b: Entrant, hands: int, game: str = "leduc_poker") -> list[HandRecord]:
    match = HandMatch(tree(game).game, (a, b), 3, tree(game), policies=True)
    return [hand for block in match.play(0, hands, lambda done, note: None) for hand in block]


def values_of(a: exact.Policy, b: exact.Policy, game: str = "leduc_poker") -> tuple[Values, Values]:
    """The values where A is player 0, and where it is player 1."""
    public = tree(game)
    both = [{n: (zero if public.actor(n) == 0 else one)[n] for n in zero} for zero, one in ((a, b), (b, a))]
    return ListedValues(public, both[0], ""), ListedValues(public, both[1], "")


def measured(records: list[HandRecord], values: tuple[Values, Values], game: str = "leduc_poker") -> AivatFigure:
    return aivat(tree(game).game, tree(game), lambda: records, AivatSettings(values, 3))


def errors(figure: AivatFigure) -> tuple[float, float]:
    """Standard errors of the pairs' mean, as played and corrected."""
    raw, corrected = (np.reshape(won, (-1, 2)).mean(axis=1) for won in (figure.raw, figure.corrected))
    return raw.std(ddof=1) / len(raw) ** 0.5, corrected.std(ddof=1) / len(raw) ** 0.5


def test_deviation_on_leduc() -> None:
    """At least 99% less with the pair's own values, 48% with another pair's, and the mean is the exact one."""
    a, b = solved("leduc_poker", 30), solved("leduc_poker", 3)
    records = match_of(entrant(a), entrant(b), 1400)
    own, other = (measured(records, values_of(a, each)) for each in (b, a))
    (raw, least), (_, less) = errors(own), errors(other)
    assert own.known == ("a", "b") and least < 0.01 * raw and less < 0.52 * raw
    public = tree("leduc_poker")
    zero, one = (values.sums(public, 0, public.game.root_ranges())[0] for values in values_of(a, b))
    assert np.mean(own.corrected) == pytest.approx((zero - one) / 2, abs=1e-9)
    assert abs(np.mean(other.corrected) - (zero - one) / 2) < 3 * less


def test_one_agent_tells_its_policies() -> None:
    """Between equilibrium players what is left is small, in the hands where A sits in one seat."""
    a = solved("leduc_poker", 200)
    found = measured(match_of(entrant(a, Silent), entrant(a), 1000), values_of(a, a))
    raw, corrected = (np.array(won[::2]) for won in (found.raw, found.corrected))
    assert found.known == ("b",) and corrected.std() < 0.1 * raw.std()
    assert abs(corrected.mean() - raw.mean()) < 3 * raw.std() / 500**0.5
    assert measured(match_of(entrant(a, Silent), entrant(a, Silent), 20), values_of(a, a)).known == ()


def changed(record: HandRecord, policy: Float64) -> HandRecord:
    """The record with the policy of its first decision changed."""
    first, *others = record.steps
    assert isinstance(first, HandDecision)
    return replace(record, steps=(replace(first, policy=policy), *others))


def test_records_that_cannot_be_are_named() -> None:
    a = solved("kuhn_poker", 30)
    records, values = match_of(entrant(a), entrant(a), 40, "kuhn_poker"), values_of(a, a, "kuhn_poker")
    assert len(measured(records[:39], values, "kuhn_poker").raw) == 38
    first = records[6].steps[0]
    assert isinstance(first, HandDecision) and first.policy is not None
    other = np.eye(2)[[1 - first.action]].T * np.ones(3)
    for policy, why in (
        (first.policy[::-1] * 0.98 + 0.01, "hand 6: what A played is not what the recorded policy draws"),
        (other, "hand 6, start: the action that was played has probability 0"),
        (first.policy * 0.5, "hand 6, start: the probabilities of an infostate do not sum to 1"),
        (first.policy[:1], "hand 6, start: a policy of shape"),
    ):
        with pytest.raises(SettingError, match=why):
            measured([*records[:6], changed(records[6], policy), *records[7:]], values, "kuhn_poker")
    with pytest.raises(SettingError, match="hand 0: seats are swapped from hand to hand"):
        measured([replace(records[0], a=7), *records[1:]], values, "kuhn_poker")
    for wrong in (replace(records[0], won=float("nan")), replace(records[0], steps=records[0].steps[:1])):
        with pytest.raises(SettingError, match="hand 0 does not end as its record says"):
            measured([wrong, *records[1:]], values, "kuhn_poker")
    with pytest.raises(SettingError, match="no pair of hands"):
        measured(records[:1], values, "kuhn_poker")


class KuhnForTrifles(Kuhn):
    """A chip is worth 1e-12."""

    def __init__(self) -> None:
        super().__init__()
        self.u_max = 2e-12

    def payoff(self, s: State) -> Scaled:
        payoff = super().payoff(s)
        return Scaled(payoff.operator, payoff.scale * 1e-12)


def test_what_a_record_says_was_won_is_compared_in_shares_of_the_largest_utility() -> None:
    public = PublicTree(KuhnForTrifles()).list_all()
    policy = exact.uniform_policy(public)
    values, line = ListedValues(public, policy, ""), next(every_line(public, policy, policy))
    corrects, record = Aivat(public.game, AivatSettings((values, values), 0), BOTH), record_of(public, line, 0)
    assert abs(corrects.corrected(public, record, line.worlds)) < 2e-12
    with pytest.raises(SettingError, match="hand 0 does not end as its record says"):
        corrects.corrected(public, replace(record, won=1.5 * record.won), line.worlds)


@pytest.mark.parametrize("street", ["2s2h2d", "2s2h2d7c"])
def test_equities_of_holdem_are_the_mean_over_the_next_card(street: str) -> None:
    """Against one hand, and of two ranges; and a fold is worth what was paid."""
    public = PublicTree(make_game(f"holdem(board={street},pot=100,stacks=400,bets=1)"))
    public.list_fan(0)
    (fold_to, call_to) = public.child(0, 1), public.child(0, 0)
    public.list_fan(call_to)
    public.list_fan(fold_to)
    chance, folded = public.child(call_to, 0), public.child(fold_to, 0)
    values, rng = HoldemEquity(), np.random.default_rng(0)
    hand = np.zeros(1326)
    hand[700] = 1.0
    for ranges in ((rng.random(1326), hand), (hand, rng.random(1326)), (rng.random(1326), rng.random(1326)))[
        : len(street) - 5
    ]:
        won, mass = values.sums(public, folded, ranges)
        assert won == pytest.approx(50 * mass) and mass > 0
        public.list_fan(chance)
        fan, sums = public.game.fan(public.states[chance]), []
        for edge in range(public.num_edges(chance)):
            assert fan.carry is not None
            below = [carried_down(fan.carry[edge][p], r, 1326) for p, r in enumerate(ranges)]
            sums.append(values.sums(public, public.child(chance, edge), (below[0], below[1])))
        assert np.sum(sums, axis=0) == pytest.approx(values.sums(public, chance, ranges))


def test_showdowns_of_holdem_are_their_utilities() -> None:
    public, values = (
        PublicTree(make_game("holdem(board=2s2h2d7c9c,pot=100,stacks=400,bets=1)")).list_all(),
        HoldemEquity(),
    )
    ends = [n for n in range(public.size) if public.actor(n) == TERMINAL]
    for node in ends:
        for pair in ((700, 10), (10, 700), (31, 1200)):
            held = [np.zeros(1326), np.zeros(1326)]
            held[0][pair[0]] = held[1][pair[1]] = 1.0
            won, mass = values.sums(public, node, (held[0], held[1]))
            assert mass > 0 and won / mass == pytest.approx(public.utility(node, pair))
    assert len(ends) > 8


def test_holdem_spots_that_grow_are_corrected() -> None:
    game = make_game("holdem(board=2s2h2d7c,pot=1000,stacks=1000,bets=1)")
    even, calls = (
        Entrant("x", "x", lambda public, kind=kind: lambda player, seed: kind(public, player, seed), True)  # type: ignore[misc]
        for kind in (UniformAgent, AlwaysCall)
    )
    match = HandMatch(game, (even, calls), 3, None, policies=True)
    records = [hand for block in match.play(0, 40, lambda done, note: None) for hand in block]
    found = aivat(game, None, lambda: records, AivatSettings((HoldemEquity(), HoldemEquity()), 3))
    raw, corrected = errors(found)
    assert found.known == ("a", "b") and corrected < raw
    assert abs(np.mean(found.corrected) - np.mean(found.raw)) < 3 * raw
