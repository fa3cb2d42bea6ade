"""Numba kernel of GT-CFR's expansion phase: trajectories that choose where a lookahead grows next.

It knows arrays only (see columns.py). SoG, "The expansion phase"; PoG, Algorithm 1, GROW.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sog.arrays import Array
from sog.games.base import DENSE
from sog.search.simd.jit import njit
from sog.search.tree import cards, pairs
from sog.search.tree import columns as f

U = np.uint64

ALL: Final = -1  # expand every child at once
OVER: Final = -2  # no node to expand: the trajectory came to where the game ends


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
def sample_pair(
    public: Array, scales: Array, operators: Array, values: Array, nodes: Array, reach: Array, n: int, rng: Array,
    pair: Array,
) -> bool:  # fmt: skip
    """Draw infostates of both players at node n in proportion to W * r0 * r1; False where all are 0."""
    s, off0, off1 = nodes[n, f.PUBLIC], nodes[n, f.OFF0], nodes[n, f.OFF1]
    op = public[s, f.WEIGHT_OP]
    if operators[op, f.OP_KIND] != DENSE:
        first, second = random(rng), random(rng)
        return bool(cards.draw(values, U(operators[op, f.OP_START]), reach, U(off0), U(off1), first, second, pair))
    total, target = 0.0, np.inf
    for draw in range(2):  # the first pass sums, the second stops at the chosen pair
        if draw == 1:
            target, total = random(rng) * total, 0.0
        for i in range(nodes[n, f.N_I0]):
            if reach[off0 + i] <= 0.0:
                continue
            for j in range(nodes[n, f.N_I1]):
                w = reach[off0 + i] * reach[off1 + j] * pairs.weight(public, scales, operators, values, s, i, j)
                if w > 0.0:
                    total += w
                    pair[0], pair[1] = i, j
                    if total > target:
                        return True
        if total <= 0.0:
            return False
    return True


@njit
def _move(rows: Array, links: Array, r: int, i: int) -> Any:
    """(edge, infostate at the child) of the action of row r for infostate i; edge -1 where it is illegal."""
    if rows[r, f.EDGE] >= 0:
        return rows[r, f.EDGE], i
    for k in range(rows[r, f.LINK0], rows[r, f.LINK0] + rows[r, f.LINKS]):
        if links[k, 0] == i:
            return links[k, 1], links[k, 2]
    return np.int32(-1), i


@njit
def _follow(edges: Array, links: Array, e: int, p: int, i: int) -> int:
    """Where a non-actor's infostate goes over public edge e; -1 where it ends."""
    start = edges[e, f.CARRY0 + 2 * p]
    if start < 0:
        return i
    for k in range(start, start + edges[e, f.CARRY0_LEN + 2 * p]):
        if links[k, 0] == i:
            return int(links[k, 2])
    return -1


@njit
def _puct(
    rows: Array, links: Array, nodes: Array, child: Array, entries: Array, n: int, i: int, mass: float,
    unit: float, c_puct: float,
) -> int:  # fmt: skip
    """The legal action with the highest PUCT score at infostate i of node n.

    Values are the last sweep's, divided by the opponent's mass to be conditional on the infostate and by the
    game's largest utility; each virtual visit of this phase counts as a loss. Actions outside the tree take
    the mean of the values that are known.
    """
    width, var = nodes[n, f.N_I0 + nodes[n, f.N_ACTOR]], nodes[n, f.VAR0] + i
    prior_sum, visit_sum, known, known_sum = 0.0, 0.0, 0, 0.0
    for a in range(nodes[n, f.N_ROWS]):
        edge = _move(rows, links, nodes[n, f.N_ROW0] + a, i)[0]
        if edge < 0:
            continue
        k = var + a * width
        prior_sum += entries[f.PRIOR, k]
        visit_sum += entries[f.VISITS, k] + entries[f.VIRTUAL, k]
        if child[f.NODE, nodes[n, f.CHILD0] + edge] >= 0:
            known += 1
            known_sum += entries[f.ACTION_CFV, k]
    mean = known_sum / known if known > 0 else 0.0
    best, top = -1, -np.inf
    for a in range(nodes[n, f.N_ROWS]):
        edge = _move(rows, links, nodes[n, f.N_ROW0] + a, i)[0]
        if edge < 0:
            continue
        k = var + a * width
        inside = child[f.NODE, nodes[n, f.CHILD0] + edge] >= 0
        q = (entries[f.ACTION_CFV, k] if inside else mean) / (mass * unit) if mass > 0.0 else 0.0
        visits, virtual = entries[f.VISITS, k], entries[f.VIRTUAL, k]
        if virtual > 0.0:
            q = (visits * q - virtual) / (visits + virtual)
        prior = entries[f.PRIOR, k] / prior_sum if prior_sum > 0.0 else 1.0
        score = q + c_puct * prior * np.sqrt(visit_sum + 1.0) / (1.0 + visits + virtual)
        if score > top:
            best, top = a, score
    return best


