"""What `check_game` requires of two calls in a row: equal answers, since trees keep some and ask for others anew."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sog.games.base import TERMINAL, Fan, Game, State
from sog.games.checks.state import require

__all__ = ["check_repeats", "same_state"]


def check_repeats(game: Game, s: State) -> None:
    """GameError where a method answers differently when it is called again with the same public state."""
    for (method, *first), (_, *second) in zip(_answers(game, s), _answers(game, s), strict=True):
        require(_equal(first, second), game, s, f"{method} answers differently when it is called again here")
    if game.actor(s) != TERMINAL and game.listable(s):
        first_fan, second_fan = game.fan(s), game.fan(s)
        same = _equal(list(_tables(first_fan, game.actor(s))), list(_tables(second_fan, game.actor(s))))
        same = same and len(first_fan.children) == len(second_fan.children)
        same = same and all(
            same_state(game, *pair) for pair in zip(first_fan.children, second_fan.children, strict=True)
        )
        require(same, game, s, "fan answers differently when it is called again here")


def same_state(game: Game, first: State, second: State) -> bool:
    """Whether two public states are one: equal, or, of a type that compares by identity, seen alike."""
    if first == second:
        return True
    here, there = ([game.actor(s), game.num_infostates(s), game.actions(s), game.features(s)] for s in (first, second))
    return type(first).__eq__ is object.__eq__ and _equal(here, there)


def _equal(first: list[object], second: list[object]) -> bool:
    """Whether two lists of arrays and other values are the same."""
    return len(first) == len(second) and all(
        np.array_equal(np.asarray(one), np.asarray(two)) if isinstance(one, np.ndarray) else one is two or one == two
        for one, two in zip(first, second, strict=True)
    )


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


def _tables(fan: Fan, actor: int) -> Iterator[object]:
    """A fan's moves and links; the actor's own links are not read and may be anything."""
    if fan.moves is not None:
        yield from (fan.moves.edge, fan.moves.target)
    for pair in fan.carry or ():
        for p, carry in enumerate(pair):
            if p != actor:
                yield from (None, None) if carry is None else (carry.source, carry.target)
