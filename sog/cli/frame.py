"""What all commands share: JSON on stdout, checks of inputs, never overwriting, the progress bar."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, cast

import typer
from rich.console import Console, RenderableType
from rich.measure import Measurement, measure_renderables
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

from sog.cli.options import positive, word
from sog.errors import SettingError
from sog.searches.kernels.compiling import working_time

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from matplotlib.figure import Figure

    from sog.games.base import Game
    from sog.searches.tree.public_tree import PublicTree

# How long something runs in silence before it shows a progress bar, and between its lines where there is no terminal.
_SILENT_SECONDS = 2.0
_LINE_SECONDS = 60.0
_FIRST_LINE_SECONDS = 2.0  # the longest silence, even where nothing is reported
_PIPE_WIDTH = 160
_WIDEST = 100_000  # no table is as wide

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

ClusterOption = Annotated[
    str | None, word("Where processes run: local:N, ray:N (on this machine), auto or HOST:PORT (a Ray cluster).")
]

LimitOption = Annotated[
    float | None,
    positive("Memory that listing the game may hold, in 10^9 bytes; by default four fifths of what is free."),
]

# Takes how much is done, and a note such as the latest exploitability.
Report = Callable[[int, str], None]


class _PlainConsole(Console):
    """A console that shows words as they are. Rich's own answer to a closed stderr is to silence stdout, too."""

    def on_broken_pipe(self) -> None:
        """Raise the BrokenPipeError: `main` ends the command."""
        raise


def stdout() -> Console:
    """Where results for people go; in a pipe or a file tables are wide, unless COLUMNS says otherwise."""
    plain = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return _PlainConsole(markup=False, highlight=False, emoji=False, width=_PIPE_WIDTH if plain else None)


def stderr() -> Console:
    """Where errors, notes and progress go."""
    return _PlainConsole(stderr=True, markup=False, highlight=False, emoji=False)


def ask(question: str) -> str | None:
    """A person's line from stdin, without the blanks around it; None where there is no more."""
    try:
        return input(question).strip()
    except EOFError:
        print()  # end the question's line
        return None
    except RuntimeError as error:  # Python's word for a stdin that was closed before it began
        raise SettingError("standard input is closed: nobody can answer") from error


def choose(question: str, names: Sequence[str], hint: str, numbered: bool = False) -> int | None:
    """Which name a person means, in full, or as far as it differs from all others, or by its number; None to leave."""
    numbers = {str(k): k - 1 for k in range(1, len(names) + 1)} if numbered else {}
    while True:
        reply = ask(question)
        if reply is None or (answer := reply.lower()) in ("q", "quit", "exit"):
            return None
        if answer in numbers:
            return numbers[answer]
        matches = [k for k, name in enumerate(names) if answer and name.lower().startswith(answer)]
        exact = [k for k in matches if names[k].lower() == answer]
        if len(exact or matches) == 1:
            return (exact or matches)[0]
        stdout().print(hint)


def say(text: str) -> None:
    """A note to a person, as it is, on stderr; above the progress bar where there is one, which takes sys.stderr."""
    if sys.stderr is not None:  # closed before we began
        print(text, file=sys.stderr, flush=True)


def print_json(answer: Mapping[str, Any]) -> None:
    """Print the one object that a machine reads; NaN and infinity, which JSON lacks, are a ValueError."""
    print(json.dumps(answer, allow_nan=False), file=getattr(sys.stdout, "results", sys.stdout))


@contextmanager
def for_json() -> Iterator[None]:
    """Inside, stdout is for `print_json` alone; what else is printed, such as by a user's own game, goes to stderr."""
    with redirect_stdout(cast(TextIO, _Aside(sys.stdout))):
        yield


class _Aside:
    """Standard error in place of standard output, which is `results`."""

    def __init__(self, results: TextIO) -> None:
        self.results = results

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr or self.results, name)


def figures_table(*left: str, figures: Iterable[str], title: str | None = None) -> Table:
    """An empty table with columns of words, then columns of figures, which end at the right."""
    table = Table(*left, title=title, box=None, pad_edge=False)
    for heading in figures:
        table.add_column(heading, justify="right")
    return table


