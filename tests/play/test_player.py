"""Players of perfect-information games: the moves they name, limits, and what they take from one move to the next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sog.algorithms.alphazero.player import AlphaZeroPlayer
from sog.algorithms.student.player import BOARDS, SogPlayer
from sog.errors import GameError
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.rules.kuhn import Kuhn
from sog.opponents.random_player import RandomPlayer
from sog.play import move_tree
from sog.play import player as player_module
from sog.play.move_tree import MoveTree
from sog.play.player import ENDLESS, Limits, Player, PlayerSearch, think
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations, zero_answer, zero_evaluator
from sog.searches.mcts.kernels import Stat
from sog.searches.tree.records import Infostate

WIN = [0, 3, 1, 4]  # x holds a3, b3 and wins with c3; o holds a2, b2
BLOCK = [0, 3, 8, 4]  # x must stop c2


class Counting:
    """Zero answers, and how often each public state was asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, requests: list[Beliefs]) -> list[Evaluations]:
        self.asked += [int(node) for beliefs in requests for node in beliefs.nodes]
        return [zero_answer(beliefs) for beliefs in requests]


def player(
    simulations: int = 100, reuse: bool = True, evaluator: Counting | None = None, paths: bool = True
) -> SogPlayer:
    zeros: Any = evaluator or Counting()
    one = SogPlayer("sog", zeros, Budget(simulations, 1.0), replace(BOARDS, paths=paths), reuse=reuse)
    one.new_game(TicTacToe())
    return one


@pytest.mark.parametrize("paths", [False, True])
def test_it_wins_where_it_can_and_blocks_where_it_must(paths: bool) -> None:
    won = think(player(paths=paths), WIN, Limits())
    assert won.action == 2 and won.value > 0.9 and won.candidates[0].line == (2,)
    blocked = think(player(400, paths=paths), BLOCK, Limits())
    assert blocked.action == 5
    loses = next(c for c in blocked.candidates if c.action == 2)
    assert loses.value < -0.5 and loses.line[1] == 5  # the expected reply is the win that was allowed


@pytest.mark.parametrize("line", [WIN, [8, *WIN]])
def test_a_win_at_once_comes_before_a_larger_share(line: list[int]) -> None:
    """x or o wins with c3, and every other move is given ten times as much of the policy."""
    student, alphazero = player(30), AlphaZeroPlayer("az", zero_evaluator, 30)
    alphazero.new_game(TicTacToe())
    searches = student.search(line), alphazero.search(line)
    for search in searches:
        run(search.steps(), zero_evaluator)
    assert student.last is not None and alphazero.last is not None
    student.last.policy_sum(0)[1:] = 10.0 * student.last.policy_sum(0)[0]
    columns = alphazero.last.columns()
    alphazero.last.stats[Stat.VISITS, columns][1:] = 10.0 * alphazero.last.visits()[0]
    for thought in (search.thought() for search in searches):
        assert thought.action == 2
        assert thought.candidates[0].share < thought.candidates[1].share


def test_values_are_the_movers_own() -> None:
    assert think(player(), [0, 3, 1], Limits()).candidates[-1].value < 0 < think(player(), WIN, Limits()).value


def test_a_thought_holds_every_legal_move_once() -> None:
    thought = think(player(), [4], Limits())
    assert sorted(c.action for c in thought.candidates) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert sum(c.share for c in thought.candidates) == pytest.approx(1.0)
    assert sum(c.prior or 0.0 for c in thought.candidates) == pytest.approx(1.0)
    shares = [c.share for c in thought.candidates]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("reuse", [True, False])
def test_no_public_state_is_asked_for_twice_within_a_search(reuse: bool) -> None:
    counting = Counting()
    one = player(60, reuse, counting)
    think(one, [], Limits())
    assert len(counting.asked) == len(set(counting.asked))
    think(one, [4, 0], Limits())
    repeated = len(counting.asked) - len(set(counting.asked))
    assert repeated == 0 if reuse else repeated > 0


def test_a_reused_tree_is_the_part_of_the_old_one_below_the_position() -> None:
    one = player(200)
    think(one, [], Limits())
    old = one.last
    assert old is not None
    search = one.search([4, 0])
    new = one.last
    assert new is not None and 1 < new.size < old.size
    at = {int(s): n for n, s in enumerate(old.nodes.public[: old.size])}
    for n in range(new.size):
        m = at[int(new.nodes.public[n])]
        for p in (0, 1):
            sums = slice(Infostate.CFV_SUM, Infostate.LEAF_VALUE + 1)
            assert (new.infostates[sums, new.span(n, p)] == old.infostates[sums, old.span(m, p)]).all()
        if new.nodes.actor[n] < 2:
            assert (new.entries[:, new.block(n)] == old.entries[:, old.block(m)]).all()
        parent = int(new.nodes.parent[n])
        if parent >= 0:
            children = new.child[new.nodes.child0[parent] :][: new.nodes.edges[parent]]
            (edge,) = np.flatnonzero(children.node == n)
            assert (children.offset[edge] == new.nodes.offset[n]).all()
            assert new.nodes.public[parent] == one.tree.public.parent[new.nodes.public[n]]  # type: ignore[union-attr]
    assert search.thought().candidates[0].share > 0


