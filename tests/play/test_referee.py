"""The referee against plain walks of the rules and against OpenSpiel's utilities; its deals and its dice."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import cast

import numpy as np
import pyspiel
import pytest
from scipy.stats import chisquare

from sog.arrays import Array, Int32
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Fan, Game, Links, Moves, Operator, Scaled, State, plain_moves
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.catalog import make_game
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc, LeducState
from sog.games.rules.liars_dice import LiarsDice
from sog.games.rules.rps import RockPaperScissors
from sog.play.referee import Referee, World, is_seen
from sog.searches.tree.public_tree import PublicTree

GAMES = (
    Kuhn(),
    Leduc(),
    LiarsDice(2, 2),
    Goofspiel(3, "random"),
    RockPaperScissors(),
    TicTacToe(),
    make_game("scotland_yard(map=glasses,rounds=2)"),
)


def state(referee: Referee, world: World) -> State:
    return referee.public.states[world.node]


def playout(referee: Referee, rng: np.random.Generator) -> list[World]:
    """A game of uniform play."""
    worlds = [referee.deal(rng)]
    while referee.actor(worlds[-1]) != TERMINAL:
        worlds.append(referee.act(worlds[-1], int(rng.choice(referee.legal(worlds[-1]))), rng))
    return worlds


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_playouts_follow_the_rules(game: Game) -> None:
    referee, rng = Referee(PublicTree(game)), np.random.default_rng(0)
    for _ in range(60):
        worlds = playout(referee, rng)
        for world in worlds:
            s = state(referee, world)
            assert referee.actor(world) == game.actor(s) != NATURE
            assert game.weights(s).dense()[world.pair] > 0
            if game.actor(s) != TERMINAL:
                moves = game.fan(s).moves
                assert moves is not None
                own = world.pair[game.actor(s)]
                assert referee.legal(world) == [a for a in range(moves.edge.shape[1]) if moves.edge[own, a] >= 0]
        s = state(referee, worlds[-1])
        expected = game.payoff(s).dense()[worlds[-1].pair] / game.weights(s).dense()[worlds[-1].pair]
        assert referee.utility(worlds[-1]) == expected
        assert abs(expected) <= game.u_max


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_any_pair_of_moves_leads_where_the_fan_says(game: Game) -> None:
    """Every action of every pair, as far as nature has no say."""
    public = PublicTree(game).list_all() if game.name != "tic_tac_toe" else PublicTree(game)
    referee, rng = Referee(public), np.random.default_rng(1)
    for n in range(min(public.size, 60)):
        s = public.states[n]
        actor = game.actor(s)
        if actor >= NATURE:
            continue
        fan, weights = game.fan(s), game.weights(s).dense()
        assert fan.moves is not None
        for pair in [(int(i), int(j)) for i, j in np.argwhere(weights > 0)][:20]:
            for a in referee.legal(World(n, pair)):
                e = int(fan.moves.edge[pair[actor], a])
                if game.actor(fan.children[e]) == NATURE:
                    continue
                after = referee.act(World(n, pair), a, rng)
                assert state(referee, after) == fan.children[e]
                own = pair[actor] if fan.moves.target is None else fan.moves.target[pair[actor], a]
                assert after.pair[actor] == own
                links = None if fan.carry is None else fan.carry[e][1 - actor]
                expected = pair[1 - actor] if links is None else links.target[links.source == pair[1 - actor]].item()
                assert after.pair[1 - actor] == expected


@pytest.mark.parametrize("game", [Kuhn(), Leduc(), LiarsDice(2, 2)], ids=lambda game: game.name)
def test_utilities_are_openspiels(game: Game) -> None:
    theirs, rng = pyspiel.load_game(game.name), np.random.default_rng(2)
    referee = Referee(PublicTree(game))
    for _ in range(100):
        end = playout(referee, rng)[-1]
        history = theirs.new_initial_state()
        actions = game.history(state(referee, end), *end.pair)
        assert actions is not None
        for action in actions:
            history.apply_action(action)
        assert history.is_terminal()
        assert referee.utility(end) == pytest.approx(history.returns()[0])


def p_value(found: Counter[tuple[int, ...]], expected: dict[tuple[int, ...], float]) -> float:
    """Of the frequencies found; 0 where something impossible was found."""
    if not set(found) <= {key for key, p in expected.items() if p > 0}:
        return 0.0
    keys = [key for key, p in expected.items() if p > 0]
    share = sum(found.values()) / sum(expected[key] for key in keys)
    return float(chisquare([found[key] for key in keys], [expected[key] * share for key in keys]).pvalue)


@pytest.mark.parametrize("game", [Kuhn(), Leduc(), LiarsDice(2, 3)], ids=lambda game: game.name)
def test_deals_are_fair(game: Game) -> None:
    referee, rng = Referee(PublicTree(game)), np.random.default_rng(3)
    found = Counter(referee.deal(rng).pair for _ in range(6_000))
    weights = game.weights(game.root()).dense()
    assert p_value(found, {(i, j): p for (i, j), p in np.ndenumerate(weights)}) > 1e-3  # type: ignore[arg-type]


class Loaded(Kuhn):
    """Kuhn where the players come with ranges of their own."""

    def root_ranges(self) -> tuple[Array, Array]:
        return np.array([1.0, 0.5, 0.0]), np.array([0.2, 1.0, 1.0])


def test_deals_are_from_the_games_own_ranges() -> None:
    game = Loaded()
    referee, rng = Referee(PublicTree(game)), np.random.default_rng(4)
    found = Counter(referee.deal(rng).pair for _ in range(4_000))
    r0, r1 = game.root_ranges()
    joint = r0[:, None] * game.weights("").dense() * r1[None, :]
    assert p_value(found, {(i, j): p for (i, j), p in np.ndenumerate(joint)}) > 1e-3  # type: ignore[arg-type]


def test_the_board_card_is_none_of_the_hands() -> None:
    public = PublicTree(Leduc()).list_all()
    referee, rng = Referee(public), np.random.default_rng(5)
    before = World(public.states.index(LeducState("c")), (0, 4))
    found: Counter[tuple[int, ...]] = Counter()
    for _ in range(2_000):
        s = state(referee, referee.act(before, 0, rng))
        assert isinstance(s, LeducState) and s.first == "cc"
        found[(s.board,)] += 1
    assert p_value(found, {(b,): 1.0 for b in (1, 2, 3, 5)}) > 1e-3


class LateDeal(Kuhn):
    """Player 0 passes, and only then are the cards dealt; player 1 passes and shows."""

    def actor(self, s: State) -> int:
        return {"": 0, "p": NATURE, "pd": 1}.get(str(s), TERMINAL)

    def num_infostates(self, s: State) -> tuple[int, int]:
        return (3, 3) if str(s).startswith("pd") else (1, 1)

    def fan(self, s: State) -> Fan:
        if s == "p":
            split = Links(np.zeros(3, dtype=np.int32), np.arange(3, dtype=np.int32))
            return Fan(["pd"], carry=[(split, split)])
        return Fan(["p"], plain_moves(1, 1)) if s == "" else Fan(["pdp"], plain_moves(3, 1))

    def actions(self, s: State) -> Array:
        return np.arange(s in ("", "pd"), dtype=np.int32)

    def weights(self, s: State) -> Scaled:
        return super().weights(s) if str(s).startswith("pd") else Scaled(Operator(np.ones((1, 1))))

    def payoff(self, s: State) -> Scaled:
        return super().payoff("pp")


def test_private_cards_dealt_on_the_way() -> None:
    game = LateDeal()
    referee, rng = Referee(PublicTree(game)), np.random.default_rng(6)
    found: Counter[tuple[int, ...]] = Counter()
    for _ in range(3_000):
        start, dealt, end = playout(referee, rng)
        assert start.pair == (0, 0) and end.pair == dealt.pair
        assert referee.utility(end) == np.sign(dealt.pair[0] - dealt.pair[1])
        found[dealt.pair] += 1
    assert p_value(found, {(i, j): float(i != j) for i in range(3) for j in range(3)}) > 1e-3


def test_an_illegal_action_is_refused() -> None:
    game = Leduc()
    referee, rng = Referee(PublicTree(game)), np.random.default_rng(7)
    for column in (-1, 2, 7):  # nothing can be folded to at the start: call and raise only
        with pytest.raises(GameError, match="illegal at start"):
            referee.act(referee.deal(rng), column, rng)


class WideBoard(Leduc):
    """Leduc whose board card counts as too many to list."""

    def listable(self, s: State) -> bool:
        return self.actor(s) != NATURE


def test_chance_too_large_to_list_is_sampled() -> None:
    game = WideBoard()
    public = PublicTree(game)
    referee, rng = Referee(public), np.random.default_rng(8)
    boards = set()
    for _ in range(60):
        worlds = playout(referee, rng)
        for before, after in pairwise(worlds):
            assert before.node in public.path(after.node)
        s = state(referee, worlds[-1])
        assert isinstance(s, LeducState)
        boards.add(s.board)
    assert boards == {-1, 0, 1, 2, 3, 4, 5}


class Cups(Kuhn):
    """Kuhn poker's first move, where to bet is to do it in one of two ways that look alike, and to check is seen."""

    def __init__(self) -> None:
        super().__init__()
        self.num_actions = 3

    def actions(self, s: State) -> Int32:
        return np.arange(3 if s == self.root() else len(super().actions(s)), dtype=np.int32)

    def fan(self, s: State) -> Fan:
        fan = super().fan(s)
        return Fan(fan.children, Moves(np.tile(np.int32([0, 1, 1]), (3, 1)))) if s == self.root() else fan


def test_of_an_action_both_learn_what_the_public_edge_tells() -> None:
    public = PublicTree(Cups())
    world = Referee(public).first(np.random.default_rng(9))
    assert [is_seen(public, world, column) for column in range(3)] == [True, False, False]
    assert is_seen(PublicTree(Kuhn()), world, 1)


def test_a_referee_on_a_game_says_that_it_needs_a_public_tree() -> None:
    with pytest.raises(GameError, match="plays on a public tree, such as an agent's `public`, not <Kuhn: kuhn_poker>"):
        Referee(cast(PublicTree, Kuhn()))
