"""Scotland Yard: hand-checked positions, the maps, and playouts against a plain referee of world states."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, State, step
from sog.games.catalog import make_game
from sog.games.checks.public_states import check_game
from sog.games.scotland_yard.game import Chase, ScotlandYard
from sog.games.scotland_yard.map import SHIPPED, TRANSPORTS, CityMap, map_text, parse_map, read_map

TRIANGLE = "from,to,transport\n1,2,taxi\n2,3,taxi\n1,3,taxi\n3,4,taxi\n"


def game(text: str) -> ScotlandYard:
    made = make_game(f"scotland_yard({text})")
    assert isinstance(made, ScotlandYard)
    return made


def chase(s: State) -> Chase:
    assert isinstance(s, Chase)
    return s


def play(g: ScotlandYard, *words: str) -> Chase:
    """The public state after the named actions of Mr X's first able station, or outcomes of a look."""
    s = g.root()
    for word in words:
        fan = g.fan(s)
        if fan.moves is None:
            s = next(child for child in fan.children if chase(child).log[-1] == word)
            continue
        column = [g.action_name(s, int(a)) for a in g.actions(s)].index(word)
        s = fan.children[max(fan.moves.edge[:, column])]
    return chase(s)


def stations(g: ScotlandYard, s: Chase) -> list[int]:
    return [g.city.stations[x] for x in s.hidden]


def action_names(g: ScotlandYard, s: State) -> list[str]:
    return [g.action_name(s, int(a)) for a in g.actions(s)]


def everywhere(g: ScotlandYard) -> list[Chase]:
    found = [g.root()]
    for s in found:
        if g.actor(s) != TERMINAL:
            found.extend(g.fan(s).children)
    return [chase(s) for s in found]


# --- maps ---


def test_london_is_the_board() -> None:
    city = read_map("london")
    assert city.stations == tuple(range(1, 200))
    assert Counter(TRANSPORTS[t] for *_, t in city.links) == {
        "taxi": 346,
        "bus": 99,
        "underground": 20,
        "ferry": 3,
    }
    ferries = {(city.stations[a], city.stations[b]) for a, b, t in city.links if TRANSPORTS[t] == "ferry"}
    assert ferries == {(157, 194), (115, 157), (108, 115)}
    assert len(reachable(city, {"taxi"})) == 199
    assert len(reachable(city, {"underground"})) == 14


def reachable(city: CityMap, transports: set[str]) -> set[int]:
    """Indices that can be reached from the first station by these transports."""
    found, queue = {0}, deque([0])
    while queue:
        here = queue.popleft()
        for a, b, t in city.links:
            if TRANSPORTS[t] in transports and here in (a, b) and not {a, b} <= found:
                queue.append(a + b - here)
                found.add(a + b - here)
    return found


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_maps_are_written_as_map_text_writes_them(name: str) -> None:
    text = files("sog.games.scotland_yard").joinpath("maps", f"{name}.csv").read_text(encoding="utf-8")
    remarks = [line[2:] for line in text.splitlines() if line.startswith("#")]
    assert remarks
    assert map_text(parse_map(text), remarks) == text


@pytest.mark.parametrize(
    ("count", "links", "kinds"), [(20, 36, (29, 6, 1)), (40, 78, (60, 15, 3)), (80, 164, (126, 34, 4))]
)
def test_a_cut_has_the_nearest_stations_and_all_their_links(count: int, links: int, kinds: tuple[int, ...]) -> None:
    city, london = read_map(f"london{count}"), read_map("london")
    assert len(city.stations) == count and len(city.links) == links
    assert tuple(city.kinds().values()) == kinds
    far = london.taxi_steps(london.index(100))
    inside = {london.index(station) for station in city.stations}
    assert max(far[k] for k in inside) <= min(far[k] for k in range(199) if k not in inside)
    named = {(city.stations[a], city.stations[b], t) for a, b, t in city.links}
    every = {(london.stations[a], london.stations[b], t) for a, b, t in london.links if a in inside and b in inside}
    assert named == every
    assert len(city.taxi_steps(0)) == count  # taxis reach all of it


