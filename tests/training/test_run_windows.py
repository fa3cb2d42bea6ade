"""The replay window of a run: how large it is, who says so, and what a run does whose rows were damaged."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sog.algorithms.table import settings_of
from sog.cli.app import main
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_game
from sog.training import checkpoint
from sog.training import memory as needs
from sog.training.run import Hooks, Run, Until
from sog.training.self_play import train
from sog.training.settings import TrainSettings

Capture = pytest.CaptureFixture[str]

TINY = "sog(games=4,network=1x8,td1=1.0)"


def settings(algorithm: str) -> TrainSettings:
    found = settings_of(make_game("kuhn_poker"), "demo", algorithm)
    assert isinstance(found, TrainSettings)
    return found


def trained(out: Path, algorithm: str, rounds: int = 1, resume: bool = False) -> list[str]:
    """A run's notes."""
    notes: list[str] = []
    run = Run("kuhn_poker", algorithm=algorithm)
    train(run, settings(algorithm), out, Until(rounds=rounds), resume, Hooks(note=notes.append))
    return notes


def window_of(out: Path) -> dict[str, object]:
    state = checkpoint.load_state(out / "checkpoint")["replay"]
    assert isinstance(state, dict)
    return state


def test_rows_and_bytes_are_settings_of_the_algorithm() -> None:
    assert settings("sog(replay=200)").replay == 200
    assert settings("sog(replay_bytes=5000000000)").replay_bytes == 5_000_000_000
    assert settings("rebel(replay_bytes=7000)").replay_bytes == 7_000
    assert settings("sog").replay_bytes == 0


@pytest.mark.parametrize(("setting", "rows"), [("replay=9", 9), ("replay_bytes=400", 20)])
def test_a_window_is_as_large_as_it_was_set(setting: str, rows: int, tmp_path: Path) -> None:
    """A row of Kuhn poker takes 21 bytes or more."""
    trained(tmp_path / "run", f"sog(games=16,network=1x8,td1=1.0,{setting})", 2)
    window = window_of(tmp_path / "run")
    added, oldest = window["added"], window["oldest"]
    assert isinstance(added, int) and isinstance(oldest, int)
    assert 0 < added - oldest <= rows < added


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("replay_bytes=-1", "replay_bytes must not be negative"),
        ("replay=0", "the replay window must hold at least one"),
    ],
)
def test_a_window_of_nothing_is_refused(setting: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=says):
        trained(tmp_path / "run", f"sog({setting})")


def test_a_new_run_says_how_large_its_window_may_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Half of the free memory, as when the run began: a resumed run keeps what its first process chose."""
    monkeypatch.setattr(needs, "available_bytes", lambda: 6_000_000_000)
    monkeypatch.setattr(needs, "free_on_disk", lambda folder: 10**12)
    (said,) = trained(tmp_path / "run", TINY)
    rows = f"{settings(TINY).replay:,}"
    assert said == (
        f"the replay window has room for the newest {rows} rows, or as many of them as fit in 3 GB, "
        "which replay_bytes sets"
    )
    monkeypatch.setattr(needs, "available_bytes", lambda: 1)
    assert trained(tmp_path / "run", TINY, 2, resume=True) == []
    assert checkpoint.load_meta(tmp_path / "run" / "checkpoint").settings["window_bytes"] == 3_000_000_000
    assert trained(tmp_path / "set", TINY.replace(")", ",replay_bytes=10000)")) == []


def test_a_small_disk_bounds_the_window(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(needs, "available_bytes", lambda: 6_000_000_000)
    monkeypatch.setattr(needs, "free_on_disk", lambda folder: 1_000_000_000)
    assert needs.free_for_window(tmp_path / "not" / "there") == 500_000_000


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 1)


def alter(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("spoil", [cut, alter, Path.unlink])
def test_a_run_with_damaged_rows_is_refused_in_one_line(
    spoil: Callable[[Path], None], tmp_path: Path, capsys: Capture
) -> None:
    """Nothing of it changes; its network can still be loaded."""
    words = ["train", "kuhn_poker", "--algorithm", TINY, "--workers", "1", "--out", str(tmp_path / "run")]
    assert main([*words, "--rounds", "1"]) == 0
    folder = tmp_path / "run" / "checkpoint"
    spoil(folder / "rows.1.bin")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    assert main([*words, "--rounds", "2", "--resume"]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "rows.1.bin" in said and ("is truncated or was changed" in said or "cannot be read" in said)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    checkpoint.load_network(folder)
    with pytest.raises(CheckpointError, match=r"rows\.1\.bin"):
        trained(tmp_path / "run", TINY, 2, resume=True)
