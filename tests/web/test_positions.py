"""Positions by their addresses: the same picture everywhere, the search of the agent itself, links to each step."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest

from sog.agents.opening import open_network
from sog.algorithms.student.algorithm import Student
from sog.algorithms.student.player import BOARDS
from sog.arrays import Float64
from sog.games.catalog import make_game
from sog.games.public_lines import next_steps
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.search import search as grow
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.web.asked import PositionAsked
from sog.web.positions import Place, place_of, state_at, tree_picture
from sog.web.recorded import snapshot_of
from sog.web.searching import recorded
from sog.web.thinker import Thinker
from tests.web.client import Client, client_of
from tests.web.rows import RIVER

ADDRESSES = [
    "/position?game=leduc_poker&line=1-2&s=30&c=1",
    "/position?game=leduc_poker&line=1-1-3&s=40&c=0.5&seed=3",
    "/position?game=connect_four&line=3-3&s=200&c=10",
    "/position?game=scotland_yard%28map%3Dglasses%29&s=20&c=1",
    "/position?game=chess&s=64&c=8",
]


def test_an_address_gives_the_same_picture_twice_and_in_another_process(client: Client, games: Path) -> None:
    other = client_of(games)
    for address in ADDRESSES:
        picture = address.replace("/position", "/position/pictures/tree.svg")
        first, again, there = client.get(picture), client.get(picture), other.get(picture)
        assert first.status == 200 and first.body == again.body == there.body
        ElementTree.fromstring(first.body)
        page = client.get(address)
        assert page.status == 200 and first.text in page.text
    other.close()


def test_every_step_has_an_address(client: Client) -> None:
    page = client.get("/position?game=leduc_poker&line=1-2&s=30&c=1").text
    links = [unescape(link) for link in re.findall(r'href="(/position\?[^"]*step=[^"]*)"', page)]
    assert len(links) == 6  # after 1, 2, 4, 8, 16 and 30 simulations
    pages = [client.get(link).text for link in links]
    assert [re.findall(r"The search after ([\d,]+) simul", each)[0] for each in pages] == [
        "1",
        "2",
        "4",
        "8",
        "16",
        "30",
    ]
    assert len(set(pages)) == len(pages)


def test_links_lead_on_and_back(client: Client) -> None:
    address = "/position?game=kuhn_poker"
    for _ in range(2):
        page = client.get(address).text
        address = unescape(re.findall(r'aria-label="Positions after this one"><a href="([^"]*)"', page)[0])
    page = client.get(address).text
    assert "The game is over" in page and "after 1" in page


def searched(game: str, line: tuple[int, ...], simulations: int, per_update: float, seed: int) -> Float64:
    """The policy of the agent that plays this line, at its end."""
    opened = open_network(game)
    public, node = PublicTree(opened.game), 0
    way = [0]
    for edge in line:
        public.list_fan(node)
        node = public.child(node, edge)
        way.append(node)
    player = public.actor(node)
    agent = Student(simulations=simulations, per_update=per_update).agents(public, opened)(player, seed)
    for s in way[:-1]:
        if public.actor(s) == player:
            agent.policy(s)
    return agent.policy(node)


@pytest.mark.parametrize("line", [(), (1,), (1, 2), (1, 1, 3), (1, 1, 3, 1)])
def test_a_recorded_search_is_the_agents_own(line: tuple[int, ...]) -> None:
    """To the bit: to look changes nothing."""
    growth = Thinker().look(PositionAsked("leduc_poker", line, "leduc_poker", 40, 0.5, 3))
    assert np.array_equal(growth.snapshots[-1].policy, searched("leduc_poker", line, 40, 0.5, 3))
    simulations = [snapshot.simulations for snapshot in growth.snapshots]
    assert simulations[-1] == 40 and simulations[:-1] == [1, 2, 4, 8, 16, 32][: len(simulations) - 1]
    assert len(simulations) == 7 or len(line) > 2  # near the end the whole tree is there sooner
    sizes = [snapshot.nodes for snapshot in growth.snapshots]
    assert sizes == sorted(sizes) and len(growth.snapshots[-1].blocks) <= 200
    for snapshot in growth.snapshots:
        assert snapshot.policy.sum(axis=0) == pytest.approx(1.0)
        for block in snapshot.blocks[1:]:
            assert 0 < block.share <= 1


def test_a_recorded_search_of_a_board_is_the_players_own() -> None:
    thinker = Thinker()
    growth = thinker.look(PositionAsked("connect_four", (3, 3), "connect_four", 200, 10.0, 0))
    player = Student(simulations=200, per_update=10.0).player(open_network("connect_four").evaluator, 0)
    player.new_game(make_game("connect_four"))
    search = player.search([3, 3])
    run(search.steps(), player.evaluator)
    shares = {each.action: each.share for each in search.thought().candidates}
    assert growth.snapshots[-1].policy[:, 0] == pytest.approx([shares[a] for a in range(7)])


def test_a_large_tree_is_drawn_without_a_look_at_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two hundred most visited nodes, most visits first, and the number of all."""
    game = make_game("connect_four")
    tree = Lookahead(PublicTree(game), 0, game.root_ranges())
    run(grow(tree, 0, Budget(3_000, 10.0), BOARDS, np.ones(1, dtype=np.uint64)), zero_evaluator)
    looked, real = [], Lookahead.children
    monkeypatch.setattr(Lookahead, "children", lambda tree, n: looked.append(n) or real(tree, n))
    snapshot = snapshot_of(tree, 0, 3_000)
    assert len(snapshot.blocks) == 200 and len(looked) <= 200 < tree.size / 10
    visits = [int(block.words.split(": ")[1].split(" ")[0].replace(",", "")) for block in snapshot.blocks[1:]]
    assert visits == sorted(visits, reverse=True)
    svg = tree_picture(snapshot).svg
    assert f"the {svg.count('<g class=')} most visited of {tree.size:,} nodes" in svg