def test_rules_of_a_cut_fit_its_size() -> None:
    g = game("map=london40")
    assert (g.rules.detectives, g.rules.x_tickets[3:], g.rules.reveals) == (3, (2, 1), (3, 8, 13, 15))
    assert game("map=london40@67").city.stations != g.city.stations
    for count in (12, 20, 30, 40, 80, 150, 199):
        g = game(f"map=london{count}")
        cards, city = g.rules.cards, g.city
        assert len(cards) == len(set(cards)) == min(3 * (1 + g.rules.detectives), count) and set(cards) <= {
            *city.stations
        }
        assert g.rules.reveals[-1] == g.rules.rounds
    assert g.rules == replace(game("map=london").rules, map="london199")


def test_start_cards_of_a_cut_are_londons_then_the_furthest() -> None:
    g = game("map=london40")
    own = [card for card in game("map=london").rules.cards if card in g.city.stations]
    assert own == [34, 103, 112, 132, 138] and set(own) <= set(g.rules.cards)
    steps = {card: g.city.taxi_steps(g.city.index(card)) for card in own}
    nearest = [min(steps[card][k] for card in own) for k in range(40)]
    assert g.city.stations[nearest.index(max(nearest))] in g.rules.cards


@pytest.mark.parametrize("name", ["london11", "london200", "london40@0", "london40@300"])
def test_cuts_that_london_does_not_have(name: str) -> None:
    with pytest.raises(GameError, match=r"a cut around|no station"):
        game(f"map={name}")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("1,2,taxi\n", "begins with"),
        ("from,to,transport\n", "at least one link"),
        ("from,to,transport\n1,2,taxi\n2,1,taxi\n", "line 3: link given twice"),
        ("# remark\nfrom,to,transport\n1,1,taxi\n", "line 3: not a link"),
        ("from,to,transport\n1,2,rocket\n", "line 2: not a link"),
        ("from,to,transport\n0,2,taxi\n", "line 2: not a link"),
        ("from,to,transport\n1,2\n", "line 2: not a link"),
    ],
)
def test_a_wrong_map_is_refused_by_line(text: str, fault: str) -> None:
    with pytest.raises(GameError, match=fault):
        parse_map(text)


# --- the glasses map ---


def test_first_moves_on_glasses() -> None:
    g = game("map=glasses")
    assert (g.num_actions, g.num_slots) == (11, (11, 1))
    root = chase(g.root())
    assert stations(g, root) == [6]
    assert action_names(g, root) == ["taxi to 4", "taxi to 5", "taxi to 7", "taxi to 8"]
    assert g.actions(root).tolist() == [3, 4, 6, 7]  # the station's index
    fan = g.fan(root)
    assert fan.moves is not None and fan.moves.target is not None
    assert fan.moves.edge.tolist() == [[0, 0, 0, 0]]
    assert fan.moves.target.tolist() == [[0, 1, 2, 3]]
    after = chase(fan.children[0])
    assert (stations(g, after), g.actor(after)) == ([4, 5, 7, 8], 1)
    assert action_names(g, after) == ["taxi to 2", "taxi to 3"]
    assert g.slot(after, 0).tolist() == [3, 4, 6, 7]


def test_paths_to_one_station_merge() -> None:
    g = game("map=glasses")
    s = play(g, "taxi to 4", "taxi to 2", "taxi to 9")
    fan = g.fan(s)
    # from 4, 5, 7, 8 Mr X reaches 3, 6 (four ways) and 10; detectives hold 2 and 9
    assert fan.moves is not None and fan.moves.target is not None
    assert action_names(g, s) == ["taxi to 3", "taxi to 6", "taxi to 10"]
    assert fan.moves.edge.tolist() == [[-1, 0, -1], [0, 0, -1], [-1, 0, -1], [-1, 0, 0]]
    assert fan.moves.target[:, 1].tolist() == [1, 1, 1, 1]
    assert stations(g, chase(fan.children[0])) == [3, 6, 10]


def test_boxed_in_on_glasses() -> None:
    g = game("map=glasses")
    rounds = [("4", "3", "10"), ("2", "5", "11"), ("1", "6", "10")]
    s = play(g, *(f"taxi to {station}" for turn in rounds for station in turn))
    # He can be on 1, 4, 7 or 8, the detectives hold 6 and 10, and 8 has links to these two only.
    assert (g.actor(s), stations(g, s)) == (NATURE, [1, 4, 7, 8])
    fan = g.fan(s)
    stuck, free = (chase(c) for c in fan.children)
    assert (stuck.kind, stations(g, stuck), g.payoff(stuck).dense().tolist()) == ("stuck", [8], [[-1.0]])
    assert (stations(g, free), g.actor(free)) == ([1, 4, 7], 0)
    assert fan.carry is not None and fan.carry[1][0] is not None
    assert fan.carry[1][0].source.tolist() == [0, 1, 2]


