"""Monte Carlo CFR on a tree without leaves: external and outcome sampling (Lanctot et al. 2009).

An iteration walks the tree once for each player in turn. The walk holds one world at a time, a pair of infostates, so
its cost does not grow with the number of infostates. Regrets are plain CFR's, sampled without bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sog.arrays import Array
from sog.search.gtcfr import trajectories as simulate
from sog.search.simd.jit import njit
from sog.search.tree import columns as f
from sog.search.tree import pairs
from sog.search.tree.lookahead import Lookahead

# The share of uniform play in what the walking player samples under outcome sampling.
EXPLORATION: Final = 0.6

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)

# Columns of the walk's stack of the walking player's turns: `turns` int64[*, 4] and `sums` float64[*, 3].
_AT, _PAIR0, _PAIR1, _CHOSEN = range(4)
_VALUE, _CHANCE, _SAMPLED = range(3)


@dataclass(frozen=True)
class MonteCarlo:
    """One variant. The walking player's infostates get regrets, the opponent's enter the average.

    outcome: the walking player too samples one action (outcome sampling); else it tries all (external sampling).
    seed: of all draws; iteration t's depend on the seed and t alone, so a run in parts is the same run.
    """

    name: str
    outcome: bool
    seed: int = 0

    def iterate(self, tree: Lookahead, count: int) -> None:
        """`count` more iterations on a tree without leaves; regrets and averages go to their rows."""
        public = tree.public
        tree.forward()  # the ranges at the root are read, and terminal nodes' never
        rng, pair = np.zeros(1, dtype=np.uint64), np.zeros(2, dtype=np.int64)
        turns, sums = np.zeros((tree.size, 4), dtype=np.int64), np.zeros((tree.size, 3))
        _run(
            *tree.game, *tree.tree, public.operators, public.operator_values, public.nodes, public.scales,
            tree.iterations + 1, count, self.outcome, np.uint64(self.seed), rng, pair, turns, sums,
        )  # fmt: skip
        tree.iterations += count


EXTERNAL: Final = MonteCarlo("external-mccfr", outcome=False)
OUTCOME: Final = MonteCarlo("outcome-mccfr", outcome=True)

VARIANTS: Final = (EXTERNAL, OUTCOME)


@njit
def _run(
    edges: Array, rows: Array, links: Array, nodes: Array, count: int, child: Array, slots: Array, entries: Array,
    operators: Array, values: Array, public: Array, scales: Array,
    first: int, iterations: int, outcome: bool, seed: Any, rng: Array, pair: Array, turns: Array, sums: Array,
) -> None:  # fmt: skip
    """Iterations first, first + 1, ... ; rng: uint64[1], pair: int64[2]; they, turns and sums are overwritten."""
    for t in range(first, first + iterations):
        rng[0] = (seed + np.uint64(1)) * _GOLDEN
        simulate.random(rng)
        rng[0] ^= np.uint64(t) * np.uint64(0xD1342543DE82EF95)
        simulate.random(rng)
        for p in range(2):
            if simulate.sample_pair(public, scales, operators, values, nodes, slots[f.REACH], 0, rng, pair):
                _walk(
                    edges, rows, links, nodes, child, entries, operators, values, public, scales,
                    p, outcome, rng, pair, turns, sums,
                )  # fmt: skip


@njit
def _walk(
    edges: Array, rows: Array, links: Array, nodes: Array, child: Array, entries: Array,
    operators: Array, values: Array, public: Array, scales: Array,
    p: int, outcome: bool, rng: Array, pair: Array, turns: Array, sums: Array,
) -> None:  # fmt: skip
    """Walk from the root for player p with the pair drawn there, and update the infostates met.

    A turn on the stack holds the value summed over its actions so far, the probability with which its action was
    chosen, and that of all player p's choices before it.
    """
    regret, policy = entries[f.REGRET], entries[f.POLICY]
    n, depth, sampled = 0, 0, 1.0
    while True:
        n = _to_turn(
            edges, rows, links, nodes, child, entries, operators, values, public, scales, n, p, sampled, rng, pair
        )
        if nodes[n, f.KIND] == f.INTERIOR:
            chosen, chance = _next_legal(rows, links, nodes, n, pair[p], -1), 1.0
            if outcome:
                chosen, chance = _draw_action(rows, links, nodes, policy, rng, n, pair[p], EXPLORATION)
            turns[depth, _AT], turns[depth, _CHOSEN] = n, chosen
            turns[depth, _PAIR0], turns[depth, _PAIR1] = pair[0], pair[1]
            sums[depth, _VALUE], sums[depth, _CHANCE], sums[depth, _SAMPLED] = 0.0, chance, sampled
            depth += 1
            sampled *= chance
            n = _take(edges, rows, links, nodes, child, n, chosen, pair)
            continue
        value = _utility(operators, values, public, scales, nodes, n, pair[0], pair[1], p)
        while depth > 0:  # back up to the latest turn with an action left to try
            k = depth - 1
            n, chosen, i = turns[k, _AT], turns[k, _CHOSEN], turns[k, _PAIR0 + p]
            entry = nodes[n, f.VAR0] + chosen * nodes[n, f.N_I0 + p] + i
            value /= sums[k, _CHANCE]
            sums[k, _VALUE] += policy[entry] * value
            regret[entry] += value / sums[k, _SAMPLED]
            chosen = -1 if outcome else _next_legal(rows, links, nodes, n, i, chosen)
            if chosen >= 0:
                break
            value = sums[k, _VALUE]
            _finish(rows, links, nodes, entries, n, i, value / sums[k, _SAMPLED])
            depth -= 1
        if depth == 0:
            return
        turns[depth - 1, _CHOSEN] = chosen
        pair[0], pair[1] = turns[depth - 1, _PAIR0], turns[depth - 1, _PAIR1]
        n = _take(edges, rows, links, nodes, child, n, chosen, pair)


@njit
def _to_turn(
    edges: Array, rows: Array, links: Array, nodes: Array, child: Array, entries: Array,
    operators: Array, values: Array, public: Array, scales: Array, n: int, p: int, sampled: float, rng: Array,
    pair: Array,
) -> Any:  # fmt: skip
    """The next node where player p acts or the game ends; chance's and the opponent's actions are drawn.

    The opponent's policies enter the average, over the probability of player p's own choices so far.
    """
    while nodes[n, f.KIND] == f.INTERIOR and nodes[n, f.N_ACTOR] != p:
        actor = nodes[n, f.N_ACTOR]
        if actor > 1:
            edge = _draw_chance(operators, values, public, scales, edges, links, nodes, child, rng, n, pair)
            n = child[f.NODE, nodes[n, f.CHILD0] + edge]
            continue
        width, k = nodes[n, f.N_I0 + actor], nodes[n, f.VAR0] + pair[actor]
        for _ in range(nodes[n, f.N_ROWS]):
            entries[f.AVERAGE, k] += entries[f.POLICY, k] / sampled
            k += width
        chosen, _ = _draw_action(rows, links, nodes, entries[f.POLICY], rng, n, pair[actor], 0.0)
        n = _take(edges, rows, links, nodes, child, n, chosen, pair)
    return n


@njit
def _take(edges: Array, rows: Array, links: Array, nodes: Array, child: Array, n: int, a: int, pair: Array) -> Any:
    """The node after the actor's action a at node n; the pair moves on with it."""
    p = nodes[n, f.N_ACTOR]
    edge, pair[p] = simulate._move(rows, links, nodes[n, f.N_ROW0] + a, pair[p])
    pair[1 - p] = simulate._follow(edges, links, nodes[n, f.N_EDGE0] + edge, 1 - p, pair[1 - p])
    return child[f.NODE, nodes[n, f.CHILD0] + edge]


