"""What the hold'em solver's sweeps run over, made once from a game: shapes, boards, parts and their tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sog.arrays import Float32, Float64, Int32, Int64
from sog.errors import GameError
from sog.games.holdem.bets import EveryAmount
from sog.games.holdem.betting import TURN
from sog.games.holdem.cards import CARDS, HANDS, HIGH, LOW, live_hands, permuted_hands
from sog.games.holdem.game import Holdem
from sog.games.holdem.strength import ladder
from sog.search.holdem import trees as tree
from sog.search.holdem.trees import CUT, DECISION, SHOWDOWN, Node, Shape
from sog.search.simd.f32x16 import LANES

GROUP_ROWS = 400  # a shape holds about so many action rows, so that its reach and values stay in the cache
RIVER_PIECES = (1, 2, 4, 8, 16)  # subtrees dealt to each thread's shape on the river: as few as balance them
UNBALANCED = 1.05  # the largest shape over the mean
SCRATCH_CARDS = 64


@dataclass(frozen=True)
class Boards:
    """The full boards that are solved, and those that go the same way with suits exchanged.

    cards: the river card of each solved board; -1 where the spot is on the river.  dealt: the river card of
    every board [M].  members: int32[M, 2], the solved board that each of them follows and its own map.
    maps: int32[M, H], the place at the top of each hand of the solved board; the first maps are the solved
    boards' own.  weight: chance of each member.
    """

    cards: tuple[int, ...]
    dealt: tuple[int, ...]
    members: Int32
    maps: Int32
    weight: float


@dataclass(frozen=True, eq=False)
class Program:
    """Tables for holdem_sweeps.run; widths are rows of float32 padded to LANES.

    shapes[0] is the top; every other shape is laid over every solved board.  where: for each shape after the
    top, its roots' Nodes.
    """

    game: Holdem
    root: Node
    top: Shape
    shapes: tuple[Shape, ...]
    where: tuple[tuple[Node, ...], ...]
    boards: Boards

    @cached_property
    def top_hands(self) -> Int32:
        """int32[*]: hand numbers in a row of the top."""
        return np.flatnonzero(live_hands(self.game.spot.board)).astype(np.int32)

    @property
    def top_width(self) -> int:
        return padded(len(self.top_hands))

    @property
    def hands_count(self) -> int:
        """Hands on a full board."""
        return int(self.boards.maps.shape[1])

    @property
    def width(self) -> int:
        return padded(self.hands_count)

    def hands_on(self, board: int) -> Int32:
        """int32[H]: hand numbers in a row of the solved board with this number."""
        numbers: Int32 = self.top_hands[self.boards.maps[board]]
        return numbers

    @property
    def entries(self) -> int:
        """Floats of regrets: the top's rows, then each board's of each shape."""
        rows = sum(s.action_rows for s in self.shapes)
        return self.top.action_rows * self.top_width + len(self.boards.cards) * rows * self.width

    @property
    def handed_rows(self) -> int:
        return len(self.boards.cards) * sum(len(s.roots) for s in self.shapes)

    def entry0(self, shape: int, board: int) -> int:
        """Where the regrets of a shape on a solved board begin."""
        before = sum(s.action_rows for s in self.shapes[:shape]) * len(self.boards.cards)
        rows = before + self.shapes[shape].action_rows * board
        return self.top.action_rows * self.top_width + rows * self.width

    def memory(self, threads: int) -> int:
        """Bytes that the solver's arrays take."""
        scratch = (2 * self.width + SCRATCH_CARDS) * LANES
        own = max(s.reach_rows + s.value_rows for s in self.shapes) * self.width + scratch
        top = (2 * self.top.reach_rows + self.top.value_rows + 2) * self.top_width
        return 4 * (2 * self.entries + threads * own + top + self.handed_rows * self.width)


