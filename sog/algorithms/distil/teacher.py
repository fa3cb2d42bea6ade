"""What a history critic and a policy say of beliefs at public states, as an evaluator; it learns nothing.

A pair of infostates of a public state is one history as far as what follows is concerned, so that a critic of
histories gives a matrix of what player 0 wins in each pair, and a belief makes values of it. Where chance acts, the
matrix is that of the public states after it, added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sog.algorithms.sepot.search import Critic
from sog.arrays import Array, Float32, Float64
from sog.errors import GameError, SettingError
from sog.games.base import NATURE, TERMINAL, Carry
from sog.games.histories.base import HistoryGame, replay
from sog.lru import LruCache
from sog.searches.cfr import exact
from sog.searches.leaves.evaluator import Beliefs, Evaluations, zero_answer
from sog.searches.tree.histories import history_of, padded
from sog.searches.tree.public_tree import PublicTree

__all__ = ["VALUES", "CriticTeacher"]

# What an infostate is worth: under the policy itself, or where each player plays on by the best transformation.
IDENTITY, CHOICE = "identity", "choice"
VALUES: Final = (IDENTITY, CHOICE)

_NEVER: Final = 1e-9  # of a probability, so that its logarithm is a number
_MOST_BYTES: Final = 2 * 10**9  # of tables that are kept; those not used for longest are made again when needed


class CriticTeacher:
    """An `Evaluator` of a listed game: values from a history critic, policies from the policy that the critic values.

    With values "identity" both players play on by the policy. With "choice" each player plays on by the transformation
    that is best for its infostate at this belief against the policy itself, and what the two gain is added up: exact
    in each player's transformation alone, and to first order in both. The critic need not know pairs.
    """

    def __init__(
        self, public: PublicTree, game: HistoryGame, critic: Critic, policy: exact.Policy, values: str = IDENTITY
    ) -> None:
        """public: the listed tree of the same game.  policy: float64[A, I] at each of its decisions.

        SettingError for unknown values.
        """
        if values not in VALUES:
            raise SettingError(f"no values are called {values}; known: {', '.join(VALUES)}")
        self.public, self.game, self.critic, self.policy, self.kind = public, game, critic, policy, values
        self._tables: LruCache[int, tuple[Float32, Float32]] = LruCache(_MOST_BYTES, _bytes)

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        return [self._answer(beliefs) for beliefs in requests]

    def values(self, node: int, ranges: tuple[Float64, Float64]) -> tuple[Float64, Float64]:
        """float64[I0], float64[I1]: what each infostate is worth to its player, in utilities; 0 where it meets nobody.

        node: one where a player or chance acts.  ranges: float64[I0], float64[I1].
        """
        zero, one = self.tables(node)
        r0, r1 = (r.astype(np.float32) for r in ranges)
        # cfv0[i] = sum over j of W u r1, cfv1[j] = -(sum over i of W u r0).
        wins = zero[0] @ r1, -(r0 @ zero[0])
        if self.kind == CHOICE:
            # What each transformation gains each infostate against the other's policy itself; the best one is chosen.
            own0, own1 = (zero - zero[0]) @ r1, -(r0 @ (one - one[0]))
            best0, best1 = own0.argmax(axis=0), own1.argmax(axis=0)
            # By pair: what player 0's choice changes in player 0's utility, and what player 1's does.
            gain0 = np.take_along_axis(zero, best0[None, :, None], axis=0)[0] - zero[0]
            gain1 = np.take_along_axis(one, best1[None, None, :], axis=0)[0] - one[0]
            wins = wins[0] + (gain0 + gain1) @ r1, wins[1] - r0 @ (gain0 + gain1)
        return self.public.conditional(node, (wins[0].astype(np.float64), wins[1].astype(np.float64)), ranges)

    def tables(self, node: int) -> tuple[Float32, Float32]:
        """float32[F, I0, I1] twice: W x player 0's utility by player 0's transformations, and by player 1's.

        With values "identity" F is 1.
        """
        if node not in self._tables:
            self._tables[node] = self._dealt(node) if self.public.actor(node) == NATURE else self._valued(node)
        return self._tables[node]

    def _valued(self, node: int) -> tuple[Float32, Float32]:
        """The tables where a player acts, or where the game is over."""
        public, s = self.public, self.public.states[node]
        if public.actor(node) == TERMINAL:
            over = public.game.payoff(s).dense().astype(np.float32)[None]
            return over, over
        w = public.game.weights(s).dense()
        # Pairs that chance never deals have no history.
        i0, i1 = np.nonzero(w > 0)
        states = replay(self.game, self._histories(node, i0, i1))
        zero = self._of(states, w, i0, i1, 0)
        return zero, self._of(states, w, i0, i1, 1) if self.kind == CHOICE else zero

    def _of(self, states: Array, w: Float64, i0: Array, i1: Array, chooser: int) -> Float32:
        """float32[F, I0, I1] of one player's transformations."""
        critic_values = self.critic.values(states, chooser)
        count = critic_values.shape[1] if self.kind == CHOICE else 1
        out = np.zeros((count, *w.shape), dtype=np.float32)
        out[:, i0, i1] = (w[i0, i1][:, None] * critic_values[:, :count]).T
        return out

    def _histories(self, node: int, i0: Array, i1: Array) -> Array:
        """int16[H, T]: a history of each pair, padded with -1; GameError where the game gives none."""
        pairs = zip(i0.tolist(), i1.tolist(), strict=True)
        return padded([history_of(self.public, node, a, b) for a, b in pairs], self.game.longest)

    def _dealt(self, node: int) -> tuple[Float32, Float32]:
        """The tables where chance acts: W holds its probabilities, so those of the children are added up."""
        fan, shape = self.public.game.fan(self.public.states[node]), self.public.num_infostates(node)
        children = self.public.children(node)
        below = [self.tables(child) for child in children]
        zero, one = (np.zeros((max(len(x[p]) for x in below), *shape), dtype=np.float32) for p in (0, 1))
        for e, (child, tables) in enumerate(zip(children, below, strict=True)):
            carry = (None, None) if fan.carry is None else fan.carry[e]
            goes = [_goes(carry[p], shape[p], self.public.num_infostates(child)[p]) for p in (0, 1)]
            # cfv of a parent's pair is the sum over outcomes of the child's at the pair it becomes.
            zero += goes[0] @ tables[0] @ goes[1].T
            if self.kind == CHOICE:
                one += goes[0] @ tables[1] @ goes[1].T
        return zero, one if self.kind == CHOICE else zero

    def _answer(self, beliefs: Beliefs) -> Evaluations:
        if beliefs.public is not self.public:
            raise GameError("a critic's teacher answers beliefs of its own tree")
        out, public = zero_answer(beliefs), self.public
        for b, node in enumerate(beliefs.nodes.tolist()):
            node_values = self.values(node, public.ranges_of_slots(node, beliefs.ranges[b]))
            for p in (0, 1):
                out.values[b, public.places_of(node, p)] = node_values[p]
            if public.actor(node) < NATURE:
                at, actions = public.slots_of(node, public.actor(node)), public.actions(node)
                out.logits[b, at[:, None], actions[None, :]] = np.log(np.maximum(self.policy[node].T, _NEVER))
        return out


def _bytes(tables: tuple[Float32, Float32]) -> int:
    """The bytes of two tables, which may be one."""
    return tables[0].nbytes + (tables[1].nbytes if tables[1] is not tables[0] else 0)


def _goes(carry: Carry, count: int, later: int) -> Float32:
    """float32[I, J]: 1 where a parent's infostate becomes a child's."""
    if carry is None:
        return np.eye(count, later, dtype=np.float32)
    out = np.zeros((count, later), dtype=np.float32)
    out[carry.source, carry.target] = 1.0
    return out
