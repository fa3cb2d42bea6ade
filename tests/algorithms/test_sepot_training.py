"""SePoT's training: transformations by hand, V-trace of histories beside exact values, checkpoints with a critic."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sog.algorithms.policy.loop import play_and_learn
from sog.algorithms.policy.networks import policies_of
from sog.algorithms.policy.own_policy import NetworkPolicy
from sog.algorithms.policy.presets import PolicySettings
from sog.algorithms.policy.settings import RnadSettings
from sog.algorithms.policy.trajectories import Trajectories, sample
from sog.algorithms.policy.vtrace import Clips
from sog.algorithms.sepot.critic import CriticLearner, history_vtrace, profiles, ratios_of
from sog.algorithms.sepot.learner import sepot_learner, train_sepot
from sog.algorithms.sepot.presets import POLICIES, SepotSettings, sepot_preset
from sog.algorithms.sepot.trained_critic import HistoryCritic, critic_file, critic_from
from sog.algorithms.sepot.transformations import LearnedTransformations, Weighted, directions, onto_policies
from sog.algorithms.table import settings_of
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_history_game
from sog.games.histories.listing import list_histories
from sog.nets.cvpn import CVPN
from sog.nets.perceptron import Perceptron
from sog.nets.serialized import network_bytes
from sog.nets.shape import policy_shape
from sog.training import checkpoint
from sog.training.run import Run, Until
from tests.policies import played, value_of

KUHN = make_history_game("kuhn_poker")
GOOF = "goofspiel(imp_info=True,num_cards=5,points_order=random)"


# --- transformations ---


def test_points_go_to_the_nearest_policy() -> None:
    points = np.array([[0.2, 0.3, 0.5], [1.2, 0.1, 0.1], [0.9, 0.9, 0.0], [5.0, 0.4, 0.2]])
    legal = np.array([[True] * 3, [True] * 3, [True] * 3, [False, True, True]])
    wanted = [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.6, 0.4]]
    np.testing.assert_allclose(onto_policies(points, legal), wanted, atol=1e-12)


class _Moved:
    """A step that moved the policy to given ones."""

    def __init__(self, played: Trajectories, new: np.ndarray) -> None:
        self.played, self.old, self._new = played, played.policy, new

    def new(self) -> np.ndarray:
        return self._new


def test_a_games_direction_has_length_one_over_its_decisions() -> None:
    t, _ = played("kuhn_poker", 6)
    new = t.policy.copy()
    new[t.game == 0] = new[t.game == 0][:, ::-1]
    found = directions(_Moved(t, new))  # type: ignore[arg-type]
    change = (new - t.policy)[t.game == 0]
    np.testing.assert_allclose(found[t.game == 0], change / np.linalg.norm(change), atol=1e-6)
    assert (found[t.game != 0] == 0).all()


def test_only_the_nearest_transformation_learns_a_games_direction() -> None:
    """One game, three fixed directions: the nearest goes to the target, the others stay where they were."""
    t, _ = played("kuhn_poker", 1, seed=3)
    learned = LearnedTransformations(KUHN, (), 4, 0.5, 0)
    layer = learned.network.layers[0]
    assert isinstance(layer, torch.nn.Linear)
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.copy_(torch.tensor([0.3, -0.3, -0.2, 0.2, 0.1, -0.1]))
    learned.optimiser = torch.optim.SGD(learned.network.parameters(), lr=0.05)
    new = t.policy + np.array([0.1, -0.1], dtype=np.float32)
    update: Any = _Moved(t, new)
    wanted = directions(update)[0, 0]
    before = layer.bias.detach().numpy().copy().reshape(3, 2)
    for _ in range(200):
        learned.learn(update)
    after = layer.bias.detach().numpy().reshape(3, 2) + (layer.weight.detach().numpy() @ t.inputs[0]).reshape(3, 2)
    np.testing.assert_allclose(after[1:], before[1:], atol=1e-7)
    assert wanted > 0.3 and abs(after[0, 0] - wanted) < 1e-3
    moved = learned.of(t, t.policy)
    np.testing.assert_allclose(moved[:, 0], t.policy)
    np.testing.assert_allclose(moved.sum(axis=2), 1.0, rtol=1e-5)
    step = np.abs(moved[:, 1] - t.policy).max(axis=1)
    assert (step <= 0.5 / math.sqrt(2) + 1e-6).all() and (step > 0).all()


def test_transformations_are_learned_without_momentum() -> None:
    """SePoT, Table 2: "decay rate b1 in ADAM: 0", as its policy and its critic."""
    assert LearnedTransformations(KUHN, (4,), 3, 0.5, 0).optimiser.param_groups[0]["betas"] == (0.0, 0.999)


def leads(game: Any, states: Any, actors: Any) -> Any:
    """By OpenSpiel's rules: the actor's points less the other's, from the cards shown and who won each so far."""
    n, found = game.num_cards, []
    for state, actor in zip(states, actors, strict=True):
        cards, won = state[3 : 3 + n], state[3 + 3 * n : 3 + 4 * n]
        lead = sum((int(card) + 1) * {0: 1, 1: -1}.get(int(who), 0) for card, who in zip(cards, won, strict=True))
        found.append(lead * (1 - 2 * int(actor)))
    return np.array(found)


