"""Distillation: targets beside exact values, beliefs, rows, and a network that is better than none."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from sog.algorithms.distil.beliefs import BeliefDraws, Drawing
from sog.algorithms.distil.distil import Distilled, DistilSettings, distil, distil_into, taught
from sog.algorithms.distil.teacher import CriticTeacher
from sog.errors import CheckpointError, SettingError
from sog.games.base import NATURE, TERMINAL
from sog.games.catalog import make_game, make_history_game
from sog.measure.exploitability import exploitability
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.serialized import network_bytes
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import DCFR
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import Beliefs
from sog.searches.tree.public_tree import PublicTree
from sog.training import checkpoint
from tests.policies import ExactCritic, TablePolicy

LIAR = "liars_dice(numdice=1,dice_sides=3)"
GOOF = "goofspiel(imp_info=True,num_cards=3,points_order=random)"


@lru_cache(maxsize=4)
def taught_game(name: str, values: str = "identity") -> CriticTeacher:
    """A teacher whose critic is exact, for policies that differ from the best and a second one of each player."""
    public, game = PublicTree(make_game(name)).list_all(), make_history_game(name)
    policy, other = skewed(public, 0), skewed(public, 1)
    own, moved = TablePolicy(public, policy), TablePolicy(public, other)
    return CriticTeacher(public, game, ExactCritic(game, [[own, moved], [own, moved]]), policy, values)


def skewed(public: PublicTree, seed: int) -> exact.Policy:
    """Some policy with no action likelier than another by more than exp(1) or so."""
    rng = np.random.default_rng(seed)
    found = {n: policy * np.exp(rng.normal(size=policy.shape)) for n, policy in exact.uniform_policy(public).items()}
    return {n: policy / policy.sum(axis=0) for n, policy in found.items()}


def ranges_at(public: PublicTree, node: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, node])
    zero, one = (rng.random(n) * (rng.random(n) < 0.8) + 1e-3 for n in public.num_infostates(node))
    return zero, one


def exact_values(
    public: PublicTree, node: int, ranges: tuple[np.ndarray, np.ndarray], policy: exact.Policy
) -> tuple[np.ndarray, np.ndarray]:
    """What the infostates are worth under a policy, by the whole tree below: conditional, in utilities."""
    tree = Lookahead(public, node, ranges).expand_all()
    exact.set_policy(tree, policy)
    return public.conditional(node, tree.evaluate(), ranges)


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", LIAR, GOOF])
def test_with_an_exact_critic_targets_are_the_policys_exact_values(name: str) -> None:
    """At public states where a player acts and where chance does, for any ranges."""
    teacher = taught_game(name)
    public = teacher.public
    nodes = [n for n in range(public.size) if public.actor(n) != TERMINAL]
    assert any(public.actor(n) == NATURE for n in nodes) or name in ("kuhn_poker", LIAR)
    for node in nodes[:: max(1, len(nodes) // 40)]:
        ranges = ranges_at(public, node, 3)
        wanted = exact_values(public, node, ranges, teacher.policy)
        for found, value in zip(teacher.values(node, ranges), wanted, strict=True):
            np.testing.assert_allclose(found, value, atol=2e-5)
    assert max(np.abs(v).max() for v in wanted) > 0.05


@pytest.mark.parametrize("player", [0, 1])
def test_a_chosen_transformation_is_the_best_response_among_them(player: int) -> None:
    """Where only one player has a second way to play, its values are the better of the two exact ones."""
    plain = taught_game("leduc_poker")
    public, game, other = plain.public, plain.game, skewed(plain.public, 1)
    own, moved = TablePolicy(public, plain.policy), TablePolicy(public, other)
    ways: list[list[object]] = [[own], [own]]
    ways[player].append(moved)
    teacher = CriticTeacher(public, game, ExactCritic(game, ways), plain.policy, "choice")
    mixed = {n: other[n] if public.actor(n) == player else policy for n, policy in plain.policy.items()}
    gained = 0
    for node in [n for n in range(public.size) if public.actor(n) != TERMINAL][::9]:
        ranges = ranges_at(public, node, 5)
        stays = exact_values(public, node, ranges, plain.policy)[player]
        moves = exact_values(public, node, ranges, mixed)[player]
        found = teacher.values(node, ranges)
        np.testing.assert_allclose(found[player], np.maximum(stays, moves), atol=5e-5)
        gained += int((moves > stays + 0.01).sum())
        zero, one = public.masses(node, *ranges)
        sums = [float(np.sum(r * m * v)) for r, m, v in zip(ranges, (zero, one), found, strict=True)]
        assert sums[0] + sums[1] == pytest.approx(0.0, abs=1e-4)
    assert gained > 10


def test_a_teacher_that_keeps_little_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = taught_game("leduc_poker")
    public = whole.public
    nodes = [n for n in range(public.size) if public.actor(n) != TERMINAL]
    monkeypatch.setattr("sog.algorithms.distil.teacher._MOST_BYTES", 1_000)
    small = CriticTeacher(public, whole.game, whole.critic, whole.policy)
    for node in (*nodes[-5:], 0, *nodes[-5:]):
        for a, b in zip(small.tables(node), whole.tables(node), strict=True):
            np.testing.assert_array_equal(a, b)
    assert small._tables.held <= 1_000 and len(small._tables) <= 6


def test_the_teacher_is_an_evaluator() -> None:
    """It answers by slot, with the policy as prior, what `values` says by infostate."""
    teacher = taught_game("leduc_poker")
    public = teacher.public
    nodes = np.array(list(public.decisions())[3:8], dtype=np.int32)
    ranges = [ranges_at(public, int(n), 1) for n in nodes]
    by_slot = np.array([public.ranges_by_slot(int(n), r) for n, r in zip(nodes, ranges, strict=True)])
    (found,) = teacher([Beliefs(public, nodes, by_slot)])
    for b, node in enumerate(nodes.tolist()):
        for p, values in enumerate(teacher.values(node, ranges[b])):
            np.testing.assert_allclose(found.values[b, public.places_of(node, p)], values, atol=1e-6)
        logits = found.logits[b][public.slots_of(node, public.actor(node))[:, None], public.actions(node)]
        np.testing.assert_allclose(np.exp(logits), teacher.policy[node].T, atol=1e-8)
    with pytest.raises(SettingError, match="known: identity, choice"):
        CriticTeacher(public, teacher.game, teacher.critic, teacher.policy, "best")


# --- beliefs ---


def test_undisturbed_draws_are_the_policys_own_beliefs() -> None:
    teacher = taught_game("leduc_poker")
    public = teacher.public
    draws = BeliefDraws(public, teacher.policy, Drawing(plain=1.0, each=10_000), np.random.default_rng(0))
    nodes, ranges = draws.draw()
    assert sorted(nodes) == [n for n in range(public.size) if public.actor(n) != TERMINAL]
    tree = exact.full_tree(public)
    exact.set_policy(tree, teacher.policy)
    tree.play_average()
    for n, row in zip(nodes.tolist(), ranges, strict=True):
        np.testing.assert_allclose(row, public.ranges_by_slot(n, tree.ranges(tree.node_of(n))), atol=1e-12)


def test_draws_go_where_policies_go_and_hold_ranges_of_many_kinds() -> None:
    teacher = taught_game("leduc_poker")
    public = teacher.public
    draws = BeliefDraws(public, teacher.policy, Drawing(each=40), np.random.default_rng(0))
    found = [draws.draw() for _ in range(200)]
    counts = np.bincount(np.concatenate([nodes for nodes, _ in found]), minlength=public.size)
    assert all(counts[n] > 0 for n in range(public.size) if public.actor(n) != TERMINAL)
    assert counts[0] == 200 > 5 * np.median(counts[list(public.decisions())])
    ranges = np.concatenate([r for _, r in found])
    np.testing.assert_allclose(ranges[:, :6].sum(axis=1), 1.0)
    most = ranges[:, :6].max(axis=1)
    assert (most > 0.9).mean() > 0.02 and (most < 0.3).mean() > 0.05


def test_disturbed_policies_are_policies_over_legal_actions() -> None:
    teacher = taught_game("goofspiel(imp_info=True,num_cards=3,points_order=random)")
    public = teacher.public
    draws = BeliefDraws(public, teacher.policy, Drawing(plain=0.0), np.random.default_rng(2))
    for _ in range(5):
        draws.draw()
        moved = 0.0
        for n, policy in exact.policy_of(draws.tree).items():
            np.testing.assert_allclose(policy.sum(axis=0), 1.0)
            assert (policy[public.legal(n) == 0] == 0.0).all()
            moved = max(moved, np.abs(policy - teacher.policy[n]).max())
        assert moved > 0.05


# --- rows, learning, saving ---


def test_rows_are_beliefs_with_values_in_units_and_the_policy() -> None:
    teacher = taught_game("leduc_poker")
    public, shape = teacher.public, shape_for(teacher.public.game, crossed=teacher.public.game.crossed)
    nodes, ranges = BeliefDraws(public, teacher.policy, Drawing(), np.random.default_rng(1)).draw()
    rows = taught(teacher, nodes, ranges, shape)
    assert rows.inputs.shape == (len(nodes), shape.inputs) and rows.values.shape[1] == shape.num_values
    for k, node in enumerate(nodes.tolist()):
        values = teacher.values(node, public.ranges_of_slots(node, ranges[k]))
        for p in (0, 1):
            at = public.places_of(node, p)
            met = rows.value_mask[k, at] > 0
            np.testing.assert_allclose(
                rows.values[k, at][met] * public.value_unit(node), values[p][met], rtol=1e-4, atol=1e-4
            )
        assert (rows.policy_mask[k].sum() > 0) == (public.actor(node) < NATURE)
    assert rows.value_mask.mean() > 0.5 and np.isfinite(rows.values).all()


def kuhn_teacher() -> CriticTeacher:
    """The exact critic of a policy near an equilibrium."""
    public, game = PublicTree(make_game("kuhn_poker")).list_all(), make_history_game("kuhn_poker")
    policy = exact.policy_of(exact.solve(public, DCFR, 300))
    own = TablePolicy(public, policy)
    return CriticTeacher(public, game, ExactCritic(game, [[own], [own]]), policy)


def small(steps: int = 300) -> DistilSettings:
    shape = shape_for(make_game("kuhn_poker"), width=32, depth=2)
    settings = DistilSettings(shape, steps=steps, window=4_000)
    return replace(settings, learner=replace(settings.learner, batch=64))


def test_a_distilled_network_is_better_than_none_under_search() -> None:
    """Kuhn poker at (2, 1), where most values come from leaves; its answers are the teacher's."""
    teacher = kuhn_teacher()
    found = distil(teacher, small())
    assert found.steps == 300 and found.value_loss < 0.01
    settings, fresh = ResolveSettings(Budget(2, 1.0)), CVPN(found.network.shape)
    public = teacher.public
    with_it, without = (
        sum(exploitability(public, settings, network_evaluator(network), seed) for seed in (0, 1))
        for network in (found.network, fresh)
    )
    assert with_it < 0.6 * without
    nodes, ranges = BeliefDraws(public, teacher.policy, Drawing(each=9), np.random.default_rng(7)).draw()
    beliefs = Beliefs(public, nodes, ranges)
    (told,), (said,) = network_evaluator(found.network)([beliefs]), teacher([beliefs])
    assert np.abs(told.values - said.values)[said.values != 0.0].mean() < 0.2  # values lie in [-2, 2]


