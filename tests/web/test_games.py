"""Whole games by forms alone, and what their pages say on the way."""

from __future__ import annotations

import random
import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from sog.errors import SogError
from sog.games.catalog import make_game
from sog.web.positions import state_at
from tests.web.client import Client, Form, begun, client_of, played_out

MATE_IN_ONE = "chess(fen=6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1)"


def test_go_by_forms(games: Path) -> None:
    client = client_of(games, ["go(board_size=2,komi=0.5)"])
    address = begun(client, "go(board_size=2,komi=0.5)", ("person", "person"))
    assert "won" in played_out(client, address, random.Random(3))
    assert "SZ[2]" in client.get(f"{address}/record").text
    client.close()


def test_chess_is_played_by_links_and_buttons(games: Path) -> None:
    client = client_of(games, [MATE_IN_ONE])
    address = begun(client, MATE_IN_ONE, ("person", "person"))
    page = client.get(f"{address}?from=a1").text
    (square,) = [line for line in page.splitlines() if 'aria-label="a1 to a8"' in line]
    column = square.partition('value="')[2].partition('"')[0]
    form = next(form for form in Form(page).forms if form["action"].endswith("/move"))
    client.post(form["action"], form["fields"] | {"move": column})
    assert "won" in client.get(address).text
    assert '[FEN "6k1/5ppp' in client.get(f"{address}/record").text
    client.close()


def test_the_shipped_network_says_afterwards_what_it_believed(client: Client) -> None:
    address = begun(client, "leduc_poker", ("person", "network"), "20")
    while not (view := client.get(f"{address}/view.json").json())["result"]:
        assert "believed" not in client.get(address).text and not view["minds"] and view["hands"][1] is None
        call = next(choice["column"] for choice in view["choices"] if choice["name"] in ("call", "check"))
        client.post(f"{address}/move", {"at": view["moves"], "move": call})
    page = client.get(address).text
    assert page.count("it believed that player 0 held") == len(view["minds"]) > 0
    for mind in view["minds"]:
        assert sum(p for _, p in mind["belief"]) == pytest.approx(1.0, abs=0.01)


PIG = "openspiel:pig(winscore=20)"


@pytest.mark.parametrize("game", ["leduc_poker", "connect_four", PIG, "scotland_yard(map=glasses)"])
def test_each_move_of_a_finished_game_links_to_the_position_before_it(games: Path, game: str) -> None:
    """Chance may act between two moves. A server that does not offer the game has no such links."""
    client, rules = client_of(games, [game]), make_game(game)
    address = begun(client, game, ("person", "person"))
    page = played_out(client, address, random.Random(1))
    table = client.app.app.state.site.tables.get(address.rpartition("/")[2])
    links = [unescape(link) for link in re.findall(r'<a href="([^"]*)" aria-label="look at', page)]
    before = [rules.state_name(table.public.states[made.before.node]) for made in table.made]
    lines = [parse_qs(urlsplit(link).query).get("line", [""])[0] for link in links]
    assert [rules.state_name(state_at(rules, [int(e) for e in w.split("-") if e])[-1]) for w in lines] == before
    assert "Play again" in page
    other = client_of(games)  # the same folder
    page = other.get(address).text
    assert ("Play again" in page, "look at the position" in page) == (game != PIG,) * 2
    for each in (client, other):
        each.close()


def test_a_board_without_a_picture_is_shown_in_letters(games: Path) -> None:
    client = client_of(games, ["openspiel:othello", PIG])
    for game, words in (("openspiel:othello", "4 - - - o x - - - 4"), (PIG, "Scores: 0 0, Turn total: 0")):
        for page in (client.get(begun(client, game, ("person", "person"))), client.get("/position", {"game": game})):
            (text,) = re.findall(r"<pre>(.*?)</pre>", page.text, re.DOTALL)
            assert words in text
    for game in ("connect_four", "leduc_poker"):
        assert "<pre>" not in client.get(begun(client, game, ("person", "person"))).text
    client.close()


def test_two_agents_play_a_move_a_press(client: Client) -> None:
    address = begun(client, "kuhn_poker", ("random", "random"))
    view = client.get(f"{address}/view.json").json()
    assert view["viewer"] is None and view["moves"] == 1 and view["hands"] == [None, None]
    assert "won" in played_out(client, address, random.Random(0))


