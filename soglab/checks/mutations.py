"""Breaks one line of the code at a time and says which tests see it: `python -m soglab.checks.mutations [WORD ...]`.

Each mutation (broken_lines.py) is applied to a copy of the checkout in a temporary folder. The test file that is to see
it comes first; where it passes, the tests of the room follow, and then the whole of `make test`; --until says how far.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from rich.console import Console

from soglab.bench.form import Benchmark, Column, table
from soglab.checks.broken_lines import MUTATIONS, Mutation

__all__ = ["TESTS", "caught", "mutated"]

# Which tests run, one after the other until one fails, and what they are called in the table.
TESTS: Final = {"file": "its test file", "room": "its room", "suite": "the whole suite"}

_HERE: Final = Path(__file__).parents[2]
_COPIED: Final = ("sog", "soglab", "tests", "docs", "pyproject.toml", "README.md", "CONTRIBUTING.md", "Makefile")


@dataclass(frozen=True)
class CaughtRow:
    """What the tests said of a mutation."""

    mutation: Annotated[str, Column("mutation")]
    file: Annotated[str, Column("file")]
    caught: Annotated[str, Column("seen by")]
    test: Annotated[str, Column("first test that fails")]
    seconds: Annotated[float, Column("seconds", ".0f")]


def mutated(mutation: Mutation, text: str) -> str:
    """The file's text with the mutation; ValueError unless its line occurs exactly once."""
    if text.count(mutation.old) != 1:
        raise ValueError(f"{mutation.file} has {mutation.old!r} {text.count(mutation.old)} times, not once")
    return text.replace(mutation.old, mutation.new)


def caught(mutation: Mutation, copy: Path, until: str) -> CaughtRow:
    """Run the tests on the copy with one mutation, which is taken back afterwards.  until: the last of TESTS to run."""
    path, start = copy / mutation.file, time.monotonic()
    file = Path("tests") / mutation.test
    text = path.read_text()
    path.write_text(mutated(mutation, text))
    try:
        for (kind, scope), tests in zip(TESTS.items(), (file, file.parent, "tests"), strict=True):
            if test := _first_failure(copy, str(tests)):
                return CaughtRow(mutation.name, mutation.file, scope, test, time.monotonic() - start)
            if kind == until:
                break
        return CaughtRow(mutation.name, mutation.file, "NO TEST", "", time.monotonic() - start)
    finally:
        path.write_text(text)


def _first_failure(copy: Path, tests: str) -> str:
    """The first test under `tests` that fails on the copy, or an empty string."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    run = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", tests],
        cwd=copy,
        env={**os.environ, **threads, "CI": "1", "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
    )
    if not run.returncode:
        return ""
    match = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
    if not match:
        raise SystemExit(f"pytest ended with {run.returncode}:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    return match[1].rsplit("/", 1)[-1]


def copied(folder: Path) -> Path:
    """A copy of what the tests need."""
    for name in _COPIED:
        source = _HERE / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    return folder


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each mutation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD", help="mutations whose name holds one of these")
    parser.add_argument("--until", choices=TESTS, default="suite", help="the last tests to run where others pass")
    args = parser.parse_args(arguments)
    chosen = [m for m in MUTATIONS if not args.words or any(word in m.name for word in args.words)]
    console, rows = Console(), []
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        for mutation in chosen:
            rows.append(caught(mutation, copy, args.until))
            console.print(f"{mutation.name}: {rows[-1].caught}, {rows[-1].seconds:.0f} s", highlight=False)
    console.print(table(Benchmark("mutations", "mutations", "one line broken"), rows, {}))


if __name__ == "__main__":
    main()
