"""Moves that are taken back, and hints: only when asked, from what the person may know, and both in the game's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from sog.agents.opening import open_network
from sog.algorithms.student.algorithm import Student
from sog.games.catalog import make_game
from sog.searches.tree.public_tree import PublicTree
from sog.web.asked import PERSON, Chair, MoveAsked
from sog.web.lanes import AgentLanes
from sog.web.tables import PlayTable
from sog.web.thinker import Thinker
from tests.web.client import Client, begun, client_of

NETWORK = Chair("leduc_poker", "the network", 20, 1.0)


def view(client: Client, address: str) -> dict[str, object]:
    """The game as JSON."""
    found: dict[str, object] = client.get(f"{address}/view.json").json()
    return found


def move(client: Client, address: str, name: str) -> None:
    """The person's move of this name."""
    seen = view(client, address)
    column = next(choice["column"] for choice in seen["choices"] if choice["name"] == name)  # type: ignore[attr-defined]
    assert client.post(f"{address}/move", {"at": seen["at"], "move": column}).status == 303


def take_back(client: Client, address: str) -> int:
    return client.post(f"{address}/back", {"at": view(client, address)["at"]}).status


def test_both_moves_are_taken_back(client: Client) -> None:
    address = begun(client, "tic_tac_toe", ("person", "random"))
    assert "Take back" not in client.get(address).text and take_back(client, address) == 400
    fresh = view(client, address)
    move(client, address, "b2")
    first = view(client, address)
    assert "Take back" in client.get(address).text and first["moves"] == 2
    assert take_back(client, address) == 303
    again = view(client, address)
    assert again == fresh | {"at": first["at"] + 1}  # type: ignore[operator]
    move(client, address, "a1")
    move(client, address, view(client, address)["choices"][0]["name"])  # type: ignore[index]
    assert take_back(client, address) == take_back(client, address) == 303
    assert view(client, address)["moves"] == 0 and take_back(client, address) == 400


def test_a_page_from_before_the_taking_back_makes_no_move(client: Client) -> None:
    """Though as many moves were made as it shows."""
    address = begun(client, "connect_four", ("person", "random"))
    move(client, address, "1")
    old = view(client, address)
    take_back(client, address)
    move(client, address, "2")
    assert view(client, address)["moves"] == old["moves"]
    late = client.post(f"{address}/move", {"at": old["at"], "move": "0"})
    assert late.status == 400 and "moved on" in late.text
    assert client.post(f"{address}/back", {"at": old["at"]}).status == 400


def test_hidden_hands_that_were_shown_end_a_game_for_good(client: Client) -> None:
    address = begun(client, "kuhn_poker", ("person", "random"))
    while not view(client, address)["result"]:
        move(client, address, view(client, address)["choices"][0]["name"])  # type: ignore[index]
    assert "Take back" not in client.get(address).text and take_back(client, address) == 400


def test_two_persons_and_two_agents_take_nothing_back(client: Client) -> None:
    address = begun(client, "tic_tac_toe", ("person", "person"))
    move(client, address, "b2")
    assert take_back(client, address) == 400 and client.post(f"{address}/hint", {}).status == 400
    address = begun(client, "tic_tac_toe", ("random", "random"))
    assert take_back(client, address) == 400 and client.post(f"{address}/hint", {}).status == 400


def test_a_hint_is_the_agents_own_policy(client: Client) -> None:
    address = begun(client, "leduc_poker", ("person", "network"), "20")
    assert "would do in your place" not in client.get(address).text and not view(client, address)["hint"]
    assert client.post(f"{address}/hint", {}).status == 303
    shown, page = dict(view(client, address)["hint"]), client.get(address).text  # type: ignore[call-overload]
    assert "would do in your place" in page and f'{address}/hint"' not in page
    opened = open_network("leduc_poker")
    public, table = PublicTree(opened.game), client.app.app.state.site.tables.get(address.rpartition("/")[2])
    agent = Student(simulations=20).agents(public, opened)(0, 0)
    row = agent.policy(0)[:, table.world.pair[0]]
    names = [opened.game.action_name(public.states[0], int(action)) for action in public.actions(0)]
    assert shown == pytest.approx({name: p for name, p in zip(names, row, strict=True) if p > 0})
    move(client, address, "check")
    assert not view(client, address)["hint"]


