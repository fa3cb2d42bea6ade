"""Forced wins: equal to minimax on tic-tac-toe's whole tree, and first or last among a player's moves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pyspiel
import pytest

from sog.algorithms.alphazero.player import AlphaZeroPlayer
from sog.algorithms.student.player import SogPlayer
from sog.arrays import Float32, Int32
from sog.games.base import NATURE, TERMINAL, Fan, Game, Operator, Scaled, State, plain_moves
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.play.player import Candidate, Limits, Thought, think
from sog.play.proofs import Proofs, proven_first
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree


@cache
def minimax(history: tuple[int, ...]) -> tuple[int, int]:
    """Player 0's result and the moves to the end, of best play that hurries to win and delays a loss."""
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    for action in history:
        state.apply_action(action)
    if state.is_terminal():
        return int(state.returns()[0]), 0
    mine = 1 if state.current_player() == 0 else -1
    after = [minimax((*history, action)) for action in state.legal_actions()]
    best = max(mine * result for result, _ in after)
    plies = [plies for result, plies in after if mine * result == best]
    return mine * best, 1 + (min(plies) if best > 0 else max(plies))


@pytest.mark.parametrize("seed", range(8))
def test_tic_tac_toes_forced_wins_are_minimax(seed: int) -> None:
    """Of all that can come after four or five random moves."""
    rng, line, tree = np.random.default_rng(seed), list[int](), PublicTree(TicTacToe())
    while len(line) < 4 + seed % 2:
        line.append(int(rng.choice([cell for cell in range(9) if cell not in line])))
        if minimax(tuple(line))[1] == 0:
            line.clear()
    node = whole_below(tree, line)
    proofs = Proofs.of(tree, node)
    after = [(tuple(line), node)]
    while after:
        history, node = after.pop()
        result, plies = minimax(history)
        assert proofs.winner.get(node) == {1: 0, -1: 1, 0: None}[result]
        assert proofs.plies.get(node) == (plies if result else None)
        if plies:
            moves = tree.actions(node).tolist()
            after += [((*history, move), proofs.after(node, move)) for move in moves]


@pytest.mark.parametrize("line", [[0, 4, 8], [0, 8, 4, 1]])
def test_a_move_that_loses_by_force_is_last(line: list[int]) -> None:
    """Whatever a search likes: moves that win are first, that lose last, each with its whole line."""
    tree = PublicTree(TicTacToe())
    node = whole_below(tree, line)
    actions: list[int] = tree.actions(node).tolist()
    thought = Thought(0.0, 1, tuple(Candidate(action, 0.0, 0.0, 0, (action,)) for action in actions))
    mine = 1 if tree.actor(node) == 0 else -1
    ordered = proven_first(thought, tree, node)
    results = [mine * minimax((*line, candidate.action))[0] for candidate in ordered.candidates]
    assert results == sorted(results, reverse=True) and len(set(results)) > 1
    for candidate, result in zip(ordered.candidates, results, strict=True):
        assert len(candidate.line) == (1 + minimax((*line, candidate.action))[1] if result else 1)


def test_what_is_not_listed_proves_no_loss() -> None:
    """After one simulation a position whose other moves nobody looked at is not lost."""
    player = AlphaZeroPlayer("az", zero_evaluator, 1)
    player.new_game(TicTacToe())
    think(player, [0, 4, 1], Limits())  # player 1 must stop c3
    public = player.tree.public
    node = node_after(public, [0, 4, 1])
    assert node not in Proofs.of(public, node).winner


@pytest.mark.parametrize("kind", [AlphaZeroPlayer, SogPlayer])
def test_a_win_that_no_simulation_tried_is_played(kind: type[Any]) -> None:
    """Player 0 has a3 and b3 and is to move; of nine simulations' worth only one or two are spent."""
    budget = 1 if kind is AlphaZeroPlayer else Budget(1, 1.0)
    for line, win in (([0, 3, 1, 4], 2), ([3, 0, 4, 8], 5), ([6, 2, 7, 1], 8)):
        player = kind("p", zero_evaluator, budget)
        player.new_game(TicTacToe())
        thought = think(player, line, Limits())
        assert thought.action == win and thought.candidates[0].line == (win,)


class Throw(Game):
    """A throw of outcomes that pay player 0 what is given, equally likely."""

    def __init__(self, pays: Sequence[float], u_max: float = 1.0) -> None:
        self.name, self.u_max, self.num_actions, self.num_slots, self.num_features = "throw", u_max, 1, (1, 1), 1
        self.perfect_information, self.pays, self.one = True, pays, Operator(np.ones((1, 1)))

    def root(self) -> State:
        return "root"

    def actor(self, s: State) -> int:
        return {"root": 0, "throw": NATURE}.get(str(s), TERMINAL)

    def num_infostates(self, s: State) -> tuple[int, int]:
        return 1, 1

    def actions(self, s: State) -> Int32:
        return np.arange(1 if s == "root" else 0, dtype=np.int32)

    def fan(self, s: State) -> Fan:
        return Fan(["throw"], plain_moves(1, 1)) if s == "root" else Fan(range(len(self.pays)))

    def weights(self, s: State) -> Scaled:
        return Scaled(self.one, 1.0 if s in ("root", "throw") else 1 / len(self.pays))

    def payoff(self, s: State) -> Scaled:
        return Scaled(self.one, self.pays[int(str(s))] * self.weights(s).scale)

    def features(self, s: State) -> Float32:
        return np.zeros(1, dtype=np.float32)


@pytest.mark.parametrize(
    ("pays", "winner"), [((1.0, 1.0), 0), ((-1.0, -1.0), 1), ((1.0, -1.0), None), ((1.0, 0.5), None)]
)
def test_a_chance_event_is_won_where_every_outcome_is(pays: tuple[float, float], winner: int | None) -> None:
    proofs = Proofs.of(PublicTree(Throw(pays)).list_all())
    assert proofs.winner.get(0) == winner
    assert winner is None or (proofs.plies[0], proofs.line(0)) == (2, (0,))


@pytest.mark.parametrize("outcomes", [2, 3, 21])
def test_a_win_is_one_however_payoffs_are_rounded(outcomes: int) -> None:
    """A payoff is the utility times its chance, and what is divided out again may be a little less."""
    for u_max in (7.0, 11.0):
        assert Proofs.of(PublicTree(Throw([u_max] * outcomes, u_max)).list_all()).winner[0] == 0
        assert not Proofs.of(PublicTree(Throw([0.999 * u_max] * outcomes, u_max)).list_all()).winner


def whole_below(tree: PublicTree, line: list[int]) -> int:
    """The node after some moves, with all that can come after it listed."""
    node = node_after(tree, line)
    Lookahead(tree, node, (np.ones(1), np.ones(1))).expand_all()
    return node


def node_after(public: PublicTree, line: list[int]) -> int:
    node = 0
    for action in line:
        place = public.actions(node).tolist().index(action)
        node = public.child(node, public.edge_of(node, place))
    return node