def test_the_seed_decides_the_network() -> None:
    teacher = kuhn_teacher()
    one, same, other = (network_bytes(distil(teacher, small(20), seed).network) for seed in (3, 3, 4))
    assert one == same != other


def test_minutes_stop_it_after_its_first_steps() -> None:
    assert 1 <= distil(kuhn_teacher(), small(100_000), minutes=1e-6).steps < 1_000


def test_a_checkpoint_is_written_once(tmp_path: Path) -> None:
    teacher = kuhn_teacher()
    made: list[Distilled] = []

    def work() -> tuple[Distilled, dict[str, object]]:
        made.append(distil(teacher, small(5)))
        return made[-1], {"game": "kuhn_poker", "algorithm": "sog"}

    distil_into(tmp_path / "out", work, "kuhn_poker", "kuhn_poker distilled")
    game, network, meta = checkpoint.load_network(tmp_path / "out" / "checkpoint", "kuhn_poker")
    assert (game, meta.step) == ("kuhn_poker", 5)
    assert network_bytes(network) == network_bytes(made[0].network)
    for out in (tmp_path / "out", tmp_path / "out" / "checkpoint"):
        with pytest.raises(CheckpointError, match="holds a checkpoint already"):
            distil_into(out, work, "kuhn_poker", "kuhn_poker distilled")
    assert len(made) == 1
    with pytest.raises(CheckpointError, match="cannot be resumed"):
        checkpoint.load_state(tmp_path / "out" / "checkpoint")
