"""Continual re-solving: how low complete trees bring it, what a search takes over from the one before, and seeds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sog.arrays import Float64
from sog.games.base import Carry, Game, State
from sog.games.catalog import make_game
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc, LeducState
from sog.games.rules.liars_dice import LiarsDice
from sog.measure.exploitability import agent_policy
from sog.play.agent import own_followers
from sog.play.resolver import ResolveSettings, Resolving, Solved, derive_generator, paper_settings, pog_settings
from sog.searches.cfr import exact
from sog.searches.cfr.exact import ExactEvaluator
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import DCFR, SOG, Rule
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations, Evaluator, zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Infostate, Kind

LEDUC = PublicTree(Leduc()).list_all()
DICE = PublicTree(LiarsDice(1, 4)).list_all()


def settings(s: int, rule: Rule = DCFR, complete: bool = True, alpha: float = 1.0) -> ResolveSettings:
    return ResolveSettings(Budget(s, 1.0), SearchSettings(rule), alpha, complete)


def solve(
    public: PublicTree,
    player: int,
    node: int,
    previous: Solved | None,
    how: ResolveSettings,
    evaluator: Evaluator = zero_evaluator,
    seed: int = 0,
) -> Solved:
    resolving = Resolving(public, player, node, previous, how, seed)
    run(resolving, evaluator)
    return resolving.solved()


def line(public: PublicTree, player: int, depth: int) -> list[int]:
    """The player's first `depth` decision nodes on one line of the game."""
    followers = own_followers(public, player)

    def below(node: int, more: int) -> list[int] | None:
        if more == 0:
            return []
        found = ((s, below(s, more - 1)) for s in reversed(followers.get(node, [])))
        return next(([s, *rest] for s, rest in found if rest is not None), None)

    out = below(-1, depth)
    assert out is not None
    return out


# --- exploitability with complete trees ---


def mbb(how: ResolveSettings) -> float:
    return 1000 * exact.measure_policy(LEDUC, agent_policy(LEDUC, how, zero_evaluator, 0)).exploitability


@pytest.mark.parametrize(
    ("iterations", "best", "papers"),
    [(300, 3.0, 35.0), (1_000, 0.7, 18.0)],  # found: 1.5, 0.9 and 20.9; 0.33, 0.25 and 10.0
)
def test_complete_trees_leave_little_to_exploit_in_leduc(iterations: int, best: float, papers: float) -> None:
    assert mbb(settings(iterations)) < best
    assert mbb(settings(iterations, alpha=0.5)) < best
    assert mbb(replace(paper_settings(Budget(iterations, 1.0)), complete=True)) < papers


def test_without_the_gadget_re_solving_is_unsafe() -> None:
    assert mbb(replace(settings(1_000), gadget=False)) > 300.0  # found: 1,135


@pytest.mark.parametrize(
    ("game", "bound"),
    [(Kuhn(), 2e-3), (LiarsDice(1, 3), 2e-3), (Goofspiel(3, "random"), 2e-3)],
    ids=lambda x: x.name if isinstance(x, Game) else "",
)
def test_complete_trees_in_other_games(game: Game, bound: float) -> None:
    public = PublicTree(game).list_all()
    policy = agent_policy(public, settings(300), zero_evaluator, 0)
    assert exact.measure_policy(public, policy).exploitability < bound * game.u_max


# --- what a search takes over ---


@pytest.mark.parametrize(("papers", "share"), [(paper_settings, 0.5), (pog_settings, 0.2)], ids=["SoG", "PoG"])
def test_the_opponents_range_is_the_papers_mixture(papers: Callable[[Budget], ResolveSettings], share: float) -> None:
    """SoG 0.5, PoG 0.2 of who follows into the subgame, half of all at first; the rest is as in the search before."""
    how = papers(Budget(1, 1.0))
    first, second = line(LEDUC, 0, 2)
    resolving = Resolving(LEDUC, 0, second, solve(LEDUC, 0, first, None, how), how, 0)
    assert resolving.gadget is not None
    previous, follow = resolving.gadget.previous.copy(), resolving.gadget.follow.copy()
    run(resolving, zero_evaluator)
    assert previous.max() == 1.0 and set(follow) <= {0.0, 0.5}
    np.testing.assert_allclose(resolving.tree.ranges(0)[1], share * follow + (1.0 - share) * previous)


