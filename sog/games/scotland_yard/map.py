"""Maps of Scotland Yard: stations, links by kind of transport, and the text files they live in.

A map file is CSV: lines that begin with # are remarks, then the header `from,to,transport`, then one
link a line, such as `1,46,bus`. Stations are positive whole numbers; transports are taxi, bus,
underground and ferry. Links go both ways; two stations may be linked by several kinds.

A cut of London is a map by name, without a file: london40 has the 40 stations nearest to station 100 by taxi, and
london40@67 those nearest to station 67, with every link between two of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from sog.errors import GameError

TRANSPORTS: Final = ("taxi", "bus", "underground", "ferry")
_TAXI: Final = 0
SHIPPED: Final = ("glasses", "london", "ring8", "ring9", "ring12")
_LARGEST_FILE: Final = 1_000_000  # bytes; London's has 6,216
_LONGEST_NUMBER: Final = 6  # digits of a station
_HEADER: Final = "from,to,transport"
_CUT: Final = re.compile(r"london([0-9]{1,3})(?:@([0-9]{1,3}))?")
AROUND: Final = 100  # the station that a cut of London is around unless its name says another
FEWEST: Final = 12  # stations of a cut


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

    def kinds(self) -> dict[str, int]:
        """How many links there are of each kind of transport, where there are any."""
        counts = {kind: sum(t == k for _, _, t in self.links) for k, kind in enumerate(TRANSPORTS)}
        return {kind: count for kind, count in counts.items() if count}

    def taxi_steps(self, index: int) -> dict[int, int]:
        """Taxi rides from a station to every one that taxis reach, by index: nearest first, then by number."""
        beside: dict[int, list[int]] = {}
        for a, b, transport in self.links:
            if transport == _TAXI:
                beside.setdefault(a, []).append(b)
                beside.setdefault(b, []).append(a)
        steps = {index: 0}
        waiting = [index]
        for here in waiting:
            for there in sorted(beside.get(here, ())):
                if there not in steps:
                    steps[there] = steps[here] + 1
                    waiting.append(there)
        return steps


def cut_map(city: CityMap, count: int, around: int) -> CityMap:
    """The `count` stations that breadth-first search by taxi reaches first, and all links between two of them.

    around: the number of the station where the search begins. Stations keep their numbers. GameError where there are
    fewer stations.
    """
    reached = list(city.taxi_steps(city.index(around)))
    if not FEWEST <= count <= len(reached):
        raise GameError(f"a cut around station {around} has {FEWEST} to {len(reached)} stations, not {count}")
    stays = sorted(reached[:count])
    index = {old: new for new, old in enumerate(stays)}
    links = tuple((index[a], index[b], t) for a, b, t in city.links if a in index and b in index)
    return CityMap(tuple(city.stations[old] for old in stays), links)


def cut_name(count: int, around: int) -> str:
    """The name of a cut of London."""
    return f"london{count}" + ("" if around == AROUND else f"@{around}")


def named_cut(name: str) -> tuple[int, int] | None:
    """(stations, around) of a cut of London by its name; None for another map."""
    match = _CUT.fullmatch(name)
    return None if match is None else (int(match[1]), int(match[2] or AROUND))


def read_map(name: str) -> CityMap:
    """The map shipped under this name (SHIPPED), a cut of London, or the map in the file at this path.

    Raises GameError for an unknown map, or text that is not a map.
    """
    if cut := named_cut(name):
        return cut_map(read_map("london"), *cut)
    shipped = files("sog.games.scotland_yard").joinpath("maps", f"{name}.csv")
    try:
        if name.isidentifier() and shipped.is_file():
            return parse_map(shipped.read_text(encoding="utf-8"), name)
        return parse_map(_read_file(Path(name)), name)
    except (OSError, ValueError) as error:
        known = f"{', '.join(SHIPPED)}, a cut of London such as london40, or a CSV file"
        raise GameError(f"no map of Scotland Yard at {name!r}: give {known}") from error


def _read_file(path: Path) -> str:
    """The text of a map file; OSError or ValueError where it is not a file, too large for a map, or not UTF-8."""
    if not path.is_file() or path.stat().st_size > _LARGEST_FILE:
        raise ValueError(f"{path} is not a file of at most {_LARGEST_FILE:,} bytes")
    return path.read_text(encoding="utf-8")


def parse_map(text: str, name: str = "map") -> CityMap:
    """The map that a map file's text describes; GameError names the first line that is wrong."""
    lines = [(k, line.strip()) for k, line in enumerate(text.splitlines(), 1)]
    lines = [(k, line) for k, line in lines if line and not line.startswith("#")]
    if not lines or lines[0][1] != _HEADER:
        raise GameError(f"{name}: a map begins with the line {_HEADER}")
    links: set[tuple[int, int, int]] = set()
    for k, line in lines[1:]:
        link = _parse_link(line)
        if link is None or link in links:
            raise GameError(f"{name}, line {k}: {'link given twice' if link else 'not a link'}: {line}")
        links.add(link)
    if not links:
        raise GameError(f"{name}: a map needs at least one link")
    stations = tuple(sorted({station for link in links for station in link[:2]}))
    index = {station: k for k, station in enumerate(stations)}
    return CityMap(stations, tuple(sorted((index[a], index[b], t) for a, b, t in links)))


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
