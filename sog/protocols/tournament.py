"""Plays a tournament's games here or in other processes, writes each to disk at once, resumes when interrupted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import date
from functools import lru_cache, partial
from itertools import takewhile
from pathlib import Path
from typing import Final

import numpy as np
from threadpoolctl import threadpool_limits

from sog.cluster.executor import compute
from sog.cluster.placement import Placement, executor
from sog.errors import SettingError
from sog.files import append_line, open_regular, read_bounded, replace_file, shown
from sog.games.base import Game
from sog.games.game_records import GameRecord
from sog.play.match import Contestant, Played, play_match_game, random_openings
from sog.protocols.gtp_client import GtpContestant
from sog.protocols.opening_book import Opening
from sog.protocols.tournament_file import Tournament, read_tournament
from sog.protocols.uci_client import UciContestant
from sog.training.lock import held

__all__ = [
    "Apart",
    "Fixture",
    "Result",
    "fixtures",
    "games_apart",
    "in_folder",
    "load_results",
    "openings_of",
    "play_fixture",
    "play_tournament",
    "seed_of",
]

_GAMES: Final = "games.jsonl"
_MOST_BYTES: Final = 2**32
_DIGEST: Final = "tournament.sha256"
_LOCK: Final = "lock"  # of sog/training/lock.py, while this process plays


@dataclass(frozen=True)
class Fixture:
    """One game to play. seats: the agents' names as player 0 and player 1.  round: which opening."""

    number: int
    seats: tuple[str, str]
    round: int


@dataclass(frozen=True)
class Result:
    """One game that was played.

    utility: player 0's.  why: how it ended.  fault: by an agent at fault.  moves: how many.  record: the game's file.
    """

    number: int
    seats: tuple[str, str]
    utility: float
    why: str
    fault: bool
    moves: int
    record: str

    @property
    def points(self) -> tuple[str, str, float, int]:
        """(player 0, player 1, player 0's points, 1 game), as `sog.measure.elo.points_of` takes them.

        A win is a point and a draw half of one, whatever is won: ratings say how often an agent wins.
        """
        return (*self.seats, 0.5 + 0.5 * ((self.utility > 0) - (self.utility < 0)), 1)


def fixtures(tournament: Tournament) -> list[Fixture]:
    """Every pair from every opening, both ways round, so that a tournament cut short has met evenly."""
    pairs = tournament.pairs()
    games = [(seats, k) for k in range(tournament.rounds) for pair in pairs for seats in (pair, pair[::-1])]
    return [Fixture(number, seats, k) for number, (seats, k) in enumerate(games, start=1)]


# Plays fixtures, in any order.
Apart = Callable[[Sequence[Fixture]], Iterator[tuple[Fixture, Played]]]


