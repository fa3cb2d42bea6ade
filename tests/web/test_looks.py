"""Looks of hold'em, Scotland Yard and Battleship: chips, ranges, the map, two boards, and what a page says of them."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from sog.games.catalog import make_game
from sog.games.holdem.game import Holdem
from sog.games.holdem.lines import follow
from sog.games.scotland_yard.game import Chase
from sog.searches.tree.public_tree import PublicTree
from sog.web.asked import PERSON, Chair
from sog.web.drawn import view_pictures
from sog.web.looks import BoardSeen, ChipsSeen, chase_of, chips_of, limits_of
from sog.web.pages import squares_of
from sog.web.tables import PlayTable
from sog.web.views import Mind, view_of
from tests.web.client import Client, Form, begun, played_out

WHOLE = "holdem(stacks=2000,bets=0.5;1;allin)"
BATTLESHIP = "battleship(board_width=3,board_height=3,ship_sizes=[2;2],num_shots=9,allow_repeated_shots=False,"
BATTLESHIP += "returns_type=win_loss)"
RIVER = "holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;1;allin)"


@pytest.mark.parametrize(
    ("game", "line", "chips"),
    [
        (WHOLE, "", ChipsSeen(0, (100, 50), (1900, 1950))),
        (WHOLE, "raise to 300", ChipsSeen(0, (100, 300), (1900, 1700))),
        (WHOLE, "raise to 300, fold", ChipsSeen(200, (0, 0), (1900, 1900))),
        (WHOLE, "raise to 300, call", ChipsSeen(600, (0, 0), (1700, 1700))),
        (RIVER, "", ChipsSeen(1000, (0, 0), (1000, 1000))),
        (RIVER, "check, bet 500", ChipsSeen(1000, (0, 500), (1000, 500))),
        (RIVER, "bet 1000, call", ChipsSeen(3000, (0, 0), (0, 0))),
    ],
)
def test_chips_add_up(game: str, line: str, chips: ChipsSeen) -> None:
    made = make_game(game)
    assert isinstance(made, Holdem)
    seen = chips_of(made, follow(made, line))
    assert seen == chips
    assert seen.pot + sum(seen.bets) + sum(seen.stacks) == made.spot.pot + sum(made.spot.stacks)


def test_a_page_of_holdem_has_cards_chips_and_ranges(client: Client) -> None:
    address = begun(client, RIVER, ("person", "network"), "2")
    page = client.get(address).text
    assert "Hold&#39;em" in page and "Pot <b>1,000</b>" in page and page.count("Stack <b>1,000</b>") == 2
    assert page.count("a card face down") == 2 * 2 and page.count('class="playing-card public"') == 5
    assert played_out(client, address, random.Random(2)).count('class="grid"') > 0  # what the network believed
    position = client.get("/position", {"game": RIVER, "s": "5", "c": "1"}).text
    assert position.count('class="grid"') == 3 and "Range of player 1" in position and "Pot <b>1,000</b>" in position


@pytest.mark.parametrize("viewer", [0, 1, None])
def test_only_mr_x_sees_where_he_is(viewer: int | None) -> None:
    chairs = [Chair("random", "random moves")] * 2
    if viewer is not None:
        chairs[viewer] = Chair(PERSON, "a person")
    table, rng = (
        PlayTable("0" * 32, make_game("scotland_yard(map=london40)"), (chairs[0], chairs[1]), 3),
        random.Random(3),
    )
    while not table.is_over:
        seen = view_of(table, viewer).chase
        assert seen is not None and seen.belief == () and (seen.here is not None) == (viewer == 0)
        assert viewer != 0 or seen.here in seen.possible
        table.move(rng.choice(table.referee.legal(table.world)))
    assert view_of(table, viewer).chase.here is not None  # type: ignore[union-attr]


def test_the_map_says_tickets_and_reveals() -> None:
    game = make_game("scotland_yard(map=ring12)")
    public, node = PublicTree(game), 0
    while len(public.states[node].log) < 9 and public.actor(node) != 3:  # type: ignore[attr-defined]
        public.list_fan(node)
        node = public.child(node, 0)
    state = public.states[node]
    assert isinstance(state, Chase)
    seen = chase_of(game, state, None)
    assert seen is not None and len(seen.tickets) == 3 and len(seen.travel) == state.moved
    assert [bool(station) for _, station in seen.travel] == [k + 1 == 3 for k in range(state.moved)]


def test_a_page_of_scotland_yard_has_a_map_and_buttons_by_ticket(client: Client) -> None:
    address = begun(client, "scotland_yard(map=glasses)", ("person", "random"))
    page = client.get(address).text
    assert 'class="map"' in page and "<legend>Taxi to</legend>" in page and "Red ring" in page
    labels = re.findall(r'name="move" value="\d+" aria-label="([^"]+)">(\d+)</button>', page)
    assert labels and all(label.endswith(f" to {station}") for label, station in labels)
    played_out(client, address, random.Random(4))
    other = client.get(begun(client, "scotland_yard(map=glasses)", ("random", "person"))).text
    assert 'class="map"' in other and "Red ring" not in other and "nothing hidden" not in other


def test_the_detectives_belief_is_a_map_once_the_chase_is_over(client: Client) -> None:
    address = begun(client, "scotland_yard(map=glasses)", ("person", "network"), "10")
    assert client.get(address).text.count('class="map"') == 1
    page = played_out(client, address, random.Random(5))
    minds = client.get(f"{address}/view.json").json()["minds"]
    assert minds and page.count('class="map"') == 1 + len(minds)
    for mind in minds:
        assert sum(mind["chase"]["belief"]) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    ("viewer", "own", "other"),
    [
        (0, ("ss.", ".-.", "ss."), ("...", "..x", "..#")),
        (1, ("...", ".-.", "..."), ("ss.", "..x", "..#")),
        (None, ("...", ".-.", "..."), ("...", "..x", "..#")),
    ],
)
def test_only_ones_own_ships_are_seen(viewer: int | None, own: tuple[str, ...], other: tuple[str, ...]) -> None:
    table = PlayTable("0" * 32, make_game(BATTLESHIP), (Chair(PERSON, "a"), Chair(PERSON, "b")), 0)
    for name in ("across a1", "down c2", "across a3", "across a1", "shoot c2", "shoot b2", "shoot c3"):
        table.move(next(choice.column for choice in view_of(table, table.actor).choices if choice.name == name))
    seas = view_of(table, viewer).seas
    assert seas == (BoardSeen("battleship", own), BoardSeen("battleship", other, ((2, 2),)))


def test_a_board_that_the_style_sheet_has_no_grid_for_has_buttons_in_words() -> None:
    game = "battleship(board_width=20,board_height=1,ship_sizes=[2],allow_repeated_shots=False,returns_type=win_loss)"
    view = view_of(PlayTable("0" * 32, make_game(game), (Chair(PERSON, "a"), Chair(PERSON, "b")), 0), 0)
    assert view.seas is None and squares_of(view, "") == ([], view.choices) and len(view.choices) == 19


def test_a_page_of_battleship_has_two_boards_and_a_button_a_cell(client: Client) -> None:
    address = begun(client, BATTLESHIP, ("person", "random"))
    assert "<legend>Across from</legend>" in client.get(address).text
    shots = 'aria-label="shoot '
    while (page := client.get(address).text).count(shots) == 0:
        form = next(form for form in Form(page).forms if form["action"].endswith("/move"))
        client.post(form["action"], form["fields"] | dict(form["buttons"][:1]))
    assert page.count('class="board battleship"') == 2 and page.count(shots) == 9
    square = page.index('aria-label="shoot b1"')
    assert page.index("Player 1: random moves") < square < page.index('aria-label="shoot a2"')


def test_a_long_hint_and_a_long_belief_say_that_they_are_cut() -> None:
    view = view_of(PlayTable("0" * 32, make_game("leduc_poker"), (Chair(PERSON, "a"), Chair(PERSON, "b")), 0), 0)
    rows = tuple((f"name {k}", (20 - k) / 210) for k in range(20))
    pictures = view_pictures(replace(view, hint=rows, minds=(Mind(1, "Move 1", rows, ""),)))
    for heading in ("Hint", "Move 1"):
        assert "the 12 likeliest of 20" in pictures[heading].svg and len(pictures[heading].rows) == 20


def test_what_cannot_be_played_is_said() -> None:
    assert "bets=0.5;1;allin" in limits_of(make_game("holdem(stacks=200,bets=any)"))
    assert "Flops are not listed" in limits_of(make_game(WHOLE))
    assert [limits_of(make_game(name)) for name in (RIVER, "leduc_poker", "chess")] == ["", "", ""]
