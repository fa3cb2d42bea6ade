"""Figures of the documents beside what their commands print today.

    python -m soglab.checks.figures [WORDS ...] [--list] [--nudge K]

Runs every command of `FIGURES`, or those that hold one of the words, and ends with exit code 1 where a figure differs.
With --nudge each command's ranges are moved by a billionth first (nudged.py): a figure that differs then is decided by
rounding, and a page has its spread.
A test compares the table with the pages, so that a page and its figure change together.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from soglab.checks.documented import FIGURES, DocumentedFigure

__all__ = ["FigureRow", "compare", "main", "printed_by"]

_NUMBER: Final = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


@dataclass(frozen=True)
class FigureRow:
    """A figure as a page writes it and as its command prints it today."""

    name: str
    written: str
    printed: str
    equal: bool


def compare(figure: DocumentedFigure, printed: Mapping[str, Any]) -> list[FigureRow]:
    """Each figure of a command beside what it printed, `printed` being its JSON object.

    Every number of the page, in as many digits as the page gives it, has to be the number in the same place of what is
    printed; what else is printed may follow.
    """
    return [_compared(name, written, printed) for name, written in figure.figures.items()]


def _compared(name: str, written: str, printed: Mapping[str, Any]) -> FigureRow:
    if name in ("min", "mean", "max"):
        words = f"{printed['exploitability'][name]:.6g}"
    elif name == "wins":
        share, (low, high) = printed["wins"]["share"], printed["wins"]["interval95"]
        words = f"{100 * share:.6g}% [{100 * low:.6g}, {100 * high:.6g}]"
    elif name in printed:
        words = f"{printed[name]:.6g}"
    else:
        words = next((entry["ours"] for entry in printed["beside"] if entry["what"] == name), "is not printed")
    ours, theirs = _NUMBER.findall(words), _NUMBER.findall(written)
    equal = len(ours) >= len(theirs) and all(map(_alike, theirs, ours))
    return FigureRow(name, written, words, equal)


def _alike(written: str, printed: str) -> bool:
    """Whether a printed number has the digits that are written."""
    _, _, decimals = written.partition(".")
    value = float(printed.replace(",", ""))
    return f"{value:.{len(decimals)}f}" == written.replace(",", "")


def printed_by(command: str, nudge: int = 0) -> dict[str, Any]:
    """The JSON object that a command of this program prints; RuntimeError with its last line where it fails.

    nudge: of nudged.py; 0 for none.
    """
    program, arguments = ["soglab.checks.nudged", str(nudge)] if nudge else ["sog"], shlex.split(command)[1:]
    words = [sys.executable, "-m", *program, *arguments, "--json"]
    with tempfile.TemporaryDirectory() as folder:
        # In a results folder of before an experiment would find its points, and compute none.
        words += ["--out", folder] if arguments[0] == "reproduce" else []
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it says nothing"])[-1])
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def main(arguments: list[str] | None = None) -> int:
    """Run the commands and print a table; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m soglab.checks.figures")
    parser.add_argument("words", nargs="*", help="commands that hold one of these words; by default all")
    parser.add_argument("--list", action="store_true", help="say which commands there are and how long they take")
    parser.add_argument("--nudge", type=int, default=0, metavar="K", help="move ranges by a billionth, drawn by K")
    given = parser.parse_args(arguments)
    chosen = [f for f in FIGURES if not given.words or any(word in f.command for word in given.words)]
    console = Console()
    if given.list:
        for figure in chosen:
            console.print(f"{figure.seconds:>5} s  {figure.command}", highlight=False, markup=False)
        return 0
    whole = sum(figure.seconds for figure in chosen)
    console.print(f"{len(chosen)} commands, about {whole / 60:.0f} minutes of one core", highlight=False)
    started = time.monotonic()
    differing = sum(_shown(console, figure, given.nudge) for figure in chosen)
    count = sum(len(figure.figures) for figure in chosen)
    verdict = f"{differing} of {count} figures differ" if differing else f"all {count} figures are as documented"
    console.print(f"\n{verdict}, {(time.monotonic() - started) / 60:.0f} minutes", highlight=False)
    return 1 if differing else 0


def _shown(console: Console, figure: DocumentedFigure, nudge: int) -> int:
    """Run one command and print its figures; how many differ."""
    started = time.monotonic()
    try:
        rows = compare(figure, printed_by(figure.command, nudge))
    except RuntimeError as error:
        rows = [FigureRow("", "", f"failed: {error}", False)]
    seconds = time.monotonic() - started
    table = Table("figure", "documented", "printed", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row.name, row.written, row.printed, style="" if row.equal else "bold red")
    console.print(f"\n{figure.command}   {figure.page}, {seconds:.0f} s", highlight=False, markup=False)
    console.print(table)
    return sum(not row.equal for row in rows)


if __name__ == "__main__":
    raise SystemExit(main())
