"""Our agents in OpenSpiel's match runners: they earn what the exported policy is worth, asked in any order."""

from __future__ import annotations

from typing import cast

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import evaluate_bots
from open_spiel.python.bots.uniform_random import UniformRandomBot

import sog
from sog.agents.openspiel_bot import SogBot
from sog.errors import GameError, SettingError
from sog.measure.openspiel_export import infostate_policies
from sog.searches.cfr import exact

GAMES = 2000


def test_the_mean_of_many_games_of_leduc_is_the_exact_value_of_the_exported_policy() -> None:
    agent = sog.load_agent("leduc_poker", simulations=20)
    value = exact.measure_policy(agent.public, dict(agent.policies())).value
    bots = [sog.openspiel_bot("leduc_poker", player, simulations=20) for player in (0, 1)]
    game = pyspiel.load_game("leduc_poker")
    returns = [pyspiel.evaluate_bots(game.new_initial_state(), bots, seed)[0] for seed in range(GAMES)]
    assert abs(np.mean(returns) - value) < 3 * np.std(returns) / np.sqrt(GAMES)


def states_of(bot: SogBot, name: str, player: int, count: int) -> dict[str, pyspiel.State]:
    """Decision states of random games by their histories."""
    game, rng, found = pyspiel.load_game(name), np.random.default_rng(1), {}
    while len(found) < count:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_simultaneous_node() or state.current_player() == player:
                found[str(state.history())] = state.clone()
            if state.is_simultaneous_node():
                state.apply_actions([int(rng.choice(state.legal_actions(p))) for p in (0, 1)])
            else:
                state.apply_action(int(rng.choice(state.legal_actions())))
    return found


GOOFSPIEL = "goofspiel(imp_info=True,num_cards=4,points_order=descending)"


@pytest.mark.parametrize("name", ["leduc_poker", "liars_dice(numdice=1,dice_sides=3)", GOOFSPIEL, "connect_four"])
@pytest.mark.parametrize("player", [0, 1])
def test_any_state_is_answered_from_its_history_alone(name: str, player: int) -> None:
    bots = [sog.openspiel_bot(name, player, simulations=8, per_update=4.0) for _ in range(2)]
    states = states_of(bots[0], name, player, 12)
    forwards = {key: bots[0].step_with_policy(state)[0] for key, state in states.items()}
    backwards = {key: bots[1].get_policy(state) for key, state in reversed(states.items())}
    assert forwards == backwards
    for key, state in states.items():
        actions, chances = zip(*forwards[key], strict=True)
        assert list(actions) == state.legal_actions(player)
        assert sum(chances) == pytest.approx(1.0) and min(chances) >= 0


def test_the_bot_plays_the_policy_that_is_exported() -> None:
    agent = sog.load_agent("leduc_poker", simulations=8)
    exported = infostate_policies(agent.public, dict(agent.policies()))
    bot = sog.openspiel_bot("leduc_poker", 1, simulations=8)
    for state in states_of(bot, "leduc_poker", 1, 40).values():
        assert bot.get_policy(state) == exported[state.information_state_string(1)]


def test_python_s_match_runner_drives_it_without_hidden_information() -> None:
    game, rng = pyspiel.load_game("tic_tac_toe"), np.random.RandomState(0)
    for seat in (0, 1):
        bots = [UniformRandomBot(player, rng) for player in (0, 1)]
        bots[seat] = sog.openspiel_bot("tic_tac_toe", seat, simulations=100, per_update=10.0)
        for _ in range(3):
            assert evaluate_bots.evaluate_bots(game.new_initial_state(), bots, rng)[seat] >= 0


def test_states_of_another_game_or_seat_are_refused() -> None:
    bot = sog.openspiel_bot("tic_tac_toe", 0, simulations=8)
    other = pyspiel.load_game("connect_four").new_initial_state()
    with pytest.raises(GameError, match="this bot plays tic_tac_toe, not connect_four"):
        bot.step(other)
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    state.apply_action(4)
    with pytest.raises(GameError, match="this bot is player 0, and player 1 is to move"):
        bot.get_policy(state)
    assert bot.step(state) == pyspiel.INVALID_ACTION  # as OpenSpiel has it: not its turn


def test_what_openspiel_lacks_is_refused() -> None:
    with pytest.raises(SettingError, match="0 or 1, not 2"):
        sog.openspiel_bot("leduc_poker", 2)
    with pytest.raises(GameError, match="OpenSpiel has no game rps"):
        sog.openspiel_bot("rps", 0)


@pytest.mark.parametrize(
    ("plays", "other", "says"),
    [
        ("connect_four", "connect_four(x_in_row=3)", "connect_four with x_in_row=4, not 3"),
        ("connect_four", "connect_four(rows=5,columns=5)", "columns=7, not 5"),
        ("liars_dice(numdice=1,dice_sides=3)", "liars_dice(numdice=1,dice_sides=6)", "dice_sides=3, not 6"),
        (GOOFSPIEL, GOOFSPIEL.replace("descending", "ascending"), "points_order=descending, not ascending"),
    ],
)
def test_a_game_of_other_parameters_is_another_game(plays: str, other: str, says: str) -> None:
    """Each was answered with a policy for other rules."""
    bot, state = sog.openspiel_bot(plays, 0, simulations=4), pyspiel.load_game(other).new_initial_state()
    while state.is_chance_node():
        state.apply_action(0)
    for asked in (bot.step, bot.get_policy):
        with pytest.raises(GameError, match=f"this bot plays .*{says}"):
            asked(state)


def test_parameters_that_are_only_written_out_are_the_same_game() -> None:
    state = pyspiel.load_game("tic_tac_toe()").new_initial_state()
    assert sog.openspiel_bot("tic_tac_toe", 0, simulations=4).step(state) in range(9)
    state = pyspiel.load_game("connect_four(rows=6,egocentric_obs_tensor=True)").new_initial_state()
    assert sog.openspiel_bot("connect_four", 0, simulations=4).step(state) in range(7)
    with pytest.raises(GameError, match="a state of OpenSpiel's, not int"):
        sog.openspiel_bot("tic_tac_toe", 0, simulations=4).step(3)
    with pytest.raises(SettingError, match=r"0 or 1, not 1\.0"):
        sog.openspiel_bot("tic_tac_toe", 1.0)  # type: ignore[arg-type]


def test_a_seat_may_be_numpys_integer_and_anything_else_is_named_as_it_was_written() -> None:
    assert sog.openspiel_bot("leduc_poker", cast(int, np.int64(1)), simulations=1).player_id() == 1
    for seat in cast("tuple[int, ...]", ("1", True, 2)):
        with pytest.raises(SettingError, match=f"player_id is 0 or 1, not {seat!r}"):
            sog.openspiel_bot("leduc_poker", seat)
