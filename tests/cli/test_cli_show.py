"""`sog show` of a match of Scotland Yard: the belief is Bayes' where policies are recorded, the map is drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from sog.cli.app import main
from sog.games.catalog import make_game
from sog.games.scotland_yard.game import ScotlandYard

Capture = pytest.CaptureFixture[str]
GAME = "scotland_yard(map=glasses)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    words = ["match", "random", "random", "--game", GAME, "--hands", "2", "--json"]
    assert main([*words, "--records", "with.jsonl", "--policies"]) == 0
    assert main([*words, "--records", "without.jsonl"]) == 0
    return tmp_path


def shown(words: list[str], capsys: Capture) -> dict[str, object]:
    capsys.readouterr()
    assert main(["show", *words, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_the_belief_is_bayes_of_the_policies(folder: Path, capsys: Capture) -> None:
    """From 6 Mr X went to 4, 5, 7 or 8 alike; then each detective moved once, and Mr X by a random move again."""
    first = shown(["with.jsonl", "--hand", "0", "--move", "1"], capsys)
    assert (first["possible"], first["belief"]) == ([4, 5, 7, 8], [0.25] * 4)
    assert first["belief_of"] == "policies" and first["station"] in (4, 5, 7, 8)
    second = shown(["with.jsonl", "--hand", "0", "--move", "4"], capsys)
    game = make_game(GAME)
    assert isinstance(game, ScotlandYard)
    chances = dict.fromkeys(second["possible"], 0.0)  # type: ignore[call-overload]
    before = shown(["with.jsonl", "--hand", "0", "--move", "3"], capsys)
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
    found = shown(["without.jsonl", "--hand", "1", "--move", "4"], capsys)
    belief, possible = found["belief"], found["possible"]
    assert isinstance(belief, list) and isinstance(possible, list)
    assert belief == pytest.approx([1 / len(possible)] * len(possible)) and found["belief_of"] != "policies"
    assert main(["show", "without.jsonl", "--hand", "1", "--move", "4", "--png", "map.png"]) == 0
    assert "the records have no policy of Mr X" in capsys.readouterr().out
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")


def test_stations_have_a_light_edge_to_be_read_on_dark_dots(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr("sog.cli.chase.save_picture", lambda figure, path, tight: drawn.append(figure))
    assert main(["show", "with.jsonl", "--hand", "0", "--png", "map.png"]) == 0
    (figure,) = drawn
    numbers = figure.axes[0].texts
    assert numbers and all(number.get_path_effects() for number in numbers)


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
