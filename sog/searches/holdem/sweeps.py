"""Numba sweeps of the hold'em solver: one player's reach down, payoffs, the other player's values up.

They read hand vectors (trees.py) and a Program's tables (tables.py), and no rules. A half iteration updates one player:
the opponent's reach goes down through the top; then part by part (a part is a forest on a board) it continues down,
showdowns and folds are paid and values come up; then the values that the parts hand up are summed at the top's cuts
and come up to the root. Threads share the parts.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Float32, Int64
from sog.searches.holdem.entries import Entries, entry, exact, keep, store_entry
from sog.searches.holdem.payoffs import BLOCK, U0, U1, ZERO, Order, Workspace, fold_values, showdown_batch
from sog.searches.holdem.tables import UNLOCKED, Boards, Cuts, Locks, Sizes, Tables
from sog.searches.holdem.trees import DECISION, FOLDED, SpotNodes
from sog.searches.kernels.jit import inlined
from sog.searches.kernels.registers import larger, pick
from sog.searches.kernels.threads import NEXT, fetch_add, released, wait_for_all, write
from sog.searches.kernels.vectors import load, splat, store

__all__ = ["ADD", "BEST", "UPDATE", "VALUE", "Crew", "Learned", "Task", "Top", "run"]

ONE: Final = np.float32(1.0)
LEAST: Final = np.float32(1e-36)  # sums up to this count as 0: one over less may be infinite in float32

# What a sweep does: update regrets and averages, take the best response to the averages, value the averages, or do
# that and add what is followed, weighed by its own reach, to other averages.
UPDATE: Final = 0
BEST: Final = 1
VALUE: Final = 2
ADD: Final = 3


class Crew(NamedTuple):
    """The threads of a run, seen from one of them."""

    me: int
    threads: int
    sync: Int64  # kernels.threads.shared()


class Task(NamedTuple):
    """What a run does, by the players from `first` to `end` - 1 in each iteration.

    mode: UPDATE, BEST, VALUE or ADD.  steps: float32[T, 3], the first three columns of Rule.steps: factors of positive
    and of negative regrets, and the weight w of the reach in the averages.
    """

    mode: int
    first: int
    end: int
    steps: Float32


class Learned(NamedTuple):
    """What the iterations learn: vectors for the top's actions, then for each board's of each forest."""

    regrets: Entries
    averages: Entries
    followed: Entries  # one of these two: the opponent plays in proportion to its positive entries


class Top(NamedTuple):
    """Hand vectors of the top, shared by the threads."""

    reach: Float32  # float32[2, *]: of each player
    values: Float32  # float32[*]: of the player being updated
    handed: Float32  # float32[*]: values at the roots of the other forests, on every solved board
    root_values: Float32  # float32[2, R * top width]: each player's at the roots


class _Half(NamedTuple):
    """Half an iteration: who is updated and how."""

    player: int
    mode: int  # UPDATE, BEST, VALUE or ADD
    positive: np.float32  # factor of positive regrets
    negative: np.float32  # factor of negative regrets
    average: np.float32  # weight of the opponent's policy in its average


class _Place(NamedTuple):
    """A forest on a board, or the top."""

    node0: np.uint64
    end: np.uint64  # behind its last node
    action0: np.uint64  # its first action in SpotNodes.child_reach and SpotNodes.child_value
    entry0: np.uint64  # where its regrets begin
    vector0: np.uint64  # the number of the first vector of these
    width: np.uint64  # floats of a hand vector
    cards: np.uint64  # live cards


@inlined
def _down(
    nodes: SpotNodes, place: _Place, half: _Half, learned: Learned, locks: Locks, reach: Array, row: Array
) -> None:
    """Send the opponent's reach down through the policies that the positive entries of `followed` give.

    policy[a, i] = max(f[a, i], 0) / (sum over b of max(f[b, i], 0)), with f of `followed`; 1 / A up to LEAST.
    reach[child of a, i] = reach[i] * policy[a, i]; with UPDATE and ADD averages[a, i] += w * reach[i] * policy[a, i].
    row: float32[width], scratch.
    """
    q, width, followed, averages = 1 - half.player, place.width, learned.followed, learned.averages
    adding = half.mode == UPDATE or half.mode == ADD
    zero, one, w, least = splat(ZERO), splat(ONE), splat(half.average), splat(LEAST)
    # Preorder: a node's reach is complete before its children's is written.
    for n in range(place.node0, place.end):
        if nodes.kind[n] != DECISION or nodes.actor[n] != q:
            continue
        own, actions, action0 = nodes.reach[q, n] * width, nodes.actions[n], nodes.action0[n]
        child0, entries, vectors = place.action0 + action0, place.entry0 + action0 * width, place.vector0 + action0
        even = splat(ONE / np.float32(actions))
        for k in range(U0, width, BLOCK):
            total = zero
            for a in range(actions):
                total = total + larger(entry(followed, vectors + a, entries + a * width + k), zero)
            # policy = positive part * scale + rest, with (1 / total, 0), or (0, 1 / A) where nothing is positive;
            # `pick` discards the 1 / 0 there.
            scale, rest = pick(total - least, one / total, zero), pick(total - least, zero, even)
            held = load(reach, own + k)
            for a in range(actions):
                at = entries + a * width + k
                sent = held * (larger(entry(followed, vectors + a, at), zero) * scale + rest)
                store(reach, nodes.child_reach[q, child0 + a] * width + k, sent)
                # `sent` is the opponent's own reach times its policy: CFR weighs its average so.
                if exact(averages.numbers) and adding:
                    store_entry(averages.numbers, at, entry(averages, vectors + a, at) + w * sent)
        if not exact(averages.numbers) and adding:
            # In 16 bits a vector is added to as a whole, since its largest number decides its scale.
            for a in range(actions):
                vector, at = vectors + a, entries + a * width
                sent_at = nodes.child_reach[q, child0 + a] * width
                for k in range(U0, width, BLOCK):
                    store(row, k, entry(averages, vector, at + k) + w * load(reach, sent_at + k))
                keep(averages, vector, at, row, width)
        if len(locks.begin) > 0 and locks.begin[vectors] != UNLOCKED:
            _send_locked(nodes, n, place, locks.policies, locks.begin[vectors], reach)


@inlined
def _send_locked(
    nodes: SpotNodes, n: np.uint64, place: _Place, policies: Array, begin: np.uint64, reach: Array
) -> None:
    """The opponent's reach below a locked decision: reach[child of a, i] = reach[i] * policies[a, i] at locked hands.

    begin: where the decision's policies begin.
    """
    q, width, child0, one = nodes.actor[n], place.width, place.action0 + nodes.action0[n], splat(ONE)
    own = nodes.reach[q, n] * width
    for a in range(nodes.actions[n]):
        to, row = nodes.child_reach[q, child0 + a] * width, begin + a * width
        for k in range(U0, width, BLOCK):
            fixed = load(policies, row + k)
            # 1 + policy is 0 where a hand is free.
            store(reach, to + k, pick(one + fixed, load(reach, own + k) * fixed, load(reach, to + k)))


@inlined
def _value_locked(
    nodes: SpotNodes, n: np.uint64, place: _Place, policies: Array, begin: np.uint64, values: Array
) -> None:
    """The values at a locked decision of the player: v[i] = sum over a of policies[a, i] v[child of a, i] there.

    begin: where the decision's policies begin.
    """
    width, to, child0, one = place.width, nodes.value[n] * place.width, place.action0 + nodes.action0[n], splat(ONE)
    for k in range(U0, width, BLOCK):
        total = splat(ZERO)
        for a in range(nodes.actions[n]):
            fixed = load(policies, begin + a * width + k)
            total = total + fixed * load(values, nodes.child_value[child0 + a] * width + k)
        store(values, to + k, pick(one + load(policies, begin + k), total, load(values, to + k)))


@inlined
def _up(nodes: SpotNodes, place: _Place, half: _Half, learned: Learned, locks: Locks, work: Workspace) -> None:
    """Pay folds and send the player's values up; update its regrets, or take its best action for every hand."""
    p, width = half.player, place.width
    # Preorder backwards: children before their parents. Showdowns are paid already, and cuts filled.
    for m in range(U1, place.end - place.node0 + U1):
        n = place.end - m
        if nodes.kind[n] == FOLDED:
            # nodes.actor is who folded: the updated player loses by its own fold and wins by the other's.
            amount = -nodes.chips[n] if nodes.actor[n] == p else nodes.chips[n]
            reach, value = nodes.reach[1 - p, n] * width, nodes.value[n] * width
            fold_values(work, reach, value, place.cards, amount)
        elif nodes.kind[n] == DECISION:
            if nodes.actor[n] != p:
                _sum(nodes, n, place, work.values)
            elif half.mode == BEST:
                _best(nodes, n, place, work.values)
            elif half.mode != UPDATE:
                _value(nodes, n, place, learned.followed, work.values)
            else:
                _update(nodes, n, place, half, learned.regrets, work)
            vector = place.vector0 + nodes.action0[n]
            if nodes.actor[n] == p and len(locks.begin) > 0 and locks.begin[vector] != UNLOCKED:
                _value_locked(nodes, n, place, locks.policies, locks.begin[vector], work.values)


