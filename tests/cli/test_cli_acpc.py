"""`sog dealer`, `sog acpc` and `sog phh`: a match, a killed one, files of hands, one line for what is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from sog.cli.app import main
from sog.protocols import acpc_client
from sog.protocols.acpc_client import AcpcClient
from sog.protocols.acpc_states import REVERSE_BLINDS, read_game
from tests.protocols.acpc_table import calls, log_of

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def game_file(tmp_path: Path) -> Path:
    path = tmp_path / "holdem.game"
    assert main(["dealer", "--write-game-file", str(path)]) == 0
    return path


def started(*words: str | Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "sog", *map(str, words)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def dealing(game_file: Path, *words: str | Path) -> tuple[subprocess.Popen[str], list[str]]:
    """A dealer's process and its ports."""
    process = started("dealer", "night", game_file, "40", "3", "A", "B", "--start-timeout", "120000", *words)
    assert process.stdout is not None
    ports = process.stdout.readline().split()
    assert len(ports) == 2
    return process, ports


def test_the_game_file_is_the_usual_one(game_file: Path, capsys: Capture) -> None:
    assert read_game(game_file.read_text()) == REVERSE_BLINDS
    assert main(["dealer", "--write-game-file", str(game_file)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_a_killed_match_is_resumed(game_file: Path, tmp_path: Path, capsys: Capture) -> None:
    """Three processes; the dealer is killed in mid-match, and begun again with two new clients."""
    log, actions = tmp_path / "night.log", tmp_path / "night.actions"
    files = ("--log", log, "--transactions", actions)
    dealer, ports = dealing(game_file, *files)
    clients = [
        started("acpc", name, "--port", port) for name, port in zip(("always-call", "random"), ports, strict=True)
    ]
    deadline = time.monotonic() + 120
    while actions.read_bytes().count(b"\n") < 40 and time.monotonic() < deadline:
        time.sleep(0.005)
    dealer.send_signal(signal.SIGKILL)
    for process in (dealer, *clients):
        process.communicate(timeout=60)
    played = log.read_text().count("STATE")
    dealer, ports = dealing(game_file, *files, "--resume")
    clients = [started("acpc", "always-call", "--port", port, "--json") for port in ports]
    answers = [json.loads(client.communicate(timeout=120)[0]) for client in clients]
    out, err = dealer.communicate(timeout=60)
    assert dealer.returncode == 0 and "sog: " not in err
    lines = log.read_text().splitlines()
    assert [line.split(":")[1] for line in lines if line.startswith("STATE")] == [str(k) for k in range(40)]
    assert out.splitlines()[-1] == lines[-1] and lines[-1].startswith("SCORE:")
    assert answers[0]["hands"] == answers[1]["hands"] and 40 - played <= answers[0]["hands"] <= 41 - played
    assert answers[0]["mean"] == -answers[1]["mean"]
    assert main(["phh", str(log), "--out", str(tmp_path / "night.phhs"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["hands"] == 40
    assert lines[-1] == f"SCORE:{found['chips']['A']}|{found['chips']['B']}:A|B"
    assert main(["show", str(tmp_path / "night.phhs"), "--hand", "39", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hand"] == 39


def test_what_is_won_is_said_in_chips_and_in_big_blinds(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A dealer's blinds are 50 and 100 chips: 37.5 chips a hand are 375 thousandths of the big one."""

    def serve(client: AcpcClient, link: object) -> Iterator[int]:
        client.won.update({0: 100, 1: -25})
        yield 2

    monkeypatch.setattr(acpc_client, "connected", lambda host, port, seconds: nullcontext())
    monkeypatch.setattr(AcpcClient, "serve", serve)
    assert main(["acpc", "always-call", "--port", "9"]) == 0
    assert "37.5 ± 790 (375 ± 7900 mbb/h)" in " ".join(capsys.readouterr().out.split())


def test_a_hand_history_is_shown(tmp_path: Path, capsys: Capture) -> None:
    log, history = tmp_path / "x" / "a.log", tmp_path / "one.phh"
    log.parent.mkdir()
    log.write_text(log_of(log.parent, calls, calls, hands=1))
    assert main(["phh", str(log), "--out", str(history)]) == 0
    assert "1, as PokerKit plays them" in capsys.readouterr().out
    assert main(["show", str(history)]) == 0
    out = capsys.readouterr().out
    assert "big blind, stack 20,000" in out and "call, check" in out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["dealer", "m", "{}", "9", "0", "A", "B", "--ports", "1"], "--ports are two numbers"),
        (["dealer", "m", "{}", "9", "0", "A", "B", "--ports", "1,99999"], "--ports are two numbers"),
        (["dealer", "m", "{}", "9", "0", "A", "B", "--resume"], "name that file"),
        (["dealer", "m", "{}", "9", "0", "A:", "B"], "a log has no name"),
        (["dealer", "m", "{}", "0", "0", "A", "B"], "'hands'"),
        (["dealer", "m", "{}", "9", "0", "A", "B", "--log", "{}"], "exists already"),
        (["dealer", "m", "{}", "9", "0", "A", "B", "--host", "no host"], "cannot listen at no host"),
        (["dealer", "m", "{}", "9", "0", "A", "B", "--start-timeout", "10"], "A has not connected in time"),
        (["dealer", "m", "nothing.game", "9", "0", "A", "B"], "cannot read nothing.game"),
        (["acpc", "always-call", "--port", "0"], "'--port'"),
        (["acpc", "always-call", "--port", "9", "--game", "kuhn_poker"], "deals whole hands of hold'em"),
        (["acpc", "always-call", "--port", "9", "-s", "5"], "does not search"),
        (["acpc", "pimbot", "--port", "9"], "pimbot plays scotland_yard"),
        (["acpc", "holdem(board=2s2h2d7c9c)", "--port", "9"], "deals whole hands of hold'em"),
        (["acpc", "always-call", "--port", "9", "--game-file", "nothing.game"], "cannot read nothing.game"),
        (["phh", "{}"], "has no hands"),
        (["phh", "{}", "--out", "x.txt"], "files .phh and .phhs"),
        (["phh", "nothing.phhs"], "cannot read nothing.phhs"),
        (["show", "nothing.phhs"], "cannot read nothing.phhs"),
        (["show", "nothing.phhs", "--line", "check"], "a hand history is shown in words"),
    ],
)
def test_bad_arguments_end_in_one_line(words: list[str], why: str, game_file: Path, capsys: Capture) -> None:
    assert main([word.replace("{}", str(game_file)) for word in words]) == 2
    err = capsys.readouterr().err.splitlines()
    assert why in err[-1] and err[-1].startswith("sog: ")