def test_an_old_page_makes_no_move(client: Client) -> None:
    address = begun(client, "kuhn_poker", ("person", "person"))
    assert client.post(f"{address}/move", {"at": "0", "move": "0"}).status == 303
    late = client.post(f"{address}/move", {"at": "0", "move": "0"})
    assert late.status == 400 and "moved on" in late.text
    assert client.post(f"{address}/move", {"at": "1", "move": "7"}).status == 400
    assert client.get(f"{address}/view.json").json()["moves"] == 1


def test_only_what_is_offered_can_be_played(client: Client) -> None:
    for fields in (
        {"game": "kuhn_poker", "seat0": "person", "seat1": "os:system"},
        {"game": "kuhn_poker", "seat0": "person", "seat1": "/etc"},
        {"game": "liars_dice(numdice=9,dice_sides=9)", "seat0": "person", "seat1": "person"},
        {"game": "kuhn_poker", "seat0": "person", "seat1": "network", "simulations": "1000000"},
        {"game": "kuhn_poker", "seat0": "person", "seat1": "network", "simulations": "-1"},
        {"game": "kuhn_poker", "seat0": "person", "seat1": "network", "simulations": "0"},
        {"game": "kuhn_poker", "seat0": "person", "seat1": "network", "per_update": "0"},
        {"game": "kuhn_poker", "seat0": "person", "seat1": "network", "per_update": "nan"},
    ):
        assert client.post("/games", fields).status == 400


def test_an_agent_of_ones_own_comes_from_the_command_line(games: Path) -> None:
    client = client_of(games, code=["sog.agents.uniform:UniformAgent"])
    address = begun(client, "kuhn_poker", ("person", "code 0"))
    assert "won" in played_out(client, address, random.Random(0))
    again = client_of(games)  # the same folder, without --agent
    begun_there = begun(client, "kuhn_poker", ("code 0", "person"))
    assert again.post(f"{begun_there}/continue", {}).status == 303  # it is a person's turn there
    file = games / f"{begun_there.rpartition('/')[2]}.jsonl"
    file.write_text(file.read_text().splitlines()[0].replace("UniformAgent", "Other") + "\n")
    third = client_of(games)
    assert "--agent" in third.post(f"{begun_there}/continue", {}).text
    for each in (client, again, third):
        each.close()


def test_a_game_is_read_again_from_its_file(games: Path) -> None:
    client = client_of(games)
    address = begun(client, "leduc_poker", ("person", "person"))
    view = client.get(f"{address}/view.json").json()
    client.post(f"{address}/move", {"at": "0", "move": str(view["choices"][0]["column"])})
    before = client.get(f"{address}/view.json").json()
    file = games / f"{address.rpartition('/')[2]}.jsonl"
    with file.open("a") as cut:
        cut.write('{"column": 1, "bel')  # a line that a kill cut short
    again = client_of(games)
    assert again.get(f"{address}/view.json").json() == before
    assert "won" in played_out(again, address, random.Random(0)) or "draw" in again.get(address).text
    for each in (client, again):
        each.close()


def test_damaged_files_end_in_a_line(games: Path) -> None:
    client = client_of(games)
    games.mkdir()
    for k, content in enumerate(
        (b"", b"\xff\xfe", b"{}", b'{"table": 9}', b'{"table": 1, "game": "x", "chairs": [], "seed": 1}')
    ):
        (games / f"{k:032x}.jsonl").write_bytes(content)
        assert client.get(f"/games/{k:032x}").status == 400
    assert client.get("/games").status == 200
    client.close()


def test_games_are_few_in_memory(games: Path) -> None:
    client = client_of(games)
    addresses = [begun(client, "kuhn_poker", ("person", "person"))]
    tables = client.app.app.state.site.tables
    old = tables.get(addresses[0].rpartition("/")[2])
    addresses += [begun(client, "kuhn_poker", ("person", "person")) for _ in range(40)]
    assert len(tables._held) == 32
    with pytest.raises(SogError, match="meanwhile"):  # an agent thought of it for long: its file is read anew
        tables.move(old, 0)
    assert client.get(addresses[0]).status == 200
    client.close()
