"""Numba kernels at the leaves and ends of interleaved subgames: the functions of side_by_side.py, lane by lane.

A lane is a subgame of the bundle that a node belongs to, and a register holds one number of each (bundles.py). All
lanes share their operators; each has its own beliefs and answers.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from sog.arrays import Array, Float64, Int32
from sog.search.depth_limited.side_by_side import Answered, Part
from sog.search.leaves.kernels import DIFFERENCES, PAIRS, Look, Request, U, opponents
from sog.search.simd.f64x8 import LANES, all_positive, load, splat, store, transpose, transpose_apart
from sog.search.simd.jit import inlined, njit
from sog.search.simd.registers import pick
from sog.search.simd.spans import add_scaled
from sog.search.tree import columns as f
from sog.search.tree.arrays import Public, Tree

# Rows of Bundles.leaves: the node, the public node, and the lane, which is the subgame's place in its bundle.
LEAF_NODE, LEAF_PUBLIC, LEAF_LANE = range(3)

# As in side_by_side.py; a bundle is up to eight subgames.
AT_ONCE: Final = 4


class Bundles(NamedTuple):
    """Where bundles of interleaved subgames lie, and how their leaves are weighed.

    blocks: int32[B + 1, 3], as in side_by_side.py.  members: int32[M], how many subgames a node belongs to.
    leaves: int32[3, L], a column for each leaf of each subgame, those of one node side by side.
    tables: float64[L * S0 * S1], the lanes of a pair side by side (PAIRS only).
    work: float64[3, *], to work with: eight numbers for each infostate of a node, and seven more infostates.
    slots0, kind, correct: as in leaves.kernels.Leaves; infostate i has slot i everywhere.
    """

    blocks: Int32
    members: Int32
    leaves: Int32
    tables: Float64
    work: Float64
    slots0: int
    kind: int
    correct: bool


class Own(NamedTuple):
    """A player's numbers at a node: those of infostate i in lane g stand at first + i * step + g.

    width: infostates.  step: `lanes`, or eight where each infostate has room for eight lanes.
    """

    first: Any
    width: Any
    lanes: Any
    step: Any


@inlined
def _own(public: Public, tree: Tree, games: Bundles, n: Any, p: int) -> Own:
    """Player p's numbers at node n."""
    count = U(games.members[n])
    width = U(public.nodes[U(tree.nodes[n, f.PUBLIC]), f.I0 + p])
    return Own(U(tree.nodes[n, f.OFF0 + p]), width, count, count)


@inlined
def _at(a: Array, own: Own, i: Any) -> Any:
    """All lanes of infostate i."""
    return load(a, own.first + i * own.step, own.lanes)


# --- beliefs out ---


@inlined
def sum_reaches(tree: Tree, games: Bundles, part: Part) -> None:
    """Add the players' weighted reaches at the leaves to REACH_SUM."""
    reach, total = tree.infostates[f.REACH], tree.infostates[f.REACH_SUM]
    k = part.first
    while k < part.last:
        n = games.leaves[LEAF_NODE, k]
        for p in range(2):
            if (part.players >> p) & 1:
                off = U(tree.nodes[n, f.OFF0 + p])
                add_scaled(reach, off, part.weight, total, off, U(tree.nodes[n, f.N_I0 + p]))
        k += games.members[n]


@inlined
def collect(
    public: Public, tree: Tree, games: Bundles, first: int, last: int, request: Request, found: int, look: Look
) -> int:
    """leaves.kernels.collect; the request's places are columns of Bundles.leaves."""
    others, leaves, work = opponents(look.users), games.leaves, games.work
    k = first
    while k < last:
        n = leaves[LEAF_NODE, k]
        own0, own1 = _own(public, tree, games, n, 0), _own(public, tree, games, n, 1)
        lanes, held = own0.lanes, splat(0.0)
        if look.prune and others & 1:
            held += _total(tree.infostates[f.REACH], own0)
        if look.prune and others & 2:
            held += _total(tree.infostates[f.REACH], own1)
        if look.changed & 1:
            _write_ranges(tree, look.row, own0, work[0])
        if look.changed & 2:
            _write_ranges(tree, look.row, own1, work[1])
        every = all_positive(held, lanes) if look.prune else True
        if every and found + LANES <= len(request.ranges):  # rows of missing lanes are the next leaf's, written after
            for lane in range(lanes):
                request.places[found + lane], request.nodes[found + lane] = U(k) + lane, leaves[LEAF_PUBLIC, k + lane]
            if look.changed & 1:
                _write_all_lanes(work[0], own0, request, found, U(0))
            if look.changed & 2:
                _write_all_lanes(work[1], own1, request, found, U(games.slots0))
            found += int(lanes)
        else:
            store(work[2], U(0), U(LANES), held)
            for lane in range(lanes):
                if look.prune and work[2, lane] <= 0.0:
                    continue
                request.places[found], request.nodes[found] = U(k) + lane, leaves[LEAF_PUBLIC, k + lane]
                if look.changed & 1:
                    _write_lane(work[0], own0, lane, request.ranges[found], U(0))
                if look.changed & 2:
                    _write_lane(work[1], own1, lane, request.ranges[found], U(games.slots0))
                found += 1
        k += int(lanes)
    return found


