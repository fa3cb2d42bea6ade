"""Whole games of every row of `sog games`, by the forms that the pages draw, a new row without a line here."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import quote

import pytest

from sog.cli.app import main
from sog.games.catalog import known_games
from tests.web.client import Client, Form, client_of, own_game, page_at, page_of, played_out
from tests.web.rows import NAMED, OWN, ROWS

GAMES = [*(name for name, _ in known_games()), *NAMED, OWN]


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A browser of a server that offers all of GAMES."""
    folder = tmp_path_factory.mktemp("every")
    with own_game(folder):
        client = client_of(folder / "games", NAMED)
        yield client
        client.close()


def test_the_list_of_games_has_all_that_sog_games_lists(offered: Client, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["games", "--json"]) == 0
    listed = [(row["game"], *row["checkpoints"]) for row in json.loads(capsys.readouterr().out)["games"]]
    assert {*itertools.chain(*listed), *NAMED} == set(ROWS.values())
    links = re.findall(r'href="/new\?game=([^"]+)"', page_of(offered, "/"))
    assert set(links) == {quote(game) for game in ROWS.values()}


@pytest.mark.parametrize("other", ["random", "network", "person"])
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.partition("(")[0])
def test_a_whole_game_by_what_its_pages_draw(offered: Client, game: str, other: str) -> None:
    rng, setup = random.Random(game + other), f"/new?game={quote(game)}"
    assert f'href="{setup}"' in page_of(offered, "/")
    (form,) = Form(page_of(offered, setup)).forms
    seats = ("person", other) if rng.random() < 0.5 else (other, "person")
    fields = {"seat0": seats[0], "seat1": seats[1], "simulations": "2" if other == "network" else ""}
    address = page_at(offered.post(form["action"], form["fields"] | fields))
    page = played_out(offered, address, rng, whole=True)
    view = offered.get(f"{address}/view.json").json()
    assert view["result"] and view["result"] in unescape(page)
    assert len(view["log"]) == view["moves"] > 0
    links = [unescape(link) for link in re.findall(r'href="(/[^"]+)"', page)]
    looks = [link for link in links if link.startswith("/position")]
    for link in {*links} - {*looks} | {*looks[-1:], f"{address}/record", f"{address}/saved"}:
        page_of(offered, link)
    assert page_of(offered, "/games").count(address) == 1
