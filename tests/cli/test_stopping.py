"""Ctrl-C and SIGTERM: the line, the exit code, and signals that come where nobody can raise."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from sog.algorithms.policy.presets import PolicySettings
from sog.algorithms.sepot.learner import train_sepot
from sog.algorithms.table import settings_of
from sog.cli import app as cli_app
from sog.cli.app import main
from sog.cli.stopping import listening, stop_notice
from sog.games import catalog
from sog.games.catalog import make_history_game
from sog.training.run import Run, Until

ROOT = Path(__file__).parents[2]
Capture = pytest.CaptureFixture[str]
LONG = 60.0  # seconds that only a signal cuts short


@pytest.fixture(autouse=True)
def _listening() -> Iterator[None]:
    """Tests that run in a shell's background are born deaf to Ctrl-C, and their children with them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt(name: str) -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(LONG)


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


def test_an_interrupt_waits_for_a_compiled_module_to_be_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    loaded = []

    class Loading(ExtensionFileLoader):
        def exec_module(self, module: ModuleType) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            loaded.append(module)

    def make_game(name: str) -> None:
        Loading("compiled", "compiled.so").exec_module(ModuleType("compiled"))
        time.sleep(LONG)

    monkeypatch.setattr(catalog, "make_game", make_game)
    begun = time.monotonic()
    assert main(["solve", "kuhn_poker"]) == 130 and len(loaded) == 1
    assert capsys.readouterr().err.startswith("sog: stopped; ")
    assert time.monotonic() - begun < LONG


