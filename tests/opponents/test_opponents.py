"""Opponents of fixed strength: what they must see, what beats what, and how a tournament names them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyspiel
import pytest

from sog.cli.app import main
from sog.errors import SettingError
from sog.games.base import Game
from sog.games.boards.go import Go
from sog.games.catalog import make_game
from sog.measure.intervals import share_interval, wilson
from sog.opponents.alpha_beta import alpha_beta, material
from sog.opponents.go_captures import captures
from sog.opponents.go_rollouts import rollouts
from sog.opponents.openspiel_mcts import openspiel_mcts
from sog.opponents.random_player import RandomPlayer
from sog.opponents.rating import Decision, Rate, Rated, RatingPlayer
from sog.play.match import PlayerContestant, play_match_game
from sog.play.move_tree import MoveTree
from sog.play.player import Limits, think
from sog.protocols.tournament import load_results
from sog.protocols.tournament_file import read_tournament


def even(decision: Decision) -> Rated:
    """No move is better than another."""
    return Rated([0.0] * len(decision.actions), [0.0] * len(decision.actions))


def move(rate: Rate, game: Game, moves: list[str]) -> str:
    """The move of a rating after these, in the game's words."""
    player, tree, played = RatingPlayer("player", rate), MoveTree(game), list[int]()
    for word in moves:
        node = tree.node_after(played)
        played.append(next(a for a in tree.actions(node) if game.action_name(tree.public.states[node], a) == word))
    player.new_game(game)
    return game.action_name(tree.public.states[tree.node_after(played)], think(player, played, Limits()).action)


@pytest.mark.parametrize("player", [RandomPlayer(seed=7), RatingPlayer("even", even, seed=7)])
def test_one_move_more_is_another_stream(player: RandomPlayer | RatingPlayer) -> None:
    """NumPy's seeds (7,) and (7, 0) are one stream: the number of moves belongs in between."""
    orders = set()
    for length in range(6):  # the same six columns are open
        game = make_game("connect_four")
        player.new_game(game)
        orders.add(tuple(candidate.action for candidate in player.search([0] * length).thought().candidates))
    assert len(orders) == 6


@pytest.mark.parametrize("rate", [openspiel_mcts(2_000), alpha_beta(3)])
def test_connect_four_is_won_and_saved_at_once(rate: Rate) -> None:
    game = make_game("connect_four")
    assert move(rate, game, list("112233")) == "4"
    assert move(rate, game, list("41414")) == "4"  # blocks
    assert move(rate, make_game("connect_four(moves=112233)"), []) == "4"


def test_openspiels_mcts_explores_as_in_openspiels_example() -> None:
    """UCT with 2, proven results kept, one rollout a simulation: a weaker setting would flatter its opponents."""
    game, spiel = make_game("connect_four"), pyspiel.load_game("connect_four")

    def visits(constant: float) -> list[int]:
        seed = int(np.random.default_rng(5).integers(2**31))
        rollout = pyspiel.RandomRolloutEvaluator(1, seed)
        bot = pyspiel.MCTSBot(spiel, rollout, constant, 400, 1_000, True, seed, False)
        counts = {child.action: child.explore_count for child in bot.mcts_search(spiel.new_initial_state()).children}
        return [counts[action] for action in range(7)]

    found = openspiel_mcts(400)(Decision(game, game.root(), (), tuple(range(7)), 0, np.random.default_rng(5)))
    assert list(found.visits) == visits(2.0) != visits(1.0)


def test_openspiels_mcts_moves_after_a_single_simulation() -> None:
    """Nothing is known of any move then, as where time is short."""
    for rate in (openspiel_mcts(1), openspiel_mcts(None, 1e-9)):
        assert move(rate, make_game("connect_four"), list("44")) in "1234567"


def test_alpha_beta_sees_as_far_as_its_depth() -> None:
    """Of two in the bottom row with open ends a third stone makes a win: depth 3 sees it, 1 does not."""
    game = make_game("connect_four")
    assert {move(alpha_beta(3), game, list("3141"))} <= {"5", "2"}
    player = RatingPlayer("shallow", alpha_beta(1))
    player.new_game(game)
    assert {candidate.value for candidate in think(player, [2, 0, 3, 0], Limits()).candidates} == {0.0}


def test_material_takes_the_queen_and_mates() -> None:
    assert move(alpha_beta(1, material), make_game("chess(fen=4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1)"), []) == "e4d5"
    assert move(alpha_beta(2, material), make_game("chess(fen=6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1)"), []) == "a1a8"


def test_captures_takes_and_saves() -> None:
    go = Go(5, 0.5)
    assert move(captures, go, ["B1", "A1", "E5"]) == "A2"  # White's stone in atari runs
    assert move(captures, go, ["B1", "A1"]) == "A2"  # taken
    assert move(captures, go, ["C3", "C2", "E5", "B3", "E4", "D3"]) == "C4"  # Black's stone in atari runs


