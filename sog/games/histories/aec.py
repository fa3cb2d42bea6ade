"""A game as a PettingZoo environment: agents act in turn (AEC), and see what their infostate holds.

It needs the extra: `pip install 'sog[pettingzoo]'`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from sog.errors import GameError, check_whole
from sog.games.base import TERMINAL
from sog.games.histories.base import HistoryGame, deal

__all__ = ["HistoryEnv"]

_NAMES = ("player_0", "player_1")


class HistoryEnv(AECEnv):  # type: ignore[misc]  # PettingZoo's classes have no types
    """A two-player game of histories. `action_space`: the game's action numbers, of which the mask says the legal ones.

    An observation is {"observation": float32[N], "action_mask": int8[A]}: the network input for the infostate of the
    player who looks, and what that player may do now (zeros where another acts). Rewards are utilities, once, at the
    end. An illegal action raises GameError and leaves the game as it is.
    """

    metadata = {"name": "sog", "is_parallelizable": False, "render_modes": []}  # noqa: RUF012  # as PettingZoo has it

    def __init__(self, game: HistoryGame) -> None:
        super().__init__()
        self.game = game
        self.render_mode = None
        self.possible_agents = list(_NAMES)
        limits = spaces.Box(-np.inf, np.inf, (game.num_inputs,), np.float32)
        mask = spaces.Box(0, 1, (game.num_actions,), np.int8)
        self.observation_spaces = {
            name: spaces.Dict({"observation": limits, "action_mask": mask}) for name in self.possible_agents
        }
        self.action_spaces = {name: spaces.Discrete(game.num_actions) for name in self.possible_agents}
        self._rng = np.random.default_rng()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What `observe` answers this agent with."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The game's action numbers."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new deal.  seed: of chance from here on; None: chance continues as it was."""
        if seed is not None:
            check_whole("seed", seed, 0)
            self._rng = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self._states = self.game.begin(1)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {name: {} for name in self.agents}
        self._go_on()

    def observe(self, agent: str) -> dict[str, Any]:
        """What this agent's infostate holds, and its legal actions if it is to act."""
        player = _NAMES.index(agent)
        viewer = np.array([player], dtype=np.int32)
        acts = int(self.game.actors(self._states)[0]) == player
        mask = self.game.legal(self._states)[0] if acts else np.zeros(self.game.num_actions)
        return {"observation": self.game.inputs(self._states, viewer)[0], "action_mask": mask.astype(np.int8)}

    def step(self, action: int | None) -> None:
        """The acting agent's action; None once it has ended."""
        if not hasattr(self, "agent_selection"):
            raise GameError(f"{self.game.name}: call reset first, which deals")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        legal = np.flatnonzero(self.game.legal(self._states)[0])
        if not isinstance(action, int | np.integer) or action not in legal:
            raise GameError(f"{self.game.name}: {agent} may take {legal.tolist()}, not {action}")
        self._cumulative_rewards[agent] = 0.0
        self.game.step(self._states, np.array([int(action)], dtype=np.int32))
        self._go_on()
        self._accumulate_rewards()

    def render(self) -> None:
        """Nothing: these games have words, not pictures."""

    def close(self) -> None:
        """Nothing is open."""

    def _go_on(self) -> None:
        """Chance acts until a player does, or the game has ended."""
        actor = int(deal(self.game, self._states, self._rng)[0])
        if actor != TERMINAL:
            self.agent_selection = _NAMES[actor]
            return
        utility = float(self.game.utilities(self._states)[0])
        self.rewards = {"player_0": utility, "player_1": -utility}
        self.terminations = dict.fromkeys(self.agents, True)
        # Both have their last turn, in order: PettingZoo takes an agent away when it steps after its end.
        self.agent_selection = self.agents[0]
