"""ReBeL Fig. 3: the plan, one short line, and how the figures stand beside Table 2."""

from __future__ import annotations

from soglab.papers import rebel_fig3
from soglab.study import Options, StudyPoint


def test_the_plan_has_every_algorithm_on_every_game() -> None:
    keys = rebel_fig3.plan(Options(), print)
    assert len(keys) == 16
    assert {key["rounds"] for key in keys} == {16_384}


def test_a_line_of_the_smallest_game() -> None:
    found = {
        name: rebel_fig3.compute({"game": "1x4f", "algorithm": name, "rounds": 512})["exploitability"]
        for name in rebel_fig3.ALGORITHMS
    }
    for line in found.values():
        assert list(line) == ["32", "64", "128", "256", "512"]
        assert line["512"] < line["32"] / 3
    # Near Table 2's 0.001, 512 rounds being 1,024 updates of one player; and the order of the figure's lines.
    assert 0.0003 < found["Linear CFR"]["512"] < 0.0015
    assert found["Linear CFR"]["512"] < found["FLOP"]["512"] < found["Linear FP"]["512"] < found["FP"]["512"]


def test_the_table_counts_updates_of_one_player() -> None:
    keys = [key for key in rebel_fig3.plan(Options(), print) if key["algorithm"] == "Linear CFR"]
    outcome = rebel_fig3.present([StudyPoint(key, {"exploitability": {"512": 0.002, "1024": 0.001}}) for key in keys])
    first, second = outcome.beside
    assert first.what == "Linear CFR, 1x4f, 1x5f, 1x6f, 2x3f, 1,024 updates"
    assert (first.paper, first.ours) == ("0.001, 0.001, 0.002, 0.002", "0.0020, 0.0020, 0.0020, 0.0020")
    assert second.what.endswith("2,048 updates")
    assert len(outcome.rows) == 8


def test_the_nearest_variant_of_fictitious_play() -> None:
    factors = {"FP": 1.1, "Linear FP": 0.5, "FLOP": 3.0, "Linear CFR": 1.0}
    points = [
        StudyPoint(key, {"exploitability": {"512": factors[key["algorithm"]] * rebel_fig3.TABLE_2["FP"][key["game"]]}})
        for key in rebel_fig3.plan(Options(), print)
    ]
    last = rebel_fig3.present(points).beside[-1]
    assert (last.paper, last.ours) == ("FLOP", "FP (1.10 x off), Linear FP (2.00 x off), FLOP (3.00 x off)")
    assert "nearest" not in rebel_fig3.present(points[:-4]).beside[-1].what  # a game is missing
