"""Continual re-solving as a player of boards: the searches its chain makes, and that they are SearchAgent's."""

from __future__ import annotations

import numpy as np
import pytest

from sog.algorithms.student.chain_player import ChainPlayer
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.catalog import make_game
from sog.play.agent import SearchAgent
from sog.play.player import Limits, PlayerSearch, Thought, think
from sog.play.resolver import Resolving, paper_settings
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import zero_evaluator

SETTINGS = paper_settings(Budget(40, 1.0))


def player(seed: int = 3) -> ChainPlayer:
    made = ChainPlayer("papers", zero_evaluator, SETTINGS, seed)
    made.new_game(TicTacToe())
    return made


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Resolving]:
    """Every search that is begun from now on, in order."""
    found: list[Resolving] = []
    make = Resolving.__init__

    def noted(self: Resolving, *given: object) -> None:
        make(self, *given)  # type: ignore[arg-type]
        found.append(self)

    monkeypatch.setattr(Resolving, "__init__", noted)
    return found


def test_every_search_but_a_chains_first_has_a_gadget(begun: list[Resolving]) -> None:
    """PoG, B.5: the opponent's decisions that were passed are searched too, by the mover's own chain."""
    papers = player()
    for moves in ([], [4], [4, 0], [4, 0, 2]):
        think(papers, moves, Limits())
    assert [search.player for search in begun] == [0, 1, 1, 0, 0, 1, 1]
    assert [search.gadget is None for search in begun] == [True, True, False, False, False, False, False]
    assert all(search.gadget.opponent == 1 - search.player for search in begun if search.gadget is not None)


def test_it_finds_what_the_agent_of_hidden_games_finds() -> None:
    papers = player()
    agent = SearchAgent(papers.tree.public, 0, SETTINGS, zero_evaluator, papers.seed)
    for moves in ([], [4, 0], [4, 0, 2, 6]):
        shares = {c.action: c.share for c in think(papers, moves, Limits()).candidates}
        node = papers.tree.node_after(moves)
        wanted = dict(zip(papers.tree.actions(node), agent.policy(node)[:, 0].tolist(), strict=True))
        assert shares == pytest.approx(wanted, abs=1e-12)


def test_it_wins_where_it_can_and_parries_where_it_must() -> None:
    assert think(player(), [0, 3, 1, 4], Limits(400)).action == 2
    assert think(player(), [0, 4, 1], Limits(400)).action == 2


def test_an_own_move_that_the_chain_never_plays() -> None:
    """The opening is another's: the chain searches on as if it might have made the move."""
    papers = player()
    first = think(papers, [], Limits())
    assert papers.last is not None
    chain = papers.last[0]
    assert chain is not None
    worst = first.candidates[-1].action
    row = chain.tree.actions(0).tolist().index(worst)
    chain.tree.policy_sum(0)[row] = 0.0
    chain.tree.update_average_policy()
    chain.tree.play_average()
    thought = think(papers, [worst, 4 if worst != 4 else 0], Limits())
    assert np.isfinite([c.share for c in thought.candidates]).all()
    assert papers.last[0] is not None and papers.last[0].tree.ranges(0)[0].tolist() != [0.0]
    assert max(c.share for c in thought.candidates) > 1.0 / len(thought.candidates)  # it searched


def test_stopped_at_once_it_still_has_a_thought() -> None:
    thoughts: list[Thought] = []

    def watch(search: PlayerSearch) -> bool:
        thoughts.append(search.thought())
        return True

    last = think(player(), [4, 0, 2], Limits(10**6), watch)
    assert len(thoughts) == 3  # two decisions of the opponent's passed, and the position
    legal = sorted(free_cells([4, 0, 2]))
    assert all(sorted(c.action for c in thought.candidates) == legal for thought in (*thoughts, last))


def free_cells(moves: list[int]) -> set[int]:
    return set(range(9)) - set(moves)


def test_a_move_taken_back_begins_the_chain_anew(begun: list[Resolving]) -> None:
    papers = player()
    think(papers, [4, 0], Limits())
    think(papers, [4, 1], Limits())
    think(papers, [4, 1], Limits())
    assert [search.gadget is None for search in begun if search.node == papers.tree.node_after([4, 1])] == [False] * 2  # type: ignore[union-attr]
    assert len(begun) == 6


def test_a_larger_board() -> None:
    papers = ChainPlayer("papers", zero_evaluator, SETTINGS)
    papers.new_game(make_game("connect_four"))
    assert think(papers, [3, 0, 3, 0, 3, 1], Limits(200)).action == 3
