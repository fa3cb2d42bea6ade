"""`sog slumbot` against a stand-in on this machine: it asks first, goes on, and says in one line what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sog.cli.app import main
from sog.protocols.web_api import WebApi
from tests.cli.answers import answer
from tests.protocols.slumbot_server import LOST, SlumbotStandIn

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def server() -> Iterator[SlumbotStandIn]:
    with SlumbotStandIn(seed=2) as started:
        yield started


@pytest.fixture(autouse=True)
def _here_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits, and none leaves this machine."""
    made = WebApi.__init__

    def here(api: WebApi, url: str, patience: float, headers: dict[str, str]) -> None:
        made(api, url, patience, lambda seconds: None, headers)
        assert url.startswith("http://127.0.0.1:")

    monkeypatch.setattr(WebApi, "__init__", here)


def words(server: SlumbotStandIn, records: Path, *more: str) -> list[str]:
    return ["slumbot", "always-call", "--url", server.url, "--records", str(records), *more]


@pytest.mark.parametrize("said", ["n", "", None, "yes please"])
def test_nothing_is_sent_before_somebody_agrees(
    said: str | None, server: SlumbotStandIn, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def typed(question: str) -> str:
        if said is None:
            raise EOFError
        return said

    monkeypatch.setattr("builtins.input", typed)
    assert main(words(server, tmp_path / "hands.jsonl", "--hands", "5")) == 2
    error = capsys.readouterr().err
    assert f"5 hands of always-call are to be played at {server.url}: contact this server now?" in error
    assert "nothing was sent" in error
    assert server.requests == [] and not (tmp_path / "hands.jsonl").exists()
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert main(words(server, tmp_path / "hands.jsonl", "--hands", "5")) == 0
    assert server.hands == 5


def test_a_match_is_resumed_and_summed_up(server: SlumbotStandIn, tmp_path: Path, capsys: Capture) -> None:
    records = tmp_path / "hands.jsonl"
    server.faults = {0: LOST}  # of a hand that the stand-in never ends
    given = words(server, records, "--yes")
    first = answer(capsys, *given, "--hands", "12")
    assert (first["hands"], first["lost"], server.hands) == (11, 1, 11)
    with records.open("ab") as file:
        file.write(b'{"number": 12, "won": 1')  # a kill in the middle of a line
    found = answer(capsys, *given, "--hands", "200")
    assert (found["hands"], found["lost"], found["unit"]) == (199, 1, "chips") and server.hands == 199
    assert found["mean"] == pytest.approx(server.total / 199) and server.wrong == []
    assert found["baseline"]["mean"] == pytest.approx(server.baseline / 199)
    low, high = found["interval95"]
    assert low < found["mean"] < high
    asked = len(server.requests)
    assert main([*given, "--hands", "200"]) == 0 and len(server.requests) == asked
    printed = capsys.readouterr().out
    assert "199, and 1 that were lost" in printed and "Slumbot's baseline" in printed and "mbb/h" in printed


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--seed", "1"], "is of another match"),
        (["--game", "holdem(bets=allin)"], "is of another match"),
        (["--url", "slumbot.com"], "not an address such as https://slumbot.com/slumbot/api"),
        (["--game", "leduc_poker"], "a dealer deals whole hands"),
        (["--hands", "0"], "--hands"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    more: list[str], says: str, server: SlumbotStandIn, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = tmp_path / "hands.jsonl"
    assert main(words(server, records, "--yes", "--hands", "2")) == 0
    capsys.readouterr()
    monkeypatch.undo()  # an address of the user's own, which is refused before it is contacted
    assert main(words(server, records, "--yes", "--hands", "3", *more)) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1
    assert server.hands == 2


@pytest.mark.parametrize("line", ['{"number": 2}', '{"number": 1, "won": 0.5}', '{"number": 0}'])
def test_records_that_are_damaged(line: str, server: SlumbotStandIn, tmp_path: Path, capsys: Capture) -> None:
    records = tmp_path / "hands.jsonl"
    assert main(words(server, records, "--yes", "--hands", "1")) == 0
    with records.open("a") as file:
        file.write(line + "\n")
    assert main(words(server, records, "--yes", "--hands", "3")) == 2
    assert "is damaged; name another file" in capsys.readouterr().err


def test_a_server_that_only_fails_ends_the_match(server: SlumbotStandIn, tmp_path: Path, capsys: Capture) -> None:
    server.faults = dict.fromkeys(range(99), "server error")
    records = tmp_path / "hands.jsonl"
    assert main(words(server, records, "--yes", "--hands", "50")) == 2
    error = capsys.readouterr().err
    assert "5 hands in a row were not played to their end: HTTP status 500" in error
    assert len(server.requests) == 5 and len(records.read_text().splitlines()) == 6
    assert main(words(server, records, "--yes", "--hands", "5")) == 2
    assert "no hand was played to its end: HTTP status 500" in capsys.readouterr().err
    server.faults = {}
    assert main(words(server, records, "--yes", "--hands", "8")) == 0
    assert server.hands == 3
