"""Elo ratings of maximum likelihood from games between players, with 95% intervals; it plays no games.

The model is Elo's: a player r points stronger than another scores 1 / (1 + 10^(-r / 400)) on average, and a draw
counts half (Bradley and Terry's model of 1952). Ratings have mean 0: only differences mean anything.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from scipy.sparse.csgraph import connected_components

from sog.arrays import Float64
from sog.errors import SettingError
from sog.measure.intervals import TWO_SIDED_95

__all__ = ["Ratings", "by_units", "points_of", "rate"]

_P = TypeVar("_P", bound=Hashable)

_SLOPE = math.log(10.0) / 400.0


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of players 0..P-1.

    elo: float64[P], mean 0.  covariance: float64[P, P].  virtual: draws added to each pair that met, because some
    player or group of players won all games or lost all; their ratings would be infinite without.
    """

    elo: Float64
    covariance: Float64
    virtual: float

    def interval(self, i: int) -> float:
        """Half the width of the 95% interval of player i's rating, against the mean of all."""
        return TWO_SIDED_95 * math.sqrt(max(float(self.covariance[i, i]), 0.0))

    def difference(self, i: int, j: int) -> tuple[float, float]:
        """How much stronger i is than j, and half the width of the 95% interval of that."""
        c = self.covariance
        variance = float(c[i, i] + c[j, j] - 2.0 * c[i, j])
        return float(self.elo[i] - self.elo[j]), TWO_SIDED_95 * math.sqrt(max(variance, 0.0))


def rate(points: Float64, virtual: float = 1.0) -> Ratings:
    """Ratings from points: float64[P, P], what row's player scored against column's, 1 a win and 0.5 a draw.

    virtual: draws added to each pair that met, only where the ratings would be infinite otherwise. The intervals are
    those of the likelihood's curvature (Fisher information), which counts a draw as uncertain as a win: on games with
    draws they are too wide. Raises SettingError where the players fall into groups that never met.
    """
    points = np.array(points, dtype=np.float64)
    met = (points + points.T) > 0
    if len(points) < 2 or connected_components(met, directed=False)[0] > 1:
        raise SettingError("Elo needs two players or more, and games that connect all of them")
    added = 0.0
    # Finite ratings exist only where everybody is reached from everybody by wins or draws (Ford, 1957).
    if connected_components(points > 0, connection="strong")[0] > 1:
        added = virtual
        points[met] += virtual / 2.0
    elo = _likeliest(points)
    covariance: Float64 = np.linalg.pinv(_information(points + points.T, elo)).astype(np.float64)
    return Ratings(elo, covariance, added)


def by_units(ratings: Ratings, units: Sequence[tuple[int, int, float, int]]) -> Ratings:
    """The same ratings with intervals for games in units, (i, j, i's points, games), which may share their luck.

    The covariance times the dispersion of quasi-likelihood (Wedderburn, 1974) where it is above 1, with u units and P
    players: u / (u - P + 1) * (sum of (points - games * score)^2) / (sum of games * score * (1 - score)).
    """
    scores, spare = _scores(ratings.elo), len(units) - len(ratings.elo) + 1
    if spare < 1:
        return ratings
    apart = sum((points - games * scores[i, j]) ** 2 for i, j, points, games in units)
    expected = sum(games * scores[i, j] * scores[j, i] for i, j, _, games in units)
    return replace(ratings, covariance=ratings.covariance * max(1.0, float(len(units) / spare * apart / expected)))


def points_of(players: Sequence[_P], results: Sequence[tuple[_P, _P, float, int]]) -> Float64:
    """float64[P, P] for `rate` from results (first player, second player, the first one's points, games)."""
    index = {player: k for k, player in enumerate(players)}
    points = np.zeros((len(players), len(players)))
    for first, second, score, games in results:
        points[index[first], index[second]] += score
        points[index[second], index[first]] += games - score
    return points


def _likeliest(points: Float64) -> Float64:
    """Newton's method on a concave likelihood, with steps of at most 400 points.

    gradient[i] = s * sum over j of (points[i, j] - games[i, j] * score[i, j]),  s = ln(10) / 400.
    """
    games = points + points.T
    elo: Float64 = np.zeros(len(points))
    for _ in range(200):
        gradient = _SLOPE * (points - games * _scores(elo)).sum(axis=1)
        # The pseudo-inverse: adding the same to all ratings changes nothing, so the information has a zero direction.
        step = np.linalg.pinv(_information(games, elo)) @ gradient
        step *= min(1.0, 400.0 / max(float(np.abs(step).max()), 1e-300))
        elo += step
        if np.abs(step).max() < 1e-9:
            break
    elo -= elo.mean()
    return elo


def _scores(elo: Float64) -> Float64:
    """float64[P, P]: what row's player is expected to score against column's."""
    scores: Float64 = 1.0 / (1.0 + 10.0 ** ((elo[None, :] - elo[:, None]) / 400.0))
    return scores


def _information(games: Float64, elo: Float64) -> Float64:
    """float64[P, P]: minus the second derivatives of the log-likelihood.

    Off the diagonal -s^2 * games * score * (1 - score), on it minus the sum of the row's others.
    """
    scores = _scores(elo)
    weight = _SLOPE**2 * games * scores * scores.T
    information: Float64 = np.diag(weight.sum(axis=1)) - weight
    return information
