"""`sog games`: the games there are, and the table of OpenSpiel games that compile to the same game."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from sog.cli.frame import JsonOption, print_json, print_table, progress_bar, say, stdout
from sog.errors import GameError, SettingError

if TYPE_CHECKING:
    from sog.measure.openspiel_table import OpenSpielRow


# Characters of the table's columns, and of the last one at least.
_STRING: Final = 36
_MARK: Final = 10
_LEAST: Final = 40


def games(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[GAME]...", help="One game's page; with --check-openspiel, the games to check."),
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
    """List the games, each with a game string to copy, whether a network ships for it, and whether policies learn it.

    With a GAME: its parameters, its trained networks and a command to copy for each thing that can be done with it.
    With --json: what each parameter of a game means, too.

    With --check-openspiel: every OpenSpiel game of a list compiled into public states, its sizes, and NashConv
    by our best responses and by OpenSpiel's for the uniform policy, a random one and 100 iterations of CFR+;
    games that are refused are listed with the reason. The exit code is 1 where a NashConv differs by more than 1e-9.
    """
    if check_openspiel:
        _check_openspiel(names, as_markdown, as_json)
        return
    if as_markdown:
        raise SettingError("--markdown goes with --check-openspiel")
    listed = _listed()
    if names:
        _show(names, listed, as_json)
        return
    if as_json:
        print_json({"games": listed})
        return
    for line in _lines(listed, stdout().width):
        print(line)


def _listed() -> list[dict[str, Any]]:
    """Every game with the game strings of its shipped checkpoints, and whether policy learners can train on it.

    User-defined ones are last, by their short names.
    """
    from sog.games.catalog import GAMES, has_histories, known_games
    from sog.games.own import VARIABLE, own_games
    from sog.training.shipped_folders import shipped_games

    shipped, listed = shipped_games(), []
    for name, words in known_games():
        short = name.partition("(")[0]
        own = [game for game in shipped if _short(game) == _short(name)]
        known = GAMES[short].parameters if short in GAMES else {}
        takes = {key: parameter.meaning for key, parameter in known.items()}
        ours = {"description": words, "parameters": takes, "checkpoints": own, "histories": has_histories(name)}
        listed.append({"game": name, **ours})
    try:
        by_histories = own_games("HISTORY_GAMES")
    except GameError as error:  # whatever is wrong with a person's own games, the others are there
        say(f"sog: {error}")
        return listed
    for name in dict.fromkeys((*own_games("GAMES"), *by_histories)):
        words = f"your own, from {VARIABLE}"
        yours = {"description": words, "parameters": {}, "checkpoints": [], "histories": name in by_histories}
        listed.append({"game": name, **yours})
    return listed


def _show(names: Sequence[str], listed: Sequence[dict[str, Any]], as_json: bool) -> None:
    """The page of one game."""
    from sog.cli.game_page import show_game
    from sog.games.catalog import make_game
    from sog.games.strings import OPENSPIEL

    if len(names) > 1:
        raise SettingError("one game has a page at a time; more go with --check-openspiel")
    (name,) = names
    if name.startswith(OPENSPIEL):
        _refuse_unknown(names)
    rows = {_short(row["game"]): row for row in listed}
    if _short(name) not in rows:
        make_game(name)  # raises an error that names the known games
    show_game(name, rows[_short(name)], as_json)


def _short(game: str) -> str:
    """A game string's short name; openspiel for all of OpenSpiel's."""
    return re.split(r"[(:]", game, maxsplit=1)[0]


def _lines(listed: Sequence[dict[str, Any]], width: int) -> Iterator[str]:
    """The table for people; a game string that is longer than its column has a line of its own, so it can be copied."""
    yield f"{'game string':<{_STRING}}{'trained':<{_MARK}}{'policies':<{_MARK}}what it is"
    for row in listed:
        name, others = row["game"], [game for game in row["checkpoints"] if game != row["game"]]
        if long := len(name) >= _STRING:
            yield name
        marks = ("yes" if mark else "no" for mark in (name in row["checkpoints"], row["histories"]))
        left = f"{'' if long else name:<{_STRING}}" + "".join(f"{mark:<{_MARK}}" for mark in marks)
        words = row["description"] + (f"; trained: {', '.join(others)}" if others else "")
        lines = textwrap.wrap(words, max(_LEAST, width - len(left)), break_long_words=False, break_on_hyphens=False)
        yield left + lines[0]
        yield from (" " * len(left) + line for line in lines[1:])
    yield ""
    yield "trained: a trained network comes with this program; `sog play GAME` plays against it at once."
    yield "policies: policy networks can learn it: `sog train GAME --algorithm rnad`, mmd, nashpg or sepot."


def _check_openspiel(names: list[str] | None, as_markdown: bool, as_json: bool) -> None:
    from sog.measure import openspiel_table

    if as_markdown and as_json:
        raise SettingError("--markdown or --json, not both")
    _refuse_unknown(names or [])
    rows = _rows(names or openspiel_table.CANDIDATES)
    if as_json:
        print_json(openspiel_table.as_json(rows))
    elif as_markdown:
        print(openspiel_table.as_markdown(rows), end="")
    else:
        print_table(openspiel_table.rich_table(rows))
    if any(row.differs for row in rows):
        raise typer.Exit(1)


def _refuse_unknown(names: Sequence[str]) -> None:
    """GameError for a name that OpenSpiel lacks; it is not a game that was refused."""
    from sog.games.openspiel.loading import registered
    from sog.games.strings import OPENSPIEL, parse_game

    for name in names:
        if (short := parse_game(name.removeprefix(OPENSPIEL))[0]) not in registered():
            raise GameError(f"OpenSpiel has no game called {short}")


def _rows(names: Sequence[str]) -> list[OpenSpielRow]:
    from sog.games.strings import OPENSPIEL
    from sog.measure import openspiel_table

    rows: list[OpenSpielRow] = []
    made = openspiel_table.rows(name.removeprefix(OPENSPIEL) for name in names)
    with progress_bar("OpenSpiel games", len(names), "games") as report:
        for name in names:
            report(len(rows), name)
            rows.append(next(made))
    return rows
