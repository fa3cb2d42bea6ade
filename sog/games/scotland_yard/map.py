"""Maps of Scotland Yard: stations, links by kind of transport, and the text files they live in.

A map file is CSV: lines that begin with # are remarks, then the header `from,to,transport`, then one
link a line, such as `1,46,bus`. Stations are positive whole numbers; transports are taxi, bus,
underground and ferry. Links go both ways; two stations may be linked by several kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from sog.errors import GameError

TRANSPORTS: Final = ("taxi", "bus", "underground", "ferry")
_LARGEST_FILE: Final = 1_000_000  # bytes; London's has 6,216
_LONGEST_NUMBER: Final = 6  # digits of a station
_HEADER: Final = "from,to,transport"


@dataclass(frozen=True)
class CityMap:
    """Stations in ascending order and the links between them.

    stations: the number of each station; its position is the station's index everywhere in the game.
    links: (index, larger index, transport), ascending; transport counts in TRANSPORTS.
    """

    stations: tuple[int, ...]
    links: tuple[tuple[int, int, int], ...]

    def index(self, station: int) -> int:
        """The index of the station with this number; GameError where the map lacks it."""
        if station not in self.stations:
            raise GameError(f"the map has no station {station}")
        return self.stations.index(station)


def read_map(name: str) -> CityMap:
    """The map shipped under this name (glasses, london), or the one in the file at this path.

    Raises GameError where there is no such map or its text is not a map.
    """
    shipped = files("sog.games.scotland_yard").joinpath("maps", f"{name}.csv")
    try:
        if name.isidentifier() and shipped.is_file():
            return parse_map(shipped.read_text(encoding="utf-8"), name)
        return parse_map(_read_file(Path(name)), name)
    except (OSError, ValueError) as error:
        raise GameError(f"no map of Scotland Yard at {name!r}: give glasses, london or a CSV file") from error


def _read_file(path: Path) -> str:
    """The text of a map file; OSError or ValueError where it is no file, too large for a map, or not UTF-8."""
    if not path.is_file() or path.stat().st_size > _LARGEST_FILE:
        raise ValueError(f"{path} is not a file of at most {_LARGEST_FILE:,} bytes")
    return path.read_text(encoding="utf-8")


def parse_map(text: str, name: str = "map") -> CityMap:
    """The map that a map file's text describes; GameError names the first line that is wrong."""
    lines = [(k, line.strip()) for k, line in enumerate(text.splitlines(), 1)]
    lines = [(k, line) for k, line in lines if line and not line.startswith("#")]
    if not lines or lines[0][1] != _HEADER:
        raise GameError(f"{name}: a map begins with the line {_HEADER}")
    found: set[tuple[int, int, int]] = set()
    for k, line in lines[1:]:
        link = _parse_link(line)
        if link is None or link in found:
            raise GameError(f"{name}, line {k}: {'link given twice' if link else 'not a link'}: {line}")
        found.add(link)
    if not found:
        raise GameError(f"{name}: a map needs at least one link")
    stations = tuple(sorted({station for link in found for station in link[:2]}))
    index = {station: k for k, station in enumerate(stations)}
    return CityMap(stations, tuple(sorted((index[a], index[b], t) for a, b, t in found)))


def _parse_link(line: str) -> tuple[int, int, int] | None:
    """(smaller station, larger station, transport), or None where the line is not a link."""
    fields = [field.strip() for field in line.split(",")]
    if len(fields) != 3 or fields[2] not in TRANSPORTS:
        return None
    if not all(field.isdecimal() and len(field) <= _LONGEST_NUMBER and int(field) > 0 for field in fields[:2]):
        return None
    a, b = sorted((int(fields[0]), int(fields[1])))
    return None if a == b else (a, b, TRANSPORTS.index(fields[2]))


def map_text(city: CityMap, remarks: Sequence[str]) -> str:
    """The text of a map file: the remarks, then every link in ascending order; parse_map's inverse."""
    rows = [f"{city.stations[a]},{city.stations[b]},{TRANSPORTS[t]}" for a, b, t in city.links]
    return "\n".join([*(f"# {remark}" for remark in remarks), _HEADER, *rows, ""])