def test_goofspiels_predefined_transformations_are_22_policies() -> None:
    game = make_history_game(GOOF)
    t, _ = played(GOOF, 40)
    found = Weighted(game).of(t, t.policy)
    assert found.shape == (len(t), 22, 5)
    np.testing.assert_allclose(found.sum(axis=2), 1.0, rtol=1e-5)
    assert (found[~np.broadcast_to(t.legal[:, None, :], found.shape)] == 0).all()
    mean = found @ np.arange(5)
    assert (mean[:, 1] >= mean[:, 0] - 1e-6).all() and (mean[:, 4] <= mean[:, 0] + 1e-6).all()
    ahead = leads(game, t.states, game.actors(t.states)) > 0
    last = t.states[:, 0]  # point cards shown
    point = t.states[np.arange(len(t)), 3 + last - 1]
    near = np.abs(np.arange(5) - point[:, None])
    assert ((found[:, 19] * near).sum(axis=1) <= (found[:, 0] * near).sum(axis=1) + 1e-6).all()
    for always in range(1, 22, 3):  # and then the same when ahead alone, and when not
        for k, holds in ((1, ahead), (2, ~ahead)):
            where = np.where(holds[:, None], found[:, always], found[:, 0])
            np.testing.assert_allclose(found[:, always + k], where, atol=1e-6)
    assert 5 < ahead.sum() < len(t) - 5
    with pytest.raises(SettingError, match="goofspiel only"):
        Weighted(KUHN)


# --- the critic ---


def test_in_a_profile_one_player_keeps_its_policy() -> None:
    assert profiles(3).tolist() == [[0, 0], [1, 0], [2, 0], [0, 1], [0, 2]]
    critic = HistoryCritic(KUHN, Perceptron((KUHN.num_critic_inputs, 5), 0, 0.5), profiles(3))
    states = sample(KUHN, CVPN(policy_shape(KUHN, 4, 1)), 5, np.random.default_rng(0)).states
    found = critic.under_profiles(states)
    np.testing.assert_array_equal(critic.values(states, 0), found[:, :3])
    np.testing.assert_array_equal(critic.values(states, 1), found[:, [0, 3, 4]])


def slow_vtrace(t: Trajectories, values: np.ndarray, ratio: np.ndarray, rho: float, c: float) -> np.ndarray:
    """SePoT, (2), from every decision: the sum over later ones of rho * delta, times the c before."""
    out = np.zeros(values.shape)
    for g in range(len(t.utility)):
        at = np.flatnonzero(t.game == g)
        for j in range(len(at)):
            for q in range(values.shape[1]):
                total, weight = values[at[j], q], 1.0
                for k in range(j, len(at)):
                    after = values[at[k + 1], q] if k + 1 < len(at) else t.utility[g]
                    total += weight * min(rho, ratio[at[k], q]) * (after - values[at[k], q])
                    weight *= min(c, ratio[at[k], q])
                out[at[j], q] = total
    return out


