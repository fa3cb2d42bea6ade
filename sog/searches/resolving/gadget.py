"""The re-solving gadget: the opponent's choice, at every infostate, to follow into the subgame or to leave.

CFR-D, "Safe subgame re-solving"; SoG, "Modified continual re-solving"; PoG, B.1.1.
"""

from __future__ import annotations

import numpy as np

from sog.arrays import Bool, Float64
from sog.searches.cfr.iterate import Choice


class Gadget:
    """Regrets of Follow and Terminate for each of the opponent's infostates at a lookahead's root.

    opponent: whose choice it is.  leave: float64[I], the counterfactual values that Terminate pays.
    previous: float64[I] with maximum 1, the opponent's range in the search before.
    alpha: the subgame's opponent range is alpha * (probability of Follow) + (1 - alpha) * previous.
    possible: bool[I], where False the infostate never follows, such as one that holds a card on the board.
    """

    def __init__(
        self, opponent: int, leave: Float64, previous: Float64, alpha: float, possible: Bool | None = None
    ) -> None:
        self.opponent, self.leave, self.previous, self.alpha = opponent, leave, previous, alpha
        # Regret 0 for both choices: half of each infostate follows at first.
        self.regret = np.zeros((2, len(leave)))
        self.follow = np.full(len(leave), 0.5) if possible is None else np.where(possible, 0.5, 0.0)

    @property
    def choice(self) -> Choice:
        """The gadget's arrays, as kernels take them."""
        leave, previous = (np.array(x, dtype=np.float64) for x in (self.leave, self.previous))
        return Choice(self.opponent, float(self.alpha), self.regret, self.follow, leave, previous)
