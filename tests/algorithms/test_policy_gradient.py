"""Policy learners: their targets beside slow references, updates by hand, and exploitability that falls."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from sog.algorithms.policy.agent import PolicyAgent, infostates_of, network_policy, policy_exploitability
from sog.algorithms.policy.learners import PolicyLearner, Update
from sog.algorithms.policy.loop import play_and_learn, policy_learner, train_policy
from sog.algorithms.policy.networks import SeenDecisions, answers, each_once, policies_of, seen
from sog.algorithms.policy.ppo import PpoLearner, _Batch
from sog.algorithms.policy.presets import PolicySettings, mmd_preset, nashpg_preset
from sog.algorithms.policy.rnad import RnadLearner, neurd_loss
from sog.algorithms.policy.settings import LearnsPolicy, PpoSettings, RnadSettings
from sog.algorithms.policy.trajectories import Trajectories, sample
from sog.algorithms.policy.vtrace import Clips, advantages, two_player_vtrace
from sog.algorithms.table import settings_of
from sog.arrays import Float32, Float64, Int32
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_game, make_history_game
from sog.games.histories.base import HistoryGame, replay
from sog.nets.cvpn import CVPN
from sog.nets.perceptron import Perceptron
from sog.nets.shape import policy_shape
from sog.searches.cfr import exact
from sog.searches.cfr.rules import DCFR
from sog.searches.tree.public_tree import PublicTree
from sog.training import checkpoint
from sog.training.lock import held
from sog.training.run import Hooks, Run, Until
from sog.training.state import pack
from tests.policies import played

NAMES = ("rnad", "mmd", "nashpg")
TINY: dict[str, LearnsPolicy] = {
    "rnad": RnadSettings(short=20, shorts=10**6, learning_rate=3e-3, target_rate=0.05),
    "mmd": PpoSettings(
        learning_rate=3e-3, anneal=300, entropy=0.2, entropy_steps=20, damping=0.05, average=3.0, scale=0.5
    ),
    "nashpg": PpoSettings(learning_rate=3e-3, entropy=0.0, pull=0.2, magnet_every=20, average=3.0, scale=0.5),
}


def test_trajectories_are_games_of_the_rules() -> None:
    for name in ("leduc_poker", "goofspiel(imp_info=True,num_cards=4,points_order=random)", "openspiel:kuhn_poker"):
        game = make_history_game(name)
        t, network = played(name, 50)
        ends = replay(game, t.histories)
        assert (game.actors(ends) == 3).all()
        np.testing.assert_array_equal(game.utilities(ends), t.utility)
        np.testing.assert_array_equal(game.inputs(t.states, t.actor), t.inputs)
        np.testing.assert_array_equal(game.legal(t.states), t.legal)
        assert t.legal[np.arange(len(t)), t.action].all()
        np.testing.assert_allclose(t.policy.sum(axis=1), 1.0, rtol=1e-5)
        assert (t.policy[~t.legal] == 0).all()
        np.testing.assert_allclose(policies_of(network, t.inputs, t.legal), t.policy, atol=1e-5)


def test_the_actor_draws_from_the_policy() -> None:
    """The share of each action at one infostate, within four standard errors of its probability."""
    t, _ = played("kuhn_poker", 4000)
    first = np.flatnonzero((t.inputs == t.inputs[0]).all(axis=1))
    p = float(t.policy[first[0], 1])
    share = t.action[first].mean()
    assert 0.02 < p < 0.98 and abs(share - p) < 4 * math.sqrt(p * (1 - p) / len(first))


def slow_vtrace(
    t: Trajectories, values: np.ndarray, policy: np.ndarray, ratio: np.ndarray, eta: float, clips: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Game by game and player by player, from the definition: deltas between a player's own decisions, summed up.

    Between two own decisions a player is paid eta KL for every decision of the other, weighed by the ratios before it.
    """
    rho_bar, c_bar = clips
    targets, q = np.zeros(len(t)), np.zeros(policy.shape)
    kl = (policy * ratio).sum(axis=1)
    rho = policy[np.arange(len(t)), t.action] / t.policy[np.arange(len(t)), t.action]
    for g in range(len(t.utility)):
        moments = np.flatnonzero(t.game == g)
        for p in (0, 1):
            own = [k for k, d in enumerate(moments) if t.actor[d] == p]
            utility = t.utility[g] * (1 - 2 * p)
            next_value = next_target = 0.0
            for k in reversed(own):
                d, following = moments[k], [j for j in own if j > k]
                stop = following[0] if following else len(moments)
                between = moments[k + 1 : stop]
                end = 0.0 if following else utility
                corrected, plain, weight = 0.0, 0.0, 1.0
                for e in between:
                    corrected += weight * eta * kl[e]
                    plain += eta * kl[e]
                    weight *= rho[e]
                corrected, plain = corrected + weight * end, plain + end
                total = weight * rho[d]
                delta = min(rho_bar, total) * (plain - eta * kl[d] + next_value - values[d])
                targets[d] = values[d] + delta + min(c_bar, total) * (next_target - next_value)
                q[d] = values[d] - eta * ratio[d]
                a = t.action[d]
                q[d, a] += (corrected + weight * next_target - values[d]) / t.policy[d, a]
                next_value, next_target = values[d], targets[d]
    return targets, q


