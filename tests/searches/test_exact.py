"""Known solutions, best responses by brute force, and what must hold for any policy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.arrays import Array
from sog.errors import GameError
from sog.games.base import TERMINAL, Game
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.games.rules.liars_dice import LiarsDice
from sog.games.rules.rps import RockPaperScissors
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import CFR, CFR_PLUS, DCFR, LINEAR_CFR, PCFR_PLUS, SOG, Rule
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Infostate, Kind

KUHN = PublicTree(Kuhn()).list_all()
LEDUC = PublicTree(Leduc()).list_all()
TREES = {
    "kuhn": KUHN,
    "leduc": LEDUC,
    "liars dice": PublicTree(LiarsDice(1, 3)).list_all(),
    "goofspiel": PublicTree(Goofspiel(3, "random")).list_all(),
    "rps": PublicTree(RockPaperScissors()).list_all(),
}


def random_policies(public: PublicTree, seed: int) -> Lookahead:
    """A tree with random average policies; a third of the probabilities are 0."""
    rng = np.random.default_rng(seed)
    tree = exact.full_tree(public)
    for n in range(tree.size):
        if tree.nodes.actor[n] < 2:
            moves = public.game.fan(public.states[int(tree.nodes.public[n])]).moves
            assert moves is not None
            shape = moves.edge.T.shape
            chosen = rng.exponential(size=shape) * (rng.random(shape) < 2 / 3)
            tree.table(n, Entry.REGRET)[:] = chosen * (moves.edge.T >= 0)
    tree.normalise(Entry.REGRET, Entry.AVERAGE_POLICY)
    return tree


# --- convergence ---


@pytest.mark.parametrize(
    ("rule", "kuhn", "leduc"),
    [
        # Exploitability after 1,000 iterations; other machines round differently, so it may be half above.
        (CFR, 9.4e-4, 1.18e-2),
        (CFR_PLUS, 8.8e-5, 2.6e-4),
        (LINEAR_CFR, 9.4e-5, 6.6e-3),
        (DCFR, 1.5e-4, 1.9e-4),
        (PCFR_PLUS, 2.4e-8, 7.2e-4),
        (SOG, 2.9e-3, 6.9e-3),
    ],
    ids=lambda x: x.name if isinstance(x, Rule) else "",
)
def test_every_rule_converges(rule: Rule, kuhn: float, leduc: float) -> None:
    for public, known, value in ((KUHN, kuhn, -1 / 18), (LEDUC, leduc, -0.0856064)):
        measure = exact.measure(exact.solve(public, rule, 1_000))
        assert 0 <= measure.exploitability <= 1.5 * known
        # Either player's best response beats the value of the game, and together by twice the exploitability.
        assert -measure.best[1] - 1e-6 <= value <= measure.best[0] + 1e-6
        assert measure.value == pytest.approx(value, abs=2 * measure.exploitability + 1e-6)


def test_value_of_kuhn() -> None:
    measure = exact.measure(exact.solve(KUHN, PCFR_PLUS, 2_000))
    assert measure.value == pytest.approx(-1 / 18, abs=1e-7)


def test_value_of_leduc() -> None:
    measure = exact.measure(exact.solve(LEDUC, CFR_PLUS, 2_000))
    assert measure.value == pytest.approx(-0.0856, abs=5e-5)
    assert measure.exploitability < 1e-4


def test_rock_paper_scissors() -> None:
    tree = exact.solve(TREES["rps"], PCFR_PLUS, 2_000)
    first, second = exact.policy_of(tree).values()
    np.testing.assert_allclose(first[:, 0], (0.4, 0.4, 0.2), atol=1e-4)
    np.testing.assert_allclose(second[:, 0], (0.4, 0.4, 0.2), atol=1e-4)
    assert exact.measure(tree).value == pytest.approx(0.0, abs=1e-6)


# --- best responses ---


ACTS = (("", "pb"), ("p", "b"))  # the betting lines where each player acts


def pure_payoffs(game: Kuhn) -> Array:
    """float64[64, 64]: player 0's utility for every pair of pure strategies, by playing every deal."""
    strategies = [
        dict(zip(product(own, range(3)), bets, strict=True)) for own in ACTS for bets in product((0, 1), repeat=6)
    ]
    table = np.zeros((64, 64))
    for a, b in product(range(64), repeat=2):
        chosen = (strategies[a], strategies[64 + b])
        for i, j in product(range(3), repeat=2):
            line = ""
            while (actor := game.actor(line)) != TERMINAL:
                line += "pb"[chosen[actor][line, (i, j)[actor]]]
            table[a, b] += game.payoff(line).dense()[i, j]
    return table


