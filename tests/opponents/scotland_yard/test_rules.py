"""The compact rules of Scotland Yard's opponents against the game itself: moves, possible stations and results."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from sog.games.base import NATURE, TERMINAL, State, step
from sog.games.catalog import make_game
from sog.games.scotland_yard.game import Chase, ScotlandYard
from sog.opponents.scotland_yard.board import CityBoard, make_board
from sog.opponents.scotland_yard.moves import (
    Cell,
    ChasePosition,
    Ending,
    empty_position,
    list_detective_moves,
    list_x_moves,
    play_detective,
    play_x,
)
from sog.opponents.scotland_yard.playouts import PlayoutPolicy, playout
from sog.opponents.scotland_yard.replay import events_of, replay, start_cells, starting_set

# Blind ends, a ferry, a station without taxis, links of several kinds.
ODD = "1,2,taxi 2,3,taxi 1,3,taxi 3,4,taxi 3,4,bus 4,5,bus 5,6,underground 6,7,ferry 2,7,taxi 6,8,bus 1,8,ferry"
RULES = {
    "glasses": "map=glasses",
    "glasses, tickets of all kinds": "map=glasses,rounds=6,reveals=2;4,x_tickets=3;0;0;2;1,tickets=3;0;0",
    "odd": "map={odd},rounds=8,detectives=2,reveals=2;5,tickets=2;2;1,x_tickets=2;1;1;2;2",
    "london": "map=london",
}
GAMES = {"glasses": 40, "glasses, tickets of all kinds": 60, "odd": 90, "london": 10}


@pytest.fixture(scope="module", params=RULES)
def games(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[ScotlandYard, int]:
    """A game and how many times it is played."""
    path = tmp_path_factory.mktemp("maps") / "odd.csv"
    path.write_text("from,to,transport\n" + ODD.replace(" ", "\n") + "\n", encoding="utf-8")
    game = make_game(f"scotland_yard({RULES[request.param].format(odd=path)})")
    assert isinstance(game, ScotlandYard)
    return game, GAMES[request.param]


def chase(s: State) -> Chase:
    assert isinstance(s, Chase)
    return s


def random_game(game: ScotlandYard, rng: np.random.Generator) -> Iterator[tuple[Chase, int, list[int], int]]:
    """At each decision: the public state, Mr X's infostate, the legal actions, the action played; then the end."""
    s, x = chase(game.root()), int(rng.integers(game.num_infostates(game.root())[0]))
    while (actor := game.actor(s)) != TERMINAL:
        if actor == NATURE:
            child, x, _ = game.sample_chance(s, x, 0, rng)
            s = chase(child)
            continue
        fan = game.fan(s)
        assert fan.moves is not None
        columns = np.flatnonzero(fan.moves.edge[x if actor == 0 else 0] >= 0)
        column = int(rng.choice(columns))
        yield s, x, game.actions(s)[columns].tolist(), int(game.actions(s)[column])
        edge, (x, _) = step(fan, actor, (x, 0), column)
        s = chase(fan.children[edge])
    yield s, x, [], -1


@cache
def board(game: ScotlandYard) -> CityBoard:
    return make_board(game)


