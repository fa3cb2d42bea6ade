"""The smallest agent: it plays every legal action alike. Start from it to write your own."""

from __future__ import annotations

from sog.arrays import Float64
from sog.play.agent import Agent

__all__ = ["UniformAgent"]


class UniformAgent(Agent):
    """Plays every legal action with the same probability.

    Measure it with `sog exploit leduc_poker --agent sog.agents.uniform:UniformAgent`.
    """

    def policy(self, node: int) -> Float64:
        legal = self.legal(node)
        uniform: Float64 = legal / legal.sum(axis=0)
        return uniform
