"""Plays a tournament's games in other processes, each of which opens the agents for itself; it keeps no records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

from threadpoolctl import threadpool_limits

from sog.cluster.executor import compute
from sog.cluster.where import Where, executor
from sog.errors import SettingError
from sog.play.match import Contestant, Played
from sog.protocols.tournament import Apart, Fixture, play_fixture
from sog.protocols.tournament_file import Tournament, read_tournament

__all__ = ["games_apart"]


def games_apart(file: Path, tournament: Tournament, where: Where) -> Apart:
    """Plays games of the tournament that `file` describes, as many at a time as `where` has places.

    Other machines need the file, and the checkpoints that it names, at the same paths.
    """

    def apart(fixtures: Sequence[Fixture]) -> Iterator[tuple[Fixture, Played]]:
        with executor(where) as there:
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
