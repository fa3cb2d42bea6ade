"""Values and policies at public states, written into training rows by slot and by action."""

from __future__ import annotations

import numpy as np

from sog.arrays import Float64
from sog.searches.tree.public_tree import PublicTree
from sog.training.replay import Rows

__all__ = ["write_policy", "write_values"]


def write_values(
    rows: Rows,
    k: int,
    public: PublicTree,
    node: int,
    values: tuple[Float64, Float64],
    ranges: tuple[Float64, Float64],
) -> None:
    """Both players' values, in utilities, into row k by slot and in value units.

    ranges: infostates beside which the opponent's range has next to nothing are masked.
    """
    # A value is conditional on its infostate: over a mass of next to nothing it would be a quotient of roundings.
    for p, mass in enumerate(public.masses(node, *ranges)):
        at, known = public.places_of(node, p), mass > 1e-9 * mass.max()
        rows.values[k, at] = np.where(known, values[p], 0.0) / public.value_unit(node)
        rows.value_mask[k, at] = known


def write_policy(rows: Rows, k: int, public: PublicTree, node: int, policy: Float64) -> None:
    """The actor's policy float64[A, I] into row k by slot and action identity; illegal pairs have probability 0.

    Rows with more slots than a player has are a network's whose players have logits of their own.
    """
    actor, slots = public.actor(node), public.game.num_slots
    # Two players' logits apart: player 1's slots follow player 0's.
    apart = rows.policies.shape[1] > max(slots)
    at, actions, legal = public.slots_of(node, actor), public.actions(node), public.legal(node)
    at = at + slots[0] if apart and actor == 1 else at
    rows.policies[k, at[:, None], actions[None, :]] = policy.T
    rows.legal[k, at[:, None], actions[None, :]] = legal.T
    rows.policy_mask[k, at] = legal.any(axis=0)
