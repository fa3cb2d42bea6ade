"""OpenSpiel's states at the infostates of a public tree: where policies go over to OpenSpiel or come from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sog.errors import GameError
from sog.games.base import Game
from sog.games.openspiel.loading import SpielGame, load_in_turns, registered
from sog.games.strings import OPENSPIEL, parse_game
from sog.searches.tree.histories import reached_at
from sog.searches.tree.public_tree import PublicTree

__all__ = ["SpielGame", "StateOf", "openspiel_game", "states_of_infostates"]


class StateOf(NamedTuple):
    """An infostate of the player who acts at a public node, and one of OpenSpiel's states there."""

    node: int
    infostate: int
    state: Any


def openspiel_game(game: Game) -> SpielGame:
    """OpenSpiel's game, turn-based; GameError where OpenSpiel lacks it."""
    name = game.name.removeprefix(OPENSPIEL)
    if parse_game(name)[0] not in registered():  # loading it would list all games on stderr
        raise GameError(f"OpenSpiel has no game {name}")
    return load_in_turns(name)


def states_of_infostates(public: PublicTree, player: int | None = None) -> Iterator[StateOf]:
    """The infostates of a listed game that can be held, where their player acts; None: of both players.

    GameError where OpenSpiel lacks the game or ours does not know its histories.
    """
    spiel = openspiel_game(public.game)
    for node in public.decisions():
        if player not in (None, public.actor(node)):
            continue
        for i, history in reached_at(public, node):
            state = spiel.new_initial_state()
            for action in history:
                state.apply_action(action)
            yield StateOf(node, i, state)
