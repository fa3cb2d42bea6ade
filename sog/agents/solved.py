"""What a solver found of a whole game, and agents that play it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

import numpy as np

from sog.arrays import Float64
from sog.errors import GameError, SettingError
from sog.games.base import Game
from sog.games.policy_picture import policy_drawn
from sog.play.agent import Agent
from sog.searches.tree.public_tree import PublicTree

__all__ = ["Policy", "Solution", "SolutionAgent", "noted"]

# float64[A, I] by public node: each action's probability (rows) with each infostate of the actor (columns).
Policy: TypeAlias = dict[int, Float64]


@dataclass(frozen=True, eq=False)
class Solution:
    """What `solve` found.

    public: the game's public tree; `public.states[node]` is a node's public state.  policy: the average policy,
    float64[A, I] by public node where a player acts.  value: player 0's utility when both play this
    policy.  exploitability: (best response of 0 + best response of 1) / 2 against this policy, in utilities.
    """

    public: PublicTree
    policy: Policy
    value: float
    exploitability: float
    iterations: int

    @property
    def game(self) -> Game:
        return self.public.game

    def __repr__(self) -> str:
        figures = f"value={self.value:.4g}, exploitability={self.exploitability:.3g}, iterations={self.iterations}"
        return f"Solution({self.game.name!r}, {figures})"

    def policies(self) -> Iterator[tuple[int, Float64]]:
        """The policy at every public node where a player acts."""
        return iter(self.policy.items())

    def _repr_html_(self) -> str:
        """In a notebook: the figures, and the policy at the first decision."""
        figures, game = f"{self.game.name}: value {self.value:.4g}, exploitability {self.exploitability:.3g}", self.game
        if not self.policy:
            return noted([figures])
        node, policy = next(iter(self.policy.items()))
        state = self.public.states[node]
        weights = game.root_ranges()[game.actor(state)] if node == 0 else np.ones(policy.shape[1])
        return noted([figures], policy_drawn("Policy", game, state, policy, weights).svg)


class SolutionAgent(Agent):
    """Plays a solution on any tree of the same game."""

    def __init__(self, public: PublicTree, player: int, solution: Solution) -> None:
        super().__init__(public, player)
        self.solution = solution

    def policy(self, node: int) -> Float64:
        """float64[A, I]: see `Agent.policy`; SettingError where the solution lacks the line of play."""
        solved, at = self.solution.public, 0
        with suppress(GameError):
            # Edges name a node in every tree of the game, also where several lines lead to one public state.
            for edge in self.public.line(node):
                at = solved.child(at, edge)
            if at in self.solution.policy:
                return self.solution.policy[at]
        raise SettingError(f"the solution has no policy at {self.game.state_name(self.state(node))}")


def noted(lines: Sequence[str], picture: str = "") -> str:
    """HTML of a notebook: lines of words above a picture."""
    return f'<div style="max-width:32em">{"".join(f"<p>{escape(line)}</p>" for line in lines)}{picture}</div>'
