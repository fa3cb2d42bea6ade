"""How the hold'em solver divides a spot: a top and the forests below it, the boards they are laid over, the memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sog.arrays import Bool, Float64, Int32, Int64
from sog.errors import GameError
from sog.games.holdem.bets import EveryAmount
from sog.games.holdem.betting import BOARD_CARDS, TURN
from sog.games.holdem.cards import CARDS, HANDS, live_hands, permuted_hands
from sog.games.holdem.game import Holdem, HoldemState
from sog.searches.holdem import trees as tree
from sog.searches.holdem.locks import SpotLock
from sog.searches.holdem.payoffs import scratch_floats
from sog.searches.holdem.trees import CUT, DECISION, SHOWDOWN, Forest, SpotNode
from sog.searches.kernels.vectors import padded

__all__ = ["Located", "Program", "SolvedBoards", "make_program"]

GROUP_NODES = 400  # of a forest below a turn tree, about: so few that its reach and values stay in the cache
RIVER_PIECES = (1, 2, 4, 8, 16)  # subtrees in each forest on the river: as few as make the forests equally large
UNBALANCED = 1.05  # the largest forest over the mean


@dataclass(frozen=True)
class SolvedBoards:
    """The full boards that are solved, and those that have the same values with suits exchanged.

    cards: the river card of each of the B solved boards; -1 where the spot is on the river.  dealt: the river card
    of each of the M boards; the solved ones come first.  solved: int32[M], the solved board with the same values.
    hands: int32[M, H], the place in the top's hand vectors of each hand of that solved board, suits exchanged.
    chance: of each board.
    """

    cards: tuple[int, ...]
    dealt: tuple[int, ...]
    solved: Int32
    hands: Int32
    chance: float


@dataclass(frozen=True, eq=False)
class Program:
    """A spot divided into forests; the widths of hand vectors are floats, padded to a multiple of LANES32.

    roots: the betting trees that are solved side by side, all on one board; most programs have one, the game's.
    forests: those below the top, each laid over every solved board.  forest_roots: those of each of them.
    locks: decisions whose policy is fixed.
    """

    game: Holdem
    roots: tuple[SpotNode, ...]
    top: Forest
    forests: tuple[Forest, ...]
    forest_roots: tuple[tuple[SpotNode, ...], ...]
    boards: SolvedBoards
    locks: tuple[SpotLock, ...] = ()

    @property
    def board(self) -> tuple[int, ...]:
        """The cards on the table at the roots."""
        return self.roots[0].state.board

    @cached_property
    def top_hands(self) -> Int32:
        """int32[*]: the numbers of the hands in a vector of the top."""
        return np.flatnonzero(live_hands(self.board)).astype(np.int32)

    @property
    def top_width(self) -> int:
        """Floats of a hand vector of the top."""
        return padded(len(self.top_hands))

    @property
    def hands_count(self) -> int:
        """Hands on a full board."""
        return int(self.boards.hands.shape[1])

    @property
    def width(self) -> int:
        """Floats of a hand vector on a full board."""
        return padded(self.hands_count)

    def hands_on(self, board: int) -> Int32:
        """int32[H]: the numbers of the hands in a vector on one of the boards; on an unsolved one, suits exchanged."""
        numbers: Int32 = self.top_hands[self.boards.hands[board]]
        return numbers

    @cached_property
    def cuts(self) -> tuple[SpotNode, ...]:
        """Of spots on the turn: the nodes where the river card comes, in preorder."""
        return tuple(cut for root in self.roots for cut in _cuts(root))

    def cut_states(self) -> list[HoldemState]:
        """The public states of `cuts`."""
        return [cut.state for cut in self.cuts]

    @property
    def entries(self) -> int:
        """Numbers of regrets: the top's vectors, then each board's of each forest."""
        return self.top.actions * self.top_width + (self.vectors - self.top.actions) * self.width

    @property
    def vectors(self) -> int:
        """Hand vectors of regrets."""
        return self.top.actions + len(self.boards.cards) * sum(f.actions for f in self.forests)

    @property
    def handed_vectors(self) -> int:
        """Vectors of values that the forests hand up to the top."""
        return len(self.boards.cards) * sum(len(f.roots) for f in self.forests)

    def decided_by(self, player: int) -> Bool:
        """bool[*]: of the vectors below the top, in the order of regrets, those that belong to a player's actions."""
        out = []
        for forest in self.forests:
            nodes = forest.nodes
            own = np.repeat(nodes.actor == player, nodes.actions.astype(np.int64))
            out.append(np.tile(own, len(self.boards.cards)))
        return np.concatenate(out)

    def entry0(self, forest: int, board: int) -> int:
        """Where the regrets of a forest below the top on a solved board begin."""
        return self.top.actions * self.top_width + (self.vector0(forest, board) - self.top.actions) * self.width

    def vector0(self, forest: int, board: int) -> int:
        """The number of the first vector of these."""
        # In memory: forest after forest, in each board after board, in each action after action.
        before = sum(f.actions for f in self.forests[:forest]) * len(self.boards.cards)
        return self.top.actions + before + self.forests[forest].actions * board

    def memory(self, threads: int, bits: int = 32) -> int:
        """Bytes that the solver's arrays take, with regrets and averages of this many bits."""
        # Workspaces, one a thread; then the top: both players' reach, its values, and both players' values at the root.
        own = max(f.reach_vectors + f.value_vectors for f in self.forests) * self.width
        own += scratch_floats(max(self.width, self.top_width))
        top = (2 * self.top.reach_vectors + self.top.value_vectors + 2 * len(self.roots)) * self.top_width
        # 4 bytes a float; regrets and averages are of one size, and a vector of fewer bits has a scale.
        learned = 2 * self.entries * bits // 8 + (bits < 32) * 2 * 4 * self.vectors
        locked = sum(lock.policy.nbytes + 4 * len(lock.policy) * self.top_width for lock in self.locks)
        return learned + locked + 4 * (threads * own + top + self.handed_vectors * self.width)

    def located(self, s: HoldemState) -> Located:
        """Where a decision of the tree has its vectors; GameError where the tree has no such decision."""
        node, forest = self._node(s)
        if forest < 0:
            return Located(node, node.action0, node.action0 * self.top_width, self.top_width, self.top_hands)
        # An unsolved board has a solved one's numbers; `hands_on` gives its own hands in their order.
        dealt = s.board[-1] if len(s.board) > len(self.board) else -1
        board = self.boards.dealt.index(dealt)
        solved = int(self.boards.solved[board])
        # An action's vector is one row.
        vector = self.vector0(forest, solved) + node.action0
        at = self.entry0(forest, solved) + node.action0 * self.width
        return Located(node, vector, at, self.width, self.hands_on(board))

    @cached_property
    def _forest_of(self) -> dict[int, int]:
        """By the id of its root the forest of each tree below the top."""
        return {id(n): k for k, nodes in enumerate(self.forest_roots) for n in nodes}

    def _node(self, s: HoldemState) -> tuple[SpotNode, int]:
        """The tree's node of a public state and the forest that holds it, -1 for the top."""
        forest_of = self._forest_of
        # Of several roots, the one whose line of play leads here.
        above = [r for r in self.roots if s.line[: len(r.state.line)] == r.state.line]
        if not above:
            raise GameError(f"{self.game.name}: the tree has nothing at {self.game.state_name(s)!r}")
        node = above[0]
        forest = forest_of.get(id(node), -1)
        for action in s.line[len(node.state.line) :]:
            # A line of actions does not name the card between them: betting is the same below every card.
            if node.kind == CUT:
                node = node.children[0]
                forest = forest_of.get(id(node), forest)
            children = [c for c in node.children if c.state.line[-1] == action]
            if not children:
                raise GameError(f"{self.game.name}: the tree has nothing at {self.game.state_name(s)!r}")
            node = children[0]
            forest = forest_of.get(id(node), forest)
        if node.kind == CUT and len(s.board) > len(node.state.board):
            node = node.children[0]
            forest = forest_of.get(id(node), forest)
        if node.kind != DECISION:
            raise GameError(f"{self.game.name}: nobody decides at {self.game.state_name(s)!r}")
        return node, forest


