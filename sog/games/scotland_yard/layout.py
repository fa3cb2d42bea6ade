"""A place for each station of any map, computed from its links alone: files of maps have no places."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from sog.arrays import Array, Float64
from sog.games.scotland_yard.map import CityMap

__all__ = ["APART", "layout"]

APART: Final = 0.6  # links; stations are at least about this far from each other
_ROUNDS: Final = 200


@lru_cache(maxsize=16)
def layout(city: CityMap) -> Float64:
    """float64[N, 2]: places in links, such that a distance is about the number of links between two stations.

    Classical scaling of the distances, then steps of majorization of the stress, sum (|x_i - x_j| - d_ij)^2 / d_ij^2;
    in the end stations that lie on each other are moved apart.
    """
    steps = _distances(city)
    n = len(steps)
    x: Float64
    centred = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centred @ steps**2 @ centred)
    x = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    x = x * np.sign(x[np.abs(x).argmax(axis=0), [0, 1]])  # an eigenvector's sign is arbitrary
    weights = np.divide(1.0, steps**2, out=np.zeros_like(steps), where=steps > 0)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(_ROUNDS):
        apart = np.linalg.norm(x[:, None] - x[None], axis=2)
        ratio = np.divide(weights * steps, apart, out=np.zeros_like(steps), where=apart > 1e-9)
        x = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ x)
    return _moved_apart(x)


def _moved_apart(x: Float64) -> Float64:
    """The same places, those nearer than APART pushed away from each other, half of what is missing each."""
    angle = np.arange(len(x)) * 2.4  # stations at one place leave it in directions of their own
    x = x + 1e-3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    for _ in range(_ROUNDS):
        between = x[:, None] - x[None]
        far = np.linalg.norm(between, axis=2)
        np.fill_diagonal(far, np.inf)
        missing = np.maximum(APART - far, 0.0)
        if not missing.any():
            break
        x = x + 0.5 * (between * (missing / far)[:, :, None]).sum(axis=1)
    return x


def _distances(city: CityMap) -> Array:
    """float64[N, N]: links between stations, of any kind; twice the largest where no way leads."""
    n = len(city.stations)
    steps = np.full((n, n), np.inf)
    np.fill_diagonal(steps, 0.0)
    for a, b, _ in city.links:
        steps[a, b] = steps[b, a] = 1.0
    for k in range(n):
        steps = np.minimum(steps, steps[:, k, None] + steps[None, k])
    return np.where(np.isfinite(steps), steps, 2 * steps[np.isfinite(steps)].max())