@njit
def _draw_policy(nodes: Array, entries: Array, which: int, n: int, i: int, rng: Array) -> int:
    """An action drawn from the positive row `which` at infostate i of node n; -1 where it is all zero."""
    width, var = nodes[n, f.N_I0 + nodes[n, f.N_ACTOR]], nodes[n, f.VAR0] + i
    total = 0.0
    for a in range(nodes[n, f.N_ROWS]):
        total += entries[which, var + a * width]
    target, chosen = random(rng) * total, -1
    for a in range(nodes[n, f.N_ROWS]):
        w = entries[which, var + a * width]
        if w > 0.0:
            chosen = a
            target -= w
            if target < 0.0:
                break
    return chosen


@njit
def _ways(edges: Array, e: int, p: int) -> int:
    """How many ways player p's infostates have over public edge e of NATURE; 1 where all keep their index."""
    return 1 if edges[e, f.CARRY0 + 2 * p] < 0 else int(edges[e, f.CARRY0_LEN + 2 * p])


@njit
def _way(edges: Array, links: Array, e: int, p: int, i: int, k: int) -> int:
    """Where the k-th of those ways takes infostate i; -1 where it is another infostate's."""
    start = edges[e, f.CARRY0 + 2 * p]
    if start < 0:
        return i
    return int(links[start + k, 2]) if links[start + k, 0] == i else -1


@njit
def _sample_nature(
    public: Array, scales: Array, operators: Array, values: Array, edges: Array, links: Array, nodes: Array,
    n: int, rng: Array, pair: Array,
) -> int:  # fmt: skip
    """Draw a public edge of the NATURE node n for the pair, which moves on with it.

    An infostate may split here, as where a private card is dealt: each of its ways is weighed by itself.
    """
    s = nodes[n, f.PUBLIC]
    chosen, total, i0, i1 = -1, 0.0, -1, -1
    for e in range(public[s, f.EDGE0], public[s, f.EDGE0] + public[s, f.EDGES]):
        if edges[e, f.CHILD] < 0:
            continue
        for k0 in range(_ways(edges, e, 0)):
            j0 = _way(edges, links, e, 0, pair[0], k0)
            if j0 < 0:
                continue
            for k1 in range(_ways(edges, e, 1)):
                j1 = _way(edges, links, e, 1, pair[1], k1)
                if j1 < 0:
                    continue
                w = pairs.weight(public, scales, operators, values, edges[e, f.CHILD], j0, j1)
                total += w
                if w > 0.0 and random(rng) * total < w:  # reservoir of one
                    chosen, i0, i1 = e - public[s, f.EDGE0], j0, j1
    pair[0], pair[1] = i0, i1
    return chosen


@njit
def trajectory(
    public: Array, scales: Array, operators: Array, values: Array, edges: Array, rows: Array, links: Array,
    nodes: Array, child: Array, slots: Array, entries: Array,
    start: int, c_puct: float, which: int, unit: float, rng: Array, pair: Array, path: Array, found: Array,
) -> None:  # fmt: skip
    """Walk from node `start` to where the tree ends; half of the choices by PUCT, half by policy row `which`.

    path: int64[*], path[0] counts the (action, infostate) entries chosen in this phase, listed after it; each gets a
    virtual visit.  found: int64[2] is set to the node to expand and the edge (ALL for a leaf), or to node -1 and OVER
    where the game ends or ALL elsewhere.
    """
    reach = slots[f.REACH]
    found[0], found[1] = -1, ALL
    n = start
    if not sample_pair(public, scales, operators, values, nodes, reach, n, rng, pair):
        return
    while nodes[n, f.KIND] == f.INTERIOR:
        p = nodes[n, f.N_ACTOR]
        if p < 2:
            a = -1
            if random(rng) < 0.5:
                a = _draw_policy(nodes, entries, which, n, pair[p], rng)
            if a < 0:
                mass = pairs.opponent_mass(public, scales, operators, values, nodes, reach, n, p, pair[p])
                a = _puct(rows, links, nodes, child, entries, n, pair[p], mass, unit, c_puct)
            if path[0] + 1 < len(path):
                path[0] += 1
                k = nodes[n, f.VAR0] + a * nodes[n, f.N_I0 + p] + pair[p]
                path[path[0]] = k
                entries[f.VIRTUAL, k] += 1.0
            edge, pair[p] = _move(rows, links, nodes[n, f.N_ROW0] + a, pair[p])
            pair[1 - p] = _follow(edges, links, nodes[n, f.N_EDGE0] + edge, 1 - p, pair[1 - p])
        else:
            edge = _sample_nature(public, scales, operators, values, edges, links, nodes, n, rng, pair)
            if edge < 0:
                return
        c = child[f.NODE, nodes[n, f.CHILD0] + edge]
        if c < 0:
            found[0], found[1] = n, edge
            return
        n = c
    if nodes[n, f.KIND] == f.LEAF and nodes[n, f.EVALUATED] == 1:
        found[0] = n
    elif nodes[n, f.KIND] == f.ENDED:
        found[1] = OVER


