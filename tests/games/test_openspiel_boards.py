"""OpenSpiel's board games of any size: rules beside OpenSpiel's, what a network sees, searches, self-play."""

from __future__ import annotations

import gc
import re
from dataclasses import replace

import numpy as np
import pyspiel
import pytest

import sog
from sog.algorithms.boards.actor import BoardActing
from sog.algorithms.boards.caps import PlayoutCaps
from sog.algorithms.table import read
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.boards.positions import BoardPosition
from sog.games.catalog import make_game
from sog.games.checks.public_states import check_game
from sog.games.openspiel.board import ChancePosition, OpenSpielBoard, board_of
from sog.games.openspiel.game import OpenSpielGame
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.searches.cfr import exact
from sog.searches.cfr.rules import DCFR
from sog.searches.tree.public_tree import PublicTree
from sog.training.settings import TrainSettings

# Planes and policy planes of OpenSpiel's deterministic games; None where the tensor is a row.
BOARDS = [
    ("amazons", (5, 10, 10), 1),
    ("antichess", (17, 8, 8), 76),
    ("breakthrough", (4, 8, 8), 12),
    ("checkers", (6, 8, 8), 8),
    ("clobber", (4, 5, 6), 4),
    ("crazyhouse", (39, 8, 8), 78),
    ("dots_and_boxes", (4, 9, 3), 0),
    ("havannah", (4, 15, 15), 1),
    ("hex(board_size=5)", (10, 5, 5), 1),
    ("lines_of_action", (4, 8, 8), 128),
    ("mnk(m=4,n=4,k=4)", (4, 4, 4), 1),
    ("nine_mens_morris", (6, 7, 7), 0),
    ("othello", (4, 8, 8), 1),
    ("pentago", (4, 6, 6), 8),
    ("shogi", (46, 9, 9), 169),
    ("xiangqi", (16, 10, 9), 90),
    ("ultimate_tic_tac_toe", None, 0),
    ("mancala", None, 0),
    ("nim", None, 0),
    ("oware", None, 0),
]
OF_CHANCE = ["backgammon", "banqi", "maedn", "pig"]
SMALL = ["breakthrough(rows=3,columns=2)", "nim(pile_sizes=1;2;3)", "mnk(m=3,n=2,k=2)"]
SMALL_PIG = "pig(winscore=5,diceoutcomes=2,horizon=6)"


def board(name: str) -> OpenSpielBoard:
    game = make_game("openspiel:" + name)
    assert isinstance(game, OpenSpielBoard)
    return game


def small_board(name: str) -> OpenSpielBoard:
    """A game that is small enough to be listed, as a board all the same."""
    return board_of(name, pyspiel.load_game(name))


@pytest.mark.parametrize(("name", "planes", "policy_planes"), BOARDS)
def test_conforms(name: str, planes: tuple[int, int, int] | None, policy_planes: int) -> None:
    game = board(name)
    assert game.deterministic and game.perfect_information
    assert (game.planes, game.policy_planes) == (planes, policy_planes)
    assert check_game(game, max_states=15).decisions > 5


@pytest.mark.parametrize("name", [*OF_CHANCE, "yacht"])
def test_games_of_chance_conform(name: str) -> None:
    game = board(name)
    assert game.perfect_information and not game.deterministic
    assert check_game(game, max_states=60).chances > 0


