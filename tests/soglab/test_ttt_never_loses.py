"""Every line of tic-tac-toe is met: perfect play and the shipped agent never lose, the first free square does."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path

import pytest

from sog.algorithms.student.player import SogPlayer
from sog.errors import CheckpointError
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.shape import shape_for
from sog.searches.gtcfr.settings import Budget
from sog.training import checkpoint
from sog.training.checkpoint import load_network
from sog.training.shipped import find_checkpoint
from soglab.papers.ttt_never_loses import GAME as NAME
from soglab.papers.ttt_never_loses import compute, every_play, greedy, plan
from soglab.study import Options

GAME = TicTacToe()


@cache
def value(moves: tuple[int, ...]) -> float:
    """Player 0's utility under perfect play of both."""
    actor = GAME.actor(moves)
    if actor not in (0, 1):
        return float(GAME.payoff(moves).dense()[0, 0])
    below = [value((*moves, action)) for action in GAME.actions(moves).tolist()]
    return max(below) if actor == 0 else min(below)


def perfect(moves: list[int]) -> int:
    sign = 1.0 if len(moves) % 2 == 0 else -1.0
    actions = GAME.actions(tuple(moves)).tolist()
    return max(actions, key=lambda action: sign * value((*moves, action)))


def test_perfect_play_never_loses() -> None:
    for side in (0, 1):
        met = every_play(side, perfect)
        assert json.loads(json.dumps(asdict(met)))["draws"] == met.draws
        assert met.losses == 0 and not met.lost and met.wins > 0 and met.draws > 0 and met.decisions > 60


def test_the_first_free_square_loses() -> None:
    met = every_play(1, lambda moves: GAME.actions(tuple(moves)).tolist()[0])
    assert met.losses == len(met.lost) > 0
    assert all(GAME.payoff(tuple(moves)).dense()[0, 0] == 1.0 for moves in met.lost)


def test_the_shipped_agent_never_loses() -> None:
    _, network, _ = load_network(find_checkpoint(NAME), NAME)
    player = SogPlayer("agent", network_evaluator(network), Budget(400, 1.0), reuse=False)
    player.new_game(GAME)
    for side in (0, 1):
        met = every_play(side, partial(greedy, player))
        assert met.losses == 0 and met.wins > 50


def test_another_network_of_as_many_steps_is_another_point(tmp_path: Path) -> None:
    found = []
    for seed in (0, 1):
        checkpoint.save(tmp_path, CVPN(shape_for(GAME, 8, 1), seed), NAME, "a run", 5, {})
        found.append(plan(Options(runs=(tmp_path,)), print)[0])
    assert found[0] != found[1] and found[0]["step"] == found[1]["step"]
    with pytest.raises(CheckpointError, match="plans anew"):
        compute(found[0])
