"""Simulations of information set Monte Carlo tree search from one infostate of a tree without leaves.

The statistics of an infostate lie at its (node, action, infostate) entries, as regrets do, so that no infostate is
ever looked up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sog.arrays import Array, Bool, Float64, Int64
from sog.games.base import NATURE
from sog.records import Record, Records, Whole
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.kernels.jit import njit
from sog.searches.tree import draws, pairs
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.records import Infostate, Kind


class Meeting(Record):
    """An infostate that a search has met."""

    node = Whole("i8")
    infostate = Whole("i8")  # of the node's actor


class Meetings(Records[Meeting], Meeting):
    """Infostates in the order in which they were met."""


class Memory(NamedTuple):
    """The statistics of a search, and room to work in.

    visits, returns: float64[V], how often an action was chosen and what its player earned after it.
    opened: bool[S], the infostates met; known[0] of them, int64[1], are listed in met.
    worlds: float64[I], pair: int64[2], path: int64[*]: to work in.
    """

    visits: Float64
    returns: Float64
    opened: Bool
    met: Meetings
    known: Int64
    worlds: Float64
    pair: Int64
    path: Int64


class Simulator:
    """Searches infostates of one tree, one after another; a search keeps nothing of those before."""

    def __init__(self, tree: Lookahead) -> None:
        """tree: without leaves. Worlds are drawn by its ranges."""
        self._tree = tree
        visits, returns = np.zeros((2, tree.entries.shape[1]))
        self._memory = Memory(
            visits=visits,
            returns=returns,
            opened=np.zeros(tree.infostates.shape[1], dtype=np.bool_),
            met=Meetings.zeros(1),
            known=np.zeros(1, dtype=np.int64),
            worlds=np.zeros(tree.public.widest),
            pair=np.zeros(2, dtype=np.int64),
            path=np.zeros(tree.size, dtype=np.int64),
        )

    def search(self, n: int, i: int, simulations: int, c: float, rng: Array) -> tuple[Float64, Float64]:
        """This many simulations from infostate i of the actor of node n: visits and returns, float64[A] each.

        returns: the sum of what the actor earned after each action, utilities.  c: UCT's exploration constant,
        utilities.  rng: uint64[1].
        """
        tree, memory = self._tree, self._memory
        # Each simulation meets at most one new infostate.
        if len(memory.met) < simulations:
            memory = self._memory = memory._replace(met=Meetings.zeros(simulations))
        _search(tree.public.arrays, tree.arrays, memory, n, i, simulations, c, rng)
        block, count = tree.block(n), len(tree.actions(n))
        visits, returns = (row[block].reshape(count, -1)[:, i].copy() for row in (memory.visits, memory.returns))
        _forget(tree.arrays, memory)
        return visits, returns


@njit
def _search(
    public: Public, tree: Tree, memory: Memory, root: int, i: int, simulations: int, c: float, rng: Array
) -> None:
    """Simulate from infostate i of the actor of node `root`, and leave the statistics of every infostate met."""
    pair, path, p = memory.pair, memory.path, tree.nodes[root].actor
    _weigh_worlds(public, tree, root, i, memory.worlds)
    for _ in range(simulations):
        # Determinization: the own infostate is known, the opponent's drawn by its chance beside it. Statistics are by
        # infostate, whatever the world.
        pair[p], pair[1 - p] = i, _draw_world(memory.worlds, tree.nodes[root].width[1 - p], rng)
        n, depth = root, 0
        while tree.nodes[n].kind == Kind.INTERIOR:  # choose by UCT as far as infostates are known
            node = tree.nodes[n]
            if node.actor >= NATURE:
                n = _chance(public, tree, n, rng, pair)
                continue
            k = pair[node.actor]
            # Expansion: one infostate a simulation, then uniform play to the end.
            if not memory.opened[node.offset[node.actor] + k]:
                _open(tree, memory, n, k)
                break
            a = _select(public, tree, memory, n, k, c, rng)
            # The entry and, in its last bit, the player whose return it counts.
            path[depth] = (node.entry0 + a * node.width[node.actor] + k) * 2 + node.actor
            depth += 1
            n = draws.child_over(tree, n, draws.take(public, tree, n, a, pair))
        n = _play_out(public, tree, n, rng, pair)
        utility = pairs.utility(public, tree.nodes[n].public, pair[0], pair[1])
        # Each player counts its own utility.
        for d in range(depth):
            k = path[d] // 2
            memory.visits[k] += 1.0
            memory.returns[k] += utility if path[d] % 2 == 0 else -utility


@njit
def _forget(tree: Tree, memory: Memory) -> None:
    """Clear the statistics of every infostate met, for the next search."""
    for m in range(memory.known[0]):
        meeting = memory.met[m]
        node, i = tree.nodes[meeting.node], meeting.infostate
        memory.opened[node.offset[node.actor] + i] = False
        k = node.entry0 + i
        for _ in range(node.actions):
            memory.visits[k], memory.returns[k] = 0.0, 0.0
            k += node.width[node.actor]
    memory.known[0] = 0


@njit
def _weigh_worlds(public: Public, tree: Tree, n: int, i: int, worlds: Array) -> None:
    """worlds[j] = sum over j' <= j of W[i, j'] * r[j']: the opponent's infostates beside infostate i of node n."""
    node, reach = tree.nodes[n], tree.infostates[Infostate.REACH]
    other, total = 1 - node.actor, 0.0
    for j in range(node.width[other]):
        w = pairs.weight(public, node.public, j, i) if other == 0 else pairs.weight(public, node.public, i, j)
        total += reach[node.offset[other] + j] * w
        worlds[j] = total


@njit
def _draw_world(worlds: Array, count: int, rng: Array) -> int:
    """An opponent's infostate by the running sums `worlds`."""
    # The first j whose running sum is above the target; infostates of weight 0 add nothing and are passed over.
    target, j = draws.random(rng) * worlds[count - 1], 0
    while j < count - 1 and worlds[j] <= target:
        j += 1
    return j


@njit
def _chance(public: Public, tree: Tree, n: int, rng: Array, pair: Array) -> int:
    """The node after chance's draw at node n; the pair moves on with it."""
    return int(draws.child_over(tree, n, draws.draw_chance(public, tree.nodes[n].public, rng, pair)))


@njit
def _play_out(public: Public, tree: Tree, n: int, rng: Array, pair: Array) -> int:
    """The terminal node where uniform legal play from node n ends; the pair moves on with it."""
    # Uniform rollouts, whose returns are the only values: no network is asked.
    while tree.nodes[n].kind == Kind.INTERIOR:
        actor = tree.nodes[n].actor
        if actor >= NATURE:
            n = _chance(public, tree, n, rng, pair)
        else:
            a = _random_legal(public, tree, n, pair[actor], rng)
            n = draws.child_over(tree, n, draws.take(public, tree, n, a, pair))
    return n


@njit
def _open(tree: Tree, memory: Memory, n: int, i: int) -> None:
    """Note that infostate i of the actor of node n has been met."""
    node, meeting = tree.nodes[n], memory.met[memory.known[0]]
    memory.opened[node.offset[node.actor] + i] = True
    meeting.node, meeting.infostate = n, i
    memory.known[0] += 1


@njit
def _select(public: Public, tree: Tree, memory: Memory, n: int, i: int, c: float, rng: Array) -> int:
    """The legal action with the highest UCT score at infostate i of node n, first those never chosen; ties are drawn.

    score[a] = returns[a] / n[a] + c * sqrt(log(N) / n[a]), n: visits, N: their sum; infinite where n[a] is 0.
    """
    node, visits, returns = tree.nodes[n], memory.visits, memory.returns
    width, first = node.width[node.actor], node.entry0 + i
    total = 0.0
    for a in range(node.actions):
        total += visits[first + a * width]
    # c * sqrt(log(N) / n) = sqrt(c^2 * log(N) / n).
    spread = c * c * np.log(total) if total > 0.0 else 0.0
    best, top, ties = -1, -np.inf, 0
    for a in range(node.actions):
        if not draws.is_legal(public, node.action0 + a, i):
            continue
        k, score = first + a * width, np.inf
        if visits[k] > 0.0:
            score = returns[k] / visits[k] + np.sqrt(spread / visits[k])
        if score > top:
            best, top, ties = a, score, 1
        elif score == top:
            # The k-th of equals replaces the choice with probability 1 / k: each ends up chosen with the same one.
            ties += 1
            if draws.random(rng) * ties < 1.0:
                best = a
    return best


@njit
def _random_legal(public: Public, tree: Tree, n: int, i: int, rng: Array) -> int:
    """A legal action at infostate i of node n, each as likely."""
    left = int(draws.random(rng) * draws.count_legal(public, tree, n, i))
    a = draws.next_legal(public, tree, n, i, -1)
    for _ in range(left):
        a = draws.next_legal(public, tree, n, i, a)
    return int(a)