def step_range(game: Game, s: State, child: State, p: int, range_: Float64, policy: Float64) -> Float64:
    """Player p's range after one public edge, by the fan: float64[I at the child]."""
    fan = game.fan(s)
    e = list(fan.children).index(child)
    out = np.zeros(game.num_infostates(child)[p])
    if game.actor(s) == p:
        assert fan.moves is not None
        for i, a in np.argwhere(fan.moves.edge == e):
            out[i if fan.moves.target is None else fan.moves.target[i, a]] += range_[i] * policy[a, i]
        return out
    carry: Carry = None if fan.carry is None else fan.carry[e][p]
    if carry is None:
        return range_.copy()
    np.add.at(out, carry.target, range_[carry.source])
    return out


GAMES = {
    "leduc": LEDUC,
    "liars dice": DICE,
    "goofspiel": PublicTree(Goofspiel(3, "random")).list_all(),
    "glasses": PublicTree(make_game("scotland_yard(map=glasses,rounds=3)")).list_all(),
}


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", GAMES)
def test_the_own_range_is_what_the_own_policies_leave(name: str, player: int) -> None:
    public = GAMES[name]
    first, second = line(public, player, 2)
    chain = [solve(public, player, first, None, settings(20))]
    chain.append(solve(public, player, second, chain[0], settings(20)))
    for solved in chain:
        tree = solved.tree
        for s, n in list(solved.index.items())[:400]:
            path = public.path(s)
            expected = tree.root_ranges[player]
            for here, there in pairwise(path[path.index(int(tree.nodes.public[0])) :]):
                at = solved.index[here]
                policy = tree.table(at, Entry.AVERAGE_POLICY) if tree.nodes.actor[at] == player else np.zeros((0, 0))
                expected = step_range(public.game, public.states[here], public.states[there], player, expected, policy)
            np.testing.assert_allclose(solved.own_range(n), expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("rule", [DCFR, SOG], ids=lambda rule: rule.name)
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", GAMES)
def test_the_opponents_range_and_values_are_means_over_iterations(name: str, player: int, rule: Rule) -> None:
    """The next search's gadget pays sum(w * cfv) / (W sum(w * r_own)), times today's mass."""
    public = GAMES[name]
    first, second = line(public, player, 2)
    solved = solve(public, player, first, None, settings(15, rule))
    tree, opponent = exact.full_tree(public), 1 - player
    cfv, reach = np.zeros(tree.infostates.shape[1]), np.zeros(tree.infostates.shape[1])
    for step in rule.steps(1, 15):
        for players in (1, 2) if rule.alternating else (3,):
            tree.forward()
            tree.payoffs()
            reach += step[2] * tree.infostates[Infostate.REACH]
            tree.backward(step, players, track=False)
            cfv += step[2] * tree.infostates[Infostate.CFV]
    n = int(np.flatnonzero(tree.nodes.public[: tree.size] == second)[0])
    w = public.game.weights(public.states[second]).dense()
    w = w if opponent == 0 else w.T  # rows are the opponent's infostates
    mass = w @ reach[tree.span(n, player)]
    conditional = np.divide(cfv[tree.span(n, opponent)], mass, out=np.zeros_like(mass), where=mass > 0)
    mean = reach[tree.span(n, opponent)]
    np.testing.assert_allclose(solved.opponent_values(solved.index[second]), conditional, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(solved.opponent_range(solved.index[second]), mean / mean.max(), rtol=1e-6, atol=1e-9)

    resolving = Resolving(public, player, second, solved, settings(15, rule, alpha=0.3), 0)
    gadget = resolving.gadget
    assert gadget is not None and gadget.opponent == opponent and gadget.alpha == 0.3
    own = solved.own_range(solved.index[second])
    own /= 2.0 ** np.floor(np.log2(own.max()) + 1.0)  # a power of two, so that nothing is rounded
    assert (resolving.own == own).all() and (resolving.tree.root_ranges[player] == own).all()
    np.testing.assert_allclose(gadget.leave, conditional * (w @ own), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(gadget.previous, mean / mean.max(), rtol=1e-6, atol=1e-9)
    assert ((gadget.follow > 0) == (w @ own > 0)).all()


def test_the_first_search_starts_at_the_root_with_the_games_ranges() -> None:
    node = line(LEDUC, 1, 1)[0]
    resolving = Resolving(LEDUC, 1, node, None, settings(5, complete=False), 0)
    assert resolving.gadget is None
    assert resolving.tree.nodes.public[0] == 0
    for mine, games in zip(resolving.tree.root_ranges, LEDUC.game.root_ranges(), strict=True):
        assert (mine == games).all()


def test_without_the_gadget_both_ranges_are_fixed() -> None:
    first, second = line(LEDUC, 0, 2)
    solved = solve(LEDUC, 0, first, None, settings(30))
    resolving = Resolving(LEDUC, 0, second, solved, replace(settings(30), gadget=False), 0)
    assert resolving.gadget is None
    n = solved.index[second]
    share = resolving.tree.root_ranges[0].max() / solved.own_range(n).max()
    assert (resolving.tree.root_ranges[0] == solved.own_range(n) * share).all() and np.log2(share).is_integer()
    assert (resolving.tree.root_ranges[1] == solved.opponent_range(n)).all()


def test_a_long_chain_searches_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The player's own range shrinks with every action of its own; how far it has must not change a search."""
    first, second = line(LEDUC, 0, 2)
    solved = solve(LEDUC, 0, first, None, settings(30))
    near, own_range = solve(LEDUC, 0, second, solved, settings(30)), Solved.own_range
    for power in (-40.0, -300.0):
        monkeypatch.setattr(Solved, "own_range", lambda self, n, power=power: own_range(self, n) * 2.0**power)
        far = solve(LEDUC, 0, second, solved, settings(30))
        np.testing.assert_array_equal(far.policy(), near.policy())
        np.testing.assert_array_equal(far.tree.policy(0), near.tree.policy(0))


def test_a_state_outside_the_last_tree_is_reached_from_the_nearest_one_inside() -> None:
    """A single branch runs from there to the state; what lies off it stays a leaf; growth is below the state only."""
    first = line(DICE, 0, 1)[0]
    small = replace(settings(1, complete=False), search=SearchSettings(warm_start=0.0, fill=False))
    solved = solve(DICE, 0, first, None, small)
    followers = own_followers(DICE, 0)
    node = next(t for s in followers[first] for t in followers.get(s, ()))
    path = DICE.path(node)
    assert node not in solved.index
    nearest = max(k for k, s in enumerate(path) if s in solved.index)
    resolving = Resolving(DICE, 0, node, solved, replace(small, budget=Budget(6, 1.0)), 0)
    tree, start = resolving.tree, resolving.start
    assert tree.nodes.public[0] == path[nearest] and tree.nodes.public[start] == node
    assert nearest < len(path) - 2
    on_branch = set(path[nearest:-1])
    for n in range(tree.size):
        inside = int(tree.nodes.public[n]) in on_branch
        assert inside == (tree.nodes.kind[n] == Kind.INTERIOR)
    run(resolving, ExactEvaluator(20))
    for n in range(tree.size):
        s = int(tree.nodes.public[n])
        assert tree.nodes.kind[n] != Kind.INTERIOR or s in on_branch or node in DICE.path(s)
    policy = resolving.solved().policy()
    np.testing.assert_allclose(policy.sum(axis=0), 1.0)
    again = solve(DICE, 0, node, solved, replace(small, budget=Budget(6, 1.0)), ExactEvaluator(20))
    assert again.node == node and set(again.index) == {int(s) for s in tree.nodes.public[: tree.size]}


def test_root_values_are_both_players_means() -> None:
    """At a rough equilibrium they sum to zero over pairs and player 0's mean is the value of the game."""
    solved = solve(LEDUC, 0, 0, None, settings(400))
    v0, v1 = solved.root_values()
    w = LEDUC.game.weights(LeducState()).dense()
    assert (w * v0[:, None]).sum() == pytest.approx(-0.0856, abs=5e-3)
    assert (w * (v0[:, None] + v1[None, :])).sum() == pytest.approx(0.0, abs=1e-9)


def test_ranges_survive_a_line_that_nobody_plays() -> None:
    """A solved chain may reach states of no mass: values there are 0, the range counts as unknown, nothing is NaN."""
    solved = solve(LEDUC, 0, 0, None, settings(5))
    n = solved.index[line(LEDUC, 0, 2)[1]]
    tree = solved.tree
    for row in (Infostate.REACH_SUM, Infostate.CFV_SUM):
        tree.infostates[row, tree.span(n, 0)] = 0.0
        tree.infostates[row, tree.span(n, 1)] = 0.0
    assert (solved.opponent_range(n) == 1.0).all() and (solved.opponent_values(n) == 0.0).all()
    following = solve(LEDUC, 0, int(tree.nodes.public[n]), solved, settings(5))
    assert np.isfinite(following.policy()).all()


# --- seeds, and what a resolver may know ---


def test_generators_differ_by_seed_player_and_node() -> None:
    states = {int(derive_generator(*key)[0]) for key in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2**62 - 1, 0, 0)]}
    assert len(states) == 5
    assert derive_generator(3, 1, 9) == derive_generator(3, 1, 9)


def test_the_same_seed_gives_the_same_bits() -> None:
    how = replace(settings(25, complete=False), search=SearchSettings(fill=False))
    first, second = line(DICE, 1, 2)

    def chain(seed: int) -> Lookahead:
        solved = solve(DICE, 1, first, None, how, seed=seed)
        return solve(DICE, 1, second, solved, how, seed=seed).tree

    one, same, other = chain(0), chain(0), chain(1)
    assert one.entries.tobytes() == same.entries.tobytes() and one.infostates.tobytes() == same.infostates.tobytes()
    assert one.entries.tobytes() != other.entries.tobytes()


def test_a_resolver_is_told_public_things_only() -> None:
    told = list(inspect.signature(Resolving.__init__).parameters)
    assert told == ["self", "public", "player", "node", "previous", "settings", "seed", "log"]


def test_beliefs_hold_no_impossible_card() -> None:
    """After the board card no belief that a re-solving search asks about gives that card to anyone.

    A range of no mass at all is asked about as uniform.
    """
    held = []

    def evaluator(requests: Sequence[Beliefs]) -> list[Evaluations]:
        for beliefs in requests:
            for node, ranges in zip(beliefs.nodes, beliefs.ranges, strict=True):
                s = LEDUC.states[int(node)]
                assert isinstance(s, LeducState)
                for p in (0, 1):
                    own = ranges[6 * p : 6 * p + 6]
                    if s.board >= 0 and np.ptp(own) > 0:
                        held.append(own[LEDUC.game.slot(s, p)[s.board]])
        return zero_evaluator(requests)

    solved = solve(LEDUC, 0, 0, None, settings(8, complete=False), evaluator)
    for node in own_followers(LEDUC, 0)[0]:
        solve(LEDUC, 0, node, solved, settings(3, complete=False, alpha=0.5), evaluator)
    assert len(held) > 100 and max(held) == 0.0