@inlined
def _sum(nodes: SpotNodes, n: np.uint64, place: _Place, values: Array) -> None:
    """The values at a decision of the opponent: the sum of those below.

    v[i] = sum over a of v[child of a, i]: the opponent's probabilities are in these already, by its reach.
    """
    width, to, child0 = place.width, nodes.value[n] * place.width, place.action0 + nodes.action0[n]
    actions = nodes.actions[n]
    for k in range(U0, width, BLOCK):
        total = splat(ZERO)
        for a in range(actions):
            total = total + load(values, nodes.child_value[child0 + a] * width + k)
        store(values, to + k, total)


@inlined
def _best(nodes: SpotNodes, n: np.uint64, place: _Place, values: Array) -> None:
    """The values at a decision of the player that takes the best action.

    v[i] = max over a of v[child of a, i].
    """
    width, to, child0 = place.width, nodes.value[n] * place.width, place.action0 + nodes.action0[n]
    actions = nodes.actions[n]
    for k in range(U0, width, BLOCK):
        best = load(values, nodes.child_value[child0] * width + k)
        for a in range(U1, actions):
            best = larger(best, load(values, nodes.child_value[child0 + a] * width + k))
        store(values, to + k, best)


@inlined
def _value(nodes: SpotNodes, n: np.uint64, place: _Place, followed: Entries, values: Array) -> None:
    """The values at a decision of the player that plays in proportion to the positive entries of `followed`.

    With x[a] = max(f[a, i], 0): v[i] = (sum over a of x[a] v[child of a, i]) / (sum over a of x[a]), the plain mean
    where the divisor is at most LEAST.
    """
    width, to, actions, action0 = place.width, nodes.value[n] * place.width, nodes.actions[n], nodes.action0[n]
    child0, entries, vectors = place.action0 + action0, place.entry0 + action0 * width, place.vector0 + action0
    zero, one, even, least = splat(ZERO), splat(ONE), splat(ONE / np.float32(actions)), splat(LEAST)
    for k in range(U0, width, BLOCK):
        total, weighted, plain = zero, zero, zero
        for a in range(actions):
            x = larger(entry(followed, vectors + a, entries + a * width + k), zero)
            v = load(values, nodes.child_value[child0 + a] * width + k)
            total = total + x
            weighted = weighted + x * v
            plain = plain + v
        store(values, to + k, pick(total - least, weighted * (one / total), plain * even))


