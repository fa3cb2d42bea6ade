"""Reads a tournament's TOML file: the game, the agents by name, how many games from which openings."""

from __future__ import annotations

import hashlib
import itertools
import shutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from sog.agents.opening import is_trained, make_player, network_id, open_network
from sog.algorithms.base import SOG, Algorithm
from sog.algorithms.table import ALGORITHMS, find, read
from sog.errors import GameError, SettingError
from sog.games.base import Game, refuse_finished
from sog.games.boards.chess import Chess
from sog.games.boards.go import Go
from sog.games.catalog import make_game
from sog.games.checks.own import checked_game
from sog.games.openspiel.board import OpenSpielBoard
from sog.opponents.openspiel_alphazero.settings import newest_checkpoint
from sog.opponents.random_player import RandomPlayer
from sog.opponents.rating import RatingPlayer
from sog.play.hand import Entrant
from sog.play.match import Contestant, PlayerContestant
from sog.play.move_tree import MoveTree
from sog.play.player import ENDLESS, Limits
from sog.protocols.gtp_client import GtpContestant
from sog.protocols.opening_book import Opening, openings_in
from sog.protocols.tournament_hands import check_entrant, entrant_of
from sog.protocols.tournament_opponents import OPPONENTS, Opponent
from sog.protocols.uci_client import UciContestant
from sog.protocols.words import Keys, command_words, number, refuse_unknown, shown, switch, take, whole

__all__ = ["Tournament", "read_tournament"]

_TOP: Final = {"game", "rounds", "seed", "openings", "plies", "longest", "patience", "gauntlet", "agents"}
_OF_BOARDS: Final = {"openings", "plies", "longest", "patience"}
# Bytes of a file, games of a tournament, characters of an agent's name.
_LARGEST: Final = 2**20
_MOST_GAMES: Final = 1_000_000
_LONGEST_NAME: Final = 64
_SEEDS: Final = 2**62
_PROGRAMS: Final = {"uci", "gtp"}
_DAY: Final = 86_400.0


@dataclass(frozen=True)
class Tournament:
    """A round robin, or one agent against all others: each pair plays `rounds` openings or deals, both ways round.

    plies: random moves that begin each opening, drawn from the seed.  openings: those listed instead, the file's own
    or another file's (opening_book).
    longest: moves after which a game is a draw.  patience: seconds before a silent program has lost.
    gauntlet: the agent whose games alone are played; "" for all.
    digest: of the file's text, so that a changed file is not resumed.
    """

    game: Game
    rounds: int
    seed: int
    plies: int
    openings: tuple[Opening, ...]
    longest: int
    patience: float
    agents: Mapping[str, Keys]
    digest: str
    gauntlet: str = ""

    def pairs(self) -> list[tuple[str, str]]:
        """Who meets whom, in the file's order."""
        pairs = itertools.combinations(self.agents, 2)
        return [pair for pair in pairs if not self.gauntlet or self.gauntlet in pair]

    def contestant(self, name: str) -> Contestant:
        """The agent with this name; raises SogError where it cannot be opened or does not play the game."""
        return _read_agent(name, self.agents[name], self.patience)(self.game)

    def entrant(self, name: str) -> Entrant:
        """The same, of a game of chance or hidden information."""
        return entrant_of(name, self.agents[name], self.game)

    def is_program(self, name: str) -> bool:
        """Whether the agent is another program, on pipes."""
        return bool(_PROGRAMS & set(self.agents[name]))

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
        return _tournament(table, text, path.parent)
    except (SettingError, GameError) as error:
        raise SettingError(f"{path}: {error}") from error


