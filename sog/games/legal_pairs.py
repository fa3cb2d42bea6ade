"""Which (infostate's slot, action) pairs can ever be legal, where a game says so: a network's policy head has these."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sog.arrays import Bool, Int32
from sog.errors import GameError

__all__ = ["LegalPairs"]


@dataclass(frozen=True, eq=False)
class LegalPairs:
    """The P pairs of both players, in ascending order of player, slot and action.

    player, slot, action: int32[P].  slots: the game's slots of players 0 and 1.  actions: how many identities it has.
    """

    player: Int32
    slot: Int32
    action: Int32
    slots: tuple[int, int]
    actions: int

    @staticmethod
    def of(legal: tuple[Bool, Bool]) -> LegalPairs:
        """From bool[S0, A] and bool[S1, A]; GameError where they have other numbers of actions."""
        if legal[0].shape[1] != legal[1].shape[1]:
            raise GameError("legal pairs are a table of the same actions for each player")
        entries = [np.nonzero(table) for table in legal]
        player = np.repeat(np.arange(2), [len(slot) for slot, _ in entries])
        slot, action = (np.concatenate([pairs[k] for pairs in entries]).astype(np.int32) for k in (0, 1))
        slots = len(legal[0]), len(legal[1])
        return LegalPairs(player.astype(np.int32), slot, action, slots, legal[0].shape[1])

    def __len__(self) -> int:
        return len(self.slot)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many pairs each slot has, player 0's slots first [S0 + S1]."""
        place = self.slot + self.slots[0] * self.player
        return tuple(np.bincount(place, minlength=sum(self.slots)).tolist())

    @cached_property
    def index(self) -> Int32:
        """int32[2, max(S0, S1), A]: the number of the pair (player, slot, action); -1 where it is never legal."""
        out: Int32 = np.full((2, max(self.slots), self.actions), -1, dtype=np.int32)
        out[self.player, self.slot, self.action] = np.arange(len(self))
        return out