@inlined
def _update(nodes: SpotNodes, n: np.uint64, place: _Place, half: _Half, regrets: Entries, work: Workspace) -> None:
    """The values at a decision of the player, by regret matching, and its new regrets.

    With x[a] = max(R[a, i], 0): v[i] = (sum over a of x[a] v[a, i]) / (sum over a of x[a]), the plain mean where the
    divisor is at most LEAST; then R[a, i] = g * (R[a, i] + v[a, i] - v[i]), with g = `half.positive` where what it
    multiplies is above 0 and `half.negative` elsewhere.
    """
    width, to, actions, action0 = place.width, nodes.value[n] * place.width, nodes.actions[n], nodes.action0[n]
    child0, entries, vectors = place.action0 + action0, place.entry0 + action0 * width, place.vector0 + action0
    zero, one, even, least = splat(ZERO), splat(ONE), splat(ONE / np.float32(actions)), splat(LEAST)
    gain, loss, values = splat(half.positive), splat(half.negative), work.values
    for k in range(U0, width, BLOCK):
        # One pass over the actions: policies are never written down.
        total, weighted, plain = zero, zero, zero
        for a in range(actions):
            x = larger(entry(regrets, vectors + a, entries + a * width + k), zero)
            v = load(values, nodes.child_value[child0 + a] * width + k)
            total = total + x
            weighted = weighted + x * v
            plain = plain + v
        value = pick(total - least, weighted * (one / total), plain * even)
        store(values, to + k, value)
        # The discount comes after the addition: the newest regret is discounted, too.
        if exact(regrets.numbers):
            for a in range(actions):
                at = entries + a * width + k
                x = entry(regrets, vectors + a, at) + (load(values, nodes.child_value[child0 + a] * width + k) - value)
                store_entry(regrets.numbers, at, x * pick(x, gain, loss))
    if not exact(regrets.numbers):
        # In 16 bits a vector is written as a whole, since its largest number decides its scale.
        for a in range(actions):
            vector, at, below = vectors + a, entries + a * width, nodes.child_value[child0 + a] * width
            for k in range(U0, width, BLOCK):
                x = entry(regrets, vector, at + k) + (load(values, below + k) - load(values, to + k))
                store(work.scratch, k, x * pick(x, gain, loss))
            keep(regrets, vector, at, work.scratch, width)


