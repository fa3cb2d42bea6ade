"""Two searchers of a position beside each other: their policies, and the exploitability of each in a small game."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest

import sog
from sog.agents.opening import open_network
from sog.measure.exploitability import agent_policy
from sog.measure.listed import listed
from sog.play.resolver import ResolveSettings
from sog.searches.cfr import exact
from sog.searches.gtcfr.settings import Budget
from tests.web.client import Client
from tests.web.rows import BATTLESHIP

TURN = "holdem(board=turn,pot=2000,stacks=5000:50000,bets=0.5;1;allin,raises=0.75;allin,noise=0.1)"
LEDUC = {"game": "leduc_poker", "line": "1-2", "s": "30", "c": "1"}


def figures(page: str) -> list[float]:
    return [float(x) for x in re.findall(r"in the whole game: <b>([-+.e\d]+)</b> mbb/h", page)]


def test_an_agent_beside_the_exact_solution(client: Client) -> None:
    page = client.get("/beside", LEDUC).text
    public = listed("leduc_poker")
    policy = agent_policy(public, ResolveSettings(Budget(30, 1.0)), open_network("leduc_poker").evaluator, 0)
    solution = sog.solve("leduc_poker", "dcfr", 1_000)
    played = 1000 * exact.measure_policy(public, policy).exploitability
    assert figures(page) == pytest.approx([played, 1000 * solution.exploitability], rel=1e-3)
    node = public.child(public.child(0, 1), 2)
    tree = exact.full_tree(public)
    exact.set_policy(tree, policy)
    tree.evaluate()
    reach = tree.ranges(tree.node_of(node))[public.actor(node)]
    apart = 0.5 * np.abs(policy[node] - solution.policy[node]).sum(axis=0) @ (reach / reach.sum())
    assert f"are <b>{apart:.1%}</b> apart" in page
    values = public.conditional(node, tree.cfvs(tree.node_of(node)), tree.ranges(tree.node_of(node)))
    assert f"<td>{1000 * values[0][0]:+.4g}</td>" in page and "value, mbb/h" in page


def test_a_searcher_is_not_apart_from_itself(client: Client) -> None:
    page = client.get("/beside", LEDUC | {"agent2": "network", "s2": "30", "c2": "1"}).text
    first, second = figures(page)
    assert first == second and "are <b>0.0%</b> apart" in page
    other = client.get("/beside", LEDUC | {"agent2": "network", "s2": "3", "c2": "1"}).text
    assert figures(other)[0] == first != figures(other)[1]


def test_pictures_are_files_and_links_lead_on(client: Client) -> None:
    page = client.get("/beside", LEDUC).text
    (address,) = {unescape(a) for a in re.findall(r'href="(/beside/pictures/second-policy\.svg[^"]*)"', page)}
    assert client.get(address).text in page
    steps = [unescape(link) for link in re.findall(r'href="(/beside\?[^"]*)"', page)]
    assert len(steps) > 3 and all(client.get(link).status == 200 for link in steps)
    assert any("agent2=solution" in link for link in steps)
    position = client.get("/position", LEDUC).text
    (beside,) = (unescape(link) for link in re.findall(r'href="(/beside\?[^"]*)"', position))
    assert client.get(beside).text == page


def test_a_board_has_two_searches_and_no_solution(client: Client) -> None:
    asked = {"game": "connect_four", "line": "3", "s": "16", "c": "8", "agent2": "network", "s2": "32", "c2": "8"}
    page = client.get("/beside", asked).text
    assert "(16, 8)" in page and "(32, 8)" in page and "First policy" in page
    assert "in the whole game" not in page and "iterations of DCFR" not in page
    usual = client.get("/beside", {"game": "connect_four", "s": "16", "c": "8"}).text
    assert usual.count("(16, 8)") == 2 and "are <b>0.0%</b> apart" in usual


def test_the_solution_says_how_it_is_computed(client: Client) -> None:
    page = client.get("/beside", LEDUC).text
    assert "<h2>The solution by 1,000 iterations of DCFR </h2>" in page and "exact" not in page


def test_a_game_that_cannot_be_listed_has_two_searches(client: Client) -> None:
    """Each public state of Battleship has few infostates, but there are far too many public states."""
    position = client.get("/position", {"game": BATTLESHIP, "s": "4", "c": "1"}).text
    (beside,) = (unescape(link) for link in re.findall(r'href="(/beside\?[^"]*)"', position))
    answer = client.get(beside)
    assert answer.status == 200 and answer.text.count("(4, 1)") == 2
    (picture,) = {unescape(a) for a in re.findall(r'href="(/beside/pictures/second-policy\.svg[^"]*)"', answer.text)}
    assert client.get(picture).text in answer.text
    refused = client.get(f"{beside}&agent2=solution")
    assert refused.status == 400 and "too many public states" in refused.text


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"game": TURN, "agent": "solution"}, "too many public states to be solved"),
        ({"game": "leduc_poker", "agent2": "random"}, "does not search"),
        ({"game": "leduc_poker", "s2": "many"}, "s is a whole number"),
        ({"game": "leduc_poker", "line": "99"}, "99"),
        ({"game": "nothing"}, "not offered"),
    ],
)
def test_what_cannot_be_compared_is_refused(client: Client, asked: dict[str, str], words: str) -> None:
    answer = client.get("/beside", asked)
    assert answer.status == 400 and words in unescape(answer.text)
