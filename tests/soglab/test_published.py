"""Tables of the papers, read a second time: by their own rows and columns, or by sums over the printed columns."""

from __future__ import annotations

import re
from pathlib import Path

from soglab.papers import cfrd_figures, pog_fig15, pog_table5, rebel_fig3, rebel_table2, sepot_table1, sog_table2

DOCS = Path(__file__).parents[2] / "docs"

# ReBeL, Table 2, by the table's columns: full-game FP and CFR, ReBeL's FP and CFR-D.
REBEL_TABLE_2 = {
    "1x4f": (0.012, 0.001, 0.041, 0.017),
    "1x5f": (0.024, 0.001, 0.020, 0.015),
    "1x6f": (0.039, 0.002, 0.040, 0.024),
    "2x3f": (0.057, 0.002, 0.020, 0.017),
}


def test_rebels_table_2() -> None:
    for game, printed in REBEL_TABLE_2.items():
        whole, learned = rebel_fig3.TABLE_2, rebel_table2.TABLE_2
        assert (whole["FP"][game], whole["CFR"][game], learned["fp"][game], learned["cfr-d"][game]) == printed
    assert rebel_table2.TABLE_2["flop"] == rebel_table2.TABLE_2["fp"]
    assert set(rebel_table2.TABLE_2["fp"]) == set(REBEL_TABLE_2) == set(rebel_table2.GAMES)


def test_player_of_games_table_5() -> None:
    """The sums of the seven constants' rows, column by column (mvd, mvis, mval), and the table's lowest figures."""
    sums = {count: tuple(map(sum, zip(*rows.values(), strict=True))) for count, rows in pog_table5.TABLE_5.items()}
    assert sums == {
        10: (13374, 18235, 17007),
        100: (9361, 9931, 9204),
        1_000: (6354, 6559, 6146),
        10_000: (4979, 4437, 4460),
    }
    assert pog_table5.TABLE_5[10_000][10.0] == (490, 485, 480) and pog_table5.TABLE_5[100][5.0] == (1239, 1145, 1094)


def test_what_is_printed_as_the_papers_is_what_the_pages_cite() -> None:
    """CFR-D's text, SoG's Table 2 and the agents of PoG's Fig. 15, each written down in two places."""
    solving, notes = ((DOCS / page).read_text() for page in ("measured/solving.md", "notes.md"))
    for what, said, _ in cfrd_figures._FIG5_TEXT["safe"] + cfrd_figures._FIG5_TEXT["unsafe"]:
        assert f"({said})" in solving, what
    lost, won = (part.rpartition(" loses ")[2] for part in sog_table2._PAPER.split("; "))
    assert f"local best response losing {lost} in that setting, and {won} won from Slumbot" in solving
    for game in ("kuhn_poker", "leduc_poker"):
        figures = [said.removeprefix("about ") for said in pog_fig15.PAPER[game].values()]
        (line,) = re.findall(
            rf"{game.split('_')[0].capitalize()} after [\d,]+, (Q-learning .*?A2C \d+\s+\(\d+\))", notes, re.DOTALL
        )
        assert re.findall(r"\((\d+)\)", line) == figures


def test_sepots_table_1() -> None:
    """The rewards x 100 of the smaller and of the larger subgames, in the order of the table's columns."""
    for size, printed in (
        (25_000, ["2.70", "3.44", "1.12", "6.2", "81.9", "24.1"]),
        (100_000, ["3.10", "3.51", "1.43", "6.5", "83.5", "42.1"]),
    ):
        assert [row[size].split()[0] for row in sepot_table1.PAPER.values()] == printed
