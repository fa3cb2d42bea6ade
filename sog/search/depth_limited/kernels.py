"""Numba kernels of depth-limited solving: what lies between two questions about the leaves of many subgames.

They know arrays only (see columns.py). A turn is a bit mask of the players who update in it; 3 is both.
"""

from __future__ import annotations

from sog.arrays import Array
from sog.search.cfr import fictitious
from sog.search.cfr import sweeps as kernels
from sog.search.depth_limited import interleaved_leaves as lane_leaves
from sog.search.depth_limited.leaves import PLAIN, absorb, collect, opponents, sum_reaches, weigh
from sog.search.depth_limited.planting import FIRST_END, FIRST_LEAF, FIRST_NODE
from sog.search.leaves.kernels import U
from sog.search.simd.jit import Kernel, inlined, njit
from sog.search.tree import columns as f
from sog.search.tree import pairs
from sog.search.tree.growth import ENDS, NODES

# Subgames, or bundles of them, go through a sweep so many at a time: few enough for the cache, and enough that the next
# sweep does not read at once what the last one has just written.
AT_ONCE, BUNDLES_AT_ONCE = 16, 2


@inlined
def turn_of(j: int, together: bool) -> int:
    """The players who update in turn j."""
    return 3 if together else 1 + (j & 1)


@inlined
def iteration_of(j: int, together: bool) -> int:
    """The iteration, from 0, that turn j belongs to."""
    return j if together else j >> 1


@inlined
def _sum_root(nodes: Array, slots: Array, root: int, turn: int, weight: float) -> None:
    """Add the players' weighted values at a root to CFV_SUM."""
    for p in range(2):
        if (turn >> p) & 1:
            off = U(nodes[root, f.OFF0 + p])
            for i in range(U(nodes[root, f.N_I0 + p])):
                slots[f.CFV_SUM, off + i] += weight * slots[f.CFV, off + i]


def _advancing(interleaved: bool) -> Kernel:
    """`advance` for subgames that lie one behind the other, or for interleaved ones."""

    @njit
    def advance(
        public: Array, scales: Array, operators: Array, values: Array, public_slots: Array,
        edges: Array, rows: Array, links: Array, nodes: Array, child: Array, slots: Array, entries: Array,
        lanes: Array, blocks: Array, leaves: Array, ends: Array, steps: Array, together: bool, origin: int,
        first: int, last: int, average: bool, kind: int, correct: bool, kept: int, once: bool, users: int, changed: int,
        prune: bool, straight: bool, slots0: int, asked: Array, found: int, answers: Array, asking: Array,
        ranges: Array, tables: Array, mass: Array,
    ) -> int:  # fmt: skip
        """End turn `first` with its answers, play the turns between without asking, begin turn `last`; how many ask.

        Turns before `origin` are not played, and there is none as `last` where all are over.  blocks: int32[K + 1, 3],
        where each subgame starts (planting.py), or each bundle; interleaved subgames have `lanes`, and other `leaves`,
        `tables` and `mass` (interleaved.py, lane_leaves.py).  together: both players update in each turn.
        average: beliefs are those of the average policies, otherwise of today's.
        kept: the players whose answers are kept.  once: answers serve turn `first` alone (PLAIN).
        users: who will need the answers; 0: nobody asks.
        changed, prune, straight: of `collect`.
        """
        row = f.REACH_SUM if average else f.REACH
        at_once = BUNDLES_AT_ONCE if interleaved else AT_ONCE
        used, count = 0, 0
        for k in range(0, len(blocks) - 1, at_once):
            after = min(k + at_once, len(blocks) - 1)
            start, stop = blocks[k, FIRST_NODE], blocks[after, FIRST_NODE]
            leaf, leaves_end = blocks[k, FIRST_LEAF], blocks[after, FIRST_LEAF]
            these, ended = nodes[start:stop], ends[blocks[k, FIRST_END] : blocks[after, FIRST_END]]
            while not (once and interleaved) and used < found and asked[0, used] < leaves_end:
                if interleaved:
                    used += lane_leaves.absorb(
                        public, nodes, slots, lanes, leaves, asked, used, found, answers, tables, kind, kept, slots0,
                        mass,
                    )  # fmt: skip
                else:
                    absorb(
                        public, public_slots, nodes, slots, leaves, asked, used, answers, tables, kind, kept, straight,
                        slots0,
                    )  # fmt: skip
                    used += 1
            j = first
            while j < last:
                if j >= origin:
                    turn, step = turn_of(j, together), steps[iteration_of(j, together)]
                    if interleaved and once:
                        used = lane_leaves.weigh_answers(
                            public, scales, operators, values, nodes, slots, lanes, leaves, leaf, leaves_end, turn,
                            correct, asked, used, found, answers, slots0, mass,
                        )  # fmt: skip
                    elif interleaved:
                        lane_leaves.weigh(
                            public, scales, operators, values, nodes, slots, lanes, leaves, leaf, leaves_end, turn,
                            kind, correct, step[2], tables, slots0,
                        )  # fmt: skip
                    else:
                        weigh(
                            public, scales, operators, values, public_slots, nodes, slots, leaves, leaf, leaves_end,
                            turn, kind, correct, step[2], tables, straight, slots0, mass,
                        )  # fmt: skip
                    kernels.backward(
                        edges, rows, links, these, stop - start, child, slots, entries, turn, turn, step, False
                    )
                    for b in range(k, after):
                        _sum_root(nodes, slots, blocks[b, FIRST_NODE], turn, step[2])
                moved = turn_of(j, together) if j >= origin else 3
                j += 1
                if iteration_of(j, together) == len(steps):
                    break
                turn, weight = turn_of(j, together), steps[iteration_of(j, together), 2]
                kernels.forward(edges, rows, links, these, stop - start, child, slots, entries, f.POLICY, moved)
                if interleaved:
                    lane_leaves.payoffs(operators, values, public, scales, nodes, lanes, ended, slots, turn)
                else:
                    pairs.payoffs(operators, values, public, scales, nodes, ended, len(ended), slots, turn)
                if average:
                    others = opponents(turn)
                    if interleaved:
                        lane_leaves.sum_reaches(nodes, slots, lanes, leaves, leaf, leaves_end, others, weight)
                    else:
                        sum_reaches(nodes, slots, leaves, leaf, leaves_end, others, weight)
            if users:
                if interleaved:
                    count = lane_leaves.collect(
                        public, nodes, slots, lanes, leaves, leaf, leaves_end, row, users, changed, prune, slots0,
                        count, asking, ranges, mass,
                    )  # fmt: skip
                else:
                    count = collect(
                        public, public_slots, nodes, slots, leaves, leaf, leaves_end, row, users, changed, prune,
                        straight, slots0, count, asking, ranges,
                    )  # fmt: skip
        return count

    return advance


