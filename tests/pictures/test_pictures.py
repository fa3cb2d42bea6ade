"""Pictures: sound SVG, the same text for the same numbers, words that can be read on every colour."""

from __future__ import annotations

import csv
import math
import re
from xml.etree import ElementTree

import pytest

from sog.pictures.boards import BOARDS, board_picture
from sog.pictures.charts import Curve, bar_chart, curve_chart, likeliest, policy_chart
from sog.pictures.grids import range_grid
from sog.pictures.hands import card_picture, die_picture
from sog.pictures.icicle import TreeBlock, drawn_count, icicle
from sog.pictures.maps import MapStation, map_picture
from sog.pictures.svg import ACTIONS, ACTORS, ON_COLOUR, SvgPicture, action_colours, document, tag, words
from tests.colours import contrast

BOARDS_OF = {
    "tic_tac_toe": ["x.o", ".x.", "o.x"],
    "connect_four": [*["......."] * 4, "..o....", "xxo.x.o"],
    "go": ["X.O.", ".XO.", "....", "...."],
    "battleship": ["..-.", "ssx.", "##.."],
    "chess": ["rnbqkbnr", "pppppppp", *["........"] * 4, "PPPPPPPP", "RNBQKBNR"],
}


def drawn(picture: str | SvgPicture) -> ElementTree.Element:
    """The picture, which is sound XML with a title; its table has a row of each width."""
    if isinstance(picture, SvgPicture):
        lines = list(csv.reader(picture.csv().splitlines()))
        assert len(lines) == len(picture.rows) + 1 and {len(line) for line in lines} == {len(picture.columns)}
        assert "nan" not in picture.csv()
    root = ElementTree.fromstring(picture.svg if isinstance(picture, SvgPicture) else picture)
    assert root.get("role") == "img" and root.get("aria-label")
    for element in root.iter():
        for value in element.attrib.values():
            assert "nan" not in value and "inf" not in value
    return root


def count(root: ElementTree.Element, name: str) -> int:
    return sum(element.tag.endswith(f"}}{name}") for element in root.iter())


def test_every_board_is_drawn() -> None:
    assert set(BOARDS_OF) == set(BOARDS)
    for kind, rows in BOARDS_OF.items():
        root = drawn(board_picture(kind, rows, [(0, 0), (1, 2)], "a position"))
        assert sum(element.get("class") == "last" for element in root.iter()) == 2
        assert root.get("viewBox") == f"0 0 {10 * len(rows[0]) + 10} {10 * len(rows) + 10}"
    chess = drawn(board_picture("chess", BOARDS_OF["chess"], [], "start"))
    assert count(chess, "path") == 32


def test_what_is_written_is_escaped() -> None:
    svg = document((10, 10), '<&">', words((0, 0), "<script>&", 3), tag("g", {"class": '"><script>'}))
    assert "<script" not in svg
    drawn(svg)
    drawn(icicle("a<b", [TreeBlock(-1, 1.0, 7.0, 0, "<x>", "a & b <c>")]))


def test_cards_and_dice() -> None:
    assert "J" in card_picture("Js", "own") and "10" in card_picture("Th", "own") and "K" in card_picture("K", "own")
    assert card_picture("", "hidden") == card_picture("", "hidden")
    for face in range(7):
        assert count(drawn(die_picture(face, "own")), "circle") == face
    drawn(die_picture(12, "own"))
    drawn(card_picture("", "hidden"))


def test_bars_and_policies() -> None:
    root = drawn(bar_chart("belief", [("Js", 0.75), ("a very long name of an infostate", 0.25), ("none", 0.0)]))
    wide = [float(e.get("width", 0)) for e in root.iter() if e.tag.endswith("rect")]
    assert wide[0] == pytest.approx(3 * wide[1], rel=0.01) and wide[2] == 0
    policy = drawn(
        policy_chart("policy", ["fold", "call", "raise"], [("Js", [0.5, 0.5, 0.0]), ("Ks", [0.0, 0.0, 1.0])])
    )
    assert count(policy, "rect") == 3 + 2 + 1  # the legend's, and one for each action that is played