def test_public_states_of_glasses() -> None:
    found = everywhere(game("map=glasses"))
    print(f"glasses: {len(found)} public states, {Counter(s.kind for s in found)}")
    assert len(set(found)) == len(found) == 2768
    assert Counter(s.kind for s in found) == {"act": 1596, "look": 40, "stuck": 40, "escaped": 1092}
    # Six and six: the map is bipartite and the start puts the detectives a step out of phase, so they can
    # win only by leaving Mr X no move.
    assert all(not set(s.hidden) & set(s.detectives) for s in found)


@pytest.mark.parametrize(
    "text",
    [
        "map=glasses",
        "map=glasses,start=hidden;1;11,rounds=3,reveals=2",
        "map=glasses,start=deal,rounds=2",
        "map=glasses,rounds=3,reveals=2,x_tickets=5;0;0;1;1",
    ],
)
def test_conformance_on_glasses(text: str) -> None:
    assert check_game(game(text)).complete


def test_conformance_on_london() -> None:
    report = check_game(game("map=london"), max_states=1000)
    assert report.decisions and report.chances and report.terminals


# --- outcomes, on a triangle 1 2 3 with a blind end 4 at 3 ---


@pytest.fixture
def triangle(tmp_path: Path) -> str:
    path = tmp_path / "triangle.csv"
    path.write_text(TRIANGLE, encoding="utf-8")
    return f"map={path},tickets=9;0;0,x_tickets=9;0;0;0;0,reveals=none"


def test_capture_is_nature_only_where_it_is_open(triangle: str) -> None:
    g = game(f"{triangle},rounds=2,start=2;4")
    s = play(g, "taxi to 1", "taxi to 3")  # he went to 1 or 3
    assert g.actor(s) == NATURE and stations(g, s) == [1, 3]
    caught, free = (chase(c) for c in g.fan(s).children)
    assert (caught.kind, stations(g, caught), g.payoff(caught).dense().tolist()) == ("caught", [3], [[-1.0]])
    assert (free.kind, stations(g, free), g.actor(free)) == ("act", [1], 0)
    assert g.fan(s).carry is not None
    s = play(g, "taxi to 1", "taxi to 3", "at large", "taxi to 2", "taxi to 2")  # certain: no NATURE between
    assert (s.kind, s.moved) == ("caught", 2)
    s = play(g, "taxi to 1", "taxi to 3", "at large", "taxi to 2", "taxi to 1")
    assert (s.kind, g.payoff(s).dense().tolist()) == ("escaped", [[1.0]])


def test_who_cannot_move(triangle: str) -> None:
    g = game(f"{triangle},rounds=3,start=4;1")  # Mr X must go to 3; the detective answers there or at 2
    assert play(g, "taxi to 3", "taxi to 3").kind == "caught"
    g = game(f"{triangle},rounds=3,start=4;3")
    assert chase(g.root()).kind == "stuck"
    g = game(f"{triangle},rounds=3,start=1;3;4")  # the second detective is shut in until the first leaves 3
    s = play(g, "taxi to 2", "taxi to 1")
    assert (s.turn, action_names(g, s)) == (2, ["taxi to 3"])
    g = game(f"{triangle},rounds=3,start=1;4;3")
    assert chase(g.fan(g.root()).children[0]).turn == 2  # the first sits out


def test_mr_x_wins_when_no_detective_has_a_ticket(triangle: str) -> None:
    g = game(f"{triangle},rounds=9,start=1;4".replace("tickets=9;0;0", "tickets=1;0;0", 1))
    s = play(g, "taxi to 2", "taxi to 3", "at large")
    assert (stations(g, s), s.tickets, s.moved) == ([2], ((0, 0, 0),), 1)
    s = play(g, "taxi to 2", "taxi to 3", "at large", "taxi to 1")
    assert (s.kind, s.moved) == ("escaped", 2)


# --- black tickets, double cards, reveals ---


