"""The picture of a policy at a public state, the same on the page, in a notebook and in the file of `sog show`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sog.arrays import Float64
from sog.games.base import Game, State
from sog.games.holdem.cards import HANDS
from sog.games.holdem.game import Holdem
from sog.games.holdem.ranges import class_grid
from sog.pictures.charts import bar_chart, likeliest, policy_chart
from sog.pictures.grids import range_grid
from sog.pictures.svg import SvgPicture

__all__ = ["cut_words", "grid_drawn", "likely", "policy_drawn"]

_SHOWN: Final = 24  # infostates, the likeliest
_MOVES: Final = 14  # actions of a board's position that are drawn


def policy_drawn(heading: str, game: Game, state: State, policy: Float64, weights: Float64) -> SvgPicture:
    """A bar for each likely move of a board, or for each likely infostate; at hold'em a grid of hands.

    A picture that is cut says so; its table has all moves or infostates.
    heading: what the picture's title says before the state.  policy: float64[A, I] of whoever acts.  weights:
    float64[I], that player's range, on any scale.
    """
    title, player = f"{heading} at {game.state_name(state)}", game.actor(state)
    names = [game.action_name(state, int(action)) for action in game.actions(state)]
    if game.perfect_information:
        order = np.argsort(-policy[:, 0], kind="stable").tolist()
        return bar_chart(title, [(names[a], float(policy[a, 0])) for a in order], _MOVES)
    if isinstance(game, Holdem):
        return grid_drawn(title, weights, names, policy)
    rows = [(game.infostate_name(state, player, i), policy[:, i].tolist()) for i in range(len(weights))]
    return policy_chart(title, names, rows, likely(weights), cut_words(weights))


def grid_drawn(title: str, weights: Float64, actions: Sequence[str] = (), policy: Float64 | None = None) -> SvgPicture:
    """A range of hold'em hands by class.  weights: float64[1326].  policy: float64[A, 1326], of these actions."""
    weight, taken = class_grid(weights, np.zeros((0, HANDS)) if policy is None else policy)
    return range_grid(title, weight.tolist(), actions, taken.tolist())


def likely(weights: Float64) -> list[int]:
    """The likeliest infostates of a range, in their order; all of them where they are few.

    Those of weight 0, which cannot be held here, are left out unless all are.
    """
    infostates: list[int] = np.sort(np.argsort(-weights, kind="stable")[: min(_SHOWN, _held(weights))]).tolist()
    return infostates


def cut_words(weights: Float64) -> str:
    """Which infostates `likely` has of a range, in words; "" where it leaves out none that can be held."""
    return likeliest(min(_SHOWN, _held(weights)), _held(weights))


def _held(weights: Float64) -> int:
    """How many infostates of a range have a weight; all where none has."""
    return int(np.count_nonzero(weights > 0)) or len(weights)