@inlined
def _total(a: Array, own: Own) -> Any:
    """Each lane's sum over infostates."""
    total = splat(0.0)
    for i in range(own.width):
        total += _at(a, own, i)
    return total


@inlined
def _write_ranges(tree: Tree, row: int, own: Own, out: Array) -> None:
    """A player's ranges at a leaf, normalised from a row of reaches; uniform where it holds nothing.

    out: float64[*], eight places an infostate, one for each lane.
    """
    zero, one = splat(0.0), splat(1.0)
    reach, current = tree.infostates[row], tree.infostates[f.REACH]
    average = _total(reach, own)
    total = average if row == f.REACH else pick(average, average, _total(current, own))
    factor, rest = pick(total, one / total, zero), pick(total, zero, splat(1.0 / own.width))
    for i in range(own.width):
        mine = _at(reach, own, i)
        if row != f.REACH:  # no average yet
            mine = pick(average, mine, _at(current, own, i))
        store(out, i * U(LANES), U(LANES), mine * factor + rest)


@inlined
def _write_lane(work: Array, own: Own, lane: Any, ranges: Array, start: Any) -> None:
    """A player's range in one lane into a row of a request, float64[S0 + S1], where its slots start."""
    for i in range(own.width):
        ranges[start + i] = work[i * U(LANES) + lane]


@inlined
def _write_all_lanes(work: Array, own: Own, request: Request, found: Any, start: Any) -> None:
    """A player's ranges in all eight lanes into as many rows of a request from row `found` on."""
    flat, step = request.ranges.reshape(-1), U(request.ranges.shape[1])
    to = U(found) * step + start
    for i in range(U(0), own.width, U(LANES)):
        transpose_apart(work, i * U(LANES), flat, to + i, step, own.width - i)


# --- answers in ---


@inlined
def absorb(public: Public, tree: Tree, games: Bundles, answered: Answered, used: int, last: int) -> int:
    """side_by_side.absorb; answers that nobody needs twice are left to `weigh`."""
    places = answered.request.places
    while not answered.once and used < answered.found and places[used] < last:
        used += _absorb_some(public, tree, games, answered, used)
    return used


@njit
def _absorb_some(public: Public, tree: Tree, games: Bundles, answered: Answered, b: Any) -> int:
    """Keep answer b, and those after it of the same node where all its lanes were evaluated; how many were kept."""
    places, values, kept = answered.request.places, answered.values, tree.infostates[f.LEAF_VALUE]
    k = U(places[b])
    n, lane = games.leaves[LEAF_NODE, k], U(games.leaves[LEAF_LANE, k])
    if games.kind == PAIRS:
        width, count = U(values.shape[1]), U(games.members[n])
        for i in range(width):
            games.tables[(k - lane) * width + lane + i * count] = values[b, i]
        return 1
    last = b + games.members[n] - 1
    whole = lane == 0 and last < answered.found and places[last] == places[b] + games.members[n] - 1
    for p in range(2):
        if not (answered.players >> p) & 1:
            continue
        own, start = _own(public, tree, games, n, p), U(games.slots0 if p else 0)
        if whole:
            _side_by_side(values, U(b), start, own, games.work[0], games.work[1])
            for i in range(own.width):
                store(kept, own.first + i * own.lanes, own.lanes, load(games.work[0], i * U(LANES), own.lanes))
        else:
            for i in range(own.width):
                kept[own.first + lane + i * own.lanes] = values[b, start + i]
    return int(games.members[n]) if whole else 1


