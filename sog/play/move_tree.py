"""The public tree of a game of perfect information, walked by lists of moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Game
from sog.searches.tree.public_tree import PublicTree

__all__ = ["MOST_STATES", "MoveTree"]

# Positions that a player's tree keeps, 12 kB each of chess and 32 of 9x9 Go, before it begins anew.
MOST_STATES: Final = 100_000


class MoveTree:
    """A game's public tree, walked by lists of moves; a position that was there before costs nothing.

    moves: the line that was walked last.
    """

    def __init__(self, game: Game) -> None:
        """Raises GameError where the game is not one of perfect information."""
        if not game.perfect_information:
            raise GameError(f"{game.name} is not a game of perfect information")
        self.public = PublicTree(game)
        self.moves: tuple[int, ...] = ()
        self._nodes = [0]  # along that line, so that the next walk is short

    def node_after(self, moves: Sequence[int]) -> int:
        """The public node after these actions; GameError where one is illegal."""
        # What this line shares with the last one is walked already.
        known = 0
        while known < min(len(moves), len(self.moves)) and moves[known] == self.moves[known]:
            known += 1
        nodes = self._nodes[: known + 1]
        for action in moves[known:]:
            nodes.append(self._step(nodes[-1], action))
        self.moves, self._nodes = tuple(moves), nodes
        return nodes[-1]

    def _step(self, node: int, action: int) -> int:
        """The child that an action leads to; GameError where it is illegal."""
        public, actions = self.public, self.actions(node)
        if action not in actions:
            raise GameError(f"action {action} is illegal in {self.name(node)}")
        public.list_fan(node)
        return public.child(node, public.edge_of(node, actions.index(action)))

    def decision_after(self, moves: Sequence[int]) -> int:
        """As `node_after`, where a player is to move; GameError where nobody is."""
        node = self.node_after(moves)
        if self.actor(node) >= NATURE:
            why = "the game is over" if self.actor(node) == TERMINAL else "chance is to move"
            raise GameError(f"{why} in {self.name(node)}")
        return node

    @property
    def is_full(self) -> bool:
        """Whether a player should begin with a new tree: what earlier searches listed is not needed again."""
        return self.public.size > MOST_STATES

    def result(self, node: int) -> float | None:
        """Player 0's utility where the game has ended, as a share of the largest; None where it continues."""
        if self.actor(node) != TERMINAL:
            return None
        return self.public.utility(node, (0, 0)) / self.public.game.u_max

    def actor(self, node: int) -> int:
        return self.public.actor(node)

    def name(self, node: int) -> str:
        return self.public.game.state_name(self.public.states[node])

    def actions(self, node: int) -> list[int]:
        """The actor's actions at a node, ascending."""
        actions: list[int] = self.public.actions(node).tolist()
        return actions
