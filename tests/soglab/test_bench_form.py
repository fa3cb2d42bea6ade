"""The form of a benchmark: what its rows say about their columns is what the table shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

from rich.console import Console

from soglab.bench.form import Benchmark, Column, table


@dataclass(frozen=True)
class KettleRow:
    """Nothing that anybody measures."""

    kitchen: Annotated[str, Column("kitchen", once=True)]
    kettle: Annotated[str, Column("kettle")]
    litres: float
    seconds: Annotated[float | None, Column("with {litres:g} l", ".1f", unit="s", missing="never")]
    shares: Annotated[dict[str, float], Column("", ".0%")]
    cost: Annotated[int, Column("cost", lambda row: f"{row.cost}*" if row.kettle == "new" else f"{row.cost}")]


ROWS: Final = (
    KettleRow("ours", "old", 1.5, 180.25, {"lid": 0.25, "heat": 0.75}, 7),
    KettleRow("ours", "new", 1.5, None, {"lid": 0.5, "heat": 0.5}, 12),
)


def _caption(rows: Sequence[KettleRow]) -> str:
    return f"{len(rows)} kettles"


KETTLES: Final = Benchmark("bench kettles", "kettles", "{kitchen} kitchen, load {load:.1f}", _caption)


def lines(form: Benchmark) -> list[str]:
    console = Console(width=80)
    with console.capture() as shown:
        console.print(table(form, ROWS, {"load": 0.5}))
    return [line.rstrip() for line in shown.get().splitlines()]


def test_a_line_for_each_row() -> None:
    title, *shown, caption = lines(KETTLES)
    assert title.strip() == "ours kitchen, load 0.5" and caption.strip() == "2 kettles"
    assert shown == [
        "kitchen  kettle  with 1.5 l, s  lid  heat  cost",
        "ours     old             180.2  25%   75%     7",
        "         new             never  50%   50%   12*",
    ]


def test_a_column_for_each_value_of_a_field() -> None:
    assert lines(replace(KETTLES, title=None, caption=None, across="kettle")) == [
        "kitchen  kettle           old    new",
        "ours     with 1.5 l, s  180.2  never",
        "         lid              25%    50%",
        "         heat             75%    50%",
        "         cost               7    12*",
    ]
