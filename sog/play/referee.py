"""The referee: plays a game on its public tree with the world's hidden infostates."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from sog.arrays import Float64
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Fan, step
from sog.searches.tree.public_tree import PublicTree

__all__ = ["Follower", "Referee", "World", "is_seen"]


@dataclass(frozen=True)
class World:
    """The state of a game: a public node and the pair of infostates that only the referee sees."""

    node: int
    pair: tuple[int, int]


_PAIRS: Final = 100_000  # of infostates, of which one is drawn at once


class Referee:
    """Deals, draws chance and carries out actions on one public tree.

    edge_into: the public edge by which a node was reached; outcomes of chance events that are not listed have none.
    """

    def __init__(self, public: PublicTree) -> None:
        if not isinstance(public, PublicTree):
            raise GameError(f"a referee plays on a public tree, such as an agent's `public`, not {public!r}")
        self.public = public
        self.edge_into: dict[int, int] = {}
        self._fans: dict[int, Fan] = {}

    def deal(self, rng: np.random.Generator) -> World:
        """The first world: infostates in proportion to W * r0 * r1 at the root, chance played on."""
        return self.settle(self.first(rng), rng)

    def first(self, rng: np.random.Generator) -> World:
        """The world at the root: infostates in proportion to W * r0 * r1."""
        game = self.public.game
        r0, r1 = game.root_ranges()
        # Infostates of the two players are not independent (card removal).
        if len(r0) * len(r1) <= _PAIRS:
            weight = r0[:, None] * game.weights(game.root()).dense() * r1[None, :]
            k = int(rng.choice(weight.size, p=weight.ravel() / weight.sum()))
            return World(0, (k // len(r1), k % len(r1)))
        # Player 0's first, by r0[i] * (sum over j of W[i, j] r1[j]), then player 1's beside it: no matrix is made.
        i0 = _drawn(r0 * self.public.masses(0, r0, r1)[0], rng)
        held = np.zeros(len(r0))
        held[i0] = 1.0
        i1 = _drawn(r1 * self.public.masses(0, held, r1)[1], rng)
        return World(0, (i0, i1))

    def actor(self, world: World) -> int:
        return self.public.actor(world.node)

    def settle(self, world: World, rng: np.random.Generator) -> World:
        """Play nature's moves until a player acts or the game is over."""
        while self.actor(world) == NATURE:
            world = self.draw(world, rng)
        return world

    def draw(self, world: World, rng: np.random.Generator) -> World:
        """The world after one chance event."""
        state = self.public.states[world.node]
        child, i0, i1 = self.public.game.sample_chance(state, *world.pair, rng)
        return World(self._node_of(world.node, child), (int(i0), int(i1)))

    def legal(self, world: World) -> list[int]:
        """Columns of the actor's legal actions."""
        fan = self._fan(world.node)
        assert fan.moves is not None
        return [int(a) for a in np.flatnonzero(fan.moves.edge[world.pair[self.actor(world)]] >= 0)]

    def act(self, world: World, column: int, rng: np.random.Generator) -> World:
        """The world after the actor's action in `column`, chance played on. Raises GameError where it is illegal."""
        return self.settle(self.take(world, column), rng)

    def take(self, world: World, column: int) -> World:
        """The world right after the actor's action in `column`. Raises GameError where it is illegal."""
        if column not in self.legal(world):
            name = self.public.game.state_name(self.public.states[world.node])
            raise GameError(f"action {column} is illegal at {name}")
        edge, pair = step(self._fan(world.node), self.actor(world), world.pair, column)
        return World(self._child(world.node, edge), pair)

    def utility(self, world: World) -> float:
        """Player 0's utility in an ended world."""
        assert self.actor(world) == TERMINAL
        return self.public.utility(world.node, world.pair)

    def _fan(self, node: int) -> Fan:
        if node not in self._fans:
            self.public.list_fan(node)
            self._fans[node] = self.public.game.fan(self.public.states[node])
        return self._fans[node]

    def _node_of(self, node: int, state: object) -> int:
        """The child of `node` that is a game state, added where the fan is not listed."""
        if not self.public.list_fan(node):
            return self.public.add(state, node)
        # By the rules' states: nodes are added for what happened alone, since some are dear, such as hold'em's boards.
        for e, child in enumerate(self._fan(node).children):
            if child == state:
                return self._child(node, e)
        raise GameError(f"{self.public.game.name}: chance led to a state that its fan does not list")

    def _child(self, node: int, edge: int) -> int:
        child = self.public.child(node, edge)
        self.edge_into[child] = edge
        return child


def is_seen(public: PublicTree, world: World, column: int) -> bool:
    """Whether both players see that it is the action in `column` which is taken: no other one takes its public edge."""
    public.list_fan(world.node)  # by the actor's move alone it may not be yet
    if public.game.perfect_information or public.is_plain(world.node):
        return True
    moves = public.game.fan(public.states[world.node]).moves
    assert moves is not None
    taken = moves.edge[world.pair[public.actor(world.node)], column]
    return not (np.delete(moves.edge, column, axis=1) == taken).any()


class Follower:
    """A player's place in a tree of its own while the referee plays on another, or in the one tree of both.

    A tree of its own grows with the line of play and with what its player searches, and with nothing else.
    """

    def __init__(self, referee: Referee, own: PublicTree) -> None:
        self.referee, self.own = referee, own
        self._places = {0: 0}  # by the referee's node, along the line of play

    def place(self, node: int) -> int:
        """The own node of the referee's."""
        theirs = self.referee.public
        if theirs is self.own:
            return node
        way = [node]
        while way[-1] not in self._places:
            way.append(int(theirs.parent[way[-1]]))
        for above, below in pairwise(reversed(way)):
            self._places[below] = self._step(self._places[above], below)
        return self._places[node]

    def _step(self, above: int, below: int) -> int:
        """The own node below `above` that is the referee's `below`."""
        edge = self.referee.edge_into.get(below)
        if edge is None:  # the outcome of a chance event that no tree lists
            return self.own.add(self.referee.public.states[below], above)
        self.own.list_fan(above)
        return self.own.child(above, edge)


def _drawn(weights: Float64, rng: np.random.Generator) -> int:
    """A place drawn in proportion to weights, float64[N]."""
    return int(rng.choice(len(weights), p=weights / weights.sum()))