def test_the_same_seed_plays_the_same_game() -> None:
    assert _self_play(player(30)) == _self_play(player(30))


def _self_play(one: Player) -> list[int]:
    tree = MoveTree(TicTacToe())
    moves: list[int] = []
    while tree.result(tree.node_after(moves)) is None:
        moves.append(think(one, moves, Limits()).action)
    return moves


@pytest.mark.parametrize("simulations", [1, 2, 7])
def test_limits_in_simulations(simulations: int) -> None:
    one = player(50)
    search = one.search([], simulations)
    seen: list[int] = []

    def watch(search: PlayerSearch) -> bool:
        seen.append(search.simulations)
        return False

    think(one, [], Limits(simulations=simulations), watch)
    assert seen == list(range(1, simulations + 1))
    assert search.simulations == 0


def test_a_search_without_end_stops_when_told_or_when_time_is_up() -> None:
    """Also where the tree is complete and nothing is left to ask the network."""
    assert think(player(), WIN, Limits(ENDLESS), lambda search: search.simulations >= 500).action == 2
    assert think(player(), WIN, Limits(ENDLESS, seconds=0.0)).action in range(9)


def test_results_are_player_0s() -> None:
    tree = MoveTree(TicTacToe())
    drawn = [0, 1, 2, 4, 3, 5, 7, 6, 8]
    for moves, result in ((WIN, None), ([*WIN, 2], 1.0), ([0, 3, 1, 4, 8, 5], -1.0), (drawn, 0.0)):
        assert tree.result(tree.node_after(moves)) == result


def test_lines_may_be_walked_in_any_order() -> None:
    """The tree remembers the line walked last; whatever it was, a line leads to the same public node."""
    tree, rng = MoveTree(TicTacToe()), np.random.default_rng(0)
    found: dict[tuple[int, ...], int] = {}
    for _ in range(300):
        moves = tuple(int(square) for square in rng.permutation(4)[: rng.integers(0, 5)])
        node = tree.node_after(moves)
        assert found.setdefault(moves, node) == node and tree.public.states[node] == moves
        with pytest.raises(GameError):
            tree.node_after([*moves, 9])


def test_random_players_are_uniform_and_legal() -> None:
    drawn = []
    for seed in range(200):
        one = RandomPlayer(seed=seed)
        one.new_game(TicTacToe())
        drawn.append(think(one, [0, 1, 2, 3, 4], Limits()).action)
    assert set(drawn) == {5, 6, 7, 8}
    assert np.bincount(drawn)[5:].min() > 25


def test_bad_positions_are_game_errors() -> None:
    with pytest.raises(GameError, match="illegal"):
        player().search([4, 4])
    with pytest.raises(GameError, match="over"):
        player().search([0, 3, 1, 4, 2])
    with pytest.raises(GameError, match="perfect information"):
        MoveTree(Kuhn())
    with pytest.raises(GameError, match="no game"):
        RandomPlayer().search([])


@pytest.mark.parametrize("kind", ["sog", "alphazero"])
def test_a_tree_that_has_come_to_too_much_is_begun_anew(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long games on a clock would hold every position that they ever looked at."""
    monkeypatch.setattr(move_tree, "MOST_STATES", 50)
    one: Any = player() if kind == "sog" else AlphaZeroPlayer("az", zero_evaluator, 100)
    one.new_game(TicTacToe())
    first = one.tree
    think(one, [0], Limits(100))
    assert one.tree is first and first.public.size > 50
    thought = think(one, [0, 4], Limits(100))
    assert one.tree is not first
    assert sorted(candidate.action for candidate in thought.candidates) == [1, 2, 3, 5, 6, 7, 8]


def test_a_search_without_end_stops_before_memory_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    held = iter([0, *[10**6] * 3, *[10**15] * 10**6])
    monkeypatch.setattr(player_module, "held_bytes", lambda: next(held))
    monkeypatch.setattr(player_module, "_EVERY", 10)
    one, seen = player(), list[int]()
    one.new_game(TicTacToe())
    think(one, [], Limits(ENDLESS), lambda search: bool(seen.append(search.simulations)))
    assert 30 <= len(seen) <= 50
