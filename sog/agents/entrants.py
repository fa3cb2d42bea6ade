"""Who can enter a match of hands, by what a person calls it: a checkpoint, a game, a policy, code of one's own."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from sog.agents.bot import bot_seats
from sog.agents.opening import network_id, open_network
from sog.agents.own import CheckedAgent, agent_class, found_in, seats_of
from sog.agents.uniform import UniformAgent
from sog.agents.written_policy import WrittenPolicyAgent, read_policy
from sog.algorithms.table import player_of
from sog.errors import SettingError
from sog.files import shown
from sog.games.base import Game
from sog.games.strings import OPENSPIEL
from sog.play.agent import Agent
from sog.play.hand import Entrant, Seats
from sog.searches.tree.public_tree import PublicTree

__all__ = ["Budget", "code_entrant", "network_entrant", "open_entrant", "policy_entrant", "random_entrant"]

_RANDOM: Final = "random"

# Settings of an algorithm, such as simulations; None leaves one to the algorithm.
Budget: TypeAlias = Mapping[str, int | float | str | None]


def open_entrant(name: str, text: str, game: Game, algorithm: str | None, budget: Budget) -> Entrant:
    """The entrant that a text means; SogError where it means nothing or does not play the game.

    text: random, a file of `sog solve --out`, MODULE:NAME, a checkpoint's folder or a game.  algorithm, budget: of
    `network_entrant`; SettingError for an algorithm where there is no network.
    """
    code = ":" in text and "(" not in text and "/" not in text and not text.startswith(OPENSPIEL)
    policy = text.endswith(".json")
    if not (text == _RANDOM or code or policy):
        return network_entrant(name, text, game, algorithm, budget)
    if algorithm is not None:
        raise SettingError(f"{name}: {shown(text)} has no network, and takes no algorithm")
    if text == _RANDOM:
        return random_entrant(name)
    return code_entrant(name, text, game) if code else policy_entrant(name, text, game)


def random_entrant(name: str) -> Entrant:
    """Every legal action alike."""
    return Entrant(
        name, _RANDOM, _checked(lambda public: lambda player, seed: UniformAgent(public, player, seed)), True
    )


def network_entrant(name: str, text: str, game: Game, algorithm: str | None, budget: Budget) -> Entrant:
    """A checkpoint's network, the one shipped for a game or an untrained one, with the algorithm that plays with it.

    algorithm: an algorithm string; None: see `player_of`.  budget: as far as the algorithm takes it.
    """
    plays = player_of(text, algorithm)
    takes = {key: value for key, value in budget.items() if key in plays.own()}
    plays = plays.varied(**takes)
    plays.refuse_training()
    opened = open_network(text, plays.name, game.name)
    network = network_id(text, plays.name) or "untrained"
    seats = _checked(lambda public: plays.agents(public, opened))
    note = "" if opened.trained else f"no checkpoint of {opened.game.name} is shipped: this network is untrained"
    return Entrant(name, f"{text} {network} {plays}", seats, plays.plays_unlisted, note, tuple(takes))


def policy_entrant(name: str, text: str, game: Game) -> Entrant:
    """The policy in a file of `sog solve --out`."""
    policy = read_policy(Path(text), game)
    seats = _checked(lambda public: lambda player, seed: WrittenPolicyAgent(public, player, policy))
    return Entrant(name, f"policy {policy.digest}", seats, True)


def code_entrant(name: str, text: str, game: Game) -> Entrant:
    """A class derived from sog.Agent, or a function that makes bots of OpenSpiel's."""
    found = found_in(text)
    if isinstance(found, type) and issubclass(found, Agent):
        seats = _checked(lambda public: seats_of(agent_class(text), public))
    elif callable(found) and not isinstance(found, type):
        seats = _checked(bot_seats(text, found, game))
    else:
        raise SettingError(f"{text} is neither a class derived from sog.Agent nor a function that makes a pyspiel.Bot")
    source = getattr(sys.modules[text.partition(":")[0]], "__file__", None)
    digest = "" if source is None else hashlib.sha256(Path(source).read_bytes()).hexdigest()[:16]
    return Entrant(name, f"{text} {digest}".strip(), seats, True)


def _checked(seats: Seats) -> Seats:
    """The same agents, each of whose policies and actions is checked."""

    def checked(public: PublicTree) -> Callable[[int, int], Agent]:
        make = seats(public)
        return lambda player, seed: CheckedAgent(make(player, seed))

    return checked
