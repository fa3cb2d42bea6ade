"""An agent of a game with hidden information that asks a player of Scotland Yard, for matches under our referee."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np

from sog.arrays import Float64
from sog.errors import GameError
from sog.games.scotland_yard.game import Chase, ScotlandYard
from sog.opponents.scotland_yard.player import ChasePlayer
from sog.play.agent import Agent
from sog.searches.tree.public_tree import PublicTree

__all__ = ["ChaseAgent"]


class ChaseAgent(Agent):
    """Plays what a player of Scotland Yard would; the player sees the public state's history and the own infostate.

    make: the player, from the game and the agent's seed. The same question has the same answer within a game, and each
    game of one agent has draws of its own.
    """

    def __init__(
        self, public: PublicTree, player: int, make: Callable[[ScotlandYard, int], ChasePlayer], seed: int = 0
    ) -> None:
        """GameError for a game that is not Scotland Yard."""
        super().__init__(public, player, seed)
        if not isinstance(public.game, ScotlandYard):
            raise GameError(f"this agent plays scotland_yard, not {public.game.name}")
        self.chaser, self.games = make(public.game, seed), 0

    def new_game(self) -> None:
        """Forget the last game."""
        super().new_game()
        self.games += 1
        entropy = np.random.SeedSequence((self.seed, self.games)).generate_state(1, np.uint32)
        self.chaser.new_game(int(entropy[0]))

    def policy(self, node: int) -> Float64:
        """float64[A, I]: 1 for the action that the player answers with at each infostate."""
        policy: Float64 = np.zeros_like(self.legal(node), dtype=np.float64)
        for infostate in range(len(policy[0])):
            policy[self._column(node, infostate), infostate] = 1.0
        return policy

    def act(self, node: int, infostate: int, rng: np.random.Generator) -> int:
        """The column of the player's action; one search, for this infostate alone."""
        return self._column(node, infostate)

    def fork(self) -> Self:
        """The agent itself: a move depends on the game's seed and the public history alone."""
        return self

    def _column(self, node: int, infostate: int) -> int:
        state = self.state(node)
        assert isinstance(state, Chase)
        action = self.chaser.move(state.log, state.hidden[infostate] if self.player == 0 else None)
        return int(np.searchsorted(self.public.actions(node), action))