class Located(NamedTuple):
    """Where a decision has its regrets and averages: a vector for each action, one behind the other.

    vector: the number of the first one.  at: where its numbers begin.  width: floats of each.  hands: int32[H], the
    numbers of the hands in each, without padding.
    """

    node: SpotNode
    vector: int
    at: int
    width: int
    hands: Int32


def make_program(
    game: Holdem,
    river_forests: int,
    memory_limit: int,
    states: Sequence[HoldemState] | None = None,
    bits: int = 32,
    locks: Sequence[SpotLock] = (),
) -> Program:
    """Lay a river or turn spot out; GameError for earlier streets, for bets=any and for trees of too many bytes.

    river_forests: into how many forests a river tree is cut, best as many as there are threads.  memory_limit: bytes;
    a tree that needs far more is refused while it grows. Where `Program.memory` is above the limit all the same, the
    caller refuses it.
    states: public states of one board to begin at, side by side; every board below is then solved by itself, since
    ranges may differ between suits. None: the game's root.
    locks: decisions whose policy is fixed; what they tell apart is solved by itself.
    """
    roots_at = (game.root(),) if states is None else tuple(states)
    board = roots_at[0].board
    if any(s.board != board for s in roots_at):
        raise GameError("holdem: spots are solved side by side on one board only")
    street = BOARD_CARDS.index(len(board))
    if street < TURN:
        raise GameError("holdem: the solver takes river and turn spots; give a board of 4 or 5 cards")
    if isinstance(game.sizes, EveryAmount):
        raise GameError("holdem: bets=any has too many bets to solve; give a list such as 0.5;1.0;allin")
    boards = _boards(board, _twin_suits(game, locks) if states is None else list(range(4)))
    # Of a river action: regrets and averages for every hand on every solved board.
    action_bytes = bits // 8 * 2 * padded(boards.hands.shape[1]) * len(boards.cards)
    try:
        roots = [tree.grow(game, s, memory_limit // action_bytes) for s in roots_at]
    except RecursionError as error:
        raise GameError("holdem: too many raises in a row for a tree; give larger bets, or fewer raises") from error
    # Turn: one tree below each cut, over all river cards. River: the one tree in pieces, of about equal work a thread.
    if street == TURN:
        cuts = [cut for root in roots for cut in _cuts(root)]
        below = [c.children[0] for c in cuts]
        groups = _filled(below, GROUP_NODES)
    else:
        cuts = below = [piece for root in roots for piece in _river_pieces(root, river_forests)]
        groups = _balanced(below, river_forests)
    top = tree.lay_out(roots, cuts)
    forest_roots = tuple(tuple(below[k] for k in group) for group in groups)
    forests = tuple(tree.lay_out(nodes) for nodes in forest_roots)
    return Program(game, tuple(roots), top, forests, forest_roots, boards, tuple(locks))


def _cuts(node: SpotNode) -> Iterator[SpotNode]:
    """The chance nodes below a betting tree, in preorder."""
    if node.kind == CUT:
        yield node
    else:
        for child in node.children:
            yield from _cuts(child)


def _river_pieces(root: SpotNode, forests: int) -> list[SpotNode]:
    """Few subtrees that together hold every showdown of a river tree and make forests of one size.

    Each costs vectors of reach and values that are handed over; the root itself for one forest.
    """
    if forests == 1:
        return [root]
    pieces: list[SpotNode] = []
    # The fewest pieces whose forests differ little: pieces cost copies, and uneven forests let threads wait.
    for each in RIVER_PIECES:
        pieces = _pieces(root, root.size // (each * forests))
        sizes = [sum(pieces[k].size for k in group) for group in _balanced(pieces, forests)]
        if max(sizes) * forests <= UNBALANCED * sum(sizes):
            break
    return pieces


def _pieces(root: SpotNode, limit: int) -> list[SpotNode]:
    """Subtrees of at most `limit` nodes that together hold every showdown of a river tree."""
    pieces = [root]
    while pieces[-1].size > limit and pieces[-1].kind == DECISION:
        # A decision gives way to its children; those where someone folded have no showdown, and the top pays them.
        largest = pieces.pop()
        pieces += [c for c in largest.children if c.kind in (DECISION, SHOWDOWN)]
        pieces.sort(key=lambda n: n.size)
    return pieces


def _balanced(roots: Sequence[SpotNode], groups: int) -> list[list[int]]:
    """Numbers of the roots in at most this many groups of about the same size."""
    out: list[list[int]] = [[] for _ in range(min(groups, len(roots)))]
    # Greedy: the largest first, each to the group that is smallest so far.
    for k in _largest_first(roots):
        min(out, key=lambda group: sum(roots[j].size for j in group)).append(k)
    return out


def _filled(roots: Sequence[SpotNode], limit: int) -> list[list[int]]:
    """Numbers of the roots in groups of at most `limit` nodes or one root, large roots first."""
    groups: list[list[int]] = []
    sizes: list[int] = []
    for k in _largest_first(roots):
        # The emptiest group that has room, or else a new one.
        fits = [g for g, size in enumerate(sizes) if size + roots[k].size <= limit]
        if not fits:
            fits = [len(groups)]
            groups.append([])
            sizes.append(0)
        g = min(fits, key=sizes.__getitem__)
        groups[g].append(k)
        sizes[g] += roots[k].size
    return groups


def _largest_first(roots: Sequence[SpotNode]) -> list[int]:
    return sorted(range(len(roots)), key=lambda k: -roots[k].size)


def _boards(board: tuple[int, ...], twins: Sequence[int]) -> SolvedBoards:
    """The boards below the spot; of boards that differ by an exchange of suits only one is solved.

    twins: of `_twin_suits`.
    """
    top = np.flatnonzero(live_hands(board))
    # Where each hand lies in the top's vectors.
    place = np.full(HANDS, -1, dtype=np.int32)
    place[top] = np.arange(len(top))
    if len(board) != BOARD_CARDS[TURN]:
        every = np.arange(len(top), dtype=np.int32)
        return SolvedBoards((-1,), (-1,), np.zeros(1, dtype=np.int32), every[None, :], 1.0)
    # Solved: the river cards of suits without a lower twin.
    cards = [c for c in range(CARDS) if c not in board]
    solved = [c for c in cards if twins[c % 4] == c % 4]
    models: list[int] = []
    places: list[Int32] = []
    dealt = solved + [c for c in cards if c not in solved]
    for c in dealt:
        # The same rank in the suit's twin: an exchange of both suits turns one board into the other, ranges included.
        model = 4 * (c // 4) + twins[c % 4]
        swap = _exchange(c % 4, model % 4)
        hands = np.flatnonzero(live_hands((*board, model)))
        models.append(solved.index(model))
        places.append(place[permuted_hands(swap)[hands]])
    return SolvedBoards(
        cards=tuple(solved),
        dealt=tuple(dealt),
        solved=np.array(models, dtype=np.int32),
        hands=np.array(places, dtype=np.int32),
        # A pair of hands leaves 52 - 4 - 4 river cards, each as likely.
        chance=1.0 / (CARDS - 4 - len(board)),
    )


def _twin_suits(game: Holdem, locks: Sequence[SpotLock]) -> list[int]:
    """For each suit the lowest one that is the same on the board, in both ranges and in locks; maybe the suit itself.

    locks: decisions whose policy is fixed.
    """
    # Ranks on the board, by suit: suits are alike if these agree and every range treats them alike.
    held = [{c // 4 for c in game.spot.board if c % 4 == s} for s in range(4)]
    ranges = game.root_ranges()
    twins = []
    for s in range(4):
        alike = (t for t in range(s) if held[t] == held[s] and all(_same(r, s, t) for r in ranges))
        twins.append(next((t for t in alike if _locked_alike(locks, s, t)), s))
    return twins


def _same(weights: Float64, s: int, t: int) -> bool:
    """Whether exchanging two suits leaves a range as it is."""
    return bool(np.array_equal(weights[permuted_hands(_exchange(s, t))], weights))


def _locked_alike(locks: Sequence[SpotLock], s: int, t: int) -> bool:
    """Whether exchanging two suits turns the fixed policies into each other."""
    swap = _exchange(s, t)
    hands = permuted_hands(swap)
    policies = {(lock.state.line, frozenset(lock.state.board)): lock.policy for lock in locks}
    for (line, board), policy in policies.items():
        other = policies.get((line, frozenset(4 * (c // 4) + int(swap[c % 4]) for c in board)))
        if other is None or not np.array_equal(other[:, hands], policy):
            return False
    return True


def _exchange(s: int, t: int) -> Int64:
    """int64[4]: what each suit becomes when two are exchanged."""
    swap = np.arange(4)
    swap[[s, t]] = t, s
    return swap
