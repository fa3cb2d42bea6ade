"""Lines of play in words: the ways on from a public state, their names, and the public states along a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Game, State
from sog.games.holdem.game import Holdem
from sog.games.holdem.lines import states_along as holdem_states

__all__ = ["Step", "moves_along", "new_words", "next_steps", "states_along"]

_STEPS: Final = 100  # ways on from a position
_SHOWN: Final = 12  # of them in a message


@dataclass(frozen=True)
class Step:
    """A way on from a position: its public edge and its name."""

    edge: int
    name: str


def next_steps(game: Game, state: State) -> list[Step]:
    """The public edges that leave a state, as far as they are listed; the first hundred."""
    if game.actor(state) == TERMINAL or not game.listable(state):
        return []
    actions = game.actions(state).tolist()
    if game.deterministic:
        return [Step(a, game.action_name(state, action)) for a, action in enumerate(actions)]
    fan = game.fan(state)
    if game.actor(state) < NATURE and fan.moves is not None:
        edges = fan.moves.edge
        if ((edges == np.arange(edges.shape[1])) | (edges < 0)).all():
            return [Step(a, game.action_name(state, action)) for a, action in enumerate(actions)]
    here = game.state_name(state)
    named = (game.state_name(fan.children[e]) for e in range(min(len(fan.children), _STEPS)))
    return [Step(e, new_words(here, name)) for e, name in enumerate(named)]


def new_words(before: str, after: str) -> str:
    """What the name of a state has that the one before it had not."""
    if after.startswith(before):
        return after[len(before) :].strip(" |,") or after
    return after


def states_along(game: Game, line: str) -> list[State]:
    """The public states along a line in words, the root's first; GameError names the first word that does not fit.

    Between commas are the names of `next_steps`, or #2 for the second of them. Where information is hidden a way that
    is the only one need not be named, such as a move that stays unknown. Hold'em's words are those of
    `sog.games.holdem.lines.follow`.
    """
    if isinstance(game, Holdem):
        return [*holdem_states(game, line)]
    return [game.root(), *(state for _, state in _walk(game, line))]


def moves_along(game: Game, line: str) -> list[int]:
    """The actions along a line of a deterministic game, in words as of `states_along`."""
    moves, here = list[int](), game.root()
    for edge, state in _walk(game, line):
        moves.append(int(game.actions(here)[edge]))
        here = state
    return moves


def _walk(game: Game, line: str) -> Iterator[tuple[int, State]]:
    """(edge, state) of each step of a line."""
    here = game.root()
    for word in filter(None, (w.strip() for w in line.split(","))):
        edge = None
        while edge is None:
            steps = next_steps(game, here)
            edge = _edge(steps, word)
            if edge is None and (game.deterministic or len(steps) != 1):
                ways = ", ".join(step.name for step in steps[:_SHOWN]) + (", ..." if len(steps) > _SHOWN else "")
                known = f"there are: {ways}" if steps else "the game is over there"
                raise GameError(f"no way {word[:80]!r} at {game.state_name(here)}; {known}")
            taken = steps[0].edge if edge is None else edge
            here = game.child(here, taken)
            yield taken, here


def _edge(steps: list[Step], word: str) -> int | None:
    """The public edge that a word names; None where none is."""
    if word[0] == "#" and word[1:].isdecimal() and 0 < int(word[1:7]) <= len(steps):
        return steps[int(word[1:7]) - 1].edge
    return next((step.edge for step in steps if step.name.lower() == word.lower()), None)
