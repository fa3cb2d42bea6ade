"""A pipe that its reader has closed ends every command quietly, whichever of stdout and stderr it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

MAIN = [sys.executable, "-m", "sog.cli.app"]
# What makes the command print its progress at once.
EAGER = "import sys, sog.cli.frame as f; f._LINE_SECONDS = f._FIRST_LINE_SECONDS = {}; "
EAGER += "import sog.cli.app as a; sys.exit(a.main(['solve', 'kuhn_poker', '--json']))"


@pytest.fixture
def closed() -> Iterator[int]:
    """A pipe that can be written to, which nobody reads."""
    reads, writes = os.pipe()
    os.close(reads)
    yield writes
    os.close(writes)


@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "solve --help",
        "bench --help",
        "--version",
        "games",
        "games --json",
        "algorithms rebel",
        "solve kuhn_poker --algorithm list",
        "solve kuhn_poker --json",
        "perft chess 2",
        "play leduc_poker --seat 0",
    ],
)
def test_a_closed_stdout_ends_the_command_without_a_word(words: str, closed: int) -> None:
    done = subprocess.run([*MAIN, *words.split()], input=b"", stdout=closed, stderr=subprocess.PIPE)
    assert (done.returncode, _own_words(done.stderr)) == (1, [])


def test_a_closed_stderr_takes_nothing_from_the_exit_code(closed: int) -> None:
    done = subprocess.run([*MAIN, "solve", "nothing"], stdout=subprocess.PIPE, stderr=closed)
    assert (done.returncode, done.stdout) == (2, b"")


def test_progress_that_nobody_reads_ends_the_command(closed: int) -> None:
    done = subprocess.run([sys.executable, "-c", EAGER.format(0.0)], stdout=subprocess.PIPE, stderr=closed)
    assert (done.returncode, done.stdout) == (1, b"")


def test_a_note_from_another_thread_that_nobody_reads_costs_no_result(closed: int) -> None:
    """Rich would send stdout to /dev/null, and the command would end with 0."""
    code = EAGER.format("60.0; f._FIRST_LINE_SECONDS = 0.0")
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=closed)
    assert done.returncode == 0 and json.loads(done.stdout)["game"] == "kuhn_poker"


def _own_words(said: bytes) -> list[str]:
    """What was said on stderr but for the note that kernels are compiled, which the first run prints."""
    return [line for line in said.decode().splitlines() if "compiling kernels" not in line]
