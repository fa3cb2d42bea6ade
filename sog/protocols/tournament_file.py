"""Reads a tournament's TOML file: the game, the agents by name, how many games from which openings."""

from __future__ import annotations

import hashlib
import itertools
import shlex
import shutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from sog.agents.opening import is_trained, make_player, network_id, open_network
from sog.algorithms.base import SOG, Algorithm
from sog.algorithms.table import ALGORITHMS, find, read
from sog.errors import GameError, SettingError
from sog.games.base import Game, refuse_finished
from sog.games.boards.chess import Chess
from sog.games.boards.go import Go
from sog.games.catalog import make_game
from sog.opponents.openspiel_alphazero.settings import newest_checkpoint
from sog.opponents.random_player import RandomPlayer
from sog.opponents.rating import RatingPlayer
from sog.play.match import Contestant, PlayerContestant
from sog.play.move_tree import MoveTree
from sog.play.player import ENDLESS, Limits
from sog.protocols.gtp_client import GtpContestant
from sog.protocols.tournament_opponents import OPPONENTS, Opponent
from sog.protocols.uci_client import UciContestant
from sog.protocols.words import shown

__all__ = ["Tournament", "read_tournament"]

_TOP: Final = {"game", "rounds", "seed", "openings", "plies", "longest", "patience", "gauntlet", "agents"}
# Bytes of a file, games of a tournament, characters of an agent's name.
_LARGEST: Final = 2**20
_MOST_GAMES: Final = 1_000_000
_LONGEST_NAME: Final = 64
_SEEDS: Final = 2**62
_DAY: Final = 86_400.0


@dataclass(frozen=True)
class Tournament:
    """A round robin, or one agent against all others: each pair plays `rounds` openings, both ways round.

    plies: random moves that begin each opening, drawn from the seed.  openings: lists of moves instead.
    longest: moves after which a game is a draw.  patience: seconds before a silent program has lost.
    gauntlet: the agent whose games alone are played; "" for all.
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
    gauntlet: str = ""

    def pairs(self) -> list[tuple[str, str]]:
        """Who meets whom, in the file's order."""
        pairs = itertools.combinations(self.agents, 2)
        return [pair for pair in pairs if not self.gauntlet or self.gauntlet in pair]

    def contestant(self, name: str) -> Contestant:
        """The agent with this name; raises SogError where it cannot be had or does not play the game."""
        agent = self.agents[name]
        return _kind(name, agent).make(name, agent, self.game, self.patience)

    def untrained(self) -> list[str]:
        """The agents whose networks have learned nothing, since the game that they name has no shipped checkpoint."""
        return [
            name
            for name, agent in self.agents.items()
            if not all(is_trained(network, algorithm) for network, algorithm in _networks(agent))
        ]


def read_tournament(path: Path) -> Tournament:
    """The tournament of a file; SettingError, which names the file, for anything that it does not understand."""
    try:
        if path.exists() and not path.is_file():
            raise SettingError(f"{path} is no file")
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
        if len(text) > _LARGEST:
            raise SettingError(f"{path} is larger than {_LARGEST:,} bytes")
        table = tomllib.loads(text.decode())
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise SettingError(f"{path}: {shown(str(error), 200)}") from error
    except RecursionError as error:
        raise SettingError(f"{path}: brackets within brackets too deep") from error
    try:
        return _tournament(table, text)
    except (SettingError, GameError) as error:
        raise SettingError(f"{path}: {error}") from error


