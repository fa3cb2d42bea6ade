"""`sog aivat`: what it prints of a match's records, for people and for machines, and how it fails."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import pytest

from sog.cli.app import main
from tests.cli.answers import answer

Capture = pytest.CaptureFixture[str]

EXACT = ["--values", "exact", "--a", "a.json", "--b", "b.json"]
SPOT = "holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=1;allin)"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two policies of Kuhn poker and a match of them."""
    made = tmp_path_factory.mktemp("made")
    with contextlib.chdir(made):
        for name, iterations in (("a.json", "40"), ("b.json", "1")):
            assert main(["solve", "kuhn_poker", "--iterations", iterations, "--out", name, "--json"]) == 0
        play("a.json", "b.json", "hands.jsonl", "--policies")
    return made


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the same files."""
    monkeypatch.chdir(shutil.copytree(made, tmp_path, dirs_exist_ok=True))
    return tmp_path


def play(a: str, b: str, records: str, *more: str, game: str = "kuhn_poker", hands: int = 200) -> None:
    assert main(["match", a, b, "--game", game, "--hands", str(hands), "--records", records, *more, "--json"]) == 0


def test_what_is_printed(folder: Path, capsys: Capture) -> None:
    match = answer(capsys, "aivat", "hands.jsonl")
    exact = answer(capsys, "aivat", "hands.jsonl", *EXACT)
    assert match["values"] == "equity" and exact["values"].startswith("exact, of policy ")
    assert exact["known"] == ["a", "b"] and exact["hands"] == 200 and exact["raw"] == match["raw"]
    assert exact["corrected"]["standard_error"] < 1e-12 and exact["deviation_reduction"] > 0.99
    low, high = match["corrected"]["interval95"]
    assert low < exact["corrected"]["mean"] < high and match["corrected"]["standard_error"] > 0
    assert main(["aivat", "hands.jsonl"]) == 0
    printed = capsys.readouterr().out
    assert "policies known" in printed and "A and B" in printed and "% less" in printed
    play("a.json", "b.json", "pair.jsonl", "--policies", hands=2)
    assert answer(capsys, "aivat", "pair.jsonl")["corrected"]["interval95"] is None


def test_the_raw_figures_are_the_matchs(folder: Path, capsys: Capture) -> None:
    capsys.readouterr()
    play("a.json", "b.json", "hands.jsonl", "--policies")
    match = json.loads(capsys.readouterr().out)
    raw = answer(capsys, "aivat", "hands.jsonl")["raw"]
    assert (raw["mean"], raw["interval95"]) == (match["mean"], match["interval95"])


def test_holdem_has_equities(folder: Path, capsys: Capture) -> None:
    play("random", "always-call", "river.jsonl", "--policies", game=SPOT, hands=20)
    assert answer(capsys, "aivat", "river.jsonl")["hands"] == 20
    assert main(["aivat", "river.jsonl", *EXACT]) == 2
    assert "too many pairs of hands for exact values" in capsys.readouterr().err


OWN = """
import sog

class Draws(sog.UniformAgent):
    def act(self, node, infostate, rng):
        self.drawn_from = self.policy(node)
        return int(rng.random() < self.drawn_from[1, infostate])
"""


def test_an_agent_that_draws_in_its_own_way(folder: Path, capsys: Capture) -> None:
    (folder / "own_draws.py").write_text(OWN)
    play("a.json", "own_draws:Draws", "own.jsonl", "--policies")
    found = answer(capsys, "aivat", "own.jsonl", "--own-draws")
    assert found["known"] == ["a", "b"] and found["deviation_reduction"] > 0
    capsys.readouterr()


def test_a_policy_that_was_changed(folder: Path, capsys: Capture) -> None:
    """Exchanging the two rows of every policy is found at the first hand or soon after."""
    lines = [json.loads(line) for line in (folder / "hands.jsonl").read_text().splitlines()]
    for hand in lines[1:]:
        for step in hand["steps"]:
            step["policy"].reverse()
    (folder / "changed.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    capsys.readouterr()
    assert main(["aivat", "changed.jsonl"]) == 2
    assert "hand 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["plain.jsonl"], "has no policies: `sog match --records FILE --policies` writes them"),
        (["none.jsonl"], "none.jsonl cannot be read: No such file"),
        (["a.json"], "a.json is no file of a match's hands"),
        (["damaged.jsonl"], "damaged.jsonl is damaged at hand 3"),
        (["seed.jsonl"], "hand 0 is not what its match's seed deals, or of other rules"),
        (["other.jsonl"], "hand 0 is not what its match's seed deals, or of other rules"),
        (["unnamed.jsonl"], "does not say its match's game and seed"),
        (["short.jsonl"], "the records have no pair of hands"),
        (["hands.jsonl", "--values", "best"], "--values is equity or exact, not best"),
        (["hands.jsonl", "--a", "a.json"], "--a and --b are for --values exact"),
        (["hands.jsonl", *EXACT[:4]], "exact values need both players' policies"),
        (["hands.jsonl", *EXACT[:5], "none.json"], "none.json cannot be read"),
        (["dice.jsonl"], "liars_dice(numdice=1,dice_sides=2) is no poker game"),
    ],
)
def test_faults_in_one_line(folder: Path, capsys: Capture, words: list[str], why: str) -> None:
    play("a.json", "b.json", "plain.jsonl", hands=2)
    lines = (folder / "hands.jsonl").read_text().splitlines(keepends=True)
    first = json.loads(lines[0])
    for name, header, hands in (
        ("damaged", {}, [*lines[1:4], "{}\n", *lines[5:]]),
        ("seed", {"seed": 2}, lines[1:]),
        ("other", {"game": "leduc_poker"}, lines[1:]),
        ("unnamed", {"game": 3}, lines[1:]),
        ("short", {}, lines[1:2]),
        ("dice", {"game": "liars_dice(numdice=1,dice_sides=2)"}, lines[1:]),
    ):
        (folder / f"{name}.jsonl").write_text(json.dumps({**first, **header}) + "\n" + "".join(hands))
    capsys.readouterr()
    assert main(["aivat", *words]) == 2
    out, err = capsys.readouterr()
    message = [line for line in err.splitlines() if line.startswith("sog: ")]
    assert out == "" and len(message) == 1 and why in message[0]