@inlined
def _copy(source: Array, at: np.uint64, target: Array, to: np.uint64, width: np.uint64) -> None:
    """target[to : to + width] = source[at : at + width]."""
    for k in range(U0, width, BLOCK):
        store(target, to + k, load(source, at + k))


@inlined
def _part(
    part: int, half: _Half, tables: Tables, learned: Learned, top_reach: Array, handed: Array, work: Workspace
) -> None:
    """One part: fetch the opponent's reach at its roots, sweep down, pay, sweep up, hand the values up.

    At a root reach[i] = top_reach[hands[board, i]]: the hands of the cut above it that the board leaves.
    """
    sizes, forests, roots, orders, q = tables.sizes, tables.forests, tables.roots, tables.orders, 1 - half.player
    forest, board, width = tables.parts.forest[part], tables.parts.board[part], sizes.width
    after, entry0, vector0 = forest + U1, tables.parts.entry0[part], tables.parts.vector0[part]
    # Ranges come from the top. On a solved board its hands are a part of the top's: those without the river card.
    for root in range(forests.roots[forest], forests.roots[after]):
        # reach[root, i] = top_reach[cut of the root, hands[board, i]].
        to, at = roots.reach[q, root] * width, tables.nodes.reach[q, roots.cut[root]] * sizes.top_width
        if sizes.cards == sizes.top_cards:  # no card comes: the same hands in the same places
            _copy(top_reach, at, work.reach, to, width)
        else:
            for i in range(sizes.hands):
                work.reach[to + i] = top_reach[at + tables.boards.hands[board, i]]
    first, end, action0 = forests.nodes[forest], forests.nodes[after], forests.actions[forest]
    place = _Place(first, end, action0, entry0, vector0, width, sizes.cards)
    # Reach down to the part's showdowns and folds.
    _down(tables.nodes, place, half, learned, tables.locks, work.reach, work.scratch)
    order = Order(
        orders.hand[board],
        orders.low[board],
        orders.high[board],
        orders.ends[board],
        orders.held_low[board],
        orders.held_high[board],
    )
    amount0 = forests.amounts[forest]
    # Showdowns have the lowest numbers of vectors, side by side: LANES32 at a time, padding included.
    for paid in range(U0, forests.amounts[after] - amount0, BLOCK):
        showdown_batch(work, paid * width, width, order, sizes.hands, tables.amounts, amount0 + paid)
    # Folds and values up, then the roots' values to where `_gather` reads them.
    _up(tables.nodes, place, half, learned, tables.locks, work)
    to = tables.parts.handed0[part] * width
    for root in range(forests.roots[forest], forests.roots[after]):
        _copy(work.values, roots.value[root] * width, handed, to, width)
        to += width