def facts_table(facts: Mapping[str, str]) -> Table:
    """What was found, a line each: what it is, then its value."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, Text(value))
    return table


def print_table(table: Table) -> None:
    """Print a table; where the terminal is too narrow for its words, each row is a paragraph. No word is cut."""
    console = stdout()
    wide = console.options.update(width=_WIDEST)
    spare = console.width - Measurement.get(console, wide, table).minimum
    if spare < 0:
        for line in _paragraphs(table, console.width):
            console.print(line, soft_wrap=True)
        return
    # Rich takes a column's width from its words, too: here all have their longest word, and the narrow ones all words.
    measurements = [measure_renderables(console, wide, [column.header, *column.cells]) for column in table.columns]
    for column, measurement in sorted(zip(table.columns, measurements, strict=True), key=lambda pair: pair[1].span):
        column.width = measurement.minimum + min(spare, measurement.span)
        spare -= column.width - measurement.minimum
    console.print(table)


def _paragraphs(table: Table, width: int) -> Iterator[str]:
    """A table without columns: of each row the first cell, then the others that are not empty, with their headings."""
    headings = [str(column.header) for column in table.columns]
    yield from [str(table.title)] if table.title else []
    for first, *others in zip(*(map(str, column.cells) for column in table.columns), strict=True):
        yield first
        text = "; ".join(f"{name}: {cell}" for name, cell in zip(headings[1:], others, strict=True) if cell)
        yield from textwrap.wrap(
            text,
            width,
            initial_indent="  ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    yield from [str(table.caption)] if table.caption else []


def show_rows(
    rows: Sequence[DataclassInstance],
    as_json: bool,
    table: Callable[[], Table],
    more: Mapping[str, Any] | None = None,
) -> None:
    """A measurement's rows for a machine, with whatever more it should know, or as a table for people."""
    if as_json:
        print_json({"rows": [asdict(row) for row in rows], **(more or {})})
    else:
        print_table(table())


def check_new(path: Path) -> None:
    """SettingError unless a file can be made at `path` without replacing one; called before long work."""
    if os.path.lexists(path):
        raise SettingError(f"{path} exists already; choose another name or remove it")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise SettingError(f"{path.parent} is not a folder that can be written to")


def write_unless_there(path: Path, text: str | Iterable[str]) -> None:
    """Write a text, or its pieces, to a new file, whole or not at all; SettingError where that cannot be."""
    try:
        with path.open("x", encoding="utf-8") as file:
            try:
                file.writelines([text] if isinstance(text, str) else text)
                file.flush()
            except BaseException:
                path.unlink()
                raise
    except FileExistsError as error:
        raise SettingError(f"{path} exists already; choose another name or remove it") from error
    except OSError as error:
        raise SettingError(f"cannot write {path}: {error.strerror}") from error


def save_picture(figure: Figure, path: Path, dpi: int = 110) -> None:
    """Write a PNG; SettingError where the disk refuses."""
    try:
        figure.savefig(path, dpi=dpi, format="png")
    except OSError as error:
        raise SettingError(f"cannot write {path}: {error.strerror}") from error


def small_tree(game: Game, limit_gb: float | None) -> PublicTree | None:
    """A small game's whole public tree, listed with a progress bar; None for a large one: see `listed_tree`."""
    from sog.searches.tree.whole import listed_tree

    with progress_bar("listing public states", None, "states") as report:
        return listed_tree(game, limit_gb, lambda count: report(count, ""))