def test_ferry_takes_a_black_ticket() -> None:
    g = game("map=london,start=115;1;2")
    names = action_names(g, g.root())
    assert {"black to 108", "black to 157"} <= set(names)
    assert {name for name in names if not name.startswith("black")} == {
        f"taxi to {k}" for k in (102, 114, 126, 127)
    } | {"double card"}
    s = play(g, "black to 157")
    assert stations(g, s) == [102, 108, 114, 126, 127, 157]
    assert s.x_tickets == (4, 3, 3, 4, 2)


def test_double_card_moves_twice_and_shows_the_first() -> None:
    g = game("map=london,start=146;1;2,reveals=1")
    s = play(g, "double card", "taxi to 147")
    assert (s.log, stations(g, s), g.actor(s), s.owed) == (("double", "taxi@147"), [147], 0, 1)
    assert "double card" not in action_names(g, s)
    assert {name.split()[2] for name in action_names(g, s)} == {"137", "146", "164"}
    s = play(g, "double card", "taxi to 147", "taxi to 137")
    assert (s.turn, s.moved, s.x_tickets[:1] + s.x_tickets[3:]) == (1, 2, (2, 5, 1))
    assert stations(g, s) == [137, 146, 164]
    last = game("map=london,start=146;1;2,rounds=1")
    assert "double card" not in action_names(last, last.root())


def test_double_card_needs_two_moves() -> None:
    g = game("map=glasses,x_tickets=1;0;0;0;1")
    assert "double card" not in action_names(g, g.root())
    g = game("map=glasses,x_tickets=1;0;0;1;1")
    assert "double card" in action_names(g, g.root())


def test_first_half_of_a_double_move_may_not_end_in_a_dead_end(tmp_path: Path) -> None:
    path = tmp_path / "fork.csv"
    path.write_text("from,to,transport\n1,2,taxi\n1,3,bus\n3,4,taxi\n4,5,taxi\n", encoding="utf-8")
    g = game(f"map={path},start=1;5,x_tickets=1;1;0;0;1,reveals=none")
    assert action_names(g, g.root()) == ["taxi to 2", "bus to 3", "double card"]
    assert action_names(g, play(g, "double card")) == ["bus to 3"]  # no bus leaves 2
    assert play(g, "double card", "bus to 3", "taxi to 4").moved == 2


# --- playouts against a plain referee ---


def plain_moves(city: CityMap, here: int, tickets: list[int], held: list[int]) -> set[tuple[str, int]]:
    """(ticket, station) of one piece, told from the map's links alone."""
    moves = set()
    for a, b, t in city.links:
        if here not in (a, b) or a + b - here in held:
            continue
        to, transport = city.stations[a + b - here], TRANSPORTS[t]
        if transport != "ferry" and tickets[t] > 0:
            moves.add((transport, to))
        if len(tickets) > 3 and tickets[3] > 0:
            moves.add(("black", to))
    return moves


@pytest.mark.parametrize("seed", range(12))
def test_london_playout_agrees_with_a_plain_referee(seed: int) -> None:
    rng = np.random.default_rng(seed)
    g = game("map=london,detectives=3,tickets=6;3;1,x_tickets=3;2;1;3;2")
    city = g.city
    s = chase(g.root())
    pair = (int(rng.integers(18)), 0)
    x = s.hidden[pair[0]]  # the referee's own world: Mr X, the cards of both sides, his moves
    x_cards, cards = [3, 2, 1, 3, 2], [[6, 3, 1] for _ in range(3)]
    held: list[int] = []
    entries = owed = 0
    while (actor := g.actor(s)) != TERMINAL:
        assert s.hidden[pair[0]] == x
        assert list(s.x_tickets) == x_cards and [list(t) for t in s.tickets] == cards
        assert list(s.hidden) == sorted(set(s.hidden))
        assert np.all((g.features(s) >= 0) & (g.features(s) <= 1))
        if actor == NATURE:
            child, *after = g.sample_chance(s, *pair, rng)
            if len(held) < 3:
                held.append(chase(child).detectives[-1])
            s, pair = chase(child), (after[0], after[1])
            continue
        fan, actions = g.fan(s), g.actions(s)
        assert fan.moves is not None
        legal = np.flatnonzero(fan.moves.edge[pair[actor]] >= 0)
        names = {g.action_name(s, int(actions[c])) for c in legal}
        here, mine = (x, x_cards) if actor == 0 else (held[s.turn - 1], cards[s.turn - 1])
        expected = plain_moves(city, here, mine, held)
        doubles = {name for name in names if name == "double card"}
        if owed != 2:
            assert {f"{t} to {v}" for t, v in expected} == names - doubles
        assert not doubles or (mine[4] > 0 and entries <= 22 and not owed)
        column = int(rng.choice(legal))
        name = g.action_name(s, int(actions[column]))
        edge, pair = step(fan, actor, pair, column)
        s = chase(fan.children[edge])
        if name == "double card":
            x_cards[4] -= 1
            owed = 2
            continue
        ticket, _, station = name.split()
        kind = ["taxi", "bus", "underground", "black"].index(ticket)
        mine[kind] -= 1
        if actor == 0:
            x, entries, owed = city.index(int(station)), entries + 1, max(owed - 1, 0)
            if entries in g.rules.reveals:
                assert s.hidden == (x,)
        else:
            held[held.index(here)] = city.index(int(station))
            x_cards[kind] += 1
    if s.kind == "caught":
        assert x in held
    elif s.kind == "stuck":
        assert x not in held and not plain_moves(city, x, x_cards, held)
    else:
        idle = all(not plain_moves(city, here, mine, held) for here, mine in zip(held, cards, strict=True))
        assert x not in held and (entries == 24 or idle)
    assert g.payoff(s).dense()[pair] == (1 if s.kind == "escaped" else -1) * g.weights(s).dense()[pair]


