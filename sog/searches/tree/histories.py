"""A history by which each infostate of a listed game is reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sog.arrays import Array
from sog.errors import GameError
from sog.searches.tree.public_tree import PublicTree

__all__ = ["history_of", "padded", "reached_at"]


def reached_at(public: PublicTree, node: int) -> Iterator[tuple[int, list[int]]]:
    """The actor's infostates at a node that can be held, each with the actions of one history that leads there.

    Raises GameError where the game does not give its histories.
    """
    weights = public.weights(node)
    # possible[i, j]: whether the actor's infostate i and the opponent's j occur together.
    possible = (weights if public.actor(node) == 0 else weights.T) > 0
    for i in np.flatnonzero(possible.any(axis=1)).tolist():
        other = int(possible[i].argmax())  # any opponent's infostate that can occur together with i
        yield i, history_of(public, node, *((i, other) if public.actor(node) == 0 else (other, i)))


def history_of(public: PublicTree, node: int, i0: int, i1: int) -> list[int]:
    """The actions, chance's included, of a history to this pair of infostates; GameError where the game gives none."""
    history = public.game.history(public.states[node], i0, i1)
    if history is None:
        raise GameError(f"{public.game.name} does not say by which history an infostate is reached")
    return history


def padded(histories: Sequence[list[int]], longest: int) -> Array:
    """int16[H, longest]: the actions of each history, then -1."""
    out = np.full((len(histories), longest), -1, dtype=np.int16)
    for row, history in zip(out, histories, strict=True):
        row[: len(history)] = history
    return out