def _tournament(table: Mapping[str, Any], text: bytes) -> Tournament:
    _refuse_unknown("the file", table, _TOP)
    game = make_game(_take(table, "game", str))
    refuse_finished(game)
    agents = _take(table, "agents", dict)
    if len(agents) < 2:
        raise SettingError("a tournament needs two [agents.NAME] or more")
    for name, agent in agents.items():
        _check_name(name)
        _kind(name, agent).check(agent)
    gauntlet = _take(table, "gauntlet", str, "")
    if gauntlet and gauntlet not in agents:
        raise SettingError(f"gauntlet names no agent: {shown(gauntlet)}")
    openings = tuple(_opening(game, line) for line in _take(table, "openings", list, []))
    if openings and "plies" in table:
        raise SettingError("openings are listed, or drawn with a number of plies: not both")
    rounds = _whole(table, "rounds", 1, _MOST_GAMES, len(openings) or 1)
    pairs = len(agents) - 1 if gauntlet else len(agents) * (len(agents) - 1) // 2
    if (games := 2 * rounds * pairs) > _MOST_GAMES:
        raise SettingError(f"that would be {games:,} games; at most {_MOST_GAMES:,}")
    return Tournament(
        game,
        rounds,
        _whole(table, "seed", 0, _SEEDS, 0),
        _whole(table, "plies", 0, 1000, 0),
        openings,
        _whole(table, "longest", 1, _MOST_GAMES, 1000),
        _number(table, "patience", 0.1, _DAY, 60.0),
        agents,
        _digest(text, agents),
        gauntlet,
    )


def _digest(text: bytes, agents: Mapping[str, Mapping[str, Any]]) -> str:
    """Of the file and of the networks that it names, whose folders may hold others the next time."""
    found = hashlib.sha256(text)
    for agent in agents.values():
        named = [network_id(network, algorithm) for network, algorithm in _networks(agent)]
        newest = [newest_checkpoint(Path(agent[key])) for key in (_OPENSPIEL_AZ,) if key in agent]
        found.update(repr((named, newest)).encode())
    return found.hexdigest()


@dataclass(frozen=True)
class _Kind:
    """What an agent may be.

    takes: the other keys it may have.  check: SettingError where a key's value cannot be.
    make: of (name, its keys, game, patience).
    """

    takes: frozenset[str]
    check: Callable[[Mapping[str, Any]], object]
    make: Callable[[str, Mapping[str, Any], Game, float], Contestant]


def _uci_limits(agent: Mapping[str, Any]) -> Limits:
    return Limits(_whole(agent, "nodes", 1, ENDLESS, None), _seconds(agent))


def _uci_options(agent: Mapping[str, Any]) -> dict[str, str | int | float]:
    """Options that can be written on a line each."""
    options: dict[str, str | int | float] = _take(agent, "options", dict, {})
    for name, value in options.items():
        if not isinstance(value, str | int | float) or not f"{name}{value}".isprintable():
            raise SettingError(f"option {shown(name)} cannot be {shown(str(value))}")
    return options


def _uci_check(agent: Mapping[str, Any]) -> None:
    _command(agent, "uci"), _uci_options(agent)
    if _uci_limits(agent) == Limits():
        raise SettingError("an engine that speaks UCI needs nodes or seconds: without, it may think for ever")


def _uci(name: str, agent: Mapping[str, Any], game: Game, patience: float) -> Contestant:
    _refuse_other(name, "UCI", "chess", isinstance(game, Chess), game)
    return UciContestant(name, _program(name, agent, "uci"), _uci_limits(agent), _uci_options(agent), patience)


def _gtp_check(agent: Mapping[str, Any]) -> None:
    _command(agent, "gtp")
    if (_seconds(agent) or 0.0) % 1.0:
        raise SettingError("an engine that speaks GTP is given whole seconds: its clock has no parts of them")


def _gtp(name: str, agent: Mapping[str, Any], game: Game, patience: float) -> Contestant:
    _refuse_other(name, "GTP", "Go", isinstance(game, Go), game)
    return GtpContestant(name, _program(name, agent, "gtp"), Limits(None, _seconds(agent)), patience)


def _random_check(agent: Mapping[str, Any]) -> None:
    if agent["random"] is not True:
        raise SettingError(f"random can only be true, not {shown(str(agent['random']))}")


def _random(name: str, agent: Mapping[str, Any], game: Game, patience: float) -> Contestant:
    return PlayerContestant(RandomPlayer(name), Limits())