def replayed(game: ScotlandYard, log: tuple[str, ...], station: int = -1) -> ChasePosition:
    """The compact position after a public history."""
    b = board(game)
    s = empty_position(b)
    s.cells[:] = start_cells(game, b)
    for k in starting_set(game).tolist():
        s.possible[k // 64] |= np.uint64(1) << np.uint64(k % 64)
    replay(b, s, events_of(game, log), True, 1, np.zeros(b.stations, dtype=np.int64))
    s.cells[Cell.STATION] = station
    return s


def members(words: np.ndarray) -> list[int]:
    return [k for k in range(64 * len(words)) if int(words[k // 64]) >> (k % 64) & 1]


def test_actions_and_their_numbers_are_the_games(games: tuple[ScotlandYard, int]) -> None:
    game, _ = games
    b = board(game)
    assert game.num_actions == b.double + (game.rules.x_tickets[4] > 0)
    for a in range(b.double):
        name = game.action_name(game.root(), a)
        assert name.split(" to ")[0] == ("taxi", "bus", "underground", "black")[b.ticket_of[a]]
        assert int(name.split(" to ")[1]) == game.city.stations[b.dest_of[a]]


def test_every_public_position_is_the_games(games: tuple[ScotlandYard, int]) -> None:
    """Possible stations, tickets, whose turn it is, and legal actions, after each event of random games."""
    game, count = games
    b, rng = board(game), np.random.default_rng(1)
    moves = np.zeros(b.double + 1, dtype=np.int64)
    endings = set()
    for _ in range(count):
        for s, x, legal, _ in random_game(game, rng):
            own = replayed(game, s.log, s.hidden[x] if legal else -1)
            if not legal:
                endings.add(s.kind)
                continue
            cells = own.cells
            assert members(own.possible) == list(s.hidden)
            assert cells[Cell.TURN] == s.turn and cells[Cell.MOVED] == s.moved and cells[Cell.OWED] == s.owed
            assert tuple(cells[Cell.TICKETS : Cell.PLACES]) == s.x_tickets
            assert tuple(cells[Cell.PLACES : Cell.PLACES + b.detectives]) == s.detectives
            assert tuple(cells[Cell.PLACES + b.detectives :]) == tuple(t for cards in s.tickets for t in cards)
            assert members(own.held) == sorted(s.detectives)
            listed = list_detective_moves(b, own, s.turn, moves) if s.turn else list_x_moves(b, own, moves)
            assert moves[:listed].tolist() == legal
    assert "caught" in endings or "stuck" in endings


def test_results_are_the_games(games: tuple[ScotlandYard, int]) -> None:
    """The same actions played on a position that knows Mr X's station, its set of stations updated on the way."""
    game, count = games
    b, rng = board(game), np.random.default_rng(2)
    for _ in range(count):
        own = None
        for s, x, legal, action in random_game(game, rng):
            if own is None:
                own = replayed(game, s.log, s.hidden[x])
            if legal:
                assert own.cells[Cell.ENDING] == Ending.NONE and members(own.possible) == list(s.hidden)
                (play_detective if s.turn else play_x)(b, own, action, True)
                continue
            wanted = {"caught": Ending.CAUGHT, "stuck": Ending.STUCK, "escaped": Ending.ESCAPED}[s.kind]
            assert own.cells[Cell.ENDING] in (wanted, Ending.NONE if not own.cells[Cell.MOVED] else wanted)
            assert (own.cells[Cell.CATCHER] > 0) == (s.kind == "caught")


@pytest.mark.parametrize("detectives", [0, 1, 2, 3])
def test_playouts_end_as_the_rules_say(games: tuple[ScotlandYard, int], detectives: int) -> None:
    """A playout ends, and its cells agree with how: a detective on Mr X, no move left, or the last move answered."""
    game, _ = games
    b, rng = board(game), np.random.default_rng(3)
    policy = PlayoutPolicy(1, detectives, 0.2, 0.3, 1, 3.0, 1)
    moves, state = np.zeros(b.double + 1, dtype=np.int64), np.array([7], dtype=np.uint64)
    for _ in range(20):
        s, x, legal, _ = next(random_game(game, rng))
        if not legal:
            continue
        own = replayed(game, s.log, s.hidden[x])
        playout(b, own, policy, moves, state)
        cells, places = own.cells, own.cells[Cell.PLACES : Cell.PLACES + b.detectives]
        if cells[Cell.ENDING] == Ending.CAUGHT:
            assert places[cells[Cell.CATCHER] - 1] == cells[Cell.STATION]
        elif cells[Cell.ENDING] == Ending.STUCK:
            assert list_x_moves(b, own, moves) == 0
        else:
            able = [list_detective_moves(b, own, k + 1, moves) for k in range(b.detectives)]
            assert cells[Cell.MOVED] == b.rounds or not any(able)
        if cells[Cell.ENDING] != Ending.CAUGHT:
            assert cells[Cell.STATION] in members(own.possible) or cells[Cell.ENDING] == Ending.STUCK
        assert (cells[Cell.TICKETS : Cell.PLACES] >= 0).all() and (cells[Cell.PLACES :] >= 0).all()
