"""External-sampling MCCFR (Lanctot et al. 2009) of hold'em's betting tree, with buckets in place of hands.

Betting does not depend on cards, so one tree serves all deals. An iteration deals both hands and the board once, and
walks the tree for each player in turn: the player's actions are all tried, the other's are drawn. Iteration t weighs t
in regrets and in averages (Linear CFR, Brown and Sandholm 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Float64, Int32, Int64
from sog.errors import SettingError
from sog.games.base import NATURE, TERMINAL
from sog.games.holdem.cards import HANDS
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.holdem.scores import score_board
from sog.opponents.holdem.buckets import BucketTables
from sog.searches.kernels.jit import cached, njit
from sog.searches.tree import draws

__all__ = [
    "FOLDED",
    "SHOWDOWN",
    "BettingTree",
    "BlueprintSums",
    "Work",
    "betting_tree",
    "iterate",
    "past_cards",
    "walk",
    "work_of",
]

FOLDED: Final = 2
SHOWDOWN: Final = 3
_MOST_NODES: Final = 600_000  # of a tree; more would not fit into a gigabyte of regrets and averages
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)


class BettingTree(NamedTuple):
    """The public states without cards, one row each, the root first; a decision's children are consecutive.

    kind: int32[N], who acts, FOLDED or SHOWDOWN.  street, first, actions: int32[N], the betting round, the first child
    and how many there are.  entry: int64[N], the first of a decision's buckets * actions numbers in a policy.  payoff:
    float64[N], what player 0 wins after a fold, what is at stake at a showdown.
    """

    kind: Int32
    street: Int32
    first: Int32
    actions: Int32
    entry: Int64
    payoff: Float64


class BlueprintSums(NamedTuple):
    """regret, average: float64[E], of each decision's buckets and their actions."""

    regret: Float64
    average: Float64


class Work(NamedTuple):
    """What the walks keep.  rng: uint64[1].  bucket: int64[2, 4], each player's on each street.  cards: int64[9].

    node, entry, action: int64[D], value: float64[D, A]: the walking player's turns on the way.  scores: int32[1326].
    masks, to: int64[4].
    """

    rng: Array
    bucket: Int64
    cards: Int64
    node: Int64
    entry: Int64
    action: Int64
    value: Float64
    scores: Int32
    masks: Int64
    to: Int64


def betting_tree(game: Holdem, widths: Sequence[int]) -> tuple[BettingTree, list[HoldemState]]:
    """The tree of a game, and a state of each node, with any cards; SettingError where it is too large.

    widths: how many buckets each street has.
    """
    states = [past_cards(game, game.root())]
    rows: list[tuple[float, ...]] = []
    entry = n = 0
    while n < len(states):
        s = states[n]
        betting, actor = s.betting, game.actor(s)
        stake = game.spot.pot / 2 + betting.matched
        if actor == TERMINAL:
            folded = betting.folded >= 0
            rows.append((FOLDED if folded else SHOWDOWN, 0, 0, 0, entry, -stake if betting.folded == 0 else stake))
        else:
            actions = game.actions(s)
            rows.append((actor, betting.street, len(states), len(actions), entry, 0.0))
            entry += len(actions) * widths[betting.street]
            if len(states) + len(actions) > _MOST_NODES:
                raise SettingError(f"{game.name} has too many lines of betting for a table: name fewer bet sizes")
            states += [past_cards(game, game.after(s, int(a))) for a in actions]
        n += 1
    if entry == 0:
        raise SettingError(f"{game.name} has no decisions: the blinds are all-in")
    column = [np.array(values) for values in zip(*rows, strict=True)]
    kind, street, first, actions = (values.astype(np.int32) for values in column[:4])
    return BettingTree(kind, street, first, actions, column[4].astype(np.int64), column[5]), states


def past_cards(game: Holdem, s: HoldemState) -> HoldemState:
    """The next state where a player acts or the game is over, whatever cards come before it."""
    while game.actor(s) == NATURE:
        s = game.deal(s, tuple(range(len(s.board), len(s.board) + game.cards_to_deal(s))))
    return s


def work_of(tree: BettingTree) -> Work:
    """Room for the walks on a tree."""
    depth = np.zeros(len(tree.kind), dtype=np.int64)
    for n in np.flatnonzero(tree.actions):
        depth[tree.first[n] : tree.first[n] + tree.actions[n]] = depth[n] + 1
    turns, most = int(depth.max()) + 1, int(tree.actions.max())
    node, entry, action = np.zeros((3, turns), dtype=np.int64)
    masks, to = np.zeros((2, 4), dtype=np.int64)
    rng, bucket, cards = np.zeros(1, dtype=np.uint64), np.zeros((2, 4), dtype=np.int64), np.zeros(9, dtype=np.int64)
    scores = np.zeros(HANDS, dtype=np.int32)
    return Work(rng, bucket, cards, node, entry, action, np.zeros((turns, most)), scores, masks, to)


