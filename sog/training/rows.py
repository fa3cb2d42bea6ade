"""Training rows as the learner takes them, and how values and policies at public states are written into them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from sog.arrays import Array, Bool, Float32, Float64
from sog.nets.shape import NetworkShape
from sog.searches.tree.public_tree import PublicTree

__all__ = ["Rows", "blank_rows", "take_baseline", "write_policy", "write_values"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Training rows: encoded beliefs with targets for both heads (PoG, B.3).

    inputs: float32[N, D].  values, value_mask: float32[N, S0 + S1], in value units; mask 1 is trained and 0 is not
    (a TD(1) row fills only the visited infostate).  policies: float32[N, S, A], S of NetworkShape.policy_slots,
    or of a network of legal pairs float32[N, 1, P].  policy_mask: float32[N, S], 1 where an infostate's policy is
    trained.  legal: bool of the same sizes as policies.
    owners: float32[N, H * W], who owned each cell in the end (Game.owners), 0 columns where that is not learned.
    owners_mask: float32[N, 1], 0 where that is not known.
    """

    inputs: Float32
    values: Float32
    value_mask: Float32
    policies: Float32
    policy_mask: Float32
    legal: Bool
    owners: Float32
    owners_mask: Float32

    def __len__(self) -> int:
        return len(self.inputs)

    def take(self, index: Array | slice) -> Rows:
        """Some of the rows: copies for an array of indices, views for a slice."""
        return Rows(**{name: column[index] for name, column in self.columns().items()})

    def columns(self) -> dict[str, Array]:
        """The arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def blank_rows(shape: NetworkShape, count: int) -> Rows:
    """Rows of zeros that train nothing, to be filled in."""
    values = shape.num_values
    return Rows(
        inputs=np.zeros((count, shape.inputs), dtype=np.float32),
        values=np.zeros((count, values), dtype=np.float32),
        value_mask=np.zeros((count, values), dtype=np.float32),
        policies=np.zeros((count, *shape.logits), dtype=np.float32),
        policy_mask=np.zeros((count, shape.policy_slots), dtype=np.float32),
        legal=np.zeros((count, *shape.logits), dtype=np.bool_),
        owners=np.zeros((count, shape.cells), dtype=np.float32),
        owners_mask=np.zeros((count, min(shape.cells, 1)), dtype=np.float32),
    )


def write_values(
    rows: Rows,
    k: int,
    public: PublicTree,
    node: int,
    values: tuple[Float64, Float64],
    ranges: tuple[Float64, Float64],
) -> None:
    """Both players' values, in utilities, into row k by slot and in value units.

    ranges: an infostate that meets next to none of the opponent's range is masked.
    """
    # A value is conditional on its infostate: over a mass of next to nothing it would be a quotient of roundings.
    for p, mass in enumerate(public.masses(node, *ranges)):
        at, known = public.places_of(node, p), mass > 1e-9 * mass.max()
        rows.values[k, at] = np.where(known, values[p], 0.0) / public.value_unit(node)
        rows.value_mask[k, at] = known
    take_baseline(rows, k, public, node, public.ranges_by_slot(node, ranges))


def take_baseline(rows: Rows, k: int, public: PublicTree, node: int, ranges: Float64) -> None:
    """Subtract the game's baseline, where it has one, from row k's trained values: a network learns the rest.

    ranges: float64[S0 + S1], by slot, of the belief that the network will be asked with.
    """
    if not public.game.has_baseline:
        return
    baseline = public.game.baseline([public.states[node]], ranges[None, :])
    if baseline is not None:
        rows.values[k] -= np.where(rows.value_mask[k] > 0, baseline[0], 0.0)


def write_policy(rows: Rows, k: int, public: PublicTree, node: int, policy: Float64) -> None:
    """The actor's policy float64[A, I] into row k by slot and action identity; illegal pairs have probability 0.

    Rows with more slots than a player has are a network's whose players have logits of their own.
    """
    actor, slots, pairs = public.actor(node), public.game.num_slots, public.game.legal_pairs
    # Two players' logits apart: player 1's slots follow player 0's.
    apart = rows.policy_mask.shape[1] > max(slots)
    at, actions, legal = public.slots_of(node, actor), public.actions(node), public.legal(node)
    if pairs is not None and rows.policies.shape[1] < rows.policy_mask.shape[1]:
        index = pairs.index[actor][at[:, None], actions[None, :]].T
        rows.policies[k, 0, index[legal > 0]] = policy[legal > 0]
        rows.legal[k, 0, index[legal > 0]] = True
        rows.policy_mask[k, at + slots[0] * actor] = legal.any(axis=0)
        return
    at = at + slots[0] if apart and actor == 1 else at
    rows.policies[k, at[:, None], actions[None, :]] = policy.T
    rows.legal[k, at[:, None], actions[None, :]] = legal.T
    rows.policy_mask[k, at] = legal.any(axis=0)
