"""Training rows of a board game: one a position, with its policy where it was searched in full, and its value."""

from __future__ import annotations

import numpy as np

from sog.algorithms.boards.game import PositionVisit
from sog.arrays import Float64, Int32, Int64
from sog.nets.encode import encode
from sog.nets.shape import NetworkShape
from sog.searches.leaves.evaluator import Beliefs
from sog.searches.tree.public_tree import PublicTree
from sog.training.rows import Rows, blank_rows

__all__ = ["add_owners", "game_rows", "repeats", "value_targets"]


def game_rows(
    public: PublicTree,
    visits: list[PositionVisit],
    utility: float | None,
    shape: NetworkShape,
    share: float = 1.0,
    discount: float = 1.0,
) -> Rows:
    """A row for each visit; its value is `value_targets`, for both players."""
    nodes: Int32 = np.array([visit.node for visit in visits], dtype=np.int32)
    rows = blank_rows(shape, len(nodes))
    rows.inputs[:] = encode(Beliefs(public, nodes, np.ones((len(nodes), 2))), shape.crossed)
    u_max = public.game.u_max
    values = value_targets(visits, utility, u_max, share, discount) / public.value_units(nodes)
    rows.values[:, 0], rows.values[:, 1] = values, -values
    rows.value_mask[:] = 1.0
    for k, visit in enumerate(visits):
        actions = public.actions(visit.node)
        rows.legal[k, 0, actions] = True
        if visit.policy is not None:
            rows.policies[k, 0, actions], rows.policy_mask[k] = visit.policy, 1.0
    return rows


def add_owners(rows: Rows, public: PublicTree, final: int | None) -> None:
    """Write who owned each cell in the end into a game's rows, where the network learns it and the game says it."""
    owners = None if final is None else public.game.owners(public.states[final])
    if owners is not None and rows.owners.shape[1]:
        rows.owners[:], rows.owners_mask[:] = owners, 1.0


def value_targets(
    visits: list[PositionVisit], utility: float | None, u_max: float, share: float = 1.0, discount: float = 1.0
) -> Float64:
    """float64[N]: player 0's, utilities: (1 - share) * outcome * discount^later + share * the search's value.

    later: how many positions were searched after it; with a discount below 1 the nearer of two wins is worth more.
    A game that was cut short has the value of its last search as outcome.
    """
    searched: Float64 = u_max * np.array([visit.value for visit in visits])
    outcome = searched[-1] if utility is None else utility
    # How many searched positions come after each.
    later = np.arange(len(visits) - 1, -1, -1)
    return (1.0 - share) * outcome * discount**later + share * searched


def repeats(visits: list[PositionVisit], share: float, rng: np.random.Generator) -> Int64:
    """int64[*]: the visits' indices, each as often as its row is to be written: once on average (KataGo, g170).

    weight = (1 - share) + share * surprise / mean surprise, of rows with a policy: how much the search surprised the
    network; a weight of 1.3 is one row and a second one with a chance of 0.3. Rows without a policy have a weight of 1.
    """
    weights = np.ones(len(visits))
    full = np.array([visit.policy is not None for visit in visits], dtype=np.bool_)
    surprise = np.array([visit.surprise for visit in visits])
    total = surprise[full].sum()
    if share > 0.0 and total > 0.0:
        # Their mean stays 1, so that a game leaves as many rows as it has positions, on average.
        weights[full] = (1.0 - share) + share * full.sum() * surprise[full] / total
    whole = np.floor(weights)
    counts = (whole + (rng.random(len(visits)) < weights - whole)).astype(np.int64)
    return np.repeat(np.arange(len(visits)), counts)