@pytest.mark.parametrize("clips", [(math.inf, 1.0), (1.0, 1.0), (3.0, 0.5)])
def test_vtrace_of_histories_is_the_papers_sum(clips: tuple[float, float]) -> None:
    t, _ = played("leduc_poker", 20)
    rng = np.random.default_rng(1)
    values = rng.normal(size=(len(t), 3)).astype(np.float32)
    ratios = rng.gamma(2.0, 0.5, size=(len(t), 3))
    np.testing.assert_allclose(
        history_vtrace(t, values, ratios, Clips(*clips)),
        slow_vtrace(t, values.astype(np.float64), ratios, *clips),
        atol=1e-12,
    )


def fixed_pair(network: CVPN, factor: float) -> Any:
    """The network's policy with the first action's probability times a factor, as an `OwnPolicy`."""

    def policy(states: np.ndarray, player: int) -> np.ndarray:
        viewers = np.full(len(states), player, dtype=np.int32)
        found = policies_of(network, KUHN.inputs(states, viewers), KUHN.legal(states)).astype(np.float64)
        found[:, 0] *= factor
        return found / found.sum(axis=1, keepdims=True)

    return policy


def test_the_critic_finds_the_exact_values_of_transformed_policies() -> None:
    """Kuhn poker under a fixed policy: every history's value, for each player's transformation, off policy."""
    t, network = played("kuhn_poker", 4000)
    moved = t.policy.copy()
    moved[:, 0] *= 3.0
    moved /= moved.sum(axis=1, keepdims=True)
    transformed = np.stack((t.policy, moved), axis=1)
    learner = CriticLearner(KUHN, profiles(2), (64,), 3e-3, 1.0, 0)
    for _ in range(150):
        learner.learn(t, transformed, Clips(math.inf, 1.0))
    critic = HistoryCritic(KUHN, learner.network, learner.pairs)
    states, visits = np.unique(t.states, axis=0, return_counts=True)
    own, other = fixed_pair(network, 1.0), fixed_pair(network, 3.0)
    for chooser in (0, 1):
        found = critic.values(states, chooser)
        for k, policy in enumerate((own, other)):
            pair = (policy, own) if chooser == 0 else (own, policy)
            error = np.abs(found[:, k] - value_of(KUHN, states, pair))
            assert np.average(error, weights=visits) < 0.15  # values lie in [-2, 2]
    gap = np.abs(critic.values(states, 0)[:, 0] - critic.values(states, 0)[:, 1])
    assert gap.max() > 0.3


def test_ratios_are_those_of_who_acts() -> None:
    t, _ = played("kuhn_poker", 5)
    moved = np.stack((t.policy, t.policy[:, ::-1]), axis=1)
    found = ratios_of(t, moved, profiles(2))
    rows = np.arange(len(t))
    swapped = t.policy[rows, 1 - t.action] / t.policy[rows, t.action]
    np.testing.assert_allclose(found[:, 0], 1.0)
    np.testing.assert_allclose(found[:, 1], np.where(t.actor == 0, swapped, 1.0))
    np.testing.assert_allclose(found[:, 2], np.where(t.actor == 1, swapped, 1.0))


def test_explored_games_are_drawn_from_the_policy_that_is_written_down() -> None:
    """Shares of 0, 0.5 and 1 by games: the network's policy, the mean of both, and the uniform one."""
    game = make_history_game(GOOF)
    _, network = played(GOOF, 1)
    shares = np.repeat([0.0, 0.5, 1.0], 400)
    t = sample(game, network, 1200, np.random.default_rng(1), explored=shares)
    own, uniform = policies_of(network, t.inputs, t.legal), t.legal / t.legal.sum(axis=1, keepdims=True)
    share = shares[t.game][:, None]
    np.testing.assert_allclose(t.policy, (1 - share) * own + share * uniform, atol=1e-6)
    first = t.policy[np.arange(len(t)), t.action] > 0
    assert first.all()
    for value in (0.0, 0.5, 1.0):
        at = np.flatnonzero((share[:, 0] == value) & (t.actor == 0))
        counts = np.bincount(t.action[at], minlength=5)
        wanted, spread = t.policy[at].sum(axis=0), np.sqrt((t.policy[at] * (1 - t.policy[at])).sum(axis=0))
        assert (np.abs(counts - wanted) < 4 * spread + 1).all()


