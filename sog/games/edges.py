"""How a player's infostates, and with them its range, go over a public edge."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from sog.arrays import Array, Float64
from sog.games.base import Fan

__all__ = ["Coefficients", "coefficients_of", "range_over"]

# How a player's infostates go over an edge: int32[P] from which, int32[P] to which, float64[P] how likely.
Coefficients: TypeAlias = tuple[Array, Array, Float64]


def coefficients_of(fan: Fan, edge: int, p: int, width: int, policy: Float64 | None) -> Coefficients:
    """How player p's infostates go over an edge.

    width: how many there are.  policy: float64[A, I], where p acts; None where it does not.
    """
    if policy is not None:
        assert fan.moves is not None
        source, column = np.nonzero(fan.moves.edge == edge)
        target = source if fan.moves.target is None else fan.moves.target[source, column]
        return source, target, policy[column, source]
    carry = None if fan.carry is None else fan.carry[edge][p]
    if carry is None:
        return np.arange(width), np.arange(width), np.ones(width)
    return carry.source, carry.target, np.ones(len(carry.source))


def range_over(fan: Fan, edge: int, p: int, reach: Float64, width: int, policy: Float64 | None = None) -> Float64:
    """float64[width]: player p's range at the end of an edge, from that before it.

    width: how many infostates it has there.  policy: float64[A, I], where p acts.
    """
    if policy is None and (fan.carry is None or fan.carry[edge][p] is None):
        return reach
    source, target, odds = coefficients_of(fan, edge, p, len(reach), policy)
    out = np.zeros(width)
    np.add.at(out, target, reach[source] * odds)
    return out
