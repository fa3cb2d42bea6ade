"""The one loop of CFR on a tree without leaves, with the re-solving gadget above its root or without.

It works on arrays alone: rules come as rows of weights, the gadget as the arrays of its two choices.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Float64
from sog.searches.cfr import sweeps
from sog.searches.cfr.matching import regret_step
from sog.searches.kernels.jit import njit
from sog.searches.tree import pairs
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.players import Players, only, within
from sog.searches.tree.records import Entry, Infostate


class Choice(NamedTuple):
    """The opponent's choice at each of its infostates above the root, to follow or to leave, as kernels take it.

    opponent: whose it is; -1 where there is no gadget.  alpha: see resolving.gadget.Gadget.
    regret: float64[2, I], of following and of leaving.  follow: float64[I], the probability of following.
    leave: float64[I], what leaving pays, a counterfactual value.  previous: float64[I], the range mixed in.
    """

    opponent: int
    alpha: float
    regret: Float64
    follow: Float64
    leave: Float64
    previous: Float64


_NOTHING: Final = np.zeros(0)
NO_CHOICE: Final = Choice(-1, 1.0, np.zeros((2, 0)), _NOTHING, _NOTHING, _NOTHING)


@njit
def enter(tree: Tree, choice: Choice) -> None:
    """Put the opponent's range at node 0, where there is a gadget (PoG, B.1.1).

    r[i] = alpha * follow[i] + (1 - alpha) * previous[i].
    """
    if choice.opponent >= 0:
        reach, first = tree.infostates[Infostate.REACH], tree.nodes[0].offset[choice.opponent]
        for i in range(len(choice.follow)):
            reach[first + i] = choice.alpha * choice.follow[i] + (1.0 - choice.alpha) * choice.previous[i]


@njit
def update_choice(tree: Tree, choice: Choice, updates: Players, step: Array) -> None:
    """One regret update of the gadget from the values at node 0, where its player is one of `updates`.

    v[i] = follow[i] * cfv[i] + (1 - follow[i]) * leave[i],  R[F, i] += cfv[i] - v[i],  R[T, i] += leave[i] - v[i],
    follow[i] = R[F, i]+ / (R[F, i]+ + R[T, i]+), with the discounts of the subgame's rule.
    """
    if choice.opponent < 0 or not within(choice.opponent, updates):
        return
    regret, follow, leave = choice.regret, choice.follow, choice.leave
    cfv, first = tree.infostates[Infostate.CFV], tree.nodes[0].offset[choice.opponent]
    for i in range(len(follow)):
        inside = cfv[first + i]
        value = follow[i] * inside + (1.0 - follow[i]) * leave[i]
        # Both choices are weighed alike: counterfactual values, by chance and the player's reach.
        regret[0, i], go = regret_step(regret[0, i], inside - value, step[0], step[1], step[3], 0.0)
        regret[1, i], stay = regret_step(regret[1, i], leave[i] - value, step[0], step[1], step[3], 0.0)
        if go + stay > 0.0:  # without regrets, as where both choices pay 0, it stays as it was
            follow[i] = go / (go + stay)


@njit
def iterate(public: Public, tree: Tree, choice: Choice, steps: Array, alternating: bool, track: bool) -> None:
    """One iteration of CFR for each row of `steps`, float64[T, 4] (rules.Rule.steps).

    alternating: the players update in turn.  track: also sum values and ranges over the iterations (sweeps.backward).
    """
    nodes, ends = tree.counts[0].nodes, tree.counts[0].ends
    moved = Players.BOTH  # the players whose ranges have to be sent down again
    # Each turn: ranges down, payoffs at the ends, values and regrets up, then the gadget, as the opponent's decision
    # above the root.
    for t in range(len(steps)):
        for turn in range(2 if alternating else 1):
            updates = only(turn) if alternating else Players.BOTH
            # A turn's regrets need its own player's values only; sums over iterations need both players'.
            players = Players.BOTH if track else updates
            enter(tree, choice)
            sweeps.forward(public, tree, 0, nodes, Entry.POLICY, moved)
            pairs.payoffs(public, tree, 0, ends, players)
            sweeps.backward(public, tree, 0, nodes, players, updates, steps[t], track)
            update_choice(tree, choice, updates, steps[t])
            # The other player's ranges have not changed.
            moved = updates
