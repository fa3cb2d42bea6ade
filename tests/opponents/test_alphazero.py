"""AlphaZero as a player: the moves it names, limits, and what it takes from one move to the next."""

from __future__ import annotations

import numpy as np
import pytest

from sog.algorithms.alphazero.player import AlphaZeroPlayer
from sog.errors import GameError, SettingError
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.rules.kuhn import Kuhn
from sog.play.player import ENDLESS, Limits, PlayerSearch, think
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.mcts.search import PuctSettings

WIN = [0, 3, 1, 4]  # x holds a3, b3 and wins with c3; o holds a2, b2
BLOCK = [0, 3, 8, 4]  # x must stop c2


def player(simulations: int = 400, reuse: bool = True, leaves: int = 1) -> AlphaZeroPlayer:
    one = AlphaZeroPlayer("alphazero", zero_evaluator, simulations, PuctSettings(leaves=leaves), reuse=reuse)
    one.new_game(TicTacToe())
    return one


@pytest.mark.parametrize("leaves", [1, 8])
def test_it_wins_where_it_can_and_blocks_where_it_must(leaves: int) -> None:
    won = think(player(leaves=leaves), WIN, Limits())
    assert won.action == 2 and won.candidates[0].value == 1.0 and won.candidates[0].line == (2,)
    blocked = think(player(leaves=leaves), BLOCK, Limits())
    assert blocked.action == 5
    loses = next(c for c in blocked.candidates if c.action == 2)
    assert loses.value < -0.4 and loses.line[1] == 5  # the expected reply is the win that was allowed


def test_values_are_the_movers_own() -> None:
    assert think(player(), [0, 3, 1], Limits()).candidates[-1].value < 0 < think(player(), WIN, Limits()).value
    assert think(player(), [0, 3, 1, 4, 8], Limits()).value > 0.5  # o's turn, and o wins


def test_a_thought_holds_every_legal_move_once() -> None:
    thought = think(player(), [4], Limits())
    assert sorted(c.action for c in thought.candidates) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert sum(c.share for c in thought.candidates) == pytest.approx(1.0)
    assert sum(c.prior or 0.0 for c in thought.candidates) == pytest.approx(1.0)
    assert sum(c.visits for c in thought.candidates) == 400
    visits = [c.visits for c in thought.candidates]
    assert visits == sorted(visits, reverse=True)


def test_a_search_that_did_not_begin_has_thoughts_too() -> None:
    thought = player().search([4]).thought()
    assert len(thought.candidates) == 8 and thought.value == 0.0 and thought.candidates[0].visits == 0


def test_the_tree_goes_on_below_the_new_position_only() -> None:
    one = player()
    first = think(one, [], Limits())
    two = [first.action, first.candidates[0].line[1]]
    kept = think(one, two, Limits(simulations=10))
    assert sum(c.visits for c in kept.candidates) > 10
    assert sum(c.visits for c in think(one, [8], Limits(simulations=10)).candidates) == 10  # another line
    assert sum(c.visits for c in think(player(reuse=False), two, Limits(simulations=10)).candidates) == 10


def test_it_can_be_stopped_by_those_who_watch_and_by_the_clock() -> None:
    seen = []

    def watch(search: PlayerSearch) -> bool:
        seen.append(search.simulations)
        search.thought()
        return search.simulations >= 50

    stopped = think(player(leaves=5), [], Limits(simulations=ENDLESS), watch)
    assert seen[-1] == 50 and sum(c.visits for c in stopped.candidates) == 50
    assert think(player(), [], Limits(simulations=ENDLESS, seconds=0.05)).nodes > 1


def test_the_seed_decides_a_noisy_search() -> None:
    def found(seed: int) -> list[int]:
        one = AlphaZeroPlayer("alphazero", zero_evaluator, 200, PuctSettings(noise=0.5), seed)
        one.new_game(TicTacToe())
        return [c.visits for c in think(one, [], Limits()).candidates]

    assert found(1) == found(1) != found(2)


def test_what_it_refuses() -> None:
    with pytest.raises(GameError, match="no game"):
        AlphaZeroPlayer("alphazero", zero_evaluator, 10).search([])
    with pytest.raises(GameError, match="perfect information"):
        AlphaZeroPlayer("alphazero", zero_evaluator, 10).new_game(Kuhn())
    with pytest.raises(GameError, match="illegal"):
        player().search([4, 4])
    with pytest.raises(GameError, match="over"):
        player().search([0, 3, 1, 4, 2])
    with pytest.raises(SettingError):
        PuctSettings(leaves=0)


def test_it_never_loses_a_game_to_random_play() -> None:
    rng, game = np.random.default_rng(0), TicTacToe()
    for seat in (0, 1):
        for _ in range(5):
            one, moves, state = player(300), [], game.root()
            while game.actor(state) != 3:
                actions = game.actions(state).tolist()
                own = game.actor(state) == seat
                action = think(one, moves, Limits()).action if own else int(rng.choice(actions))
                moves.append(action)
                state = game.fan(state).children[actions.index(action)]
            assert game.payoff(state).scale * (1 if seat == 0 else -1) >= 0
