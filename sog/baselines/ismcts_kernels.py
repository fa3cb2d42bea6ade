"""Numba kernel of IS-MCTS: simulations from one infostate of a tree without leaves.

It knows arrays only (see columns.py). The statistics of an infostate lie at its (node, action, infostate)
entries, as regrets do, so that no infostate is ever looked up.
"""

from __future__ import annotations

import numpy as np

from sog.arrays import Array
from sog.search.cfr import monte_carlo as mccfr
from sog.search.gtcfr import trajectories as simulate
from sog.search.simd.jit import njit
from sog.search.tree import columns as f
from sog.search.tree import pairs


@njit
def search(
    edges: Array, rows: Array, links: Array, nodes: Array, child: Array, operators: Array, values: Array,
    public: Array, scales: Array, reach: Array, root: int, i: int, simulations: int, c: float, rng: Array,
    worlds: Array, pair: Array, path: Array, visits: Array, returns: Array, opened: Array, met: Array,
) -> None:  # fmt: skip
    """Simulate from infostate i of the actor of node `root`, and leave the statistics of every infostate met.

    visits, returns: float64[V], how often an action was chosen and what its player earned after it.
    opened: bool[S], the infostates met; met[0] of them, listed after it by node and infostate in met: int64[*, 2].
    worlds: float64[I], pair: int64[2], path: int64[*]: room to work in.
    """
    p = nodes[root, f.N_ACTOR]
    _weigh_worlds(public, scales, operators, values, nodes, reach, root, i, worlds)
    for _ in range(simulations):
        pair[p], pair[1 - p] = i, _draw_world(worlds, nodes[root, f.N_I0 + 1 - p], rng)
        n, depth = root, 0
        while nodes[n, f.KIND] == f.INTERIOR:  # choose by UCT as far as infostates are known
            actor = nodes[n, f.N_ACTOR]
            if actor > 1:
                n = _chance(operators, values, public, scales, edges, links, nodes, child, rng, n, pair)
                continue
            k = pair[actor]
            if not opened[nodes[n, f.OFF0 + actor] + k]:
                _open(nodes, opened, met, n, k)
                break
            a = _select(rows, links, nodes, visits, returns, n, k, c, rng)
            path[depth] = (nodes[n, f.VAR0] + a * nodes[n, f.N_I0 + actor] + k) * 2 + actor
            depth += 1
            n = mccfr._take(edges, rows, links, nodes, child, n, a, pair)
        n = _play_out(edges, rows, links, nodes, child, operators, values, public, scales, rng, n, pair)
        utility = mccfr._utility(operators, values, public, scales, nodes, n, pair[0], pair[1], 0)
        for d in range(depth):
            k = path[d] // 2
            visits[k] += 1.0
            returns[k] += utility if path[d] % 2 == 0 else -utility


@njit
def forget(nodes: Array, visits: Array, returns: Array, opened: Array, met: Array) -> None:
    """Clear the statistics of every infostate met, for the next search."""
    for m in range(1, met[0, 0] + 1):
        n, i = met[m, 0], met[m, 1]
        p = nodes[n, f.N_ACTOR]
        opened[nodes[n, f.OFF0 + p] + i] = False
        for a in range(nodes[n, f.N_ROWS]):
            k = nodes[n, f.VAR0] + a * nodes[n, f.N_I0 + p] + i
            visits[k], returns[k] = 0.0, 0.0
    met[0, 0] = 0


@njit
def _weigh_worlds(
    public: Array, scales: Array, operators: Array, values: Array, nodes: Array, reach: Array, n: int, i: int,
    worlds: Array,
) -> None:  # fmt: skip
    """worlds[j]: running sum of the chances of the opponent's infostates 0..j beside infostate i of node n."""
    p, s = nodes[n, f.N_ACTOR], nodes[n, f.PUBLIC]
    total = 0.0
    for j in range(nodes[n, f.N_I0 + 1 - p]):
        i0, i1 = (i, j) if p == 0 else (j, i)
        weight = pairs.weight(public, scales, operators, values, s, i0, i1)
        total += reach[nodes[n, f.OFF0 + 1 - p] + j] * weight
        worlds[j] = total


