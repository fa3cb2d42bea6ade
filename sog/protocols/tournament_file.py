"""Reads a tournament's TOML file: the game, the agents by name, how many games from which openings."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sog.agents.players import make_player, open_network
from sog.errors import GameError, SettingError
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.play.match import Contestant, PlayerContestant
from sog.play.player import ENDLESS, Limits, MoveTree, RandomPlayer
from sog.protocols.gtp_client import GtpContestant
from sog.protocols.uci_client import UciContestant
from sog.search.gtcfr.search import Budget
from sog.train.presets import ALPHAZERO, SOG

_TOP: Final = {"game", "rounds", "seed", "openings", "plies", "longest", "patience", "agents"}
# The keys that say what an agent is, each with the others it may have.
_KINDS: Final = {
    "checkpoint": {"simulations", "per_update", "seconds"},
    "alphazero": {"simulations", "seconds"},
    "random": set[str](),
    "uci": {"nodes", "seconds", "options"},
    "gtp": {"seconds"},
}


@dataclass(frozen=True)
class Tournament:
    """A round robin: each pair plays `rounds` openings, both ways round.

    plies: random moves that begin each opening, drawn from the seed.  openings: lists of moves instead.
    longest: moves after which a game is a draw.  patience: seconds before a silent program has lost.
    digest: of the file's text, so that a changed file is not resumed.
    """

    game: Game
    rounds: int
    seed: int
    plies: int
    openings: tuple[tuple[int, ...], ...]
    longest: int
    patience: float
    agents: Mapping[str, Mapping[str, Any]]
    digest: str

    def contestant(self, name: str) -> Contestant:
        """The agent with this name; raises SogError where it cannot be had or does not play the game."""
        return _contestant(name, self.agents[name], self.game, self.patience)


def read_tournament(path: Path) -> Tournament:
    """The tournament of a file; SettingError, which names the file, for anything that it does not understand."""
    try:
        text = path.read_bytes()
        said = tomllib.loads(text.decode())
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise SettingError(f"{path}: {error}") from error
    try:
        return _tournament(said, hashlib.sha256(text).hexdigest())
    except (SettingError, GameError) as error:
        raise SettingError(f"{path}: {error}") from error


def _tournament(said: Mapping[str, Any], digest: str) -> Tournament:
    _refuse_unknown("the file", said, _TOP)
    game = make_game(_take(said, "game", str))
    agents = _take(said, "agents", dict)
    if len(agents) < 2:
        raise SettingError("a tournament needs two [agents.NAME] or more")
    for name, agent in agents.items():
        _kind(name, agent)
    openings = tuple(_opening(game, line) for line in _take(said, "openings", list, []))
    return Tournament(
        game,
        _at_least("rounds", _take(said, "rounds", int, len(openings) or 1), 1),
        _at_least("seed", _take(said, "seed", int, 0), 0),
        _at_least("plies", _take(said, "plies", int, 0), 0),
        openings,
        _at_least("longest", _take(said, "longest", int, 1000), 1),
        _at_least("patience", float(_take(said, "patience", (int, float), 60.0)), 0.1),
        agents,
        digest,
    )


def _contestant(name: str, agent: Mapping[str, Any], game: Game, patience: float) -> Contestant:
    kind = _kind(name, agent)
    seconds = _take(agent, "seconds", (int, float), None)
    if kind == "uci":
        limits = Limits(_take(agent, "nodes", int, None), seconds)
        return UciContestant(name, agent["uci"], limits, _take(agent, "options", dict, {}), patience)
    if kind == "gtp":
        return GtpContestant(name, agent["gtp"], Limits(None, seconds), patience)
    if kind == "random":
        return PlayerContestant(RandomPlayer(name), Limits())
    opened = open_network(_take(agent, kind, str))
    if opened.game.name != game.name:
        raise SettingError(f"{name} plays {opened.game.name}, not {game.name}")
    simulations = _at_least(f"{name}: simulations", _take(agent, "simulations", int, ENDLESS if seconds else 100), 1)
    budget = Budget(simulations, float(_take(agent, "per_update", (int, float), 10.0)))
    algorithm = ALPHAZERO if kind == "alphazero" else SOG
    return PlayerContestant(make_player(name, opened, algorithm, budget), Limits(simulations, seconds))


def _kind(name: str, agent: Any) -> str:
    kinds = [kind for kind in _KINDS if isinstance(agent, dict) and kind in agent]
    if len(kinds) != 1:
        raise SettingError(f"agent {name} needs exactly one of {', '.join(_KINDS)}")
    _refuse_unknown(f"agent {name}", agent, _KINDS[kinds[0]] | set(kinds))
    return kinds[0]


def _opening(game: Game, line: Any) -> tuple[int, ...]:
    """The actions of an opening written as the game names its moves, with spaces between."""
    if not isinstance(line, str):
        raise SettingError(f"an opening is a line of moves, not {line}")
    tree, moves = MoveTree(game), list[int]()
    for word in line.split():
        node = tree.node_after(moves)
        names = {game.action_name(tree.public.states[node], action).lower(): action for action in tree.actions(node)}
        if word.lower() not in names:
            raise SettingError(f"opening {line!r}: {word} is no legal move there")
        moves.append(names[word.lower()])
    if tree.result(tree.node_after(moves)) is not None:
        raise SettingError(f"opening {line!r} ends the game")
    return tuple(moves)


def _refuse_unknown(what: str, said: Mapping[str, Any], known: set[str]) -> None:
    for key in said:
        if key not in known:
            raise SettingError(f"{what} has no key {key}; known: {', '.join(sorted(known))}")


def _take(said: Mapping[str, Any], key: str, kind: Any, default: Any = ...) -> Any:
    if key not in said:
        if default is ...:
            raise SettingError(f"{key} is missing")
        return default
    value = said[key]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise SettingError(f"{key} cannot be {value!r}")
    return value


def _at_least(name: str, value: Any, least: float) -> Any:
    if value < least:
        raise SettingError(f"{name} must be at least {least:g}, not {value:g}")
    return value