@contextmanager
def progress_bar(
    title: str,
    total: int | None,
    unit: str,
    begun: int = 0,
    minutes: float | None = None,
    processor: float | None = None,
) -> Iterator[Report]:
    """A progress bar on stderr after two seconds, with rate and time left, compiling left out of both.

    Yields `report(done, note)`. total: None where it is not known.  begun: what was done before.  minutes: when the
    work is stopped at the latest.  processor: or when this process has used this many minutes of a processor. On a pipe
    or in a file there is no bar but a line a minute.
    """
    console, limit = stderr(), _Limit(minutes, processor)
    if not console.is_terminal:
        line_printed = threading.Event()
        far = f"{begun:,} of {total:,} {unit}" if total else "begun"
        first = threading.Timer(_FIRST_LINE_SECONDS, _say_begun, (console, f"{title}: {far}", line_printed))
        first.daemon = True
        first.start()
        try:
            yield _lines(console, title, total, unit, begun, limit, line_printed)
        finally:
            first.cancel()
        return
    bar = _Bar(
        TextColumn("{task.description}", table_column=Column(overflow="fold")),
        BarColumn(bar_width=None),  # what room the others leave
        TextColumn("{task.completed:,.0f} " + unit),
        _Rate(table_column=Column(no_wrap=True)),
        _Left(limit),
        console=console,
        transient=True,
        expand=True,
        get_time=working_time,
    )
    task = bar.add_task(title, total=total, completed=begun, note="")
    timer = threading.Timer(_SILENT_SECONDS, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, note: bar.update(task, completed=done, note=note)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def _say_begun(console: Console, line: str, line_printed: threading.Event) -> None:
    """One line, where nothing else was printed by now, that the work has begun."""
    with suppress(BrokenPipeError):  # this thread cannot end the command; the next line does
        if not line_printed.is_set():
            console.print(line, soft_wrap=True)


def _lines(
    console: Console,
    title: str,
    total: int | None,
    unit: str,
    begun: int,
    limit: _Limit,
    line_printed: threading.Event,
) -> Report:
    """A report that prints how far the work is, at most once a minute."""
    started = printed = time.monotonic()
    begun_work = working_time()

    def report(done: int, note: str) -> None:
        nonlocal printed
        now = time.monotonic()
        if now - printed < _LINE_SECONDS:
            return
        line_printed.set()
        printed, spent, worked = now, (now - started) / 60, (working_time() - begun_work) / 60
        far = f"{done:,}" if total is None else f"{done:,} of {total:,}"
        left = limit.left(worked, spent)
        left += [worked * (total - done) / (done - begun)] if total and done > begun else []
        more = f", {min(left):.1f} left" if left else ""
        console.print(f"{title}: {far} {unit}, {spent:.1f} min{more}  {note}".rstrip(), soft_wrap=True)

    return report


class _Limit:
    """When work that begins now is stopped, after minutes of work or of this process's processor; None for never."""

    def __init__(self, minutes: float | None, processor: float | None) -> None:
        self.minutes, self.processor, self.used = minutes, processor, time.process_time()

    def left(self, worked: float, spent: float) -> list[float]:
        """The minutes until each limit, after this many of work and by the clock, which compiling is a part of.

        The processor continues at its mean rate so far.
        """
        remaining = [] if self.minutes is None else [self.minutes - worked]
        used = (time.process_time() - self.used) / 60
        if self.processor is not None and used > 0:
            remaining.append((self.processor - used) * spent / used)
        return [max(0.0, minutes) for minutes in remaining]


class _Bar(Progress):
    """A progress bar with the note on lines of its own, so that no figure is cut."""

    def get_renderables(self) -> Iterator[RenderableType]:
        yield from super().get_renderables()
        yield from (Text(f"  {task.fields['note']}", overflow="fold") for task in self.tasks if task.fields["note"])


class _Left(TimeRemainingColumn):
    """The time left by the rate, or until the work is stopped where that is sooner."""

    def __init__(self, limit: _Limit) -> None:
        super().__init__(table_column=Column(no_wrap=True))
        self.limit, self.started, self.begun = limit, time.monotonic(), working_time()

    def render(self, task: Task) -> Text:
        left = self.limit.left((working_time() - self.begun) / 60, (time.monotonic() - self.started) / 60)
        if not left or task.finished:
            return super().render(task)
        by_rate = task.time_remaining
        until = 60.0 * min(left)
        seconds = int(until if by_rate is None else min(until, by_rate))
        return Text(f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}", style="progress.remaining")


class _Rate(ProgressColumn):
    """How many a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.2g}/s")


def count_preflop(game: object) -> None:
    """Have the table of hold'em hands before the flop, with a progress bar where it is counted now.

    Equities read it, and so do networks whose values are added to what a hand wins if both players only check.
    """
    from sog.games.holdem.equity import CANONICAL, load_preflop
    from sog.games.holdem.game import Holdem

    if isinstance(game, Holdem) and not game.spot.board:
        with progress_bar("counting all pairs of hands, once", CANONICAL, "boards") as report:
            load_preflop(lambda done: report(done, ""))
