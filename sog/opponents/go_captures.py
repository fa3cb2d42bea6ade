"""Go by one rule, as an opponent: take stones in atari, save one's own, otherwise play at random outside one's eyes."""

from __future__ import annotations

from typing import cast

from sog.arrays import Array
from sog.games.boards.go import Go
from sog.games.boards.go_life import chain, neighbours
from sog.opponents.rating import Decision, Rated

__all__ = ["captures"]

_TAKES, _SAVES, _ANYWHERE, _PASSES, _OWN_EYE = 4.0, 3.0, 2.0, 1.0, 0.0


def captures(decision: Decision) -> Rated:
    """Rates a move by the stones it takes, then by its own stones that it leads out of atari; eyes are left alone."""
    game = cast(Go, decision.game)
    board, mover = game.board(decision.state), 1 + game.actor(decision.state)
    order = [_worth(board, action, mover) for action in decision.actions]
    return Rated(order, [0.0] * len(order))


def _worth(board: Array, action: int, mover: int) -> float:
    """The larger the better; among moves of a kind those with more stones."""
    points, size = board.ravel(), len(board)
    if action == size * size:
        return _PASSES
    around = neighbours(size, action)
    near = [(points[p] == mover, *chain(board, p)) for p in around if points[p]]
    taken = {s for own, stones, free in near if not own and free == {action} for s in stones}
    saved = {s for own, stones, free in near if own and free == {action} for s in stones}
    if taken:
        return _TAKES + len(taken) / 1000
    after = board.copy()
    after[divmod(action, size)] = mover
    if saved and len(chain(after, action)[1]) > 1:
        return _SAVES + len(saved) / 1000
    return _OWN_EYE if all(points[p] == mover for p in around) else _ANYWHERE
