"""The shipped mates are mates and all of them; scales count what they say; perfect play reaches their top."""

from __future__ import annotations

from pathlib import Path

import pyspiel
import pytest

from sog.algorithms.alphazero.player import AlphaZeroPlayer
from sog.errors import SettingError
from sog.games.boards.chess import Chess
from sog.opponents.chess.mates import SETS, SHIPPED, mating_moves, read_mates, write_mates
from sog.play.player import Limits, think
from sog.searches.leaves.evaluator import zero_evaluator
from soglab.checks.chess_mates import make_mates
from soglab.checks.chess_scales import ENDGAMES, MATERIAL, MATES, PERFECT, RANDOM, compute, plan, present
from soglab.checks.fixed_positions import PolicyAlone
from soglab.study import Options, StudyPoint


def test_the_shipped_mates_are_what_they_are_said_to_be() -> None:
    mates = read_mates()
    assert len({mate.fen for mate in mates}) == len(mates) and SHIPPED.stat().st_size < 100_000
    assert {moves: sum(mate.moves == moves for mate in mates) for moves in SETS} == SETS
    for mate in mates[::7]:
        game, state = Chess(mate.fen), pyspiel.load_game("chess").new_initial_state(mate.fen)
        named = [game.action_name(game.root(), action) for action in mating_moves(state, mate.moves)]
        assert list(mate.solutions) == named
        assert mate.moves == 1 or not mating_moves(state, 1)


@pytest.mark.parametrize(
    ("fen", "moves", "solutions"),
    [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", 1, {"a1a8"}),
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2, {"a1a6"}),  # Morphy
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 1, set()),
        ("7k/8/8/8/8/8/8/K6R b - - 0 1", 2, set()),
    ],
)
def test_mates_known_from_books(fen: str, moves: int, solutions: set[str]) -> None:
    game, state = Chess(fen), pyspiel.load_game("chess").new_initial_state(fen)
    assert {game.action_name(game.root(), action) for action in mating_moves(state, moves)} == solutions


def test_sets_are_made_again_from_the_seed(tmp_path: Path) -> None:
    first = make_mates({1: 2, 2: 2}, 0)
    assert make_mates({1: 2, 2: 2}, 0) == first
    assert all(mate in read_mates() for mate in first)  # the beginning of what is shipped
    write_mates(tmp_path / "mates", first)
    assert read_mates(tmp_path / "mates") == first
    (tmp_path / "text").write_text("no mates")
    with pytest.raises(SettingError):
        read_mates(tmp_path / "text")


def test_quick() -> None:
    keys = plan(Options(quick=True), print)
    assert {key["scale"] for key in keys} == {*MATES, *ENDGAMES}
    assert max(key["effort"] for key in keys) == 100
    alone = [key for key in keys if key["agent"] in (RANDOM, PERFECT) or (key["agent"], key["effort"]) == (MATERIAL, 2)]
    rows = {(row["agent"], row["scale"]): row for row in present([StudyPoint(key, compute(key)) for key in alone]).rows}
    for scale in ENDGAMES:
        best = rows[PERFECT, scale]
        assert best["hits"] == best["positions"] == 4 and best["moves"] == best["fewest"] > 0
        assert rows[RANDOM, scale]["hits"] == 0
    assert rows[MATERIAL, "mate in 1"]["hits"] == 4  # one move ahead, every mate is seen


def test_a_network_plays_every_scale() -> None:
    keys = [key for key in plan(Options(quick=True), print) if key["agent"] == "network"]
    for key in keys:
        result = compute({**key, "last": key["first"] + 1})
        assert result["positions"] == 1 and result["hits"] in (0, 1)
    assert {key["effort"] for key in plan(Options(full=True), print) if key["agent"] == "sog"} == {100, 800}


def test_the_network_alone_sees_no_mate_that_its_policy_does_not_name() -> None:
    """White mates by a1a8; a network that knows nothing has all moves alike and takes the first."""
    game = Chess("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")
    named = {}
    for player in (PolicyAlone(zero_evaluator), AlphaZeroPlayer("az", zero_evaluator, 1)):
        player.new_game(game)
        named[player.name] = game.action_name(game.root(), think(player, [], Limits()).action)
    assert named["az"] == "a1a8" and named["network"] == game.action_name(game.root(), min(game.actions(game.root())))
