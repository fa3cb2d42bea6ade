"""`sog gtowizard` against a stand-in on this machine: it asks first, needs a key, and continues from its records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sog.cli.app import main
from sog.protocols.web_api import WebApi
from tests.cli.answers import answer
from tests.protocols.gtowizard_server import KEY, GtoWizardStandIn

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[GtoWizardStandIn]:
    """A stand-in, for which there is a key. No test waits, and none leaves this machine."""
    made = WebApi.__init__

    def here(api: WebApi, url: str, patience: float, headers: dict[str, str]) -> None:
        made(api, url, patience, lambda seconds: None, headers)
        assert url.startswith("http://127.0.0.1:")

    monkeypatch.setattr(WebApi, "__init__", here)
    monkeypatch.setenv("GTOW_API_KEY", KEY)
    with GtoWizardStandIn(seed=2) as started:
        yield started


def words(server: GtoWizardStandIn, records: Path, *more: str) -> list[str]:
    return ["gtowizard", "always-call", "--url", server.url, "--records", str(records), *more]


def test_nothing_is_sent_before_somebody_agrees(
    server: GtoWizardStandIn, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda question: "n")
    assert main(words(server, tmp_path / "hands.jsonl", "--hands", "5")) == 2
    error = capsys.readouterr().err
    assert f"5 hands of always-call are to be played at {server.url}: contact this server now?" in error
    assert "nothing was sent" in error and server.requests == [] and not (tmp_path / "hands.jsonl").exists()


def test_a_match_is_resumed_and_summed_up(server: GtoWizardStandIn, tmp_path: Path, capsys: Capture) -> None:
    records = tmp_path / "hands.jsonl"
    given = words(server, records, "--yes")
    assert answer(capsys, *given, "--hands", "12")["hands"] == 12
    with records.open("ab") as file:
        file.write(b'{"number": 12, "won": 1')  # a kill in the middle of a line
    summed = answer(capsys, *given, "--hands", "200")
    assert (summed["hands"], summed["lost"], summed["unit"]) == (200, 0, "chips") and server.hands == 200
    assert summed["mean"] == pytest.approx(server.total / 200) and server.wrong == []
    assert summed["aivat"]["mean"] == pytest.approx(server.aivat / 200)
    asked = len(server.requests)
    assert main([*given, "--hands", "200"]) == 0 and len(server.requests) == asked
    printed = capsys.readouterr().out
    assert "200, and 0 that were lost" in printed and "by its AIVAT" in printed and "mbb/h" in printed
    assert KEY not in records.read_text()


@pytest.mark.parametrize("key", ["", "  ", "two\nlines", "Schlüssel"])
def test_without_a_key_nothing_is_sent(
    key: str, server: GtoWizardStandIn, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GTOW_API_KEY", key)
    assert main(words(server, tmp_path / "hands.jsonl", "--yes", "--hands", "5")) == 2
    error = capsys.readouterr().err
    assert "GTOW_API_KEY has to hold your key" in error and error.count("\n") == 1
    monkeypatch.setenv("GTOW_API_KEY", "another")
    assert main(words(server, tmp_path / "hands.jsonl", "--yes", "--hands", "5")) == 2
    error = capsys.readouterr().err
    assert "the server refuses the key" in error and "another" not in error and server.hands == 0