def _tournament(table: Keys, text: bytes, folder: Path) -> Tournament:
    refuse_unknown("the file", table, _TOP)
    game = checked_game(make_game(take(table, "game", str)))
    refuse_finished(game)
    agents, patience = take(table, "agents", dict), number(table, "patience", 0.1, _DAY, 60.0)
    if len(agents) < 2:
        raise SettingError("a tournament needs two [agents.NAME] or more")
    for name, agent in agents.items():
        _check_name(name)
        if game.deterministic:
            _read_agent(name, agent, patience)
        else:
            check_entrant(name, agent, game)
    if not game.deterministic and (unfit := _OF_BOARDS & set(table)):
        raise SettingError(f"{', '.join(sorted(unfit))}: {game.name} is played by deals, without openings")
    gauntlet = take(table, "gauntlet", str, "")
    if gauntlet and gauntlet not in agents:
        raise SettingError(f"gauntlet names no agent: {shown(gauntlet)}")
    plies, book = whole(table, "plies", 0, 1000, 0), isinstance(table.get("openings"), str)
    if book:
        openings = openings_in(folder / table["openings"], game, plies if "plies" in table else None)
    else:
        openings = tuple(Opening(_opening(game, line)) for line in take(table, "openings", list, []))
    if openings and "plies" in table and not book:
        raise SettingError("openings are listed, or drawn with a number of plies: not both")
    rounds = whole(table, "rounds", 1, _MOST_GAMES, len(openings) or 1)
    pairs = len(agents) - 1 if gauntlet else len(agents) * (len(agents) - 1) // 2
    if (games := 2 * rounds * pairs) > _MOST_GAMES:
        raise SettingError(f"that would be {games:,} games; at most {_MOST_GAMES:,}")
    seed, longest = whole(table, "seed", 0, _SEEDS, 0), whole(table, "longest", 1, _MOST_GAMES, 1000)
    digest = _digest(text + repr(openings).encode() * book, agents)
    return Tournament(game, rounds, seed, plies, openings, longest, patience, agents, digest, gauntlet)


def _digest(text: bytes, agents: Mapping[str, Keys]) -> str:
    """Of the file and of the networks that it names, whose folders may hold others the next time."""
    digest = hashlib.sha256(text)
    for agent in agents.values():
        named = [network_id(network, algorithm) for network, algorithm in _networks(agent)]
        newest = [newest_checkpoint(Path(agent[key])) for key in (_OPENSPIEL_AZ,) if key in agent]
        digest.update(repr((named, newest)).encode())
    return digest.hexdigest()


# Makes an agent for a game; SogError where it cannot be opened or does not play it.
Make: TypeAlias = Callable[[Game], Contestant]


@dataclass(frozen=True)
class _Kind:
    """What an agent may be.

    takes: the other keys it may have.  read: its name, keys and patience; SettingError where a key's value cannot be.
    """

    takes: frozenset[str]
    read: Callable[[str, Keys, float], Make]


def _uci(name: str, agent: Keys, patience: float) -> Make:
    command, options = command_words("uci", take(agent, "uci", str)), take(agent, "options", dict, {})
    for option, value in options.items():
        if not isinstance(value, str | int | float) or not f"{option}{value}".isprintable():  # on a line of its own
            raise SettingError(f"option {shown(option)} cannot be {shown(str(value))}")
    limits = Limits(whole(agent, "nodes", 1, ENDLESS, None), _seconds(agent))
    if limits == Limits():
        raise SettingError("an engine that speaks UCI needs nodes or seconds: without, it may think for ever")

    def make(game: Game) -> Contestant:
        if not isinstance(game, Chess):
            raise SettingError(f"agent {name}: engines that speak UCI play chess, not {game.name}")
        _refuse_missing(name, "uci", command[0])
        return UciContestant(name, command, limits, options, patience)

    return make


def _gtp(name: str, agent: Keys, patience: float) -> Make:
    command, limits = command_words("gtp", take(agent, "gtp", str)), Limits(None, _seconds(agent))
    if (limits.seconds or 0.0) % 1.0:
        raise SettingError("an engine that speaks GTP is given whole seconds: its clock has no parts of them")

    def make(game: Game) -> Contestant:
        if not isinstance(game, Go | OpenSpielBoard):
            raise SettingError(f"agent {name}: engines that speak GTP play Go and OpenSpiel's boards, not {game.name}")
        _refuse_missing(name, "gtp", command[0])
        return GtpContestant(name, command, limits, patience)

    return make


def _random(name: str, agent: Keys, patience: float) -> Make:
    switch(agent, "random")
    return lambda game: PlayerContestant(RandomPlayer(name), Limits())


_ALGORITHM: Final = "algorithm"  # beside `checkpoint`: an algorithm string