@njit
def _next_legal(rows: Array, links: Array, nodes: Array, n: int, i: int, after: int) -> int:
    """The first legal action after `after` at infostate i of node n, -1 where there is none."""
    for a in range(after + 1, nodes[n, f.N_ROWS]):
        if simulate._move(rows, links, nodes[n, f.N_ROW0] + a, i)[0] >= 0:
            return a
    return -1


@njit
def _utility(
    operators: Array, values: Array, public: Array, scales: Array, nodes: Array, n: int, i0: int, i1: int, p: int
) -> float:
    """Player p's utility at the terminal node n for the pair."""
    s = nodes[n, f.PUBLIC]
    op = public[s, f.PAYOFF_OP]
    weight = pairs.weight(public, scales, operators, values, s, i0, i1)
    utility = scales[s, f.PAYOFF_SCALE] * pairs.entry(operators, values, op, i0, i1) / weight
    return float(utility if p == 0 else -utility)


@njit
def _draw_action(
    rows: Array, links: Array, nodes: Array, policy: Array, rng: Array, n: int, i: int, explore: float
) -> Any:
    """(action, its probability) drawn at infostate i of node n from the policy, mixed with uniform legal play."""
    width, var = nodes[n, f.N_I0 + nodes[n, f.N_ACTOR]], nodes[n, f.VAR0] + i
    legal = 0
    for a in range(nodes[n, f.N_ROWS]):
        legal += simulate._move(rows, links, nodes[n, f.N_ROW0] + a, i)[0] >= 0
    target, chosen, chance = simulate.random(rng), -1, 0.0
    for a in range(nodes[n, f.N_ROWS]):
        if simulate._move(rows, links, nodes[n, f.N_ROW0] + a, i)[0] < 0:
            continue
        q = (1.0 - explore) * policy[var + a * width] + explore / legal
        if q > 0.0:
            chosen, chance = a, q
            target -= q
            if target < 0.0:
                break
    return chosen, chance


