"""The learner: it learns fixed targets, masks train nothing, its steps repeat bit for bit, bad settings end."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch

from sog.errors import CheckpointError, SettingError
from sog.games.base import TERMINAL
from sog.games.rules.leduc.game import Leduc
from sog.nets.cvpn import CVPN
from sog.nets.encode import encode
from sog.nets.shape import NetworkShape, shape_for
from sog.searches.leaves.evaluator import Beliefs
from sog.searches.tree.public_tree import PublicTree
from sog.training.learner import Learner, losses
from sog.training.rows import Rows, blank_rows
from sog.training.settings import LearnerSettings


def leduc_rows(count: int, seed: int = 0) -> Rows:
    """Random beliefs at Leduc's public states with random targets; the second action is never legal."""
    rng, game = np.random.default_rng(seed), Leduc()
    public, shape = PublicTree(game).list_all(), shape_for(game)
    asked = np.flatnonzero(public.nodes.actor[: public.size] != TERMINAL).astype(np.int32)
    ranges = [rng.dirichlet(np.ones(slots), count) for slots in game.num_slots]
    beliefs = Beliefs(public, rng.choice(asked, count), np.concatenate(ranges, axis=1))
    rows = replace(blank_rows(shape, count), inputs=encode(beliefs))
    rows.values[:] = rng.normal(size=rows.values.shape)
    rows.value_mask[:], rows.policy_mask[:] = 1.0, 1.0
    rows.policies[:, :, ::2] = rng.dirichlet(np.ones(2), (count, max(shape.slots)))
    rows.legal[:, :, ::2] = True
    return rows