def test_an_interrupt_in_a_destructor_comes_again(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    class Dying:
        def __del__(self) -> None:
            interrupt("")

    def make_game(name: str) -> None:
        Dying()
        time.sleep(LONG)

    monkeypatch.setattr(catalog, "make_game", make_game)
    begun = time.monotonic()
    assert main(["solve", "kuhn_poker"]) == 130
    assert capsys.readouterr().err.startswith("sog: stopped; ")
    assert time.monotonic() - begun < LONG


def test_an_interrupt_that_somebody_drops_comes_again(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def make_game(name: str) -> None:
        for _ in range(3):
            try:
                os.kill(os.getpid(), signal.SIGINT) if _ == 0 else time.sleep(LONG)
                time.sleep(LONG)
            except BaseException as error:
                dropped.append(type(error).__mro__[1])
        time.sleep(LONG)

    dropped: list[type] = []
    monkeypatch.setattr(catalog, "make_game", make_game)
    begun = time.monotonic()
    assert main(["solve", "kuhn_poker"]) == 130
    assert capsys.readouterr().err.startswith("sog: stopped; ")
    assert dropped == [KeyboardInterrupt] * 3 and time.monotonic() - begun < LONG


def test_sigterm_is_143(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def make_game(name: str) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(LONG)

    monkeypatch.setattr(catalog, "make_game", make_game)
    assert main(["solve", "kuhn_poker"]) == 143
    assert "stopped" in capsys.readouterr().err


def test_what_is_kept_is_said(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def run(words: list[str]) -> int:
        with stop_notice(lambda: "x.npz holds 7 iterations"):
            raise KeyboardInterrupt

    monkeypatch.setattr(cli_app, "_run", run)
    assert main(["games"]) == 130
    assert capsys.readouterr().err == "sog: stopped; x.npz holds 7 iterations\n"


def test_the_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), sys.unraisablehook
    with listening():
        assert signal.getsignal(signal.SIGINT) is not before[0]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), sys.unraisablehook) == before


TOURNAMENT = """game = "tic_tac_toe"
rounds = 100000
[agents.a]
random = true
[agents.b]
random = true
"""
NOTHING = "this run kept nothing: the same command begins again"
AGAIN = "the same command"


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy network of Leduc poker with a critic, after one step."""
    out = tmp_path_factory.mktemp("policy") / "run"
    run = Run("leduc_poker", algorithm="sepot(network=1x8)")
    settings = settings_of(make_history_game(run.game), "demo", run.algorithm)
    assert isinstance(settings, PolicySettings)
    train_sepot(run, replace(settings, games=2, steps=1), out, Until(rounds=1))
    return out


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("perft chess 9", NOTHING),
        ("train kuhn_poker --rounds 1000000 --workers 2 --out run", AGAIN),
        ("train kuhn_poker --rounds 1000000 --cluster local:2 --out run", AGAIN),
        ("train kuhn_poker --rounds 1000000 --asynchronous --workers 2 --out run", AGAIN),
        ("train leduc_poker --algorithm rnad --rounds 1000000 --out run", AGAIN),
        ("train leduc_poker --algorithm sepot --rounds 1000000 --out run", AGAIN),
        ("exploit POLICY --algorithm rnad --best-response learned(updates=1000000)", NOTHING),
        ("distil POLICY --steps 1000000000 --out run", NOTHING),
        ("exploit leduc_poker --seeds 10000 --workers 2", NOTHING),
        ("exploit liars_dice(numdice=2,dice_sides=6) --algorithm sog(leaves=zero)", NOTHING),
        ("solve leduc_poker --iterations 1000000000", NOTHING),
        ("reproduce resolving --workers 2", AGAIN),
        ("bench search leduc_poker --rounds 1000", NOTHING),
        ("bench inference --seconds 100", NOTHING),
        ("tournament matches.toml --out out", AGAIN),
        ("tournament matches.toml --cluster local:2 --out out", AGAIN),
        ("play kuhn_poker", NOTHING),
        ("gtp", NOTHING),
    ],
)
def test_a_process_is_stopped_in_the_middle(words: str, kept: str, policy: Path, tmp_path: Path) -> None:
    """It says what is kept, and nothing that it started lives on."""
    (tmp_path / "matches.toml").write_text(TOURNAMENT)
    token = tmp_path.as_uri()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SOG_TEST_TOKEN": token}
    command = [sys.executable, "-m", "sog", *(str(policy) if word == "POLICY" else word for word in words.split())]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        try:
            err = process.communicate(timeout=120)[1].decode()
        finally:
            process.kill()
    assert process.returncode == 130, err
    assert "sog: stopped; " in err and kept in err and "Traceback" not in err
    deadline = time.monotonic() + 10
    while (left := having(token)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left


def having(token: str) -> list[str]:
    """The processes that live and have the token in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if token.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


TINY = "sog(network=1x8,simulations=2,games=2)"
TRAIN = ["train", "kuhn_poker", "--algorithm", TINY, "--rounds", "1", "--workers", "1"]


def test_a_preset_that_ends_before_its_minutes_says_so(tmp_path: Path, capsys: Capture) -> None:
    once = ["train", "kuhn_poker", "--algorithm", TINY.replace(")", ",rounds=1)"), "--workers", "1", "--minutes", "5"]
    assert main([*once, "--out", str(tmp_path / "run")]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "the preset demo ends after 1 round, before --minutes 5; --rounds or --preset full makes it longer" in said
    # Where --rounds ended it the preset did not.
    assert main([*TRAIN, "--minutes", "5", "--out", str(tmp_path / "again")]) == 0
    assert "ends after" not in capsys.readouterr().err


def test_a_signal_while_the_picture_is_drawn_loses_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr("sog.cli.train.draw_curve", lambda folder, *rest: interrupt("here"))
    assert main([*TRAIN, "--out", str(tmp_path / "run")]) == 130
    assert "run is complete; curve.png may be missing" in capsys.readouterr().err
    assert (tmp_path / "run" / "checkpoint" / "meta.json").exists()


def test_a_signal_before_a_run_is_resumed_says_that_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    assert main([*TRAIN, "--out", str(tmp_path / "run")]) == 0
    monkeypatch.setattr("sog.cli.train._algorithm", lambda *given: interrupt("here"))
    assert main([*TRAIN, "--resume", "--out", str(tmp_path / "run")]) == 130
    assert "run is kept: the same command with --resume continues from there" in capsys.readouterr().err


def test_a_signal_while_elo_is_drawn_loses_no_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    text = 'game = "tic_tac_toe"\nrounds = 1\n[agents.a]\nrandom = true\n[agents.b]\nrandom = true\n'
    (tmp_path / "two.toml").write_text(text)
    monkeypatch.setattr("sog.cli.tournament._plot", lambda *given: interrupt("here"))
    assert main(["tournament", str(tmp_path / "two.toml")]) == 130
    said = " ".join(capsys.readouterr().err.split())
    assert "all games are kept in" in said and "elo.png may be missing" in said
