"""A conformance check of the symmetries that a game names: is each image played alike, and does it end alike?"""

from __future__ import annotations

import numpy as np

from sog.errors import GameError
from sog.games.base import TERMINAL, Game, State
from sog.games.symmetries import Symmetry

__all__ = ["check_symmetries"]


def check_symmetries(game: Game, seed: int = 0, games: int = 3) -> None:
    """Play `games` random games beside each symmetry's images.

    Actors, features, legal actions and results must be the images'. Raises GameError on the first that are not, in one
    line that names the game, the symmetry's number and the public state.
    """
    if game.symmetries and not game.deterministic:
        raise GameError(f"{game.name} names symmetries, which are for deterministic games")
    for number, symmetry in enumerate(game.symmetries):
        _check_permutations(game, number, symmetry)
    rng = np.random.default_rng(seed)
    for number, symmetry in enumerate(game.symmetries):
        for _ in range(games):
            _play(game, number, symmetry, rng)
    if game.symmetries and not any(_is_identity(symmetry) for symmetry in game.symmetries):
        raise GameError(f"{game.name}: the identity is not among its symmetries")


def _is_identity(symmetry: Symmetry) -> bool:
    return all(np.array_equal(order, np.arange(len(order))) for order in (symmetry.features, symmetry.actions))


def _check_permutations(game: Game, number: int, symmetry: Symmetry) -> None:
    for name, permutation, count in (
        ("features", symmetry.features, game.num_features),
        ("actions", symmetry.actions, game.num_actions),
    ):
        whole = isinstance(permutation, np.ndarray) and permutation.dtype == np.int32
        if not (whole and np.array_equal(np.sort(permutation), np.arange(count))):
            raise GameError(f"{game.name}: {name} of symmetry {number} are not a permutation int32[{count}]")


def _play(game: Game, number: int, symmetry: Symmetry, rng: np.random.Generator) -> None:
    """A random game and its image side by side."""
    s = image = game.root()
    image_of = np.argsort(symmetry.actions)  # the position's action -> the image's
    while True:
        _check_state(game, number, symmetry, s, image)
        if game.actor(s) == TERMINAL:
            return
        legal, images = game.actions(s), game.actions(image)
        column = int(rng.integers(len(legal)))
        s = game.child(s, column)
        image = game.child(image, int(np.searchsorted(images, image_of[legal[column]])))


def _check_state(game: Game, number: int, symmetry: Symmetry, s: State, image: State) -> None:
    """What holds at a position and its image."""

    def require(holds: bool, fault: str) -> None:
        if not holds:
            raise GameError(f"{game.name} at {game.state_name(s)!r}: {fault} of symmetry {number} are not the image's")

    require(game.actor(s) == game.actor(image), "actors")
    if game.actor(s) == TERMINAL:
        require(game.payoff(s).entry(0, 0) == game.payoff(image).entry(0, 0), "results")
        return
    require(np.array_equal(game.features(s)[symmetry.features], game.features(image)), "features")
    legal = np.flatnonzero(np.isin(symmetry.actions, game.actions(s)))
    require(np.array_equal(legal, game.actions(image)), "legal actions")