_ALGORITHM: Final = "algorithm"  # beside `checkpoint`: an algorithm string


def _searcher(key: str, algorithm: str) -> _Kind:
    """An algorithm that plays with the network of the checkpoint that `key` names."""

    def limits(agent: Mapping[str, Any]) -> Limits:
        seconds = _seconds(agent)
        return Limits(_whole(agent, "simulations", 1, ENDLESS, ENDLESS if seconds else 100), seconds)

    def plays(agent: Mapping[str, Any]) -> Algorithm:
        """What plays, by the agent's keys; an algorithm string may say all of it."""
        text = _take(agent, _ALGORITHM, str, algorithm)
        found = read(text)
        per_update, paper = _number(agent, "per_update", 1e-6, float(ENDLESS), None), _take(agent, "paper", str, "")
        if "seconds" in agent and (paper or found.given().get("paper")):  # the first of its searches would take all
            raise SettingError("paper searches decisions one after another, by simulations each: leave out seconds")
        found = found.varied(per_update=per_update, paper=paper or None)
        if "simulations" in agent or "simulations" not in found.given():
            found = found.varied(simulations=limits(agent).simulations)
        found.refuse_training()
        if not found.plays_boards:
            raise SettingError(f"{found.name} plays no games of perfect information")
        return found

    def thinks(agent: Mapping[str, Any]) -> Limits:
        """The limits of a move: simulations of the algorithm string count where no key says others."""
        return replace(limits(agent), simulations=int(plays(agent).given()["simulations"]))

    def check(agent: Mapping[str, Any]) -> None:
        _take(agent, key, str), plays(agent)

    def make(name: str, agent: Mapping[str, Any], game: Game, patience: float) -> Contestant:
        own = plays(agent)
        opened = open_network(_take(agent, key, str), own.name)
        if opened.game.family != game.family:
            raise SettingError(f"{name} plays {opened.game.name}, not {game.name}")
        player = make_player(opened, own)
        player.name = name
        return PlayerContestant(player, thinks(agent))

    takes = {"seconds", "simulations", *({"per_update", "paper"} & set(find(algorithm).own()))}
    return _Kind(frozenset(takes | {_ALGORITHM} if key == "checkpoint" else takes), check, make)


def _opponent(key: str, opponent: Opponent) -> _Kind:
    """One of tournament_opponents.py."""

    def limits(agent: Mapping[str, Any]) -> Limits:
        return Limits(_whole(agent, "simulations", 1, ENDLESS, None), _seconds(agent))

    def check(agent: Mapping[str, Any]) -> None:
        opponent.check(agent[key], limits(agent))

    def make(name: str, agent: Mapping[str, Any], game: Game, patience: float) -> Contestant:
        player = RatingPlayer(name, opponent.rate(agent[key], limits(agent), game))
        return PlayerContestant(player, limits(agent))

    return _Kind(opponent.takes, check, make)


# The algorithm that searches with a network, by the key that names the network.
_SEARCHERS: Final = {"checkpoint": SOG, **{kind.name: kind.name for kind in ALGORITHMS if kind.plays_boards}}


