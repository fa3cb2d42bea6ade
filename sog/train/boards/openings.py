"""Random opening moves: a game's first moves are drawn uniformly, so that games differ; they leave no training rows."""

from __future__ import annotations

import numpy as np

from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.play.referee import Referee, World

__all__ = ["random_opening"]

_TRIES = 100


def random_opening(referee: Referee, most: int, rng: np.random.Generator) -> World:
    """The world after k uniform moves, k drawn from 0 to `most`; drawn again where the game ends on the way.

    GameError where it always does.
    """
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
