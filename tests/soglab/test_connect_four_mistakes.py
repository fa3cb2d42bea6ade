"""The shipped positions are what they are said to be, are made again from the seed, and mistakes are counted right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sog.errors import SettingError
from sog.measure.intervals import paired_difference, plus_minus
from sog.opponents.connect_four.bitboards import mirrored
from sog.opponents.connect_four.positions import SETS, SHIPPED, Scored, read_positions, set_of, write_positions
from sog.opponents.connect_four.solver import Board, ConnectFourSolver, plies_to_end
from soglab.checks.connect_four_mistakes import MCTS, RANDOM, compute, plan, present
from soglab.checks.connect_four_sets import Journal, make_sets
from soglab.study import Options, StudyPoint


def test_the_shipped_positions_are_what_they_are_said_to_be() -> None:
    seen = set()
    for position in read_positions():
        board = Board.after(position.moves)
        assert list(position.scores) == board.columns() and not board.wins_at_once()
        assert set_of(board.stones, plies_to_end(board, position.best)) == position.of
        seen.add(min((board.own, board.mask), mirrored(board.own, board.mask)))
    assert len(seen) == len(read_positions())
    assert SHIPPED.stat().st_size < 300_000


def test_some_shipped_scores_are_solved_again() -> None:
    solver = ConnectFourSolver(bits=18)
    late = [position for position in read_positions() if len(position.moves) >= 15]
    for position in late[:: len(late) // 40]:
        assert solver.scores(Board.after(position.moves)) == position.scores


def test_sets_are_made_again_from_the_seed_and_go_on_from_the_journal(tmp_path: Path) -> None:
    sizes = {"End-Easy": 3, "Middle-Easy": 3, "Middle-Medium": 2}
    solver = ConnectFourSolver(bits=18)
    first = make_sets(sizes, 0, Journal(solver, tmp_path / "journal"))
    searched = solver.nodes
    again = make_sets(sizes, 0, Journal(solver, tmp_path / "journal"))
    assert again == first and solver.nodes - searched < searched  # only the quick questions are asked again
    with (tmp_path / "journal").open("a") as file:
        file.write('["score (1, 2')  # what a kill leaves
    assert make_sets(sizes, 0, Journal(solver, tmp_path / "journal")) == first
    assert all(position in read_positions() for position in first)  # the beginning of what is shipped
    write_positions(tmp_path / "positions", first)
    assert read_positions(tmp_path / "positions") == first


def test_a_file_of_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no positions")
    with pytest.raises(SettingError):
        read_positions(tmp_path / "text")


def test_mistakes_are_counted_by_value_and_by_score() -> None:
    position = Scored("End-Easy", (), {0: 3, 1: 1, 2: 0, 5: -2})
    assert position.can_lose_value and position.best == 3
    assert [position.loses_value(c) for c in position.scores] == [False, False, True, True]
    assert [position.loses_score(c) for c in position.scores] == [False, True, True, True]
    assert not Scored("End-Easy", (), {0: 3, 1: 1}).can_lose_value


def test_quick() -> None:
    keys = plan(Options(quick=True), print)
    assert {key["set"] for key in keys} == set(SETS)
    points = [StudyPoint(key, compute(key)) for key in keys if key["set"] in ("End-Easy", "Middle-Medium")]
    rows = list(present(points).rows)
    assert {row["agent"] for row in rows} == {"sog", "alphazero", "network", MCTS, RANDOM}
    for row in rows:
        assert row["positions"] == (12 if row["set"] == "all" else 6)
        assert 0 <= row["value_low"] <= row["value_share"] <= row["value_high"] <= 1
    less = {row.what: row.ours for row in present(points).beside if " less " in row.what}
    assert len(less) == 4 and "all, random less sog(100), position by position" in less
    random = next(row for row in rows if row["agent"] == RANDOM and row["set"] == "Middle-Medium")
    assert 0 < random["lose_value"] < random["can_lose_value"]


def test_players_are_compared_position_by_position() -> None:
    """The second loses value where the first does and in one position more, of five in two batches."""
    key = {"checkpoint": "/a", "network": "x", "simulations": 100, "set": "End-Easy"}
    points = []
    for agent, lost in (("sog", ([1, 0], [0, 1, 0])), ("alphazero", ([1, 1], [0, 1, 0]))):
        for first, losses in zip((0, 250), lost, strict=True):
            counts = {"can_lose_value": len(losses), "lose_value": sum(losses), "can_lose_score": 3, "lose_score": 1}
            result = {"positions": 9, **counts, "losses": losses}
            points.append(StudyPoint({**key, "agent": agent, "first": first}, result))
    rows = {row.what: row.ours for row in present(points).beside}
    mean, half = paired_difference([100, 100, 0, 100, 0], [100, 0, 0, 100, 0])
    assert (
        rows["all, alphazero(100) less sog(100), position by position"]
        == f"{plus_minus(mean, half, '+.2f')} points of 5"
    )
    assert rows["all, alphazero(100)"].startswith("60.0% [")
    older = [replace(point, result={**point.result, "losses": []}) for point in points]
    del older[0].result["losses"], older[1].result["losses"]
    assert not [row for row in present(older).beside if " less " in row.what]


def test_shares_are_of_what_can_be_lost_and_several_networks_get_short_names() -> None:
    counts = {"positions": 8, "can_lose_value": 4, "lose_value": 1.0, "can_lose_score": 5, "lose_score": 2.0}
    key = {"agent": "sog", "network": "x", "simulations": 100, "set": "End-Easy"}
    points = [StudyPoint({**key, "checkpoint": f"/runs/{run}/checkpoint"}, counts) for run in ("a", "b")]
    alone, both = present(points[:1]).beside, present(points).beside
    assert [row.what for row in alone] == ["End-Easy, sog(100)", "all, sog(100)"]
    # Of the positions in which some move loses, and Wilson's interval of 1 of 4.
    assert alone[0].ours == "25.0% [4.6%, 69.9%] of 4 lose value; 40.0% of 5 not best in score"
    assert {row.what for row in both} > {"End-Easy, sog(100) of a/checkpoint", "End-Easy, sog(100) of b/checkpoint"}
