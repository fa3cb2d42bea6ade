"""The histories below a public state as arrays, down to a depth limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from sog.arrays import Array, Bool, Float64, Int32, Int64
from sog.errors import SettingError
from sog.games.base import NATURE, TERMINAL
from sog.games.histories.base import HistoryGame, TooManyHistories
from sog.games.histories.listing import children

__all__ = ["Below", "DepthLimit", "chance_of", "grow"]


@dataclass(frozen=True)
class DepthLimit:
    """Where a subgame ends.

    depth: after this many actions of each player, 0 for no limit.  at_chance: after chance; it then begins there, too,
    and no other limit goes with it.  fitted: where it would have too many histories, it ends after as many actions of
    each as fit, one at least.
    """

    depth: int = 1
    at_chance: bool = False
    fitted: bool = False

    def __post_init__(self) -> None:
        if self.depth < 0:
            raise SettingError(f"a depth limit is no negative number of actions: {self.depth}")
        if self.at_chance and (self.depth or self.fitted):
            raise SettingError("a subgame that ends at chance has no other depth limit: depth 0 and not fitted")


@dataclass(frozen=True, eq=False)
class Below:
    """The decisions and ends below a public state, each after its parent; chance is folded into the way there.

    states: int32[M, K].  parent, action: int32[M], -1 at the roots.  actor: int32[M].  depth: int32[M], decisions
    since the root.  chance: float64[M], the probability of all chance on the way, that of the roots included.
    leaf: bool[M], decisions that nothing is listed below.
    """

    states: Int32
    parent: Int32
    action: Int32
    actor: Int32
    depth: Int32
    chance: Float64
    leaf: Bool

    def __len__(self) -> int:
        return len(self.actor)


class _Level(NamedTuple):
    """Moments of one depth, as in `Below`.  met: bool[*], whether chance acted since the parent."""

    states: Int32
    parent: Int64
    action: Int32
    chance: Float64
    met: Bool


def grow(game: HistoryGame, states: Int32, chance: Float64, limit: DepthLimit, most: int) -> Below:
    """The histories below roots, int32[H, K] with float64[H] chance's probability of each, where players act.

    Raises TooManyHistories above `most`, the roots included.
    """
    no_parent = np.full(len(states), -1)
    roots = _Level(states, no_parent, no_parent.astype(np.int32), chance, np.zeros(len(states), dtype=np.bool_))
    levels: list[_Grown] = []
    try:
        for level in _levels(game, roots, limit, most):
            levels.append(level)  # noqa: PERF402, since the levels before an error are kept
    except TooManyHistories:
        # The deepest limit that fits: whole turns of both players, whose last decisions become leaves.
        depth = (len(levels) - 1) // 2
        if not limit.fitted or depth < 1:
            raise
        moments, actor, _ = levels[2 * depth]
        levels[2 * depth :] = [(moments, actor, actor != TERMINAL)]
    depths = np.repeat(np.arange(len(levels)), [len(actor) for _, actor, _ in levels])
    return Below(
        np.concatenate([moments.states for moments, _, _ in levels]),
        np.concatenate([moments.parent for moments, _, _ in levels]).astype(np.int32),
        np.concatenate([moments.action for moments, _, _ in levels]),
        np.concatenate([actor for _, actor, _ in levels]),
        depths.astype(np.int32),
        np.concatenate([moments.chance for moments, _, _ in levels]),
        np.concatenate([leaf for _, _, leaf in levels]),
    )


# The moments of one depth, who acts, and which of them are leaves.
_Grown: TypeAlias = tuple[_Level, Int32, Bool]


def _levels(game: HistoryGame, level: _Level, limit: DepthLimit, most: int) -> Iterator[_Grown]:
    """Depth after depth; TooManyHistories before the first that is too large."""
    count, first, depth = 0, 0, 0
    while len(level.states):
        count += len(level.states)
        if count > most:
            raise TooManyHistories(f"{game.name}: the subgame has more than {most:,} histories")
        actor = game.actors(level.states)
        leaf = np.full(len(actor), limit.depth > 0 and depth >= 2 * limit.depth)
        # A limit at chance: the first decision after it is a leaf.
        leaf |= level.met & limit.at_chance
        leaf &= actor != TERMINAL
        yield level, actor, leaf
        going = np.flatnonzero((actor != TERMINAL) & ~leaf)
        level = _next(game, level, going, first, most)
        first, depth = count, depth + 1


def _next(game: HistoryGame, level: _Level, going: Int64, first: int, most: int) -> _Level:
    """The moments one decision further on. first: the number of the level's first moment."""
    following = children(game, level.states[going])
    at = going[following.parent]
    below = _Level(following.states, first + at, following.action, level.chance[at], np.zeros(len(at), dtype=np.bool_))
    # Chance is folded in: its outcomes are followed until someone acts or the game is over.
    while (waiting := game.actors(below.states) == NATURE).any():
        if len(below.states) > most:
            raise TooManyHistories(f"{game.name}: the subgame has more than {most:,} histories")
        rest, dealt = _taken(below, ~waiting), _taken(below, waiting)
        after = children(game, dealt.states)
        odds = game.chances(dealt.states)[after.parent, after.action]
        k = after.parent
        new = _Level(after.states, dealt.parent[k], dealt.action[k], dealt.chance[k] * odds, np.ones(len(k), np.bool_))
        below = _Level(
            np.concatenate((rest.states, new.states)),
            np.concatenate((rest.parent, new.parent)),
            np.concatenate((rest.action, new.action)),
            np.concatenate((rest.chance, new.chance)),
            np.concatenate((rest.met, new.met)),
        )
    return below


def _taken(level: _Level, rows: Bool) -> _Level:
    states, parent, action, chance, met = level
    return _Level(states[rows], parent[rows], action[rows], chance[rows], met[rows])


def chance_of(game: HistoryGame, histories: Array) -> Float64:
    """float64[H]: the probability of chance's actions in histories, int[H, T] padded with -1."""
    reach = np.ones(len(histories))
    if not game.num_outcomes:
        return reach
    states = game.begin(len(histories))
    for column in np.asarray(histories).T:
        dealt = np.flatnonzero((column >= 0) & (game.actors(states) == NATURE))
        reach[dealt] *= game.chances(states[dealt])[np.arange(len(dealt)), column[dealt]]
        game.step(states, column)
    return reach