def learner(width: int = 64, **settings: object) -> Learner:
    return Learner(CVPN(shape_for(Leduc(), width, 2), 1), LearnerSettings(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings",
    [
        {"optimiser": "adam", "learning_rate": 1e-2, "policy_weight": 1.0},
        {"optimiser": "sgd", "learning_rate": 0.5, "policy_weight": 1.0, "clip": 1.0},
        {"optimiser": "adam", "learning_rate": 1e-2, "policy_weight": 1.0, "bfloat16": True},
    ],
)
def test_learns_fixed_targets(settings: dict[str, object]) -> None:
    rows = leduc_rows(64)
    machine = learner(256, **settings)
    first = machine.step(rows)
    for _ in range(400):
        last = machine.step(rows)
    assert last.value < first.value / 10 and last.policy < first.policy / 10


def test_layers_alone_are_computed_in_16_bits() -> None:
    """Their answers are off by a 256th at most, and the losses and weights stay in 32 bits."""
    rows, machine = leduc_rows(64), learner(learning_rate=1e-2)
    for _ in range(20):  # a new network answers 0
        machine.step(rows)
    network = machine.network
    plain, short = (losses(network, rows, LearnerSettings(bfloat16=b))[:2] for b in (False, True))
    for one, other in zip(plain, short, strict=True):
        assert other.dtype == torch.float32 and one.item() != other.item()
        assert other.item() == pytest.approx(one.item(), rel=2e-2)
    network.zero_grad()
    short[0].backward()  # type: ignore[no-untyped-call]
    assert all(weight.grad.dtype == torch.float32 for weight in network.parameters() if weight.grad is not None)


def test_losses_are_those_of_the_paper() -> None:
    rows, network = leduc_rows(5), CVPN(shape_for(Leduc(), 8, 1))  # a new network answers 0
    value, policy, _ = losses(network, rows)
    error = np.abs(rows.values)
    huber = np.where(error < 1.0, error**2 / 2, error - 0.5).mean()
    kl = (rows.policies * np.log(np.maximum(rows.policies, 1e-30) / 0.5)).sum(axis=-1).mean()
    np.testing.assert_allclose(float(value.detach()), huber, rtol=1e-5)
    np.testing.assert_allclose(float(policy.detach()), kl, rtol=1e-5)


def test_the_papers_policy_loss_is_summed_over_infostates() -> None:
    """PoG, B.3: w_p * sum_i KL(pi^i, pi_target^i); rows without a policy are not counted."""
    rows, network = leduc_rows(5), CVPN(shape_for(Leduc(), 8, 1))
    rows.policy_mask[0] = 0.0
    rows.policy_mask[1, 2:] = 0.0
    kl = (rows.policies * np.log(np.maximum(rows.policies, 1e-30) / 0.5)).sum(axis=-1) * rows.policy_mask
    value, policy, _ = losses(network, rows, LearnerSettings(sum_policies=True))
    np.testing.assert_allclose(float(policy.detach()), kl.sum() / 4, rtol=1e-5)
    np.testing.assert_allclose(float(value.detach()), float(losses(network, rows)[0].detach()))
    machine = learner(policy_weight=0.3, value_weight=0.0, sum_policies=True)
    np.testing.assert_allclose(machine.step(rows).total, 0.3 * kl.sum() / 4, rtol=1e-5)


def test_every_row_may_count_alike_in_the_policy_loss() -> None:
    """The mean over rows of each row's mean over its infostates; rows without a policy are not counted."""
    rows, network = leduc_rows(5), CVPN(shape_for(Leduc(), 8, 1))
    rows.policy_mask[0] = 0.0
    rows.policy_mask[1, 2:] = 0.0
    kl = (rows.policies * np.log(np.maximum(rows.policies, 1e-30) / 0.5)).sum(axis=-1) * rows.policy_mask
    _, policy, _ = losses(network, rows, LearnerSettings(policies_by_row=True))
    np.testing.assert_allclose(float(policy.detach()), np.mean(kl[1:].sum(1) / rows.policy_mask[1:].sum(1)), rtol=1e-5)
    assert abs(float(policy.detach()) - float(losses(network, rows)[1].detach())) > 1e-3


def test_rebels_policy_loss_is_the_squared_error_of_probabilities() -> None:
    """ReBeL, section 7: summed over actions here, the mean over infostates; illegal actions have none."""
    rows, network = leduc_rows(5), CVPN(shape_for(Leduc(), 8, 1))
    squares = np.square(rows.policies[:, :, ::2] - 0.5).sum(axis=-1).mean()
    _, policy, _ = losses(network, rows, LearnerSettings(squared_policies=True))
    np.testing.assert_allclose(float(policy.detach()), squares, rtol=1e-5)
    machine = learner(policy_weight=0.3, value_weight=0.0, squared_policies=True)
    np.testing.assert_allclose(machine.step(rows).total, 0.3 * squares, rtol=1e-5)


def test_masked_outputs_have_no_gradient() -> None:
    rows = leduc_rows(3)
    rows.value_mask[:, 4:] = 0.0
    rows.policy_mask[:, 1:] = 0.0
    shape = shape_for(Leduc(), 8, 1)
    network = CVPN(shape)
    value, policy, _ = losses(network, rows)
    (value + policy).backward()  # type: ignore[no-untyped-call]
    assert network.head.bias.grad is not None
    touched = network.head.bias.grad.numpy() != 0.0
    values, logits = touched[: shape.num_values], touched[shape.num_values :].reshape(6, 3)
    assert values[:4].all() and not values[4:].any()
    assert logits[0, [0, 2]].all() and not logits[0, 1] and not logits[1:].any()


def test_rows_without_any_target_change_nothing() -> None:
    machine = learner(optimiser="sgd")
    before = {name: weight.clone() for name, weight in machine.network.state_dict().items()}
    losses_of_step = machine.step(blank_rows(machine.network.shape, 4))
    assert losses_of_step.total == 0.0
    assert all(torch.equal(before[name], weight) for name, weight in machine.network.state_dict().items())


@pytest.mark.parametrize(("optimiser", "average"), [("adam", 0.0), ("sgd", 0.0), ("adam", 0.01)])
def test_a_restored_learner_takes_the_same_steps(optimiser: str, average: float) -> None:
    """It begins with the kept network, as a checkpoint gives it."""
    rows = leduc_rows(32)
    first = learner(optimiser=optimiser, decay=0.5, decay_steps=3, average=average)
    for _ in range(3):
        first.step(rows)
    settings = LearnerSettings(optimiser=optimiser, decay=0.5, decay_steps=3, average=average)
    second = Learner(deepcopy(first.averaged), settings)
    second.restore(first.state())
    assert [first.step(rows) for _ in range(3)] == [second.step(rows) for _ in range(3)]
    assert first.steps == second.steps == 6
    for one, other in zip(first.averaged.state_dict().values(), second.averaged.state_dict().values(), strict=True):
        assert torch.equal(one, other)


def test_the_kept_network_is_an_average_of_the_weights() -> None:
    """Of all steps alike at first, nearly; of a tenth of them later; and the steps taken do not depend on it."""
    rows = leduc_rows(16)
    plain, averaged = learner(optimiser="sgd", momentum=0.0), learner(optimiser="sgd", momentum=0.0, average=1e-3)
    assert plain.averaged is plain.network and averaged.averaged is not averaged.network
    biases = []
    for _ in range(60):
        assert plain.step(rows) == averaged.step(rows)
        biases.append(averaged.network.head.bias.detach().clone())
    weights = [1.0]  # of the first network, then of each step's
    for step in range(1, 61):
        rate = 10.0 / (step + 10.0)
        weights = [weight * (1.0 - rate) for weight in weights] + [rate]
    assert sum(weights[-20:]) > 0.9 and weights[0] < 1e-6
    expected = sum(w * b for w, b in zip(weights[1:], biases, strict=True))
    torch.testing.assert_close(averaged.averaged.head.bias.detach(), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(SettingError, match="average"):
        LearnerSettings(average=1.5)


def test_a_learner_without_the_trained_weights_is_damaged() -> None:
    state = learner(average=0.1).state()
    for wrong in ({}, {"network": 3}, {"network": {}}):
        with pytest.raises(CheckpointError):
            learner(average=0.1).restore({**{k: v for k, v in state.items() if k != "network"}, **wrong})


def test_learning_rate_decays() -> None:
    machine = learner(learning_rate=0.1, decay=0.5, decay_steps=2)
    rates = []
    for _ in range(3):
        machine.step(leduc_rows(2))
        rates.append(machine.optimiser.param_groups[0]["lr"])
    np.testing.assert_allclose(rates, [0.1, 0.1 * 0.5**0.5, 0.05])


def test_steps_allowed_by_the_rows_seen() -> None:
    machine = learner(batch=100, updates_per_example=5.0)
    assert [machine.allowed(added) for added in (0, 19, 20, 1000)] == [0, 0, 1, 50]


def test_an_optimiser_of_another_network_is_refused() -> None:
    machine = learner(32)
    machine.step(leduc_rows(2))
    with pytest.raises(CheckpointError):
        learner(64).restore(machine.state())
    with pytest.raises(CheckpointError):
        learner(32).restore({"steps": 1})


@pytest.mark.parametrize(
    "bad", [{"optimiser": "magic"}, {"batch": 0}, {"learning_rate": float("nan")}, {"clip": -1.0}, {"momentum": 0.5}]
)
def test_bad_settings_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(SettingError):
        LearnerSettings(**bad)  # type: ignore[arg-type]


def test_illegal_logits_do_not_reach_the_loss() -> None:
    rows, shape = leduc_rows(4), NetworkShape(24, (6, 6), 3, width=8, depth=1)
    network = CVPN(shape)
    before = losses(network, rows)[1]
    with torch.no_grad():
        network.head.bias[shape.num_values + 1 :: 3] = 1e4
    assert torch.equal(losses(network, rows)[1], before)
