"""Moves that are typed, and where the keyboard begins after each: at the line that says who is to move."""

from __future__ import annotations

import pytest

from sog.games.catalog import make_game
from sog.web.asked import PERSON, Chair
from sog.web.pages import Pages
from sog.web.tables import PlayTable
from sog.web.views import view_of
from tests.web.client import Answer, Client, begun, page_of
from tests.web.rows import ROWS


def typed(client: Client, address: str, words: str, at: int | None = None) -> Answer:
    """The answer to a move that is typed."""
    now = client.get(f"{address}/view.json").json()["at"]
    return client.post(f"{address}/move", {"at": now if at is None else at, "typed": words})


@pytest.mark.parametrize("words", ["e2e4", "E2E4 ", " e2e4"])
def test_a_move_is_typed(client: Client, words: str) -> None:
    address = begun(client, "chess", ("person", "person"))
    answer = typed(client, address, words)
    assert (answer.status, answer.headers["location"]) == (303, f"{address}#state")
    assert client.get(f"{address}/view.json").json()["log"] == [[1, "e2e4"]]


@pytest.mark.parametrize("words", ["e9e9", "", "e7e5", "e2e4 e7e5", "0", "<b>", "a" * 3000])
def test_what_is_no_move_is_said_with_a_way_back(client: Client, words: str) -> None:
    address = begun(client, "chess", ("person", "person"))
    answer = typed(client, address, words)
    assert answer.status == 400 and "is no move of this position" in answer.text and "<b>" not in answer.text
    assert f'<a href="{address}#state">Back to the game</a>' in answer.text and len(answer.text) < 2_000
    assert client.get(f"{address}/view.json").json()["moves"] == 0


def test_an_old_page_types_no_move(client: Client) -> None:
    address = begun(client, "chess", ("person", "person"))
    assert typed(client, address, "e2e4").status == 303
    late = typed(client, address, "e7e5", 0)
    assert late.status == 400 and "moved on" in late.text


@pytest.mark.parametrize("game", ["chess", ROWS["go 9x9"]])
def test_it_is_offered_before_the_board(client: Client, game: str) -> None:
    address = begun(client, game, ("person", "person"))
    view, page = client.get(f"{address}/view.json").json(), page_of(client, address)
    names = "".join(f'<option value="{choice["name"]}"></option>' for choice in view["choices"])
    assert f'<datalist id="moves">{names}</datalist>' in page
    assert page.index('id="state" tabindex="-1"') < page.index('id="typed"') < page.index("<svg")


@pytest.mark.parametrize(("faces", "is_offered"), [(6, False), (7, True)])  # a first bid is one of twice as many
@pytest.mark.parametrize("other", [PERSON, "random"])
def test_it_is_offered_where_moves_are_more_than_twelve(faces: int, is_offered: bool, other: str) -> None:
    """For two people on one screen it is in the part that is opened."""
    game = make_game(f"liars_dice(numdice=1,dice_sides={faces})")
    chairs = Chair(PERSON, "a person"), Chair(other, "a person" if other == PERSON else other)
    page = Pages([]).game(view_of(PlayTable("0" * 32, game, chairs, 0), 0))
    assert ('id="typed"' in page) == is_offered
    if is_offered:
        assert ("<details" in page[: page.index('id="typed"')]) == (other == PERSON)


@pytest.mark.parametrize("game", ["leduc_poker", "tic_tac_toe", "connect_four", ROWS["battleship"], ROWS["river"]])
def test_few_buttons_are_enough(client: Client, game: str) -> None:
    address = begun(client, game, ("person", "person"))
    page = page_of(client, address)
    assert 'name="move"' in page and 'id="typed"' not in page
