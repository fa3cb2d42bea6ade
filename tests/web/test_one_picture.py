"""A policy has one picture: the same bytes on the page, in a notebook and in the file of `sog show --svg`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import sog
from sog.api import SearchResult, Solution
from sog.arrays import Float64
from sog.cli.app import main
from sog.games.base import Game
from sog.searches.holdem.saved import load
from sog.searches.holdem.view import view
from sog.web.asked import SearchSnapshot
from sog.web.positions import policy_pictures
from tests.web.client import Client

SPOT = 'holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;1.0;allin,range0="AA,KQo",range1="JJ")'


def on_the_page(game: Game, policy: Float64, ranges: tuple[Float64, Float64]) -> str:
    """What a position's page shows of the root's policy."""
    snapshot = SearchSnapshot(1, policy, policy, ranges, ranges, (), 1)
    heading, picture = next(iter(policy_pictures(game, game.root(), snapshot).items()))
    assert heading == "Policy" and picture.svg.startswith("<svg")
    return picture.svg


def test_a_search_of_leduc_is_drawn_alike_on_the_page_and_in_a_notebook(client: Client) -> None:
    found = sog.search("leduc_poker", sog.Budget(30, 1.0), leaves="leduc_poker")
    page = client.get("/position?game=leduc_poker&s=30&c=1&seed=0").text
    html = found._repr_html_()
    svg = html[html.index("<svg") : html.index("</svg>") + len("</svg>")]
    assert svg in page and "Policy at " in svg and "values of player 1: " in html


def test_a_solution_is_drawn_as_on_the_page() -> None:
    solved = sog.solve("kuhn_poker", iterations=3)
    html = solved._repr_html_()
    assert on_the_page(solved.game, solved.policy[0], solved.game.root_ranges()) in html
    assert "kuhn_poker: value" in html


def test_a_search_of_a_board_is_drawn_as_on_the_page() -> None:
    found = sog.search("tic_tac_toe", sog.Budget(10, 1.0))
    game = found.tree.public.game
    assert on_the_page(game, found.policy, game.root_ranges()) in found._repr_html_()


def test_a_solution_without_the_roots_policy_shows_the_first_decision_that_it_has() -> None:
    public = sog.solve("kuhn_poker", iterations=3).public
    node = next(n for n in public.decisions() if n > 0)
    policy = np.full((2, 3), 0.5)
    html = Solution(public, {node: policy}, 0.0, 0.0, 1)._repr_html_()
    assert f"Policy at {public.game.state_name(public.states[node])}" in html
    assert "<svg" not in Solution(public, {}, 0.0, 0.0, 1)._repr_html_()


def test_a_spot_of_holdem_is_drawn_alike_everywhere(tmp_path: Path) -> None:
    spot, file = tmp_path / "spot.npz", tmp_path / "grid.svg"
    assert main(["solve", SPOT, "--iterations", "20", "--out", str(spot)]) == 0
    assert main(["show", str(spot), "--svg", str(file)]) == 0
    game = sog.make_game(SPOT)
    policy = view(load(spot)[0], game.root()).policy
    found = sog.search(game, sog.Budget(1, 1.0))
    assert file.read_text() == on_the_page(game, policy, game.root_ranges())
    assert file.read_text() in SearchResult(policy, found.values, found.tree)._repr_html_()
