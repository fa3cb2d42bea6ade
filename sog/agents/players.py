"""Opens a player by what a person calls it: a checkpoint, or a game for an untrained network of the demo size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sog.agents.shipped import find_checkpoint
from sog.baselines.alphazero import AlphaZeroPlayer
from sog.errors import CheckpointError, SettingError
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.play.player import Limits, Player, SogPlayer, think
from sog.search.gtcfr.search import Budget
from sog.train.checkpoint import load_network
from sog.train.presets import ALPHAZERO, SOG, preset


@dataclass(frozen=True)
class Opened:
    """A network and the game it plays; trained: false for a fresh one."""

    game: Game
    network: CVPN
    trained: bool


def open_network(text: str) -> Opened:
    """The network of a checkpoint folder, the one shipped for a game, or a fresh one of the game's demo size.

    Raises CheckpointError or GameError where the text names neither.
    """
    try:
        name, network, _ = load_network(find_checkpoint(text))
        return Opened(make_game(name), network, trained=True)
    except CheckpointError:
        if Path(text).exists() or ("/" in text and "(" not in text):
            raise
    game = make_game(text)
    return Opened(game, CVPN(preset(game, "demo").shape), trained=False)


def make_player(name: str, opened: Opened, algorithm: str, budget: Budget, seed: int = 0) -> Player:
    """A player with this network: `sog`, or `alphazero`, for which only the budget's simulations count.

    `new_game` was not called yet. Raises SettingError for another algorithm.
    """
    evaluator = network_evaluator(opened.network)
    if algorithm == ALPHAZERO:
        return AlphaZeroPlayer(name, evaluator, budget.simulations, seed=seed)
    if algorithm != SOG:
        raise SettingError(f"no algorithm is called {algorithm}; known: {SOG}, {ALPHAZERO}")
    return SogPlayer(name, evaluator, budget, seed=seed)


def warm_up(player: Player, game: Game) -> None:
    """A few simulations, so that compiling and loading do not come out of the first move's time."""
    player.new_game(game)
    think(player, [], Limits(simulations=20))
    player.new_game(game)
