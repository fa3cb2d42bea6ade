"""Monte Carlo CFR on a tree without leaves: external and outcome sampling (Lanctot et al. 2009).

An iteration walks the tree once for each player in turn. The walk holds one world at a time, a pair of infostates, so
its cost does not grow with the number of infostates. Regrets are plain CFR's, sampled without bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Int64
from sog.games.base import NATURE
from sog.records import Pair, Real, Record, Records, Whole
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.kernels.jit import inlined, njit
from sog.searches.tree import draws, pairs
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.records import Entry, Kind

# The share of uniform play in what the walking player samples under outcome sampling.
EXPLORATION: Final = 0.6

# 2^64 over the golden ratio, which `draws.random` adds to a state at each draw.
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)


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
        # A walk has fewer turns than the tree has nodes.
        walk = SampledWalk(
            self.outcome,
            np.zeros(1, dtype=np.uint64),
            np.zeros(2, dtype=np.int64),
            SampledTurns.zeros(tree.size),
        )
        _run(tree.public.arrays, tree.arrays, walk, tree.iterations + 1, count, np.uint64(self.seed))
        tree.iterations += count


EXTERNAL: Final = MonteCarlo("external-mccfr", outcome=False)
OUTCOME: Final = MonteCarlo("outcome-mccfr", outcome=True)

VARIANTS: Final = (EXTERNAL, OUTCOME)


class Turn(Record):
    """A turn of the walking player on the way to where its walk is."""

    node = Whole("i8")  # where it acts
    chosen = Whole("i8")  # the action that is being walked
    pair = Pair("i8")  # both players' infostates there
    value = Real("f8")  # summed over its actions so far
    chance = Real("f8")  # the probability with which its action was chosen
    sampled = Real("f8")  # that of all the player's choices before it


class SampledTurns(Records[Turn], Turn):
    """A stack of turns."""


class SampledWalk(NamedTuple):
    """How a walk samples, and what it keeps.

    outcome: as in MonteCarlo.  rng: uint64[1].  pair: int64[2], the world.  turns: the walking player's.
    """

    outcome: bool
    rng: Array
    pair: Int64
    turns: SampledTurns


@njit
def _run(public: Public, tree: Tree, walk: SampledWalk, first: int, iterations: int, seed: np.uint64) -> None:
    """Iterations first, first + 1, ... ."""
    rng = walk.rng
    for t in range(first, first + iterations):
        # The generator's state from (seed, t), so that iteration t is the same in any run; t's odd factor sets the
        # states of two iterations far apart.
        rng[0] = (seed + np.uint64(1)) * _GOLDEN
        draws.random(rng)
        rng[0] ^= np.uint64(t) * np.uint64(0xD1342543DE82EF95)
        draws.random(rng)
        for p in range(2):
            # Chance first: a pair of infostates at the root by W.
            if draws.draw_pair(public, tree, 0, rng, walk.pair):
                _walk(public, tree, walk, p)


# Pasted in, like `_finish`: a call copies all fields of the tuples, which takes as long as the walk itself.
@inlined
def _walk(public: Public, tree: Tree, walk: SampledWalk, p: int) -> None:
    """Walk from the root for player p with the pair drawn there, and update the infostates met.

    Chance and the opponent are sampled by their own probabilities, which cancel. With s the probability with which
    player p's own choices above infostate I were sampled, and c that of action a (1 where all are tried):
    v(I, a) = v(below) / c,  0 for an action not sampled;  v(I) = sum over a of policy[a] * v(I, a);
    R[I, a] += (v(I, a) - v(I)) / s.
    """
    pair, turns = walk.pair, walk.turns
    regret, policy = tree.entries[Entry.REGRET], tree.entries[Entry.POLICY]
    n, depth, sampled = 0, 0, 1.0
    while True:
        # Down: to the next turn of player p, which is pushed with its first or its sampled action.
        n = _to_turn(public, tree, walk, n, p, sampled)
        node = tree.nodes[n]
        if node.kind == Kind.INTERIOR:
            chosen, chance = draws.next_legal(public, tree, n, pair[p], -1), 1.0
            if walk.outcome:
                chosen, chance = _draw_action(public, tree, walk.rng, n, pair[p], EXPLORATION)
            turn = turns[depth]
            turn.node, turn.chosen = n, chosen
            turn.pair[0], turn.pair[1] = pair[0], pair[1]
            turn.value, turn.chance, turn.sampled = 0.0, chance, sampled
            depth += 1
            sampled *= chance
            n = draws.child_over(tree, n, draws.take(public, tree, n, chosen, pair))
            continue
        # An end: up again with its utility.
        value = pairs.utility(public, node.public, pair[0], pair[1])
        value = value if p == 0 else -value
        while depth > 0:  # back up to the latest turn with an action left to try
            turn = turns[depth - 1]
            n, chosen, i = turn.node, turn.chosen, turn.pair[p]
            entry = tree.nodes[n].entry0 + chosen * tree.nodes[n].width[p] + i
            # This action's part of R += v(I, a) / s; `_finish` takes off v(I) / s, which is known once all actions are
            # done.
            value /= turn.chance
            turn.value += policy[entry] * value
            regret[entry] += value / turn.sampled
            chosen = -1 if walk.outcome else draws.next_legal(public, tree, n, i, chosen)
            if chosen >= 0:
                break
            value = turn.value
            _finish(public, tree, n, i, value / turn.sampled)
            depth -= 1
        if depth == 0:
            return
        turn = turns[depth - 1]
        # External sampling: the same turn's next action, from the world as it was there.
        turn.chosen = chosen
        pair[0], pair[1] = turn.pair[0], turn.pair[1]
        n = draws.child_over(tree, n, draws.take(public, tree, n, chosen, pair))


@njit
def _to_turn(public: Public, tree: Tree, walk: SampledWalk, n: int, p: int, sampled: float) -> int:
    """The next node where player p acts or the game ends; chance's and the opponent's actions are drawn.

    The opponent's policies enter its average: S[I, a] += policy[a] / s, s: that of player p's own choices so far.
    """
    entries, pair = tree.entries, walk.pair
    while tree.nodes[n].kind == Kind.INTERIOR and tree.nodes[n].actor != p:
        node = tree.nodes[n]
        if node.actor >= NATURE:
            n = draws.child_over(tree, n, draws.draw_chance(public, node.public, walk.rng, pair))
            continue
        # Infostate I is met with probability (opponent's reach) * (chance's) * s. Over s, S grows by reach * policy in
        # the mean, times chance's part, which is the same for all actions of I.
        i, width = pair[node.actor], node.width[node.actor]
        k = node.entry0 + i
        for _ in range(node.actions):
            entries[Entry.POLICY_SUM, k] += entries[Entry.POLICY, k] / sampled
            k += width
        # By its own policy, without exploring: the probabilities cancel in the regrets.
        chosen, _ = _draw_action(public, tree, walk.rng, n, i, 0.0)
        n = draws.child_over(tree, n, draws.take(public, tree, n, chosen, pair))
    return n


@njit
def _draw_action(public: Public, tree: Tree, rng: Array, n: int, i: int, explore: float) -> tuple[int, float]:
    """(action, its probability) drawn at infostate i of node n from the policy, mixed with uniform legal play."""
    node, policy = tree.nodes[n], tree.entries[Entry.POLICY]
    width, k = node.width[node.actor], node.entry0 + i
    legal = draws.count_legal(public, tree, n, i)
    target, chosen, chance = draws.random(rng), -1, 0.0
    for a in range(node.actions):
        if draws.is_legal(public, node.action0 + a, i):
            # With explore > 0 every legal action is sampled sometimes, as outcome sampling's 1 / q needs.
            q = (1.0 - explore) * policy[k] + explore / legal
            if q > 0.0:
                chosen, chance = a, q
                target -= q
                if target < 0.0:
                    break
        k += width
    return chosen, chance


@inlined
def _finish(public: Public, tree: Tree, n: int, i: int, value: float) -> None:
    """Take the value off the regrets of infostate i at node n, and match them: uniform where none is positive.

    R[a] -= value for every legal a, sampled or not;  policy[a] = max(R[a], 0) / sum over b of max(R[b], 0).
    """
    node, regret, policy = tree.nodes[n], tree.entries[Entry.REGRET], tree.entries[Entry.POLICY]
    width, first = node.width[node.actor], node.entry0 + i
    total, legal = 0.0, 0
    a = draws.next_legal(public, tree, n, i, -1)
    while a >= 0:
        regret[first + a * width] -= value
        total += max(regret[first + a * width], 0.0)
        legal += 1
        a = draws.next_legal(public, tree, n, i, a)
    a = draws.next_legal(public, tree, n, i, -1)
    while a >= 0:
        # The policy of the next walk that comes here, which may be in this iteration: walks update at once.
        policy[first + a * width] = max(regret[first + a * width], 0.0) / total if total > 0.0 else 1.0 / legal
        a = draws.next_legal(public, tree, n, i, a)
