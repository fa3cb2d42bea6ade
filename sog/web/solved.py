"""What a process sees of a solved hold'em spot for the page: a decision, or the cards that may come."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from sog.games.base import NATURE, TERMINAL
from sog.games.holdem.cards import CARDS, card_name
from sog.games.holdem.game import HoldemState
from sog.games.holdem.lines import follow
from sog.lru import LruCache
from sog.searches.holdem.hand_values import hand_values
from sog.searches.holdem.saved import load
from sog.searches.holdem.solver import HoldemSolver, Progress
from sog.searches.holdem.view import view
from sog.searches.holdem.written import decision, hands_table
from sog.web.asked import NextCard, SpotAsked, SpotDecision, SpotSeen

__all__ = ["SolvedSpots"]


class SolvedSpots:
    """The spot that was asked for last, as its file was when it was read."""

    def __init__(self) -> None:
        self._solvers = LruCache[tuple[str, int], tuple[HoldemSolver, Progress]](1)

    def see(self, asked: SpotAsked) -> SpotSeen:
        """A public state of a spot. CheckpointError for a file that cannot be read, GameError for no line of it."""
        solver, progress = self._solver(asked)
        s = follow(solver.game, asked.line)
        decides = solver.game.actor(s) not in (NATURE, TERMINAL)
        return SpotSeen(
            s,
            solver.game.spot.pot + sum(s.betting.paid),
            _decision(solver, s) if decides else None,
            _cards(solver, s),
            progress.iterations,
            progress.of_pot,
            len(solver.program.locks),
        )

    def written(self, asked: SpotAsked) -> str:
        """All hands of a decision as text, in the asked form. Errors of `see`, and GameError where nobody decides."""
        solver, _ = self._solver(asked)
        seen = view(solver, follow(solver.game, asked.line))
        values = hand_values(solver, seen)
        if asked.form == "csv":
            return hands_table(seen, values)
        return json.dumps(decision(solver.game, seen, values=values)) + "\n"

    def _solver(self, asked: SpotAsked) -> tuple[HoldemSolver, Progress]:
        key = asked.file, asked.written
        if key not in self._solvers:
            for old in list(self._solvers):  # before the next one takes its memory
                self._solvers.drop(old)
            self._solvers[key] = load(Path(asked.file))
        return self._solvers[key]


def _decision(solver: HoldemSolver, s: HoldemState) -> SpotDecision:
    seen = view(solver, s)
    values = hand_values(solver, seen)
    ev, equity = (np.where(values.met > 0, each, np.nan) for each in (values.ev, values.equity))
    means = values.means(seen) if values.comes(seen) else (None, None)
    return SpotDecision(seen.actions, seen.policy, seen.frequencies, seen.reach, ev, equity, *means)


def _cards(solver: HoldemSolver, s: HoldemState) -> tuple[NextCard, ...]:
    """The cards that may come at a public state, where somebody acts after them, highest first."""
    game, cards = solver.game, list[NextCard]()
    if game.actor(s) != NATURE or s.betting.all_in:
        return ()
    for card in (card for card in reversed(range(CARDS)) if card not in s.board):
        first = _decision(solver, game.deal(s, (card,)))
        often = tuple(zip(first.actions, first.often.tolist(), strict=True))
        cards.append(NextCard(card_name(card), first.mean_ev, often))
    return tuple(cards)
