"""Training rows seen another way by a game's symmetries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sog.games.symmetries import Symmetry
from sog.training.rows import Rows

__all__ = ["turned"]


def turned(rows: Rows, symmetries: Sequence[Symmetry], rng: np.random.Generator) -> Rows:
    """Each row's image by a symmetry drawn uniformly, one infostate a player; the rows themselves where none is named.

    Values and masks are the row's own.
    """
    if not symmetries:
        return rows
    cells = rows.owners.shape[1]
    drawn = rng.integers(len(symmetries), size=len(rows))
    inputs, policies, legal, owners = rows.inputs.copy(), rows.policies.copy(), rows.legal.copy(), rows.owners.copy()
    for number, symmetry in enumerate(symmetries):
        k = np.flatnonzero(drawn == number)
        # Features, actions and legality move together: image[x] = row[symmetry[x]]. What follows the features, the
        # ranges, is one number a player.
        inputs[k, : len(symmetry.features)] = rows.inputs[k][:, symmetry.features]
        policies[k] = rows.policies[k][:, :, symmetry.actions]
        legal[k] = rows.legal[k][:, :, symmetry.actions]
        owners[k] = rows.owners[k][:, symmetry.features[:cells]]  # as the first plane's cells
    return replace(rows, inputs=inputs, policies=policies, legal=legal, owners=owners)