def test_a_critic_that_explores_values_what_its_policy_never_plays() -> None:
    """Goofspiel 3 by a policy that bids its largest card: histories after another bid, beside their exact values."""
    name = "goofspiel(imp_info=True,num_cards=3,points_order=descending)"
    game = make_history_game(name)
    settings = PolicySettings(
        SepotSettings(name, RnadSettings(learning_rate=1e-9), "identity"), policy_shape(game, 64, 1), games=64
    )
    largest = CVPN(settings.shape, 0)
    with torch.no_grad():
        largest.head.bias[-3:] = torch.tensor([-9.0, 0.0, 9.0])
    pair = NetworkPolicy(game, largest)
    whole = list_histories(game).states
    states = whole[game.actors(whole) < 2]
    exact = value_of(game, states, (pair, pair))
    errors = []
    for exploring in (False, True):
        learning = replace(settings.learning, exploring=exploring, critic_rate=3e-3, critic_target_rate=0.05)
        learner = sepot_learner(learning, deepcopy(largest), 0)
        play_and_learn(game, learner, 64, 120, 0)
        kept = critic_from(game, learner.critic_arrays() or {})
        errors.append(np.sqrt(((kept.values(states, 0)[:, 0] - exact) ** 2).mean()))
    assert errors[1] < 0.15 and errors[1] < 0.3 * errors[0]


def test_the_critic_that_is_kept_follows_the_one_that_learns() -> None:
    """Its values move less from step to step; with a rate of 1 they are the same."""
    t, _ = played("kuhn_poker", 32)
    for rate in (1.0, 0.01):
        learner = CriticLearner(KUHN, profiles(1), (16,), 3e-3, rate, 0)
        for _ in range(20):
            learner.learn(t, t.policy[:, None, :], Clips(math.inf, 1.0))
        same = np.array_equal(learner.best.weights()["layers.1.weight"], learner.network.weights()["layers.1.weight"])
        assert same == (rate == 1.0)
    with pytest.raises(SettingError, match="target_rate"):
        SepotSettings("kuhn_poker", critic_target_rate=0.0)


# --- runs and checkpoints ---


def tiny(game: str = "kuhn_poker", transformations: str = "learned") -> PolicySettings:
    learning = SepotSettings(
        game, RnadSettings(short=20), transformations, count=4, exploring=True, critic_target_rate=0.01
    )
    return PolicySettings(learning, policy_shape(make_history_game(game), 16, 1), games=16, steps=4, rounds=4)


WIDE = (
    "battleship(board_width=7,board_height=7,ship_sizes=[4;3;3;2],num_shots=49,"
    "allow_repeated_shots=False,returns_type=win_loss)"
)


