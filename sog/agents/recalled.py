"""An agent's policy at any public state, in any order: its chain is played again from the start of the game."""

from __future__ import annotations

from sog.arrays import Float64
from sog.lru import LruCache
from sog.play.agent import Agent

__all__ = ["Recalled"]


class Recalled:
    """Policies of an agent that only knows how to play games from their start to their end.

    The policy at a node depends on the node alone. Policies are kept; of agents that stand in mid-game, the
    `kept` latest.
    """

    def __init__(self, agent: Agent, kept: int = 256) -> None:
        """agent: as it stands at the start of a game; it is forked, never played itself."""
        self.agent = agent
        self._policies: dict[int, Float64] = {}
        self._standing: LruCache[int, Agent] = LruCache(kept)

    def policy(self, node: int) -> Float64:
        """float64[A, I]: what the agent plays at a public node where it acts."""
        if node not in self._policies:
            self._after(node)
        return self._policies[node]

    def _after(self, node: int) -> Agent:
        """The agent as it stands once it has acted at `node`."""
        if node in self._standing:
            return self._standing[node]
        public, player = self.agent.public, self.agent.player
        own = [s for s in public.path(node)[:-1] if public.game.actor(public.states[s]) == player]
        agent = (self._after(own[-1]) if own else self.agent).fork()
        self._policies[node] = agent.policy(node)
        self._standing[node] = agent
        return agent
