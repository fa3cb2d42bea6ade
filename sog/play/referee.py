"""The referee: plays a game on its public tree with the world's hidden infostates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Fan, step
from sog.searches.tree.public_tree import PublicTree

__all__ = ["Referee", "World"]


@dataclass(frozen=True)
class World:
    """The state of a game: a public node and the pair of infostates that only the referee sees."""

    node: int
    pair: tuple[int, int]


class Referee:
    """Deals, draws chance and carries out actions on one public tree."""

    def __init__(self, public: PublicTree) -> None:
        self.public = public
        self._fans: dict[int, Fan] = {}

    def deal(self, rng: np.random.Generator) -> World:
        """The first world: infostates in proportion to W * r0 * r1 at the root, chance played on."""
        game = self.public.game
        r0, r1 = game.root_ranges()
        # One draw over all pairs: infostates of the two players are not independent (card removal).
        weight = r0[:, None] * game.weights(game.root()).dense() * r1[None, :]
        k = int(rng.choice(weight.size, p=weight.ravel() / weight.sum()))
        return self.settle(World(0, (k // len(r1), k % len(r1))), rng)

    def actor(self, world: World) -> int:
        return self.public.actor(world.node)

    def settle(self, world: World, rng: np.random.Generator) -> World:
        """Play nature's moves until a player acts or the game is over."""
        while self.actor(world) == NATURE:
            state = self.public.states[world.node]
            child, i0, i1 = self.public.game.sample_chance(state, *world.pair, rng)
            world = World(self._node_of(world.node, child), (i0, i1))
        return world

    def legal(self, world: World) -> list[int]:
        """Columns of the actor's legal actions."""
        fan = self._fan(world.node)
        assert fan.moves is not None
        return [int(a) for a in np.flatnonzero(fan.moves.edge[world.pair[self.actor(world)]] >= 0)]

    def act(self, world: World, column: int, rng: np.random.Generator) -> World:
        """The world after the actor's action in `column`, chance played on. Raises GameError where it is illegal."""
        if column not in self.legal(world):
            name = self.public.game.state_name(self.public.states[world.node])
            raise GameError(f"action {column} is illegal at {name}")
        edge, pair = step(self._fan(world.node), self.actor(world), world.pair, column)
        return self.settle(World(self.public.child(world.node, edge), pair), rng)

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
        for e in range(self.public.num_edges(node)):
            child = self.public.child(node, e)
            if self.public.states[child] == state:
                return child
        raise GameError(f"{self.public.game.name}: chance led to a state that its fan does not list")
