"""Compiling is timed, said once, left out of rates, and done once for all games."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sog.searches.kernels import compiling
from sog.searches.kernels.compiling import NOTE, WATCH, CompileWatch, note_once, working_time

Capture = pytest.CaptureFixture[str]


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_watch_counts_what_compiles_inside_only_once() -> None:
    clock = Clock()
    watch = CompileWatch(clock)
    watch.begin()
    clock.now += 1.0
    watch.begin()
    clock.now += 2.0
    assert watch.seconds() == 3.0
    watch.end()
    clock.now += 4.0
    watch.end()
    clock.now += 50.0
    assert watch.seconds() == 7.0 and watch.kernels == 1
    watch.add(5.0)
    assert watch.seconds() == 12.0


def test_working_time_stands_still_while_kernels_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    watch = CompileWatch(clock)
    monkeypatch.setattr(compiling, "WATCH", watch)
    monkeypatch.setattr(compiling.time, "monotonic", clock)
    before = working_time()
    watch.begin()
    clock.now += 30.0
    assert working_time() == before
    watch.end()
    clock.now += 2.0
    assert working_time() == before + 2.0


def test_long_compiling_is_noted_once_a_command_on_stderr(capsys: Capture) -> None:
    clock = Clock()
    first, second = CompileWatch(clock), CompileWatch(clock)  # a process and its worker
    with note_once():
        _compile(first, clock, 1.0)
        assert capsys.readouterr().err == ""
        for watch in (first, second, first):
            _compile(watch, clock, 3.0)
        printed = capsys.readouterr()
        assert printed.err == f"sog: {NOTE}\n" and printed.out == ""
    _compile(CompileWatch(clock), clock, 3.0)
    assert capsys.readouterr().err == ""


def test_what_compiled_before_a_command_is_not_its_own() -> None:
    WATCH.add(10.0)
    with note_once():
        assert WATCH.patience == pytest.approx(WATCH.seconds() + compiling.PATIENCE)


def _compile(watch: CompileWatch, clock: Clock, seconds: float) -> None:
    watch.begin()
    clock.now += seconds
    watch.end()


# What a program that has run kernels says of them: how many forms each has, of those for Python and of all.
_COUNT = """
import json, sys
from sog.cli.app import main
from sog.searches.kernels.compiling import WATCH
from sog.searches.kernels.parts import KernelEntry, KernelPart

def forms(kinds):
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("sog.")]
    found = [getattr(x, "kernel", x) for module in modules for x in vars(module).values()]
    found = [x for x in found if isinstance(x, (KernelEntry, KernelPart))]
    found += [x.part for x in found if isinstance(x, KernelEntry)]
    return {f"{x.__module__}.{x.__name__}": len(x.overloads) for x in found if isinstance(x, kinds) and x.overloads}
"""

# For callers that count nodes with unsigned numbers, and for numbers beside registers of them.
_TWO_FORMS = {f"sog.searches.cfr.matching.{name}" for name in ("match_regrets", "action_open", "regret_step")}


def test_a_second_game_compiles_nothing(tmp_path: Path) -> None:
    """With an empty cache: Leduc runs what Kuhn poker had compiled, and no kernel of theirs has a second form."""
    found = _ask(
        """
main(["solve", "kuhn_poker", "--iterations", "3", "--json"])
first = WATCH.kernels
main(["solve", "leduc_poker", "--iterations", "3", "--json"])
print(json.dumps([first, WATCH.kernels - first, forms((KernelEntry, KernelPart))]))
""",
        {"NUMBA_CACHE_DIR": str(tmp_path)},
    )
    first, more, forms = found
    assert first >= 5 and more == 0
    assert forms["sog.searches.cfr.iterate.iterate"] == 1
    assert {name for name, count in forms.items() if count > 1} <= _TWO_FORMS


def test_each_kernel_that_python_calls_has_one_form() -> None:
    """In all that `sog compile` does: solving, searching, training, cards, boards."""
    found = _ask(
        """
main(["compile", "--json"])
print(json.dumps(forms(KernelEntry)))
""",
        {},
    )
    assert len(found) >= 20
    assert {name for name, count in found.items() if count > 1} == set()


def _ask(program: str, environment: dict[str, str]) -> Any:
    """What the program prints last, as JSON."""
    run = subprocess.run(
        [sys.executable, "-c", _COUNT + program], env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])
