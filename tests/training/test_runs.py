"""A run's folder: one training at a time in it, and a folder or disk that cannot be written to costs no checkpoint."""

from __future__ import annotations

import ctypes
import io
import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from sog.algorithms.table import settings_of
from sog.cli.app import main
from sog.cli.event_log import EventLog
from sog.cli.train_watch import Watch
from sog.errors import CheckpointError
from sog.games.catalog import make_game
from sog.training import checkpoint, self_play
from sog.training.curve import Point, write_curve
from sog.training.lock import held
from sog.training.run import Hooks, Run, Until
from sog.training.self_play import train
from sog.training.settings import TrainSettings

RUN = Run("kuhn_poker", algorithm="sog(network=1x8)")


@pytest.fixture(scope="module")
def tiny() -> TrainSettings:
    settings = settings_of(make_game(RUN.game), RUN.preset, RUN.algorithm)
    return replace(settings, games=2, replay=200, learner=replace(settings.learner, batch=16, updates_per_example=0.2))


def silent(text: str) -> None:
    raise AssertionError(text)


def in_a_child(work: Callable[[Any], None]) -> Any:
    """What a forked process sends back."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=work, args=(theirs,))
    process.start()
    assert ours.poll(60)
    answer = ours.recv()
    return process, answer


def test_two_trainings_in_one_folder(tmp_path: Path, tiny: TrainSettings) -> None:
    """The second is refused and told whose the folder is; nothing of the first is touched."""
    out = tmp_path / "run"
    with held(out, silent):
        owner = rf"process {os.getpid()} on .*, since 20.* is training there already"
        with pytest.raises(CheckpointError, match=owner):
            train(RUN, tiny, out, Until(rounds=1))
        assert os.listdir(out) == ["lock"]
    assert not out.exists()
    train(RUN, tiny, out, Until(rounds=1))
    assert "lock" not in os.listdir(out)


def test_a_killed_owner_blocks_nobody(tmp_path: Path) -> None:
    out = tmp_path / "run"

    def hold(pipe: Any) -> None:
        with held(out, silent):
            pipe.send("held")
            signal.pause()

    process, _ = in_a_child(hold)
    with pytest.raises(CheckpointError, match=f"process {process.pid} on"), held(out, silent):
        pass
    process.kill()
    process.join()
    assert (out / "lock").exists()
    with held(out, silent):
        assert f"process {os.getpid()} " in (out / "lock").read_text()
    assert not (out / "lock").exists()


def test_an_empty_folder_to_resume_is_told_of(tmp_path: Path, tiny: TrainSettings) -> None:
    told: list[str] = []
    train(RUN, tiny, tmp_path, Until(rounds=1), resume=True, hooks=Hooks(note=told.append))
    assert told[0] == f"{tmp_path} holds no training run yet: a new one begins there"
    assert len(told) == 2 and told[1].startswith("the replay window has room")
    train(RUN, tiny, tmp_path, Until(rounds=2), resume=True, hooks=Hooks(note=silent))


@pytest.mark.parametrize(("was", "then", "said"), [(", games=2,", ",", False), (", games=2,", ", games=3,", True)])
def test_a_setting_that_a_run_had_not_yet_is_no_change(
    was: str, then: str, said: bool, tmp_path: Path, tiny: TrainSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later version of the program has more settings; only one with another value changes the preset."""
    real = self_play.describe

    def older(*args: Any) -> dict[str, Any]:
        found = real(*args)
        assert was in found["made_of"]
        return {**found, "made_of": found["made_of"].replace(was, then)}

    monkeypatch.setattr(self_play, "describe", older)
    train(RUN, tiny, tmp_path, Until(rounds=1))
    told: list[str] = []
    train(RUN, tiny, tmp_path, Until(rounds=1), resume=True, hooks=Hooks(note=told.append))
    assert any("has changed since" in text for text in told) == said


