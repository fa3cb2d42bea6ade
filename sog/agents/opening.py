"""Opens a player by what a person calls it: a checkpoint, or a game for an untrained network of the demo size."""

from __future__ import annotations

from dataclasses import replace

from sog.algorithms.base import SOG, Algorithm
from sog.algorithms.table import ALGORITHMS, playing, read, settings_of
from sog.errors import SettingError, SogError
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.nets.network import network_on, untrained
from sog.play.player import Limits, Player, think
from sog.training.checkpoint import load_meta, load_network
from sog.training.opened import Opened
from sog.training.settings import preset_of
from sog.training.shipped import fits, named_checkpoint, names_a_path

__all__ = ["is_trained", "make_player", "network_id", "open_network", "player_with", "warm_up"]


def open_network(text: str, algorithm: str = SOG, game: str | None = None) -> Opened:
    """The network of a checkpoint folder, the one shipped for a game, or a fresh one of the game's demo size.

    algorithm: of several shipped for a game, the one that this algorithm trained.  game: what it is to play instead of
    the game that it was trained on, one of the same family, such as Go at another komi.
    Raises CheckpointError or GameError where the text names neither or the checkpoint is damaged, SettingError where
    the network does not fit `game`.
    """
    opened = _opened(text, algorithm)
    if game is None:
        return opened
    other = make_game(game)
    if not fits(opened.network.shape, opened.game, other):
        raise SettingError(f"{text} is a network of {opened.game.name}, which cannot play {other.name}")
    return replace(opened, game=other, network=network_on(opened.network, other))


def _opened(text: str, algorithm: str) -> Opened:
    """The network with the game that the text names, or that the checkpoint was trained on."""
    folder = named_checkpoint(text, algorithm)
    if folder is None:
        game = make_game(text)
        return Opened(game, untrained(settings_of(game, "demo", algorithm).shape), trained=False)
    name, network, meta = load_network(folder)
    game = make_game(name if names_a_path(text) else text)
    return Opened(game, network_on(network, game), True, meta.algorithm_text, preset_of(meta.settings), folder)


def is_trained(text: str, algorithm: str = SOG) -> bool:
    """Whether the text names a checkpoint, or a game that one is shipped for; CheckpointError for a folder without."""
    return named_checkpoint(text, algorithm) is not None


def network_id(text: str, algorithm: str = SOG) -> str:
    """Which network `open_network` would open now; "" for an untrained one, and where it would raise."""
    try:
        folder = named_checkpoint(text, algorithm)
        return "" if folder is None else load_meta(folder).network_id
    except SogError:
        return ""


def player_with(opened: Opened, chosen: Algorithm | None, boards: bool) -> Algorithm:
    """The algorithm that plays with an opened network: see `sog.algorithms.table.playing`."""
    return playing(read(opened.algorithm) if opened.algorithm else None, chosen, boards)


def make_player(opened: Opened, algorithm: Algorithm, seed: int = 0) -> Player:
    """A player of perfect-information games with this network; its name says how it searches.

    `new_game` was not called yet. Raises SettingError for an algorithm that plays none, or a setting of training.
    """
    algorithm.refuse_training()
    if not algorithm.plays_boards:
        known = ", ".join(kind.name for kind in ALGORITHMS if kind.plays_boards)
        raise SettingError(f"{algorithm.name} plays no games of perfect information; known: {known}")
    return algorithm.player(opened.evaluator, seed)


def warm_up(player: Player, game: Game) -> None:
    """A few simulations, so that compiling and loading do not come out of the first move's time."""
    player.new_game(game)
    think(player, [], Limits(simulations=20))
    player.new_game(game)