@inlined
def _side_by_side(answers: Array, first: Any, start: Any, own: Own, out: Array, by_lane: Array) -> None:
    """A part of as many answers as there are lanes, side by side: eight places an infostate."""
    for i in range(U(0), own.width, U(LANES)):
        for lane in range(own.lanes):
            store(by_lane, lane * U(LANES), U(LANES), load(answers[first + lane], start + i, own.width - i))
        transpose(by_lane, U(0), out, i * U(LANES))


@inlined
def _line_up(games: Bundles, answered: Answered, begin: int, end: int, p: int, own: Own) -> None:
    """Player p's part of answers begin .. end - 1 of one node side by side in work[p]; 0 in lanes without an answer."""
    answers, start, out = answered.values, U(games.slots0 if p else 0), games.work[p]
    if U(end - begin) == own.lanes:
        _side_by_side(answers, U(begin), start, own, out, games.work[2])
        return
    for i in range(own.width):
        store(out, i * U(LANES), U(LANES), splat(0.0))
    for b in range(begin, end):
        place = U(games.leaves[LEAF_LANE, U(answered.request.places[U(b)])])
        for i in range(own.width):
            out[i * U(LANES) + place] = answers[U(b), start + i]


# --- counterfactual values ---


@inlined
def weigh(public: Public, tree: Tree, games: Bundles, answered: Answered, used: int, part: Part) -> int:
    """leaves.weighing.weigh; the number of the answer to begin with next.

    Where nobody needs an answer twice it is weighed as it comes, with nothing kept.
    """
    k, value = part.first, tree.infostates[f.LEAF_VALUE]
    places = answered.request.places
    while k < part.last:
        n = games.leaves[LEAF_NODE, k]
        own0, own1 = _own(public, tree, games, n, 0), _own(public, tree, games, n, 1)
        lanes = int(own0.lanes)
        if games.kind == PAIRS:
            _expect(public, tree, games, k, part.players)
        elif not answered.once:
            _weigh_leaf(public, tree, games, n, part, Worth(own0, value, own0), Worth(own1, value, own1))
        else:
            begin = used
            while used < answered.found and places[used] < k + lanes:
                used += 1
            if games.correct or part.players & 1:
                _line_up(games, answered, begin, used, 0, own0)
            if games.correct or part.players & 2:
                _line_up(games, answered, begin, used, 1, own1)
            room0, room1 = Own(U(0), own0.width, own0.lanes, U(LANES)), Own(U(0), own1.width, own1.lanes, U(LANES))
            worth0, worth1 = Worth(own0, games.work[0], room0), Worth(own1, games.work[1], room1)
            _weigh_leaf(public, tree, games, n, part, worth0, worth1)
        k += lanes
    return used


class Worth(NamedTuple):
    """What a leaf is worth to a player, conditional on its infostates.

    own: the player's numbers at the leaf.  values: float64[*], and `at`: where in it the leaf's values stand.
    """

    own: Own
    values: Float64
    at: Own


@inlined
def _weigh_leaf(public: Public, tree: Tree, games: Bundles, n: Any, part: Part, worth0: Worth, worth1: Worth) -> None:
    """Counterfactual values at leaf n, whose weights W are an outer product of the operator's two factors."""
    s = U(tree.nodes[n, f.PUBLIC])
    one = U(public.operators[U(public.nodes[s, f.WEIGHT_OP]), f.OP_FACTORS])
    own0, own1 = worth0.own, worth1.own
    two, scale = one + own0.width, splat(public.scales[s, f.WEIGHT_SCALE])
    reach, factors = tree.infostates[f.REACH_SUM if games.kind == DIFFERENCES else f.REACH], public.operator_values
    surplus = splat(0.0)
    held0 = _held(factors, one, reach, own0) if games.correct or part.players & 2 else surplus
    held1 = _held(factors, two, reach, own1) if games.correct or part.players & 1 else surplus
    if games.correct:
        both = _worth_held(factors, one, reach, worth0) / held0
        both += _worth_held(factors, two, reach, worth1) / held1
        surplus = pick(held0 * held1, both * splat(0.5), surplus)
    if part.players & 1:
        _store_values(tree, games.kind, part.weight, worth0, Mass(factors, one, held1 * scale, surplus))
    if part.players & 2:
        _store_values(tree, games.kind, part.weight, worth1, Mass(factors, two, held0 * scale, surplus))


