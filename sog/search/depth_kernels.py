"""Numba kernels of depth-limited solving: what lies between two questions about the leaves of many subgames.

They know arrays only (see fields.py). A player's turn is a bit mask of the players who update in it; 3 is both at once.
"""

from __future__ import annotations

from sog.arrays import Array
from sog.search import fictitious, kernels, pairs
from sog.search import fields as f
from sog.search.depth_leaves import PLAIN, absorb, collect, opponents, sum_reaches, weigh
from sog.search.growth import ENDS, NODES
from sog.search.jit import inlined, njit
from sog.search.leaves import U
from sog.search.planting import FIRST_END, FIRST_LEAF, FIRST_NODE

# Subgames go through a sweep so many at a time: few enough for the cache, and enough that the next sweep does not read
# at once what the last one has just written.
AT_ONCE = 16


@njit
def advance(
    public: Array, scales: Array, operators: Array, values: Array, public_slots: Array,
    edges: Array, rows: Array, links: Array, nodes: Array, child: Array, slots: Array, entries: Array,
    blocks: Array, leaves: Array, ends: Array, steps: Array, together: bool, origin: int, first: int, last: int,
    average: bool, kind: int, correct: bool, kept: int, users: int, changed: int, prune: bool, straight: bool,
    slots0: int, asked: Array, found: int, answers: Array, asking: Array, ranges: Array, tables: Array, mass: Array,
) -> int:  # fmt: skip
    """End turn `first` with its answers, play the turns between without asking, and begin turn `last`; how many ask.

    Turns before `origin` are not played, and there is none as `last` where all are over.  blocks: int32[K + 1, 3],
    where each subgame starts (planting.py).  together: both players update in each turn.
    average: beliefs are those of the average policies, otherwise of today's.
    kept: the players whose answers are kept.  users: who will need the answers; 0: nobody asks.
    changed, prune, straight: of `collect`.
    """
    used, count = 0, 0
    for k in range(0, len(blocks) - 1, AT_ONCE):
        after = min(k + AT_ONCE, len(blocks) - 1)
        start, stop = blocks[k, FIRST_NODE], blocks[after, FIRST_NODE]
        leaf, leaves_end = blocks[k, FIRST_LEAF], blocks[after, FIRST_LEAF]
        these, ended = nodes[start:stop], ends[blocks[k, FIRST_END] : blocks[after, FIRST_END]]
        while used < found and asked[0, used] < leaves_end:
            absorb(
                public, public_slots, nodes, slots, leaves, asked, used, answers, tables, kind, kept, straight, slots0
            )
            used += 1
        j = first
        while j < last:
            if j >= origin:
                turn, step = turn_of(j, together), steps[iteration_of(j, together)]
                weigh(
                    public, scales, operators, values, public_slots, nodes, slots, leaves, leaf, leaves_end, turn, kind,
                    correct, step[2], tables, straight, slots0, mass,
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
            turn = turn_of(j, together)
            kernels.forward(edges, rows, links, these, stop - start, child, slots, entries, f.POLICY, moved)
            pairs.payoffs(operators, values, public, scales, nodes, ended, len(ended), slots, turn)
            if average:
                weight = steps[iteration_of(j, together), 2]
                sum_reaches(nodes, slots, leaves, leaf, leaves_end, opponents(turn), weight)
        if users:
            count = collect(
                public, public_slots, nodes, slots, leaves, leaf, leaves_end, f.REACH_SUM if average else f.REACH,
                users, changed, prune, straight, slots0, count, asking, ranges,
            )  # fmt: skip
    return count


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