advance, advance_interleaved = _advancing(False), _advancing(True)


@njit
def look_at_average(
    public: Array, scales: Array, operators: Array, values: Array, public_slots: Array, nodes: Array, slots: Array,
    counts: Array, ends: Array, bottom: Array, leaves: Array, turn: int, total: float, recent: float, ask: bool,
    straight: bool, slots0: int, asked: Array, ranges: Array,
) -> int:  # fmt: skip
    """Before a turn of fictitious play: the opponents' average reaches at `bottom` (ends and leaves), payoffs, beliefs.

    total, recent: of fictitious.mix_reaches.
    """
    for p in range(2):
        if (opponents(turn) >> p) & 1:
            fictitious.mix_reaches(nodes, bottom, slots, p, total, recent)
    pairs.payoffs(operators, values, public, scales, nodes, ends, counts[ENDS], slots, turn)
    if not ask:
        return 0
    found: int = collect(
        public, public_slots, nodes, slots, leaves, 0, len(leaves), f.REACH_SUM, turn, 3, False, straight, slots0, 0,
        asked, ranges,
    )  # fmt: skip
    return found


@njit
def respond(
    public: Array, scales: Array, operators: Array, values: Array, public_slots: Array,
    edges: Array, rows: Array, links: Array, nodes: Array, child: Array, slots: Array, entries: Array,
    counts: Array, leaves: Array, turn: int, straight: bool, slots0: int, asked: Array, found: int, answers: Array,
    tables: Array, mass: Array,
) -> None:  # fmt: skip
    """After a turn's leaves are evaluated: the players' best responses in the POLICY row and their reaches."""
    count = counts[NODES]
    for b in range(found):
        absorb(public, public_slots, nodes, slots, leaves, asked, b, answers, tables, PLAIN, 3, straight, slots0)
    weigh(
        public, scales, operators, values, public_slots, nodes, slots, leaves, 0, len(leaves), turn, PLAIN, False, 1.0,
        tables, straight, slots0, mass,
    )  # fmt: skip
    kernels.evaluate(edges, rows, links, nodes, count, child, slots, entries, f.POLICY, turn)
    fictitious.respond(nodes, count, entries, turn)
    kernels.forward(edges, rows, links, nodes, count, child, slots, entries, f.POLICY, turn)


@njit
def value_average(
    public: Array, scales: Array, operators: Array, values: Array, public_slots: Array,
    edges: Array, rows: Array, links: Array, nodes: Array, child: Array, slots: Array, entries: Array,
    counts: Array, leaves: Array, correct: bool, straight: bool, slots0: int, asked: Array, found: int, answers: Array,
    tables: Array, mass: Array,
) -> None:  # fmt: skip
    """Both players' values of the policies in the FIXED row, whose ranges, payoffs and leaf answers are there."""
    for b in range(found):
        absorb(public, public_slots, nodes, slots, leaves, asked, b, answers, tables, PLAIN, 3, straight, slots0)
    weigh(
        public, scales, operators, values, public_slots, nodes, slots, leaves, 0, len(leaves), 3, PLAIN, correct, 1.0,
        tables, straight, slots0, mass,
    )  # fmt: skip
    kernels.evaluate(edges, rows, links, nodes, counts[NODES], child, slots, entries, f.FIXED, 0)