class Mass(NamedTuple):
    """Masses of a leaf's infostates: values[first + i] times a lane's factor.  less: taken off each value, by lane."""

    values: Float64
    first: Any
    factor: Any
    less: Any


@inlined
def _held(values: Array, one: Any, reach: Array, own: Own) -> Any:
    """What a player's range comes to by its factor."""
    total = splat(0.0)
    for i in range(own.width):
        total += splat(values[one + i]) * _at(reach, own, i)
    return total


@inlined
def _worth_held(values: Array, one: Any, reach: Array, worth: Worth) -> Any:
    """The same, each infostate's times its value."""
    total = splat(0.0)
    for i in range(worth.own.width):
        total += splat(values[one + i]) * (_at(reach, worth.own, i) * _at(worth.values, worth.at, i))
    return total


@inlined
def _store_values(tree: Tree, kind: int, weight: float, worth: Worth, mass: Mass) -> None:
    """A player's counterfactual values at a leaf."""
    own = worth.own
    cfv, before, per = tree.infostates[f.CFV], tree.infostates[f.CFV_SUM], splat(1.0 / weight)
    for i in range(own.width):
        to = own.first + i * own.lanes
        value = (_at(worth.values, worth.at, i) - mass.less) * (splat(mass.values[mass.first + i]) * mass.factor)
        if kind == DIFFERENCES:
            store(cfv, to, own.lanes, (value - load(before, to, own.lanes)) * per)
            store(before, to, own.lanes, value)
        else:
            store(cfv, to, own.lanes, value)


@njit
def _expect(public: Public, tree: Tree, games: Bundles, k: int, players: int) -> None:
    """Counterfactual values at the k-th leaf's node of player 0's utilities by pair of slots."""
    n, values, tables = games.leaves[LEAF_NODE, k], public.operator_values, games.tables
    s = U(tree.nodes[n, f.PUBLIC])
    pairs = U(len(tables) // games.leaves.shape[1])
    first, slots1 = U(k) * pairs, pairs // U(games.slots0)
    row, scale = U(public.operators[U(public.nodes[s, f.WEIGHT_OP]), f.OP_START]), public.scales[s, f.WEIGHT_SCALE]
    reach, cfv = tree.infostates[f.REACH], tree.infostates[f.CFV]
    own0, own1 = _own(public, tree, games, n, 0), _own(public, tree, games, n, 1)
    count = own0.lanes
    if players & 2:
        for j in range(own1.width):
            store(cfv, own1.first + j * count, count, splat(0.0))
    for i in range(own0.width):
        total, mine = splat(0.0), _at(reach, own0, i) * splat(scale)
        for j in range(own1.width):
            at = own1.first + j * count
            utility = splat(values[row + j]) * load(tables, first + (i * slots1 + j) * count, count)
            total += utility * load(reach, at, count)
            if players & 2:
                store(cfv, at, count, load(cfv, at, count) - utility * mine)
        if players & 1:
            store(cfv, own0.first + i * count, count, total * splat(scale))
        row += own1.width


@inlined
def payoffs(public: Public, tree: Tree, games: Bundles, first: int, last: int, players: int) -> None:
    """pairs.payoffs at the terminal nodes ends[first] .. ends[last - 1]."""
    reach, cfv, values = tree.infostates[f.REACH], tree.infostates[f.CFV], public.operator_values
    for e in range(U(first), U(last)):
        n = U(tree.ends[e])
        s = U(tree.nodes[n, f.PUBLIC])
        row = U(public.operators[U(public.nodes[s, f.PAYOFF_OP]), f.OP_START])
        scale = splat(public.scales[s, f.PAYOFF_SCALE])
        own0, own1 = _own(public, tree, games, n, 0), _own(public, tree, games, n, 1)
        if players & 1:
            for i in range(own0.width):
                total = splat(0.0)
                for j in range(own1.width):
                    total += splat(values[row + i * own1.width + j]) * _at(reach, own1, j)
                store(cfv, own0.first + i * own0.lanes, own0.lanes, total * scale)
        if players & 2:
            for j in range(own1.width):
                total = splat(0.0)
                for i in range(own0.width):
                    total += splat(values[row + i * own1.width + j]) * _at(reach, own0, i)
                store(cfv, own1.first + j * own1.lanes, own1.lanes, splat(0.0) - total * scale)
