"""What the sweeps read: a `Program` written out as named tuples of arrays, which kernels take as they are.

All places and counts are unsigned: Numba tests a signed index for counting from the end.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Float32, Int32, Int64, UInt32, UInt64
from sog.games.holdem.betting import BOARD_CARDS, TURN
from sog.games.holdem.cards import CARDS, HANDS, HIGH, LOW
from sog.games.holdem.strength import ladder
from sog.searches.holdem.locks import FREE
from sog.searches.holdem.payoffs import Order
from sog.searches.holdem.program import Program
from sog.searches.holdem.trees import CUT, SpotNode, SpotNodes
from sog.searches.kernels.vectors import LANES32, aligned

__all__ = [
    "UNLOCKED",
    "Boards",
    "Cuts",
    "Forests",
    "Locks",
    "Parts",
    "Roots",
    "Sizes",
    "Tables",
    "make_tables",
    "order_of",
]

UNLOCKED: Final = np.uint64(2**64 - 1)


class Forests(NamedTuple):
    """Where the F forests lie in other tables: forest f has the places begin[f] to begin[f + 1] - 1. 0 is the top."""

    nodes: UInt64  # uint64[F + 1]: in Tables.nodes
    actions: UInt64  # uint64[F + 1]: in SpotNodes.child_reach and SpotNodes.child_value
    amounts: UInt64  # uint64[F + 1]: in Tables.amounts
    roots: UInt64  # uint64[F + 1]: in Roots; the top has none there


class Parts(NamedTuple):
    """The P parts: forests, each on a solved board. The costliest come first."""

    forest: UInt64  # uint64[P]
    board: UInt64  # uint64[P]
    entry0: UInt64  # uint64[P]: where its regrets begin
    vector0: UInt64  # uint64[P]: the number of the first vector of these
    handed0: UInt64  # uint64[P]: the first vector of values that it hands up to the top


class Roots(NamedTuple):
    """The R roots of the forests below the top."""

    reach: UInt64  # uint64[2, R]: the vector of each player's reach, to fill
    value: UInt64  # uint64[R]: the vector of values, to hand up
    cut: UInt64  # uint64[R]: the node of the top that the tree hangs on


class Cuts(NamedTuple):
    """The C cuts of the top, where one tree hangs for each solved board."""

    node: UInt64  # uint64[C]
    handed0: UInt64  # uint64[C]: the vector of values handed up from the first board
    stride: UInt64  # uint64[C]: vectors from a board's to the next board's


class Boards(NamedTuple):
    """The M full boards, each with the values of a solved one of B; the solved ones come first."""

    solved: UInt32  # uint32[M]: the solved board with the same values
    hands: UInt32  # uint32[M, H]: the place in a vector of the top of each hand of that solved board
    chance: np.float32  # of each board


class Sizes(NamedTuple):
    """Hand vectors of the top and on a full board: their floats, and the live cards."""

    top_width: np.uint64
    top_cards: np.uint64
    width: np.uint64
    cards: np.uint64
    hands: np.uint64  # on a full board


class Locks(NamedTuple):
    """The policies that are fixed, as hand vectors: one for each action of a locked decision, with FREE at free hands.

    On a board that is solved for others, too.
    """

    begin: UInt64  # uint64[V]: of each decision's first vector of regrets where its policies begin, UNLOCKED elsewhere;
    # empty where nothing is fixed
    policies: Float32  # float32[*]


class Tables(NamedTuple):
    """All that sweeps read and never write."""

    nodes: SpotNodes  # of every forest, one after another
    amounts: Float32  # float32[*]: chips of every forest's showdowns
    forests: Forests
    parts: Parts
    roots: Roots
    cuts: Cuts
    top_values: UInt64  # uint64[R]: the top's vectors of values at its roots
    boards: Boards
    orders: Order  # of every solved board: int32[B, H] each
    sizes: Sizes
    locks: Locks


def make_tables(program: Program) -> Tables:
    """Write a program out as tables."""
    every = (program.top, *program.forests)
    fields = zip(*(f.nodes for f in every), strict=True)
    # Numbers of vectors stay those within each forest; `forests` says where each forest's rows are.
    nodes = SpotNodes(*(np.ascontiguousarray(np.concatenate(field, axis=-1)) for field in fields))
    forests = Forests(
        nodes=_begins([len(f.nodes.kind) for f in every]),
        actions=_begins([f.actions for f in every]),
        amounts=_begins([len(f.amounts) for f in every]),
        roots=_begins([0] + [len(f.roots) for f in program.forests]),
    )
    # Every showdown lies below the top, on a solved board: the top needs no order of hands.
    solved, places = program.boards.solved.astype(np.uint32), program.boards.hands.astype(np.uint32)
    boards = Boards(solved, places, np.float32(program.boards.chance))
    board = program.board
    full = [board + ((card,) if card >= 0 else ()) for card in program.boards.cards]
    orders = [order_of(cards, program.hands_on(b)) for b, cards in enumerate(full)]
    live = CARDS - len(board)
    cards = live - (1 if len(board) == BOARD_CARDS[TURN] else 0)
    sizes = (program.top_width, live, program.width, cards, program.hands_count)
    return Tables(
        nodes=nodes,
        amounts=np.concatenate([f.amounts for f in every]),
        forests=forests,
        parts=_parts(program),
        roots=_roots(program),
        cuts=_cuts(program),
        top_values=program.top.root_value.copy(),
        boards=boards,
        orders=Order(*(np.stack(field) for field in zip(*orders, strict=True))),
        sizes=Sizes(*map(np.uint64, sizes)),
        locks=_locks(program),
    )


def _locks(program: Program) -> Locks:
    if not program.locks:
        return Locks(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.float32))
    begin, rows, at = np.full(program.vectors, UNLOCKED, dtype=np.uint64), [], 0
    for lock in program.locks:
        _, vector, _, width, hands = program.located(lock.state)
        row = np.full((len(lock.policy), width), FREE, dtype=np.float32)
        row[:, : len(hands)] = lock.policy[:, hands]
        begin[vector], at = at, at + row.size
        rows.append(row.ravel())
    policies = aligned(at)
    policies[:] = np.concatenate(rows)
    return Locks(begin, policies)


def _begins(counts: list[int]) -> UInt64:
    """uint64[len(counts) + 1]: where each of several blocks begins that lie one after another, and the end."""
    return np.cumsum([0, *counts], dtype=np.uint64)


def _handed0(program: Program) -> list[int]:
    """[F]: the first vector that each forest below the top hands up."""
    vectors = [len(program.boards.cards) * len(f.roots) for f in program.forests]
    return list(accumulate(vectors, initial=0))[:-1]


def _parts(program: Program) -> Parts:
    handed0, forests = _handed0(program), program.forests
    parts = [(f, b) for f in range(len(forests)) for b in range(len(program.boards.cards))]
    # By the number of actions, which the work of a part grows with.
    parts.sort(key=lambda part: -forests[part[0]].actions)
    return Parts(
        forest=np.array([f + 1 for f, _ in parts], dtype=np.uint64),
        board=np.array([b for _, b in parts], dtype=np.uint64),
        entry0=np.array([program.entry0(f, b) for f, b in parts], dtype=np.uint64),
        vector0=np.array([program.vector0(f, b) for f, b in parts], dtype=np.uint64),
        handed0=np.array([handed0[f] + b * len(forests[f].roots) for f, b in parts], dtype=np.uint64),
    )


def _cut_numbers(program: Program) -> list[int]:
    """For the roots of the forests below the top, one forest after another, the number of the cut of the top."""
    number = {id(node): k for k, node in enumerate(_top_cuts(program))}
    return [number[id(node)] for nodes in program.forest_roots for node in nodes]


def _roots(program: Program) -> Roots:
    cut_nodes = np.flatnonzero(program.top.nodes.kind == CUT)
    # Numbers within each forest for reach and value; for cut, of the top's node that has the opponent's reach.
    return Roots(
        reach=np.concatenate([f.root_reach for f in program.forests], axis=1).astype(np.uint64, order="C"),
        value=np.concatenate([f.root_value for f in program.forests]).astype(np.uint64),
        cut=cut_nodes[_cut_numbers(program)].astype(np.uint64),
    )


def _cuts(program: Program) -> Cuts:
    nodes = np.flatnonzero(program.top.nodes.kind == CUT).astype(np.uint64)
    cuts = Cuts(nodes, np.zeros_like(nodes), np.zeros_like(nodes))
    handed0 = _handed0(program)
    roots = [(f, r, len(nodes)) for f, nodes in enumerate(program.forest_roots) for r in range(len(nodes))]
    # A forest hands up its roots board by board: one board further is as many vectors as it has roots.
    for cut, (f, r, stride) in zip(_cut_numbers(program), roots, strict=True):
        cuts.handed0[cut], cuts.stride[cut] = handed0[f] + r, stride
    return cuts


def _top_cuts(program: Program) -> list[SpotNode]:
    """The roots below the top's cuts, in the order of the top's nodes."""
    below = {id(node) for nodes in program.forest_roots for node in nodes}
    out: list[SpotNode] = []

    def visit(node: SpotNode) -> None:
        # A turn's cut has the tree of the next card below it; a river's is the root of a piece itself.
        inside = node.children[0] if node.kind == CUT else node
        if id(inside) in below:
            out.append(inside)
            return
        for child in node.children:
            visit(child)

    for root in program.roots:
        visit(root)
    return out


def order_of(board: tuple[int, ...], hands: Int32) -> Order:
    """The order of the hands with these numbers on a full board; a hand vector has them in the order given."""
    # Where each hand lies in the hand vector; -1 for those that the board blocks.
    place = np.full(HANDS, -1, dtype=np.int32)
    place[hands] = np.arange(len(hands))
    # A live card's place among the live cards.
    live = np.cumsum([c not in board for c in range(CARDS)]) - 1
    weakest_first = ladder(board)
    by_strength = weakest_first.hands
    return Order(
        hand=_in_lanes(place[by_strength]),
        low=_in_lanes(live[LOW[by_strength]]),
        high=_in_lanes(live[HIGH[by_strength]]),
        ends=weakest_first.ends.astype(np.uint64),
        held_low=_in_lanes(live[LOW[hands]]),
        held_high=_in_lanes(live[HIGH[hands]]),
    )


def _in_lanes(numbers: Int32 | Int64) -> UInt32:
    """uint32: where each number's block of LANES32 floats begins."""
    return (LANES32 * numbers).astype(np.uint32)
