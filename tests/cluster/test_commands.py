"""`--cluster` changes where commands compute and not what they find."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sog.cli.app import main
from sog.protocols.tournament import load_results

PLACES = ["local:2", "ray:2"]

TOURNAMENT = """
game = "connect_four"
rounds = 2
plies = 2
[agents.first]
random = true
[agents.second]
random = true
[agents.third]
random = true
"""


def answer(line: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    code, printed = main([*line, "--json"]), capsys.readouterr()
    if "Ray cannot start" in printed.err or "Ray is not installed" in printed.err:
        pytest.skip(f"WARNING: {printed.err}")
    assert code == 0, printed.err
    return dict(json.loads(printed.out))


EXPLOIT = ["exploit", "kuhn_poker", "--algorithm", "sog(leaves=zero)"]


@pytest.mark.parametrize("cluster", PLACES)
def test_exploit(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["exploit", "kuhn_poker", "--algorithm", "sog(leaves=zero)", "-s", "3", "--seeds", "4"]
    alone, apart = answer([*line, "--workers", "1"], capsys), answer([*line, "--cluster", cluster], capsys)
    assert alone["exploitability"] == apart["exploitability"]
    assert alone["exploitability"]["min"] < alone["exploitability"]["max"]


@pytest.mark.parametrize("cluster", PLACES)
def test_tournament(cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "games.toml"
    file.write_text(TOURNAMENT)
    line = ["tournament", str(file), "--out"]
    alone = answer([*line, str(tmp_path / "alone")], capsys)
    apart = answer([*line, str(tmp_path / "apart"), "--cluster", cluster], capsys)
    assert alone["games"] == 12 and alone["agents"] == apart["agents"]
    games = [sorted(load_results(tmp_path / name), key=lambda game: game.number) for name in ("alone", "apart")]
    assert games[0] == games[1]


@pytest.mark.parametrize("serve", [[], ["--serve", "cpu"]])
def test_train_without_rounds(serve: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["train", "kuhn_poker", "--cluster", "local:2", "--asynchronous", *serve, "--rounds", "2", "--out"]
    found = answer([*line, str(tmp_path / "run")], capsys)
    assert found["rounds"] == 2 and found["rows"] > 0 and found["exploitability"] is not None
    assert (tmp_path / "run" / "curve.png").exists() and any((tmp_path / "run" / "tensorboard").iterdir())


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (["train", "kuhn_poker", "--cluster", "ray://head:10001"], "Ray Client"),
        (["train", "kuhn_poker", "--cluster", "auto"], "needs --workers"),
        (["train", "kuhn_poker", "--cluster", "local:2", "--serve", "cpu"], "--serve is for --asynchronous"),
        ([*EXPLOIT, "--seeds", "2", "--cluster", "127.0.0.1:1"], "answers at"),
        ([*EXPLOIT, "--cluster", "local:2", "--workers", "2"], "--workers"),
        (["reproduce", "resolving", "--quick", "--cluster", "there"], "is not one of"),
    ],
)
def test_wrong_places(line: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line) == 2
    said = capsys.readouterr().err
    if "Ray is not installed" in said:
        pytest.skip(f"WARNING: {said}")
    assert why in said


@pytest.mark.parametrize(
    "line",
    [
        ["exploit", "kuhn_poker", "--algorithm", "sog(leaves=zero)", "--seeds", "2", "--workers", "1023"],
        ["bench", "pipeline", "kuhn_poker", "--seconds", "1", "--workers", "1023"],
    ],
)
def test_more_processes_than_memory(
    line: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sog.cluster.local.available_bytes", lambda: 20 * 10**9)
    assert main(line) == 2
    assert "1,023 processes would hold about 205 GB, and 20 GB are free" in capsys.readouterr().err
