"""The network's input for a belief: public features, then both ranges by slot.

A range is multiplied by its number of slots, so that a uniform range is 1 everywhere whatever the game.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sog.arrays import Float32
from sog.nets.cpu import dense
from sog.searches.leaves.evaluator import Beliefs, Wanted
from sog.searches.leaves.pairing import pairing_of, posteriors


def input_width(features: int, slots: tuple[int, int], crossed: tuple[int, ...] = (), matchups: bool = False) -> int:
    """D, the length of an encoded belief."""
    return features + sum(slots) * (1 + len(crossed)) + (2 * slots[0] * slots[1] if matchups else 0)


def encode(beliefs: Beliefs, crossed: tuple[int, ...] = (), matchups: bool = False) -> Float32:
    """float32[B, D]: features [F] | scaled ranges [S0 + S1] | for each crossed feature, the ranges times it.

    crossed: columns of the features, such as a one-hot board card, that decide what a range means
    (PoG, table 2, lists features and ranges; the products are ours).
    matchups: then comes what each infostate believes of the opponent's [2, S0, S1] (leaves/pairing.py).
    """
    game, public = beliefs.public.game, beliefs.public
    width = input_width(game.num_features, game.num_slots, crossed, matchups)
    x = np.empty((len(beliefs.nodes), width), dtype=np.float32)
    # The kernel scales ranges by their slots and multiplies them by the crossed features.
    columns = np.array(crossed, dtype=np.int64)
    dense.encode(public.features(beliefs.nodes), beliefs.ranges, game.num_slots[0], columns, x)
    if matchups:
        pairing, (slots0, slots1) = pairing_of(public), game.num_slots
        for row, node, ranges in zip(x, beliefs.nodes, beliefs.ranges, strict=True):
            out = row[width - 2 * slots0 * slots1 :].reshape(2, slots0, slots1)
            posteriors(pairing, node, ranges, slots0, out)
    return x


def join(requests: Sequence[Beliefs]) -> list[tuple[Beliefs, list[int]]]:
    """The requests joined: one for each public tree and each part that is wanted, with the numbers of its requests."""
    alike: dict[tuple[int, Wanted], list[int]] = {}
    for k, beliefs in enumerate(requests):
        alike.setdefault((id(beliefs.public), beliefs.wanted), []).append(k)
    out = []
    for numbers in alike.values():
        # A request alone is passed on as it is, without a copy.
        first = requests[numbers[0]]
        if len(numbers) > 1:
            nodes = np.concatenate([requests[k].nodes for k in numbers])
            ranges = np.concatenate([requests[k].ranges for k in numbers])
            first = first._replace(nodes=nodes, ranges=ranges)
        out.append((first, numbers))
    return out
