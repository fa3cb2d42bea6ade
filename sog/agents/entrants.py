"""Who can enter a match of hands, by what a person calls it: a checkpoint, a game, a policy, code of one's own."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from sog.agents.bot import bot_seats
from sog.agents.chasers import CHASERS, chaser_of, split_settings
from sog.agents.loaded import LoadedAgent
from sog.agents.opening import network_id, open_network
from sog.agents.own import CheckedAgent, imported_as, seats_of
from sog.agents.poker import SIMPLE, SpotAgent
from sog.agents.solved import Solution, SolutionAgent
from sog.agents.written_policy import WrittenPolicyAgent, read_policy
from sog.algorithms.table import player_of
from sog.errors import GameError, SettingError
from sog.files import shown
from sog.games.base import Game
from sog.games.holdem.game import Holdem
from sog.games.scotland_yard.game import ScotlandYard
from sog.games.strings import OPENSPIEL
from sog.opponents.holdem.blueprint import BlueprintAgent, is_blueprint, is_whole
from sog.opponents.holdem.blueprint import load as load_blueprint
from sog.opponents.scotland_yard.agent import ChaseAgent
from sog.play.agent import Agent
from sog.play.hand import Entrant, Seats
from sog.searches.holdem.saved import load
from sog.searches.tree.public_tree import PublicTree

__all__ = [
    "OPPONENTS",
    "Budget",
    "class_entrant",
    "code_entrant",
    "loaded_entrant",
    "network_entrant",
    "open_entrant",
    "opponent_entrant",
    "policy_entrant",
    "solution_entrant",
]

# By name, whoever needs no network; the last ones play Scotland Yard and may have settings in brackets.
OPPONENTS: Final = (*SIMPLE, *CHASERS)

# Settings of an algorithm, such as simulations; None leaves one to the algorithm.
Budget: TypeAlias = Mapping[str, int | float | str | None]


def open_entrant(name: str, text: str, game: Game, algorithm: str | None, budget: Budget) -> Entrant:
    """The entrant that a text means; SogError where it means nothing or does not play the game.

    text: one of OPPONENTS, such as pimbot(simulations=1000), a file of `sog solve --out`, MODULE:NAME, a checkpoint's
    folder or a game.  algorithm, budget: of `network_entrant`; SettingError for an algorithm where there is no network.
    """
    code = ":" in text and "(" not in text and not os.path.lexists(text) and not text.startswith(OPENSPIEL)
    written = text.endswith(".json") or os.path.isfile(text)
    opponent = text.partition("(")[0].strip() in OPPONENTS
    if not (opponent or code or written):
        try:
            return network_entrant(name, text, game, algorithm, budget)
        except GameError as error:
            if near := get_close_matches(text.partition("(")[0], OPPONENTS, 1):
                raise GameError(f"{name}: nobody is called {shown(text)}; did you mean {near[0]}?") from error
            raise
    if algorithm is not None:
        raise SettingError(f"{name}: {shown(text)} has no network, and takes no algorithm")
    if opponent:
        return opponent_entrant(name, text, game, budget)
    return code_entrant(name, text, game) if code else policy_entrant(name, text, game)


def opponent_entrant(name: str, text: str, game: Game, budget: Budget) -> Entrant:
    """One of OPPONENTS, with its settings in brackets.  budget: simulations, of a search that says no other number.

    SettingError for another name, and for a setting or a game that are not the opponent's.
    """
    who, given = split_settings(text)
    if who in SIMPLE and not given:
        kind = SIMPLE[who]
        return Entrant(name, who, _checked(lambda public: lambda player, seed: kind(public, player, seed)), True)
    if who in SIMPLE:
        raise SettingError(f"{name}: {who} takes no settings")
    if who not in CHASERS:
        raise SettingError(f"{name}: no opponent is called {shown(text)}; known: {', '.join(OPPONENTS)}")
    if not isinstance(game, ScotlandYard):
        raise SettingError(f"{name}: {who} plays scotland_yard, not {game.name}")
    simulations = budget.get("simulations")
    try:
        chaser = chaser_of(text, None if simulations is None else int(simulations))
    except SettingError as error:
        raise SettingError(f"{name}: {error}") from error
    seats = _checked(lambda public: lambda player, seed: ChaseAgent(public, player, chaser.make, seed))
    return Entrant(name, chaser.plays, seats, True, takes=("simulations",) * chaser.takes)


def network_entrant(name: str, text: str, game: Game, algorithm: str | None, budget: Budget) -> Entrant:
    """A checkpoint's network, the one shipped for a game or an untrained one, with the algorithm that plays with it.

    algorithm: an algorithm string; None: see `player_of`.  budget: as far as the algorithm takes it.
    """
    plays = player_of(text, algorithm, open_dice=game.perfect_information)
    takes = {key: value for key, value in budget.items() if key in plays.own()}
    plays = plays.with_options(**takes)
    plays.refuse_training()
    opened = open_network(text, plays.name, game.name)
    network = network_id(text, plays.name) or "untrained"
    seats = _checked(lambda public: plays.agents(public, opened))
    note = "" if opened.trained else f"no checkpoint of {opened.game.name} is shipped: this network is untrained"
    return Entrant(name, f"{text} {network} {plays}", seats, plays.plays_unlisted, note, tuple(takes))


def policy_entrant(name: str, text: str, game: Game) -> Entrant:
    """The policy in a file of `sog solve --out`: of a game that was solved whole, a hold'em spot, a blueprint."""
    path = Path(text)
    if is_blueprint(path):
        table = load_blueprint(path)
        if not is_whole(game):
            raise SettingError(f"{shown(path)} is a blueprint of whole hold'em, and does not play {game.name}")
        blueprint = _checked(lambda public: lambda player, seed: BlueprintAgent(public, player, table))
        return Entrant(name, f"blueprint {table.digest}", blueprint, True)
    if isinstance(game, Holdem):
        solver, _ = load(path)
        if solver.game.name != game.name:
            raise SettingError(f"{shown(path)} is a solution of {solver.game.name}, not of {game.name}")
        solved = _checked(lambda public: lambda player, seed: SpotAgent(public, player, solver))
        return Entrant(name, f"solution {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}", solved, True)
    policy = read_policy(path, game)
    seats = _checked(lambda public: lambda player, seed: WrittenPolicyAgent(public, player, policy))
    return Entrant(name, f"policy {policy.digest}", seats, True)