@pytest.mark.parametrize("name", [*(name for name, _, _ in BOARDS), *OF_CHANCE, "hive", "twixt", "chinese_checkers"])
def test_random_games_beside_openspiel(name: str) -> None:
    public, rng = PublicTree(board(name)), np.random.default_rng(0)
    spiel, node, likely = pyspiel.load_game(name).new_initial_state(), 0, 1.0
    for _ in range(120):
        position = public.states[node]
        assert isinstance(position, BoardPosition)
        assert public.weights(node)[0, 0] == pytest.approx(likely, rel=1e-9)
        if spiel.is_terminal():
            break
        if spiel.is_chance_node():
            outcomes = spiel.chance_outcomes()
            assert public.actor(node) == NATURE and len(public.actions(node)) == 0
            edge = int(rng.integers(len(outcomes)))
            action, chance = sorted(outcomes)[edge]
            likely *= chance
        else:
            assert public.actor(node) == spiel.current_player()
            assert public.actions(node).tolist() == spiel.legal_actions()
            edge = int(rng.integers(len(spiel.legal_actions())))
            action = spiel.legal_actions()[edge]
        spiel.apply_action(action)
        public.list_fan(node)
        node = public.child(node, edge)
    if spiel.is_terminal():
        assert public.actor(node) == TERMINAL
        assert public.utility(node, (0, 0)) == pytest.approx(spiel.player_return(0))
    assert public.game.history(public.states[node], 0, 0) == spiel.history()


def test_positions_after_chance_are_made_once_and_let_go() -> None:
    game = board("backgammon")
    root = game.root()
    assert isinstance(root, ChancePosition)
    drawn, _, _ = game.sample_chance(root, 0, 0, np.random.default_rng(0))
    listed = list(game.fan(root).children)
    assert sum(state is drawn for state in listed) == 1 and len(root.after or ()) == len(listed) == 30
    del drawn, listed
    gc.collect()
    assert len(root.after or ()) == 0


@pytest.mark.parametrize(("name", "line", "outcomes"), [("yacht", (), 7776), ("pig", (0,), 6)])
def test_chance_with_many_outcomes_is_left_a_leaf(name: str, line: tuple[int, ...], outcomes: int) -> None:
    public, node = PublicTree(board(name)), 0
    for edge in line:
        public.list_fan(node)
        node = public.child(node, edge)
    assert public.actor(node) == NATURE and len(public.states[node].legal) == outcomes  # type: ignore[attr-defined]
    assert public.list_fan(node) == (outcomes <= 100)


def test_a_line_that_floats_cannot_weigh_is_a_draw() -> None:
    game = board("pig")
    spiel = pyspiel.load_game("pig").new_initial_state()
    for chance, over in ((1e-289, False), (1e-291, True)):
        position = ChancePosition(spiel.child(0), None, chance)
        assert (game.actor(position) == TERMINAL) == over
        if over:
            assert game.payoff(position).dense() == 0.0 and game.weights(position).dense() > 0.0
            assert len(game.actions(position)) == 0 and not game.features(position).any()


@pytest.mark.parametrize("name", [*SMALL, SMALL_PIG])
def test_the_value_is_that_of_the_listed_game(name: str) -> None:
    as_board, listed = (PublicTree(game).list_all() for game in (small_board(name), OpenSpielGame(name)))
    ours, theirs = (exact.measure(exact.solve(public, DCFR, 300)) for public in (as_board, listed))
    assert abs(ours.value - theirs.value) <= ours.exploitability + theirs.exploitability + 1e-9
    assert ours.exploitability < 0.01 and theirs.exploitability < 0.01


def test_small_games_are_listed_and_hidden_information_is_not_a_board() -> None:
    for name in SMALL:
        assert isinstance(make_game("openspiel:" + name), OpenSpielGame)
    with pytest.raises(GameError, match="phantom_ttt is too large to enumerate"):
        make_game("openspiel:phantom_ttt")


@pytest.mark.parametrize(("name", "planes", "policy_planes"), BOARDS)
def test_the_network_sees_openspiels_tensor_and_who_acts(
    name: str, planes: tuple[int, int, int] | None, policy_planes: int
) -> None:
    game = board(name)
    position = game.root()
    assert isinstance(position, BoardPosition)
    for _ in range(3):
        tensor = position.spiel.observation_tensor(position.actor)
        seen = game.features(position)
        np.testing.assert_array_equal(seen[: len(tensor)], np.array(tensor, dtype=np.float32))
        cells = 1 if planes is None else planes[1] * planes[2]
        assert (seen[len(tensor) :] == (position.actor == 0)).all() and len(seen) == len(tensor) + cells
        position = position.play(int(position.legal[-1]))


