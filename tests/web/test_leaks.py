"""Nothing leaks: worlds that a viewer cannot tell apart give the same bytes, until the game is over.

The public line and the viewer's own hand and moves stay; all that is hidden varies, with what an agent believed. The
same tests find planted faults.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache

import pytest

from sog.games.base import NATURE, Carry, Game, Links, followers
from sog.games.catalog import make_game
from sog.pictures.charts import bar_chart
from sog.pictures.svg import SvgPicture
from sog.play.referee import World
from sog.web import server, views
from sog.web.asked import PERSON, Chair, MoveAsked, MoveFound, PositionAsked
from sog.web.looks import chase_of, seas_of
from sog.web.offers import Offers
from sog.web.positions import Place
from sog.web.tables import Made, PlayTable
from tests.web.client import Answer, Client, client_of, own_game, scope_of
from tests.web.rows import LONDON, RIVER, ROWS

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
# Games in which little is hidden, so that many lines have no other world.
LITTLE = ["rps", ROWS["oshi-zumo"], ROWS["own"]]
MANY = 200  # lines of each game in `make slow`
WAYS = 500  # of which twins are drawn
TWINS = 3  # of a line
NAME = "0" * 32


@dataclass(frozen=True)
class Line:
    """A way of the hidden things along a public line: the pair at each of its nodes, and each move's column."""

    pairs: tuple[tuple[int, int], ...]
    columns: tuple[int, ...]


NETWORK = Chair("network", "the network")


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


@lru_cache(2)
def rules_of(game: str) -> Game:
    return make_game(game)


def table_of(game: str, viewer: int | None, rng: random.Random, agent: Chair = NETWORK) -> PlayTable:
    """A game that is played by chance up to somewhere before its end."""
    chairs, rules = [agent] * 2, rules_of(game)
    if viewer is not None:
        chairs[viewer] = Chair(PERSON, "a person")
    while True:
        table = PlayTable(NAME, rules, (chairs[0], chairs[1]), rng.randrange(2**30))
        for _ in range(rng.randrange(9)):
            if table.is_over:
                break
            move(table, rng.choice(table.referee.legal(table.world)))
        if not table.is_over:
            return table


def move(table: PlayTable, column: int) -> None:
    """A move; an agent's with a belief that follows from its own hand, and so tells it."""
    told = None if table.chairs[table.actor].is_person else found_with(column, table.world.pair[table.actor])
    table.move(column, told)


def found_with(column: int, own: int) -> MoveFound:
    return MoveFound(column, ((0, 0.5 + own / 1000), (1, 0.25)), f"holding {own}")


def lines_like(table: PlayTable, viewer: int | None) -> Iterator[Line]:
    """Every other way of what is hidden from the viewer along the table's public line."""
    public, path = table.public, table.public.path(table.world.node)
    edges = [table.referee.edge_into.get(node) for node in path[1:]]
    weights = [table.game.weights(public.states[node]) for node in path]
    fans = {k: table.game.fan(public.states[path[k]]) for k, edge in enumerate(edges) if edge is not None}
    carries = {  # of chance events that are not listed
        k: table.game.chance_carry(public.states[path[k]], public.states[path[k + 1]])
        for k, edge in enumerate(edges)
        if edge is None
    }
    worlds = {world.node: world.pair for world in (table.first, *(made.after for made in table.made))}
    columns = [made.column for made in table.made]

    def ways(
        k: int, pair: tuple[int, int], pairs: tuple[tuple[int, int], ...], taken: tuple[int, ...]
    ) -> Iterator[Line]:
        node = path[k]
        if weights[k].entry(*pair) <= 0:
            return
        if viewer is not None and node in worlds and worlds[node][viewer] != pair[viewer]:
            return
        if k == len(edges):
            yield Line((*pairs, pair), taken)
            return
        edge, actor = edges[k], public.actor(node)
        if edge is None:
            for j0, j1 in itertools.product(*(carried(carries[k][p], pair[p]) for p in (0, 1))):
                yield from ways(k + 1, (j0, j1), (*pairs, pair), taken)
            return
        fan = fans[k]
        if actor == NATURE:
            for j0, j1 in itertools.product(*(followers(fan, edge, p, pair[p]).tolist() for p in (0, 1))):
                yield from ways(k + 1, (j0, j1), (*pairs, pair), taken)
            return
        assert fan.moves is not None
        here = columns[len(taken)]
        for column in [here] if actor == viewer else range(fan.moves.edge.shape[1]):
            if fan.moves.edge[pair[actor], column] != edge:
                continue
            own = pair[actor] if fan.moves.target is None else int(fan.moves.target[pair[actor], column])
            for other in followers(fan, edge, 1 - actor, pair[1 - actor]).tolist():
                after = (own, other) if actor == 0 else (other, own)
                yield from ways(k + 1, after, (*pairs, pair), (*taken, column))

    first = [list(range(count)) for count in table.game.num_infostates(public.states[0])]
    if viewer is not None and 0 in worlds:
        first[viewer] = [worlds[0][viewer]]
    for held in first:
        random.Random(len(held)).shuffle(held)  # the first ones are not all alike
    for pair in itertools.product(*first):
        yield from ways(0, pair, (), ())


