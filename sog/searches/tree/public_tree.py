"""PublicTree: the public states of a game listed so far, as arrays; it knows the rules and no strategy.

Nodes are only appended: a child's index is always above its parent's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from sog.arrays import Float32, Float64, Int32, Int64
from sog.errors import TooLarge
from sog.games.base import NATURE, TERMINAL, Carry, Game, State
from sog.searches.tree import columns as f
from sog.searches.tree import pairs
from sog.searches.tree.arrays import Public
from sog.searches.tree.features import Features
from sog.searches.tree.listing import Position, write_position
from sog.searches.tree.operators import Operators
from sog.searches.tree.tables import Growth, Runs, Table

LIMIT: Final = 20_000_000  # public states of a tree, where nobody names another number
# Of an edge not listed further: no child yet, every infostate keeps its index.
_NO_LINKS: Final = np.array([-1, -1, 0, -1, 0], dtype=np.int32)


class PublicTree:
    """The public states of a game listed so far.

    states: the game's state of each node [N].  parent: int32[N], -1 at the root.
    nodes: int32[N, PUBLIC_FIELDS].  scales: float64[N, 3].  edges: int32[E, EDGE_FIELDS].
    action_rows: int32[R, ACTION_FIELDS].  links: int32[L, 3].  slots: int32[K], network slot of each infostate.
    operators: int64[O, OPERATOR_FIELDS] and operator_values: float64[*], the pair operators as they are packed.
    Arrays are longer than what they hold; `size` is the number of nodes.
    """

    def __init__(self, game: Game, limit: int = LIMIT) -> None:
        """`limit`: the most nodes this tree may hold; beyond it a TooLarge says so."""
        self.game, self.limit = game, limit
        self.all_plain = True  # whether action a takes edge a at every decision listed
        self.widest = 0  # the most infostates a player has at any node
        self.widest_fan = 0  # the most edges that any position of a deterministic game has
        self.states: list[State] = []
        self._nodes = Table(np.int32, f.PUBLIC_FIELDS)
        self._parent = Table(np.int32)
        self._scales = Table(np.float64, 3)
        self._edges = Table(np.int32, f.EDGE_FIELDS)
        self._actions = Table(np.int32, f.ACTION_FIELDS)
        self._links = Table(np.int32, 3)
        self._slots = Runs()
        self._operators = Operators()
        self._tables = (
            self._nodes,
            self._scales,
            self._edges,
            self._actions,
            self._links,
            self._slots.table,
            self._operators.table,
            self._operators.values,
        )
        self._growth = Growth()
        for table in self._tables:
            table.growth = self._growth
        self._arrays = Public(*(table.rows for table in self._tables))
        self._children: dict[int, Sequence[State]] = {}
        self._features = Features(game)
        self._slots.add(np.zeros(1, dtype=np.int32))
        self._weight = self._operators.add(game.weights(game.root()))
        self.add(game.root(), -1)

    @property
    def size(self) -> int:
        return self._nodes.count

    @property
    def nodes(self) -> Int32:
        return self._nodes.rows

    @property
    def parent(self) -> Int32:
        return self._parent.rows

    @property
    def scales(self) -> Float64:
        return self._scales.rows

    @property
    def edges(self) -> Int32:
        return self._edges.rows

    @property
    def action_rows(self) -> Int32:
        return self._actions.rows

    @property
    def links(self) -> Int32:
        return self._links.rows

    @property
    def slots(self) -> Int32:
        return self._slots.table.rows

    @property
    def operators(self) -> Int64:
        return self._operators.table.rows

    @property
    def operator_values(self) -> Float64:
        return self._operators.values.rows

    @property
    def all_dense(self) -> bool:
        """Whether every pair operator so far is a matrix."""
        return self._operators.all_dense

    @property
    def arrays(self) -> Public:
        """All tables, as kernels take them."""
        if self._growth.happened:
            self._arrays, self._growth.happened = Public(*(table.rows for table in self._tables)), False
        return self._arrays

    # --- what is known of a node ---

    def actor(self, node: int) -> int:
        """Who acts: 0, 1, NATURE or TERMINAL."""
        return int(self.nodes[node, f.ACTOR])

    def num_infostates(self, node: int) -> tuple[int, int]:
        """How many infostates each player has."""
        row = self.nodes[node]
        return int(row[f.I0]), int(row[f.I1])

    def actions(self, node: int) -> Int32:
        """int32[A]: the identities of the actor's actions, ascending."""
        first = int(self.nodes[node, f.ACTION0])
        return self.action_rows[first : first + int(self.nodes[node, f.ACTIONS]), f.IDENTITY]

    def legal(self, node: int) -> Float64:
        """float64[A, I]: 1 where the actor's infostate may take the action, at a listed decision node."""
        first, count = int(self.nodes[node, f.ACTION0]), int(self.nodes[node, f.ACTIONS])
        legal = np.zeros((count, self.num_infostates(node)[self.actor(node)]))
        for a, row in enumerate(self.action_rows[first : first + count]):
            if row[f.EDGE] >= 0:
                legal[a] = 1.0
            else:
                legal[a, self.links[row[f.LINK0] : row[f.LINK0] + row[f.LINKS], 0]] = 1.0
        return legal

    def edge_of(self, node: int, a: int, infostate: int = 0) -> int:
        """The public edge that the actor's action a takes with an infostate in hand; -1 where it is illegal."""
        row = self.action_rows[int(self.nodes[node, f.ACTION0]) + a]
        if row[f.EDGE] >= 0:
            return int(row[f.EDGE])
        links = self.links[row[f.LINK0] : row[f.LINK0] + row[f.LINKS]]
        at = np.flatnonzero(links[:, 0] == infostate)
        return int(links[at[0], 1]) if len(at) else -1

    def edges_of(self, node: int, infostate: int = 0) -> list[int]:
        """`edge_of` for each of the actor's actions."""
        first = int(self.nodes[node, f.ACTION0])
        edges: list[int] = self.action_rows[first : first + int(self.nodes[node, f.ACTIONS]), f.EDGE].tolist()
        return [edge if edge >= 0 else self.edge_of(node, a, infostate) for a, edge in enumerate(edges)]

    def children(self, node: int) -> list[int]:
        """The nodes at the ends of a listed node's edges, those that are listed."""
        row = self.nodes[node]
        found: list[int] = self.edges[row[f.EDGE0] : row[f.EDGE0] + row[f.EDGES], f.CHILD].tolist()
        return [child for child in found if child >= 0]

    def num_edges(self, node: int) -> int:
        """How many public edges leave a listed node."""
        return int(self.nodes[node, f.EDGES])

    def is_plain(self, node: int) -> bool:
        """Whether every infostate's action a takes edge a and keeps its index, so that everybody sees what is done."""
        return bool(self.nodes[node, f.PLAIN])

    def keeps_infostates(self, node: int) -> bool:
        """Whether nobody's infostate changes over any edge of a listed node."""
        return bool(self.nodes[node, f.SAME])

    def slots_of(self, node: int, p: int) -> Int32:
        """int32[I]: the network slot of each of player p's infostates."""
        start = int(self.nodes[node, f.SLOT0 + p])
        return self.slots[start : start + int(self.nodes[node, f.I0 + p])]

    def places_of(self, node: int, p: int) -> Int32:
        """int32[I]: where each of player p's infostates stands in an array by slot of both players, [S0 + S1]."""
        return self.slots_of(node, p) + (self.game.num_slots[0] if p else 0)

    def ranges_of_slots(self, node: int, ranges: Float64) -> tuple[Float64, Float64]:
        """Both players' ranges by infostate, float64[I0] and float64[I1], from ranges by slot, float64[S0 + S1]."""
        return ranges[self.places_of(node, 0)], ranges[self.places_of(node, 1)]

    def ranges_by_slot(self, node: int, ranges: tuple[Float64, Float64]) -> Float64:
        """float64[S0 + S1]: ranges by slot, each player's summing to 1, from ranges by infostate."""
        out = np.zeros(sum(self.game.num_slots))
        for p in (0, 1):
            total = ranges[p].sum()
            out[self.places_of(node, p)] = ranges[p] / total if total > 0 else 1.0 / len(ranges[p])
        return out

    def value_unit(self, node: int) -> float:
        """How many utilities a network value of 1 stands for."""
        return float(self.scales[node, f.VALUE_UNIT])

    def value_units(self, nodes: Int32) -> Float64:
        """float64[B]: `value_unit` of each of the nodes."""
        units: Float64 = self.scales[nodes, f.VALUE_UNIT]
        return units

    def weights(self, node: int) -> Float64:
        """float64[I0, I1]: W, where pairs of infostates are few enough for a matrix."""
        weights: Float64 = self.matrix(int(self.nodes[node, f.WEIGHT_OP])) * self.scales[node, f.WEIGHT_SCALE]
        return weights

    def utility(self, node: int, pair: tuple[int, int]) -> float:
        """Player 0's utility at a terminal node, for both players' infostates."""
        return float(pairs.utility(self.arrays, node, *pair))

    def masses(self, node: int, r0: Float64, r1: Float64) -> tuple[Float64, Float64]:
        """float64[I0], float64[I1]: each infostate's weight against the opponent's range."""
        mass = np.zeros((2, max(len(r0), len(r1))))
        pairs.masses_of_ranges(self.arrays, node, r0, r1, mass)
        return mass[0, : len(r0)], mass[1, : len(r1)]

    def conditional(
        self, node: int, cfvs: tuple[Float64, Float64], ranges: tuple[Float64, Float64]
    ) -> tuple[Float64, Float64]:
        """Both players' values conditional on the infostate, from counterfactual ones; 0 where the mass is 0."""
        masses = self.masses(node, *ranges)
        zero, one = (np.divide(c, m, out=np.zeros_like(c), where=m > 0) for c, m in zip(cfvs, masses, strict=True))
        return zero, one

    # --- growth ---

    def add(self, s: State, parent: int) -> int:
        """Append the public state s and return its node; TooLarge where the tree may not grow further."""
        if self.size >= self.limit:
            raise TooLarge(f"{self.game.name} has more than {self.limit:,} public states: too large to list")
        if self.game.deterministic:
            return self._add_position(s, parent)
        game, node = self.game, self.size
        actor = game.actor(s)
        i0, i1 = game.num_infostates(s)
        self.widest = max(self.widest, i0, i1)
        weight, weight_scale = self._operators.add(game.weights(s))
        payoff, payoff_scale, unit = -1, 0.0, 1.0
        slot0 = slot1 = first = count = 0
        if actor == TERMINAL:
            payoff, payoff_scale = self._operators.add(game.payoff(s))
        else:
            unit = game.value_unit(s)
            if game.num_slots != (1, 1):  # otherwise both lie at 0, where the root's stands
                slot0, slot1 = (self._slots.add(game.slot(s, p)) for p in (0, 1))
            actions = game.actions(s)
            first, count = self._actions.count, len(actions)
            self._actions.extend(count)[:, f.IDENTITY] = actions
        # One assignment a row: each costs as much as ten numbers.
        self._nodes.extend(1)[0] = (actor, i0, i1, -1, 0, first, count, weight, payoff, slot0, slot1, 0, 0)
        self._scales.extend(1)[0] = (weight_scale, payoff_scale, unit)
        self._parent.extend(1)[0] = parent
        self.states.append(s)
        return node

    def _add_position(self, s: State, parent: int) -> int:
        """`add` for a deterministic game: one kernel call writes the node with its fan, whose children come later."""
        game = self.game
        actor, actions = game.actor(s), game.actions(s)
        payoff, payoff_scale, unit = -1, 0.0, game.u_max
        if actor == TERMINAL:
            payoff, payoff_scale = self._operators.add(game.payoff(s))
            unit = 1.0
        node = self._nodes.reserve(1)  # once the rules have answered
        self._scales.reserve(1)
        self._parent.reserve(1)
        self.widest = 1
        count = len(actions)
        self.widest_fan = max(self.widest_fan, count)
        edge0, action0 = self._edges.reserve(count), self._actions.reserve(count)
        weight, scale = self._weight
        scales = float(scale), payoff, float(payoff_scale), float(unit)
        position = Position(node, edge0, action0, int(actor), weight, *scales)
        write_position(self.arrays, position, np.ascontiguousarray(actions, dtype=np.int32))
        self._parent.rows[node] = parent
        self.states.append(s)
        return node

    def list_fan(self, node: int) -> bool:
        """List the public edges leaving a node, once; False where the game's fan is too large to list."""
        row = self.nodes[node]
        if row[f.EDGE0] >= 0 or row[f.ACTOR] == TERMINAL:
            return True
        s = self.states[node]
        if not self.game.listable(s):
            return False
        fan = self.game.fan(s)
        start, count = self._edges.count, len(fan.children)
        edges = self._edges.extend(count)
        edges[:] = _NO_LINKS
        same = fan.carry is None
        if fan.carry is not None:
            for edge, (first, second) in zip(edges, fan.carry, strict=True):
                edge[f.CARRY0], edge[f.CARRY0_LEN] = self._carry(first)
                edge[f.CARRY1], edge[f.CARRY1_LEN] = self._carry(second)
            same = bool((edges[:, f.CARRY0] < 0).all() and (edges[:, f.CARRY1] < 0).all())
        if row[f.ACTOR] != NATURE:
            assert fan.moves is not None
            row[f.PLAIN] = self._add_moves(node, fan.moves.edge, fan.moves.target)
            self.all_plain = self.all_plain and bool(row[f.PLAIN])
        row[f.SAME] = same
        row[f.EDGE0], row[f.EDGES] = start, count
        self._children[node] = fan.children
        return True

    def child(self, node: int, edge: int) -> int:
        """The node at the end of a listed edge, appended on first use."""
        e = self._nodes.rows.item(node, f.EDGE0) + edge
        child: int = self._edges.rows.item(e, f.CHILD)
        if child < 0:
            game = self.game
            s = game.child(self.states[node], edge) if game.deterministic else self._children[node][edge]
            child = self.add(s, node)
            self._edges.rows[e, f.CHILD] = child
        return child

    def list_all(self, watch: Callable[[int], None] = lambda listed: None) -> PublicTree:
        """List every public state of the game; a TooLarge where that is impossible. Returns itself.

        watch: takes the number of nodes whose children are listed, before each; it may raise.
        """
        node = 0
        while node < self.size:
            watch(node)
            if not self.list_fan(node):
                raise TooLarge(f"{self.game.name} has a chance event too large to list")
            for e in range(int(self.nodes[node, f.EDGES])):
                self.child(node, e)
            node += 1
        return self

    def features(self, nodes: Int32) -> Float32:
        """float32[B, F]: the game's features of each node."""
        return self._features.of(nodes, self.states)

    def matrix(self, operator: int) -> Float64:
        """float64[I0, I1]: the dense operator with this number, unscaled."""
        return self._operators.matrix(operator)

    def path(self, node: int) -> list[int]:
        """The nodes from the root to `node`, both included."""
        out = [node]
        while out[-1] > 0:
            out.append(int(self.parent[out[-1]]))
        return out[::-1]

    def line(self, node: int) -> tuple[int, ...]:
        """The public edges from the root to `node`, which name it in every tree of this game."""
        edges = []
        for above, below in pairwise(self.path(node)):
            first, count = int(self.nodes[above, f.EDGE0]), int(self.nodes[above, f.EDGES])
            edges.append(int((self.edges[first : first + count, f.CHILD] == below).argmax()))
        return tuple(edges)

    def decisions(self) -> Iterable[int]:
        """The listed nodes where player 0 or 1 acts, in order."""
        return (int(n) for n in np.flatnonzero(self.nodes[: self.size, f.ACTOR] < NATURE))

    def ongoing(self) -> Int32:
        """int32[*]: the nodes where the game goes on, in order."""
        return np.flatnonzero(self.nodes[: self.size, f.ACTOR] != TERMINAL).astype(np.int32)

    def _carry(self, carry: Carry) -> tuple[int, int]:
        if carry is None:
            return -1, 0
        start, count = self._links.count, len(carry.source)
        links = self._links.extend(count)
        links[:, 0], links[:, 2] = carry.source, carry.target
        return start, count

    def _add_moves(self, node: int, edge: Int32, target: Int32 | None) -> bool:
        """Write the action rows of a node; True when they are plain."""
        first, count = int(self.nodes[node, f.ACTION0]), int(self.nodes[node, f.ACTIONS])
        plain = target is None and bool((edge == np.arange(count)).all())
        if plain:
            self.action_rows[first : first + count, f.EDGE] = np.arange(count)
            return True
        for a in range(count):
            row = self.action_rows[first + a]
            legal = np.flatnonzero(edge[:, a] >= 0)
            row[f.EDGE], row[f.LINK0], row[f.LINKS] = -1, self._links.count, len(legal)
            links = self._links.extend(len(legal))
            links[:, 0], links[:, 1] = legal, edge[legal, a]
            links[:, 2] = legal if target is None else target[legal, a]
        return False