def _searcher(key: str, algorithm: str) -> _Kind:
    """An algorithm that plays with the network of the checkpoint that `key` names."""

    def read_keys(name: str, agent: Keys, patience: float) -> Make:
        network, seconds = take(agent, key, str), _seconds(agent)
        simulations = whole(agent, "simulations", 1, ENDLESS, ENDLESS if seconds else 100)
        plays = _algorithm(agent, algorithm, simulations)
        limits = Limits(int(plays.given()["simulations"]), seconds)  # the string's own where no key says others

        def make(game: Game) -> Contestant:
            opened = open_network(network, plays.name)
            if opened.game.family != game.family:
                raise SettingError(f"{name} plays {opened.game.name}, not {game.name}")
            player = make_player(opened, plays)
            player.name = name
            return PlayerContestant(player, limits)

        return make

    takes = {"seconds", "simulations", *({"per_update", "paper"} & set(find(algorithm).own()))}
    return _Kind(frozenset(takes | {_ALGORITHM} if key == "checkpoint" else takes), read_keys)


def _algorithm(agent: Keys, default: str, simulations: int) -> Algorithm:
    """What plays, by the agent's keys; an algorithm string may say all of it."""
    algorithm = read(take(agent, _ALGORITHM, str, default))
    per_update, paper = number(agent, "per_update", 1e-6, float(ENDLESS), None), take(agent, "paper", str, "")
    if "seconds" in agent and (paper or algorithm.given().get("paper")):  # the first of its searches would take all
        raise SettingError("paper searches decisions one after another, by simulations each: leave out seconds")
    algorithm = algorithm.varied(per_update=per_update, paper=paper or None)
    if "simulations" in agent or "simulations" not in algorithm.given():
        algorithm = algorithm.varied(simulations=simulations)
    algorithm.refuse_training()
    if not algorithm.plays_boards:
        raise SettingError(f"{algorithm.name} plays no games of perfect information")
    return algorithm


def _opponent(opponent: Opponent) -> _Kind:
    """One of tournament_opponents.py."""

    def read_keys(name: str, agent: Keys, patience: float) -> Make:
        limits = Limits(whole(agent, "simulations", 1, ENDLESS, None), _seconds(agent))
        rate = opponent.read(agent, limits)
        return lambda game: PlayerContestant(RatingPlayer(name, rate(game)), limits)

    return _Kind(opponent.takes, read_keys)


# The algorithm that searches with a network, by the key that names the network.
_SEARCHERS: Final = {"checkpoint": SOG, **{kind.name: kind.name for kind in ALGORITHMS if kind.plays_boards}}


def _networks(agent: Keys) -> list[tuple[str, str]]:
    """The networks that an agent names, each with the name of the algorithm that plays with it."""
    named = [(key, algorithm) for key, algorithm in _SEARCHERS.items() if key in agent]
    return [(agent[key], read(agent.get(_ALGORITHM, algorithm)).name) for key, algorithm in named]


_OPENSPIEL_AZ: Final = "openspiel_alphazero"  # of OPPONENTS: the one that has a network

# By the key that says what an agent is.
_KINDS: Final = {
    **{key: _searcher(key, algorithm) for key, algorithm in _SEARCHERS.items()},
    **{key: _opponent(opponent) for key, opponent in OPPONENTS.items()},
    "random": _Kind(frozenset(), _random),
    "uci": _Kind(frozenset({"nodes", "seconds", "options"}), _uci),
    "gtp": _Kind(frozenset({"seconds"}), _gtp),
}


def _check_name(name: str) -> None:
    """SettingError unless tables, records and plots can show an agent's name."""
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise SettingError(f"an agent's name has 1 to {_LONGEST_NAME} printable characters, not {shown(name)!r}")


def _read_agent(name: str, agent: Any, patience: float) -> Make:
    """What makes an agent; SettingError unless it is exactly one thing with keys of its own."""
    kinds = [kind for kind in _KINDS if isinstance(agent, dict) and kind in agent]
    if len(kinds) != 1:
        has = ", ".join(shown(key) for key in list(agent)[:5]) if isinstance(agent, dict) and agent else "no keys"
        raise SettingError(f"agent {name} has {has}; it needs exactly one of {', '.join(_KINDS)}")
    kind = _KINDS[kinds[0]]
    refuse_unknown(f"agent {name}", agent, {*kind.takes, *kinds})
    return kind.read(name, agent, patience)


def _seconds(agent: Keys) -> float | None:
    """Seconds a move, None where none is given."""
    return number(agent, "seconds", 0.001, _DAY, None)


def _refuse_missing(name: str, key: str, program: str) -> None:
    """SettingError where an agent's program cannot be found."""
    if shutil.which(program) is None:
        raise SettingError(f"agent {name}: {key} = {shown(program)!r} is no program that can be started")


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