def carried(carry: Carry, infostate: int) -> list[int]:
    """What an infostate becomes by a chance event."""
    if carry is None:
        return [infostate]
    assert isinstance(carry, Links)
    return [int(target) for target in carry.target[carry.source == infostate]]


def twin_of(table: PlayTable, line: Line) -> PlayTable:
    """The same table with other hidden things, so of another seed."""
    twin = copy(table)
    twin.seed, twin.made = table.seed + 1, []
    pairs = dict(zip(table.public.path(table.world.node), line.pairs, strict=True))
    twin.first = World(table.first.node, pairs[table.first.node])
    for made, column in zip(table.made, line.columns, strict=True):
        before, after = (World(world.node, pairs[world.node]) for world in (made.before, made.after))
        told = None if made.found is None else found_with(column, before.pair[made.player])
        twin.made.append(Made(made.player, column, before, after, told))
    return twin


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


def compare(client: Client, game: str, lines: int) -> int:
    """Look at this many lines as either seat and as nobody; how many twins were compared."""
    rng, compared = random.Random(game), 0
    for k in range(lines):
        viewer = (0, 1, None)[k % 3]
        table = table_of(game, viewer, rng)
        own = Line((), tuple(made.column for made in table.made))
        ways = list(itertools.islice(lines_like(table, viewer), WAYS))
        others = [way for way in ways if (way.pairs[-1], way.columns) != (table.world.pair, own.columns)]
        truth = seen(client, table)
        assert truth[0][0] == 200  # type: ignore[index]
        for way in rng.sample(others, min(TWINS, len(others))):
            assert seen(client, twin_of(table, way)) == truth
            compared += 1
    return compared


def test_every_game_with_hidden_information_is_looked_at(own: str) -> None:
    assert {game for game in ROWS.values() if not make_game(game).perfect_information} <= LINES.keys()


@pytest.mark.parametrize("game", LINES)
def test_worlds_that_a_viewer_cannot_tell_apart_look_the_same(lone: Client, own: str, game: str) -> None:
    assert compare(lone, game, LINES[game]) > LINES[game] / (2 if game in LITTLE else 1)


@pytest.mark.parametrize("game", LINES)
def test_two_hundred_lines_of_worlds_look_the_same(lone: Client, own: str, game: str) -> None:
    assert compare(lone, game, MANY) > MANY / (2 if game in LITTLE else 1)


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
        others = [way for way in lines_like(table, 0) if way.pairs[-1] != table.world.pair]
        truth = streamed(client, table)
        assert truth[0] == 200 and "event: end" in truth[1]
        for way in rng.sample(others, min(2, len(others))):
            assert streamed(client, twin_of(table, way)) == truth
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
        others = [way for way in lines_like(table, 0) if way.pairs[-1] != table.world.pair]
        truth = hinted(client, table)
        for way in rng.sample(others, min(2, len(others))):
            assert hinted(client, twin_of(table, way)) == truth
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