def padded(count: int) -> int:
    return -(-count // LANES) * LANES


def make_program(game: Holdem, river_shapes: int, memory_limit: int) -> Program:
    """Lay a river or turn spot out; GameError for earlier streets, for bets=any and for trees of too many bytes.

    river_shapes: into how many shapes a river tree is cut, best as many as there are threads.  memory_limit: bytes;
    trees that are far larger are refused while they grow, the others are laid out, and their `memory` says it all.
    """
    if game.street < TURN:
        raise GameError("holdem: the solver takes river and turn spots; give a board of 4 or 5 cards")
    if isinstance(game.sizes, EveryAmount):
        raise GameError("holdem: bets=any has too many bets to solve; give a list such as 0.5;1.0;allin")
    boards = _boards(game)
    row_bytes = 4 * 2 * padded(boards.maps.shape[1]) * len(boards.cards)  # of regrets and averages
    root = tree.grow(game, memory_limit // row_bytes)
    if game.street == TURN:
        cuts = list(_cuts(root))
        below = [c.children[0] for c in cuts]
        groups = _filled(below, GROUP_ROWS)
    else:
        cuts = below = _river_pieces(root, river_shapes)
        groups = _balanced(below, river_shapes)
    top = tree.lay_out([root], cuts)
    where = tuple(tuple(below[k] for k in group) for group in groups)
    shapes = tuple(tree.lay_out(nodes) for nodes in where)
    return Program(game, root, top, shapes, where, boards)


def _cuts(node: Node) -> Iterator[Node]:
    """The chance nodes below a betting tree, in preorder."""
    if node.kind == CUT:
        yield node
    else:
        for child in node.children:
            yield from _cuts(child)


def _river_pieces(root: Node, shapes: int) -> list[Node]:
    """Few subtrees that together hold every showdown of a river tree and make shapes of one size.

    Each costs rows of reach and values that are handed over; the root itself for one shape.
    """
    if shapes == 1:
        return [root]
    pieces: list[Node] = []
    for each in RIVER_PIECES:
        pieces = _pieces(root, root.size // (each * shapes))
        sizes = [sum(pieces[k].size for k in group) for group in _balanced(pieces, shapes)]
        if max(sizes) * shapes <= UNBALANCED * sum(sizes):
            break
    return pieces


def _pieces(root: Node, limit: int) -> list[Node]:
    """Subtrees of at most `limit` nodes that together hold every showdown of a river tree."""
    pieces = [root]
    while pieces[-1].size > limit and pieces[-1].kind == DECISION:
        largest = pieces.pop()
        pieces += [c for c in largest.children if c.kind in (DECISION, SHOWDOWN)]
        pieces.sort(key=lambda n: n.size)
    return pieces


def _balanced(roots: Sequence[Node], groups: int) -> list[list[int]]:
    """Numbers of the roots in at most so many groups of about the same size."""
    out: list[list[int]] = [[] for _ in range(min(groups, len(roots)))]
    for k in _largest_first(roots):
        min(out, key=lambda group: sum(roots[j].size for j in group)).append(k)
    return out


def _filled(roots: Sequence[Node], limit: int) -> list[list[int]]:
    """Numbers of the roots in groups of at most `limit` nodes or one root, large roots first."""
    groups: list[list[int]] = []
    sizes: list[int] = []
    for k in _largest_first(roots):
        fits = [g for g, size in enumerate(sizes) if size + roots[k].size <= limit]
        if not fits:
            fits = [len(groups)]
            groups.append([])
            sizes.append(0)
        g = min(fits, key=sizes.__getitem__)
        groups[g].append(k)
        sizes[g] += roots[k].size
    return groups


def _largest_first(roots: Sequence[Node]) -> list[int]:
    return sorted(range(len(roots)), key=lambda k: -roots[k].size)


def _boards(game: Holdem) -> Boards:
    """The boards below the spot, one solved for each class of suits that may be exchanged."""
    board = game.spot.board
    top = np.flatnonzero(live_hands(board))
    place = np.full(HANDS, -1, dtype=np.int32)
    place[top] = np.arange(len(top))
    if game.street != TURN:
        every = np.arange(len(top), dtype=np.int32)
        return Boards((-1,), (-1,), np.zeros((1, 2), dtype=np.int32), every[None, :], 1.0)
    twins = _twin_suits(game)
    cards = [c for c in range(CARDS) if c not in board]
    solved = [c for c in cards if twins[c % 4] == c % 4]
    members: list[tuple[int, int]] = []
    maps: list[Int32] = []
    dealt = solved + [c for c in cards if c not in solved]
    for c in dealt:
        model = 4 * (c // 4) + twins[c % 4]
        swap = np.arange(4)
        swap[[c % 4, model % 4]] = swap[[model % 4, c % 4]]
        hands = np.flatnonzero(live_hands((*board, model)))
        members.append((solved.index(model), len(maps)))
        maps.append(place[permuted_hands(swap)[hands]])
    chance = 1.0 / (CARDS - 4 - len(board))
    return Boards(
        tuple(solved), tuple(dealt), np.array(members, dtype=np.int32), np.array(maps, dtype=np.int32), chance
    )


def _twin_suits(game: Holdem) -> list[int]:
    """For each suit the lowest one that it may be exchanged with: alike on the board and in both ranges."""
    held = [{c // 4 for c in game.spot.board if c % 4 == s} for s in range(4)]
    ranges = game.root_ranges()
    twins = []
    for s in range(4):
        alike = (t for t in range(s) if held[t] == held[s] and all(_same(r, s, t) for r in ranges))
        twins.append(next(alike, s))
    return twins


def _same(weights: Float64, s: int, t: int) -> bool:
    """Whether exchanging two suits leaves a range as it is."""
    swap = np.arange(4)
    swap[[s, t]] = t, s
    return bool(np.array_equal(weights[permuted_hands(swap)], weights))


# --- the tables ---


@dataclass(frozen=True, eq=False)
class Tables:
    """The integer and float tables of `holdem_sweeps.run`, in its order and under its names."""

    nodes: Int32
    child_rows: Int32
    chips: Float32
    amounts: Float32
    shapes: Int64
    parts: Int64
    roots: Int64
    maps: Int32
    ordered: Int32
    ends: Int32
    natural: Int32
    sizes: Int64
    cuts: Int64
    members: Int32


def make_tables(program: Program) -> Tables:
    """Write a program out as tables."""
    every = (program.top, *program.shapes)
    nodes = np.concatenate([s.nodes for s in every])
    node0 = np.cumsum([0] + [len(s.nodes) for s in every])
    child0 = np.cumsum([0] + [len(s.child) for s in every])
    rows = []
    for k, s in enumerate(every):
        nodes[node0[k] : node0[k + 1], tree.CHILD0] += child0[k]
        rows.append(s.nodes[s.child][:, [tree.REACH0, tree.REACH1, tree.VALUE]])
    amount0 = np.cumsum([0] + [len(s.amounts) for s in every])
    root0 = np.cumsum([0] + [len(s.roots) for s in every[1:]])
    shapes = np.zeros((len(every), 6), dtype=np.int64)
    for k, s in enumerate(every):
        roots_at = (root0[k - 1], len(s.roots)) if k else (0, 0)
        shapes[k] = node0[k], len(s.nodes), amount0[k], s.batches, *roots_at
    parts, cuts, roots = _parts(program)
    ordered, ends, natural = _ladders(program)
    half = program.top.reach_rows * program.top_width
    live = CARDS - len(program.game.spot.board)
    full = live - (1 if program.game.street == TURN else 0)
    sizes = [program.top_width, program.width, program.hands_count, full, half, live]
    return Tables(
        nodes, np.ascontiguousarray(np.concatenate(rows).T), np.concatenate([s.chips for s in every]),
        np.concatenate([s.amounts for s in every]), shapes, parts, roots, program.boards.maps.ravel(),
        ordered, ends, natural, np.array(sizes, dtype=np.int64), cuts, program.boards.members,
    )  # fmt: skip


def _parts(program: Program) -> tuple[Int64, Int64, Int64]:
    """Parts (costly shapes first), cuts (top node, first row handed up, rows between boards), and roots."""
    cut_of: dict[int, int] = {}
    for n, kind in enumerate(program.top.nodes[:, tree.KIND]):
        if kind == CUT:
            cut_of[len(cut_of)] = n
    order = {id(node): k for k, node in enumerate(_top_cuts(program))}
    parts, roots = [], []
    cuts = np.zeros((len(cut_of), 3), dtype=np.int64)
    handed = 0
    for k, (shape, nodes) in enumerate(zip(program.shapes, program.where, strict=True)):
        boards = range(len(program.boards.cards))
        parts += [(k + 1, b, program.entry0(k, b), handed + b * len(nodes)) for b in boards]
        for r, node in enumerate(nodes):
            cut = order[id(node)]
            cuts[cut] = cut_of[cut], handed + r, len(nodes)
            roots.append((*shape.root_reach[r], shape.root_value[r], cut_of[cut]))
        handed += len(nodes) * len(program.boards.cards)
    parts.sort(key=lambda x: -program.shapes[x[0] - 1].action_rows)
    return np.array(parts, dtype=np.int64), cuts, np.array(roots, dtype=np.int64)


def _top_cuts(program: Program) -> list[Node]:
    """The roots below the top's cuts, in the order of the top's nodes."""
    below = {id(node) for nodes in program.where for node in nodes}
    out: list[Node] = []

    def visit(node: Node) -> None:
        inside = node.children[0] if node.kind == CUT else node
        if id(inside) in below:
            out.append(inside)
            return
        for child in node.children:
            visit(child)

    visit(program.root)
    return out


def _ladders(program: Program) -> tuple[Int32, Int32, Int32]:
    """`ordered`, `ends` and `natural` of cards.showdown_batch, board after board."""
    board = program.game.spot.board
    full = [board + ((card,) if card >= 0 else ()) for card in program.boards.cards]
    tables = [showdown_tables(cards, program.hands_on(b)) for b, cards in enumerate(full)]
    ordered, ends, natural = (np.concatenate(kind) for kind in zip(*tables, strict=True))
    return ordered, ends, natural


def showdown_tables(board: tuple[int, ...], hands: Int32) -> tuple[Int32, Int32, Int32]:
    """`ordered`, `ends` and `natural` of cards.showdown_batch for rows of these hands on a full board."""
    place = np.full(HANDS, -1, dtype=np.int32)
    place[hands] = np.arange(len(hands))
    live = np.cumsum([c not in board for c in range(CARDS)]) - 1
    order = ladder(board)
    ordered = np.stack([place[order.hands], live[LOW[order.hands]], live[HIGH[order.hands]]], axis=1)
    natural = np.stack([live[LOW[hands]], live[HIGH[hands]]], axis=1)
    return (LANES * ordered).astype(np.int32).ravel(), order.ends, (LANES * natural).astype(np.int32).ravel()
