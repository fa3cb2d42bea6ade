"""Nothing leaks: worlds that a viewer cannot tell apart give the same bytes, until the game is over.

The public line and the viewer's own hand and moves stay; all that is hidden varies, with what an agent believed. The
same tests find planted faults.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

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
from tests.web.client import Client

GAMES = ["leduc_poker", "kuhn_poker", "liars_dice(numdice=1,dice_sides=6)", "scotland_yard(map=glasses)"]
# Games of many infostates, or of public states that cannot be listed; each with its number of lines.
LARGE = {
    "holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;1;allin)": 20,
    "holdem(board=2s2h2d7c,pot=1000,stacks=1000,bets=1;allin)": 15,
    "holdem(stacks=2000,bets=0.5;1;allin)": 10,
    "scotland_yard(map=london40)": 20,
    "battleship(board_width=3,board_height=3,ship_sizes=[2;2],allow_repeated_shots=False,returns_type=win_loss)": 10,
}
LINES = 50
TWINS = 3  # of a line
NAME = "0" * 32


@dataclass(frozen=True)
class Line:
    """A way of the hidden things along a public line: the pair at each of its nodes, and each move's column."""

    pairs: tuple[tuple[int, int], ...]
    columns: tuple[int, ...]


NETWORK = Chair("network", "the network")


def table_of(game: str, viewer: int | None, rng: random.Random, agent: Chair = NETWORK) -> PlayTable:
    """A game that is played by chance up to somewhere before its end."""
    chairs = [agent] * 2
    if viewer is not None:
        chairs[viewer] = Chair(PERSON, "a person")
    while True:
        table = PlayTable(NAME, make_game(game), (chairs[0], chairs[1]), rng.randrange(2**30))
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
    worlds = {world.node: world.pair for world in (table.first, *(made.after for made in table.made))}
    columns = [made.column for made in table.made]

    def ways(
        k: int, pair: tuple[int, int], pairs: tuple[tuple[int, int], ...], taken: tuple[int, ...]
    ) -> Iterator[Line]:
        node = path[k]
        state, actor = public.states[node], public.actor(node)
        if table.game.weights(state).entry(*pair) <= 0:
            return
        if viewer is not None and node in worlds and worlds[node][viewer] != pair[viewer]:
            return
        if k == len(edges):
            yield Line((*pairs, pair), taken)
            return
        edge = edges[k]
        if edge is None:  # a chance event that is not listed
            carry = table.game.chance_carry(state, public.states[path[k + 1]])
            for j0, j1 in itertools.product(*(carried(carry[p], pair[p]) for p in (0, 1))):
                yield from ways(k + 1, (j0, j1), (*pairs, pair), taken)
            return
        fan = table.game.fan(state)
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
    twin = PlayTable(NAME, table.game, table.chairs, table.seed + 1)
    twin.public, twin.referee = table.public, table.referee
    pairs = dict(zip(table.public.path(table.world.node), line.pairs, strict=True))
    twin.first = World(table.first.node, pairs[table.first.node])
    for made, column in zip(table.made, line.columns, strict=True):
        before, after = (World(world.node, pairs[world.node]) for world in (made.before, made.after))
        told = None if made.found is None else found_with(column, before.pair[made.player])
        twin.made.append(Made(made.player, column, before, after, told))
    twin.changes = table.changes
    return twin


def seen(client: Client, table: PlayTable) -> list[object]:
    """All that a browser is sent of a table, and would be if it asked for more."""
    client.app.app.state.site.tables._held[NAME] = table
    answers = [client.get(f"/games/{NAME}{end}") for end in ("", "/view.json", "/record", "/saved", "/phh")]
    files = [*re.findall(r"/pictures/([^\"]+)", answers[0].text), "hint.csv"]
    answers += [client.get(f"/games/{NAME}/pictures/{file}") for file in files]
    return [(answer.status, answer.headers, answer.body) for answer in (*answers, client.get("/games"))]


def compare(client: Client, game: str, lines: int) -> int:
    """Look at this many lines as either seat and as nobody; how many twins were compared."""
    rng, compared = random.Random(game), 0
    for k in range(lines):
        viewer = (0, 1, None)[k % 3]
        table = table_of(game, viewer, rng)
        own = Line((), tuple(made.column for made in table.made))
        ways = list(itertools.islice(lines_like(table, viewer), 500 if game in LARGE else 2_000))
        others = [way for way in ways if (way.pairs[-1], way.columns) != (table.world.pair, own.columns)]
        truth = seen(client, table)
        assert truth[0][0] == 200  # type: ignore[index]
        for way in rng.sample(others, min(TWINS, len(others))):
            assert seen(client, twin_of(table, way)) == truth
            compared += 1
    return compared


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.partition("(")[0])
def test_worlds_that_a_viewer_cannot_tell_apart_look_the_same(client: Client, game: str) -> None:
    assert compare(client, game, LINES) > LINES


@pytest.mark.parametrize("game", LARGE)
def test_worlds_of_large_games_look_the_same(client: Client, game: str) -> None:
    assert compare(client, game, LARGE[game]) > LARGE[game]


@pytest.mark.parametrize("game", LARGE)
def test_a_look_that_tells_is_found(client: Client, game: str, monkeypatch: pytest.MonkeyPatch) -> None:
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
        compare(client, game, 10)


def test_the_end_shows_both_hands(client: Client) -> None:
    """Otherwise equal bytes would mean nothing."""
    table = table_of("kuhn_poker", 0, random.Random(0))
    while not table.is_over:
        move(table, table.referee.legal(table.world)[0])
    held = views.view_of(table, 0).hands
    assert None not in held and all(
        f"Holds: <b>{held[1]}</b>" in client.get(f"/games/{NAME}").text for _ in [seen(client, table)]
    )


@pytest.mark.parametrize("game", GAMES[:3], ids=lambda game: game.partition("(")[0])
@pytest.mark.parametrize("fault", ["belief", "record", "saved", "class"])
def test_a_planted_fault_is_found(client: Client, game: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
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
        compare(client, game, 20)


def test_a_file_that_tells_is_found(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture that the page does not show, of a hand."""

    def telling(view: views.GameView) -> dict[str, SvgPicture]:
        table = client.app.app.state.site.tables._held[NAME]
        return {"Hint": bar_chart("hint", [(view.state, table.world.pair[1] / 10)])}

    monkeypatch.setattr(server, "view_pictures", telling)
    with pytest.raises(AssertionError):
        compare(client, "leduc_poker", 10)


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