def _networks(agent: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The networks that an agent names, each with the name of the algorithm that plays with it."""
    named = [(key, algorithm) for key, algorithm in _SEARCHERS.items() if key in agent]
    return [(agent[key], read(agent.get(_ALGORITHM, algorithm)).name) for key, algorithm in named]


_OPENSPIEL_AZ: Final = "openspiel_alphazero"  # of OPPONENTS: the one that has a network

# By the key that says what an agent is.
_KINDS: Final = {
    **{key: _searcher(key, algorithm) for key, algorithm in _SEARCHERS.items()},
    **{key: _opponent(key, opponent) for key, opponent in OPPONENTS.items()},
    "random": _Kind(frozenset(), _random_check, _random),
    "uci": _Kind(frozenset({"nodes", "seconds", "options"}), _uci_check, _uci),
    "gtp": _Kind(frozenset({"seconds"}), _gtp_check, _gtp),
}


def _check_name(name: str) -> None:
    """SettingError unless tables, records and plots can show an agent's name."""
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise SettingError(f"an agent's name has 1 to {_LONGEST_NAME} printable characters, not {shown(name)!r}")


def _kind(name: str, agent: Any) -> _Kind:
    """What an agent is; SettingError unless it is exactly one thing with keys of its own."""
    kinds = [kind for kind in _KINDS if isinstance(agent, dict) and kind in agent]
    if len(kinds) != 1:
        has = ", ".join(shown(key) for key in list(agent)[:5]) if isinstance(agent, dict) and agent else "no keys"
        raise SettingError(f"agent {name} has {has}; it needs exactly one of {', '.join(_KINDS)}")
    kind = _KINDS[kinds[0]]
    _refuse_unknown(f"agent {name}", agent, {*kind.takes, *kinds})
    return kind


def _seconds(agent: Mapping[str, Any]) -> float | None:
    """Seconds a move, None where none is given."""
    return _number(agent, "seconds", 0.001, _DAY, None)


def _command(agent: Mapping[str, Any], key: str) -> list[str]:
    """A program and its arguments, as a shell would take them apart."""
    line = _take(agent, key, str)
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise SettingError(f"{key} = {shown(line)!r}: {str(error).lower()}") from error
    if not words or not words[0]:
        raise SettingError(f"{key} names no program: {shown(line)!r}")
    return words


def _program(name: str, agent: Mapping[str, Any], key: str) -> list[str]:
    """The command of an agent whose program can be found; SettingError otherwise."""
    words = _command(agent, key)
    if shutil.which(words[0]) is None:
        raise SettingError(f"agent {name}: {key} = {shown(words[0])!r} is no program that can be started")
    return words


def _refuse_other(name: str, protocol: str, plays: str, does: bool, game: Game) -> None:
    """SettingError unless an engine's protocol is made for the game."""
    if not does:
        raise SettingError(f"agent {name}: engines that speak {protocol} play {plays}, not {game.name}")


def _opening(game: Game, line: Any) -> tuple[int, ...]:
    """The actions of an opening written as the game names its moves, with spaces between."""
    if not isinstance(line, str):
        raise SettingError(f"an opening is a line of moves, not {shown(repr(line))}")
    tree, moves = MoveTree(game), list[int]()
    for word in line.split():
        node = tree.node_after(moves)
        names = {game.action_name(tree.public.states[node], action).lower(): action for action in tree.actions(node)}
        if word.lower() not in names:
            raise SettingError(f"opening {shown(line)!r}: {shown(word)} is no legal move there")
        moves.append(names[word.lower()])
    if tree.result(tree.node_after(moves)) is not None:
        raise SettingError(f"opening {shown(line)!r} ends the game")
    return tuple(moves)


def _refuse_unknown(what: str, table: Mapping[str, Any], known: set[str]) -> None:
    for key in table:
        if key not in known:
            raise SettingError(f"{what} has no key {shown(key)}; known: {', '.join(sorted(known))}")


def _take(table: Mapping[str, Any], key: str, kind: Any, default: Any = ...) -> Any:
    if key not in table:
        if default is ...:
            raise SettingError(f"{key} is missing")
        return default
    value = table[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise SettingError(f"{key} cannot be {shown(repr(value))}")
    return value


_Default = TypeVar("_Default")


def _whole(table: Mapping[str, Any], key: str, least: int, most: int, default: _Default) -> int | _Default:
    value: int = _take(table, key, int, default)
    return value if key not in table else int(_within(key, value, least, most))


def _number(table: Mapping[str, Any], key: str, least: float, most: float, default: _Default) -> float | _Default:
    value: float = _take(table, key, (int, float), default)
    return value if key not in table else float(_within(key, value, least, most))


def _within(key: str, value: float, least: float, most: float) -> float:
    if not least <= value <= most:  # NaN is not either
        raise SettingError(f"{key} must be at least {least:g} and at most {most:g}, not {shown(str(value))}")
    return value
