"""Engines as opponents: only those of the command line, with moves taken back, and with faults that end in a line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sog.cli.app import main
from sog.errors import SogError
from sog.web.asked import Chair
from sog.web.offers import Offers
from tests.web.client import Client, begun, client_of

FAKE = Path(__file__).parents[1] / "protocols" / "fake_engine.py"
GO = "go(board_size=5,komi=0.5)"


def engine(protocol: str, fault: str = "none", moves: int = 0) -> str:
    """The command line of a program that speaks a protocol."""
    return f"'{sys.executable}' '{FAKE}' {protocol} {fault} {moves}"


# What is offered, and with which fault.
ENGINES = {
    engine("uci"): "",
    engine("gtp"): "",
    "/no/such/program": "does not start",
    engine("uci", "illegal"): "illegal move",
    engine("uci", "child"): "has ended",
}


@dataclass(frozen=True)
class Playing:
    """A browser of a server that offers ENGINES, and the file to which those write what they are sent."""

    client: Client
    heard: Path

    def begins(self, protocol: str) -> int:
        """How many games of a protocol's engines have begun."""
        said = self.heard.read_text() if self.heard.exists() else ""
        return said.count("ucinewgame" if protocol == "uci" else "clear_board")


@pytest.fixture(scope="module")
def playing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playing]:
    """One process of the server's for all."""
    folder = tmp_path_factory.mktemp("engines")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAKE_ENGINE_HEARS", str(folder / "heard"))
        client = client_of(folder / "games", [GO], engines=list(ENGINES))
        yield Playing(client, folder / "heard")
        client.close()


def made(client: Client, address: str, at: int = 0) -> int:
    """Make the person's move at some place of the list; how many moves there are then."""
    view = client.get(f"{address}/view.json").json()
    answer = client.post(f"{address}/move", {"at": view["at"], "move": view["choices"][at]["column"]})
    assert answer.status == 303, answer.text
    return int(client.get(f"{address}/view.json").json()["moves"])


@pytest.mark.parametrize(("game", "key"), [("chess", "engine 0"), (GO, "engine 1")])
@pytest.mark.parametrize("person", [0, 1])
def test_an_engine_plays_and_moves_are_taken_back(playing: Playing, game: str, key: str, person: int) -> None:
    client, protocol = playing.client, "uci" if game == "chess" else "gtp"
    before = playing.begins(protocol)
    address = begun(client, game, ("person", key) if person == 0 else (key, "person"))
    first = client.get(f"{address}/view.json").json()["moves"]
    assert made(client, address) == first + 2
    assert "Hint" not in client.get(address).text
    client.post(f"{address}/back", {"at": client.get(f"{address}/view.json").json()["at"]})
    assert made(client, address, 5) == first + 2
    assert playing.begins(protocol) == before + 2  # the line is another one after the taking back


def test_engines_come_from_the_command_line_alone(games: Path) -> None:
    client = client_of(games, engines=[engine("uci")])
    for key in ("engine 1", engine("uci"), f"engine {engine('uci')}"):
        assert client.post("/games", {"game": "chess", "seat0": "person", "seat1": key}).status == 400
    assert client.post("/games", {"game": "kuhn_poker", "seat0": "person", "seat1": "engine 0"}).status == 400
    address = begun(client, "chess", ("engine 0", "person"))
    file = games / f"{address.rpartition('/')[2]}.jsonl"
    marked = games / "ran"
    head = file.read_text().splitlines()[0].replace(engine("uci"), f"touch {marked}")
    assert str(marked) in head
    file.write_text(f'{head}\n{{"column": 0}}\n')
    again = client_of(games, engines=[engine("uci")])
    assert "--engine" in again.post(f"{address}/continue", {}).text and not marked.exists()
    for each in (client, again):
        each.close()


@pytest.mark.parametrize(("number", "why"), [(k, why) for k, why in enumerate(ENGINES.values()) if why])
def test_what_an_engine_does_wrong_is_said(playing: Playing, number: int, why: str) -> None:
    client = playing.client
    fields = {"game": "chess", "seat0": "person", "seat1": f"engine {number}"}
    listed = client.get("/games").text.count("Not over.")
    for _ in range(2):
        answer = client.post("/games", fields)
        assert answer.status == 400 and why in answer.text
    assert client.get("/games").text.count("Not over.") == listed + 2


@pytest.mark.parametrize("command", ["", "  ", "'open"])
def test_what_is_no_command_line_is_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SogError):
        Offers(engines=[command])
    assert main(["serve", "--no-browser", "--port", "0", "--engine", command]) == 2
    assert "--engine" in capsys.readouterr().err


def test_an_engine_s_path_may_have_spaces(tmp_path: Path) -> None:
    """As the whole line, or in quotes with arguments after it, as in a tournament's file."""
    program = tmp_path / "one engine"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    alone, quoted = (Chair(Chair.of_engine(line), "e") for line in (str(program), f"'{program}' --mode gtp"))
    assert alone.command == (str(program),) and quoted.command == (str(program), "--mode", "gtp")