@pytest.mark.parametrize("clips", [(math.inf, 1.0), (1.0, 1.0), (3.0, 0.5)])
def test_vtrace_is_the_slow_references(clips: tuple[float, float]) -> None:
    """Off policy, with random values and regularisation."""
    t, _ = played("leduc_poker", 30)
    rng = np.random.default_rng(1)
    logits = np.where(t.legal, rng.normal(size=t.policy.shape), -np.inf)
    policy = (np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)).astype(np.float32)
    ratio = np.where(t.legal, rng.normal(size=t.policy.shape), 0.0).astype(np.float32)
    values = rng.normal(size=len(t)).astype(np.float32)
    found = two_player_vtrace(t, values, policy, ratio, 0.3, Clips(*clips))
    wanted = slow_vtrace(t, values, policy, ratio, 0.3, clips)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-5, atol=1e-5)


def test_vtrace_estimates_values_without_bias() -> None:
    """On the policy, with values of 0, the mean target at the first decision is the game's value for the policy."""
    t, network = played("kuhn_poker", 10_000)
    zeros = np.zeros(len(t), dtype=np.float32)
    targets, q = two_player_vtrace(t, zeros, t.policy, np.zeros_like(t.policy), 0.0, Clips(math.inf, 1.0))
    public = PublicTree(make_game("kuhn_poker")).list_all()
    value = exact.measure_policy(public, network_policy(public, network)).value
    first = np.arange(len(t)) < 10_000
    assert abs(targets[first].mean() - value) < 4 * targets[first].std() / 100
    assert abs((q[first] * t.policy[first]).sum(axis=1).mean() - value) < 4 * q[first].std() / 100


def test_advantages_are_the_sums_of_deltas() -> None:
    t, _ = played("leduc_poker", 20)
    values = np.random.default_rng(0).normal(size=len(t)).astype(np.float32)
    found = advantages(t, values, 0.8)
    for g in range(20):
        for p in (0, 1):
            own = np.flatnonzero((t.game == g) & (t.actor == p))
            after = [*values[own[1:]], t.utility[g] * (1 - 2 * p)]
            for k, d in enumerate(own):
                deltas = [0.8 ** (j - k) * (after[j] - values[own[j]]) for j in range(k, len(own))]
                assert found[d] == pytest.approx(sum(deltas), abs=1e-5)


def test_neurd_moves_logits_by_their_forces_up_to_the_threshold() -> None:
    """A bandit with three arms of which the last is illegal: the gradient by hand."""
    logits = torch.tensor([[0.5, -0.5, 0.0], [3.0, -3.0, 0.0]], requires_grad=True)
    legal = torch.tensor([[True, True, False], [True, True, False]])
    forces = torch.tensor([[1.0, -0.4, 9.0], [1.0, -1.0, 0.0]])
    neurd_loss(logits, legal, forces, RnadSettings()).sum().backward()
    assert logits.grad is not None
    # -(1.0, -0.4) less its mean, from taking logits relative to their mean; beyond the threshold nothing moves.
    np.testing.assert_allclose(logits.grad.numpy(), [[-0.7, 0.7, 0.0], [0.0, 0.0, 0.0]], atol=1e-6)
    back = torch.tensor([[3.0, -3.0, 0.0]], requires_grad=True)
    neurd_loss(back, legal[:1], torch.tensor([[-1.0, 1.0, 0.0]]), RnadSettings()).sum().backward()
    assert back.grad is not None and back.grad[0].tolist() == [1.0, -1.0, 0.0]


