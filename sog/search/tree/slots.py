"""Between infostates and network slots, and masses of infostates, at nodes of a public tree."""

from __future__ import annotations

import numpy as np

from sog.arrays import Float64, Int32
from sog.search.tree import columns as f
from sog.search.tree.public_tree import PublicTree


def node_mass(public: PublicTree, s: int, r0: Float64, r1: Float64) -> tuple[Float64, Float64]:
    """float64[I0], float64[I1]: each infostate's weight at public node s against the opponent's range."""
    return public.masses(s, r0, r1)


def legal_actions(public: PublicTree, node: int) -> Float64:
    """float64[A, I]: 1 where the actor's infostate may take the action of a listed decision node."""
    return public.legal(node)


def slots_of(public: PublicTree, node: int, p: int) -> Int32:
    """int32[I]: the network slot of each of player p's infostates at the node."""
    return public.slots_of(node, p)


def ranges_of_slots(public: PublicTree, node: int, ranges: Float64) -> tuple[Float64, Float64]:
    """Both players' ranges by infostate from ranges by slot."""
    first = public.game.num_slots[0]
    return ranges[slots_of(public, node, 0)].copy(), ranges[first + slots_of(public, node, 1)].copy()


def ranges_by_slot(public: PublicTree, node: int, ranges: tuple[Float64, Float64]) -> Float64:
    """float64[S0 + S1]: ranges by slot, each player's summing to 1, from ranges by infostate."""
    first = public.game.num_slots[0]
    out = np.zeros(sum(public.game.num_slots))
    for p in (0, 1):
        total = ranges[p].sum()
        share = ranges[p] / total if total > 0 else 1.0 / len(ranges[p])
        out[slots_of(public, node, p) + (first if p else 0)] = share
    return out


def unit_of(public: PublicTree, node: int) -> float:
    """The node's value unit, in utilities."""
    return float(public.scales[node, f.VALUE_UNIT])
