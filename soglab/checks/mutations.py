"""Breaks one line of the code at a time and says which tests see it: `python -m soglab.checks.mutations [WORD ...]`.

Each mutation is applied to a copy of the checkout in a temporary folder. The tests of the room that `make check` would
run come first; only where they pass does the whole of `make test` follow, unless --rooms is given.
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

__all__ = ["MUTATIONS", "Mutation", "mutated"]

_HERE: Final = Path(__file__).parents[2]
_COPIED: Final = ("sog", "soglab", "tests", "docs", "pyproject.toml", "README.md", "CONTRIBUTING.md", "Makefile")


@dataclass(frozen=True)
class Mutation:
    """A line of a file in `sog`, and what it is replaced by."""

    name: str
    file: str
    old: str
    new: str


@dataclass(frozen=True)
class CaughtRow:
    """What the tests said of a mutation."""

    mutation: Annotated[str, Column("mutation")]
    file: Annotated[str, Column("file")]
    caught: Annotated[str, Column("seen by")]
    test: Annotated[str, Column("first test that fails")]
    seconds: Annotated[float, Column("seconds", ".0f")]


MUTATIONS: Final = (
    Mutation("sign of a regret", "searches/cfr/matching.py", "x = regret + instant", "x = regret - instant"),
    Mutation("DCFR's alpha", "searches/cfr/rules.py", 'Rule("dcfr", alpha=1.5', 'Rule("dcfr", alpha=1.0'),
    Mutation("PUCT without visits", "searches/gtcfr/trajectories.py", "(1.0 + visits + virtual)", "(1.0 + virtual)"),
    Mutation("TD(1) mask", "algorithms/student/queries.py", "row.value_mask[0, at] = 1.0", "row.value_mask[0] = 1.0"),
    Mutation("komi", "games/boards/go.py", '"komi": self.komi}', '"komi": self.komi + 1.0}'),
    Mutation("zero-sum correction", "searches/leaves/weighing.py", "splat(0.5 * surplus)", "splat(surplus)"),
    Mutation(
        "fill",
        "searches/gtcfr/phases.py",
        "node < 0 and search.fill:\n            _fill",
        "node < -1:\n            _fill",
    ),
    Mutation("temperature", "searches/leaves/kernels.py", "(logit - top) / temperature", "(logit - top) * temperature"),
    Mutation("gadget's turn", "searches/cfr/iterate.py", "not within(choice.opponent", "within(choice.opponent"),
    Mutation("chance's weight", "searches/tree/pairs.py", "ranges.at1, width1) * scale", "ranges.at1, width1)"),
    Mutation("dead hands", "searches/tree/cards.py", "pick(live, pick(", "pick(half, pick("),
    Mutation("ReBeL's iteration", "algorithms/rebel/agent.py", ", p=settings.weights", ""),
)


def mutated(mutation: Mutation, text: str) -> str:
    """The file's text with the mutation; ValueError unless its line occurs exactly once."""
    if text.count(mutation.old) != 1:
        raise ValueError(f"{mutation.file} has {mutation.old!r} {text.count(mutation.old)} times, not once")
    return text.replace(mutation.old, mutation.new)


def caught(mutation: Mutation, copy: Path, rooms_only: bool) -> CaughtRow:
    """Run the tests on the copy with one mutation, which is taken back afterwards."""
    path, start = copy / "sog" / mutation.file, time.monotonic()
    text = path.read_text()
    path.write_text(mutated(mutation, text))
    try:
        room = f"tests/{Path(mutation.file).parts[0]}"
        for tests, said in ((room, "its room"), ("tests", "the whole suite"))[: 1 if rooms_only else 2]:
            if test := _first_failure(copy, tests):
                return CaughtRow(mutation.name, mutation.file, said, test, time.monotonic() - start)
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
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
    if not found:
        raise SystemExit(f"pytest ended with {run.returncode}:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    return found[1].rsplit("/", 1)[-1]


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
    parser.add_argument("--rooms", action="store_true", help="the tests of each mutation's room only")
    args = parser.parse_args(arguments)
    chosen = [m for m in MUTATIONS if not args.words or any(word in m.name for word in args.words)]
    console, rows = Console(), []
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        for mutation in chosen:
            rows.append(caught(mutation, copy, args.rooms))
            console.print(f"{mutation.name}: {rows[-1].caught}, {rows[-1].seconds:.0f} s", highlight=False)
    console.print(table(Benchmark("mutations", "mutations", "one line broken"), rows, {}))


if __name__ == "__main__":
    main()
