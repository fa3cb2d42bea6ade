"""Numba kernels that draw worlds: a pair of infostates at a node, what chance deals, where an action leads.

A world at a public state is a pair of infostates; every sampling search walks such worlds. Arrays only (columns.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sog.arrays import Array
from sog.games.base import DENSE
from sog.searches.kernels.jit import njit
from sog.searches.tree import cards, pairs
from sog.searches.tree import columns as f
from sog.searches.tree.arrays import Public, Tree

U = np.uint64


@njit
def random(state: Array) -> Any:
    """A uniform number in [0, 1) from a splitmix64 generator; state: uint64[1]."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit
def draw_pair(public: Public, tree: Tree, n: int, rng: Array, pair: Array) -> bool:
    """Draw infostates of both players at node n in proportion to W * r0 * r1; False where all are 0."""
    nodes = tree.nodes
    offsets = nodes[n, f.OFF0], nodes[n, f.OFF1]
    return bool(draw_pair_of_ranges(public, nodes[n, f.PUBLIC], tree.infostates[f.REACH], offsets, rng, pair))


@njit
def draw_pair_of_ranges(public: Public, s: int, reach: Array, offsets: Any, rng: Array, pair: Array) -> bool:
    """`draw_pair` at public state s; player p's range begins at reach[offsets[p]]."""
    off0, off1 = offsets
    op = public.nodes[s, f.WEIGHT_OP]
    if public.operators[op, f.OP_KIND] > DENSE:
        first, second = random(rng), random(rng)
        start = U(public.operators[op, f.OP_START])
        return bool(cards.draw(public.operator_values, start, reach, U(off0), U(off1), first, second, pair))
    total, target = 0.0, np.inf
    for draw in range(2):  # the first pass sums, the second stops at the chosen pair
        if draw == 1:
            target, total = random(rng) * total, 0.0
        for i in range(public.nodes[s, f.I0]):
            if reach[off0 + i] <= 0.0:
                continue
            for j in range(public.nodes[s, f.I1]):
                w = reach[off0 + i] * reach[off1 + j] * pairs.weight(public, s, i, j)
                if w > 0.0:
                    total += w
                    pair[0], pair[1] = i, j
                    if total > target:
                        return True
        if total <= 0.0:
            return False
    return True


@njit
def draw_chance(public: Public, s: int, rng: Array, pair: Array) -> int:
    """Draw a listed public edge of the NATURE state s for the pair, which moves on with it; -1 where none is possible.

    An infostate may split here, as where a private card is dealt: each of its ways is weighed by itself.
    """
    edges = public.edges
    chosen, total, i0, i1 = -1, 0.0, -1, -1
    for e in range(public.nodes[s, f.EDGE0], public.nodes[s, f.EDGE0] + public.nodes[s, f.EDGES]):
        if edges[e, f.CHILD] < 0:
            continue
        for k0 in range(_ways(edges, e, 0)):
            j0 = _way(public, e, 0, pair[0], k0)
            if j0 < 0:
                continue
            for k1 in range(_ways(edges, e, 1)):
                j1 = _way(public, e, 1, pair[1], k1)
                if j1 < 0:
                    continue
                w = pairs.weight(public, edges[e, f.CHILD], j0, j1)
                total += w
                if w > 0.0 and random(rng) * total < w:  # reservoir of one
                    chosen, i0, i1 = e - public.nodes[s, f.EDGE0], j0, j1
    pair[0], pair[1] = i0, i1
    return chosen


@njit
def _ways(edges: Array, e: int, p: int) -> int:
    """How many ways player p's infostates have over public edge e of NATURE; 1 where all keep their index."""
    return 1 if edges[e, f.CARRY0 + 2 * p] < 0 else int(edges[e, f.CARRY0_LEN + 2 * p])


@njit
def _way(public: Public, e: int, p: int, i: int, k: int) -> int:
    """Where the k-th of those ways takes infostate i; -1 where it is another infostate's."""
    start = public.edges[e, f.CARRY0 + 2 * p]
    if start < 0:
        return i
    return int(public.links[start + k, 2]) if public.links[start + k, 0] == i else -1


@njit
def move(public: Public, r: int, i: int) -> Any:
    """(edge, infostate at the child) of action row r for infostate i; edge -1 where it is illegal."""
    actions, links = public.actions, public.links
    if actions[r, f.EDGE] >= 0:
        return actions[r, f.EDGE], i
    for k in range(actions[r, f.LINK0], actions[r, f.LINK0] + actions[r, f.LINKS]):
        if links[k, 0] == i:
            return links[k, 1], links[k, 2]
    return np.int32(-1), i


@njit
def is_legal(public: Public, r: int, i: int) -> bool:
    """Whether infostate i may take the action of row r."""
    return bool(move(public, r, i)[0] >= 0)


@njit
def follow(public: Public, e: int, p: int, i: int) -> int:
    """Where the infostate of a player who does not act goes over public edge e; -1 where it ends."""
    start = public.edges[e, f.CARRY0 + 2 * p]
    if start < 0:
        return i
    for k in range(start, start + public.edges[e, f.CARRY0_LEN + 2 * p]):
        if public.links[k, 0] == i:
            return int(public.links[k, 2])
    return -1


@njit
def take(public: Public, tree: Tree, n: int, a: int, pair: Array) -> Any:
    """The public edge of the actor's action a at lookahead node n; the pair moves on with it."""
    p = tree.nodes[n, f.N_ACTOR]
    edge, pair[p] = move(public, tree.nodes[n, f.N_ACTION0] + a, pair[p])
    pair[1 - p] = follow(public, tree.nodes[n, f.N_EDGE0] + edge, 1 - p, pair[1 - p])
    return edge


@njit
def next_legal(public: Public, tree: Tree, n: int, i: int, after: int) -> int:
    """The first legal action after `after` at infostate i of node n, -1 where there is none."""
    for a in range(after + 1, tree.nodes[n, f.N_ACTIONS]):
        if is_legal(public, tree.nodes[n, f.N_ACTION0] + a, i):
            return a
    return -1


@njit
def count_legal(public: Public, tree: Tree, n: int, i: int) -> int:
    """How many actions infostate i of node n may take."""
    legal = 0
    for a in range(tree.nodes[n, f.N_ACTIONS]):
        legal += is_legal(public, tree.nodes[n, f.N_ACTION0] + a, i)
    return legal


@njit
def child_over(tree: Tree, n: int, edge: int) -> int:
    """The lookahead node that a public edge of node n leads to; -1 where it is not in the tree."""
    return int(tree.child[f.NODE, tree.nodes[n, f.CHILD0] + edge])