def play_tournament(
    tournament: Tournament,
    folder: Path,
    apart: Apart | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Iterator[Result]:
    """Play what is left and yield every game's result, those from disk first.

    apart: plays the games somewhere else (`games_apart`); otherwise this process plays one after the other.
    note: takes what a person should know where the file system has no locks.
    Raises SettingError where the folder belongs to another tournament, another process plays there, or an agent cannot
    be opened. Where no game was played, the folder is left as it was, or removed where it is new.
    """
    with in_folder(tournament, folder, note):
        yield from _play_left(tournament, folder, apart)


@contextmanager
def in_folder(tournament: Tournament, folder: Path, note: Callable[[str], None]) -> Iterator[None]:
    """The folder of a tournament's games for this process alone; as `play_tournament` says."""
    around = list(takewhile(lambda path: not path.exists(), folder.parents))
    try:
        with held(folder, note, "playing", SettingError), _claimed(folder, tournament):
            yield
    finally:
        with suppress(OSError):  # one that is not empty stays, and so do those around it
            for path in around:  # `held` has removed the folder itself, if it made it for nothing
                path.rmdir()


def _play_left(tournament: Tournament, folder: Path, apart: Apart | None) -> Iterator[Result]:
    done = {result.number: result for result in load_results(folder)}
    yield from done.values()
    left = [fixture for fixture in fixtures(tournament) if fixture.number not in done]
    needed = list({name: None for fixture in left for name in fixture.seats})
    if apart is not None:
        _close(_opened_agents(tournament, [name for name in needed if tournament.is_program(name)]))
        for fixture, played in apart(left):
            yield _keep(tournament, fixture, played, folder)
        return
    agents = _opened_agents(tournament, needed)
    try:
        for fixture in left:
            yield _keep(tournament, fixture, play_fixture(tournament, fixture, agents), folder)
    finally:
        _close(agents)


def _opened_agents(tournament: Tournament, names: Sequence[str]) -> dict[str, Contestant]:
    """The agents with these names; SettingError where one cannot be opened, or is a program of another kind."""
    agents: dict[str, Contestant] = {}
    try:
        for name in names:
            agents[name] = agent = tournament.contestant(name)
            if isinstance(agent, GtpContestant | UciContestant):
                agent.meet()
    except BaseException:
        _close(agents)
        raise
    return agents


def _close(agents: Mapping[str, Contestant]) -> None:
    for agent in agents.values():
        agent.close()


def load_results(folder: Path) -> list[Result]:
    """The games that are on disk, in order; a last line that a kill cut short is left out.

    SettingError where there is something else than a file.
    """
    path, results = folder / _GAMES, []
    try:
        with open_regular(path, _MOST_BYTES) as (file, size):
            text = read_bounded(file, size).decode(errors="replace")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SettingError(f"{shown(path)} cannot be read: {error.strerror}") from error
    for line in text.splitlines():
        try:
            entry = json.loads(line)
            results.append(Result(**{**entry, "seats": tuple(entry["seats"])}))
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return results


def openings_of(tournament: Tournament) -> tuple[Opening, ...]:
    """The openings of the rounds: the file's list, or random moves from the seed, different while there are any."""
    if tournament.openings:
        return tournament.openings[: tournament.rounds]
    return _drawn(tournament.game, tournament.rounds, tournament.plies, tournament.seed)


@lru_cache(maxsize=8)
def _drawn(game: Game, rounds: int, plies: int, seed: int) -> tuple[Opening, ...]:
    return tuple(map(Opening, random_openings(game, rounds, plies, seed)))


def _opening(tournament: Tournament, fixture: Fixture) -> Opening:
    """A list shorter than the rounds is played in turn."""
    openings = openings_of(tournament)
    return openings[fixture.round % len(openings)]


def play_fixture(tournament: Tournament, fixture: Fixture, agents: Mapping[str, Contestant]) -> Played:
    """One game; its opening and seed come from the tournament and the fixture alone."""
    first, second = fixture.seats
    opening, seed = _opening(tournament, fixture), seed_of(tournament, fixture)
    game = opening.start(tournament.game)
    return play_match_game(game, (agents[first], agents[second]), opening.moves, seed, tournament.longest)


def seed_of(tournament: Tournament, fixture: Fixture) -> int:
    """A game's own seed: tournaments that differ in their seeds alone must not play the same games."""
    return int(np.random.SeedSequence((tournament.seed, fixture.number)).generate_state(1)[0])


def games_apart(file: Path, tournament: Tournament, placement: Placement) -> Apart:
    """Plays games of the tournament that `file` describes, as many at a time as `placement` has places.

    Other machines need the file, and the checkpoints that it names, at the same paths.
    """

    def apart(fixtures: Sequence[Fixture]) -> Iterator[tuple[Fixture, Played]]:
        with executor(placement) as there:
            yield from compute(there, partial(_played, str(file.resolve()), tournament.digest), fixtures)

    return apart


def _played(file: str, digest: str, fixture: Fixture) -> Played:
    """One game, in a process that keeps its agents."""
    tournament, agents = _opened(file)
    if tournament.digest != digest:
        raise SettingError(f"{file} has changed, or is another file on this machine")
    for name in fixture.seats:
        if name not in agents:
            agents[name] = tournament.contestant(name)
    return play_fixture(tournament, fixture, agents)


@lru_cache(maxsize=1)
def _opened(file: str) -> tuple[Tournament, dict[str, Contestant]]:
    threadpool_limits(1)
    return read_tournament(Path(file)), {}


def _keep(tournament: Tournament, fixture: Fixture, played: Played, folder: Path) -> Result:
    """A game on disk before it counts: first its record, then its line in games.jsonl."""
    game = _opening(tournament, fixture).start(tournament.game)
    record = f"game-{fixture.number:04}{game.record_suffix}"
    today, event = date.today().isoformat(), f"sog tournament, {tournament.game.name}"
    details = GameRecord(fixture.seats, today, event, str(fixture.number), played.moves, played.utility, played.why)
    replace_file(folder / record, game.write_record(details).encode())
    moves, seats = len(played.moves), fixture.seats
    result = Result(fixture.number, seats, played.utility, played.why, played.fault, moves, record)
    append_line(folder / _GAMES, json.dumps(asdict(result)))
    return result


@contextmanager
def _claimed(folder: Path, tournament: Tournament) -> Iterator[None]:
    """The folder is this tournament's, after the block too if a game was played in it.

    SettingError where it is another's or holds other things.
    """
    mark = folder / _DIGEST
    try:
        if not mark.exists():
            if _holds(folder):
                raise SettingError(f"{folder} holds other files; name another folder")
            replace_file(mark, f"{tournament.digest}\n".encode())
        if mark.read_text(encoding="utf-8", errors="replace").strip() != tournament.digest:
            raise SettingError(f"{folder} holds games of another tournament file or network; name another folder")
    except OSError as error:
        raise SettingError(f"{folder} cannot be written: {error.strerror}") from error
    try:
        yield
    finally:
        if _holds(folder) == {mark.name}:
            mark.unlink()


def _holds(folder: Path) -> set[str]:
    """The names in a folder without our lock's."""
    return set(os.listdir(folder)) - {_LOCK}
