"""Every picture of a page as files: the SVG that the page shows, and its figures as CSV."""

from __future__ import annotations

import csv
import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest

from sog.games.catalog import make_game
from sog.web.asked import PositionAsked
from sog.web.thinker import Thinker
from tests.web.client import Client, begun, client_of, page_of
from tests.web.test_looks import BATTLESHIP, RIVER
from tests.web.test_server import run_folder

POSITIONS = {
    "leduc_poker": {"policy", "prior-of-the-network", "tree"},
    "connect_four": {"board", "policy", "prior-of-the-network", "tree"},
    RIVER: {"policy", "prior-of-the-network", "range-of-player-1", "tree"},
    "scotland_yard(map=glasses)": {"map", "policy", "prior-of-the-network", "where-mr-x-is-by-his-range", "tree"},
    BATTLESHIP: {"board-of-player-0", "board-of-player-1", "policy", "prior-of-the-network", "tree"},
}


def files_of(client: Client, page: str) -> dict[str, list[dict[str, str]]]:
    """The tables of a page's pictures by their names; each file is what the page shows."""
    drawn = [svg for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL) if "playing-card" not in svg]
    parts = re.findall(r'<p class="files" data-name="([^"]+)"[^>]*>(.*?)</p>', page)
    tables = {}
    for svg, (name, links) in zip(drawn, parts, strict=True):
        picture, table = (client.get(unescape(link)) for link in re.findall(r'href="([^"]+)"', links))
        assert (picture.text, picture.headers["content-type"]) == (svg, "image/svg+xml")
        assert table.headers["content-type"] == "text/csv; charset=utf-8"
        lines = list(csv.reader(table.text.splitlines()))
        assert len(lines) > 1 and {len(line) for line in lines} == {len(lines[0])}
        tables[name] = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    assert len(tables) == len(drawn)
    return tables


@pytest.mark.parametrize("game", POSITIONS, ids=lambda game: game.partition("(")[0])
def test_every_picture_of_a_position_has_files(client: Client, game: str) -> None:
    answer = client.get("/position", {"game": game, "s": "8", "c": "1", "step": "2"})
    tables = files_of(client, answer.text)
    assert set(tables) == POSITIONS[game]
    nodes = tables["tree"]
    assert [int(node["parent"]) < n for n, node in enumerate(nodes)] == [True] * len(nodes)
    assert float(nodes[0]["visits"]) >= sum(float(n["visits"]) for n in nodes if n["parent"] == "0") > 0


def test_figures_are_those_of_the_search(client: Client) -> None:
    page = page_of(client, "/position?game=leduc_poker&line=1&s=8&c=1")
    rows, game = files_of(client, page)["policy"], make_game("leduc_poker")
    found = Thinker().look(PositionAsked("leduc_poker", (1,), "leduc_poker", 8, 1.0, 0)).snapshots[-1]
    assert list(rows[0]) == ["infostate", "fold", "call", "raise"]
    assert [row["infostate"] for row in rows] == [game.infostate_name(game.root(), 1, i) for i in range(6)]
    figures = [[float(row[action]) for action in ("fold", "call", "raise")] for row in rows]
    assert pytest.approx(found.policy, rel=1e-8) == np.array(figures).T


@pytest.mark.parametrize("game", ["leduc_poker", RIVER, "scotland_yard(map=glasses)"], ids=lambda g: g[:6])
def test_values_and_ranges_are_csv_of_every_infostate(client: Client, game: str) -> None:
    page = page_of(client, f"/position?{urlencode({'game': game, 's': 8, 'c': 1, 'step': 2})}")
    asked = PositionAsked(game, (), game, 8, 1.0, 0)
    found, rules = Thinker().look(asked).snapshots[2], make_game(game)
    links = re.findall(r'href="([^"]+)" aria-label="Values and ranges of ([^"]+) as CSV"', page)
    assert [role for _, role in links] == list(rules.player_names)
    for p, (link, _) in enumerate(links):
        answer = client.get(unescape(link))
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        rows = list(csv.DictReader(answer.text.splitlines()))
        names = [rules.infostate_name(rules.root(), p, i) for i in range(rules.num_infostates(rules.root())[p])]
        assert [row["infostate"] for row in rows] == names
        for column, figures in (
            ("range", found.ranges[p]),
            (f"value, {rules.unit.name}", rules.unit.per_utility * found.values[p]),
        ):
            assert [float(row[column]) for row in rows] == pytest.approx(figures.tolist(), rel=1e-8)
    assert client.get(unescape(links[0][0]).replace(".csv", ".svg")).status == 400


def test_a_grid_has_a_row_for_each_class_of_hands(client: Client) -> None:
    answer = client.get("/position", {"game": RIVER, "s": "8", "c": "1"})
    rows = files_of(client, answer.text)["policy"]
    assert len(rows) == 169 and rows[1]["hands"] == "AKs"
    assert max(float(row["weight, of the likeliest"]) for row in rows) == 1.0
    actions = list(rows[0])[2:]
    assert sum(float(rows[0][action]) for action in actions) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("game", ["leduc_poker", "scotland_yard(map=glasses)", BATTLESHIP], ids=lambda g: g[:6])
def test_every_picture_of_a_game_has_files(client: Client, game: str) -> None:
    """In play, with a hint, and at the end, with what the agent believed."""
    address = begun(client, game, ("person", "network"), "4")
    client.post(f"{address}/hint", {})
    looks = {"scot": {"map"}, "batt": {"board-of-player-0", "board-of-player-1"}}.get(game[:4], set())
    page = page_of(client, address)
    assert set(files_of(client, page)) == looks | {"hint"}
    while 'name="move"' in page:
        at, columns = re.findall(r'name="at" value="(\d+)"', page), re.findall(r'name="move" value="(\d+)"', page)
        client.post(f"{address}/move", {"at": at[0], "move": columns[-1]})
        page = page_of(client, address)
    believed = {name: rows for name, rows in files_of(client, page).items() if name.startswith("move-")}
    assert believed and set(files_of(client, page)) == looks | set(believed)
    for rows in believed.values():
        assert 0 < sum(float(row["probability"] or 0) for row in rows) < 1.001


def test_curves_have_their_points(tmp_path: Path) -> None:
    named = [str(run_folder(tmp_path / "a", [0.5, 0.25])), str(run_folder(tmp_path / "b", [0.75]))]
    client = client_of(tmp_path / "games", named)
    losses = files_of(client, page_of(client, "/runs/a"))["losses"]
    assert [float(row["loss"]) for row in losses if row["curve"] == "value loss"] == [0.5, 0.25]
    both = files_of(client, page_of(client, "/runs/a?beside=b"))["losses"]
    assert {"value loss, a", "value loss, b"} <= {row["curve"] for row in both}
    client.close()


@pytest.mark.parametrize("file", ["tree.png", "tree", ".svg", "x.csv", "policy.svg.csv", "board.csv"])
def test_other_files_are_refused(client: Client, file: str) -> None:
    assert client.get(f"/position/pictures/{file}?game=kuhn_poker&s=4&c=1").status == 400
