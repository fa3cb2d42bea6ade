"""`sog algorithms`: the learning algorithms there are, and every setting that an algorithm string can give."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from sog.cli.frame import JsonOption, print_json, print_table, stdout

if TYPE_CHECKING:
    from sog.algorithms.base import Algorithm

__all__ = ["algorithms"]


def algorithms(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="An algorithm, to list its settings.")] = None,
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME",
            help="The game whose preset's values are shown, with NAME; by default leduc_poker, or tic_tac_toe where an "
            "algorithm learns no hidden information.",
        ),
    ] = None,
    preset: Annotated[str, typer.Option(help="The preset whose values are shown, with NAME.")] = "demo",
    as_json: JsonOption = False,
) -> None:
    """List the learning algorithms, or what can be set of one.

    An algorithm string is a name with settings: sog, 'sog(replay=200000,queries=0.5)', 'rebel(solver=fp,updates=512)'.
    `sog train` changes the preset by it, `sog exploit` and `sog play` the play; a checkpoint keeps it.
    """
    from sog.algorithms.table import ALGORITHMS, read

    if name is None:
        _print_all(list(ALGORITHMS), as_json)
    else:
        algorithm = read(name)
        usual = "leduc_poker" if algorithm.plays_hidden or algorithm.alone else "tic_tac_toe"
        _print_one(algorithm, usual if game is None else game, preset, as_json)


def _print_all(kinds: list[type[Algorithm]], as_json: bool) -> None:
    if as_json:
        rows = [{"name": kind.name, "title": kind.title, "what": _first_line(kind)} for kind in kinds]
        print_json({"algorithms": rows})
        return
    table = Table("name", "what it is", box=None, pad_edge=False)
    for kind in kinds:
        table.add_row(kind.name, _first_line(kind))
    print_table(table)
    stdout().print("\n`sog algorithms NAME` lists an algorithm's settings.")


def _print_one(algorithm: Algorithm, game: str, preset: str, as_json: bool) -> None:
    rows = list(_settings(algorithm, game, preset))
    if as_json:
        for row in rows:
            if isinstance(row["value"], float) and math.isinf(row["value"]):  # which JSON lacks
                row["value"] = str(row["value"])
        print_json({"algorithm": algorithm.name, "game": game, "preset": preset, "settings": rows})
        return
    stdout().print(f"{_first_line(type(algorithm))}\n", soft_wrap=True)
    table = Table("setting", "kind", f"{preset}, {game}", "what it is", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row["name"], row["kind"], "" if row["value"] is None else str(row["value"]), row["what"])
    print_table(table)


def _settings(algorithm: Algorithm, game: str, preset: str) -> list[dict[str, Any]]:
    """A row a setting, the algorithm's own first."""
    from sog.algorithms.settings import described, kind_of, value_of

    settings = type(algorithm)().settings(algorithm.rules(game), preset)
    own, training = algorithm.own(), algorithm.settings_of_training()
    # Settings that all algorithms have are described by the base class alone.
    texts = described(type(algorithm).__mro__[-2]) | described(type(algorithm))
    rows = [
        {"name": name, "kind": str(field.type).removesuffix(" | None"), "what": texts.get(name, "")}
        for name, field in own.items()
    ]
    rows += [
        {"name": name, "kind": kind_of(setting.kind), "what": setting.text}
        for name, setting in training.items()
        if name not in own
    ]
    return [{**row, "value": value_of(settings, row["name"])} for row in rows]


def _first_line(kind: type[Algorithm]) -> str:
    return (kind.__doc__ or "").partition("\n")[0].rstrip(".")
