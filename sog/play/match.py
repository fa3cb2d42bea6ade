"""One game between two contestants under our rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

import numpy as np

from sog.errors import GameError, SogError
from sog.games.base import Game
from sog.play.move_tree import MoveTree
from sog.play.player import Limits, Player, think

__all__ = [
    "Contestant",
    "ContestantFault",
    "Played",
    "PlayerContestant",
    "play_match_game",
    "random_opening",
    "random_openings",
]

_DRAWS: Final = 100  # of an opening, before one comes again


class ContestantFault(SogError):
    """A contestant crashed, hung, broke its protocol or named an illegal move: it loses the game."""


class Contestant(Protocol):
    """Someone who plays games: a search in this process or a program at the end of a pipe."""

    name: str

    def begin(self, game: Game, seed: int) -> None:
        """Be ready for a new game; `seed` decides its draws where it has any.

        Raises ContestantFault, or SettingError where it cannot play at all, which does not count as a loss.
        """

    def move(self, moves: Sequence[int]) -> int | None:
        """The action after these; None resigns. Raises ContestantFault."""

    def close(self) -> None:
        """End whatever runs for it; `begin` may be called again and starts it anew."""


@dataclass(frozen=True)
class Played:
    """A finished game. utility: player 0's, in [-1, 1].  why: how it ended.  fault: by a contestant at fault."""

    moves: tuple[int, ...]
    utility: float
    why: str
    fault: bool = False


def play_match_game(
    game: Game, seats: tuple[Contestant, Contestant], opening: Sequence[int] = (), seed: int = 0, longest: int = 1000
) -> Played:
    """Play one game from an opening; seats[p] is player p. After `longest` moves it is a draw.

    GameError where chance is to move. A contestant at fault loses and is closed, so that its next game starts it anew.
    """
    tree, moves = MoveTree(game), list(opening)
    tree.node_after(moves)  # an illegal opening is refused before anybody begins
    mover = 0
    try:
        for mover in (0, 1):
            seats[mover].begin(game, seed + mover)
        while (result := tree.result(node := tree.node_after(moves))) is None:
            if len(moves) >= longest:
                return Played(tuple(moves), 0.0, f"{longest} moves")
            mover = tree.actor(tree.decision_after(moves))
            action = seats[mover].move(tuple(moves))
            if action is None:
                return Played(tuple(moves), _lost_by(mover), f"{seats[mover].name} resigned")
            if action not in tree.actions(node):
                raise ContestantFault(f"illegal move {action}")
            moves.append(action)
    except ContestantFault as fault:
        # Whoever is to move is at fault, also while it begins.
        seats[mover].close()
        return Played(tuple(moves), _lost_by(mover), f"{seats[mover].name}: {fault}", fault=True)
    return Played(tuple(moves), result, "rules")


def random_opening(game: Game, plies: int, seed: Sequence[int]) -> tuple[int, ...]:
    """`plies` random moves that do not end the game; fewer where every way on ends it."""
    return _drawn(MoveTree(game), plies, seed)


def _drawn(tree: MoveTree, plies: int, seed: Sequence[int]) -> tuple[int, ...]:
    """`random_opening` of the tree's game."""
    rng = np.random.default_rng(list(seed))
    moves: list[int] = []
    for _ in range(plies):
        actions = tree.actions(tree.node_after(moves))
        going = [action for action in actions if tree.result(tree.node_after([*moves, action])) is None]
        if not going:
            break
        moves.append(int(rng.choice(going)))
    return tuple(moves)


@lru_cache(maxsize=8)
def random_openings(game: Game, count: int, plies: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """`count` openings of `plies` random moves, all different while a hundred draws find one that is new."""
    if plies == 0:
        return ((),) * count
    tree, drawn = MoveTree(game), dict[tuple[int, ...], None]()
    out: list[tuple[int, ...]] = []
    for k in range(count):
        first = _drawn(tree, plies, (seed, k))
        # By (seed, k, again): the k-th opening does not depend on how many are asked for.
        others = (_drawn(tree, plies, (seed, k, again)) for again in range(1, _DRAWS))
        out.append(first if first not in drawn else next((other for other in others if other not in drawn), first))
        drawn[out[-1]] = None
    return tuple(out)


class PlayerContestant:
    """A player of this process with limits a move."""

    def __init__(self, player: Player, limits: Limits) -> None:
        self.name, self.player, self.limits = player.name, player, limits

    def begin(self, game: Game, seed: int) -> None:
        self.player.seed = seed
        self.player.new_game(game)

    def move(self, moves: Sequence[int]) -> int | None:
        try:
            return think(self.player, moves, self.limits).action
        except GameError as error:
            raise ContestantFault(str(error)) from error

    def close(self) -> None:
        pass


def _lost_by(player: int) -> float:
    return -1.0 if player == 0 else 1.0
