"""A checkpoint's network with the game it plays, and the network alone where it is to value leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sog.errors import CheckpointError, SettingError
from sog.files import shown
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.games.holdem.game import is_beyond
from sog.nets.inference import network_evaluator
from sog.nets.network import Network, StoredNetwork
from sog.nets.shape import NetworkShape, shape_on
from sog.searches.leaves.evaluator import Evaluator
from sog.training.checkpoint import is_policy_network, load_network
from sog.training.shipped import names_a_path

__all__ = ["Opened", "played_game", "refuse_other", "value_network"]


@dataclass(frozen=True)
class Opened:
    """A network and the game it plays.

    trained: false for a fresh one.  algorithm, preset: of the run that trained it; "" for a fresh one.  folder: of the
    checkpoint, which may hold more; None for a fresh network.
    """

    game: Game
    network: Network
    trained: bool
    algorithm: str = ""
    preset: str = ""
    folder: Path | None = None

    @cached_property
    def evaluator(self) -> Evaluator:
        """Answers searches with the network; made once."""
        return network_evaluator(self.network)


def value_network(folder: Path, game: str | None = None) -> tuple[str, StoredNetwork]:
    """The game and the network of a checkpoint, to value leaves with; raises as `load_network`.

    CheckpointError, too, for a policy network: its outputs are not values of leaves.
    """
    name, network, meta = load_network(folder, game)
    if is_policy_network(meta.shape, meta.game):
        raise CheckpointError(f"{shown(folder)} holds a policy network by {meta.algorithm}, which values no leaves")
    return name, network


def refuse_other(shape: NetworkShape, plays: Game, game: Game) -> None:
    """SettingError unless a network of the game `plays` also fits `game`: one of its family, with equal sizes.

    One of hold'em plays the streets and the kinds of bets that it was trained on. One over stations fits every map.
    """
    if shape.kind == "stations":
        shape = shape_on(shape, game)
    sizes = (game.num_features, tuple(game.num_slots), game.num_actions)
    fits = (shape.features, tuple(shape.slots), shape.actions) == sizes and plays.family == game.family
    if not fits or is_beyond(game, plays):
        raise SettingError(f"a network of {plays.name} does not play {game.name}")


def played_game(checkpoint: str, shape: NetworkShape, trained_on: Game, game: str | None) -> str:
    """The game that a checkpoint's network is measured in: the one asked for, the one named, or its own.

    SettingError for one of another family, and for a family whose members are drawn.
    """
    plays = make_game(game) if game is not None else trained_on
    if game is None and not names_a_path(checkpoint):
        plays = make_game(checkpoint)
    refuse_other(shape, trained_on, plays)
    if plays.draws:
        raise SettingError(f"{plays.name} is drawn for each hand: --game says which of its family is measured")
    return plays.name
