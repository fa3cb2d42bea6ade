"""Scotland Yard's players: legal moves, secrets, seeds, captures that anybody would see, and each of PimBot's parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sog.errors import GameError, SettingError
from sog.games.base import NATURE, TERMINAL, State, step
from sog.games.catalog import make_game
from sog.games.scotland_yard.game import Chase, ScotlandYard
from sog.opponents.scotland_yard.agent import ChaseAgent
from sog.opponents.scotland_yard.is_mcts import ISMCTSChase
from sog.opponents.scotland_yard.matches import deal, play_chase, play_chases
from sog.opponents.scotland_yard.moves import Ending
from sog.opponents.scotland_yard.player import ChasePlayer, PimBot
from sog.opponents.scotland_yard.settings import PimBotSettings
from sog.opponents.scotland_yard.shortest_path import RandomChase, ShortestPath
from sog.play.referee import Referee
from sog.searches.tree.public_tree import PublicTree

FEW = PimBotSettings(simulations=40)
MAKERS: dict[str, Callable[[ScotlandYard], ChasePlayer]] = {
    "PimBot": lambda game: PimBot(game, FEW),
    "PimBot, separate trees": lambda game: PimBot(game, replace(FEW, trees=4, categories="type", draw="class")),
    "IS-MCTS": lambda game: ISMCTSChase(game, 40),
    "shortest path": lambda game: ShortestPath(game),
    "shortest path, total": lambda game: ShortestPath(game, "total"),
    "random": lambda game: RandomChase(game),
}
ODD = "1,2,taxi 2,3,taxi 1,3,taxi 3,4,taxi 3,4,bus 4,5,bus 5,6,underground 6,7,ferry 2,7,taxi 6,8,bus 1,8,ferry"
CUT = "map=glasses,rounds=6,reveals=2;4,x_tickets=3;0;0;2;1,tickets=3;0;0"


def scotland_yard(text: str) -> ScotlandYard:
    game = make_game(f"scotland_yard({text})")
    assert isinstance(game, ScotlandYard)
    return game


def chase(s: State) -> Chase:
    assert isinstance(s, Chase)
    return s


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[ScotlandYard, int]]:
    """Four games, and how many times each player plays them with himself."""
    path = tmp_path_factory.mktemp("maps") / "odd.csv"
    path.write_text("from,to,transport\n" + ODD.replace(" ", "\n") + "\n", encoding="utf-8")
    odd = f"map={path},rounds=8,detectives=2,reveals=2;5,tickets=2;2;1,x_tickets=2;1;1;2;2"
    counts = {"map=glasses": 10, CUT: 10, odd: 12, "map=london": 2}
    return [(scotland_yard(text), count) for text, count in counts.items()]


def play(game: ScotlandYard, player: ChasePlayer, rng: np.random.Generator) -> int:
    """A game of the player with itself on the game's own rules, which must find each of its moves legal; its moves."""
    s, x = chase(game.root()), int(rng.integers(game.num_infostates(game.root())[0]))
    moves = 0
    while (actor := game.actor(s)) != TERMINAL:
        if actor == NATURE:
            child, x, _ = game.sample_chance(s, x, 0, rng)
            s = chase(child)
            continue
        action = player.move(s.log, s.hidden[x] if actor == 0 else None)
        fan = game.fan(s)
        assert fan.moves is not None
        (column,) = np.flatnonzero(game.actions(s) == action)
        assert fan.moves.edge[x if actor == 0 else 0, column] >= 0
        edge, (x, _) = step(fan, actor, (x, 0), int(column))
        s, moves = chase(fan.children[edge]), moves + 1
    return moves


@pytest.mark.parametrize("name", MAKERS)
def test_every_move_is_legal(maps: list[tuple[ScotlandYard, int]], name: str) -> None:
    """34 games of each of six players, 204 in all."""
    rng = np.random.default_rng(4)
    for game, count in maps:
        player = MAKERS[name](game)
        for k in range(count):
            player.new_game(k)
            play(game, player, rng)


def test_a_detective_beside_a_shown_mr_x_catches_him() -> None:
    game = scotland_yard("map=glasses,start=6;2;11,reveals=1;2;3;4;5")
    for player in (PimBot(game, FEW), ISMCTSChase(game, 40), ShortestPath(game), ShortestPath(game, "total")):
        assert game.action_name(game.root(), player.move(("taxi@4",))) == "taxi to 4"


def test_the_last_detective_takes_the_one_station_that_is_left() -> None:
    """Mr X, not shown, can be on 4 or 5; a detective on 4 has missed him, and the other is beside 5."""
    game = scotland_yard("map=glasses,start=6;2;3;7;8,detectives=4,rounds=1")
    for player in (PimBot(game, FEW), ISMCTSChase(game, 40), ShortestPath(game)):
        assert game.action_name(game.root(), player.move(("taxi", "1:taxi@4"))) == "taxi to 5"


