"""Lookahead: the part of the public tree that one search works on (the papers' script L) and its numbers.

It owns and grows the arrays that the kernels sweep.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from sog.arrays import Array, Float64, Int32
from sog.errors import GameError, TooLarge
from sog.games.base import NATURE
from sog.searches.cfr import iterate, matching, sweeps
from sog.searches.cfr.iterate import NO_CHOICE, Choice
from sog.searches.cfr.rules import Rule, cached_steps
from sog.searches.kernels.dispatch import same_types
from sog.searches.kernels.jit import njit
from sog.searches.tree import draws, growth, pairs
from sog.searches.tree import room as rooms
from sog.searches.tree.arrays import Public, Room, Tree
from sog.searches.tree.players import Players
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import AwaitedNodes, Children, Counts, Entry, Evaluated, Infostate, Kind, Nodes

__all__ = ["Lookahead"]

_expand, _identify_newest = same_types(growth.expand), same_types(growth.identify_newest)
_match_regrets = same_types(matching.match_regrets_at)


@same_types
@njit
def _expand_leaves(public: Public, tree: Tree, first: int) -> tuple[int, int]:
    """Expand the leaves from node `first` on, new ones included; the node that comes next, and what it lacks."""
    n = first
    # Children are appended, so one pass over the numbers meets every node.
    while n < tree.counts[0].nodes:
        if tree.nodes[n].kind == Kind.LEAF:
            code = growth.expand(public, tree, n, -1)
            if code != growth.DONE:
                return n, code
            # Regrets are 0: the first policy is uniform.
            if tree.nodes[n].actor < NATURE:
                matching.match_regrets_at(public, tree, n, Entry.REGRET, Entry.POLICY)
        n += 1
    return n, growth.DONE


class Lookahead:
    """A growing tree of public states with regrets, policies, ranges and counterfactual values.

    nodes: a row per node.  child: a row per (node, edge); the first of node n is nodes.child0[n].
    infostates: float64[len(Infostate), S], a column per (node, player, infostate): ranges and values.
    entries: float64[len(Entry), V], a column per (node, action, infostate): regrets and policies.
    ends: int32[*], the terminal nodes.  counts: how much of each array is in use.
    """

    def __init__(self, public: PublicTree, root: int, ranges: tuple[Float64, Float64], room: int | Room = 64) -> None:
        """A tree of one leaf, the public node `root`, where the players hold `ranges` float64[I0], float64[I1].

        room: how large it can become without growing its arrays, or for how many nodes that should be estimated.
        """
        self.public = public
        late = rooms.priors_apart(public.game)
        if not isinstance(room, Room):
            width = sum(public.num_infostates(root))
            # The root is added before its entries are counted.
            most = max(3 * room, int(public.nodes.actions[root]))
            room = Room(room, room, room * width, most * width)
        self.arrays = room.tree()
        self.arrays.counts.late[0] = late
        self.iterations = 0
        # The root, without a parent, over edge 0.
        growth.add_node(public.arrays, self.arrays, root, -1, 0)
        self.set_root_ranges(ranges)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(self.arrays.counts.nodes.item(0))

    @property
    def num_entries(self) -> int:
        """How many (action, infostate) pairs the decision nodes have; leaves have theirs unless entries come late."""
        return int(self.counts.entries)

    @property
    def num_bytes(self) -> int:
        """Bytes of the numbers that the tree holds: ranges, values, regrets and policies."""
        numbers = len(Infostate) * int(self.counts.infostates) + len(Entry) * self.num_entries
        return numbers * self.infostates.itemsize

    @property
    def nodes(self) -> Nodes:
        return self.arrays.nodes

    @property
    def child(self) -> Children:
        return self.arrays.child

    @property
    def infostates(self) -> Float64:
        return self.arrays.infostates

    @property
    def entries(self) -> Float64:
        return self.arrays.entries

    @property
    def ends(self) -> Int32:
        return self.arrays.ends

    @property
    def counts(self) -> Counts:
        return self.arrays.counts[0]

    # --- what is in the tree ---

    def public_node(self, n: int) -> int:
        """The public node of node n; as every question about a node, GameError where the tree lacks it."""
        return int(self.nodes.public.item(self._at(n)))

    def _at(self, n: int) -> int:
        """The node itself; GameError where the tree lacks it, since other rows of the arrays hold no node."""
        if not 0 <= n < self.size:
            raise GameError(f"the tree of {self.public.game.name} has the nodes 0 to {self.size - 1:,}, not {n:,}")
        return n

    def node_of(self, public_node: int) -> int:
        """The first node of a public node; -1 where the tree lacks it."""
        nodes = np.flatnonzero(self.nodes.public[: self.size] == public_node)
        return int(nodes[0]) if len(nodes) else -1

    def by_public_node(self) -> dict[int, int]:
        """The node of each public node; the last one where there are several."""
        return {s: n for n, s in enumerate(self.nodes.public[: self.size].tolist())}

    def actor(self, n: int) -> int:
        """Who acts at node n: 0, 1, NATURE or TERMINAL."""
        return int(self.nodes.actor.item(self._at(n)))

    def is_leaf(self, n: int) -> bool:
        """Whether the game continues below node n, but the tree does not."""
        return bool(self.nodes.kind.item(self._at(n)) == Kind.LEAF)

    def is_open(self, n: int) -> bool:
        """Whether node n has children in the tree."""
        return bool(self.nodes.kind.item(self._at(n)) == Kind.INTERIOR)

    def decisions(self) -> Iterator[int]:
        """The open nodes where a player acts, parents before children."""
        nodes = self.nodes[: self.size]
        return (int(n) for n in np.flatnonzero((nodes.kind == Kind.INTERIOR) & (nodes.actor < NATURE)))

    def leaves(self) -> Iterator[int]:
        """The leaves, in order."""
        return (int(n) for n in np.flatnonzero(self.nodes.kind[: self.size] == Kind.LEAF))

    def actions(self, n: int) -> Int32:
        """int32[A]: the identities of the actions at decision node n."""
        return self.public.actions(self.public_node(n))

    def children(self, n: int) -> list[int]:
        """The child over each public edge of node n, -1 where it is not in the tree; empty for a leaf."""
        first = self.nodes.child0.item(self._at(n))
        children: list[int] = self.child.node[first : first + self.nodes.edges.item(n)].tolist()
        return children

    def children_by_action(self, n: int, infostate: int = 0) -> list[int]:
        """The child that each action of decision node n leads to with this infostate; -1 where it has none."""
        children, edges = self.children(n), self.public.edges_of(self.public_node(n), infostate)
        return [children[edge] if children and edge >= 0 else -1 for edge in edges]

    def policy(self, n: int) -> Float64:
        """float64[A, I]: the average policy at decision node n, after `update_average_policy`; a view."""
        return self.table(n, Entry.AVERAGE_POLICY)

    def current_policy(self, n: int) -> Float64:
        """float64[A, I]: the latest iteration's policy at decision node n; a view."""
        return self.table(n, Entry.POLICY)

    def policy_sum(self, n: int) -> Float64:
        """float64[A, I]: the sum over iterations of weight x own reach x policy at decision node n; a view."""
        return self.table(n, Entry.POLICY_SUM)

    def prior(self, n: int) -> Float64:
        """float64[A, I]: the evaluator's policy at decision node n, up to a factor for each infostate; a view."""
        return self.table(n, Entry.PRIOR)

    def visits(self, n: int) -> Float64:
        """float64[A, I]: how often expansions of a search took each action at decision node n; a view."""
        return self.table(n, Entry.VISITS)

    def ranges(self, n: int) -> tuple[Float64, Float64]:
        """Both players' ranges at node n by the last sweep down: float64[I0], float64[I1], views."""
        return self._both(Infostate.REACH, n)

    def range_sums(self, n: int) -> tuple[Float64, Float64]:
        """Both players' ranges at node n summed over iterations, times the averaging weights; views."""
        return self._both(Infostate.REACH_SUM, n)

    def cfvs(self, n: int) -> tuple[Float64, Float64]:
        """Both players' counterfactual values at node n by the last sweep up, utilities; views."""
        return self._both(Infostate.CFV, n)

    def cfv_sums(self, n: int) -> tuple[Float64, Float64]:
        """Both players' counterfactual values at node n summed over iterations, times the averaging weights; views."""
        return self._both(Infostate.CFV_SUM, n)

    def values(self, n: int) -> tuple[Float64, Float64]:
        """Both players' mean values at node n over iterations, conditional on the infostate: utilities.

        The weighted mean of the counterfactual values over that of the opponent's mass (SoG; CFR-D): not the value of
        the average policy. 0 for an infostate that can meet none of the opponent's range.
        """
        # v[i] = CFV_SUM[i] / (sum over j of W[i, j] REACH_SUM[j]).
        return self.public.conditional(self.public_node(n), self.cfv_sums(n), self.range_sums(n))

    def mean_share(self, n: int, p: int) -> float:
        """Player p's mean value at node n, a share of the largest utility, where each player has one infostate.

        NaN where the opponent has never come there.
        """
        mass, cfv = float(self.range_sums(n)[1 - p][0]), float(self.cfv_sums(n)[p][0])
        if not self.public.game.deterministic:  # otherwise W is 1
            mass *= float(self.public.weights(self.public_node(n))[0, 0])
        return cfv / (mass * self.public.game.u_max) if mass > 0.0 else math.nan

    def utility(self, n: int, pair: tuple[int, int]) -> float:
        """Player 0's utility at the terminal node n, for both players' infostates."""
        return self.public.utility(self.public_node(n), pair)

    def draw_pair(self, n: int, rng: Array) -> tuple[int, int] | None:
        """Both players' infostates, drawn in proportion to W and the ranges at node n; None where all is 0.

        rng: uint64[1].
        """
        pair = np.zeros(2, dtype=np.int64)
        drawn = draws.draw_pair(self.public.arrays, self.arrays, n, rng, pair)
        return (int(pair[0]), int(pair[1])) if drawn else None

    def _both(self, row: Infostate, n: int) -> tuple[Float64, Float64]:
        # Ten times a search, as much as small ones take: one look at a node's row serves both players.
        nodes, numbers = self.arrays.nodes, self.arrays.infostates[row]
        (zero, one), (width0, width1) = nodes.offset[self._at(n)].tolist(), nodes.width[n].tolist()
        return numbers[zero : zero + width0], numbers[one : one + width1]

    # --- ranges at the root, and growth ---

    def set_root_ranges(self, ranges: tuple[Float64, Float64]) -> None:
        """Put both players' ranges at node 0."""
        for own, given in zip(self.ranges(0), ranges, strict=True):
            own[:] = given

    @property
    def root_ranges(self) -> tuple[Float64, Float64]:
        """Copies of both players' ranges at node 0."""
        zero, one = self.ranges(0)
        return zero.copy(), one.copy()

    def restart(self, ranges: tuple[Float64, Float64]) -> None:
        """Forget everything but the tree itself, and begin again from these ranges."""
        self.entries[:], self.infostates[:], self.iterations = 0.0, 0.0, 0
        # What was READY has an evaluation at ranges that are gone; CLOSED leaves stay closed.
        evaluated = self.nodes.evaluated[: self.size]
        evaluated[evaluated == Evaluated.READY] = Evaluated.AWAITING
        self.set_root_ranges(ranges)
        # Regrets are 0: every policy is uniform.
        self.normalise(Entry.REGRET, Entry.POLICY)

    def span(self, n: int, p: int) -> slice:
        """Where player p's infostates of node n lie along the slots."""
        start = self.nodes.offset.item(self._at(n), p)
        return slice(start, start + self.nodes.width.item(n, p))

    def block(self, n: int) -> slice:
        """Where the (action, infostate) entries of decision node n lie, action by action."""
        actor = self.actor(n)
        start = self.nodes.entry0.item(n)
        if actor >= NATURE:
            raise GameError(f"no player acts at node {n} of the tree of {self.public.game.name}")
        return slice(start, start + self.nodes.actions.item(n) * self.nodes.width.item(n, actor))

    def table(self, n: int, row: Entry) -> Float64:
        """float64[A, I]: a view of one row of entries at decision node n."""
        return self.entries[row, self.block(n)].reshape(self.nodes.actions.item(n), -1)

    def expand(self, n: int, only: int = -1, ahead: int = 0) -> None:
        """Make the leaf n interior by adding all its children, or one more child over edge `only`.

        ahead: how many expansions will follow; should the arrays have to grow, they grow for these too.
        Raises TooLarge at a chance event too large to list.
        """
        # The kernel changes nothing unless it is done: it is called again once what it lacked is there.
        while (code := _expand(self.public.arrays, self.arrays, n, only)) != growth.DONE:
            if code == growth.NO_ROOM:
                self.reserve(self._below(n), ahead)
            elif not self.list_children(n, only):
                raise TooLarge(f"{self.public.game.name} has a chance event too large to list")
        # With one more action open, the policy is regret matching's anew.
        if self.actor(n) < NATURE:
            _match_regrets(self.public.arrays, self.arrays, n, int(Entry.REGRET), int(Entry.POLICY))

    def list_children(self, n: int, only: int = -1) -> bool:
        """Have the public tree list the children of node n; False where its fan is too large to list."""
        s = self.public_node(n)
        if not self.public.list_fan(s):
            return False
        for e in range(self.public.num_edges(s)) if only < 0 else (only,):
            self.public.child(s, e)
        return True

    def identify_newest(self, awaited: AwaitedNodes, count: int, ahead: int = 0) -> None:
        """List the positions of the newest `count` nodes, which were added before their public nodes were known.

        awaited: the public state above and the edge of each; afterwards their own public states.  ahead: see `expand`.
        """
        public = self.public
        states, edges = awaited.public, awaited.edge
        for k in range(count):
            states[k] = public.child(states.item(k), edges.item(k))
        # The kernel cannot allocate: room for the most entries that these nodes can have.
        most = count * public.widest_fan
        if self.arrays.counts.entries.item(0) + most > self.arrays.entries.shape[1]:
            self.reserve(Room(0, 0, 0, most), ahead)
        _identify_newest(public.arrays, self.arrays, awaited, count)

    def _below(self, n: int) -> Room:
        return rooms.below(self.public, self.public_node(n), bool(self.counts.late))

    def reserve(self, more: Room, ahead: int = 0) -> None:
        """Make room for this much more; arrays that have to grow get room for `ahead` expansions after it, too."""
        if ahead and rooms.lacking(self.arrays, more):
            more = more.beside(rooms.expected(self.arrays, ahead, self.public.game.perfect_information))
        for name, used, need in rooms.lacking(self.arrays, more):
            # Table after table: the old one is let go before the next one is copied.
            self.arrays = rooms.lengthened(self.arrays, name, used, need)

    def expand_all(self) -> Lookahead:
        """Add every public state below; the public tree must be able to list them. Returns itself."""
        n = 0
        while n < self.size:
            n, code = _expand_leaves(self.public.arrays, self.arrays, n)
            if code == growth.NO_ROOM:
                self.reserve(self._below(n))
            elif code == growth.NOT_LISTED:
                self.expand(n)
        return self

    # --- sweeps ---

    def forward(self, row: Entry = Entry.POLICY, players: Players = Players.BOTH) -> None:
        """Send the ranges down through the policies in `row`."""
        sweeps.forward(self.public.arrays, self.arrays, 0, self.size, row, players)

    def play_average(self, players: Players = Players.BOTH) -> None:
        """Send the ranges of the players down through the average policies."""
        self.forward(Entry.AVERAGE_POLICY, players)

    def payoffs(self) -> None:
        """Both players' values at the terminal nodes."""
        pairs.payoffs(self.public.arrays, self.arrays, 0, int(self.counts.ends), Players.BOTH)

    def backward(self, step: Float64, updates: Players = Players.BOTH, track: bool = True) -> None:
        """Send both players' values up and update the regrets of the players in `updates`."""
        sweeps.backward(self.public.arrays, self.arrays, 0, self.size, Players.BOTH, updates, step, track)
        self.iterations += 1

    def iterate(self, rule: Rule, count: int, choice: Choice = NO_CHOICE, track: bool = False) -> None:
        """`count` more iterations of a rule on a tree without leaves.

        choice: the re-solving gadget's, above the root.  track: sum ranges and values too (`values`, `range_sums`).
        """
        # Weights depend on t, which counts all iterations of this tree.
        steps = cached_steps(rule, self.iterations + 1, count)
        iterate.iterate(self.public.arrays, self.arrays, choice, steps, rule.alternating, track)
        self.iterations += count

    def update_average_policy(self) -> None:
        """Bring the average policies up to date; `policy` then shows them. Uniform where no iteration was played."""
        self.normalise(Entry.POLICY_SUM, Entry.AVERAGE_POLICY)

    def normalise(self, source: Entry, target: Entry) -> None:
        """Normalise the positive part of one row of entries into policies in another, node by node."""
        # As plain numbers: Numba looks at a member of an enumeration in slow Python code.
        matching.match_all(self.public.arrays, self.arrays, int(source), int(target))

    def evaluate(self, row: Entry = Entry.AVERAGE_POLICY, best: Players = Players.NOBODY) -> tuple[Float64, Float64]:
        """Root values float64[I0], float64[I1] of the policies in `row`; `best`: the best responders."""
        self.forward(row)
        self.payoffs()
        sweeps.evaluate(self.public.arrays, self.arrays, row, best)
        zero, one = self.cfvs(0)
        return zero.copy(), one.copy()
