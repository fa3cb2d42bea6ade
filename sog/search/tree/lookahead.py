"""Lookahead: the part of the public tree that one search works on (the papers' script L) and its numbers.

It owns and grows the arrays that the kernels sweep; it knows no rules and chooses nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sog.arrays import Array, Float64, Int32, Int64
from sog.errors import GameError
from sog.search.cfr import matching
from sog.search.cfr import sweeps as kernels
from sog.search.cfr.rules import Rule
from sog.search.tree import columns as f
from sog.search.tree import growth, pairs
from sog.search.tree.public_tree import PublicTree, grown


class Lookahead:
    """A growing tree of public states with regrets, policies, ranges and counterfactual values.

    nodes: int32[M, NODE_FIELDS].  child: int32[*], the children of node n at CHILD0 + edge, -1 if absent.
    slots: float64[SLOT_ROWS, S], a column per (node, player, infostate): ranges and values.
    entries: float64[ENTRY_ROWS, V], a column per (node, action, infostate): regrets and policies.
    ends: int32[*], the terminal nodes.  counts: how much of each array is in use.
    """

    def __init__(self, public: PublicTree, root: int, ranges: tuple[Float64, Float64], room: int = 64) -> None:
        """A tree of one leaf, the public node `root`, where the players hold `ranges` float64[I0], float64[I1]."""
        self.public = public
        width = int(public.nodes[root, f.I0]) + int(public.nodes[root, f.I1])
        self.nodes: Int32 = np.zeros((room, f.NODE_FIELDS), dtype=np.int32)
        self.child: Int32 = np.zeros((3, room), dtype=np.int32)
        self.slots: Float64 = np.zeros((f.SLOT_ROWS, room * width))
        self.entries: Float64 = np.zeros((f.ENTRY_ROWS, 3 * room * width))
        self.ends: Int32 = np.zeros(room, dtype=np.int32)
        self.counts: Int64 = np.zeros(5, dtype=np.int64)
        self.iterations = 0
        growth.add_node(public.nodes, root, -1, 0, self.nodes, self.counts, self.ends)
        self.set_root_ranges(ranges)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(self.counts[growth.NODES])

    @property
    def game(self) -> tuple[Any, ...]:
        """(edges, rows, links) of the public tree, as the kernels take them."""
        return self.public.edges, self.public.rows, self.public.links

    @property
    def arrays(self) -> tuple[Any, ...]:
        """(nodes, child, slots, entries, counts), as the kernels of phases.py take them."""
        return self.nodes, self.child, self.slots, self.entries, self.counts

    @property
    def tree(self) -> tuple[Any, ...]:
        """(nodes, count, child, slots, entries), as the kernels take them."""
        return self.nodes, self.size, self.child, self.slots, self.entries

    def set_root_ranges(self, ranges: tuple[Float64, Float64]) -> None:
        """Put both players' ranges at node 0."""
        for p in (0, 1):
            self.slots[f.REACH, self.span(0, p)] = ranges[p]

    @property
    def root_ranges(self) -> tuple[Float64, Float64]:
        """Copies of both players' ranges at node 0."""
        return self.slots[f.REACH, self.span(0, 0)].copy(), self.slots[f.REACH, self.span(0, 1)].copy()

    def restart(self, ranges: tuple[Float64, Float64]) -> None:
        """Forget everything but the tree itself, and begin again from these ranges."""
        self.entries[:], self.slots[:], self.iterations = 0.0, 0.0, 0
        self.set_root_ranges(ranges)
        self.normalise(f.REGRET, f.POLICY)

    def span(self, n: int, p: int) -> slice:
        """Where player p's infostates of node n lie along the slots."""
        start = int(self.nodes[n, f.OFF0 + p])
        return slice(start, start + int(self.nodes[n, f.N_I0 + p]))

    def block(self, n: int) -> slice:
        """Where the (action, infostate) entries of decision node n lie, action by action."""
        start, actor = int(self.nodes[n, f.VAR0]), int(self.nodes[n, f.N_ACTOR])
        return slice(start, start + int(self.nodes[n, f.N_ROWS] * self.nodes[n, f.N_I0 + actor]))

    def table(self, n: int, row: int) -> Float64:
        """float64[A, I]: a view of one row of entries at decision node n."""
        return self.entries[row, self.block(n)].reshape(int(self.nodes[n, f.N_ROWS]), -1)

    def expand(self, n: int, only: int = -1) -> None:
        """Make the leaf n interior by adding all its children, or one more child over edge `only`.

        Raises GameError at a chance event too large to list.
        """
        while True:
            code = growth.expand(
                self.public.nodes, self.public.edges, self.nodes, self.counts, self.child,
                self.slots.shape[1], self.entries.shape[1], self.ends, n, only,
            )  # fmt: skip
            if code == growth.DONE:
                break
            if code == growth.NO_ROOM:
                self.make_room()
            elif not self.list_children(n, only):
                raise GameError(f"{self.public.game.name} has a chance event too large to list")
        if self.nodes[n, f.N_ACTOR] < 2:
            matching.match_regrets(
                self.public.rows, self.public.links, self.nodes, self.child, self.entries, n, f.REGRET, f.POLICY
            )

    def list_children(self, n: int, only: int = -1) -> bool:
        """Have the public tree list the children of node n; False where its fan is too large to list."""
        s = int(self.nodes[n, f.PUBLIC])
        if not self.public.list_fan(s):
            return False
        for e in range(int(self.public.nodes[s, f.EDGES])) if only < 0 else (only,):
            self.public.child(s, e)
        return True

    def name_new(self, awaited: Int32, count: int) -> None:
        """List the positions of the newest `count` nodes, which were added without them, and tell the nodes.

        awaited: int32[2, *], the public node above and the edge of each; afterwards awaited[0] holds their own.
        """
        public, counts = self.public, self.counts
        entries, ends = counts.item(growth.ENTRIES), counts.item(growth.ENDS)
        for k in range(count):
            awaited[0, k] = public.child(awaited.item(0, k), awaited.item(1, k))
        while entries + count * public.widest_fan > self.entries.shape[1] or ends + count > len(self.ends):
            self.make_room()
        growth.name_all(public.nodes, self.nodes, counts, self.ends, awaited, count)

    def make_room(self) -> None:
        """Double every array."""
        self.nodes = grown(self.nodes, 2 * len(self.nodes), axis=0)
        self.child = grown(self.child, 2 * self.child.shape[1], axis=1)
        self.ends = grown(self.ends, 2 * len(self.ends), axis=0)
        self.slots = grown(self.slots, 2 * self.slots.shape[1], axis=1)
        self.entries = grown(self.entries, 2 * self.entries.shape[1], axis=1)

    def expand_all(self) -> Lookahead:
        """Add every public state below; the public tree must be able to list them. Returns itself."""
        n = 0
        while n < self.size:
            if self.nodes[n, f.KIND] == f.LEAF:
                self.expand(n)
            n += 1
        return self

    def forward(self, which: int = f.POLICY, players: int = 3) -> None:
        """Send the ranges down through the policies in row `which`."""
        kernels.forward(*self.game, *self.tree, which, players)

    def payoffs(self) -> None:
        """Both players' values at the terminal nodes."""
        public = self.public
        pairs.payoffs(
            public.operators, public.operator_values, public.nodes, public.scales,
            self.nodes, self.ends, int(self.counts[growth.ENDS]), self.slots, 3,
        )  # fmt: skip

    def backward(self, step: Float64, updates: int = 3, track: bool = True) -> None:
        """Send both players' values up and update the regrets of the players in the bit mask `updates`."""
        kernels.backward(*self.game, *self.tree, 3, updates, step, track)
        self.iterations += 1

    def iterate(self, rule: Rule, count: int) -> None:
        """`count` more iterations of a rule on a tree without leaves."""
        public = self.public
        kernels.iterate(
            *self.game, *self.tree,
            public.operators, public.operator_values, public.nodes, public.scales,
            self.ends[: self.counts[growth.ENDS]], rule.steps(self.iterations + 1, count), rule.alternating,
        )  # fmt: skip
        self.iterations += count

    def average_policy(self) -> None:
        """Put the normalised average policies in the FIXED row."""
        self.normalise(f.AVERAGE, f.FIXED)

    def normalise(self, source: int, target: int) -> None:
        """Normalise the positive part of one row of entries into policies in another, node by node."""
        matching.match_all(
            self.public.rows, self.public.links, self.nodes, self.size, self.child, self.entries, source, target
        )

    def evaluate(self, which: int = f.FIXED, best: int = 0) -> tuple[Array, Array]:
        """Root values float64[I0], float64[I1] of the policies in row `which`; `best`: bit mask of best responders."""
        self.forward(which)
        self.payoffs()
        kernels.evaluate(*self.game, *self.tree, which, best)
        return self.slots[f.CFV, self.span(0, 0)].copy(), self.slots[f.CFV, self.span(0, 1)].copy()