def code_entrant(name: str, text: str, game: Game) -> Entrant:
    """A class derived from sog.Agent, or a function that makes bots of OpenSpiel's."""
    named = imported_as(text)
    if isinstance(named, type) and issubclass(named, Agent):
        seats = class_entrant(name, named).seats
    elif callable(named) and not isinstance(named, type):
        seats = _checked(bot_seats(text, named, game))
    else:
        raise SettingError(f"{text} is neither a class derived from sog.Agent nor a function that makes a pyspiel.Bot")
    source = getattr(sys.modules[text.partition(":")[0]], "__file__", None)
    digest = "" if source is None else hashlib.sha256(Path(source).read_bytes()).hexdigest()[:16]
    return Entrant(name, f"{text} {digest}".strip(), seats, True)


def class_entrant(name: str, kind: type[Agent]) -> Entrant:
    """Agents of a class of one's own."""
    return Entrant(name, kind.__name__, _checked(lambda public: seats_of(kind, public)), True)


def loaded_entrant(name: str, agent: LoadedAgent, game: Game) -> Entrant:
    """A loaded agent's network, algorithm and budget; SettingError where its network is another game's."""
    agent.refuse_other(game)
    return Entrant(name, repr(agent), _checked(agent.agents), agent.plays_unlisted)


def solution_entrant(name: str, solution: Solution, game: Game) -> Entrant:
    """What a solver found of the whole game; SettingError where that is another game."""
    if solution.game.name != game.name:
        raise SettingError(f"{name} is a solution of {solution.game.name}, not of {game.name}")
    ranges = zip(solution.game.root_ranges(), game.root_ranges(), strict=True)
    if not all(np.array_equal(solved, played) for solved, played in ranges):
        raise SettingError(f"{name} is a solution of {game.name} from other ranges")
    seats = _checked(lambda public: lambda player, seed: SolutionAgent(public, player, solution))
    return Entrant(name, repr(solution), seats, True)


def _checked(seats: Seats) -> Seats:
    """The same agents, each of whose policies and actions is checked."""

    def checked(public: PublicTree) -> Callable[[int, int], Agent]:
        make = seats(public)
        return lambda player, seed: CheckedAgent(make(player, seed))

    return checked
