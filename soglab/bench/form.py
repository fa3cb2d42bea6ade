"""The form of every benchmark: rows whose fields say how they are written, words around them, one table for all.

A benchmark is one file: a frozen dataclass whose fields that are shown are `Annotated[float, Column("ms", ".3f")]`, a
function that measures and yields such rows while it calls a `Report`, and a `Benchmark` with its words. A command in
soglab/cli/bench.py gives it its options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias, get_type_hints

from rich.table import Table

__all__ = ["Benchmark", "Column", "Report", "table"]

# Takes how much is done, and a note such as what is measured next.
Report: TypeAlias = Callable[[int, str], None]


@dataclass(frozen=True)
class Column:
    """How a field of a row is written in the table; a field without one is in the JSON only.

    heading: with the first row's fields in braces; a field that is a dictionary has a column for each of its keys,
    which is its heading.  form: a format specification, or the function that writes the one cell of a row.
    unit: follows the heading.  missing: is written for None.  once: a cell like the one above it stays empty.
    """

    heading: str = ""
    form: str | Callable[[Any], str] = ""
    unit: str = ""
    missing: str = ""
    once: bool = False


@dataclass(frozen=True)
class Benchmark:
    """The words of a benchmark.

    name: at the progress bar.  counted: what progress counts, such as games.  title: of the table, with the first
    row's fields in braces, and what else its printer is given.  caption: made of the rows, below the table.
    across: the field that runs along the top of the table; every figure then has a line.
    """

    name: str
    counted: str
    title: str | None = None
    caption: Callable[[Sequence[Any]], str] | None = None
    across: str = ""


def table(form: Benchmark, rows: Sequence[Any], more: Mapping[str, Any]) -> Table:
    """At least one row as a table.  more: what the title names beside the first row's fields."""
    out = Table(box=None, pad_edge=False)
    out.title = form.title and form.title.format_map({**vars(rows[0]), **more})
    out.caption = (form.caption and form.caption(rows)) or None
    written = list(_written(rows))
    columns = _turned(written, form.across) if form.across else [_without_repeats(column) for column in written]
    for column in columns:
        out.add_column(column.heading, justify="right" if column.figures else "left")
    for line in zip(*(column.cells for column in columns), strict=True):
        out.add_row(*line)
    return out


@dataclass(frozen=True)
class _Written:
    """A column as text.  name: of its field.  figures: its cells end at the right.  once: as in Column."""

    name: str
    heading: str
    figures: bool
    cells: Sequence[str]
    once: bool = False


def _written(rows: Sequence[Any]) -> Iterator[_Written]:
    """The columns in the order of their fields."""
    for name, hint in get_type_hints(type(rows[0]), include_extras=True).items():
        for column in getattr(hint, "__metadata__", ()):
            values = [getattr(row, name) for row in rows]
            if isinstance(values[0], dict) and not callable(column.form):
                for key in values[0]:
                    one = replace(column, heading=key)
                    yield _column(name, one, True, rows, [value[key] for value in values])
            else:
                yield _column(name, column, hint.__origin__ is not str, rows, values)


def _column(name: str, column: Column, figures: bool, rows: Sequence[Any], values: Sequence[Any]) -> _Written:
    """A column of these values, one for each row."""
    form, unit = column.form, f", {column.unit}" if column.unit else ""
    if callable(form):
        cells = [form(row) for row in rows]
    else:
        cells = [column.missing if value is None else format(value, form) for value in values]
    return _Written(name, column.heading.format_map(vars(rows[0])) + unit, figures, cells, column.once)


def _without_repeats(column: _Written) -> _Written:
    """The column with an empty cell where one is like the one above it, if that is asked for."""
    repeats = [column.once and before == cell for before, cell in pairwise(("", *column.cells))]
    return replace(column, cells=["" if again else cell for again, cell in zip(repeats, column.cells, strict=True)])


def _turned(columns: Sequence[_Written], across: str) -> list[_Written]:
    """The same with a column for each cell of the field `across`, and a line for each figure of what else is equal."""
    (top,) = (column for column in columns if column.name == across)
    words = [column for column in columns if not column.figures and column is not top]
    figures = [column for column in columns if column.figures and column is not top]
    groups = [tuple(column.cells[k] for column in words) for k in range(len(top.cells))]
    places = {place: k for k, place in enumerate(zip(groups, top.cells, strict=True))}
    lines = [
        [*(group if figure is figures[0] else [""] * len(words)), figure.heading]
        + [figure.cells[places[group, head]] for head in dict.fromkeys(top.cells)]
        for group in dict.fromkeys(groups)
        for figure in figures
    ]
    headings = [*(column.heading for column in words), top.heading, *dict.fromkeys(top.cells)]
    cells = list(zip(*lines, strict=True))
    return [_Written("", heading, k > len(words), cells[k]) for k, heading in enumerate(headings)]