def test_a_part_of_a_first_save_can_be_gone_on_from(tmp_path: Path) -> None:
    """Killed before its first checkpoint was whole, a run begins again, on the command line too."""
    (tmp_path / "run" / "checkpoint").mkdir(parents=True)
    (tmp_path / "run" / "checkpoint" / "network.1.safetensors").write_bytes(b"half")
    line = ("train", "kuhn_poker", "--algorithm", "sog(network=1x8)", "--rounds", "1", "--workers", "1", "--resume")
    ended = command(*line, "--out", str(tmp_path / "run"))
    assert ended.returncode == 0, ended.stderr
    assert "holds no training run yet" in ended.stderr
    assert (tmp_path / "run" / "checkpoint" / "meta.json").exists()


def test_a_run_without_a_checkpoint_yet_is_not_another_ones(tmp_path: Path) -> None:
    """Killed after its first snapshot: another seed is refused before anything is said to begin."""
    line = ("train", "kuhn_poker", "--algorithm", "sog(network=1x8)", "--rounds", "1", "--workers", "1")
    assert command(*line, "--out", str(tmp_path / "run")).returncode == 0
    shutil.rmtree(tmp_path / "run" / "checkpoint")
    for name in ("curve.csv", "curve.png"):
        (tmp_path / "run" / name).unlink()
    ended = command(*line, "--resume", "--seed", "5", "--out", str(tmp_path / "run"))
    assert ended.returncode == 2 and "holds the run" in ended.stderr and "begins there" not in ended.stderr
    assert command(*line, "--resume", "--out", str(tmp_path / "run")).returncode == 0


def test_a_linked_checkpoint_is_not_written_to(tmp_path: Path) -> None:
    line = ("train", "kuhn_poker", "--algorithm", "sog(network=1x8)", "--rounds", "1", "--workers", "1")
    assert command(*line, "--out", str(tmp_path / "run")).returncode == 0
    (tmp_path / "run" / "checkpoint").rename(tmp_path / "elsewhere")
    (tmp_path / "run" / "checkpoint").symlink_to(tmp_path / "elsewhere")
    before = sorted(path.name for path in (tmp_path / "elsewhere").iterdir())
    ended = command(*line[:5], "2", *line[6:], "--resume", "--out", str(tmp_path / "run"))
    assert ended.returncode == 2 and "is a link to another folder; nothing was written" in ended.stderr
    assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == before


def test_a_run_that_goes_on_began_with_one_network(tmp_path: Path) -> None:
    """Another --from than it had is refused, the same one and none are not."""
    words = "train", "kuhn_poker", "--algorithm", "sog(network=1x8)", "--workers", "1"
    first, second = (str(tmp_path / name) for name in ("first", "second"))
    assert command(*words, "--rounds", "1", "--out", first).returncode == 0
    assert command(*words, "--rounds", "1", "--out", second, "--from", first).returncode == 0
    again = [*words, "--rounds", "2", "--resume"]
    assert command(*again, "--out", second, "--from", first).returncode == 0
    for out, begins, said in ((second, second, "began with first/checkpoint"), (first, second, "began with a new net")):
        ended = command(*again, "--out", out, "--from", begins)
        assert ended.returncode == 2 and said in ended.stderr


def test_sigterm_saves_the_round_and_ends_the_command(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ("train", "kuhn_poker", "--algorithm", "sog(network=1x8)", "--rounds", "99999", "--workers", "1")
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=run_bound, args=(theirs, [*words, "--out", str(out)]))
    process.start()
    deadline = time.monotonic() + 120
    while not (out / "snapshots" / "000004").is_dir() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.terminate()
    assert ours.poll(60)
    ended = ours.recv()
    process.join()
    assert ended.returncode == 143 and "--resume continues from there" in ended.stderr
    assert checkpoint.load_meta(out / "checkpoint").settings["round"] >= 4 and not (out / "lock").exists()


