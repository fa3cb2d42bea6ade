"""What `check_game` requires of two calls in a row: equal answers, since trees keep some and ask for others anew."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sog.games.base import TERMINAL, Fan, Game, State
from sog.games.check_state import require

__all__ = ["check_repeats"]


def check_repeats(game: Game, s: State) -> None:
    """GameError where a method answers differently when it is called again with the same public state."""
    for (method, *first), (_, *second) in zip(_answers(game, s), _answers(game, s), strict=True):
        same = len(first) == len(second) and all(map(_equal, first, second))
        require(same, game, s, f"{method} answers differently when it is called again with the same state")


def _equal(first: object, second: object) -> bool:
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return np.array_equal(np.asarray(first), np.asarray(second))
    return first == second


def _answers(game: Game, s: State) -> Iterator[tuple[object, ...]]:
    """Each method's name and the parts of its answer."""
    yield "actor", game.actor(s)
    yield "num_infostates", game.num_infostates(s)
    yield "actions", game.actions(s)
    yield "slot", game.slot(s, 0), game.slot(s, 1)
    yield "features", game.features(s)
    yield "weights", game.weights(s).dense()
    yield "value_unit", game.value_unit(s)
    if game.actor(s) == TERMINAL:
        yield "payoff", game.payoff(s).dense()
    elif game.listable(s):
        fan = game.fan(s)
        yield "fan", [game.state_name(child) for child in fan.children], *_tables(fan, game.actor(s))


def _tables(fan: Fan, actor: int) -> Iterator[object]:
    """A fan's moves and links; the actor's own links are not read and may be anything."""
    if fan.moves is not None:
        yield from (fan.moves.edge, fan.moves.target)
    for pair in fan.carry or ():
        for p, carry in enumerate(pair):
            if p != actor:
                yield from (None, None) if carry is None else (carry.source, carry.target)
