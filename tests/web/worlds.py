"""Games played by chance, and twins of them: worlds that a viewer of the same public line cannot tell apart."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from sog.games.base import NATURE, Carry, Game, Links, followers
from sog.games.catalog import make_game
from sog.play.referee import World
from sog.web.asked import PERSON, Chair, MoveReply
from sog.web.tables import Made, PlayTable

NAME = "0" * 32  # of every table
NETWORK = Chair("network", "the network")
WAYS = 500  # that are looked through for a twin
CALM = (0.0, 0.5, 1.0)  # how often a line takes the first move that does not end the game, such as a low bid or a call

T = TypeVar("T")


@dataclass(frozen=True)
class Line:
    """A way of the hidden things along a public line: the pair at each of its nodes, and each move's column."""

    pairs: tuple[tuple[int, int], ...]
    columns: tuple[int, ...]


@lru_cache(2)
def rules_of(game: str) -> Game:
    return make_game(game)


def table_of(game: str, viewer: int | None, rng: random.Random, agent: Chair = NETWORK) -> PlayTable:
    """A game that is played by chance up to somewhere before its end: to a drawn length, or as far as there are moves.

    The length is the larger of two, since there are more late states than early ones.
    """
    chairs = [agent] * 2
    if viewer is not None:
        chairs[viewer] = Chair(PERSON, "a person")
    table, calm = dealt(game, (chairs[0], chairs[1]), rng), rng.choice(CALM)
    for _ in range(max(rng.randint(0, longest(game)) for _ in range(2))):
        if not go_on(table, rng, calm):
            break
    table.changes = len(table.made)  # what was tried is forgotten
    return table


@lru_cache(2)
def longest(game: str) -> int:
    """How many moves a long line has before the one that ends the game."""
    rng, lengths = random.Random(0), list[int]()
    for calm in CALM:
        table = dealt(game, (NETWORK, NETWORK), rng)
        while go_on(table, rng, calm):
            pass
        lengths.append(len(table.made))
    return max(lengths)


def dealt(game: str, chairs: tuple[Chair, Chair], rng: random.Random) -> PlayTable:
    """A new game in which somebody is to move."""
    while True:
        table = PlayTable(NAME, rules_of(game), chairs, rng.randrange(2**30))
        if not table.is_over:
            return table


def go_on(table: PlayTable, rng: random.Random, calm: float) -> bool:
    """Make a move that does not end the game; whether there is one."""
    columns = table.referee.legal(table.world)
    if rng.random() >= calm:
        rng.shuffle(columns)
    for column in columns:
        move(table, column)
        if not table.is_over:
            return True
        table.take_back(1)
    return False


def move(table: PlayTable, column: int) -> None:
    """A move; an agent's with a belief that follows from its own hand, and so tells it."""
    reply = None if table.chairs[table.actor].is_person else found_with(column, table.world.pair[table.actor])
    table.move(column, reply)


def found_with(column: int, own: int) -> MoveReply:
    return MoveReply(column, ((0, 0.5 + own / 1000), (1, 0.25)), f"holding {own}")