@njit
def warm_start(
    public: Array, scales: Array, operators: Array, values: Array, rows: Array, links: Array,
    nodes: Array, child: Array, slots: Array, entries: Array, n: int, weight: float,
) -> None:  # fmt: skip
    """Begin at the prior: the opened node n plays it, and holds regrets that only as much experience can undo.

    The regret of an action is weight * prior * (opponent's mass) * (value unit), as if that much had been earned.
    """
    p, s = nodes[n, f.N_ACTOR], nodes[n, f.PUBLIC]
    width, var, count = nodes[n, f.N_I0 + p], nodes[n, f.VAR0], nodes[n, f.N_ROWS]
    own, mass = nodes[n, f.OFF0 + p], slots[f.LEAF_VALUE]  # no longer a leaf, the node has no use for its values
    pairs.opponent_masses(public, scales, operators, values, nodes, slots[f.REACH], n, p, mass)
    for i in range(width):
        total = 0.0
        for a in range(count):
            k = var + a * width + i
            edge = _move(rows, links, nodes[n, f.N_ROW0] + a, i)[0]
            is_open = edge >= 0 and child[f.NODE, nodes[n, f.CHILD0] + edge] >= 0
            entries[f.POLICY, k] = entries[f.PRIOR, k] if is_open else 0.0
            total += entries[f.POLICY, k]
        if total <= 0.0:
            continue
        for a in range(count):
            k = var + a * width + i
            entries[f.POLICY, k] /= total
            entries[f.REGRET, k] = weight * mass[own + i] * scales[s, f.VALUE_UNIT] * entries[f.POLICY, k]


@njit
def oldest_leaf(nodes: Array, count: int, child: Array, start: int) -> int:
    """The first leaf below node `start` that was evaluated and can be opened, or else beside the branch to it.

    -1 where there is none. Below `start` its first child stands before all other nodes.
    """
    below = child[f.NODE, nodes[start, f.CHILD0]]
    for n in range(below, count):
        if nodes[n, f.KIND] == f.LEAF and nodes[n, f.EVALUATED] == 1:
            return n
    for n in range(below):
        if nodes[n, f.KIND] == f.LEAF and nodes[n, f.EVALUATED] == 1:
            return n
    return -1


@njit
def oldest_gap(nodes: Array, count: int, child: Array, entries: Array, start: int, found: Array) -> None:
    """`oldest_leaf` for k = 1, in a deterministic game: the first node from `start` on that lacks a child.

    found: int64[2] is set as by `trajectory`; of the actions not in the tree, to the one with the highest prior.
    """
    found[0], found[1] = -1, ALL
    for n in range(start, count):
        if nodes[n, f.KIND] == f.LEAF and nodes[n, f.EVALUATED] == 1:
            found[0] = n
            return
        if nodes[n, f.KIND] != f.INTERIOR:
            continue
        top = -np.inf
        for a in range(nodes[n, f.N_ROWS]):
            prior = entries[f.PRIOR, nodes[n, f.VAR0] + a]
            if child[f.NODE, nodes[n, f.CHILD0] + a] < 0 and prior > top:
                found[0], found[1], top = n, a, prior
        if found[0] >= 0:
            return


@njit
def first_guess(public: Array, nodes: Array, slots: Array, entries: Array, n: int, edge: int) -> None:
    """Until the next sweep a child opened in perfect information counts as its parent n, not as a draw."""
    if public[nodes[n, f.PUBLIC], f.PLAIN]:
        value = slots[f.CFV, nodes[n, f.OFF0 + nodes[n, f.N_ACTOR]]]
        entries[f.ACTION_CFV, nodes[n, f.VAR0] + edge] = value


@njit
def settle(entries: Array, path: Array) -> None:
    """Turn this phase's virtual visits into visits and clear the path."""
    for k in path[1 : path[0] + 1]:
        entries[f.VISITS, k] += 1.0
        entries[f.VIRTUAL, k] = 0.0
    path[0] = 0


@njit
def best_prior(rows: Array, links: Array, nodes: Array, entries: Array, n: int, i: int) -> int:
    """The public edge of infostate i's legal action with the highest prior at node n."""
    width, var = nodes[n, f.N_I0 + nodes[n, f.N_ACTOR]], nodes[n, f.VAR0] + i
    best, top = -1, -np.inf
    for a in range(nodes[n, f.N_ROWS]):
        edge = _move(rows, links, nodes[n, f.N_ROW0] + a, i)[0]
        if edge >= 0 and entries[f.PRIOR, var + a * width] > top:
            best, top = edge, entries[f.PRIOR, var + a * width]
    return best