def test_neurds_threshold_is_of_logits_less_their_mean() -> None:
    """Logits of which each has 7 more are the same policy, as far from each other, and move alike."""
    legal, forces = torch.ones(1, 3, dtype=torch.bool), torch.tensor([[1.0, -0.4, 0.2]])
    found = []
    for more in (0.0, 7.0):
        logits = (torch.tensor([[0.5, -0.5, 0.3]]) + more).requires_grad_()
        neurd_loss(logits, legal, forces, RnadSettings()).sum().backward()
        assert logits.grad is not None
        found.append(logits.grad.numpy())
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    assert np.abs(found[0]).min() > 0.05


@pytest.mark.parametrize(
    ("rewards", "ends"), [((1.0, 0.0), (2, -2)), ((1.0, 0.0, 0.0), (4, -2, -2)), ((1.0, 1.0, 0.0), (2, 2, -4))]
)
def test_neurd_drives_logits_as_far_apart_as_the_threshold_allows(
    rewards: tuple[float, ...], ends: tuple[int, ...]
) -> None:
    """Descent on the loss itself: logits are driven until all losers or all winners are past the threshold.

    The mean that logits are taken relative to carries the others on, so that of A actions a worse one ends up to
    A * threshold below the best.
    """
    logits = torch.zeros(1, len(rewards), requires_grad=True)
    values, legal = torch.tensor([rewards]), torch.ones(1, len(rewards), dtype=torch.bool)
    for _ in range(4_000):
        policy = logits.detach().softmax(dim=1)
        forces = values - (policy * values).sum(dim=1, keepdim=True)
        (grad,) = torch.autograd.grad(neurd_loss(logits, legal, forces.sign(), RnadSettings()).sum(), logits)
        with torch.no_grad():
            logits -= 0.01 * grad
    centred = (logits - logits.mean()).detach()[0]
    assert centred.tolist() == pytest.approx(ends, abs=0.05)


def within(policy: Float64, threshold: float) -> Float64:
    """float64[A, I]: the policy with every probability raised to what NeuRD's threshold leaves beside the largest.

    Of A actions logits come to lie up to A * threshold apart, as in the test above.
    """
    raised = np.maximum(policy, policy.max(axis=0) * math.exp(-len(policy) * threshold))
    return np.asarray(raised / raised.sum(axis=0))


@pytest.mark.parametrize(("threshold", "mbb"), [(2.0, 83.3), (3.0, 10.5), (4.0, 1.33)])
def test_neurds_threshold_bounds_what_rnad_can_come_to_on_leduc(threshold: float, mbb: float) -> None:
    """The equilibrium itself with its logits no further apart: at SePoT's 2 it is exploitable by 83 mbb/h."""
    public = PublicTree(make_game("leduc_poker"))
    equilibrium = exact.policy_of(exact.solve(public, DCFR, 2_000))
    assert exact.measure_policy(public, equilibrium).exploitability < 1e-3
    bounded = {n: within(policy, threshold) for n, policy in equilibrium.items()}
    assert 1000 * exact.measure_policy(public, bounded).exploitability == pytest.approx(mbb, rel=0.02)


def test_the_regularisation_policy_is_replaced_on_schedule() -> None:
    settings = RnadSettings(short=4, shorts=2, long=10)
    phases = [settings.phase(step) for step in range(28)]
    assert [step for step, (_, replaced) in enumerate(phases) if replaced] == [3, 7, 17, 27]
    assert [share for share, _ in phases[:4]] == [0.0, 0.5, 1.0, 1.0]
    assert phases[8 + 2][0] == pytest.approx(0.4)
    learner = RnadLearner(CVPN(policy_shape(make_history_game("kuhn_poker"), 8, 1)), settings)
    play_and_learn(make_history_game("kuhn_poker"), learner, 8, 4, 0)
    for newer, target, older in zip(
        learner.newer.parameters(), learner.target.parameters(), learner.older.parameters(), strict=True
    ):
        assert torch.equal(newer, target) and (older.abs().sum() == 0 or not torch.equal(newer, older))


