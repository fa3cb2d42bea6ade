"""How many simulations a move of self-play gets: playout caps (KataGo, section 3.1) and budgets that grow over a run.

A share of the moves is searched in full and gives policy targets; the others are searched cheaply, to play the game on,
and give values only. Schedules count rounds, never seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sog.errors import SettingError

__all__ = ["PlayoutCaps"]


@dataclass(frozen=True)
class PlayoutCaps:
    """How many simulations a move gets.

    simulations: those of a move that is searched in full.  cheap: simulations of each other move.
    share: the share of moves that are searched in full.
    begin_share: the share of `simulations` and `cheap` with which a run begins.
    growing_rounds: rounds over which that share grows evenly to 1 (MiniZero's progressive simulation).
    """

    simulations: int
    cheap: int = 16
    share: float = 1.0
    begin_share: float = 1.0
    growing_rounds: int = 0

    def __post_init__(self) -> None:
        if min(self.simulations, self.cheap) < 1:
            raise SettingError(f"a move takes at least one simulation, not {self.simulations} and {self.cheap}")
        if not (0.0 < self.share <= 1.0 and 0.0 < self.begin_share <= 1.0):
            raise SettingError(f"playout caps are shares above 0 and up to 1, not {self.share} and {self.begin_share}")

    def is_full(self, rng: np.random.Generator) -> bool:
        """Whether the next move is searched in full, drawn with the share's chance."""
        return bool(rng.random() < self.share)

    def of_move(self, full: bool, number: int) -> int:
        """Simulations of a move in round `number`, from 0."""
        # From begin_share to 1 in a straight line over growing_rounds.
        if number >= self.growing_rounds:
            grown = 1.0
        else:
            grown = self.begin_share + (1.0 - self.begin_share) * number / self.growing_rounds
        return max(1, round(grown * (self.simulations if full else self.cheap)))