def test_random_moves_give_no_hints(client: Client) -> None:
    address = begun(client, "kuhn_poker", ("person", "random"))
    assert "Hint" not in client.get(address).text and client.post(f"{address}/hint", {}).status == 400


def test_a_hint_on_a_board_names_moves(client: Client) -> None:
    address = begun(client, "connect_four", ("person", "network"), "40")
    assert client.post(f"{address}/hint", {}).status == 303
    hint = dict(view(client, address)["hint"])  # type: ignore[call-overload]
    assert sum(hint.values()) == pytest.approx(1.0) and set(hint) <= set("1234567") and len(hint) > 1


def test_a_killed_servers_game_has_hints_and_takings_back(games: Path, lanes: AgentLanes) -> None:
    client = client_of(games, lanes=lanes)
    address = begun(client, "leduc_poker", ("person", "network"), "20")
    file = games / f"{address.rpartition('/')[2]}.jsonl"
    move(client, address, "check")
    if not view(client, address)["result"]:
        assert take_back(client, address) == 303
    client.post(f"{address}/hint", {})
    before, page = view(client, address), client.get(address).text
    again = client_of(games)
    assert view(again, address) == before and again.get(address).text == page and before["hint"]
    move(client, address, "raise")
    ours = view(client, address)
    file.write_text("".join(f"{line}\n" for line in file.read_text().splitlines()[:-1]))
    third = client_of(games)  # the agent's answer is lost; a new process answers the same
    assert third.post(f"{address}/continue", {}).status == 303
    assert view(third, address) == ours
    for each in (client, again, third):
        each.close()


@pytest.mark.parametrize("line", ['{"back": 5}', '{"back": 0}', '{"back": -1}', '{"back": "x"}', '{"hint": 3}'])
def test_damaged_lines_are_said(games: Path, line: str) -> None:
    client = client_of(games)
    address = begun(client, "kuhn_poker", ("person", "random"))
    with (games / f"{address.rpartition('/')[2]}.jsonl").open("a") as file:
        file.write(line + "\n")
    again = client_of(games)
    answer = again.get(address)
    assert answer.status == 400 and "cannot be read" in answer.text
    for each in (client, again):
        each.close()


def hint_asked(seed: int) -> tuple[tuple[int, int], MoveAsked]:
    """The pair of a deal, and what is asked for the person's first decision."""
    table = PlayTable("0" * 32, make_game("leduc_poker"), (Chair(PERSON, "a person"), NETWORK), seed)
    return table.world.pair, table.hint_asked()


def test_what_is_asked_for_a_hint_says_nothing_of_the_other_hand() -> None:
    asked: dict[int, set[MoveAsked]] = {}
    for seed in range(200):
        pair, message = hint_asked(seed)
        asked.setdefault(pair[0], set()).add(message)
    assert len(asked) == 6 and all(len(messages) == 1 for messages in asked.values())


def test_an_agent_that_went_another_way_is_made_anew() -> None:
    """Asked for a hint at the second decision of one line, then at the third of another."""
    rules = make_game("liars_dice(numdice=1,dice_sides=6)")
    chairs = (Chair(PERSON, "a person"), Chair(rules.name, "the network", 10, 1.0))

    def after(columns: list[int]) -> MoveAsked:
        table = PlayTable("0" * 32, rules, chairs, 5)
        for column in columns:
            table.move(column)
        return table.hint_asked()

    thinker = Thinker()
    thinker.hint(after([0, 1]))
    for columns in ([2, 0, 0, 0], [2, 1]):
        assert thinker.hint(after(columns)) == Thinker().hint(after(columns))