# --- features and names ---


def test_features_follow_the_papers_table() -> None:
    g = game("map=london,start=146;65;67;79;82;111,inputs=paper")
    x = g.features(g.root())
    assert len(x) == g.num_features == 5 * 199 + 5 * 3 + 5 + 6 + 1 + 1 + 1
    assert np.flatnonzero(x[: 5 * 199]).tolist() == [64, 199 + 66, 398 + 78, 597 + 81, 796 + 110]
    assert x[995:1010].tolist() == [1.0] * 15
    assert np.allclose(x[1010:1015], [4 / 54, 3 / 43, 3 / 23, 1, 1])
    assert x[1015:].tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0]
    s = play(g, "double card", "taxi to 147", "taxi to 137")
    y = g.features(s)
    assert y[1015:1022].tolist() == [0, 1, 0, 0, 0, 0, 0] and np.isclose(y[1022], 2 / 24)
    assert g.features(play(g, "double card"))[1021] == 1


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("", "scotland_yard(map=glasses)"),
        ("map=glasses,rounds=5,reveals=none,detectives=2", "scotland_yard(map=glasses)"),
        ("map=london,reveals=3", "scotland_yard(map=london,reveals=3)"),
        ("reveals=2;4,map=glasses", "scotland_yard(map=glasses,reveals=2;4)"),
        ("map=london,start=146;13;26,rounds=8", "scotland_yard(map=london,rounds=8,start=146;13;26)"),
        ("map=london,cards=all,detectives=4", "scotland_yard(map=london,detectives=4,cards=all)"),
        ("map=london040@100,rounds=15", "scotland_yard(map=london40)"),
        ("map=london20@67,rounds=6", "scotland_yard(map=london20@67,rounds=6)"),
    ],
)
def test_names_are_canonical(given: str, name: str) -> None:
    assert game(given).name == name
    assert make_game(name).name == name


def test_words_for_people() -> None:
    g = game("map=glasses")
    s = play(g, "taxi to 4", "taxi to 3", "taxi to 10")
    assert g.state_name(s) == "Mr X to move; 1 of 5 moves; detectives on 3, 10; Mr X: taxi"
    assert [g.infostate_name(s, 0, i) for i in range(2)] == ["on 4", "on 5"]


@pytest.mark.parametrize(
    "text",
    [
        "map=nowhere",
        "map=glasses,colour=red",
        "map=glasses,rounds=0",
        "map=glasses,rounds=five",
        "map=glasses,start=6;1;1",
        "map=glasses,start=6;1;12",
        "map=glasses,start=6",
        "map=glasses,start=6;1;11,detectives=3",
        "map=glasses,start=deal,detectives=11",
        "map=glasses,tickets=5;0",
        "map=glasses,reveals=2;x",
    ],
)
def test_wrong_parameters_are_refused(text: str) -> None:
    with pytest.raises(GameError):
        game(text)
