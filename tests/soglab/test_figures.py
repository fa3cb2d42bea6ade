"""Documented figures: the table against the pages, what a wrong figure says, and the quick ones run again."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from sog.cli.app import main
from sog.cluster import placement
from sog.games.catalog import make_game
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.tree.public_tree import PublicTree
from soglab.checks import figures, nudged
from soglab.checks.documented import FIGURES, DocumentedFigure

DOCS = Path(__file__).parents[2] / "docs"
_QUICK = 8  # seconds


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.command[4:60])
def test_the_page_has_the_command_and_its_figures(figure: DocumentedFigure) -> None:
    page = (DOCS / figure.page).read_text()
    assert figure.on_the_page in page
    assert all(written in page for written in figure.figures.values())


QUICK = [figure for figure in FIGURES if figure.seconds <= _QUICK]


@pytest.mark.parametrize("figure", QUICK, ids=lambda figure: figure.command[4:60])
def test_quick_commands_print_them(figure: DocumentedFigure, capsys: pytest.CaptureFixture[str]) -> None:
    """Within a tenth: rounding differs between processors; `make figures` compares every digit."""
    assert main([*shlex.split(figure.command)[1:], "--json", "--workers", "1"]) == 0
    printed = json.loads(capsys.readouterr().out)
    for compared in figures.compare(figure, printed):
        assert float(compared.printed) == pytest.approx(float(compared.written), rel=0.1)


def test_a_figure_that_moved_is_said() -> None:
    figure = DocumentedFigure("sog exploit leduc_poker", "figures.md", 1, {"mean": "0.37", "max": "31.5"})
    printed = {"exploitability": {"mean": 0.3733, "max": 31.61}}
    mean, most = figures.compare(figure, printed)
    assert (mean.printed, mean.equal) == ("0.3733", True) and (most.printed, most.equal) == ("31.61", False)


def test_words_of_an_experiment_are_looked_for() -> None:
    """In the order in which they are printed, in as many digits as the page has; a range cut short is a difference."""
    says = {"CFR": "1,022 (7.1 .. 25)", "FP": "1.09", "Linear": "3 (4 .. 5)"}
    figure = DocumentedFigure("sog reproduce x", "figures.md", 1, says)
    printed = [{"what": "CFR", "ours": "1022.4 (7.13 .. 25.2) after 125"}, {"what": "Linear", "ours": "3 (4)"}]
    cfr, fp, linear = figures.compare(figure, {"beside": printed})
    assert cfr.equal and not fp.equal and fp.printed == "is not printed" and not linear.equal


def test_a_command_that_fails_is_a_difference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = DocumentedFigure("sog exploit no_such_game", "figures.md", 1, {"mean": "1"})
    monkeypatch.setattr(figures, "FIGURES", (broken,))
    assert figures.main([]) == 1
    printed = capsys.readouterr().out
    assert "no_such_game" in printed and "1 of 1 figures differ" in printed
    assert figures.main(["--list"]) == 0 and figures.main(["of nothing"]) == 0


def test_a_nudge_moves_every_probability_by_a_billionth_at_most() -> None:
    for own in np.array([0.25, 0.0, 0.75]), np.ones(2):
        other = nudged.moved(own, np.random.default_rng(1))
        assert (np.abs(own - other) <= 1e-9 * own).all() and (own != other).sum() == (own > 0).sum()


def test_a_nudged_command_begins_elsewhere_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes' ranges would be as they are. ReBeL's subgames have their ranges in a tree of many roots."""
    public = PublicTree(make_game("kuhn_poker")).list_all()
    ranges, places = public.game.root_ranges(), []

    def run(words: list[str]) -> int:
        places.append(placement.placement_of(None, None).places)
        for tree in (Lookahead(public, 0, ranges), Subgames(public, [(0, np.concatenate(ranges))]).tree):
            for own, other in zip(tree.ranges(0), ranges, strict=True):
                assert (own != other).all() and np.allclose(own, other, rtol=2e-9, atol=0.0)
        return 3

    monkeypatch.setattr(placement, "usable_cores", lambda: 2)
    monkeypatch.setattr(nudged, "command", run)
    monkeypatch.setattr(sys, "argv", ["nudged", "1", "exploit", "kuhn_poker"])
    with pytest.raises(SystemExit) as ended:
        nudged.main()
    assert (ended.value.code, places) == (3, [1])


def test_a_nudged_command_prints_its_figure_and_begins_elsewhere() -> None:
    command = "sog solve kuhn_poker --iterations 50"
    found = [figures.printed_by(command, nudge)["exploitability"] for nudge in (0, 1)]
    assert found[0] != found[1] == pytest.approx(found[0], rel=0.2)