def lines_like(table: PlayTable, viewer: int | None, rng: random.Random) -> Callable[[], Iterator[Line]]:
    """Every way of what is hidden from the viewer along the table's public line, in another order at each call."""
    public, path = table.public, table.public.path(table.world.node)
    edges = [table.referee.edge_into.get(node) for node in path[1:]]
    weights = [table.game.weights(public.states[node]) for node in path]
    fans = {k: table.referee._fan(path[k]) for k, edge in enumerate(edges) if edge is not None}
    carries = {  # of chance events that are not listed
        k: table.game.chance_carry(public.states[path[k]], public.states[path[k + 1]])
        for k, edge in enumerate(edges)
        if edge is None
    }
    worlds = {world.node: world.pair for world in (table.first, *(made.after for made in table.made))}
    columns = [made.column for made in table.made]
    actors = [public.actor(node) for node in path]
    decisions = [k for k, edge in enumerate(edges) if edge is not None and actors[k] != NATURE]
    moved = {k: columns[number] for number, k in enumerate(decisions)}
    lost = set[tuple[int, tuple[int, int]]]()  # pairs that no way to the line's end goes through

    @lru_cache(None)
    def after(k: int, pair: tuple[int, int]) -> list[tuple[tuple[int, int], tuple[int, ...]]]:
        """The pairs at the next node that may follow, each with the column of the move before it, if it was one."""
        edge, actor = edges[k], actors[k]
        if edge is None:
            return [(both, ()) for both in itertools.product(*(carried(carries[k][p], pair[p]) for p in (0, 1)))]
        fan = fans[k]
        if actor == NATURE:
            return [
                (both, ()) for both in itertools.product(*(followers(fan, edge, p, pair[p]).tolist() for p in (0, 1)))
            ]
        assert fan.moves is not None
        found = list[tuple[tuple[int, int], tuple[int, ...]]]()
        for column in [moved[k]] if actor == viewer else range(fan.moves.edge.shape[1]):
            if fan.moves.edge[pair[actor], column] != edge:
                continue
            own = pair[actor] if fan.moves.target is None else int(fan.moves.target[pair[actor], column])
            for other in followers(fan, edge, 1 - actor, pair[1 - actor]).tolist():
                found.append(((own, other) if actor == 0 else (other, own), (column,)))
        return found

    def ways(pairs: tuple[tuple[int, int], ...], taken: tuple[int, ...]) -> Iterator[Line]:
        k, pair = len(pairs) - 1, pairs[-1]
        node = path[k]
        if (k, pair) in lost or weights[k].entry(*pair) <= 0:
            return
        if viewer is not None and node in worlds and worlds[node][viewer] != pair[viewer]:
            return
        if k == len(edges):
            yield Line(pairs, taken)
            return
        leads = False
        for below, column in shuffled(after(k, pair), rng):
            for line in ways((*pairs, below), (*taken, *column)):
                leads = True
                yield line
        if not leads:
            lost.add((k, pair))

    def every() -> Iterator[Line]:
        first = [list(range(count)) for count in table.game.num_infostates(public.states[0])]
        if viewer is not None and 0 in worlds:
            first[viewer] = [worlds[0][viewer]]
        for pair in itertools.product(*(shuffled(held, rng) for held in first)):
            yield from ways((pair,), ())

    return every


def shuffled(items: Sequence[T], rng: random.Random) -> list[T]:
    return rng.sample(items, len(items))


def carried(carry: Carry, infostate: int) -> list[int]:
    """What an infostate becomes by a chance event."""
    if carry is None:
        return [infostate]
    assert isinstance(carry, Links)
    return [int(target) for target in carry.target[carry.source == infostate]]


def twins_of(table: PlayTable, viewer: int | None, rng: random.Random, most: int) -> list[PlayTable]:
    """Tables that the viewer cannot tell from this one, each of another hand or other hidden moves; fewer if few are.

    The pairs on the way to them are drawn anew for each.
    """
    every, made = lines_like(table, viewer, rng), tuple(made.column for made in table.made)
    found = list[Line]()
    for _ in range(most):
        for way in itertools.islice(every(), WAYS):
            if (way.pairs[-1], way.columns) != (table.world.pair, made) and way not in found:
                found.append(way)
                break
        else:
            break
    return [twin_of(table, way) for way in found]


def twin_of(table: PlayTable, line: Line) -> PlayTable:
    """The same table with other hidden things, so of another seed."""
    twin = copy(table)
    twin.seed, twin.made = table.seed + 1, []
    pairs = dict(zip(table.public.path(table.world.node), line.pairs, strict=True))
    twin.first = World(table.first.node, pairs[table.first.node])
    for made, column in zip(table.made, line.columns, strict=True):
        before, after = (World(world.node, pairs[world.node]) for world in (made.before, made.after))
        reply = None if made.reply is None else found_with(column, before.pair[made.player])
        twin.made.append(Made(made.player, column, before, after, reply))
    return twin
