"""PettingZoo environments: PettingZoo's own checks, the rules' rewards, and nothing of the other player's hand."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

import sog
from sog.errors import GameError, SettingError
from sog.games.catalog import make_history_game
from sog.games.histories.base import deal

pytest.importorskip("pettingzoo")
from pettingzoo.test import api_test, seed_test

GAMES = ("leduc_poker", "liars_dice(dice_sides=3)", "goofspiel(imp_info=True,num_cards=4)", "openspiel:tic_tac_toe")


@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")  # a dictionary with the mask, as its classics
@pytest.mark.parametrize("game", GAMES)
def test_pettingzoo_accepts_it(game: str) -> None:
    api_test(sog.aec_env(game), num_cycles=100)
    seed_test(lambda: sog.aec_env(game), num_cycles=30)


def _played(env: Any, seed: int) -> tuple[list[int], dict[str, float]]:
    """The actions of a random game and what each agent was told to have won."""
    rng, actions, won = np.random.default_rng(seed), list[int](), dict[str, float]()
    env.reset(seed=seed)
    for name in env.agent_iter():
        seen, reward, ended, _, _ = env.last()
        won[name] = reward
        action = None if ended else int(rng.choice(np.flatnonzero(seen["action_mask"])))
        if action is not None:
            actions.append(action)
        env.step(action)
    return actions, won


@pytest.mark.parametrize("game", GAMES)
def test_rewards_are_the_rules_utilities(game: str) -> None:
    env, rules = sog.aec_env(game), make_history_game(game)
    for seed in range(20):
        actions, won = _played(env, seed)
        states, rng = rules.begin(1), np.random.default_rng(seed)
        deal(rules, states, rng)
        for action in actions:
            rules.step(states, np.array([action], dtype=np.int32))
            deal(rules, states, rng)
        assert won == {"player_0": rules.utilities(states)[0], "player_1": -rules.utilities(states)[0]}


def test_an_observation_is_the_infostate() -> None:
    """Kuhn poker: before the first action a player sees the same whatever the other one was dealt."""
    env, seen = sog.aec_env("kuhn_poker"), dict[bytes, set[bytes]]()
    for seed in range(60):
        env.reset(seed=seed)
        one, other = (env.observe(name)["observation"].tobytes() for name in ("player_0", "player_1"))
        seen.setdefault(one, set()).add(other)
    assert len(seen) == 3 and all(len(others) == 2 for others in seen.values())
    assert not env.observe("player_1")["action_mask"].any()  # it is not player 1's turn


def test_an_illegal_action_changes_nothing() -> None:
    env = sog.aec_env("leduc_poker")
    env.reset(seed=0)
    before = env.observe("player_0")["observation"].copy()
    for action in (0, 3, -1, None):  # nothing to fold to; no such action; none
        with pytest.raises(GameError, match=r"player_0 may take \[1, 2\]"):
            env.step(action)
    assert np.array_equal(env.observe("player_0")["observation"], before) and env.agent_selection == "player_0"


def test_another_object_is_refused() -> None:
    with pytest.raises(SettingError, match=r"derived from sog\.HistoryGame, not Kuhn"):
        sog.aec_env(sog.make_game("kuhn_poker"))  # type: ignore[arg-type]


def test_without_the_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "sog.games.histories.aec":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SettingError, match=r"pip install 'sog\[pettingzoo\]'"):
        sog.aec_env("leduc_poker")


def test_no_action_before_a_deal_and_none_between_two() -> None:
    env = sog.aec_env("kuhn_poker")
    with pytest.raises(sog.SogError, match="call reset first"):
        env.step(0)
    with pytest.raises(sog.SogError, match="seed is a whole number of at least 0, not -1"):
        env.reset(seed=-1)
    env.reset(seed=0)
    with pytest.raises(sog.SogError, match=r"may take \[0, 1\], not 0\.5"):
        env.step(0.5)  # type: ignore[arg-type]