def test_rnads_learning_rate_falls() -> None:
    game, settings = make_history_game("kuhn_poker"), RnadSettings(learning_rate=8e-3, rate_steps=2)
    learner = policy_learner(settings, CVPN(policy_shape(game, 8, 1)), 0)
    assert isinstance(learner, RnadLearner)
    rates = []
    play_and_learn(game, learner, 8, 3, 0, lambda update: rates.append(learner.optimiser.param_groups[0]["lr"]))
    assert rates == pytest.approx([8e-3, 8e-3 / 1.5, 4e-3]) and RnadSettings().rate(10**6) == RnadSettings().rate(0)
    with pytest.raises(SettingError, match="rate_steps"):
        RnadSettings(rate_steps=-1)


def test_networks_see_each_infostate_once() -> None:
    """And answer every decision there as if it were alone, for values, policies and gradients."""
    t, network = played("leduc_poker", 64)
    found = seen(t.inputs, t.legal)
    assert len(found.x) == len({row.tobytes() for row in t.inputs}) < len(t) / 2
    np.testing.assert_array_equal(found.x[found.row].numpy()[:, :-2], t.inputs)
    apart = SeenDecisions(found.x[found.row], torch.from_numpy(t.legal), torch.arange(len(t)))
    some = torch.from_numpy(np.random.default_rng(0).permutation(len(t))[:50])
    pairs = [(found, apart), (found[some], SeenDecisions(apart.x[some], apart.legal[some], torch.arange(50)))]
    for once, alone in pairs:
        gradients = []
        for given in (once, alone):
            values, _, log_policy = answers(network, given)
            network.zero_grad()
            (values.square() + log_policy.exp().square().sum(dim=1)).sum().backward()
            gradients.append([values.detach(), *(weight.grad.clone() for weight in network.parameters())])
        for one, other in zip(*gradients, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_a_critic_evaluates_each_history_once() -> None:
    """And says of every decision, with every gradient, what it says of them one by one."""
    game = make_history_game("leduc_poker")
    network = Perceptron((game.num_critic_inputs, 8, 3), 0, 0.5)
    states = played("leduc_poker", 256)[0].states
    seen_rows: list[int] = []

    def inputs(rows: Int32) -> Float32:
        seen_rows.append(len(rows))
        return game.critic_inputs(rows)

    gradients = []
    for found in (each_once(network, states, inputs), network(torch.from_numpy(game.critic_inputs(states)))):
        network.zero_grad()
        found.square().sum().backward()
        gradients.append([found.detach(), *(weight.grad.clone() for weight in network.parameters())])
    assert seen_rows == [len({row.tobytes() for row in states})] and seen_rows[0] < 0.8 * len(states)
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_legal_actions_tell_equal_inputs_apart() -> None:
    inputs = np.zeros((3, 2), dtype=np.float32)
    legal = np.array([[True, True], [True, False], [True, True]])
    found = seen(inputs, legal)
    assert found.row.tolist() == [0, 1, 0] and found.legal.tolist() == [[True, True], [True, False]]


def test_an_update_hands_out_both_policies() -> None:
    """For whoever learns from the direction of a step: old is what was played, new is another."""
    game = make_history_game("leduc_poker")
    for settings in TINY.values():
        learner = policy_learner(settings, CVPN(policy_shape(game, 16, 1), 3), 0)
        updates: list[Update] = []
        play_and_learn(game, learner, 32, 1, 0, updates.append)
        (update,) = updates
        assert update.old is update.played.policy
        assert update.new().shape == update.old.shape and np.abs(update.new() - update.old).max() > 1e-4


def learned(name: str, game_name: str, games: int, steps: int) -> list[float]:
    """Exploitability before and after."""
    game = make_history_game(game_name)
    learner = policy_learner(TINY[name], CVPN(policy_shape(game, 32, 2), 0), 0)
    public = PublicTree(make_game(game_name)).list_all()
    found = [policy_exploitability(public, learner.best)]
    play_and_learn(game, learner, games, steps, 0)
    return [*found, policy_exploitability(public, learner.best)]


@pytest.mark.parametrize(("name", "bound"), [("rnad", 0.1), ("mmd", 0.2), ("nashpg", 0.1)])
def test_kuhn_is_learned(name: str, bound: float) -> None:
    """The uniform policy's exploitability is 0.458.

    Five seeds of MMD, which still has 0.05 of entropy by then, end at 0.08 to 0.15; which one a seed gives depends on
    the processor's rounding.
    """
    before, after = learned(name, "kuhn_poker", *((64, 900) if name == "rnad" else (256, 300)))
    assert before == pytest.approx(0.4583, abs=1e-3) and after < bound


def test_mmds_preset_does_not_drift_into_pure_play() -> None:
    """Goofspiel 4, where the uniform policy stands at 0.708 and the preset at 0.125 and 0.133 with seeds 0 and 1.

    With normalised advantages, whose entropy stops counting as play becomes pure, it stands at 0.44 and 0.36.
    """
    name = "goofspiel(imp_info=True,num_cards=4,points_order=descending)"
    game, public = make_history_game(name), PublicTree(make_game(name)).list_all()
    preset = settings_of(game, "demo", "mmd")
    assert isinstance(preset, PolicySettings)
    learning = replace(preset.learning, learning_rate=1e-3)  # type: ignore[type-var]
    learner = policy_learner(learning, CVPN(policy_shape(game, 32, 2), 0), 0)
    play_and_learn(game, learner, 512, 100, 0)
    assert policy_exploitability(public, learner.best) < 0.2


@pytest.mark.parametrize("name", NAMES)
def test_leduc_improves(name: str) -> None:
    before, after = learned(name, "leduc_poker", 128, 80)
    assert after < 0.9 * before


def test_a_networks_policy_is_its_agents_and_the_actors() -> None:
    t, network = played("leduc_poker", 30)
    public = PublicTree(make_game("leduc_poker")).list_all()
    whole = network_policy(public, network)
    for player in (0, 1):
        for node, policy in PolicyAgent(public, player, network).policies():
            np.testing.assert_allclose(policy, whole[node], atol=1e-6)
            np.testing.assert_allclose(policy.sum(axis=0), 1.0, atol=1e-6)
    seen = infostates_of(public)
    for d in range(len(t)):
        (row, *_) = np.flatnonzero((seen.inputs == t.inputs[d]).all(axis=1))
        node = int(seen.node[row])
        np.testing.assert_allclose(whole[node][:, seen.place[row]], t.policy[d, public.actions(node)], atol=1e-5)


def test_a_network_of_another_kind_is_refused() -> None:
    public = PublicTree(make_game("kuhn_poker")).list_all()
    with pytest.raises(CheckpointError, match="no policy network of kuhn_poker"):
        network_policy(public, CVPN(policy_shape(make_history_game("leduc_poker"), 8, 1)))


def tiny(name: str) -> PolicySettings:
    shape = policy_shape(make_history_game("kuhn_poker"), 16, 1)
    return PolicySettings(replace(TINY[name], epochs=2) if name != "rnad" else TINY[name], shape, 16, 15, 40)


@pytest.mark.parametrize("name", NAMES)
def test_a_resumed_run_is_the_uninterrupted_one(name: str, tmp_path: Path) -> None:
    """To the bit: weights, optimiser, regularisation policies and the curve but its times."""
    run = Run("kuhn_poker", algorithm=name)
    settings = tiny(name)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train_policy(run, settings, whole, Until(rounds=3))
    for rounds in (1, 3):
        train_policy(run, settings, parts, Until(rounds=rounds), resume=True)
    states = [checkpoint.load_state(folder / "checkpoint") for folder in (whole, parts)]
    flat = [pack(state["learner"])[1] for state in states]
    assert flat[0].keys() == flat[1].keys() and len(flat[0]) > 10
    for key, array in flat[0].items():
        assert array.tobytes() == flat[1][key].tobytes(), key
    curves = [np.array(state["points"], dtype=float)[:, 2:] for state in states]
    np.testing.assert_array_equal(*curves)
    with pytest.raises(CheckpointError, match="holds a training run already"):
        train_policy(run, settings, whole)


def test_a_run_that_diverges_stops_and_keeps_what_was_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, settings = Run("kuhn_poker", algorithm="rnad"), tiny("rnad")
    train_policy(run, settings, tmp_path, Until(rounds=1))
    step = checkpoint.load_meta(tmp_path / "checkpoint").step
    learn = RnadLearner.learn

    def diverging(learner: RnadLearner, played: Trajectories) -> Update:
        found = learn(learner, played)
        with torch.no_grad():
            next(learner.network.parameters()).fill_(math.inf)
        return found

    monkeypatch.setattr(RnadLearner, "learn", diverging)
    with pytest.raises(CheckpointError, match="NaN or infinite"):
        train_policy(run, settings, tmp_path, Until(rounds=3), True)
    assert checkpoint.load_meta(tmp_path / "checkpoint").step == step


def test_settings_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="learning_rate must be positive"):
        RnadSettings(learning_rate=0.0)
    with pytest.raises(SettingError, match="magnet"):
        PpoSettings(pull=0.1)
    with pytest.raises(SettingError, match="one process"):
        train_policy(Run("kuhn_poker", workers=2, algorithm="rnad"), tiny("rnad"), tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_presets_make_learners_of_their_games(name: str) -> None:
    for game_name in ("leduc_poker", "goofspiel(imp_info=True,num_cards=13,points_order=descending)"):
        game = make_history_game(game_name)
        for preset in ("demo", "full", "paper"):
            settings = settings_of(game, preset, name)
            assert isinstance(settings, PolicySettings) and settings.shape.features == game.num_inputs


def test_values_and_logits_are_read_where_the_network_puts_them() -> None:
    game = make_history_game("kuhn_poker")
    t, network = played("kuhn_poker", 5)
    values, logits, log_policy = answers(network, seen(t.inputs, t.legal))
    assert values.shape == (len(t),) and logits.shape == log_policy.shape == (len(t), game.num_actions)
    torch.testing.assert_close(log_policy, torch.log_softmax(logits, dim=1))


# --- a run's folder ---


def tiny_run(name: str) -> tuple[Run, PolicySettings]:
    run = Run("leduc_poker", algorithm=name)
    shape = policy_shape(make_history_game(run.game), 8, 1)
    return run, PolicySettings(TINY[name], shape, games=2, steps=1, rounds=2)


def test_two_trainings_of_policies_in_one_folder(tmp_path: Path) -> None:
    """The second is refused and told whose the folder is; nothing of the first is touched."""
    out, (run, settings) = tmp_path / "run", tiny_run("mmd")
    with held(out, pytest.fail):
        owner = rf"process {os.getpid()} on .*, since 20.* is training there already"
        with pytest.raises(CheckpointError, match=owner):
            train_policy(run, settings, out)
        assert os.listdir(out) == ["lock"]
    train_policy(run, settings, out)
    assert "lock" not in os.listdir(out)


def test_policies_go_on_from_what_is_theirs_only(tmp_path: Path) -> None:
    """An empty folder is told of; a folder for a curve, another's state and a foreign critic are refused."""
    told: list[str] = []
    run, settings = tiny_run("rnad")
    train_policy(run, settings, tmp_path, Until(rounds=1), resume=True, hooks=Hooks(note=told.append))
    assert told == [f"{tmp_path} holds no training run yet: a new one begins there"]
    folder = tmp_path / "checkpoint"
    meta, state = checkpoint.load_meta(folder), checkpoint.load_state(folder)
    other = CVPN(settings.shape, 99)
    checkpoint.save(folder, other, meta.game, meta.run, meta.step, meta.settings, state)
    with pytest.raises(CheckpointError, match="state is another network's"):
        train_policy(run, settings, tmp_path, resume=True)
    (tmp_path / "curve.csv").unlink()
    (tmp_path / "curve.csv").mkdir()
    with pytest.raises(CheckpointError, match=r"curve\.csv is a folder"):
        train_policy(run, settings, tmp_path, resume=True)


def check_mean(settings: LearnsPolicy, learner: PolicyLearner, weights: list[list[torch.Tensor]]) -> None:
    """The kept weights are the mean of three steps', counted 1, 2 and 3, and part of the state."""
    for kept, *of in zip(learner.best.parameters(), *weights, strict=True):
        torch.testing.assert_close(kept.detach(), (of[0] + 2 * of[1] + 3 * of[2]) / 6)
    other = policy_learner(settings, CVPN(policy_shape(make_history_game("kuhn_poker"), 8, 1), 5), 5)
    other.restore(learner.state())
    assert all(torch.equal(a, b) for a, b in zip(other.best.parameters(), learner.best.parameters(), strict=True))


def test_rnad_keeps_the_average_of_its_targets() -> None:
    """Weighed by step ** power, about: with a power of 1 steps 1, 2 and 3 count 1, 2 and 3. It is part of the state."""
    game = make_history_game("kuhn_poker")
    settings = RnadSettings(target_rate=0.5, learning_rate=0.05, average=1.0)
    learner = policy_learner(settings, CVPN(policy_shape(game, 8, 1), 0), 0)
    targets = []
    for step in range(3):
        learner.learn(sample(game, learner.network, 32, np.random.default_rng(step)))
        assert isinstance(learner, RnadLearner)
        targets.append([weight.detach().clone() for weight in learner.target.parameters()])
    check_mean(settings, learner, targets)
    plain = policy_learner(RnadSettings(), CVPN(policy_shape(game, 8, 1), 0), 0)
    assert isinstance(plain, RnadLearner) and plain.best is plain.target
    with pytest.raises(SettingError, match="average"):
        RnadSettings(average=-1.0)


def test_ppo_keeps_the_mean_of_its_networks_and_weights_that_fall() -> None:
    """With a power of 1 steps 1, 2 and 3 count 1, 2 and 3; without one the last network is kept."""
    game = make_history_game("kuhn_poker")
    settings = PpoSettings(learning_rate=0.05, average=1.0, rate_steps=3, entropy_steps=1)
    learner = policy_learner(settings, CVPN(policy_shape(game, 8, 1), 0), 0)
    networks = []
    for step in range(3):
        learner.learn(sample(game, learner.network, 32, np.random.default_rng(step)))
        networks.append([weight.detach().clone() for weight in learner.network.parameters()])
    check_mean(settings, learner, networks)
    plain = policy_learner(PpoSettings(), CVPN(policy_shape(game, 8, 1), 0), 0)
    assert plain.best is plain.network
    assert (settings.rate(0), settings.rate(9)) == (0.05, 0.025)
    assert replace(settings, rate_power=1.0).rate(9) == 0.0125
    assert (settings.entropy_weight(0), settings.entropy_weight(3)) == (0.05, 0.025)
    assert PpoSettings().rate(10**6) == PpoSettings().learning_rate
    with pytest.raises(SettingError, match="average"):
        PpoSettings(average=-1.0)


def test_ppos_objective_is_the_lesser_of_the_clipped_and_the_plain_one() -> None:
    """Ratios of 2 and 1/2: clipping takes what would be gained beyond 0.8 to 1.2, never what is lost there."""
    settings = PpoSettings(clip=0.2, normalised=False)
    learner = PpoLearner(CVPN(policy_shape(make_history_game("kuhn_poker"), 8, 1), 0), settings)
    before, ratios = torch.full((4, 2), 0.5).log(), torch.tensor([2.0, 2.0, 0.5, 0.5])
    advantage, action = torch.tensor([1.0, -1.0, 1.0, -1.0]), torch.zeros(4, dtype=torch.int64)
    batch = _Batch(None, None, action, before, before, advantage, advantage, torch.ones(4))  # type: ignore[arg-type]
    found = learner._surrogate(batch, before + ratios.log()[:, None])
    assert float(found) == pytest.approx(-(1.2 - 2.0 + 0.5 - 0.8) / 4)


def test_ppo_takes_a_minibatch_of_one_row() -> None:
    """Which has no spread to divide by."""
    game = make_history_game("kuhn_poker")
    learner = policy_learner(PpoSettings(normalised=True, minibatches=64), CVPN(policy_shape(game, 8, 1), 0), 0)
    learner.learn(sample(game, learner.network, 2, np.random.default_rng(0)))
    assert all(torch.isfinite(weight).all() for weight in learner.network.parameters())


@pytest.mark.parametrize("preset", [mmd_preset, nashpg_preset])
def test_ppos_rate_halves_within_minutes(preset: Callable[[HistoryGame, str], PolicySettings]) -> None:
    """Falling with the root of the steps alone, both turned back on Leduc within half an hour (docs/notes.md)."""
    learning = preset(make_history_game("leduc_poker"), "full").learning
    assert isinstance(learning, PpoSettings)
    assert learning.rate(4_000) == learning.rate(0) / 2 and learning.rate(12_000) == learning.rate(0) / 4
    assert (learning.visit_power, learning.normalised) == (0.5, False)  # on policy, Leduc is worse by a quarter
