"""A game compiled from its histories: public states by number, pairs that may have several histories each."""

from __future__ import annotations

from typing import Final, cast

import numpy as np

from sog.arrays import Array, Float64, Int32, Int64
from sog.games.base import NATURE, TERMINAL, Carry, Fan, Game, Links, Moves, Operator, Scaled, State
from sog.games.compiled.sparse import SparseOperator
from sog.games.compiled.tree import CompiledTree, Moments, Partition, public_tree

__all__ = ["CompiledGame"]

# A SparseOperator has this many times fewer entries than its matrix, of which kernels take several at once.
_SPARSE: Final = 8


class CompiledGame(Game):
    """A game made from its histories (Moments) and which of them share a public state (Partition).

    A subclass says what it is called and what a network sees.

    A public state is a number. A pair may have several histories: weights and payoffs are their sums. Nothing is
    shown at a terminal state, where an infostate is the last one with the last action.
    moments: the histories.  tree: their public states.  sparse: whether operators of few entries are SparseOperators,
    which neither solves of leaves with networks (sog/searches/depth_limited) nor networks of matchups take.
    """

    moments: Moments
    tree: CompiledTree
    sparse = False

    def compile(self, moments: Moments, parts: Partition) -> None:
        """Set what follows from the histories alone."""
        self.moments = moments
        self.tree = public_tree(moments, parts)
        self.u_max = float(np.abs(moments.utility).max()) or 1.0
        # A network sees no ends, so their infostates need no slots.
        live = self.tree.sizes[self.tree.actor != TERMINAL]
        self.num_slots = (int(live[:, 0].max()), int(live[:, 1].max()))
        self.perfect_information = bool((self.tree.sizes == 1).all())
        self._operators: dict[tuple[object, ...], Operator] = {}
        self._sizes: list[list[int]] = self.tree.sizes.tolist()
        self._pair = _pairs(self.tree.place, self.tree.sizes, self.tree.state)
        self._nature_pair = _pairs(self.tree.nature_place, self.tree.sizes, self.tree.nature)

    @property
    def num_entries(self) -> int:
        """Entries that would be held if every state had operators of its own, those of weights alone."""
        tree = self.tree
        pairs, few = tree.sizes.prod(axis=1), np.diff(tree.at_state.start) + np.diff(tree.at_nature.start)
        return int(np.where(self.sparse & (few * _SPARSE < pairs), few, pairs).sum())

    @property
    def num_states(self) -> int:
        """Public states, terminal ones and NATURE's included."""
        return len(self.tree.actor)

    def root(self) -> State:
        return self.tree.root

    def actor(self, s: State) -> int:
        return int(self.tree.actor[cast(int, s)])

    def num_infostates(self, s: State) -> tuple[int, int]:
        i0, i1 = self._sizes[cast(int, s)]
        return i0, i1

    def actions(self, s: State) -> Int32:
        # By identity, ascending: the order of columns everywhere.
        return np.unique(self.moments.action[self.tree.from_state.at(cast(int, s))])

    # --- edges ---

    def fan(self, s: State) -> Fan:
        state = cast(int, s)
        if self.actor(s) == NATURE:
            return self._shown_by_nature(state)
        return self._played(state, self.actor(s))

    def _played(self, s: int, actor: int) -> Fan:
        """The moves at a decision state: straight to what comes next, or to NATURE who shows it."""
        tree = self.tree
        m = tree.from_state.at(s)
        # NATURE's state if something is shown on this edge, otherwise the next decision or end.
        next_state = np.where(tree.nature[m] >= 0, tree.nature[m], tree.state[m])
        next_place = np.where(tree.nature[m, None] >= 0, tree.nature_place[m], tree.place[m])
        before, edge = tree.place[self.moments.parent[m]], tree.edge[m]
        children = np.zeros(int(edge.max()) + 1, dtype=np.int64)
        children[edge] = next_state
        actions, column = np.unique(self.moments.action[m], return_inverse=True)
        # edges[i, column]: the edge that the actor's infostate i takes with that action; -1: illegal.
        edges = np.full((tree.sizes[s, actor], len(actions)), -1, dtype=np.int32)
        edges[before[:, actor], column] = edge
        target = np.full_like(edges, -1)
        target[before[:, actor], column] = next_place[:, actor]
        # Without a target array infostates keep their index.
        same = np.array_equal(before[:, actor], next_place[:, actor])
        same = same and bool((tree.sizes[children, actor] == tree.sizes[s, actor]).all())
        # The other player's links, an edge at a time: it learns what is public and nothing else.
        other, size = 1 - actor, self._size(s, 1 - actor)
        # Sorted by edge, so that each edge's moments are one slice.
        order = np.argsort(edge, kind="stable")
        starts = np.searchsorted(edge[order], np.arange(len(children) + 1)).tolist()
        left, entered = before[order, other], next_place[order, other]
        links = [
            _links(left[first:stop], entered[first:stop], size, self._size(c, other))
            for first, stop, c in zip(starts[:-1], starts[1:], children.tolist(), strict=True)
        ]
        carry: list[tuple[Carry, Carry]] = [(None, link) if actor == 0 else (link, None) for link in links]
        return Fan(children.tolist(), Moves(edges, None if same else target), carry if any(map(any, carry)) else None)

    def _shown_by_nature(self, s: int) -> Fan:
        """One edge for each public state that chance or the infostates of both lead to."""
        tree = self.tree
        m = tree.at_nature.at(s)
        children, edge = np.unique(tree.state[m], return_inverse=True)
        carry = []
        # Both players may learn something here, so both have links.
        for e, c in enumerate(children.tolist()):
            on = m[edge == e]
            first, second = (
                _links(tree.nature_place[on, p], tree.place[on, p], self._size(s, p), self._size(c, p)) for p in (0, 1)
            )
            carry.append((first, second))
        return Fan(children.tolist(), None, carry if any(map(any, carry)) else None)

    def _size(self, s: int, p: int) -> int:
        return self._sizes[s][p]

    # --- weights and payoffs ---

    def weights(self, s: State) -> Scaled:
        # W[i, j] = sum of chance's probabilities over the histories of the pair.
        m, pair = self._pairs_of(cast(int, s))
        return self._summed(cast(int, s), pair, self.moments.chance[m])

    def payoff(self, s: State) -> Scaled:
        m, pair = self._pairs_of(cast(int, s))
        # P[i, j] = sum of chance * utility over them; all zero has W's operator with a scale of 0.
        payoff = self._summed(cast(int, s), pair, self.moments.chance[m] * self.moments.utility[m])
        return payoff if payoff.scale else Scaled(self.weights(s).operator, 0.0)

    def moments_of(self, s: int) -> tuple[Int64, Int64]:
        """int64[K], int64[K, 2]: the moments of a state, or after one of NATURE, and their infostates there."""
        if self.tree.actor[s] == NATURE:
            m = self.tree.at_nature.at(s)
            return m, self.tree.nature_place[m]
        m = self.tree.at_state.at(s)
        return m, self.tree.place[m]

    def _pairs_of(self, s: int) -> tuple[Int64, Int64]:
        """int64[K], int64[K]: `moments_of`, the infostates as one number, row by row of the matrix of pairs."""
        if self.tree.actor[s] == NATURE:
            m = self.tree.at_nature.at(s)
            return m, self._nature_pair[m]
        m = self.tree.at_state.at(s)
        return m, self._pair[m]

    def _summed(self, s: int, pair: Int64, values: Float64) -> Scaled:
        """The sums of values by pair, as an operator whose first largest entry is 1, so that many states share it."""
        i0, i1 = self._sizes[s]
        # Few entries: not written out.
        if self.sparse and len(pair) * _SPARSE < i0 * i1:
            return self._summed_by_entry((i0, i1), pair, values)
        sums = np.bincount(pair, values, i0 * i1).astype(np.float64, copy=False)
        scale = float(sums[np.abs(sums).argmax()])
        matrix = sums.reshape(i0, i1)
        # An all-zero matrix cannot be scaled to 1.
        if scale == 0.0:
            return Scaled(Operator(matrix), 0.0)
        matrix /= scale
        # States that differ in scale only share one operator.
        key = (matrix.shape[0], matrix.tobytes())
        return Scaled(self._operators.setdefault(key, Operator(matrix)), scale)

    def _summed_by_entry(self, shape: tuple[int, int], pair: Int64, values: Float64) -> Scaled:
        """`_summed` as a SparseOperator."""
        pairs, inverse = np.unique(pair, return_inverse=True)
        sums = np.bincount(inverse, values).astype(np.float64, copy=False)
        scale = float(sums[np.abs(sums).argmax()])
        if scale == 0.0:
            return Scaled(SparseOperator(shape, pairs, sums), 0.0)
        sums /= scale
        key = (shape, pairs.tobytes(), sums.tobytes())
        return Scaled(self._operators.setdefault(key, SparseOperator(shape, pairs, sums)), scale)


def _pairs(place: Int64, sizes: Int64, state: Int64) -> Int64:
    """int64[M]: a pair's number among those of its state, of which each moment may have one; 0 elsewhere."""
    numbers: Int64 = np.where(state >= 0, place[:, 0] * sizes[state, 1] + place[:, 1], 0)
    return numbers


def _links(source: Array, target: Array, before: int, after: int) -> Carry:
    """The different links, or None where every infostate keeps its index."""
    if before == after == 1:
        return None
    # One number a link; strictly ascending already where a state's moments are sorted.
    pairs = source * after + target
    if not (pairs[1:] > pairs[:-1]).all():
        pairs = np.unique(pairs)
    # The identity: pairs (i, i) of all infostates, as i * (after + 1).
    if before == after == len(pairs) and (pairs == np.arange(before) * (after + 1)).all():
        return None
    first, second = np.divmod(pairs, after)
    return Links(first.astype(np.int32), second.astype(np.int32))
