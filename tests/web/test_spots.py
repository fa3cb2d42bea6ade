"""Pages of solved hold'em spots: what they say is what `sog show` says, and every link leads somewhere."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from sog.errors import SettingError
from sog.games.holdem.game import Holdem
from sog.games.holdem.lines import follow
from sog.games.holdem.strings import holdem_from
from sog.games.policy_picture import policy_drawn
from sog.games.strings import parse_game
from sog.searches.holdem.hand_values import hand_values
from sog.searches.holdem.locks import read_locks
from sog.searches.holdem.saved import save
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.holdem.view import view
from sog.web.lanes import AgentLanes
from sog.web.offers import Offers
from tests.web.client import Client, begun, client_of

TURN = 'holdem(board=2s2h7d9c,pot=1000,stacks=2000,bets=1;allin,range0="AA,KQs:0.5,QhJh",range1="JJ,AQs,KsTs,44")'


def solved_turn(path: Path, iterations: int, lock: str = "") -> HoldemSolver:
    _, parameters = parse_game(TURN)
    game = holdem_from(parameters)
    solver = HoldemSolver(game, locks=read_locks(game, lock.encode()) if lock else ())
    solver.iterate(iterations)
    save(solver, solver.progress(), path)
    return solver


@pytest.fixture(scope="module")
def spot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spots") / "river's turn.npz"
    solved_turn(path, 10)
    return path


@pytest.fixture(scope="module")
def site(spot: Path, tmp_path_factory: pytest.TempPathFactory, lanes: AgentLanes) -> Iterator[Client]:
    found = client_of(tmp_path_factory.mktemp("games"), [str(spot)], lanes=lanes)
    yield found
    found.close()


BASE = "/spots/river%27s%20turn"


def test_a_decision_says_what_the_solver_knows(site: Client, spot: Path) -> None:
    solver = solved_turn(spot.with_name("again.npz"), 10)
    seen = view(solver, follow(solver.game, "check, bet 1000"))
    values = hand_values(solver, seen)
    page = site.get(BASE, {"line": "check, bet 1000", "hands": "AA"})
    ev, equity = values.means(seen)
    assert page.status == 200 and "Pot <b>2,000</b>. Player 0 is to act" in page.text
    assert f"EV of <b>{ev:,.1f}</b> chips and an equity of <b>{equity:.1%}</b>" in page.text
    grid = policy_drawn("Policy", solver.game, seen.state, seen.policy, seen.reach)
    assert grid.svg in page.text
    assert len(re.findall(r'<th scope="row">A.A.</th>', page.text)) == 6  # of the range, those on the board left out
    assert site.get(f"{BASE}/pictures/policy.svg", {"line": "check, bet 1000"}).text == grid.svg
    rows = list(csv.reader(io.StringIO(site.get(f"{BASE}/hands.csv", {"line": "check, bet 1000"}).text)))
    assert rows[0][:4] == ["hand", "weight", "ev", "equity"]
    assert [float(row[2]) for row in rows[1:]] == pytest.approx([values.ev[h] for h in seen.numbers()], rel=1e-5)


def test_what_is_downloaded_can_be_locked(site: Client) -> None:
    answer = site.get(f"{BASE}/hands.json", {"line": "check"})
    assert answer.headers["content-type"] == "application/json"
    _, parameters = parse_game(TURN)
    game = holdem_from(parameters)
    assert isinstance(game, Holdem) and len(read_locks(game, answer.body)) == 1


def test_pictures_alone_are_saved_as_png(site: Client) -> None:
    """The files of all hands belong to no picture: the script has to leave them alone."""
    page, script = site.get(BASE).text, site.get("/static/app.js").text
    figures = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    assert page.count('class="files"') == 1 + sum(figure.count('class="files"') for figure in figures)
    assert 'querySelectorAll("figure .files")' in script and 'querySelectorAll(".files")' not in script


def test_every_link_of_a_line_leads_somewhere(site: Client) -> None:
    """From the start over a card to the end of the hand."""
    address, words = BASE, []
    for _ in range(12):
        page = site.get(address)
        assert page.status == 200, address
        links = [unescape(link) for link in re.findall(rf'href="({BASE}\?line=[^"]*)"', page.text)]
        ahead = [link for link in links if link.count("%2C") >= address.count("%2C") and link != address]
        deeper = [link for link in ahead if len(link) > len(address)]
        words.append(re.sub(r"<[^>]*>", "", re.findall(r"<p>Pot .*?</p>", page.text)[0]))
        if not deeper:
            break
        address = deeper[0]
    assert "A card comes." in words[2] and words[-1].endswith("The hand is over.")


def test_cards_that_come_are_shown_at_a_glance(site: Client, spot: Path) -> None:
    solver = solved_turn(spot.with_name("again.npz"), 10)
    page = site.get(BASE, {"line": "check, check"}).text
    seen = view(solver, follow(solver.game, "check, check, Ad"))
    ev, _ = hand_values(solver, seen).means(seen)
    assert re.search(rf">Ad</a> {ev:,.0f}, {seen.frequencies[0]:.0%}</td>", page)
    assert (
        len(re.findall(r"<td>(?:<a|</td>)", page)) == 52
        and len(re.findall(r"line=check%2C\+check%2C\+\w\w\"", page)) == 48
    )
    assert "dealt to its end" in site.get(BASE, {"line": "bet allin, call"}).text


def test_where_no_hand_comes_nothing_is_measured(tmp_path: Path, lanes: AgentLanes) -> None:
    """Player 0 always checks: to its bet there is no equity, and after the bet's call no EV of any card."""
    lock = '[{"line": "", "hands": {"full": {"check": 1}}}]'
    solved_turn(tmp_path / "spot.npz", 3, lock)
    client = client_of(tmp_path / "games", [str(tmp_path / "spot.npz")], lanes=lanes)
    page = client.get("/spots/spot", {"line": "bet 1000", "hands": "JJ"}).text
    assert "Player 1 is to act. No hands of both players come here." in page and "EV of" not in page
    rows = re.findall(r'<tr><th scope="row">J.J.</th><td>1</td><td>(.*?)</td><td>(.*?)</td>', page)
    assert len(rows) == 6 and set(rows) == {("", "")}
    cards = client.get("/spots/spot", {"line": "bet 1000, call"}).text
    assert cards.count("</a> –</td>") == 48
    assert "with an EV of" in client.get("/spots/spot", {"line": "check"}).text
    client.close()


