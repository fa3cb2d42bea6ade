"""How self-play games begin: in a game of its family or a start that it names, then with random moves."""

from __future__ import annotations

import numpy as np

from sog.errors import GameError
from sog.games.base import TERMINAL, Game
from sog.play.referee import Referee, World

__all__ = ["drawn_game", "names_starts", "random_opening"]

_TRIES = 100


def names_starts(game: Game) -> bool:
    """Whether the game names positions that self-play may begin with."""
    return game.random_start(np.random.default_rng(0)) is not None


def drawn_game(game: Game, starts: float, rng: np.random.Generator) -> tuple[Game, bool]:
    """With the chance `starts` one from a position that the game names, otherwise one drawn from its family.

    And whether it is the first. Nothing is drawn where there is nothing to choose.
    """
    if starts and rng.random() < starts and (start := game.random_start(rng)) is not None:
        return start, True
    return game.drawn(rng), False


def random_opening(referee: Referee, most: int, rng: np.random.Generator) -> World:
    """The world after k uniform moves, k drawn from 0 to `most`; drawn again where the game ends on the way.

    These moves leave no training rows. GameError where it always does.
    """
    # A game that ended has nothing to search: it is drawn again.
    for _ in range(_TRIES):
        world = referee.deal(rng)
        for _ in range(int(rng.integers(most + 1))):
            if referee.actor(world) == TERMINAL:
                break
            legal = referee.legal(world)
            world = referee.act(world, legal[int(rng.integers(len(legal)))], rng)
        if referee.actor(world) != TERMINAL:
            return world
    raise GameError(f"{referee.public.game.name} ends within {most} random moves")
