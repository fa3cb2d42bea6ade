"""`sog map`: a part of London as a map of Scotland Yard, with rules that fit its size."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from sog.cli.frame import JsonOption, check_new, facts_table, print_json, stdout, write_unless_there
from sog.cli.options import plain_file

__all__ = ["city_map"]


def city_map(
    stations: Annotated[int, typer.Option(min=1, max=999, help="How many stations, from 12.")] = 40,
    around: Annotated[int, typer.Option(min=1, max=999, help="The station that the map is around.")] = 100,
    out: Annotated[
        Path | None, typer.Option(callback=plain_file, help="Also write the map to this new CSV file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Cut London: the stations that taxis reach first from one station, with every link between two of them.

    Prints the game string to play it by. Stations keep their numbers. Rounds, detectives, reveals and tickets are those
    of the nearest size among 20, 40, 80 and 199 (London itself) stations; by those of 20, 40 and 80 two equal PimBots
    win about as often as Mr X and as the detectives. There are three start cards for each detective and for Mr X:
    London's cards in the cut, then the stations that are furthest from them by taxi. With --out the game string has the
    file and all of the rules, to be changed by hand.
    """
    from sog.games.scotland_yard.map import cut_name, map_text, read_map
    from sog.games.scotland_yard.rules import TICKETS, preset

    name = cut_name(stations, around)
    rules, city = preset(name), read_map(name)
    if out is not None:
        check_new(out)
        rules = replace(rules, map=str(out))
        remark = f"The {stations} stations of London that taxis reach first from station {around}, and their links."
        write_unless_there(out, map_text(city, [remark]))
    kinds = city.kinds()
    if as_json:
        answer = {"game": rules.game_name(), "stations": list(city.stations), "links": kinds, "file": out and str(out)}
        print_json({**answer, "rules": asdict(rules)})
        return
    of_each = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    stdout().print(
        facts_table(
            {
                "game": rules.game_name(),
                "stations": f"{len(city.stations)}: {' '.join(map(str, city.stations))}",
                "links": f"{len(city.links)}: {of_each}",
                "detectives": f"{rules.detectives}, each with {_worded(rules.tickets, TICKETS)}",
                "Mr X": f"{rules.rounds} moves, with {_worded(rules.x_tickets, TICKETS)}",
                "reveals": f"after moves {', '.join(map(str, rules.reveals))}",
                "start cards": " ".join(map(str, rules.cards)),
            }
        )
    )


def _worded(counts: tuple[int, ...], kinds: tuple[str, ...]) -> str:
    """Tickets by kind."""
    return ", ".join(f"{count} {kind}" for count, kind in zip(counts, kinds, strict=False))
