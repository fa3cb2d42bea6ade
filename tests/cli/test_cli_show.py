"""`sog show` of a match of Scotland Yard: the belief is Bayes' where policies are recorded, the map is drawn."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from sog.cli.app import main
from sog.games.catalog import make_game
from sog.games.scotland_yard.game import ScotlandYard
from sog.opponents.scotland_yard.recorded import recorded_chase
from sog.play.hand_match import read_match, read_records
from sog.web.drawn import chase_drawn
from sog.web.looks import chase_of
from tests.cli.answers import answer

Capture = pytest.CaptureFixture[str]
GAME = "scotland_yard(map=glasses)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    words = ["match", "random", "random", "--game", GAME, "--hands", "2", "--json"]
    assert main([*words, "--records", "with.jsonl", "--policies"]) == 0
    assert main([*words, "--records", "without.jsonl"]) == 0
    return tmp_path


def test_the_belief_is_bayes_of_the_policies(folder: Path, capsys: Capture) -> None:
    """From 6 Mr X went to 4, 5, 7 or 8 alike; then each detective moved once, and Mr X by a random move again."""
    first = answer(capsys, "show", "with.jsonl", "--hand", "0", "--move", "1")
    assert (first["possible"], first["belief"]) == ([4, 5, 7, 8], [0.25] * 4)
    assert first["belief_of"] == "policies" and first["station"] in (4, 5, 7, 8)
    second = answer(capsys, "show", "with.jsonl", "--hand", "0", "--move", "4")
    game = make_game(GAME)
    assert isinstance(game, ScotlandYard)
    chances = dict.fromkeys(second["possible"], 0.0)  # type: ignore[call-overload]
    before = answer(capsys, "show", "with.jsonl", "--hand", "0", "--move", "3")
    held = set(before["detectives"])  # type: ignore[call-overload]
    for here, chance in zip(before["possible"], before["belief"], strict=True):  # type: ignore[call-overload]
        k = game.city.index(here)
        ways = [game.city.stations[a + b - k] for a, b, _ in game.city.links if k in (a, b)]
        free = [there for there in ways if there not in held]
        for there in free:
            chances[there] += chance / len(free)
    total = sum(chances.values())
    assert second["belief"] == pytest.approx([chance / total for chance in chances.values()])


def test_without_policies_stations_are_alike_and_that_is_said(folder: Path, capsys: Capture) -> None:
    found = answer(capsys, "show", "without.jsonl", "--hand", "1", "--move", "4")
    belief, possible = found["belief"], found["possible"]
    assert isinstance(belief, list) and isinstance(possible, list)
    assert belief == pytest.approx([1 / len(possible)] * len(possible)) and found["belief_of"] != "policies"
    assert main(["show", "without.jsonl", "--hand", "1", "--move", "4", "--svg", "map.svg"]) == 0
    assert "the records have no policy of Mr X" in capsys.readouterr().out
    assert "all possible stations alike" in (folder / "map.svg").read_text()


def test_the_map_is_the_pages(folder: Path) -> None:
    """To the byte: with the detectives, Mr X and the belief after the move."""
    assert main(["show", "with.jsonl", "--hand", "0", "--move", "3", "--svg", "map.svg"]) == 0
    game = make_game(GAME)
    assert isinstance(game, ScotlandYard)
    record, seed = next(read_records(Path("with.jsonl"))), int(str(read_match(Path("with.jsonl"))["seed"]))
    seen = recorded_chase(game, record, seed, 3)
    chase = chase_of(game, seen.state, seen.state.hidden.index(seen.station), tuple(seen.belief.tolist()))
    svg = (folder / "map.svg").read_text()
    assert chase is not None and chase.here == seen.station
    assert svg == chase_drawn(chase, str(ElementTree.fromstring(svg).get("aria-label"))).svg


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["with.jsonl", "--hand", "9"], "has no hand 9"),
        (["with.jsonl", "--hand", "0", "--move", "999"], "moves, not 999"),
        (["with.jsonl", "--move", "3"], "name the hand"),
    ],
)
def test_what_there_is_not(folder: Path, capsys: Capture, words: list[str], why: str) -> None:
    assert main(["show", *words]) == 2
    assert why in capsys.readouterr().err
