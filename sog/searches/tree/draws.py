"""Numba kernels that draw worlds: a pair of infostates at a node, what chance deals, where an action leads.

A world at a public state is a pair of infostates; every sampling search walks such worlds. Arrays only (arrays.py).
"""

from __future__ import annotations

import numpy as np

from sog.arrays import Array
from sog.games.base import DENSE
from sog.searches.kernels.jit import njit
from sog.searches.tree import cards, pairs
from sog.searches.tree.arrays import Public, Ranges, Tree
from sog.searches.tree.records import Edge, Infostate


@njit
def random(state: Array) -> float:
    """A uniform number in [0, 1) from a splitmix64 generator; state: uint64[1]."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    # The upper 53 bits, times 2**-53.
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)  # type: ignore[no-any-return]


@njit
def draw_pair(public: Public, tree: Tree, n: int, rng: Array, pair: Array) -> bool:
    """Draw infostates of both players at node n in proportion to W * r0 * r1; False where all are 0."""
    node, reach = tree.nodes[n], tree.infostates[Infostate.REACH]
    ranges = Ranges(reach, node.offset[0], reach, node.offset[1])
    return bool(draw_pair_of_ranges(public, node.public, ranges, rng, pair))


@njit
def draw_pair_of_ranges(public: Public, s: int, ranges: Ranges, rng: Array, pair: Array) -> bool:
    """`draw_pair` at public state s for these ranges.

    P(i, j) = W[i, j] r0[i] r1[j] / (their sum over all pairs).
    """
    r0, at0, r1, at1 = ranges
    state = public.nodes[s]
    operator = public.operators[state.weight]
    # Hold'em's hands: one player's first, then the other's, since there are 1.8 million pairs.
    if operator.kind > DENSE:
        first, second = random(rng), random(rng)
        return bool(cards.draw(public.operator_values, operator.start, ranges, first, second, pair))
    total, target = 0.0, np.inf
    for draw in range(2):  # the first pass sums, the second stops at the chosen pair
        if draw == 1:
            target, total = random(rng) * total, 0.0
        for i in range(state.width[0]):
            # A row of zeros: its pairs have no weight.
            if r0[at0 + i] <= 0.0:
                continue
            for j in range(state.width[1]):
                w = r0[at0 + i] * r1[at1 + j] * pairs.weight(public, s, i, j)
                if w > 0.0:
                    total += w
                    pair[0], pair[1] = i, j
                    if total > target:
                        return True
        if total <= 0.0:
            return False
    # By rounding the sum may never exceed the target: then the last possible pair is drawn.
    return True


@njit
def draw_chance(public: Public, s: int, rng: Array, pair: Array) -> int:
    """Draw a listed public edge of the NATURE state s for the pair, which moves on with it; -1 where none is possible.

    P(e, j0, j1) = W[j0, j1] of the child over e / the sum of these, over what the pair may become on each edge.

    An infostate may split here, as where a private card is dealt: each of its ways is weighed by itself, and one is
    kept of all with a chance in proportion to its weight (a reservoir of one).
    """
    state = public.nodes[s]
    chosen, total, i0, i1 = -1, 0.0, -1, -1
    for e in range(state.edges):
        edge = public.edges[state.edge0 + e]
        if edge.child < 0:
            continue
        for k0 in range(_ways(edge, 0)):
            j0 = _way(public, edge, 0, pair[0], k0)
            if j0 < 0:
                continue
            for k1 in range(_ways(edge, 1)):
                j1 = _way(public, edge, 1, pair[1], k1)
                if j1 < 0:
                    continue
                # The child's W has chance's probability of this way, up to a factor that all ways of the pair share.
                w = pairs.weight(public, edge.child, j0, j1)
                total += w
                # P(way) = w / (sum over all ways of w): each replaces the one before with probability w / (sum so far).
                if w > 0.0 and random(rng) * total < w:
                    chosen, i0, i1 = e, j0, j1
    pair[0], pair[1] = i0, i1
    return chosen


@njit
def _ways(edge: Edge, p: int) -> int:
    """How many ways player p's infostates have over an edge of NATURE; 1 where all keep their index."""
    return 1 if edge.carry0[p] < 0 else edge.carries[p]


@njit
def _way(public: Public, edge: Edge, p: int, i: int, k: int) -> int:
    """Where the k-th of those ways takes infostate i; -1 where it is another infostate's."""
    if edge.carry0[p] < 0:
        return i
    # Links of all the player's infostates are tried; those of others do not lead from this one.
    link = public.links[edge.carry0[p] + k]
    return link.target if link.source == i else -1


@njit
def move(public: Public, a: int, i: int) -> tuple[int, int]:
    """(edge, infostate at the child) of the action in row a for infostate i; edge -1 where it is illegal."""
    action = public.actions[a]
    if action.edge >= 0:
        return action.edge, i
    # One link for each infostate that may take the action.
    for k in range(action.link0, action.link0 + action.links):
        link = public.links[k]
        if link.source == i:
            return link.edge, link.target
    return -1, i


@njit
def is_legal(public: Public, a: int, i: int) -> bool:
    """Whether infostate i may take the action in row a."""
    return bool(move(public, a, i)[0] >= 0)


@njit
def follow(public: Public, edge: Edge, p: int, i: int) -> int:
    """Where the infostate of a player who does not act goes over an edge; -1 where it ends."""
    if edge.carry0[p] < 0:
        return i
    for k in range(edge.carries[p]):
        link = public.links[edge.carry0[p] + k]
        if link.source == i:
            return link.target
    return -1


@njit
def take(public: Public, tree: Tree, n: int, a: int, pair: Array) -> int:
    """The public edge of the actor's action a at lookahead node n; the pair moves on with it."""
    node = tree.nodes[n]
    p = node.actor
    # The actor's infostate by the action's links, the opponent's by the edge's.
    edge, pair[p] = move(public, node.action0 + a, pair[p])
    pair[1 - p] = follow(public, public.edges[node.edge0 + edge], 1 - p, pair[1 - p])
    return edge  # type: ignore[no-any-return]


@njit
def next_legal(public: Public, tree: Tree, n: int, i: int, after: int) -> int:
    """The first legal action after `after` at infostate i of node n, -1 after the last."""
    node = tree.nodes[n]
    for a in range(after + 1, node.actions):
        if is_legal(public, node.action0 + a, i):
            return a
    return -1


@njit
def count_legal(public: Public, tree: Tree, n: int, i: int) -> int:
    """How many actions infostate i of node n may take."""
    node, legal = tree.nodes[n], 0
    for a in range(node.actions):
        legal += is_legal(public, node.action0 + a, i)
    return legal


@njit
def child_over(tree: Tree, n: int, edge: int) -> int:
    """The lookahead node that a public edge of node n leads to; -1 where it is not in the tree."""
    return tree.child[tree.nodes[n].child0 + edge].node
