"""Monte Carlo CFR on a tree without leaves: external and outcome sampling (Lanctot et al. 2009).

An iteration walks the tree once for each player in turn. The walk holds one world at a time, a pair of infostates, so
its cost does not grow with the number of infostates. Regrets are plain CFR's, sampled without bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from sog.arrays import Array, Float64, Int64
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.kernels.jit import njit
from sog.searches.tree import columns as f
from sog.searches.tree import draws, pairs
from sog.searches.tree.arrays import Public, Tree

# The share of uniform play in what the walking player samples under outcome sampling.
EXPLORATION: Final = 0.6

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)

# Columns of Walk.turns and Walk.sums.
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
        walk = Walk(
            self.outcome,
            np.zeros(1, dtype=np.uint64),
            np.zeros(2, dtype=np.int64),
            np.zeros((tree.size, 4), dtype=np.int64),
            np.zeros((tree.size, 3)),
        )
        _run(tree.public.arrays, tree.arrays, walk, tree.iterations + 1, count, np.uint64(self.seed))
        tree.iterations += count


EXTERNAL: Final = MonteCarlo("external-mccfr", outcome=False)
OUTCOME: Final = MonteCarlo("outcome-mccfr", outcome=True)

VARIANTS: Final = (EXTERNAL, OUTCOME)


class Walk(NamedTuple):
    """How a walk samples, and what it keeps.

    outcome: as in MonteCarlo.  rng: uint64[1].  pair: int64[2], the world.
    turns: int64[*, 4] and sums: float64[*, 3], the stack of the walking player's turns (columns above).
    """

    outcome: bool
    rng: Array
    pair: Int64
    turns: Int64
    sums: Float64


@njit
def _run(public: Public, tree: Tree, walk: Walk, first: int, iterations: int, seed: Any) -> None:
    """Iterations first, first + 1, ... ."""
    rng = walk.rng
    for t in range(first, first + iterations):
        rng[0] = (seed + np.uint64(1)) * _GOLDEN
        draws.random(rng)
        rng[0] ^= np.uint64(t) * np.uint64(0xD1342543DE82EF95)
        draws.random(rng)
        for p in range(2):
            if draws.draw_pair(public, tree, 0, rng, walk.pair):
                _walk(public, tree, walk, p)


@njit
def _walk(public: Public, tree: Tree, walk: Walk, p: int) -> None:
    """Walk from the root for player p with the pair drawn there, and update the infostates met.

    A turn on the stack holds the value summed over its actions so far, the probability with which its action was
    chosen, and that of all player p's choices before it.
    """
    nodes, pair, turns, sums = tree.nodes, walk.pair, walk.turns, walk.sums
    regret, policy = tree.entries[f.REGRET], tree.entries[f.POLICY]
    n, depth, sampled = 0, 0, 1.0
    while True:
        n = _to_turn(public, tree, walk, n, p, sampled)
        if nodes[n, f.KIND] == f.INTERIOR:
            chosen, chance = draws.next_legal(public, tree, n, pair[p], -1), 1.0
            if walk.outcome:
                chosen, chance = _draw_action(public, tree, walk.rng, n, pair[p], EXPLORATION)
            turns[depth, _AT], turns[depth, _CHOSEN] = n, chosen
            turns[depth, _PAIR0], turns[depth, _PAIR1] = pair[0], pair[1]
            sums[depth, _VALUE], sums[depth, _CHANCE], sums[depth, _SAMPLED] = 0.0, chance, sampled
            depth += 1
            sampled *= chance
            n = draws.child_over(tree, n, draws.take(public, tree, n, chosen, pair))
            continue
        value = pairs.utility(public, nodes[n, f.PUBLIC], pair[0], pair[1])
        value = value if p == 0 else -value
        while depth > 0:  # back up to the latest turn with an action left to try
            k = depth - 1
            n, chosen, i = turns[k, _AT], turns[k, _CHOSEN], turns[k, _PAIR0 + p]
            entry = nodes[n, f.VAR0] + chosen * nodes[n, f.N_I0 + p] + i
            value /= sums[k, _CHANCE]
            sums[k, _VALUE] += policy[entry] * value
            regret[entry] += value / sums[k, _SAMPLED]
            chosen = -1 if walk.outcome else draws.next_legal(public, tree, n, i, chosen)
            if chosen >= 0:
                break
            value = sums[k, _VALUE]
            _finish(public, tree, n, i, value / sums[k, _SAMPLED])
            depth -= 1
        if depth == 0:
            return
        turns[depth - 1, _CHOSEN] = chosen
        pair[0], pair[1] = turns[depth - 1, _PAIR0], turns[depth - 1, _PAIR1]
        n = draws.child_over(tree, n, draws.take(public, tree, n, chosen, pair))


@njit
def _to_turn(public: Public, tree: Tree, walk: Walk, n: int, p: int, sampled: float) -> int:
    """The next node where player p acts or the game ends; chance's and the opponent's actions are drawn.

    The opponent's policies enter the average, over the probability of player p's own choices so far.
    """
    nodes, entries, pair = tree.nodes, tree.entries, walk.pair
    while nodes[n, f.KIND] == f.INTERIOR and nodes[n, f.N_ACTOR] != p:
        actor = nodes[n, f.N_ACTOR]
        if actor >= f.NATURE:
            n = draws.child_over(tree, n, draws.draw_chance(public, nodes[n, f.PUBLIC], walk.rng, pair))
            continue
        width, k = nodes[n, f.N_I0 + actor], nodes[n, f.VAR0] + pair[actor]
        for _ in range(nodes[n, f.N_ACTIONS]):
            entries[f.POLICY_SUM, k] += entries[f.POLICY, k] / sampled
            k += width
        chosen, _ = _draw_action(public, tree, walk.rng, n, pair[actor], 0.0)
        n = draws.child_over(tree, n, draws.take(public, tree, n, chosen, pair))
    return n


@njit
def _draw_action(public: Public, tree: Tree, rng: Array, n: int, i: int, explore: float) -> Any:
    """(action, its probability) drawn at infostate i of node n from the policy, mixed with uniform legal play."""
    nodes, policy = tree.nodes, tree.entries[f.POLICY]
    width, var = nodes[n, f.N_I0 + nodes[n, f.N_ACTOR]], nodes[n, f.VAR0] + i
    legal = draws.count_legal(public, tree, n, i)
    target, chosen, chance = draws.random(rng), -1, 0.0
    for a in range(nodes[n, f.N_ACTIONS]):
        if not draws.is_legal(public, nodes[n, f.N_ACTION0] + a, i):
            continue
        q = (1.0 - explore) * policy[var + a * width] + explore / legal
        if q > 0.0:
            chosen, chance = a, q
            target -= q
            if target < 0.0:
                break
    return chosen, chance


@njit
def _finish(public: Public, tree: Tree, n: int, i: int, value: float) -> None:
    """Take the value off the regrets of infostate i at node n, and match them: uniform where none is positive."""
    nodes, regret, policy = tree.nodes, tree.entries[f.REGRET], tree.entries[f.POLICY]
    width, var = nodes[n, f.N_I0 + nodes[n, f.N_ACTOR]], nodes[n, f.VAR0] + i
    total, legal = 0.0, 0
    a = draws.next_legal(public, tree, n, i, -1)
    while a >= 0:
        regret[var + a * width] -= value
        total += max(regret[var + a * width], 0.0)
        legal += 1
        a = draws.next_legal(public, tree, n, i, a)
    a = draws.next_legal(public, tree, n, i, -1)
    while a >= 0:
        policy[var + a * width] = max(regret[var + a * width], 0.0) / total if total > 0.0 else 1.0 / legal
        a = draws.next_legal(public, tree, n, i, a)