def test_presets_are_table_2(tmp_path: Path) -> None:
    paper = sepot_preset(make_history_game("leduc_poker"), "paper")
    assert (paper.shape.width, paper.shape.depth, paper.games, paper.rounds * paper.steps) == (1024, 2, 64, 75_000)
    assert isinstance(paper.learning, SepotSettings) and paper.learning.count == 10
    assert (paper.learning.critic_rho, paper.learning.critic_c, paper.learning.critic_rate) == (math.inf, 1.0, 3e-4)
    text = "sepot(transformations=identity,step=0.1)"
    other = settings_of(make_history_game("leduc_poker"), "paper", text)
    assert isinstance(other, PolicySettings)
    varied = other.learning
    assert isinstance(varied, SepotSettings) and (varied.transformations, varied.step) == ("identity", 0.1)
    assert not paper.learning.exploring and paper.learning.critic_target_rate == 1.0
    rnad = paper.learning.policy
    assert isinstance(rnad, RnadSettings) and rnad == RnadSettings()
    assert (rnad.eta, rnad.short, rnad.shorts, rnad.long) == (0.2, 500, 200, 10_000)
    assert (rnad.learning_rate, rnad.decays, rnad.epsilon) == (3e-4, (0.0, 0.999), 1e-8)
    assert (rnad.gradient_clip, rnad.threshold, rnad.advantage_clip) == (1e4, 2.0, 1e4)
    assert (rnad.rho, rnad.c, rnad.target_rate) == (math.inf, 1.0, 0.001)
    assert (rnad.rate_steps, rnad.visit_power, rnad.critic, rnad.average) == (0, 1.0, None, 0.0)
    widest = sepot_preset(make_history_game(WIDE), "paper").learning
    assert isinstance(widest, SepotSettings) and isinstance(widest.policy, RnadSettings)
    assert widest.critic_rho == widest.policy.rho == 3.0  # the table's one exception
    full = sepot_preset(make_history_game("leduc_poker"), "full").learning
    assert isinstance(full, SepotSettings) and full.exploring
    assert full.critic_target_rate < 1.0 and full.critic_rho == 3.0
    with pytest.raises(SettingError, match="no transformations are called"):
        SepotSettings("kuhn_poker", transformations="none")


@pytest.mark.parametrize("name", POLICIES)
def test_sepot_stands_beside_any_policy_learner(name: str, tmp_path: Path) -> None:
    """It learns what the learner learns alone from the same games, with as many games in all as its own preset has."""
    run, game = Run("kuhn_poker", algorithm="sepot"), make_history_game("kuhn_poker")
    own, alone = sepot_preset(game, "demo"), POLICIES[name](game, "full")
    found = settings_of(game, "demo", f"sepot(policy={name})")
    assert isinstance(found, PolicySettings)
    assert (found.games, found.steps) == (alone.games, alone.steps)
    games = own.rounds * own.games * own.steps
    assert 0 <= games - found.rounds * found.games * found.steps < found.games * found.steps
    few = [replace(settings, games=8, steps=2, shape=policy_shape(game, 8, 1)) for settings in (found, alone)]
    for k, settings in enumerate(few):
        train_sepot(run if k == 0 else Run("kuhn_poker", algorithm=name), settings, tmp_path / str(k), Until(rounds=1))
    one, two = (checkpoint.load_network(tmp_path / str(k) / "checkpoint")[1] for k in (0, 1))
    assert network_bytes(one) == network_bytes(two)
    whole = network_bytes(one)
    train_sepot(run, few[0], tmp_path / "0", Until(rounds=2), resume=True)
    assert network_bytes(checkpoint.load_network(tmp_path / "0" / "checkpoint")[1]) != whole
    with pytest.raises(SettingError, match="no policy learner is called none; known: rnad, mmd, nashpg"):
        settings_of(game, "demo", "sepot(policy=none)")


@pytest.mark.parametrize(
    ("game", "kind"), [("kuhn_poker", "learned"), (GOOF, "predefined"), ("kuhn_poker", "identity")]
)
def test_a_run_in_parts_is_the_uninterrupted_run(tmp_path: Path, game: str, kind: str) -> None:
    """To the byte: networks, optimisers, phases; a phase of regularisation ends within each part."""
    run, settings = Run(game, algorithm="sepot"), tiny(game, kind)
    assert isinstance(settings.learning, SepotSettings)
    settings = replace(settings, learning=replace(settings.learning, policy=RnadSettings(short=3)))
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train_sepot(run, settings, whole, Until(rounds=2))
    train_sepot(run, settings, parts, Until(rounds=1))
    train_sepot(run, settings, parts, Until(rounds=2), resume=True)
    one, two = (checkpoint.load_critic(folder / "checkpoint") for folder in (whole, parts))
    assert set(one) == set(two) and all(np.array_equal(one[name], two[name]) for name in one)
    states = [checkpoint.load_state(folder / "checkpoint")["learner"] for folder in (whole, parts)]
    assert flat(states[0]) == flat(states[1]) and len(flat(states[0])) > 20
    assert one.keys() >= {"profiles", "critic.layers.0.weight"}
    assert any(name.startswith("transformations.") for name in one) == (kind == "learned")
    critic = critic_from(make_history_game(game), one)
    assert critic.count == {"learned": 4, "predefined": 22, "identity": 1}[kind]
    assert checkpoint.load_critic(whole / "snapshots" / "000000").keys() == one.keys()


