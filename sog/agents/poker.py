"""Opens who plays poker by what a person calls it: a simple opponent, a checkpoint, a class, or a solved spot."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sog.agents.loaded import Recalled
from sog.agents.opening import open_network
from sog.agents.own import CheckedAgent, agent_class, seats_of
from sog.agents.uniform import UniformAgent
from sog.agents.written_policy import WrittenPolicyAgent, read_policy
from sog.algorithms.base import Algorithm
from sog.algorithms.rebel.agent import RebelAgent
from sog.arrays import Float64
from sog.errors import GameError, SettingError
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.games.holdem.game import HoldemState
from sog.opponents.holdem.blueprint import BlueprintAgent, is_blueprint
from sog.opponents.holdem.blueprint import load as load_blueprint
from sog.opponents.holdem.simple import AlwaysCall, AlwaysFold, EquityThreshold
from sog.play.agent import Agent
from sog.searches.holdem.saved import load
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.tree.public_tree import PublicTree

__all__ = ["SIMPLE", "KnownAgent", "OpenedAgent", "SpotAgent", "open_agent"]

SIMPLE: Final[Mapping[str, type[Agent]]] = {
    "always-fold": AlwaysFold,
    "always-call": AlwaysCall,
    "random": UniformAgent,
    "equity": EquityThreshold,
}
_WHOLE_GAME: Final = "holdem"


@dataclass(frozen=True)
class OpenedAgent:
    """A game and who plays it.  seats: makes the agent of a seat, 0 or 1, on a public tree."""

    game: Game
    seats: Callable[[PublicTree, int], Agent]
    trained: bool = True


def open_agent(text: str, game: str | None, plays: Callable[[], Algorithm], seed: int = 0) -> OpenedAgent:
    """The agent that a text names, and the game that it plays.

    text: one of SIMPLE; MODULE:CLASS; a file that `sog solve ... --out` wrote; a checkpoint or a game.  game: another
    game for it to play, needed for a class and for a policy's file; a simple opponent plays whole hold'em by default.
    plays: asked only for a checkpoint or a game, for the algorithm that plays.  seed: of what the agent draws.
    Raises SettingError, GameError or CheckpointError, each in one line.
    """
    if text in SIMPLE:
        kind = SIMPLE[text]
        return OpenedAgent(make_game(game or _WHOLE_GAME), lambda public, player: kind(public, player, seed))
    if ":" in text and "(" not in text and not os.path.lexists(text):
        if game is None:
            raise SettingError(f"{text} is a class: name the game that it plays with --game")
        own = agent_class(text)
        return OpenedAgent(make_game(game), lambda public, player: CheckedAgent(seats_of(own, public)(player, seed)))
    if os.path.isfile(text) and is_blueprint(Path(text)):
        table = load_blueprint(Path(text))
        return OpenedAgent(
            table.game if game is None else make_game(game),
            lambda public, player: BlueprintAgent(public, player, table),
        )
    if text.endswith(".json") and os.path.isfile(text):
        if game is None:
            raise SettingError(f"{text} is a policy: name the game that it plays with --game")
        written = read_policy(Path(text), make_game(game))
        return OpenedAgent(make_game(game), lambda public, player: WrittenPolicyAgent(public, player, written))
    if os.path.isfile(text):
        if game is not None:
            raise SettingError(f"{text} is a file with a game in it, such as a solved spot: leave out --game")
        solver, _ = load(Path(text))
        return OpenedAgent(solver.game, lambda public, player: SpotAgent(public, player, solver))
    algorithm = plays()
    algorithm.refuse_training()
    opened = open_network(text, algorithm.name, game)

    def seats(public: PublicTree, player: int) -> Agent:
        agent = algorithm.agents(public, opened)(player, seed)
        # ReBeL draws an iteration for each game; what others play at a node depends on the node alone.
        return agent if isinstance(agent, RebelAgent) else KnownAgent(agent)

    return OpenedAgent(opened.game, seats, opened.trained)


class KnownAgent(Agent):
    """An agent whose policy at a public node depends on the node alone: asked again, it need not search again."""

    def __init__(self, agent: Agent) -> None:
        """agent: in its state at the start of a game."""
        super().__init__(agent.public, agent.player, agent.seed)
        self._recalled = Recalled(agent)

    def policy(self, node: int) -> Float64:
        return self._recalled.policy(node)


class SpotAgent(Agent):
    """Plays the average policies of a solved hold'em spot; GameError where the solver's tree has not what happened."""

    def __init__(self, public: PublicTree, player: int, solver: HoldemSolver) -> None:
        super().__init__(public, player)
        if public.game.name != solver.game.name:
            raise GameError(f"a solution of {solver.game.name} does not play {public.game.name}")
        self.solver = solver

    def policy(self, node: int) -> Float64:
        state = self.state(node)
        assert isinstance(state, HoldemState)
        return self.solver.policy(state)
