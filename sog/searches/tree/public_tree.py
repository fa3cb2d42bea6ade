"""PublicTree: the public states of a game listed so far, as arrays; it uses the rules and has no strategy.

Nodes are only appended: a child's index is always above its parent's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from sog.arrays import Float32, Float64, Int32
from sog.errors import GameError, TooLarge
from sog.games.base import NATURE, TERMINAL, Game, State
from sog.searches.kernels.dispatch import same_types
from sog.searches.tree import listing, pairs
from sog.searches.tree.arrays import Cells, Public
from sog.searches.tree.features import Features
from sog.searches.tree.links import write_carry, write_moves
from sog.searches.tree.listed import Listed
from sog.searches.tree.listing import ListedPosition
from sog.searches.tree.records import Actions, Edges, LinkRows, OperatorRows, PublicStates

LIMIT: Final = 20_000_000  # public states of a tree, where nobody names another number

_write_position, _list_child = same_types(listing.write_position), same_types(listing.list_child)


class PublicTree:
    """The public states of a game listed so far.

    states: the game's state of each node [N].  parent: int32[N], -1 at the root.
    nodes, edges, action_rows, links: tables (records.py).  slots: int32[K], network slot of each infostate.
    operators, operator_values: float64[*], the pair operators as they are packed.
    Arrays are longer than what they hold; `size` is the number of nodes.
    """

    def __init__(self, game: Game, limit: int = LIMIT) -> None:
        """limit: the most nodes this tree may hold; TooLarge is raised beyond it."""
        self.game, self.limit = game, limit
        self.all_plain = True  # whether action a takes edge a at every decision listed
        self.widest = 0  # the most infostates a player has at any node
        self.widest_fan = 0  # the most edges that any position of a deterministic game has
        self._listed = Listed(game, limit)
        self.states = self._listed.states
        self.lists_alone = self._listed.rows is not None  # whether kernels list positions, by the game's cell rules
        self._children: dict[int, Sequence[State]] = {}
        self._features = Features(game, self._listed.rows)
        self._listed.slots.add(np.zeros(1, dtype=np.int32))
        self._weight = self._listed.operators.add(game.weights(game.root()))
        self.add(game.root(), -1)
        if self._listed.rows is not None:
            self.widest_fan = self._listed.rows.rules.most

    @property
    def size(self) -> int:
        return self._listed.nodes.count

    @property
    def nodes(self) -> PublicStates:
        return self._listed.nodes.rows

    @property
    def parent(self) -> Int32:
        return self._listed.parent.rows

    @property
    def edges(self) -> Edges:
        return self._listed.edges.rows

    @property
    def action_rows(self) -> Actions:
        return self._listed.actions.rows

    @property
    def links(self) -> LinkRows:
        return self._listed.links.rows

    @property
    def slots(self) -> Int32:
        return self._listed.slots.table.rows

    @property
    def operators(self) -> OperatorRows:
        return self._listed.operators.table.rows

    @property
    def operator_values(self) -> Float64:
        return self._listed.operators.values.rows

    @property
    def all_dense(self) -> bool:
        """Whether every pair operator so far is a matrix."""
        return self._listed.operators.all_dense

    @property
    def arrays(self) -> Public:
        """All tables, as kernels take them."""
        return self._listed.arrays[0]

    @property
    def tables(self) -> tuple[Public, Cells]:
        """`arrays`, and the positions as kernels play them."""
        return self._listed.arrays

    # --- what is known of a node ---

    def actor(self, node: int) -> int:
        """Who acts: 0, 1, NATURE or TERMINAL."""
        return int(self.nodes.actor.item(self._at(node)))

    def num_infostates(self, node: int) -> tuple[int, int]:
        """How many infostates each player has."""
        i0, i1 = self.nodes.width[self._at(node)].tolist()
        return i0, i1

    def actions(self, node: int) -> Int32:
        """int32[A]: the identities of the actor's actions, ascending."""
        return self.action_rows.identity[self._actions_of(node)]

    def _actions_of(self, node: int) -> slice:
        """Where a node's actions lie in the table of actions."""
        first = int(self.nodes.action0.item(self._at(node)))
        return slice(first, first + int(self.nodes.actions.item(node)))

    def _edges_of(self, node: int) -> slice:
        """Where a listed node's edges lie in the table of edges."""
        first = int(self.nodes.edge0.item(self._at(node)))
        return slice(first, first + int(self.nodes.edges.item(node)))

    def legal(self, node: int) -> Float64:
        """float64[A, I]: 1 where the actor's infostate may take the action, at a listed decision node."""
        rows = self._actions_of(node)
        legal = np.zeros((rows.stop - rows.start, self.num_infostates(node)[self.actor(node)]))
        for a, row in enumerate(range(rows.start, rows.stop)):
            if self.action_rows.edge[row] >= 0:
                legal[a] = 1.0
            else:
                legal[a, self._links_of(row).source] = 1.0
        return legal

    def _links_of(self, row: int) -> LinkRows:
        """The links of the action in a row of the table."""
        first = int(self.action_rows.link0[row])
        return self.links[first : first + int(self.action_rows.links[row])]

    def edge_of(self, node: int, a: int, infostate: int = 0) -> int:
        """The public edge that the actor's action a takes with an infostate; -1 where it is illegal.

        a: the action's place in `actions`, from 0 on, not its identity. GameError where there is no such action, or no
        such infostate of the actor's.
        """
        if not 0 <= a < self.nodes.actions.item(self._at(node)):
            place, legal = self._place(node), self.actions(node).tolist()
            places = f"its actions {legal} have the places 0 to {len(legal) - 1}" if legal else "no player acts there"
            raise GameError(f"{place}: no action has place {a}: {places}")
        if not 0 <= infostate < self.num_infostates(node)[self.actor(node)]:
            raise GameError(f"{self._place(node)}: player {self.actor(node)} has no infostate {infostate} there")
        return self._edge(int(self.nodes.action0.item(node)) + a, infostate)

    def _edge(self, row: int, infostate: int) -> int:
        """The edge of the action in a row of the table; -1 where the infostate may not take it."""
        if self.action_rows.edge[row] >= 0:
            return int(self.action_rows.edge[row])
        links = self._links_of(row)
        at = np.flatnonzero(links.source == infostate)
        return int(links.edge[at[0]]) if len(at) else -1

    def edges_of(self, node: int, infostate: int = 0) -> list[int]:
        """`edge_of` for each of the actor's actions."""
        rows = self._actions_of(node)
        edges: list[int] = self.action_rows.edge[rows].tolist()
        return [edge if edge >= 0 else self._edge(row, infostate) for row, edge in enumerate(edges, rows.start)]

    def children(self, node: int) -> list[int]:
        """The nodes at the ends of a listed node's edges, those that are listed."""
        nodes: list[int] = self.edges.child[self._edges_of(node)].tolist()
        return [child for child in nodes if child >= 0]

    def num_edges(self, node: int) -> int:
        """How many public edges leave a listed node."""
        return int(self.nodes.edges.item(self._at(node)))

    def is_plain(self, node: int) -> bool:
        """Whether every infostate's action a takes edge a and keeps its index, so that everybody sees what is done."""
        return bool(self.nodes.plain.item(self._at(node)))

    def slots_of(self, node: int, p: int) -> Int32:
        """int32[I]: the network slot of each of player p's infostates."""
        start = self.nodes.slot0.item(self._at(node), p)
        return self.slots[start : start + self.nodes.width.item(node, p)]

    def places_of(self, node: int, p: int) -> Int32:
        """int32[I]: where each of player p's infostates is in an array by slot of both players, [S0 + S1]."""
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
        """The utility that a network value of 1 means."""
        return float(self.nodes.value_unit.item(self._at(node)))

    def value_units(self, nodes: Int32) -> Float64:
        """float64[B]: `value_unit` of each of the nodes."""
        units: Float64 = self.nodes.value_unit[nodes]
        return units

    def weights(self, node: int) -> Float64:
        """float64[I0, I1]: W, where pairs of infostates are few enough for a matrix."""
        weights: Float64 = self.matrix(int(self.nodes.weight.item(self._at(node)))) * self.nodes.weight_scale[node]
        return weights

    def utility(self, node: int, pair: tuple[int, int]) -> float:
        """Player 0's utility at a terminal node, for both players' infostates; GameError where there are none such."""
        (i0, i1), (most0, most1) = pair, self.num_infostates(node)
        if not (self.actor(node) == TERMINAL and 0 <= i0 < most0 and 0 <= i1 < most1):
            raise GameError(f"{self._place(node)}: there is no utility for the infostates {pair}")
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
            raise self._too_large()
        if self.game.deterministic:
            return self._add_position(s, parent)
        game, node, actor = self.game, self.size, self.game.actor(s)
        i0, i1 = game.num_infostates(s)
        self.widest = max(self.widest, i0, i1)
        weight, weight_scale = self._listed.operators.add(game.weights(s))
        payoff, payoff_scale, unit = -1, 0.0, 1.0
        slot0 = slot1 = first = count = 0
        if actor == TERMINAL:
            payoff, payoff_scale = self._listed.operators.add(game.payoff(s))
        else:
            unit = game.value_unit(s)
            if game.num_slots != (1, 1):  # otherwise both lie at 0, where the root's is
                slot0, slot1 = (self._listed.slots.add(game.slot(s, p)) for p in (0, 1))
            actions = game.actions(s)
            count = len(actions)
            first = self._listed.actions.reserve(count)
            self._listed.actions.rows.identity[first : first + count] = actions
        # One assignment a row, in the order of records.PublicState: each costs as much as ten numbers.
        self._listed.nodes.reserve(1)
        self._listed.parent.make_room(node + 1)
        self._listed.nodes.rows[node] = (
            *(actor, False, False, (i0, i1), -1, 0, first, count, (slot0, slot1)),
            *(weight, payoff, weight_scale, payoff_scale, unit),
        )
        self._listed.parent.rows[node] = parent
        self.states.append(s)
        return node

    def _add_position(self, s: State, parent: int) -> int:
        """`add` for a deterministic game: one kernel call writes the node with its fan, whose children come later."""
        game = self.game
        actor, actions = game.actor(s), game.actions(s)
        payoff, payoff_scale, unit = -1, 0.0, game.u_max
        if actor == TERMINAL:
            payoff, payoff_scale = self._listed.operators.add(game.payoff(s))
            unit = 1.0
        node = self._listed.nodes.reserve(1)  # once the rules have answered
        self._listed.parent.make_room(node + 1)
        self.widest, count = 1, len(actions)
        self.widest_fan = max(self.widest_fan, count)
        edge0, action0 = self._listed.edges.reserve(count), self._listed.actions.reserve(count)
        weight, scale = self._weight
        position = ListedPosition(
            node, edge0, action0, int(actor), weight, float(scale), payoff, float(payoff_scale), float(unit)
        )
        _write_position(self.arrays, position, np.ascontiguousarray(actions, dtype=np.int32))
        self._listed.parent.rows[node] = parent
        self.states.append(s)
        return node

    def list_fan(self, node: int) -> bool:
        """List the public edges leaving a node, once; False where the game's fan is too large to list."""
        nodes = self.nodes
        if nodes.edge0[self._at(node)] >= 0 or nodes.actor[node] == TERMINAL:
            return True
        s = self.states[node]
        if not self.game.listable(s):
            return False
        fan = self.game.fan(s)
        count = len(fan.children)
        start = self._listed.edges.reserve(count)
        edges, here = self._listed.edges.rows, slice(start, start + count)
        edges.child[here], edges.carry0[here] = -1, -1
        if fan.carry is not None:
            for e, carries in enumerate(fan.carry, start):
                for p in (0, 1):
                    edges.carry0[e, p], edges.carries[e, p] = write_carry(self._listed.links, carries[p])
        if nodes.actor[node] != NATURE:
            assert fan.moves is not None
            nodes.plain[node] = write_moves(self.action_rows, self._listed.links, self._actions_of(node), fan.moves)
            self.all_plain = self.all_plain and bool(nodes.plain[node])
        nodes.same[node] = fan.carry is None or (edges.carry0[here] < 0).all()
        nodes.edge0[node], nodes.edges[node] = start, count
        self._children[node] = fan.children
        return True

    def child(self, node: int, edge: int) -> int:
        """The node at the end of a listed edge, appended on first use; GameError where there is no such edge."""
        if not (0 <= node < self.size and 0 <= edge < self._listed.nodes.rows.edges.item(node)):
            place, count = self._place(node), self.num_edges(node)
            raise GameError(f"{place}: of its {count} listed edges, from 0 on, none is {edge}")
        e = self._listed.nodes.rows.edge0.item(node) + edge
        child: int = self._listed.edges.rows.child.item(e)
        if child < 0 and self._listed.rows is not None:
            if self.size >= self.limit:
                raise self._too_large()
            self._listed.make_room(self._listed.rows, 1)
            child = int(_list_child(*self.tables, node, edge))
        elif child < 0:
            game = self.game
            s = game.child(self.states[node], edge) if game.deterministic else self._children[node][edge]
            child = self.add(s, node)
            self._listed.edges.rows.child[e] = child
        return child

    def _too_large(self) -> TooLarge:
        return TooLarge(f"{self.game.name} has more than {self.limit:,} public states: too large to list")

    def _place(self, node: int) -> str:
        """How errors name a node; GameError where the tree lacks it."""
        return f"{self.game.name} at public node {self._at(node)}, {self.game.state_name(self.states[node])}"

    def _at(self, node: int) -> int:
        """The node itself; GameError where the tree lacks it, since other rows of the arrays hold no node."""
        if not 0 <= node < self._listed.nodes.count:
            raise GameError(f"{self.game.name} has no public node {node}, of {self.size:,} that are listed")
        return node

    def list_all(self, watch: Callable[[int], None] = lambda listed: None) -> PublicTree:
        """List every public state of the game; TooLarge where that is impossible. Returns the tree itself.

        watch: takes the number of nodes whose children are listed, before each; it may raise.
        """
        node = 0
        while node < self.size:
            watch(node)
            if not self.list_fan(node):
                raise TooLarge(f"{self.game.name} has a chance event too large to list")
            for e in range(self.num_edges(node)):
                self.child(node, e)
            node += 1
        return self

    def features(self, nodes: Int32) -> Float32:
        """float32[B, F]: the game's features of each node."""
        return self._features.of(nodes, self.states)

    def matrix(self, operator: int) -> Float64:
        """float64[I0, I1]: the dense operator with this number, unscaled."""
        return self._listed.operators.matrix(operator)

    def path(self, node: int) -> list[int]:
        """The nodes from the root to `node`, both included."""
        out = [self._at(node)]
        while out[-1] > 0:
            out.append(int(self.parent[out[-1]]))
        return out[::-1]

    def line(self, node: int) -> tuple[int, ...]:
        """The public edges from the root to `node`, which name it in every tree of this game."""
        edges = []
        for above, below in pairwise(self.path(node)):
            edges.append(int((self.edges.child[self._edges_of(above)] == below).argmax()))
        return tuple(edges)

    def decisions(self) -> Iterable[int]:
        """The listed nodes where player 0 or 1 acts, in order."""
        return (int(n) for n in np.flatnonzero(self.nodes.actor[: self.size] < NATURE))