@pytest.mark.parametrize("count", [1, 7, 300])
def test_rollouts_are_counted_and_repeatable(count: int) -> None:
    found = []
    for _ in range(2):
        player = RatingPlayer("mc", rollouts(count), seed=3)
        player.new_game(Go(5, 0.5))
        found.append(think(player, [], Limits()))
    assert found[0] == found[1] and sum(c.visits for c in found[0].candidates) == count


def test_rollouts_play_whole_games_by_openspiels_rules_and_more_of_them_are_stronger() -> None:
    go, points = Go(5, 0.5), 0.0
    strong = PlayerContestant(RatingPlayer("strong", rollouts(400)), Limits())
    weak = PlayerContestant(RatingPlayer("weak", captures), Limits())
    for seed in range(4):
        for seats, sign in (((strong, weak), 1), ((weak, strong), -1)):
            played = play_match_game(go, seats, (), seed)
            assert not played.fault, played.why
            points += (1 + sign * played.utility) / 2
    assert points >= 6


def test_wilson() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(5, 10)  # 0.2366 and 0.7634, from tables
    assert low == pytest.approx(0.23659, abs=1e-5) and high == pytest.approx(0.76341, abs=1e-5)
    assert wilson(0, 20)[0] == 0.0 and wilson(20, 20)[1] == 1.0


def file_of(folder: Path, text: str) -> Path:
    path = folder / "matches.toml"
    path.write_text(text)
    return path


def test_a_tournament_of_opponents_says_its_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agents = "[agents.a]\nalphabeta = 2\n[agents.m]\nopenspiel_mcts = 20\n[agents.r]\nrandom = true\n"
    path = file_of(tmp_path, f'game = "connect_four"\nrounds = 2\nplies = 2\n{agents}')
    assert main(["tournament", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {(pair["a"], pair["b"]) for pair in said["pairs"]} == {("a", "m"), ("a", "r"), ("m", "r")}
    for pair in said["pairs"]:
        against = next(agent for agent in said["agents"] if agent["name"] == pair["a"])["against"][pair["b"]]
        assert pair["games"] == 4 == sum(against.values())
        assert pair["share"] == (against["wins"] + against["draws"] / 2) / 4 == (pair["a_as_0"] + pair["a_as_1"]) / 2
        points: dict[int, float] = {}
        for game in load_results(tmp_path / "matches.games"):
            if set(game.seats) == {pair["a"], pair["b"]}:
                own = game.points[2] if game.seats[0] == pair["a"] else 1 - game.points[2]
                points[(game.number - 1) // 6] = points.get((game.number - 1) // 6, 0) + own  # six games a round
        assert pair["interval95"] == list(share_interval((both, 2) for both in points.values()))
    assert not said["faults"] and {"agents", "virtual_draws", "faults"} <= set(said)


def test_go_opponents_play_in_a_tournament(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agents = "[agents.c]\ncaptures = true\n[agents.n]\nrollouts = 20\n"
    path = file_of(tmp_path, f'game = "go(board_size=5,komi=0.5)"\n{agents}')
    assert main(["tournament", str(path), "--json"]) == 0
    assert not json.loads(capsys.readouterr().out)["faults"]


@pytest.mark.parametrize("komi", [7.5, 9])
def test_one_network_plays_go_at_any_komi(tmp_path: Path, capsys: pytest.CaptureFixture[str], komi: float) -> None:
    """The shipped network, trained around 7.5; both colours are shown."""
    agents = '[agents.s]\ncheckpoint = "go(board_size=7)"\nsimulations = 2\n[agents.r]\nrandom = true\n'
    path = file_of(tmp_path, f'game = "go(board_size=7,komi={komi})"\n{agents}')
    assert main(["tournament", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    (pair,) = said["pairs"]
    assert not said["faults"] and pair["games"] == 2 and {pair["a_as_0"], pair["a_as_1"]} <= {0.0, 0.5, 1.0}
    assert f"KM[{komi:g}]" in next(Path(said["folder"]).glob("*.sgf")).read_text()


def test_a_network_of_another_board_is_refused(tmp_path: Path) -> None:
    agents = '[agents.s]\ncheckpoint = "go(board_size=7)"\n[agents.r]\nrandom = true\n'
    path = file_of(tmp_path, f'game = "go(board_size=9,komi=7.5)"\n{agents}')
    with pytest.raises(SettingError, match="plays go"):
        read_tournament(path).contestant("s")


@pytest.mark.parametrize(
    ("agent", "says"),
    [
        ("rollouts = 10", "plays Go only"),
        ("captures = true", "plays Go only"),
        ("alphabeta = 0", "from 1 to 64"),
        ("openspiel_mcts = 0", "needs seconds"),
        ("openspiel_mcts = 1.5", "whole number"),
    ],
)
def test_nonsense_is_refused(tmp_path: Path, agent: str, says: str) -> None:
    path = file_of(tmp_path, f'game = "connect_four"\n[agents.x]\n{agent}\n[agents.r]\nrandom = true\n')
    with pytest.raises(SettingError, match=says):
        read_tournament(path).contestant("x")