def test_what_is_cut_says_so_and_its_table_has_all() -> None:
    rows = [(f"move {k}", (9 - k) / 45) for k in range(9)]
    bars = bar_chart("moves", rows, 4)
    assert "the 4 likeliest of 9" in bars.svg and "move 3" in bars.svg and "move 4" not in bars.svg
    assert "move 8" in bars.csv() and "likeliest" not in bar_chart("moves", rows, 9).svg
    policies = [(f"hand {k}", [0.5, 0.5]) for k in range(3)]
    chart = policy_chart("policy", ["fold", "call"], policies, [0, 2], likeliest(2, 3))
    assert "the 2 likeliest of 3" in chart.svg and "hand 1" not in chart.svg and "hand 1" in chart.csv()
    heights = [float(str(drawn(each).get("viewBox")).split()[3]) for each in (bar_chart("moves", rows[:4]), bars)]
    assert heights[1] == heights[0] + 20


def test_names_that_are_shortened_have_the_whole_as_their_title() -> None:
    name = f"{'a very long name ' * 4}<of a run>"
    pictures = [
        bar_chart("belief", [(name, 1.0)]),
        policy_chart("policy", [name, "call"], [(name, [0.5, 0.5])]),
        curve_chart("losses", [Curve(name, [(1.0, 2.0), (2.0, 3.0)])], ("minutes", "loss")),
        range_grid("policy", [[1.0] * 13] * 13, [name], [[[1.0] * 13] * 13]),
    ]
    for picture in pictures:
        root = drawn(picture)
        width = float(str(root.get("viewBox")).split()[2])
        titles = [element.text for element in root.iter() if element.tag.endswith("}title")]
        assert name in titles
        for text in (element for element in root.iter() if element.tag.endswith("}text")):
            if text.text and text.get("text-anchor") is None:
                assert float(text.get("x", 0)) + 6 * len(text.text) <= width


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    "points",
    [
        [],
        [(1.0, math.nan)],
        [(1.0, 2.0)],
        [(0.0, 0.0), (1.0, 0.0)],
        [(1.0, 1e-6), (2.0, math.nan), (3.0, 1e6)],
        [(1.0, -5.0), (2.0, 5.0)],
        [(float(k), 1.0 + k) for k in range(1000)],
        [(0.1, 3e-13), (0.2, 8e-13)],
        [(0.1, 1e-300), (0.2, 5e-300)],
    ],
)
def test_curves_of_any_points(points: list[tuple[float, float]], log: bool) -> None:
    drawn(curve_chart("losses", [Curve("a", points), Curve("b", [])], ("minutes", "loss"), log))


def test_a_point_without_neighbours_is_a_dot() -> None:
    root = drawn(
        curve_chart("losses", [Curve("a", [(1.0, math.nan), (2.0, 0.5), (3.0, math.nan)])], ("minutes", "loss"))
    )
    assert count(root, "circle") == 1


def test_ticks_are_round_numbers() -> None:
    svg = curve_chart("x", [Curve("a", [(0.0, 0.0), (10.0, 100.0)])], ("minutes", "loss")).svg
    assert {"0", "2", "4", "6", "8", "10", "20", "40", "60", "80", "100"} <= set(re.findall(r">([\d.]+)<", svg))
    logs = curve_chart("x", [Curve("a", [(0.0, 0.01), (10.0, 1000.0)])], ("minutes", "loss"), log=True).svg
    assert {"0.01", "1", "100"} <= set(re.findall(r">([\d.]+)<", logs))


def test_no_minutes_are_below_zero() -> None:
    svg = curve_chart("x", [Curve("a", [(0.1, 0.2)])], ("minutes", "loss")).svg
    ticks = [float(x) for x in re.findall(r">(-?[\d.]+)</text>", svg)]
    assert len(ticks) > 4 and min(ticks) == 0.0
    assert "<circle" in svg


def test_nodes_too_narrow_to_be_drawn_are_not_counted() -> None:
    blocks = [TreeBlock(-1, 1.0, 1000.0, 0, "", "root"), TreeBlock(0, 0.999, 999.0, 1, "a", "a")]
    blocks.append(TreeBlock(0, 0.001, 1.0, 1, "b", "b"))
    rects = [e for e in drawn(icicle("tree", blocks)).iter() if e.tag.endswith("rect")]
    assert drawn_count(blocks) == len(rects) == 2


def test_a_trees_nodes_lie_below_their_parents() -> None:
    blocks = [
        TreeBlock(-1, 1.0, 8.0, 0, "", "root"),
        TreeBlock(0, 0.75, 6.0, 1, "raise", "a"),
        TreeBlock(0, 0.25, 2.0, 3, "fold", "b"),
        TreeBlock(1, 0.5, 3.0, 2, "", "c"),
    ]
    rects = [e for e in drawn(icicle("tree", blocks)).iter() if e.tag.endswith("rect")]
    places = [(float(e.get("x", 0)), float(e.get("width", 0)), float(e.get("y", 0))) for e in rects]
    assert [y for *_, y in places] == [1, 23, 23, 45]
    assert places[2][0] == pytest.approx(315.5) and places[3][1] == pytest.approx(420 * 0.375 - 1)


