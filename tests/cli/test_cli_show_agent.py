"""`sog show` of an agent: the policies that it plays along a line, on boards its moves, one line for bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sog
from sog.cli.app import main

Capture = pytest.CaptureFixture[str]


def shown(words: list[str], capsys: Capture) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["show", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_json_has_the_agents_policy_its_values_in_chips_and_the_line(capsys: Capture) -> None:
    found = shown(["leduc_poker", "--line", "raise, call, board Jh", "-s", "20", "--seed", "3"], capsys)
    agent = sog.load_agent("leduc_poker", simulations=20, per_update=1.0, seed=3)
    states = [agent.game.state_name(s) for s in agent.public.states]
    np.testing.assert_allclose(found["policy"], agent.policy(states.index(found["state"])))
    assert [each["state"] for each in found["line"]] == ["start", "raise", "raise call", "raise call | board Jh"]
    assert [each["actor"] for each in found["line"]] == [0, 1, "chance", 0]
    raised = agent.policy(0)[found["actions"].index("raise")]
    np.testing.assert_allclose(found["line"][1]["ranges"][0], raised / raised.sum())
    assert found["line"][1]["likely"] == pytest.approx(raised.mean())
    # A jack with a jack on the board wins most of a pot of eight chips, thousandths of which the values are.
    assert found["unit"] == "mbb/h" and found["values"][0][found["infostates"][0].index("Js")] > 3_000


def test_at_chance_and_at_the_end_there_is_no_policy(capsys: Capture) -> None:
    for line, actor in (("raise, call", "chance"), ("raise, fold", "over")):
        found = shown(["leduc_poker", "--line", line, "-s", "5"], capsys)
        assert found["actor"] == actor and found["policy"] is None and found["values"] is None and not found["actions"]
    assert main(["show", "leduc_poker", "--line", "raise, fold", "-s", "5"]) == 0
    assert "raise fold: the game is over" in capsys.readouterr().out
    assert main(["show", "leduc_poker", "--line", "raise, fold", "-s", "5", "--svg", "x.svg"]) == 2
    assert "no policy to draw" in capsys.readouterr().err


def test_the_terminal_has_ranges_after_each_action_and_a_row_for_each_infostate(capsys: Capture) -> None:
    assert main(["show", "leduc_poker", "--line", "raise", "-s", "20"]) == 0
    out = capsys.readouterr().out
    assert "  player 0: raise, " in out and "    holds Js " in out and "raise: player 1 to act" in out
    rows = [line.split() for line in out.splitlines() if line.split()[0] in ("Js", "Jh", "Qs", "Qh", "Ks", "Kh")]
    assert len(rows) == 6 and all(row[-1].endswith("%") for row in rows)


def test_a_table_that_is_cut_says_so_and_one_of_few_does_not(capsys: Capture) -> None:
    for sides, count in ((7, 28), (3, 6)):
        assert main(["show", f"liars_dice(numdice=2,dice_sides={sides})", "-s", "2"]) == 0
        out = capsys.readouterr().out
        assert ("the 24 likeliest of 28; --json has all" in out) == (count == 28)
        assert ("likeliest" in out) == (count == 28)


def test_a_grid_of_hands_in_a_turn_of_holdem(tmp_path: Path, capsys: Capture) -> None:
    game = "holdem(board=3s7hTdKs,pot=2000,stacks=2000,bets=allin)"
    svg = tmp_path / "grid.svg"
    words = ["show", game, "--line", "check", "-s", "2", "-c", "2", "--hands", "AKs,QQ", "--svg", str(svg)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "player 1 to act" in out and "QdQc" in out and "bet 2000 (allin)" in out and "AKo" in out
    assert svg.read_text().startswith("<svg")
    assert main(words) == 2  # nothing is overwritten


def test_a_board_has_its_picture_and_moves_best_first(tmp_path: Path, capsys: Capture) -> None:
    found = shown(["connect_four", "--line", "4,1,4,1,4,2", "-s", "50"], capsys)
    assert found["moves"][0]["move"] == "4" and found["value"] > 0.9
    shares = [move["share"] for move in found["moves"]]
    assert sum(shares) == pytest.approx(1.0) and len(shares) == 7
    svg = tmp_path / "moves.svg"
    assert (
        main(["show", "connect_four", "--line", "4,1", "-s", "20", "--algorithm", "alphazero", "--svg", str(svg)]) == 0
    )
    out = capsys.readouterr().out
    assert "o . . x . . ." in out and "player 0 to move" in out and "AlphaZero(20)" in out and svg.exists()


def test_a_solved_policy_is_shown_like_an_agent(tmp_path: Path, capsys: Capture) -> None:
    """In Kuhn poker's equilibria a bet with a jack is a third as frequent as with a king, and a queen never bets."""
    path = tmp_path / "kuhn.json"
    assert main(["solve", "kuhn_poker", "--iterations", "2000", "--out", str(path)]) == 0
    found = shown([str(path), "--line", "bet"], capsys)
    jack, queen, king = found["line"][1]["ranges"][0]
    assert jack / king == pytest.approx(1 / 3, abs=0.01) and queen < 0.01
    assert found["values"] is None and found["actor"] == 1 and found["actions"] == ["pass", "bet"]
    assert main(["show", str(path), "--line", "bet"]) == 0
    assert "holds J 25%, Q 0%, K 75%" in capsys.readouterr().out
    assert main(["show", str(path), "-s", "4"]) == 2
    assert "a solved policy searches nothing" in capsys.readouterr().err
    path.write_text('{"game": 3}')
    assert main(["show", str(path)]) == 2
    assert "holds no policy" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["leduc_poker", "--line", "bet"], "no way 'bet' at start; there are: check, raise"),
        (["leduc_poker", "--hand", "2"], "are for a file"),
        (["leduc_poker", "--hands", "AA"], "--hands is for hold'em"),
        (["connect_four", "--line", "4,9"], "no way '9' at 4"),
        (["connect_four", "--line", "1,2,1,2,1,2,1"], "the game is over at 1212121"),
        (["connect_four", "--limit-gb", "1"], "--limit-gb does nothing on a board"),
        (["nowhere"], "nowhere"),
        (["spot.npz", "--seed", "1"], "are for an agent"),
        (["leduc_poker", "--algorithm", "sog(games=3)"], "training"),
    ],
)
def test_bad_input_is_answered_in_a_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["show", *words]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") <= 3