@njit
def _draw_chance(
    operators: Array, values: Array, public: Array, scales: Array, edges: Array, links: Array, nodes: Array,
    child: Array, rng: Array, n: int, pair: Array,
) -> int:  # fmt: skip
    """Draw an edge of the NATURE node n; the pair moves on with it, and either infostate may split."""
    chosen, total, i0, i1 = 0, 0.0, pair[0], pair[1]
    for e in range(nodes[n, f.N_EDGES]):
        s = nodes[child[f.NODE, nodes[n, f.CHILD0] + e], f.PUBLIC]
        edge = nodes[n, f.N_EDGE0] + e
        start0, stop0 = _link_range(edges, edge, 0)
        start1, stop1 = _link_range(edges, edge, 1)
        for x in range(start0, stop0):
            if x >= 0 and links[x, 0] != i0:
                continue
            for y in range(start1, stop1):
                if y >= 0 and links[y, 0] != i1:
                    continue
                j0 = links[x, 2] if x >= 0 else i0
                j1 = links[y, 2] if y >= 0 else i1
                w = pairs.weight(public, scales, operators, values, s, j0, j1)
                total += w
                if w > 0.0 and simulate.random(rng) * total < w:  # reservoir of one
                    chosen, pair[0], pair[1] = e, j0, j1
    return chosen


@njit
def _link_range(edges: Array, edge: int, p: int) -> Any:
    """Where player p's links over a public edge start and stop; (-1, 0), one pass, where every index stays."""
    start = edges[edge, f.CARRY0 + 2 * p]
    if start < 0:
        return -1, 0
    return start, start + edges[edge, f.CARRY0_LEN + 2 * p]


@njit
def _finish(rows: Array, links: Array, nodes: Array, entries: Array, n: int, i: int, value: float) -> None:
    """Take the value off the regrets of infostate i at node n, and match them: uniform where none is positive."""
    width, var = nodes[n, f.N_I0 + nodes[n, f.N_ACTOR]], nodes[n, f.VAR0] + i
    regret, policy = entries[f.REGRET], entries[f.POLICY]
    total, legal = 0.0, 0
    a = _next_legal(rows, links, nodes, n, i, -1)
    while a >= 0:
        regret[var + a * width] -= value
        total += max(regret[var + a * width], 0.0)
        legal += 1
        a = _next_legal(rows, links, nodes, n, i, a)
    a = _next_legal(rows, links, nodes, n, i, -1)
    while a >= 0:
        policy[var + a * width] = max(regret[var + a * width], 0.0) / total if total > 0.0 else 1.0 / legal
        a = _next_legal(rows, links, nodes, n, i, a)