def flat(state: Any, name: str = "") -> dict[str, object]:
    """Everything in a state by its place: numbers as they are, arrays and tensors as bytes."""
    if isinstance(state, dict):
        return {k: v for key, part in state.items() for k, v in flat(part, f"{name}.{key}").items()}
    return {name: np.asarray(state).tobytes()}


def test_a_state_is_not_changed_by_learning_on() -> None:
    """What an optimiser remembers is copied: a state that is held stays what it was."""
    settings = tiny()
    learner = sepot_learner(settings.learning, CVPN(settings.shape, 0), 0)
    play_and_learn(KUHN, learner, 16, 1, 0)
    state = learner.state()
    before = flat(state)
    play_and_learn(KUHN, learner, 16, 1, 0)
    assert flat(state) == before


def test_learning_moves_policy_transformations_and_critic() -> None:
    settings = tiny()
    learner = sepot_learner(settings.learning, CVPN(settings.shape, 0), 0)
    before = learner.critic_arrays()
    assert before is not None
    play_and_learn(KUHN, learner, 16, 3, 0)
    after = learner.critic_arrays()
    assert after is not None
    for name in ("critic.layers.0.weight", "transformations.layers.1.weight"):
        assert not np.array_equal(before[name], after[name])


def test_damaged_critics_are_refused(tmp_path: Path) -> None:
    run, settings = Run("kuhn_poker", algorithm="sepot"), tiny()
    train_sepot(run, settings, tmp_path, Until(rounds=1))
    folder = tmp_path / "checkpoint"
    kept = checkpoint.load_critic(folder)
    bad: list[dict[str, np.ndarray]] = [
        {},
        {**kept, "profiles": kept["profiles"][::-1].copy()},
        {**kept, "profiles": kept["profiles"].astype(np.float32)},
        {**kept, "critic.layers.0.weight": kept["critic.layers.0.weight"][:, :-1].copy()},
        {**kept, "critic.layers.0.bias": np.full_like(kept["critic.layers.0.bias"], np.nan)},
        {name: x for name, x in kept.items() if name != "critic.layers.1.bias"},
    ]
    for arrays in bad:
        with pytest.raises(CheckpointError, match="critic"):
            critic_from(KUHN, arrays)
    with pytest.raises(CheckpointError, match="not one for this game"):
        critic_from(make_history_game("leduc_poker"), kept)
    both = checkpoint.load_with_critic(folder)
    assert both.game == "kuhn_poker" and both.meta == checkpoint.load_meta(folder)
    assert network_bytes(both.network) == network_bytes(checkpoint.load_network(folder)[1])
    assert all(np.array_equal(both.critic[name], kept[name]) for name in kept) and len(both.critic) == len(kept)
    file = next(folder.glob("critic.*"))
    file.write_bytes(file.read_bytes()[:-1] + b"\x01")
    for load in (checkpoint.load_critic, checkpoint.load_with_critic):
        with pytest.raises(CheckpointError, match="changed"):
            load(folder)
    plain = replace(settings, learning=RnadSettings())
    train_sepot(replace(run, algorithm="rnad"), plain, tmp_path / "b", Until(rounds=1))
    for load in (checkpoint.load_critic, checkpoint.load_with_critic):
        with pytest.raises(CheckpointError, match="no critic"):
            load(tmp_path / "b" / "checkpoint")


def test_kept_arrays_are_read_again() -> None:
    network = Perceptron((KUHN.num_critic_inputs, 8, 5), 3, 0.5)
    critic = critic_from(KUHN, critic_file(network, profiles(3), {}))
    states = KUHN.begin(2)
    same = HistoryCritic(KUHN, network, profiles(3))
    np.testing.assert_array_equal(critic.values(states, 1), same.values(states, 1))