@pytest.mark.parametrize(("line", "simulations"), [((1, 2), 60), ((1, 2), 2), ((1, 1, 3), 5), ((1, 1, 3, 1), 5)])
def test_only_the_searched_nodes_are_counted(client: Client, line: tuple[int, ...], simulations: int) -> None:
    """Not those on the way to the position and beside it, which the tree of a short search's chain holds too."""
    search = Thinker().searching(PositionAsked("leduc_poker", line, "leduc_poker", simulations, 1.0, 0))
    last = recorded(search).snapshots[-1]
    assert (search.start > 0) == (simulations < 60)
    below, waiting = 0, [search.start]
    while waiting:
        node = waiting.pop()
        below += 1
        waiting += [child for child in search.tree.children(node) if child >= 0] if search.tree.is_open(node) else []
    assert last.nodes == below and (below < search.tree.size) == (search.start > 0)
    query = {"game": "leduc_poker", "line": "-".join(map(str, line)), "s": str(simulations), "c": "1"}
    page = client.get("/position", query).text
    (icicle,) = re.findall(r'<svg[^>]*class="icicle".*?</svg>', page, re.DOTALL)
    assert re.search(rf"<p>{icicle.count('<g class=')} of {below:,} nodes are drawn", page)


def test_an_address_is_read_as_it_was_written() -> None:
    game = make_game("leduc_poker")
    for per_update in (0.5, 1.0, 1 / 3, 12.3456789, 1e-3):
        place = Place("leduc_poker", (1, 2), "run demo", 30, per_update, 7, 3)
        assert place_of(dict(parse_qsl(urlsplit(place.address()).query, keep_blank_values=True)), game) == place
    assert "c=1&" in Place("leduc_poker").address()


def test_links_of_a_page_keep_every_digit(client: Client) -> None:
    for page in ("/position", "/beside"):
        query = {"game": "kuhn_poker", "s": "4", "c": "0.3333333333", "agent2": "network"}
        text = unescape(client.get(page, query).text)
        links = re.findall(r'(?:href|data-stream)="(/[^"]*&c=[^"]*)"', text)
        assert len(links) > 3 and all("&c=0.3333333333&" in link for link in links)
        assert re.findall(r'name="c2?"[^>]* value="([^"]*)"', text) == ["0.3333333333"] * 2


def test_the_ways_on_have_names() -> None:
    leduc, rps = make_game("leduc_poker"), make_game("rps")
    assert [step.name for step in next_steps(leduc, leduc.root())] == ["check", "raise"]
    deal = state_at(leduc, [0, 0])[-1]
    assert [step.name for step in next_steps(leduc, deal)] == [
        f"board {card}" for card in ("Js", "Jh", "Qs", "Qh", "Ks", "Kh")
    ]
    assert [step.name for step in next_steps(rps, rps.root())] == ["hidden pick"]


def test_hands_that_cannot_be_held_are_not_drawn(client: Client) -> None:
    """With the queen of spades on the board nobody has it; the table has every infostate."""
    query = {"game": "leduc_poker", "line": "1-1-2", "s": "20", "c": "1"}
    page, game = client.get("/position", query).text, make_game("leduc_poker")
    state = state_at(game, [1, 1, 2])[-1]
    hands = [game.infostate_name(state, 0, i) for i in range(6)]
    (card,) = re.findall(r"board (\w\w)", game.state_name(state))
    (policy,) = re.findall(r"<figcaption>Policy</figcaption>(<svg.*?</svg>)", page, re.DOTALL)
    tables = re.findall(r'<table class="card">.*?</table>', page, re.DOTALL)
    assert len(tables) == 2 and "likeliest of" not in page
    for text in (policy, *tables):
        assert [f">{name}<" in text for name in hands] == [name != card for name in hands]
    assert f"\n{card}," in client.get("/position/pictures/policy.csv", query).text


def test_what_is_cut_says_so(client: Client) -> None:
    river = client.get("/position", {"game": RIVER, "s": "2", "c": "1"}).text
    assert river.count(": the 24 likeliest of 1,081 <a") == 2  # hands without a card of the board
    query = {"game": "chess", "s": "4", "c": "1"}
    assert client.get("/position", query).text.count("the 14 likeliest of 20") == 2
    assert len(client.get("/position/pictures/policy.csv", query).text.splitlines()) == 1 + 20
    dice = "liars_dice(numdice=2,dice_sides=3)"
    assert "likeliest of" not in client.get("/position", {"game": dice, "s": "2", "c": "1"}).text


LINES = ["line=9", "line=1-", "line=-1", "line=1-1-1-1-1-1-1-1-1-1-1-1", "line=" + "1-" * 2000 + "1"]
BUDGETS = ["s=0", "s=99999999", "s=x", "c=0", "c=nan", "c=1e-9", "seed=-1", "seed=1.5", "step=-1"]
AGENTS = ["agent=random", "agent=person", "agent=x"]


@pytest.mark.parametrize("query", [*LINES, *BUDGETS, *AGENTS], ids=lambda query: query[:12])
def test_what_is_no_position_is_refused(client: Client, query: str) -> None:
    assert client.get(f"/position?game=leduc_poker&{query}").status == 400
