"""Systems without POSIX's locks, usage and waiting: what needs none of them works, the rest is refused in one line."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from sog.errors import SettingError
from sog.play.match import ContestantFault
from sog.protocols.engine_process import EngineProcess

# A program that lacks what Windows lacks of the modules and names that ours uses, as far as other packages run so.
_WITHOUT = """
import os, sys
for module in ("fcntl", "resource"):
    sys.modules[module] = None
for name in ("waitid", "sysconf", "pread", "pwrite", "memfd_create", "sched_getaffinity", "fchmod", "O_NOFOLLOW",
             "O_NONBLOCK", "O_CLOEXEC", "geteuid", "killpg"):
    delattr(os, name)
import sog
from sog.cli.app import main
sys.exit(main(sys.argv[1:]))
"""


def without(*said: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _WITHOUT, *said], cwd=folder, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize(
    "said",
    [
        "solve kuhn_poker --iterations 20 --json",
        "exploit leduc_poker -s 2 --json",
        "match leduc_poker random --game leduc_poker -s 2 --hands 4 --records hands.jsonl",
    ],
)
def test_what_needs_no_posix_works_without_it(said: str, tmp_path: Path) -> None:
    found = without(*said.split(), folder=tmp_path)
    assert found.returncode == 0, found.stderr


def test_training_without_file_locks_is_refused_in_one_line(tmp_path: Path) -> None:
    found = without("train", "kuhn_poker", "--out", "run", "--rounds", "1", folder=tmp_path)
    assert found.returncode == 2 and "file locks" in found.stderr.splitlines()[-1]
    assert not (tmp_path / "run").exists()


def test_engines_need_posix_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(os, "name", "nt")
        with suppress(SettingError):
            EngineProcess(["/bin/true"])
            pytest.fail("it started")


@pytest.mark.parametrize(("program", "how"), [("exit 3", "exit code 3"), ("kill -9 $$", "signal 9")])
def test_a_program_s_end_is_seen_where_nothing_waits_without_reaping(
    program: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """macOS has no waitid; a child that the program left behind is ended with it."""
    monkeypatch.delattr(os, "waitid")
    process = EngineProcess(["/bin/sh", "-c", f"sleep 1000 & echo $!; read line; {program}"])
    process.allow(60.0)
    child = int(process.line())
    process.say("go")
    with pytest.raises(ContestantFault, match=how):
        process.line()
    process.kill()
    for _ in range(1000):
        with suppress(ProcessLookupError):
            os.kill(child, 0)
            time.sleep(0.01)
            continue
        return
    pytest.fail("the child runs on")
