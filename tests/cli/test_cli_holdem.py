"""Hold'em at the command line: solving, going on, looking up, and one line for bad input."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.color import ColorSystem
from rich.style import Style

from sog.arrays import Array
from sog.cli.app import main
from sog.cli.holdem import _Styles
from sog.errors import CheckpointError
from sog.games.catalog import make_game
from sog.games.holdem.cards import HANDS
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.opponents.holdem import buckets
from sog.opponents.holdem.blueprint import BlueprintSolver
from sog.opponents.holdem.blueprint import load as load_blueprint
from sog.opponents.holdem.buckets import BucketTables, canonical_flops, class_of, later_boards
from sog.searches.cfr.rules import DCFR, Rule
from sog.searches.holdem.saved import save
from sog.searches.holdem.solver import HoldemSolver
from sog.training import checkpoint
from tests.colours import contrast

SPOT = 'holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;1.0;allin,range0="AA,KQo",range1="JJ")'
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spots") / "spot.npz"
    assert main(["solve", SPOT, "--target", "0.02", "--out", str(path)]) == 0
    return path


def test_solve_stops_at_the_target_and_goes_on(tmp_path: Path, capsys: Capture) -> None:
    out = str(tmp_path / "spot.npz")
    answers = []
    for target in ("1", "0.05"):
        assert main(["solve", SPOT, "--target", target, "--out", out, "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert all(a["exploitability_percent_of_pot"] <= t for a, t in zip(answers, (1, 0.05), strict=True))
    assert answers[0]["iterations"] < answers[1]["iterations"]
    for found in answers:  # of a pot of 1,000
        assert found["exploitability_percent_of_pot"] == pytest.approx(found["exploitability_chips"] / 10)
        assert found["ev_chips"] == pytest.approx([500, 500], abs=10) and sum(found["ev_chips"]) == pytest.approx(1000)
    assert main(["solve", SPOT.replace("JJ", "TT"), "--out", out]) == 2
    assert "choose another name" in capsys.readouterr().err


def test_a_spot_is_solved_in_sixteen_bits_and_stays_so(tmp_path: Path, capsys: Capture) -> None:
    out = str(tmp_path / "spot.npz")
    assert main(["solve", SPOT, "--bits", "16", "--target", "0.5", "--out", out, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["exploitability_percent_of_pot"] <= 0.5
    assert main(["solve", SPOT, "--bits", "32", "--out", out]) == 2
    assert "was solved in 16 bits; choose another name or --bits 16" in capsys.readouterr().err
    assert main(["solve", SPOT, "--iterations", str(first["iterations"] + 5), "--out", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == first["iterations"] + 5
    assert main(["show", out, "--line", "check"]) == 0
    assert "bet" in capsys.readouterr().out


def test_a_long_solve_is_kept_as_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    out = str(tmp_path / "spot.npz")
    iterate = HoldemSolver.iterate

    def stopped(solver: HoldemSolver, count: int, rule: Rule = DCFR) -> None:
        if solver.iterations >= 60:
            raise KeyboardInterrupt
        iterate(solver, count, rule)

    def stopped_at_once(solver: HoldemSolver, count: int, rule: Rule = DCFR) -> None:
        if count:
            raise KeyboardInterrupt

    monkeypatch.setattr("sog.cli.holdem._SAVE_SECONDS", 0.0)
    monkeypatch.setattr(HoldemSolver, "iterate", stopped)
    assert main(["solve", SPOT, "--iterations", "100", "--out", out]) == 130
    monkeypatch.setattr("sog.cli.holdem._SAVE_SECONDS", 60.0)
    monkeypatch.setattr(HoldemSolver, "iterate", stopped_at_once)
    capsys.readouterr()
    assert main(["solve", SPOT, "--iterations", "100", "--out", out]) == 130
    assert "holds 60 iterations: the same command continues" in capsys.readouterr().err
    monkeypatch.undo()
    assert main(["solve", SPOT, "--iterations", "100", "--out", out, "--json"]) == 0
    printed = capsys.readouterr()
    assert "holds 60 iterations: continuing from there" in printed.err
    assert json.loads(printed.out.splitlines()[-1])["iterations"] == 100


def test_a_save_that_fails_on_the_way_ends_no_solve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    saves: list[int] = []

    def full_at_first(*given: Any) -> None:
        saves.append(1)
        if len(saves) == 1:
            raise CheckpointError("no space left on the device")
        save(*given)

    monkeypatch.setattr("sog.cli.holdem._SAVE_SECONDS", 0.0)
    monkeypatch.setattr("sog.searches.holdem.saved.save", full_at_first)
    assert main(["solve", SPOT, "--iterations", "60", "--out", str(tmp_path / "spot.npz")]) == 0
    assert "not saved, and solving continues: no space left" in capsys.readouterr().err
    assert len(saves) > 1 and (tmp_path / "spot.npz").exists()


def test_solve_prints_memory_and_exploitability(capsys: Capture) -> None:
    assert main(["solve", SPOT, "--iterations", "20"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("memory 1 MB, 1 river card solved\n")
    assert "% of the pot" in printed and "KQo" in printed and "not reached" not in printed
    assert "of the 1,000 chips in the pot" in printed
    assert main(["solve", SPOT, "--iterations", "20", "--target", "0.000001"]) == 0
    assert "The target 1e-06% of the pot was not reached." in capsys.readouterr().out


def test_show(solved: Path, tmp_path: Path, capsys: Capture) -> None:
    svg, table = tmp_path / "grid.svg", tmp_path / "hands.csv"
    assert main(["show", str(solved), "--svg", str(svg), "--csv", str(table)]) == 0
    printed = capsys.readouterr().out
    assert "player 0 to act" in printed and "bet 1000 (allin)" in printed
    assert ElementTree.fromstring(svg.read_text()).tag.endswith("svg")
    assert main(["show", str(solved), "--svg", str(svg)]) == 2
    assert "exists already" in capsys.readouterr().err
    rows = list(csv.reader(table.open()))
    assert rows[0] == ["hand", "weight", "ev", "equity", "check", "bet 500 (0.5)", "bet 1000 (allin)"]
    assert len(rows) == 1 + 6 + 12
    assert float(rows[1][2]) == pytest.approx(1500, abs=30) and float(rows[1][3]) == 1.0  # aces
    assert main(["show", str(solved), "--line", "bet 1.0", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    hands = shown["hands"]
    assert {h["hand"][0] for h in hands} == {"J"}
    # A bluff-catcher: a call is worth as much as a fold.
    assert shown["pot"] == 2000 and abs(shown["ev"]) < 30 and shown["equity"] == pytest.approx(1 / 3, abs=0.02)
    assert all(abs(h["ev"]) < 30 and h["equity"] == pytest.approx(1 / 3, abs=0.02) for h in hands)
    assert sum(h["policy"][1] for h in hands) / len(hands) == pytest.approx(0.5, abs=0.01)
    assert main(["show", str(solved), "--svg", "/proc/grid.svg"]) == 2
    assert "/proc" in capsys.readouterr().err


def test_the_grid_is_printed_last_and_hands_on_request(
    solved: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # test workers have one
    assert main(["show", str(solved)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 2 + 3 + 13 and lines[-1].startswith("  A2o") and lines[-13].startswith("  AA ")
    assert lines[0] == "--hands full lists the 18 hands one by one, --hands AKs,QQ some"
    assert main(["show", str(solved), "--hands", "AA"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line[0] == line[2] == "A" for line in lines[1:7]) and lines[-1].startswith("  A2o")
    assert len(lines) == 1 + 6 + 2 + 3 + 13
    assert main(["show", str(solved), "--hands", "AcAd", "--json"]) == 0
    assert [hand["hand"] for hand in json.loads(capsys.readouterr().out)["hands"]] == ["AdAc"]
    assert main(["show", str(solved), "--hands", "AZ"]) == 2
    assert "AZ" in capsys.readouterr().err


@pytest.mark.parametrize(("columns", "widest"), [("80", 78), ("117", 117), ("200", 117)])
def test_the_grid_is_as_narrow_as_the_terminal(
    solved: Path, columns: str, widest: int, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["show", str(solved)]) == 0
    assert {len(line) for line in capsys.readouterr().out.splitlines()[-13:]} == {widest}


# What terminals show for their 16 colours: xterm's and VGA's.
XTERM = ("000000", "cd0000", "00cd00", "cdcd00", "0000ee", "cd00cd", "00cdcd", "e5e5e5", *["ffffff"] * 8)
VGA = ("000000", "aa0000", "00aa00", "aa5500", "0000aa", "aa00aa", "00aaaa", "aaaaaa", *["ffffff"] * 8)
SPOTS = [["check", *[f"bet {k}" for k in range(6)]], ["fold", "call", *[f"raise {k}" for k in range(6)]]]


def styled(actions: list[str], few: bool) -> set[Style]:
    """How cells are printed that take the actions in every tenth, two at a time, and evenly; and empty cells."""
    styles = _Styles(actions, few)
    shares = [np.full(len(actions), 1 / len(actions))]
    ends = np.eye(len(actions))
    shares += [k / 10 * a + (1 - k / 10) * b for a in ends for b in ends for k in range(11)]
    return {Style.parse(styles.of(share.tolist())) for share in shares} | {Style.parse(styles.empty)}


@pytest.mark.parametrize("actions", SPOTS)
@pytest.mark.parametrize("system", [ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT])
def test_words_can_be_read_on_every_colour_of_the_grid(actions: list[str], system: ColorSystem) -> None:
    for style in styled(actions, few=False):
        assert style.color is not None and style.bgcolor is not None
        word, ground = (part.downgrade(system).get_truecolor().hex for part in (style.color, style.bgcolor))
        assert contrast(word, ground) >= 4.5, (word, ground)


@pytest.mark.parametrize("actions", SPOTS)
@pytest.mark.parametrize("palette", [XTERM, VGA])
def test_actions_differ_and_can_be_read_in_sixteen_colours(actions: list[str], palette: tuple[str, ...]) -> None:
    for style in styled(actions, few=True):
        assert style.color is not None and style.bgcolor is not None
        word, ground = (f"#{palette[part.number or 0]}" for part in (style.color, style.bgcolor))
        assert contrast(word, ground) >= 4.5, (word, ground)
    styles, ends = _Styles(actions, few=True), np.eye(len(actions)).tolist()
    assert len({styles.of(share) for share in ends[:4]}) == 4


def test_a_solved_spot_says_how_it_is_shown(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "a spot.npz"
    assert main(["solve", SPOT, "--iterations", "1", "--out", str(out)]) == 0
    assert capsys.readouterr().out.endswith(f"written to {out}; its hands: sog show '{out}'\n")
    assert main(["solve", "kuhn_poker", "--iterations", "1", "--out", str(tmp_path / "kuhn.json")]) == 0
    assert capsys.readouterr().out.endswith(f"policy written to {tmp_path / 'kuhn.json'}\n")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["solve", "holdem(board=2s2h2s7c9c,pot=10)"], "2s occurs twice"),
        (["solve", 'holdem(board=2s2h2d7c9c,pot=10,range0="2c2d")'], "leaves nothing of range0"),
        (["solve", "holdem(board=2s2h2d7c9c,pot=10,bets=0.5;x)"], "no bet is called 'x'"),
        (["solve", "holdem(board=2c7d9h,pot=10)"], "river and turn spots"),
        (["solve", "holdem"], "name one with --out"),
        (["solve", "holdem", "--algorithm", "cfr+", "--out", "x.npz"], "takes --iterations, --seed, --out and"),
        (["solve", "holdem(bets=random)", "--out", "x.npz"], "is drawn anew"),
        (["solve", SPOT, "--algorithm", "cfr+"], "are solved by dcfr"),
        (["solve", SPOT, "--check-openspiel"], "OpenSpiel cannot measure them"),
        (["solve", SPOT, "--threads", "0"], "Invalid value for '--threads'"),
        (["show", "nowhere.npz"], "nowhere.npz is not a solved"),
        (["bench", "holdem", "flop"], "a spot is river or turn, not flop"),
    ],
)
def test_bad_input_is_told_in_one_line(words: list[str], says: str, capsys: Capture) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_what_else_a_user_may_have_saved_is_told_from_a_spot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """`sog solve --out` writes a policy for games that are listed, and `sog match` its hands."""
    monkeypatch.chdir(tmp_path)
    assert main(["solve", "kuhn_poker", "--iterations", "2", "--out", "policy"]) == 0
    words = ["match", "random", "random", "--game", "kuhn_poker", "--hands", "2", "--records", "hands.jsonl"]
    assert main(words) == 0
    capsys.readouterr()
    for name, says in (("policy", "a name that ends in .json"), ("hands.jsonl", "--hand N shows one of Scotland")):
        assert main(["show", name]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"sog: {name} ") and says in error and error.count("\n") == 1


def unmeant(flops: Array, count: int, report: Callable[[int], None]) -> BucketTables:
    """Every hand in one bucket, so that nothing is counted."""
    turns = later_boards(flops)
    boards = canonical_flops(), turns, later_boards(turns.cards)
    tables = (np.zeros((len(level.cards), HANDS), dtype=np.uint8) for level in boards)
    return BucketTables(class_of(), *(level.keys for level in boards), *tables)


def test_whole_holdem_is_solved_as_a_blueprint(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It prints what it did, the seed decides all, and no file is overwritten."""
    monkeypatch.setattr(buckets, "tables", unmeant)
    out, game = tmp_path / "blueprint.npz", "holdem(stacks=1000,bets=1)"
    words = ["solve", game, "--iterations", "300", "--seed", "1", "--out", str(out)]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["game"], found["iterations"], found["exploitability"]) == (game, 300, None)
    assert found["buckets_of_streets"] == [169, 50, 50, 50]
    assert found["megabytes"] == out.stat().st_size / 1e6
    assert main(words) == 2
    assert "exists already" in capsys.readouterr().err
    out.rename(tmp_path / "first.npz")
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert printed.endswith(f"a match: sog match {out} equity --game '{game}' --hands 100\n")
    assert "not computed" in printed and f"{found['infosets_with_a_policy']:,}" in printed
    assert out.read_bytes() == (tmp_path / "first.npz").read_bytes()