@inlined
def _gather(cut: int, cuts: Cuts, boards: Boards, sizes: Sizes, top: Top, to: np.uint64) -> None:
    """top.values[to...], a cut's: those handed up, summed over the boards, unsolved ones with suits exchanged.

    v[h] = sum over boards m of chance * handed[solved[m], i], with i such that hands[m, i] = h: an unsolved board has a
    solved one's values, and `hands` exchanges the suits.
    """
    width = sizes.width
    if sizes.cards == sizes.top_cards:  # no card comes
        _copy(top.handed, cuts.handed0[cut] * width, top.values, to, width)
        return
    for k in range(U0, sizes.top_width, BLOCK):
        store(top.values, to + k, splat(ZERO))
    # Hands that hold a board's river card get nothing from that board.
    for m in range(len(boards.solved)):
        at = (cuts.handed0[cut] + boards.solved[m] * cuts.stride[cut]) * width
        for i in range(sizes.hands):
            top.values[to + boards.hands[m, i]] += boards.chance * top.handed[at + i]


@released
def run(crew: Crew, task: Task, tables: Tables, learned: Learned, top: Top, work: Workspace) -> None:
    """Iterations, one row of `task.steps` each, on one thread of a crew; every thread calls it with its own workspace.

    The first thread does the top, all of them the parts and the cuts.
    """
    mode, steps = task.mode, task.steps
    threads, sync, width = crew.threads, crew.sync, tables.sizes.top_width
    place = _Place(U0, tables.forests.nodes[1], U0, U0, U0, width, tables.sizes.top_cards)
    for t in range(len(steps)):
        for player in range(task.first, task.end):
            half = _Half(player, mode, steps[t, 0], steps[t, 1], steps[t, 2])
            reach = top.reach[1 - player]
            # Down through the top, whose reach every part reads; the counter of parts starts anew.
            if crew.me == 0:
                _down(tables.nodes, place, half, learned, tables.locks, reach, work.scratch)
                write(sync, NEXT, 0)
            wait_for_all(sync, threads)
            # Whoever is free takes the next part; the costliest come first (tables.Parts).
            part = fetch_add(sync, NEXT, 1)
            while part < len(tables.parts.forest):
                _part(part, half, tables, learned, reach, top.handed, work)
                part = fetch_add(sync, NEXT, 1)
            wait_for_all(sync, threads)
            # All parts are done. Cuts write different vectors, so threads share them without locks.
            for cut in range(crew.me, len(tables.cuts.node), threads):
                to = tables.nodes.value[tables.cuts.node[cut]] * width
                _gather(cut, tables.cuts, tables.boards, tables.sizes, top, to)
            wait_for_all(sync, threads)
            # Up through the top. The other threads wait for this one after its next way down.
            if crew.me == 0:
                _up(tables.nodes, place, half, learned, tables.locks, Workspace(reach, top.values, work.scratch))
                for root in range(U0, np.uint64(len(tables.top_values))):
                    _copy(top.values, tables.top_values[root] * width, top.root_values[player], root * width, width)