def realised(policy: exact.Policy, p: int) -> Array:
    """float64[64]: the probability of each pure strategy of `pure_payoffs` under a policy for Kuhn poker."""
    states = [KUHN.states.index(line) for line in ACTS[p]]
    bet = np.concatenate([policy[n][1] for n in states])
    return np.array([np.prod(np.where(bets, bet, 1 - bet)) for bets in product((False, True), repeat=6)])


def test_best_responses_are_those_of_brute_force() -> None:
    table = pure_payoffs(Kuhn())
    for seed in range(5):
        tree = random_policies(KUHN, seed)
        measure, policy = exact.measure(tree), exact.policy_of(tree)
        mixed0, mixed1 = realised(policy, 0), realised(policy, 1)
        assert measure.value == pytest.approx(mixed0 @ table @ mixed1)
        assert measure.best[0] == pytest.approx((table @ mixed1).max())
        assert measure.best[1] == pytest.approx(-(mixed0 @ table).min())


def test_a_sum_of_policies_plays_each_of_them_as_often_as_it_weighs() -> None:
    """The average earns what one drawn at the start of each game would, whatever the opponent plays."""
    table, average = pure_payoffs(Kuhn()), exact.full_tree(KUHN)
    first, second = (exact.policy_of(random_policies(KUHN, seed)) for seed in (1, 2))
    exact.add_policy(average, first)
    exact.add_policy(average, second, 3.0)
    average.update_average_policy()
    found = exact.policy_of(average)
    zero, one = (0.25 * realised(first, p) + 0.75 * realised(second, p) for p in (0, 1))
    np.testing.assert_allclose(realised(found, 0) @ table, zero @ table, atol=1e-6)
    np.testing.assert_allclose(table @ realised(found, 1), table @ one, atol=1e-6)


# --- any policy ---

SEEDS = st.integers(0, 2**32 - 1)
NAMES = st.sampled_from(sorted(TREES))


@given(NAMES, SEEDS)
def test_exploitability_is_never_negative(name: str, seed: int) -> None:
    measure = exact.measure(random_policies(TREES[name], seed))
    assert measure.best[0] >= measure.value - 1e-12
    assert measure.best[1] >= -measure.value - 1e-12


@given(NAMES, SEEDS)
def test_values_sum_to_zero_at_every_public_state(name: str, seed: int) -> None:
    tree = random_policies(TREES[name], seed)
    tree.evaluate()
    reach, cfv = tree.infostates[Infostate.REACH], tree.infostates[Infostate.CFV]
    for n in range(tree.size):
        mine, other = (reach[tree.span(n, p)] @ cfv[tree.span(n, p)] for p in (0, 1))
        assert mine == pytest.approx(-other, abs=1e-12)


@given(NAMES, SEEDS)
def test_ranges_keep_their_mass(name: str, seed: int) -> None:
    """The weights of all pairs at the terminal states sum to those at the root."""
    tree = random_policies(TREES[name], seed)
    tree.forward(Entry.AVERAGE_POLICY)
    game: Game = tree.public.game
    total = 0.0
    for n in range(tree.size):
        if tree.nodes.kind[n] == Kind.ENDED:
            r0, r1 = (tree.infostates[Infostate.REACH, tree.span(n, p)] for p in (0, 1))
            weights = game.weights(tree.public.states[int(tree.nodes.public[n])])
            total += float(r0 @ weights.dense() @ r1)
    assert total == pytest.approx(1.0)


@given(NAMES, SEEDS)
def test_a_policy_survives_the_way_out_and_back(name: str, seed: int) -> None:
    tree = random_policies(TREES[name], seed)
    assert exact.measure_policy(TREES[name], exact.policy_of(tree)) == exact.measure(tree)


def test_a_uniform_policy_plays_legal_actions_only() -> None:
    public = TREES["goofspiel"]
    found = exact.uniform_policy(public)
    assert set(found) == set(public.decisions())
    for node, policy in found.items():
        moves = public.game.fan(public.states[node]).moves
        assert moves is not None
        legal = (moves.edge.T >= 0).astype(float)
        np.testing.assert_allclose(policy, legal / legal.sum(axis=0))


def test_a_policy_with_a_gap_is_not_measured() -> None:
    """Of a decision that it lacks nothing is known, not an exploitability of 0."""
    policy = exact.uniform_policy(KUHN)
    assert exact.measure_policy(KUHN, policy).exploitability == pytest.approx(0.4583333333)
    policy.pop(next(iter(policy)))
    with pytest.raises(GameError, match="lacks 1 public state"):
        exact.measure_policy(KUHN, policy)