def test_a_stopped_blueprint_is_kept(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was saved last: the message says with how many iterations."""
    monkeypatch.setattr(buckets, "tables", unmeant)
    monkeypatch.setattr("sog.cli.blueprint._SAVE_SECONDS", 0.0)
    iterate = BlueprintSolver.iterate

    def interrupted(solver: BlueprintSolver, count: int) -> None:
        if solver.iterations > 1:
            raise KeyboardInterrupt
        iterate(solver, count)

    monkeypatch.setattr(BlueprintSolver, "iterate", interrupted)
    out = tmp_path / "blueprint.npz"
    assert main(["solve", "holdem(stacks=1000,bets=1)", "--out", str(out)]) == 130
    assert f"{out} holds 101 iterations" in capsys.readouterr().err
    assert load_blueprint(out).iterations == 101


def test_lines_that_are_not_in_the_tree(solved: Path, capsys: Capture) -> None:
    assert main(["show", str(solved), "--line", "bet 0.3"]) == 2
    assert "there are: check, bet 500 (0.5)" in capsys.readouterr().err


ENDGAME = 'holdem(board=2s2h7d9c,pot=1000,stacks=600,bets=allin,range0="AA,KQ,76s,QhJh",range1="JJ,AQo,T9s,44")'


def exploited(capsys: Capture, *words: str) -> dict[str, Any]:
    assert main(["exploit", ENDGAME, "-s", "4", "-c", "0.5", "--json", *words]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


ZERO = ("--algorithm", "sog(leaves=zero)")


def test_exploit_of_a_turn_spot(capsys: Capture) -> None:
    """Rivers solved safely by default, or unsafely; another seed is another policy."""
    safe = exploited(capsys, *ZERO)
    assert (safe["unit"], safe["river"], safe["seeds"]) == ("chips", "safe(iterations=200)", 1)
    assert -safe["best_response_1"] < safe["value"] < safe["best_response_0"]
    fast = (*ZERO, "--river", "unsafe(iterations=20)")
    unsafe = exploited(capsys, *fast, "--seeds", "2")
    assert (unsafe["river"], unsafe["seeds"]) == ("unsafe(iterations=20)", 2)
    lowest, mean = unsafe["exploitability"]["min"], unsafe["exploitability"]["mean"]
    assert 0 < lowest <= mean and unsafe["percent_of_pot"] == pytest.approx(mean / 10)
    assert safe["exploitability"]["mean"] not in (lowest, mean)
    assert main(["exploit", ENDGAME, *fast, "-s", "4"]) == 0
    assert "% of the pot" in capsys.readouterr().out


def test_exploit_of_a_turn_spot_whose_rivers_are_searched(capsys: Capture) -> None:
    searched = exploited(capsys, *ZERO, "--river", "search")
    assert searched["river"] == "search" and searched["exploitability"]["mean"] > 0


DRAWN = "holdem(board=turn,pot=1000,stacks=500:700,bets=allin)"


@pytest.fixture
def drawn(tmp_path: Path) -> str:
    """A checkpoint of a family of turns, of a network over hands."""
    network = CVPN(shape_for(make_game(DRAWN), 8, 1, "hands"))
    checkpoint.save(tmp_path / "drawn", network, make_game(DRAWN).name, "run", 0, {})
    return str(tmp_path / "drawn")


def test_a_network_of_a_family_is_measured_on_one_board(drawn: str, capsys: Capture) -> None:
    """A new network over hands values a leaf as the hands checked down, and chance is such a leaf."""
    words = ["exploit", drawn, "--game", ENDGAME, "-s", "4", "-c", "0.5", "--json", "--river", "unsafe(iterations=20)"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["game"] == make_game(ENDGAME).name and found["exploitability"]["mean"] > 0
    assert found["chance_leaves"] and found["every_decision"]
    assert main([*words, "--algorithm", "sog(every_decision=False)"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert not alone["every_decision"] and alone["exploitability"]["mean"] != found["exploitability"]["mean"]
    assert main([*words, "--algorithm", "sog(chance_leaves=False)"]) == 0
    opened = json.loads(capsys.readouterr().out)
    assert not opened["chance_leaves"] and opened["exploitability"]["mean"] != found["exploitability"]["mean"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "is drawn for each hand: --game says which"),
        (["--game", "leduc_poker"], "does not play leduc_poker"),
        (["--game", ENDGAME.replace("allin", "0.5;allin")], "does not play holdem"),
    ],
)
def test_a_family_is_measured_by_none_of_others(drawn: str, words: list[str], said: str, capsys: Capture) -> None:
    assert main(["exploit", drawn, *words]) == 2
    assert said in capsys.readouterr().err


def test_a_uniform_agent_of_ones_own_on_the_turn(capsys: Capture) -> None:
    assert main(["exploit", ENDGAME, "--agent", "sog.agents.uniform:UniformAgent", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["unit"] == "chips" and answer["exploitability"]["mean"] > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([ENDGAME, "--river", "blind"], "--river is safe, unsafe or search"),
        ([ENDGAME, "--river", "safe(iterations=0)"], "--river is safe, unsafe or search"),
        (["kuhn_poker", "--game", "leduc_poker"], "--game is for a checkpoint's network"),
        (["kuhn_poker", "--river", "safe"], "--river is for hold'em that begins on the turn"),
    ],
)
def test_rivers_that_cannot_be(words: list[str], said: str, capsys: Capture) -> None:
    assert main(["exploit", *words, "--algorithm", "sog(leaves=zero)"]) == 2
    assert said in capsys.readouterr().err