def test_a_grid_of_hands_is_filled_by_weight_and_action() -> None:
    weights = [[0.0] * 13 for _ in range(13)]
    weights[0][1], weights[12][12] = 2.0, 1.0  # AKs and 22
    taken = [[[share] * 13 for _ in range(13)] for share in (0.25, 0.75)]
    root = drawn(range_grid("policy", weights, ["check", "bet 500 (0.5)"], taken))
    names = [element.text or "" for element in root.iter() if element.tag.endswith("}title")][1:]
    assert len(names) == 169 and {f"{hand}: weight 0% of the likeliest" for hand in ("AA", "AKo")} < set(names)
    assert "AKs: weight 100% of the likeliest, check 25%, bet 500 (0.5) 75%" in names and "22: weight 50%" in names[-1]
    filled = [e for e in root.iter() if e.tag.endswith("}rect") and e.get("fill") in (ACTIONS[1], "#a3262c")][2:]
    sizes = [(float(e.get("width", 0)), float(e.get("height", 0))) for e in filled]
    assert sizes == [(7.75, 31), (23.25, 31), (7.75, 15.5), (23.25, 15.5)]
    drawn(range_grid("nobody's range", [[0.0] * 13] * 13))


def test_a_map_shows_who_is_where() -> None:
    stations = [
        MapStation("1", (0.0, 0.0), words="station 1"),
        MapStation("12", (1.0, 0.5), 1.0),
        MapStation("113", (2.0, -0.5), 0.0, here=True),
        MapStation("7", (3.0, 0.0), held="D1"),
    ]
    root = drawn(map_picture("the map", stations, {"taxi": [(0, 1), (1, 2)], "ferry": [(2, 3)]}))
    assert count(root, "circle") == 3 + 1 and count(root, "rect") == 1 and count(root, "path") == 2 + 2
    left, top, width, height = map(float, str(root.get("viewBox")).split())
    for circle in root.iter():
        if circle.tag.endswith("}circle"):
            assert 0 < float(circle.get("cx", 0)) < width and 0 < float(circle.get("cy", 0)) < height
    assert (left, top) == (0, 0)


def test_a_known_chance_of_0_is_written() -> None:
    places = [MapStation("1", (0.0, 0.0)), MapStation("2", (1.0, 0.0), 0.0), MapStation("3", (2.0, 0.0), 1.0)]
    known = map_picture("known", places, {"taxi": [(0, 1)]})
    unknown = map_picture("unknown", places[:2], {"taxi": [(0, 1)]})
    assert [row[-1] for row in known.rows] == ["", 0.0, 1.0] and [row[-1] for row in unknown.rows] == ["", ""]


def written(group: ElementTree.Element) -> tuple[str, list[str]]:
    """The colour of a group's words, and those of the shapes that they lie on."""
    shapes = [str(e.get("fill")) for e in group if e.tag.endswith(("}rect", "}circle"))]
    return next(str(e.get("fill")) for e in group if e.tag.endswith("}text")), shapes


def test_words_can_be_read_on_every_cell_and_station() -> None:
    actions = ["fold", "call", *(f"bet {k}" for k in range(4))]
    grid = range_grid("all colours", [[0.5] * 13] * 13, actions, [[[1 / 6] * 13] * 13] * 6)
    shares = [None, *(k / 20 for k in range(21))]
    stations = [MapStation(str(k), (float(k), 0.0), share) for k, share in enumerate(shares)]
    stations.append(MapStation("99", (0.0, 1.0), held="D1"))
    for picture in (grid, map_picture("all shades", stations, {"taxi": [(0, 1)]})):
        groups = [element for element in drawn(picture).iter() if element.tag.endswith("}g")]
        assert len(groups) in (169, len(stations))
        for ink, papers in map(written, groups):
            assert papers and all(contrast(ink, paper) >= 4.5 for paper in papers), (ink, papers)


def test_words_can_be_read_on_every_colour() -> None:
    colours = {*ACTORS, *ACTIONS, *action_colours(["fold", "call", *[f"bet {k}" for k in range(6)]])}
    for colour in colours:
        assert contrast(ON_COLOUR, colour) >= 4.5, colour
