"""A process's memory is looked at until it ends; a process that does not run is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

from soglab.checks import memory_over_time

HOLDS = "import time; held = bytearray(b'1') * 60_000_000; time.sleep(1.5)"


def test_a_process_is_watched_to_its_end() -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDS]) as running:
        looks = memory_over_time.watched(running.pid, 0.2)
    assert len(looks) > 2 and 0.06 < max(held for _, held in looks) < 0.12
    assert [minutes for minutes, _ in looks] == sorted(minutes for minutes, _ in looks)


def test_a_process_that_does_not_run_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["memory_over_time", "4194999"])
    with pytest.raises(SystemExit) as ended:
        memory_over_time.main()
    assert ended.value.code == 2 and "no process 4194999" in capsys.readouterr().err