@pytest.mark.parametrize("name", ["amazons", "gomoku", "hive", "ultimate_tic_tac_toe", "nim"])
def test_names_of_moves_fit_lines_of_moves(name: str) -> None:
    game = board(name)
    state = game.root()
    for _ in range(4):
        names = [game.action_name(state, action) for action in game.actions(state).tolist()]
        assert len(set(names)) == len(names) and not any(re.search(r"[\s,]", word) for word in names)
        state = game.child(state, len(names) // 2)
    assert game.state_name(game.root()) == "start" and game.state_name(state).endswith(" (move 4)")


def test_pictures_have_no_colour_codes() -> None:
    game = board("twixt")
    assert "\x1b[" in str(pyspiel.load_game("twixt").new_initial_state()) and "\x1b" not in game.picture(game.root())


@pytest.mark.parametrize("algorithm", ["sog", "alphazero"])
def test_a_win_in_one_is_played(algorithm: str) -> None:
    # Row by row: x has three of the upper row and o three of the lower one; x plays the fourth, 3.
    with pytest.warns(UserWarning, match="no trained network"):
        agent = sog.load_agent("openspiel:mnk(m=4,n=4,k=4)", simulations=100, algorithm=algorithm)
    thought = agent.think([0, 12, 1, 13, 2, 14])
    assert thought.action == 3 and thought.value > 0


@pytest.mark.parametrize("name", ["breakthrough(rows=5,columns=4)", "oware"])
@pytest.mark.parametrize("algorithm", ["sog", "alphazero"])
def test_self_play_gives_rows_of_every_position(name: str, algorithm: str) -> None:
    game = board(name)
    settings = read(algorithm).settings(game, "demo")
    assert isinstance(settings, TrainSettings)
    assert isinstance(settings.acting, BoardActing)
    assert (settings.shape.kind == "resnet") == (game.planes is not None)
    play = replace(settings.acting.play, caps=PlayoutCaps(simulations=8))
    actor = replace(settings.acting, play=play).make(game, settings.shape)
    evaluator = network_evaluator(CVPN(settings.shape, 0))
    harvest = actor.round(2, evaluator, np.random.default_rng(0))
    assert harvest.searches == len(harvest.rows) > 10


@pytest.mark.parametrize(("algorithm", "preset"), [("sog", "paper"), ("sog", "pog"), ("alphazero", "paper")])
def test_the_papers_presets_take_openspiels_games(algorithm: str, preset: str) -> None:
    settings = read(algorithm).settings(board("othello"), preset)
    assert isinstance(settings, TrainSettings) and settings.shape.kind == "resnet"


def test_a_match_of_a_game_of_chance_is_played_to_its_end() -> None:
    rules = board("pig(winscore=20)")
    with pytest.warns(UserWarning, match="no trained network"):
        first = sog.load_agent(rules.name, simulations=10)
    played = sog.match(first, "random", game=rules.name, hands=4)
    assert sorted(set(played.won.tolist())) in ([-1.0], [-1.0, 1.0], [1.0])


@pytest.mark.parametrize("algorithm", ["sog", "alphazero"])
def test_play_against_chance_is_nearly_perfect(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sog.games.openspiel.board.LIMIT", 0)  # a board all the same
    with pytest.warns(UserWarning, match="no trained network"):
        agent = sog.load_agent("openspiel:" + SMALL_PIG, simulations=400, algorithm=algorithm)
    assert isinstance(agent.game, OpenSpielBoard)
    uniform = exact.measure_policy(agent.public, exact.uniform_policy(agent.public)).exploitability
    assert sog.exploitability(agent) < 0.005 < uniform / 10


def test_the_shipped_network_of_othello_beats_random_moves() -> None:
    agent, rng = sog.load_agent("openspiel:othello", simulations=16), np.random.default_rng(0)
    for seat in (0, 1):
        state = pyspiel.load_game("othello").new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            action = agent.think(state.history()).action if state.current_player() == seat else int(rng.choice(legal))
            state.apply_action(action)
        assert state.player_return(seat) == 1.0
