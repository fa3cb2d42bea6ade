"""Runs one machine's cases until a count or a time is reached, counts them by kind and keeps what each finding needs.

A machine is a function of a random generator that tries one case and names its kind; it raises `Finding` where the
program did what it must not. It knows nothing of the program.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

FOLDER: Final = Path("runs/fuzz")
EVERY: Final = 10.0  # seconds between two lines of progress


class Finding(Exception):
    """The program did what it must not. case: enough to try it again, kept in a file of its own."""

    def __init__(self, what: str, case: str) -> None:
        super().__init__(what)
        self.case = case


def arguments(machine: str) -> argparse.ArgumentParser:
    """The options that every machine has."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.fuzz.{machine}")
    parser.add_argument("--minutes", type=float, default=1.0, help="stop after so long")
    parser.add_argument("--count", type=int, default=None, help="or after so many cases")
    parser.add_argument("--seed", type=int, default=None, help="of the random cases (default: a new one, printed)")
    return parser


def hunt(machine: str, case: Callable[[random.Random], str], options: argparse.Namespace) -> int:
    """Try cases, print counts by kind as JSON on the last line; the exit code: 1 where there were findings.

    A finding does not end the hunt. Case k of a seed is the same whatever came before it.
    """
    seed = options.seed if options.seed is not None else random.randrange(2**32)
    begun = said = time.monotonic()
    kinds: Counter[str] = Counter()
    findings: list[str] = []
    while options.count is None or sum(kinds.values()) < options.count:
        now = time.monotonic()
        if now - begun > 60.0 * options.minutes:
            break
        if now - said > EVERY:
            said = now
            print(f"{machine}: {sum(kinds.values())} cases, {len(findings)} findings, {now - begun:.0f} s", flush=True)
        number = sum(kinds.values())
        try:
            kinds[case(random.Random(f"{seed}/{number}"))] += 1
        except Finding as finding:
            kinds["FINDING"] += 1
            findings.append(str(finding))
            print(f"{machine}: case {number} of seed {seed}: {finding}", file=sys.stderr, flush=True)
            FOLDER.mkdir(parents=True, exist_ok=True)
            (FOLDER / f"{machine}-{seed}-{number}.txt").write_text(finding.case, encoding="utf-8", errors="replace")
    seconds = round(time.monotonic() - begun, 1)
    total = sum(kinds.values())
    counts = {"machine": machine, "seed": seed, "cases": total, "seconds": seconds, "kinds": kinds}
    print(json.dumps({**counts, "findings": findings}))
    return 1 if findings else 0
