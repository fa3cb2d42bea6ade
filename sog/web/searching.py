"""Searches of positions: made from what is asked, run at once or a moment at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sog.algorithms.student.algorithm import Student
from sog.algorithms.student.player import SogPlayer, SogSearch
from sog.errors import SettingError
from sog.games.base import Game
from sog.memory import held_bytes
from sog.play.agent import SearchAgent
from sog.play.player import Stopped
from sog.play.resolver import Resolving, Solved
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluator, SearchGenerator, ask
from sog.searches.tree.public_tree import PublicTree
from sog.training.opened import Opened
from sog.web.asked import PositionAsked, SearchGrowth, SearchSnapshot, Way
from sog.web.recorded import Recording, snapshot_of

__all__ = ["Growing", "PositionSearching", "child_after", "moves_of", "recorded", "searching_of"]

_FIRST: Final = 0.05  # seconds until the first snapshot of a search that is watched
_BETWEEN: Final = 0.1  # and from one to the next, at least
_SPARED: Final = 50.0  # and this many times what the last one took of the processor, so that watching costs little
_MEMORY: Final = 10**9  # bytes that such a search may add to its process


@dataclass(frozen=True, eq=False)
class PositionSearching:
    """A search that is ready to run.

    start: the searched node in `tree`.  steps: the search, with what is called after each round.  finish: called once
    it has ended.
    """

    tree: Lookahead
    start: int
    budget: Budget
    evaluator: Evaluator
    steps: Callable[[Stopped], SearchGenerator]
    finish: Callable[[], object]
    trained: bool


def searching_of(opened: Opened, plays: Student, asked: PositionAsked) -> PositionSearching:
    """The search of a position. SogError for a position outside the game, or in which nobody is to move."""
    return (_of_board if opened.game.deterministic else _of_chain)(opened, plays, asked)


def _of_board(opened: Opened, plays: Student, asked: PositionAsked) -> PositionSearching:
    """The search of a board's position itself, from scratch."""
    player = plays.player(opened.evaluator, asked.seed)
    assert isinstance(player, SogPlayer)
    player.new_game(opened.game)
    search = player.search(moves_of(opened.game, asked.line))
    assert isinstance(search, SogSearch)
    return PositionSearching(
        search.tree, 0, player.budget, player.evaluator, search.steps, search.thought, opened.trained
    )


def _of_chain(opened: Opened, plays: Student, asked: PositionAsked) -> PositionSearching:
    """The last of the chain of searches of whoever acts at the end of the line."""
    public, way = PublicTree(opened.game), [0]
    for edge in asked.line:
        way.append(child_after(public, way[-1], edge))
    player = public.actor(way[-1])
    if player not in (0, 1):
        raise SettingError("no player is to move in this position")
    agent = plays.agents(public, opened)(player, asked.seed)
    assert isinstance(agent, SearchAgent)
    settings = agent.settings
    before = [s for s in way[:-1] if public.actor(s) == player or (settings.every_decision and public.actor(s) < 2)]
    solved: Solved | None = None
    for node in before:
        resolving = Resolving(public, player, node, solved, settings, asked.seed)
        run(resolving.steps(), agent.evaluator)
        solved = resolving.solved()
    last = Resolving(public, player, way[-1], solved, settings, asked.seed)
    return PositionSearching(
        last.tree, last.start, settings.budget, agent.evaluator, last.steps, last.solved, opened.trained
    )


def child_after(public: PublicTree, node: int, step: int | object) -> int:
    """The node after a step of a way."""
    if not isinstance(step, int):
        return public.add(step, node)
    public.list_fan(node)
    return public.child(node, step)


def moves_of(game: Game, way: Way) -> list[int]:
    """Action identities of public edges of a deterministic game."""
    moves, state = list[int](), game.root()
    for edge in way:
        assert isinstance(edge, int)
        moves.append(int(game.actions(state)[edge]))
        state = game.child(state, edge)
    return moves


def recorded(search: PositionSearching) -> SearchGrowth:
    """Run a search to its end; what it knew on the way."""
    recording = Recording(search.tree, search.start, search.budget)
    run(search.steps(recording.after_round), search.evaluator)
    search.finish()
    return SearchGrowth(recording.finished(), search.trained)


class Growing:
    """A search that rests whenever it has something to show. It is the same search as one that never rests."""

    def __init__(self, search: PositionSearching) -> None:
        self._search, self._generator = search, search.steps(self._after_round)
        self._beliefs: Beliefs | None = None
        self._shown: SearchSnapshot | None = None
        self._rounds, self._until, self._most, self._took = 0, 0.0, held_bytes() + _MEMORY, 0.0

    def next(self) -> SearchGrowth:
        """What the search knows a moment later, or at its end."""
        search, self._shown = self._search, None
        self._until = time.monotonic() + (max(_BETWEEN, _SPARED * self._took) if self._rounds else _FIRST)
        try:
            while self._shown is None:
                if self._beliefs is None:
                    self._beliefs = next(self._generator)
                else:
                    (answer,) = ask(search.evaluator, [self._beliefs])
                    self._beliefs = self._generator.send(answer)
        except StopIteration:
            search.finish()
            done = min(self._rounds * search.budget.expansions, search.budget.simulations)
            done = done if self._is_full() else search.budget.simulations
            return SearchGrowth((snapshot_of(search.tree, search.start, done),), search.trained)
        return SearchGrowth((self._shown,), search.trained, finished=False)

    def _after_round(self) -> bool:
        """Called by the search after each of its rounds; ends it where it has taken its memory."""
        self._rounds += 1
        if time.monotonic() < self._until or self._shown is not None:
            return False
        done = min(self._rounds * self._search.budget.expansions, self._search.budget.simulations)
        began = time.process_time()
        self._shown = snapshot_of(self._search.tree, self._search.start, done)
        self._took = time.process_time() - began
        return self._is_full()

    def _is_full(self) -> bool:
        return held_bytes() > self._most
