"""Liar's Dice for two players, d dice of f faces each, the highest face wild (ReBeL, appendix C.3)."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Final, TypeAlias, cast

import numpy as np

from sog.arrays import Array, Float32, Float64, Int32
from sog.errors import GameError
from sog.games.base import TERMINAL, Fan, Game, Operator, Scaled, State, plain_moves
from sog.memory import gigabytes

Bids: TypeAlias = tuple[int, ...]

MAX_ROLLS: Final = 1000  # every bid keeps a matrix of rolls x rolls
MAX_BYTES: Final = 2e9  # of all those matrices


class LiarsDice(Game):
    """Liar's Dice on the rules and action numbers of OpenSpiel's `liars_dice`.

    A public state is the tuple of actions so far. Action (q - 1) * f + (k - 1) bids "at least q dice
    show face k or the wild face f"; the last action calls the opponent a liar. An infostate is a roll
    without its order, as in OpenSpiel, so W_s holds multinomial counts over f**(2d) ordered rolls.
    """

    def __init__(self, num_dice: int, num_faces: int) -> None:
        """Rules with `num_dice` dice a player and `num_faces` faces a die.

        Raises GameError where either is below 1, a player has more than 1,000 rolls, or the matrices need over 2 GB.
        """
        if num_dice < 1 or num_faces < 1:
            raise GameError(f"liars_dice needs numdice >= 1 and dice_sides >= 1, not {num_dice} and {num_faces}")
        if comb(num_dice + num_faces - 1, num_dice) > MAX_ROLLS:
            raise GameError(
                f"liars_dice with numdice={num_dice} and dice_sides={num_faces} has more than "
                f"{MAX_ROLLS} rolls a player"
            )
        matrices = 8.0 * (2 * num_dice * num_faces + 1) * comb(num_dice + num_faces - 1, num_dice) ** 2
        if matrices > MAX_BYTES:
            raise GameError(
                f"liars_dice with numdice={num_dice} and dice_sides={num_faces} would need {gigabytes(matrices)} for "
                f"its matrices of pairs of rolls, the limit is {gigabytes(MAX_BYTES)}"
            )
        self.name = f"liars_dice(numdice={num_dice},dice_sides={num_faces})"
        self.num_dice = num_dice
        self.num_faces = num_faces
        self.num_bids = 2 * num_dice * num_faces
        self.rolls = list(combinations_with_replacement(range(1, num_faces + 1), num_dice))
        self.u_max = 1.0
        self.num_actions = self.num_bids + 1
        self.num_slots = (len(self.rolls), len(self.rolls))
        self.num_features = self.num_bids + 2
        chance = np.array([_arrangements(roll) for roll in self.rolls]) / num_faces**num_dice
        self._deal = Operator(np.outer(chance, chance))
        self._bidder_wins = [Operator(self._win_matrix(bid)) for bid in range(self.num_bids)]

    def _win_matrix(self, bid: int) -> Float64:
        """float64[I, I]: W_root times +1 where the bid holds and -1 where it does not."""
        quantity, face = self.quantity_and_face(bid)
        showing = np.array([sum(die in (face, self.num_faces) for die in roll) for roll in self.rolls])
        holds: Array = showing[:, None] + showing[None, :] >= quantity
        return self._deal.matrix * np.where(holds, 1.0, -1.0)

    def quantity_and_face(self, bid: int) -> tuple[int, int]:
        """How many dice the bid claims, and the face 1..f that it names."""
        return bid // self.num_faces + 1, bid % self.num_faces + 1

    def root(self) -> State:
        return ()

    def actor(self, s: State) -> int:
        line = cast(Bids, s)
        return TERMINAL if line and line[-1] == self.num_bids else len(line) % 2

    def num_infostates(self, s: State) -> tuple[int, int]:
        return self.num_slots

    def actions(self, s: State) -> Int32:
        line = cast(Bids, s)
        if not line:
            return np.arange(self.num_bids, dtype=np.int32)  # there is no bid to call yet
        return np.arange(line[-1] + 1, self.num_actions, dtype=np.int32)

    def fan(self, s: State) -> Fan:
        line = cast(Bids, s)
        actions = self.actions(s).tolist()
        return Fan([(*line, action) for action in actions], plain_moves(len(self.rolls), len(actions)))

    def weights(self, s: State) -> Scaled:
        return Scaled(self._deal)

    def payoff(self, s: State) -> Scaled:
        line = cast(Bids, s)
        bidder = (len(line) - 2) % 2
        return Scaled(self._bidder_wins[line[-2]], 1.0 if bidder == 0 else -1.0)

    def features(self, s: State) -> Float32:
        """float32[2df + 2]: the standing bid and the player to act, each one-hot.

        Earlier bids are left out: the standing bid and the actor determine the rest of the game.
        """
        bids = [action for action in cast(Bids, s) if action < self.num_bids]
        x = np.zeros(self.num_features, dtype=np.float32)
        if bids:
            x[bids[-1]] = 1.0
        actor = self.actor(s)
        if actor != TERMINAL:
            x[self.num_bids + actor] = 1.0
        return x

    def state_name(self, s: State) -> str:
        return " ".join(self.action_name(s, action) for action in cast(Bids, s)) or "start"

    def action_name(self, s: State, action: int) -> str:
        if action == self.num_bids:
            return "liar"
        quantity, face = self.quantity_and_face(action)
        return f"{quantity}x{face}"

    def infostate_name(self, s: State, p: int, i: int) -> str:
        return "".join(map(str, self.rolls[i])) if self.num_faces < 10 else ",".join(map(str, self.rolls[i]))

    def history(self, s: State, i0: int, i1: int) -> list[int]:
        return [die - 1 for die in (*self.rolls[i0], *self.rolls[i1])] + list(cast(Bids, s))


def _arrangements(roll: tuple[int, ...]) -> int:
    """In how many orders dice can show this roll."""
    return factorial(len(roll)) // prod(factorial(roll.count(face)) for face in set(roll))
