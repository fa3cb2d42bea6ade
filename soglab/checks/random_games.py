"""Random games of chess, Go and connect four, position by position beside OpenSpiel (see rules.random_game)."""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.errors import GameError
from sog.games.boards.positions import PositionGame
from sog.games.catalog import make_game
from soglab.checks.agreement import agreement_study
from soglab.checks.rules import Spoken, random_game
from soglab.study import Experiment, Key, Result

GAMES: Final = ("chess", "go(board_size=9,komi=7.5)", "connect_four")


def compute(key: Key) -> Result:
    """How many games and moves agreed, and what the first difference was, if any."""
    game, moves, agreed, difference = make_game(key["game"]), 0, 0, ""
    spoken: Spoken = {}
    assert isinstance(game, PositionGame)
    for number in range(key["games"]):
        try:
            moves += random_game(game, np.random.default_rng((key["seed"], number)), spoken)
            agreed += 1
        except GameError as error:
            difference = difference or str(error)
    return {"agreed": agreed, "moves": moves, "difference": difference}


EXPERIMENT: Final = Experiment(
    id="random-games",
    paper="SoG",
    figure="Chess, Go",
    minutes=10,
    what="Chess, 9x9 Go and connect four: 1,000 random games each (--full: 10,000) beside OpenSpiel, every position",
    study=agreement_study("random-games", GAMES, compute),
)
