"""`sog games`: the games there are, and the table of OpenSpiel games that compile to the same game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sog.cli.frame import JsonOption, print_json, progress_bar, stdout
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.experiments.checks.openspiel_table import Row


def games(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[GAME]...", help="With --check-openspiel: check these.")
    ] = None,
    check_openspiel: Annotated[
        bool,
        typer.Option("--check-openspiel", help="Compile some 80 OpenSpiel games, compare NashConv; takes minutes."),
    ] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="With --check-openspiel: print Markdown, as in docs/openspiel_games.md.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the games, each with a game string to copy.

    With --check-openspiel: every OpenSpiel game of a list compiled into public states, its sizes, and NashConv
    by our best responses and by OpenSpiel's for the uniform policy, a random one and 100 iterations of CFR+;
    games that are refused are listed with the reason. The exit code is 1 where a NashConv differs by more than 1e-9.
    """
    if check_openspiel:
        _check_openspiel(names, as_markdown, as_json)
        return
    if names or as_markdown:
        raise SettingError("GAME and --markdown go with --check-openspiel")
    from sog.games.catalog import known_games

    known = known_games()
    if as_json:
        print_json({"games": [{"game": name, "description": words} for name, words in known]})
        return
    width = max(len(name) for name, _ in known)
    for name, words in known:
        print(f"{name:<{width}}  {words}")


def _check_openspiel(names: list[str] | None, as_markdown: bool, as_json: bool) -> None:
    from sog.experiments.checks import openspiel_table

    if as_markdown and as_json:
        raise SettingError("--markdown or --json, not both")
    rows = _rows(names or openspiel_table.CANDIDATES)
    if as_json:
        print_json(openspiel_table.as_json(rows))
    elif as_markdown:
        print(openspiel_table.as_markdown(rows), end="")
    else:
        stdout().print(openspiel_table.rich_table(rows))
    if any(row.differs for row in rows):
        raise typer.Exit(1)


def _rows(names: Sequence[str]) -> list[Row]:
    from sog.experiments.checks import openspiel_table
    from sog.games.names import OPENSPIEL

    rows: list[Row] = []
    made = openspiel_table.rows(name.removeprefix(OPENSPIEL) for name in names)
    with progress_bar("OpenSpiel games", len(names), "games") as report:
        for name in names:
            report(len(rows), name)
            rows.append(next(made))
    return rows