def test_mr_x_does_not_step_beside_a_detective() -> None:
    """In the last round he is safe on 7 or 8, and next to the detective on 2 at station 4."""
    game = scotland_yard("map=glasses,start=6;2;3,rounds=1")
    for player in (PimBot(game, FEW), ISMCTSChase(game, 200), ShortestPath(game)):
        names = {game.action_name(game.root(), player.move((), game.city.index(6))) for player.seed in range(5)}
        assert names <= {"taxi to 7", "taxi to 8"}


def test_the_same_seed_is_the_same_game() -> None:
    game = scotland_yard(CUT)
    for maker in MAKERS.values():
        both = maker(game), maker(game)
        again = [play_chase(game, (maker(game), maker(game)), (5, (0, 10)), seed).actions.tolist() for seed in range(4)]
        assert again == [play_chase(game, both, (5, (0, 10)), s).actions.tolist() for s in range(4)]


def secret_pairs(game: ScotlandYard, rng: np.random.Generator) -> list[tuple[tuple[str, ...], tuple[int, ...]]]:
    """Public histories of random play, with Mr X's possible stations at each."""
    s, found = chase(game.root()), []
    while game.actor(s) != TERMINAL:
        if game.actor(s) == NATURE:
            s = chase(game.fan(s).children[-1])
            continue
        found.append((s.log, s.hidden if game.actor(s) == 0 else ()))
        s = chase(game.fan(s).children[int(rng.integers(len(game.fan(s).children)))])
    return found


@pytest.mark.parametrize("name", MAKERS)
def test_nobody_reads_secrets(name: str) -> None:
    """A side's move is the same bits whatever the other keeps secret, and whatever the player was asked before.

    Mr X's secrets are his stations; here the player searched from each of them before it moves as a detective. The
    detectives have none: Mr X's move depends on his station and the public history.
    """
    game, rng = scotland_yard(CUT), np.random.default_rng(5)
    player, fresh = MAKERS[name](game), MAKERS[name](game)
    asked = 0
    for log, hidden in secret_pairs(game, rng):
        for station in hidden or (None,):
            assert player.move(log, station) == MAKERS[name](game).move(log, station)
            asked += 1
        if not hidden:
            assert player.move(log) == fresh.move(log)
            if isinstance(player, PimBot) and isinstance(fresh, PimBot):
                assert player.searched is not None and fresh.searched is not None
                assert player.searched.visits.tolist() == fresh.searched.visits.tolist()
                assert player.searched.means.tolist() == fresh.searched.means.tolist()
    assert asked > 10


def test_wrong_questions_are_refused() -> None:
    player = PimBot(scotland_yard("map=glasses"), FEW)
    with pytest.raises(GameError, match="without it"):
        player.move((), None)
    with pytest.raises(GameError, match="without it"):
        player.move(("taxi",), 3)
    with pytest.raises(GameError, match="cannot be on 1"):
        player.move((), 0)
    with pytest.raises(GameError, match="'tram'"):
        player.move(("tram",), None)


@pytest.mark.parametrize(
    "change",
    [
        {"simulations": 0},
        {"trees": -1},
        {"categories": "colour"},
        {"hidden_playout": "drawn"},
        {"reduction": 1.5},
        {"exploration": float("nan")},
        {"table": (1.0, 2.0)},
    ],
)
def test_settings_out_of_range_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(SettingError):
        replace(FEW, **change)


def test_an_agent_asks_its_player() -> None:
    """A game under the referee; the agent's policy is 1 for the action that it plays with each infostate."""
    public, rng = PublicTree(scotland_yard(CUT)), np.random.default_rng(6)
    agents = [ChaseAgent(public, p, lambda game, seed: PimBot(game, FEW, seed), seed=p) for p in (0, 1)]
    referee = Referee(public)
    for agent in agents:
        agent.new_game()
    world = referee.deal(rng)
    while (actor := referee.actor(world)) != TERMINAL:
        column = agents[actor].act(world.node, world.pair[actor], rng)
        policy = agents[actor].policy(world.node)
        assert policy[column, world.pair[actor]] == 1.0 and (policy.sum(axis=0) == 1.0).all()
        world = referee.act(world, column, rng)
    assert abs(referee.utility(world)) == 1.0
    with pytest.raises(GameError, match="scotland_yard"):
        ChaseAgent(PublicTree(make_game("kuhn_poker")), 0, lambda game, seed: RandomChase(game))


def test_matches_swap_roles_on_the_same_cards() -> None:
    game = scotland_yard("map=glasses,start=deal,rounds=6")
    assert deal(game, np.random.default_rng(3)) == deal(game, np.random.default_rng(3))
    found = play_chases(game, PimBot(game, FEW), RandomChase(game), range(12), seed=2)
    again = play_chases(game, PimBot(game, FEW), RandomChase(game), range(6, 12), seed=2)
    assert found.wins[6:].tolist() == again.wins.tolist()  # a deal depends on its number alone
    assert found.counts.shape == (3, 2, 5) and (found.counts[:, 0] <= found.counts[:, 1]).all()
    played = play_chase(game, (RandomChase(game), RandomChase(game)), (5, (0, 10)))
    assert played.ending != Ending.NONE and played.counts[0, 0].sum() <= 6
