"""Random games of chess, Go and connect four, position by position beside OpenSpiel (see rules.random_game)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from sog.errors import GameError
from sog.experiments.checks.rules import Spoken, random_game
from sog.experiments.study import Beside, Key, Note, Options, Outcome, Point, Result, Study
from sog.games.boards.positions import PositionGame
from sog.games.catalog import make_game

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMES: Final = ("chess", "go(board_size=9,komi=7.5)", "connect_four")
_BATCH: Final = 250


def plan(options: Options, note: Note) -> list[Key]:
    """1,000 games of each, 10,000 with --full, in batches with seeds of their own."""
    if options.quick:
        return [{"game": game, "seed": 0, "games": 50} for game in GAMES]
    count = 10_000 if options.full else 1_000
    return [{"game": game, "seed": seed, "games": _BATCH} for seed in range(count // _BATCH) for game in GAMES]


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


def present(points: list[Point]) -> Outcome:
    """Games that agreed to the end, of all played, for each game."""
    beside = []
    for game in GAMES:
        found = [p for p in points if p.key["game"] == game]
        agreed, played = sum(p.result["agreed"] for p in found), sum(p.key["games"] for p in found)
        moves = sum(p.result["moves"] for p in found)
        beside.append(Beside(game, "", f"{agreed:,} of {played:,} games agree, {moves:,} moves"))
        beside += [Beside(game, "", p.result["difference"]) for p in found if p.result["difference"]]
    return Outcome([p.row for p in points], {"random-games": lambda figure: _draw(figure, points)}, beside)


def _draw(figure: Figure, points: list[Point]) -> None:
    """How long the games were."""
    axis = figure.subplots()
    for game in GAMES:
        lengths = [p.result["moves"] / max(p.result["agreed"], 1) for p in points if p.key["game"] == game]
        axis.plot(lengths, marker=".", label=game)
    axis.set(xlabel="batch", ylabel="moves a game", title="random games that agree with OpenSpiel")
    axis.legend()


STUDY: Final = Study(plan, compute, present, takes=("full",))
