"""Ctrl-C and SIGTERM: the line, the exit code, and signals that come where nobody can raise."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sog.cli import app as cli_app
from sog.cli.app import main
from sog.cli.stopping import listening, say_kept
from sog.games import catalog

ROOT = Path(__file__).parents[2]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _listening() -> Iterator[None]:
    """Tests that run in a shell's background are born deaf to Ctrl-C, and their children with them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt(name: str) -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)


def test_ctrl_c_says_so(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(catalog, "make_game", interrupt)
    assert main(["solve", "kuhn_poker"]) == 130
    assert capsys.readouterr().err == "sog: stopped; this run kept nothing: the same command begins again\n"


def test_an_interrupt_that_a_compiled_import_turns_into_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def make_game(name: str) -> None:
        try:
            interrupt(name)
        except KeyboardInterrupt:
            raise ImportError("KeyboardInterrupt: <EMPTY MESSAGE>") from None

    monkeypatch.setattr(catalog, "make_game", make_game)
    assert main(["solve", "kuhn_poker"]) == 130
    assert capsys.readouterr().err.startswith("sog: stopped; ")


def test_an_interrupt_in_a_destructor_comes_again(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    class Dying:
        def __del__(self) -> None:
            interrupt("")

    def make_game(name: str) -> None:
        Dying()
        time.sleep(5)

    monkeypatch.setattr(catalog, "make_game", make_game)
    begun = time.monotonic()
    assert main(["solve", "kuhn_poker"]) == 130
    assert capsys.readouterr().err.startswith("sog: stopped; ")
    assert time.monotonic() - begun < 5


def test_sigterm_is_143(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def make_game(name: str) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    monkeypatch.setattr(catalog, "make_game", make_game)
    assert main(["solve", "kuhn_poker"]) == 143
    assert "stopped" in capsys.readouterr().err


def test_what_is_kept_is_said(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def run(words: list[str]) -> int:
        with say_kept(lambda: "x.npz holds 7 iterations"):
            raise KeyboardInterrupt

    monkeypatch.setattr(cli_app, "_run", run)
    assert main(["games"]) == 130
    assert capsys.readouterr().err == "sog: stopped; x.npz holds 7 iterations\n"


def test_the_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), sys.unraisablehook
    with listening():
        assert signal.getsignal(signal.SIGINT) is not before[0]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), sys.unraisablehook) == before


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["perft", "chess", "9"], "this run kept nothing"),
        (["train", "kuhn_poker", "--workers", "2", "--out", "run"], "run"),
        (["play", "kuhn_poker"], "this run kept nothing"),
    ],
    ids=["perft", "train", "play"],
)
def test_a_process_is_stopped_in_the_middle(words: list[str], kept: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "sog", *words]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        try:
            err = process.communicate(timeout=120)[1].decode()
        finally:
            process.kill()
    assert process.returncode == 130
    assert "sog: stopped; " in err and kept in err and "Traceback" not in err