@njit
def _chance(regrets: Float64, k: int, count: int, total: float, a: int) -> float:
    """Regret matching: policy[a] = max(R[a], 0) / sum over b of max(R[b], 0), uniform where none is positive."""
    return max(regrets[k + a], 0.0) / total if total > 0.0 else 1.0 / count


@njit
def walk(tree: BettingTree, sums: BlueprintSums, work: Work, p: int, sign: int, weight: float) -> None:
    """Walk for player p with the buckets in `work`, and update what it meets.

    sign: 1 where player 0 has the better hand, -1 where player 1 has, 0 for a tie.  With v(a) what p wins after its
    action a:  v = sum over a of policy[a] * v(a);  R[a] += weight * (v(a) - v).  Of the other player, whose actions are
    drawn, S[a] += weight * policy[a].
    """
    regrets, averages = sums
    n, depth = 0, 0
    while True:
        # Down: to the end, by the first actions of player p and drawn ones of the other.
        while tree.kind[n] < FOLDED:
            actor, count = tree.kind[n], tree.actions[n]
            k = tree.entry[n] + work.bucket[actor, tree.street[n]] * count
            chosen = 0
            if actor == p:
                work.node[depth], work.entry[depth], work.action[depth] = n, k, 0
                depth += 1
            else:
                total = 0.0
                for a in range(count):
                    total += max(regrets[k + a], 0.0)
                target = draws.random(work.rng)
                for a in range(count):
                    q = _chance(regrets, k, count, total, a)
                    averages[k + a] += weight * q
                    if q > 0.0 and target >= 0.0:
                        chosen = a
                    target -= q
            n = tree.first[n] + chosen
        value = tree.payoff[n] if tree.kind[n] == FOLDED else sign * tree.payoff[n]
        value = value if p == 0 else -value
        # Up: to the latest turn of player p with an action left to try; the others have all of theirs.
        while depth > 0:
            top = depth - 1
            n, k, a = work.node[top], work.entry[top], work.action[top]
            count = tree.actions[n]
            work.value[top, a] = value
            if a + 1 < count:
                work.action[top] = a + 1
                n = tree.first[n] + a + 1
                break
            total, value = 0.0, 0.0
            for b in range(count):
                total += max(regrets[k + b], 0.0)
            for b in range(count):
                value += _chance(regrets, k, count, total, b) * work.value[top, b]
            for b in range(count):
                regrets[k + b] += weight * (work.value[top, b] - value)
            depth -= 1
        if depth == 0:
            return


@njit
def _hand(a: int, b: int) -> int:
    """The number of the hand of two cards."""
    low, high = min(a, b), max(a, b)
    return low * (103 - low) // 2 + high - low - 1


@njit
def _look_up(keys: Int64, table: Array, known: int, street: int, work: Work) -> None:
    """Both hands' buckets on the first `known` cards of the board."""
    cards, masks, to = work.cards, work.masks, work.to
    for s in range(4):
        masks[s] = 0
    for c in range(4, 4 + known):
        masks[cards[c] & 3] |= 1 << (cards[c] >> 2)
    # Each suit's place by its mask, the largest first, of equal ones the lower suit first.
    key = 0
    for s in range(4):
        place = 0
        for other in range(4):
            place += masks[other] > masks[s] or (masks[other] == masks[s] and other < s)
        to[s] = place
        key += masks[s] << (39 - 13 * place)
    row = np.searchsorted(keys, key)
    for p in range(2):
        first, second = cards[2 * p], cards[2 * p + 1]
        hand = _hand((first & ~3) + to[first & 3], (second & ~3) + to[second & 3])
        work.bucket[p, street] = table[row, hand]


def _iterate(
    tree: BettingTree, tables: BucketTables, sums: BlueprintSums, work: Work, begin: int, count: int, seed: np.uint64
) -> None:
    """Iterations begin + 1 to begin + count; the draws of one depend on the seed and its number alone."""
    rng, cards = work.rng, work.cards
    for t in range(begin + 1, begin + count + 1):
        rng[0] = (seed + np.uint64(1)) * _GOLDEN
        draws.random(rng)
        rng[0] ^= np.uint64(t) * np.uint64(0xD1342543DE82EF95)
        draws.random(rng)
        dealt = 0
        for k in range(9):
            while True:
                card = int(draws.random(rng) * 52)
                if not dealt >> card & 1:
                    break
            dealt |= 1 << card
            cards[k] = card
        own, other = _hand(cards[0], cards[1]), _hand(cards[2], cards[3])
        work.bucket[0, 0], work.bucket[1, 0] = tables.classes[own], tables.classes[other]
        _look_up(tables.flop_keys, tables.flops, 3, 1, work)
        _look_up(tables.turn_keys, tables.turns, 4, 2, work)
        _look_up(tables.river_keys, tables.rivers, 5, 3, work)
        score_board(cards[4:], work.scores)
        sign = int(work.scores[own] > work.scores[other]) - int(work.scores[own] < work.scores[other])
        for p in range(2):
            walk(tree, sums, work, p, sign, float(t))


iterate = cached(_iterate, {"error_model": "numpy"})  # the rules' kernel that it calls allocates