@njit
def _draw_world(worlds: Array, count: int, rng: Array) -> int:
    """An opponent's infostate by the running sums `worlds`."""
    target, j = simulate.random(rng) * worlds[count - 1], 0
    while j < count - 1 and worlds[j] <= target:
        j += 1
    return j


@njit
def _chance(
    operators: Array, values: Array, public: Array, scales: Array, edges: Array, links: Array, nodes: Array,
    child: Array, rng: Array, n: int, pair: Array,
) -> int:  # fmt: skip
    """The node after chance's draw at node n; the pair moves on with it."""
    edge = mccfr._draw_chance(operators, values, public, scales, edges, links, nodes, child, rng, n, pair)
    return int(child[f.NODE, nodes[n, f.CHILD0] + edge])


@njit
def _play_out(
    edges: Array, rows: Array, links: Array, nodes: Array, child: Array, operators: Array, values: Array,
    public: Array, scales: Array, rng: Array, n: int, pair: Array,
) -> int:  # fmt: skip
    """The terminal node where uniform legal play from node n ends; the pair moves on with it."""
    while nodes[n, f.KIND] == f.INTERIOR:
        actor = nodes[n, f.N_ACTOR]
        if actor > 1:
            n = _chance(operators, values, public, scales, edges, links, nodes, child, rng, n, pair)
        else:
            a = _random_legal(rows, links, nodes, n, pair[actor], rng)
            n = mccfr._take(edges, rows, links, nodes, child, n, a, pair)
    return n


@njit
def _open(nodes: Array, opened: Array, met: Array, n: int, i: int) -> None:
    """Note that infostate i of the actor of node n has been met."""
    opened[nodes[n, f.OFF0 + nodes[n, f.N_ACTOR]] + i] = True
    met[0, 0] += 1
    met[met[0, 0], 0], met[met[0, 0], 1] = n, i


@njit
def _select(
    rows: Array, links: Array, nodes: Array, visits: Array, returns: Array, n: int, i: int, c: float, rng: Array
) -> int:
    """The legal action with the highest UCT score at infostate i of node n, first those never chosen; ties are drawn.

    UCT: mean return + c * sqrt(log(visits of the infostate) / visits of the action).
    """
    width, var = nodes[n, f.N_I0 + nodes[n, f.N_ACTOR]], nodes[n, f.VAR0] + i
    total = 0.0
    for a in range(nodes[n, f.N_ROWS]):
        total += visits[var + a * width]
    spread = c * c * np.log(total) if total > 0.0 else 0.0
    best, top, ties = -1, -np.inf, 0
    for a in range(nodes[n, f.N_ROWS]):
        if simulate._move(rows, links, nodes[n, f.N_ROW0] + a, i)[0] < 0:
            continue
        k, score = var + a * width, np.inf
        if visits[k] > 0.0:
            score = returns[k] / visits[k] + np.sqrt(spread / visits[k])
        if score > top:
            best, top, ties = a, score, 1
        elif score == top:
            ties += 1
            if simulate.random(rng) * ties < 1.0:
                best = a
    return best


@njit
def _random_legal(rows: Array, links: Array, nodes: Array, n: int, i: int, rng: Array) -> int:
    """A legal action at infostate i of node n, each as likely."""
    legal = 0
    for a in range(nodes[n, f.N_ROWS]):
        legal += simulate._move(rows, links, nodes[n, f.N_ROW0] + a, i)[0] >= 0
    left, a = int(simulate.random(rng) * legal), mccfr._next_legal(rows, links, nodes, n, i, -1)
    for _ in range(left):
        a = mccfr._next_legal(rows, links, nodes, n, i, a)
    return int(a)