@pytest.mark.parametrize("name", ["curve.csv", "curve.png"])
def test_a_curve_of_somebody_elses_is_not_replaced(tmp_path: Path, tiny: TrainSettings, name: str) -> None:
    """In a folder that holds no run; with --resume neither."""
    (tmp_path / name).write_text("mine")
    for resume in (False, True):
        with pytest.raises(CheckpointError, match=f"{name} is of no training run here"):
            train(Run("kuhn_poker"), tiny, tmp_path, resume=resume)
    assert (tmp_path / name).read_text() == "mine" and not (tmp_path / "checkpoint").exists()


def test_the_curve_is_a_folder(tmp_path: Path, tiny: TrainSettings) -> None:
    """Refused before a round is played; the checkpoint stays as it is."""
    train(RUN, tiny, tmp_path, Until(rounds=1))
    before = (tmp_path / "checkpoint" / "meta.json").read_bytes()
    (tmp_path / "curve.csv").unlink()
    (tmp_path / "curve.csv").mkdir()
    with pytest.raises(CheckpointError, match=r"curve\.csv is a folder"):
        train(RUN, tiny, tmp_path, Until(rounds=2), resume=True)
    assert (tmp_path / "checkpoint" / "meta.json").read_bytes() == before
    with pytest.raises(CheckpointError, match="cannot be written: Is a directory"):
        write_curve(tmp_path / "curve.csv", [])