def test_a_new_result_in_the_file_is_seen(tmp_path: Path, lanes: AgentLanes) -> None:
    path = tmp_path / "spot.npz"
    solved_turn(path, 1)
    client = client_of(tmp_path / "games", [str(path)], lanes=lanes)
    assert "1 iteration," in client.get("/spots/spot").text
    solved_turn(path, 3)
    assert "3 iterations" in client.get("/spots/spot").text
    path.unlink()
    assert client.get("/spots/spot").status == 400
    client.close()


def test_the_spot_is_played_against_its_solution(site: Client) -> None:
    assert "river&#39;s turn" in site.get("/").text
    page = site.get(begun(site, TURN, ("person", "spot river's turn"))).text
    assert "the solution river&#39;s turn" in page and 'name="move"' in page


@pytest.mark.parametrize(
    ("end", "query", "words"),
    [
        ("", {"line": "bet 7"}, "no action"),
        ("", {"line": "check", "hands": "ZZ"}, "no hands are called"),
        ("", {"line": "x" * 1_001}, "at most 1,000 letters"),
        ("/hands.exe", {}, "csv or json"),
        ("/hands.csv", {"line": "check, check"}, "a card comes next"),
        ("/pictures/policy.svg", {"line": "check, check"}, "no such picture"),
        ("x", {}, "no such spot"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(site: Client, end: str, query: dict[str, str], words: str) -> None:
    answer = site.get(f"{BASE}{end}", query)
    assert answer.status == 400 and words in answer.text


def test_a_file_that_is_no_spot_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "spot.npz"
    path.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(SettingError, match="no solved spot"):
        Offers([str(path)])
