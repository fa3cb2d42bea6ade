"""A bot of OpenSpiel's as an agent: it is shown a state with its own infostate, and any that the opponent may have.

OpenSpiel's states hold everything, the opponent's cards too. In the state that the bot is shown, the opponent has
another infostate, drawn evenly from those that are possible beside the bot's own: it is independent of the real one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel

from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.base import Game
from sog.games.blame import code_of
from sog.play.agent import Agent
from sog.play.hand import Seats
from sog.play.openspiel_states import SpielGame, openspiel_game
from sog.searches.tree.histories import history_of
from sog.searches.tree.public_tree import PublicTree

__all__ = ["BotAgent", "bot_seats"]


def bot_seats(text: str, make: Callable[..., Any], game: Game) -> Seats:
    """Makes bots of the function called `text`: make(OpenSpiel's game, player, seed) is the bot of one hand.

    GameError where OpenSpiel lacks the game.
    """
    spiel = openspiel_game(game)

    def seats(public: PublicTree) -> Callable[[int, int], Agent]:
        def seat(player: int, seed: int) -> Agent:
            with code_of(f"the function {text}", SettingError):
                bot = make(spiel, player, seed)
            if not isinstance(bot, pyspiel.Bot):
                raise SettingError(f"{text} returned no pyspiel.Bot but {type(bot).__name__}")
            return BotAgent(public, player, seed, spiel, bot)

        return seat

    return seats


class BotAgent(Agent):
    """Plays one seat with a bot, which is asked where the player has a choice and is given nothing else."""

    def __init__(self, public: PublicTree, player: int, seed: int, spiel: SpielGame, bot: Any) -> None:
        super().__init__(public, player, seed)
        self.spiel, self.bot = spiel, bot

    def policy(self, node: int) -> Float64:
        """SettingError: a bot answers for one infostate at a time."""
        raise SettingError(f"{type(self.bot).__name__} has no policy for all infostates at once")

    def new_game(self) -> None:
        super().new_game()
        self.bot.restart()

    def act(self, node: int, infostate: int, rng: np.random.Generator) -> int:
        action = int(self.bot.step(self.shown(node, infostate, rng)))
        actions: list[int] = self.public.actions(node).tolist()
        if action not in actions:
            raise SettingError(f"{type(self.bot).__name__} played {action}, not one of the actions {actions}")
        return actions.index(action)

    def shown(self, node: int, infostate: int, rng: np.random.Generator) -> Any:
        """OpenSpiel's state at a node, with the opponent's infostate drawn by `rng` from those that are possible."""
        widths = self.public.num_infostates(node)
        own, other = np.zeros(widths[self.player]), np.ones(widths[1 - self.player])
        own[infostate] = 1.0
        ranges = (own, other) if self.player == 0 else (other, own)
        possible = np.flatnonzero(self.public.masses(node, *ranges)[1 - self.player] > 0)
        theirs = int(rng.choice(possible))
        pair = (infostate, theirs) if self.player == 0 else (theirs, infostate)
        state = self.spiel.new_initial_state()
        for action in history_of(self.public, node, *pair):
            state.apply_action(action)
        return state
