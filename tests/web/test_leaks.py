"""Nothing leaks: worlds that a viewer cannot tell apart give the same bytes, until the game is over.

The public line and the viewer's own hand and moves stay; all that is hidden varies, with what an agent believed. The
same tests find planted faults.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from statistics import median

import pytest

from sog.games.base import Game
from sog.games.catalog import make_game
from sog.pictures.charts import bar_chart
from sog.pictures.svg import SvgPicture
from sog.web import server, views
from sog.web.asked import Chair, MoveAsked, PositionAsked
from sog.web.looks import chase_of, seas_of
from sog.web.offers import Offers
from sog.web.positions import Place
from sog.web.tables import PlayTable
from tests.web.client import Answer, Client, client_of, own_game, scope_of
from tests.web.rows import LONDON, RIVER, ROWS
from tests.web.worlds import NAME, longest, move, table_of, twins_of

WHOLE = "holdem(stacks=2000,bets=0.5;1;allin)"
# Lines that are looked at: of each game with hidden information that `sog games` lists, and of others that differ.
LINES = {
    "leduc_poker": 50,
    "kuhn_poker": 50,
    ROWS["dice 1x6"]: 50,
    ROWS["dice 1x4"]: 20,
    ROWS["dice 1x5"]: 20,
    ROWS["dice 2x3"]: 20,
    RIVER: 20,
    ROWS["turn"]: 20,
    ROWS["holdem"]: 20,
    ROWS["goofspiel"]: 20,
    ROWS["battleship"]: 20,
    "rps": 50,
    ROWS["glasses"]: 50,
    LONDON: 10,
    ROWS["oshi-zumo"]: 50,
    ROWS["openspiel"]: 20,
    ROWS["own"]: 50,
    "holdem(board=2s2h2d7c,pot=1000,stacks=1000,bets=1;allin)": 20,
    WHOLE: 20,
    "scotland_yard(map=london40)": 20,
}
# Games that are drawn: on a map, with chips, as two boards.
DRAWN = [RIVER, ROWS["turn"], WHOLE, "scotland_yard(map=london40)", LONDON, ROWS["battleship"]]
LONG = [ROWS["dice 1x6"], ROWS["holdem"], ROWS["battleship"], LONDON]
# Games in which little is hidden, so that many lines have no other world.
LITTLE = ["rps", ROWS["oshi-zumo"], ROWS["own"]]
MANY = 200  # lines of each game in `make slow`
TWINS = 3  # of a line


@pytest.fixture(scope="module")
def lone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A browser of a server whose list of games has the one that is looked at, and no other."""
    folder = tmp_path_factory.mktemp("games")
    (folder / f"{NAME}.jsonl").touch()
    found = client_of(folder)
    yield found
    found.close()


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The documents' own game can be made."""
    with own_game(tmp_path_factory.mktemp("own")) as name:
        yield name


def seen(client: Client, table: PlayTable) -> list[object]:
    """All that a browser is sent of a table, and would be if it asked for more."""
    client.app.app.state.site.tables._held[NAME] = table

    async def asked() -> list[Answer]:
        page = await client.asking(scope_of("GET", f"/games/{NAME}"), ())
        files = [f"/pictures/{file}" for file in (*re.findall(r"/pictures/([^\"]+)", page.text), "hint.csv")]
        ends = [f"/games/{NAME}{end}" for end in ("/view.json", "/record", "/saved", "/phh", *files)]
        return [page, *[await client.asking(scope_of("GET", address), ()) for address in (*ends, "/games")]]

    answers = client.loop.run_until_complete(asked())
    assert f"/games/{NAME}" in answers[-1].text
    return [(answer.status, answer.headers, answer.body) for answer in answers]


def compare(client: Client, game: str, lines: int) -> list[int]:
    """Look at this many lines as either seat and as nobody; after how many moves each twin was compared."""
    rng, depths = random.Random(game), list[int]()
    for k in range(lines):
        viewer = (0, 1, None)[k % 3]
        table = table_of(game, viewer, rng)
        truth = seen(client, table)
        assert truth[0][0] == 200  # type: ignore[index]
        for twin in twins_of(table, viewer, rng, TWINS):
            assert seen(client, twin) == truth
            depths.append(len(table.made))
    return depths