def test_a_full_disk_in_a_save(tmp_path: Path, tiny: TrainSettings) -> None:
    """At each size of file the disk can be full: the last checkpoint and curve are whole, no half file is left."""
    train(RUN, tiny, tmp_path, Until(rounds=1))
    names = sorted(os.listdir(tmp_path / "checkpoint"))
    curve = (tmp_path / "curve.csv").read_bytes()
    sizes = sorted({path.stat().st_size for path in (tmp_path / "checkpoint").iterdir()})
    for limit in (200, sizes[0], sizes[1], sizes[-1] - 100):  # from 200 on, which the lock's line needs

        def fill(pipe: Any, limit: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            try:
                train(RUN, tiny, tmp_path, Until(rounds=2), resume=True)
                pipe.send("no error")
            except BaseException as error:
                pipe.send(f"{type(error).__name__}: {error}")

        process, said = in_a_child(fill)
        process.join()
        assert said.startswith("CheckpointError") and "cannot be written: File too large" in said
        assert sorted(os.listdir(tmp_path / "checkpoint")) == names
        assert checkpoint.load_state(tmp_path / "checkpoint")["round"] == 1
        assert (tmp_path / "curve.csv").read_bytes() == curve
        checkpoint.load_network(tmp_path / "checkpoint")


def test_a_read_only_folder(tmp_path: Path, tiny: TrainSettings) -> None:
    """One line and exit 2, on the command line, where figures for TensorBoard are written too."""
    out = tmp_path / "run"
    train(RUN, settings_of(make_game(RUN.game), RUN.preset, RUN.algorithm), out, Until(rounds=1))
    for folder in (out, *(path for path in out.rglob("*") if path.is_dir())):
        folder.chmod(0o555)
    words = ("train", "kuhn_poker", "--algorithm", "sog(network=1x8)", "--rounds", "2", "--workers", "1", "--resume")
    try:
        ended = command(*words, "--out", str(out))
    finally:
        for folder in (out, *(path for path in out.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
    assert ended.returncode == 2 and ended.stdout == ""
    assert ended.stderr == f"sog: {out} cannot be written: Permission denied\n"


def test_a_folder_below_one_that_may_not_be_entered(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o000)
    words = ("train", "kuhn_poker", "--algorithm", "sog(network=1x8)", "--rounds", "1", "--workers", "1")
    ended = command(*words, "--out", str(tmp_path / "closed" / "run"))
    assert ended.returncode == 2
    assert ended.stderr == f"sog: {tmp_path}/closed/run cannot be written: Permission denied\n"


class Ended(NamedTuple):
    """What a command left: its exit code and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def command(*words: str) -> Ended:
    """A command of ours in a fork."""
    process, ended = in_a_child(partial(run_bound, words=words))
    process.join()
    assert isinstance(ended, Ended)
    return ended


def run_bound(pipe: Any, words: Sequence[str]) -> None:
    """Run a command in a process that folders' permissions bind, also where the tests are run by root."""
    no_privileges = (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), no_privileges) == 0
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(words)
    pipe.send(Ended(code, out.getvalue(), err.getvalue()))


def test_figures_for_tensorboard(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "tensorboard", silent)
    log.add(1, {"value_loss": 0.5})
    log.add(7, {"value_loss": 0.25, "rows": 3.0})
    found = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [(event.step, event.value) for event in found.Scalars("value_loss")] == [(1, 0.5), (7, 0.25)]
    log.close()


@pytest.mark.parametrize("installed", [True, False])
def test_a_round_s_figures_go_to_tensorboard_where_it_is_installed(
    tmp_path: Path, installed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without it nothing is written and nothing is said."""
    if not installed:
        monkeypatch.setitem(sys.modules, "tensorboard", None)
    watch = Watch(make_game("kuhn_poker"), tmp_path, lambda done, note: None, Run("kuhn_poker"))
    for number, minutes in ((1, 1.0), (2, 3.0)):
        watch.report(Point(number, minutes, 10 * number, 100, 4, 90, 30, 0.5, 0.25), 2)
    watch.close()
    assert (tmp_path / "tensorboard").exists() == installed and capsys.readouterr().err == ""
    if installed:
        found = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
        assert [(event.step, event.value) for event in found.Scalars("games")] == [(10, 4.0), (20, 4.0)]
        assert [(event.step, event.value) for event in found.Scalars("searches a second")] == [(20, 1.0)]
        assert "measured" not in found.Tags()["scalars"]  # it was not


@pytest.mark.parametrize("place", ["file", "full"])
def test_figures_that_cannot_be_written_are_given_up(tmp_path: Path, place: str) -> None:
    """Said once, in this thread; whatever comes after is left out."""
    told: list[str] = []
    if place == "file":
        (tmp_path / "tensorboard").write_text("in the way")
    log = EventLog(tmp_path / "tensorboard", told.append)
    if place == "full":
        os.dup2(os.open("/dev/full", os.O_WRONLY), log._file.fileno())  # type: ignore[union-attr]
    for step in range(3):
        log.add(step, {"rows": 1.0})
    log.close()
    assert len(told) == 1 and "no figures for TensorBoard from here on: " in told[0]


_HIRING = """
import json
from dataclasses import replace
from functools import partial
from tests.training.test_workers import STAYS, TINY, WEIGHTS
from sog.training.workers import hire
if __name__ == "__main__":
    with hire("kuhn_poker", replace(TINY, games=10**9), 5, 2) as crew:
        crew.start(WEIGHTS, 0)
        print(json.dumps([player.process() for player in crew.players]), flush=True)
        crew.harvest(STAYS)
"""


@pytest.mark.parametrize("worked", [0.0, 4.0])
def test_workers_die_with_the_learner(worked: float) -> None:
    """Killed while its workers still import (after 0 s of their time), or are in a round that takes for ever."""
    learner = subprocess.Popen([sys.executable, "-c", _HIRING], stdout=subprocess.PIPE, text=True)
    assert learner.stdout is not None
    workers = json.loads(learner.stdout.readline())
    try:
        deadline = time.monotonic() + 100
        while min(processor_seconds(worker) for worker in workers) < worked:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert all(alive(worker) for worker in workers)
        learner.kill()
        learner.wait()
        deadline = time.monotonic() + 60
        while any(alive(worker) for worker in workers) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not any(alive(worker) for worker in workers)
    finally:
        for worker in filter(alive, workers):
            os.kill(worker, signal.SIGKILL)


def stat(process: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on; none where it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def alive(process: int) -> bool:
    return bool(stat(process)) and stat(process)[0] not in "ZX"


def processor_seconds(process: int) -> float:
    fields = stat(process)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0
