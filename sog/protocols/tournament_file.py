"""Reads a tournament's TOML file: the game, the agents by name, how many games from which openings."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sog.agents.algorithms.base import Choices
from sog.agents.algorithms.sog import SOG
from sog.agents.algorithms.table import LEARNERS, boards_of
from sog.agents.players import make_player, open_network
from sog.baselines.rating import RatingPlayer
from sog.errors import GameError, SettingError
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.play.match import Contestant, PlayerContestant
from sog.play.player import ENDLESS, Limits, MoveTree, RandomPlayer
from sog.protocols.gtp_client import GtpContestant
from sog.protocols.tournament_opponents import OPPONENTS, Opponent
from sog.protocols.uci_client import UciContestant

__all__ = ["Tournament", "read_tournament"]

_TOP: Final = {"game", "rounds", "seed", "openings", "plies", "longest", "patience", "agents"}
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
        agent = self.agents[name]
        return _kind(name, agent).make(name, agent, self.game, self.patience)


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


@dataclass(frozen=True)
class _Kind:
    """What an agent may be. takes: the other keys it may have.  make: of (name, its keys, game, patience)."""

    takes: frozenset[str]
    make: Callable[[str, Mapping[str, Any], Game, float], Contestant]


def _uci(name: str, agent: Mapping[str, Any], game: Game, patience: float) -> Contestant:
    limits = Limits(_take(agent, "nodes", int, None), _seconds(agent))
    return UciContestant(name, agent["uci"], limits, _take(agent, "options", dict, {}), patience)


def _gtp(name: str, agent: Mapping[str, Any], game: Game, patience: float) -> Contestant:
    return GtpContestant(name, agent["gtp"], Limits(None, _seconds(agent)), patience)


def _random(name: str, agent: Mapping[str, Any], game: Game, patience: float) -> Contestant:
    return PlayerContestant(RandomPlayer(name), Limits())


def _searcher(key: str, algorithm: str) -> _Kind:
    """An algorithm that plays with the network of the checkpoint that `key` names."""

    def make(name: str, agent: Mapping[str, Any], game: Game, patience: float) -> Contestant:
        opened = open_network(_take(agent, key, str))
        if opened.game.name != game.name:
            raise SettingError(f"{name} plays {opened.game.name}, not {game.name}")
        seconds = _seconds(agent)
        default = ENDLESS if seconds else 100
        simulations = _at_least(f"{name}: simulations", _take(agent, "simulations", int, default), 1)
        per_update = _take(agent, "per_update", (int, float), None)
        choices = Choices(simulations, None if per_update is None else float(per_update))
        player = make_player(opened, algorithm, choices)
        player.name = name
        return PlayerContestant(player, Limits(simulations, seconds))

    return _Kind(frozenset({"seconds", *boards_of(algorithm, Choices()).takes}), make)


def _opponent(key: str, opponent: Opponent) -> _Kind:
    """An opponent of fixed strength, without a network."""

    def make(name: str, agent: Mapping[str, Any], game: Game, patience: float) -> Contestant:
        seconds = _seconds(agent)
        player = RatingPlayer(name, opponent.rate(agent[key], seconds, game))
        return PlayerContestant(player, Limits(None, seconds))

    return _Kind(opponent.takes, make)


# By the key that says what an agent is.
_KINDS: Final = {
    "checkpoint": _searcher("checkpoint", SOG),
    **{entry.name: _searcher(entry.name, entry.name) for entry in LEARNERS if entry.board is not None},
    **{key: _opponent(key, opponent) for key, opponent in OPPONENTS.items()},
    "random": _Kind(frozenset(), _random),
    "uci": _Kind(frozenset({"nodes", "seconds", "options"}), _uci),
    "gtp": _Kind(frozenset({"seconds"}), _gtp),
}


def _kind(name: str, agent: Any) -> _Kind:
    """What an agent is; SettingError unless it is exactly one thing with keys of its own."""
    kinds = [kind for kind in _KINDS if isinstance(agent, dict) and kind in agent]
    if len(kinds) != 1:
        raise SettingError(f"agent {name} needs exactly one of {', '.join(_KINDS)}")
    kind = _KINDS[kinds[0]]
    _refuse_unknown(f"agent {name}", agent, {*kind.takes, *kinds})
    return kind


def _seconds(agent: Mapping[str, Any]) -> float | None:
    """Seconds a move, None where nothing is said."""
    seconds: float | None = _take(agent, "seconds", (int, float), None)
    return seconds


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