def test_every_game_with_hidden_information_is_looked_at(own: str) -> None:
    assert {game for game in ROWS.values() if not make_game(game).perfect_information} <= LINES.keys()


@pytest.mark.parametrize("game", LINES)
def test_worlds_that_a_viewer_cannot_tell_apart_look_the_same(lone: Client, own: str, game: str) -> None:
    assert len(compare(lone, game, LINES[game])) > LINES[game] / (2 if game in LITTLE else 1)


@pytest.mark.parametrize("game", LINES)
def test_two_hundred_lines_of_worlds_look_the_same(lone: Client, own: str, game: str) -> None:
    depths, most = compare(lone, game, MANY), longest(game)
    print(f"{game}: {len(depths)} twins, {median(depths):g} moves in the middle, {max(depths)} at most, of {most}")
    assert len(depths) > MANY / (2 if game in LITTLE else 1)
    assert max(depths) >= 0.9 * most and median(depths) >= most / 4


@pytest.mark.parametrize("game", DRAWN)
def test_a_look_that_tells_is_found(lone: Client, game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A map with Mr X's station on it, chips that depend on a hand, the other player's ships."""
    real = views.view_of

    def telling(table: PlayTable, viewer: int | None) -> views.GameView:
        view, state = real(table, viewer), table.public.states[table.world.node]
        if view.seas is not None:
            return replace(view, seas=seas_of(table.game, state, table.world.pair))
        if view.chase is not None:
            return replace(view, chase=chase_of(table.game, state, table.world.pair[0]))
        assert view.chips is not None
        return replace(view, chips=replace(view.chips, pot=view.chips.pot + sum(table.world.pair)))

    monkeypatch.setattr(server, "view_of", telling)
    with pytest.raises(AssertionError):
        compare(lone, game, 10)


@pytest.mark.parametrize("game", LONG, ids=lambda game: game.partition("(")[0])
def test_a_late_fault_is_found(lone: Client, game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seed that the page shows in the last third of a long game alone."""
    real = views.view_of

    def late_seed(table: PlayTable, viewer: int | None) -> views.GameView:
        late = 3 * len(table.made) > 2 * longest(game)
        return replace(real(table, viewer), **({"saved": views._saved(table)} if late else {}))

    monkeypatch.setattr(server, "view_of", late_seed)
    with pytest.raises(AssertionError):
        compare(lone, game, LINES[game])


def test_the_end_shows_both_hands(lone: Client) -> None:
    """Otherwise equal bytes would mean nothing."""
    table = table_of("kuhn_poker", 0, random.Random(0))
    while not table.is_over:
        move(table, table.referee.legal(table.world)[0])
    held = views.view_of(table, 0).hands
    assert None not in held and all(
        f"Holds: <b>{held[1]}</b>" in lone.get(f"/games/{NAME}").text for _ in [seen(lone, table)]
    )


@pytest.mark.parametrize("game", list(LINES)[:3], ids=lambda game: game.partition("(")[0])
@pytest.mark.parametrize("fault", ["belief", "record", "saved", "class"])
def test_a_planted_fault_is_found(lone: Client, game: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = views.view_of

    def conditional_belief(table: PlayTable, viewer: int | None) -> views.GameView:
        return replace(real(table, viewer), minds=tuple(views._minds(table)))

    def telling_class(table: PlayTable, viewer: int | None) -> views.GameView:
        view = real(table, viewer)
        pair = table.world.pair
        cards = (replace(c, kind=f"k{pair[c.owner]}") if c.kind == "hidden" else c for c in view.cards)
        return replace(view, cards=tuple(cards))

    def early_seed(table: PlayTable, viewer: int | None) -> views.GameView:
        return replace(real(table, viewer), saved=views._saved(table))

    faulty = {"belief": conditional_belief, "saved": early_seed, "class": telling_class}
    if fault == "record":
        monkeypatch.setattr(views, "may_record", lambda table: True)
    else:
        monkeypatch.setattr(server, "view_of", faulty[fault])
    with pytest.raises(AssertionError):
        compare(lone, game, 20)


def test_a_file_that_tells_is_found(lone: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture that the page does not show, of a hand."""

    def telling(view: views.GameView) -> dict[str, SvgPicture]:
        table = lone.app.app.state.site.tables._held[NAME]
        return {"Hint": bar_chart("hint", [(view.state, table.world.pair[1] / 10)])}

    monkeypatch.setattr(server, "view_pictures", telling)
    with pytest.raises(AssertionError):
        compare(lone, "leduc_poker", 10)


def streamed(client: Client, table: PlayTable) -> tuple[int, str, str]:
    """The last event of the stream of a game's public position while it is played, and its policy as a file."""
    client.app.app.state.site.tables._held[NAME] = table
    line = "-".join(map(str, views.line_of(table) or ()))
    query = {"game": table.game.name, "line": line, "s": "8", "c": "1"}
    answer, file = client.get("/position/stream", query), client.get("/position/pictures/policy.csv", query)
    return answer.status, answer.text.split("\n\n")[-2], file.text


def compare_streams(client: Client, lines: int) -> int:
    """The same stream whatever is hidden; how many twins were compared."""
    rng, compared = random.Random(3), 0
    for _ in range(lines):
        table = table_of("leduc_poker", 0, rng)
        truth = streamed(client, table)
        assert truth[0] == 200 and "event: end" in truth[1]
        for twin in twins_of(table, 0, rng, 2):
            assert streamed(client, twin) == truth
            compared += 1
    return compared


def test_a_stream_tells_nothing_of_a_game_in_play(client: Client) -> None:
    assert compare_streams(client, 6) > 6


def test_a_stream_that_depends_on_a_hand_is_found(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Place.asked

    def telling(place: Place, offers: Offers, game: Game) -> PositionAsked:
        table = client.app.app.state.site.tables._held[NAME]
        return replace(real(place, offers, game), seed=table.world.pair[1])

    monkeypatch.setattr(Place, "asked", telling)
    with pytest.raises(AssertionError):
        compare_streams(client, 6)


def hinted(client: Client, table: PlayTable) -> list[object]:
    """What a browser is sent of a table once its person has asked for a hint."""
    tables = client.app.app.state.site.tables
    tables.folder.mkdir(exist_ok=True)
    tables._held[NAME] = table
    answer = client.post(f"/games/{NAME}/hint", {})
    assert answer.status == 303 and table.hint is not None
    return [(answer.status, answer.headers, answer.body), *seen(client, table)]


def compare_hints(client: Client, lines: int) -> int:
    """The same hint whatever the agent holds; how many twins were compared."""
    rng, compared = random.Random(4), 0
    while lines:
        table = table_of("leduc_poker", 0, rng, Chair("leduc_poker", "the network", 5, 1.0))
        if table.actor != 0:
            continue
        lines -= 1
        truth = hinted(client, table)
        for twin in twins_of(table, 0, rng, 2):
            assert hinted(client, twin) == truth
            compared += 1
    return compared


def test_a_hint_tells_nothing_of_the_other_hand(client: Client) -> None:
    assert compare_hints(client, 8) > 8


def test_a_hint_that_depends_on_the_other_hand_is_found(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the agent makes of its own hand."""
    real = PlayTable.hint_asked

    def telling(table: PlayTable) -> MoveAsked:
        asked = real(table)
        return replace(asked, own=tuple((depth, table.world.pair[1]) for depth, _ in asked.own))

    monkeypatch.setattr(PlayTable, "hint_asked", telling)
    with pytest.raises(AssertionError):
        compare_hints(client, 8)


def test_a_hidden_move_is_not_said(client: Client) -> None:
    """Mr X's station is his own until the end; the ticket is public."""
    rng = random.Random(5)
    table = table_of("scotland_yard(map=glasses)", 1, rng)
    while len(table.made) < 6 and not table.is_over:
        move(table, rng.choice(table.referee.legal(table.world)))
    said = [words for player, words in views.view_of(table, 1).log if player == 0]
    assert said and set(said) == {"a hidden move"}
    assert "a hidden move" not in [words for player, words in views.view_of(table, 0).log if player == 0]
