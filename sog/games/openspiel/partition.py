"""Which histories are one infostate and which are one public state: from what OpenSpiel lets the players observe.

Three ways, the first that agrees with the infostates at which the players act is taken; all give each
player everything observed so far (the actions of one's own included), so an infostate has one past:

observer    public states are what OpenSpiel's public observer has shown so far, and who acts.
infostates  public states are the connected components of the players' infostates at equal depth, two
            infostates being linked by a shared history: the finest partition that is common knowledge.
own turns   the same, from the infostates of the player who acts alone; of another's moves a player then
            knows only that they were made. For games whose infostates say too much or nothing in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from sog.arrays import Array, Int64
from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.compiled.tree import Partition, components, joint
from sog.games.openspiel.histories import OpenSpielHistories

OBSERVER: Final = "observer"
INFOSTATES: Final = "infostates"
OWN_TURNS: Final = "own turns"


def partition(histories: OpenSpielHistories) -> Partition:
    """The first of the three ways that fits; GameError for imperfect recall and private turns, in one line."""
    _check_recall(histories)
    for attempt in _attempts(histories):
        if _fits(histories, attempt):
            return attempt
    raise _private_turn(histories)


def _attempts(h: OpenSpielHistories) -> Iterator[Partition]:
    acting = h.words * (h.actor[:, None] == np.arange(2))
    if h.public is not None:
        public = _chain(h, [h.public, h.actor])
        yield _partition(h, OBSERVER, [_chain(h, [h.words[:, p], public, _own(h, p)]) for p in (0, 1)], public)
    yield _partition(h, INFOSTATES, [_chain(h, [h.words[:, p], _own(h, p)]) for p in (0, 1)], None)
    if h.recalls:
        yield _partition(h, OWN_TURNS, [_chain(h, [acting[:, p], _own(h, p)]) for p in (0, 1)], None)


def _own(h: OpenSpielHistories, p: int) -> Int64:
    """int64[M]: the action at the parent where player p took it, else -1."""
    mine = (h.parent >= 0) & (h.actor[h.parent] == p)
    return np.where(mine, h.action, -1).astype(np.int64)


def _chain(h: OpenSpielHistories, columns: list[Array]) -> Int64:
    """int64[M]: the same number where the columns agree at the moment and at all moments before it."""
    out = np.zeros(len(h.parent), dtype=np.int64)
    count = 0
    order = np.argsort(h.depth, kind="stable")
    for level in np.split(order, np.flatnonzero(np.diff(h.depth[order])) + 1):
        before = np.where(h.parent[level] >= 0, out[h.parent[level]], -1)
        out[level] = count + joint(before, *(column[level] for column in columns))
        count = int(out[level].max()) + 1
    return out


def _partition(h: OpenSpielHistories, way: str, infostates: list[Int64], public: Int64 | None) -> Partition:
    decision = h.actor != TERMINAL
    infostate = np.full((len(decision), 2), -1, dtype=np.int64)
    for p in (0, 1):
        infostate[decision, p] = infostates[p][decision]
    label = components(infostate[decision, 0], infostate[decision, 1]) if public is None else public[decision]
    state = np.full(len(decision), -1, dtype=np.int64)
    state[decision] = joint(h.depth[decision], label)
    return Partition(way, infostate, state)


def _fits(h: OpenSpielHistories, parts: Partition) -> bool:
    """Whether every public state has one actor and every acting player's infostate is OpenSpiel's own."""
    decision = np.flatnonzero(h.actor != TERMINAL)
    state, actor = parts.state[decision], h.actor[decision]
    if _count(state, actor) > _count(state):
        return False
    if not h.recalls:
        return True
    for p in (0, 1):
        turn = np.flatnonzero(h.actor == p)
        word, infostate = h.words[turn, p], parts.infostate[turn, p]
        if _count(word, infostate) > min(_count(word), _count(infostate)):
            return False
    return True


def _count(*columns: Array) -> int:
    """How many different rows the columns have."""
    return int(joint(*columns).max(initial=-1)) + 1


def _check_recall(h: OpenSpielHistories) -> None:
    """Perfect recall: all histories of an acting infostate share the player's last infostate and action."""
    if not h.recalls:
        return
    for p in (0, 1):
        own = _own(h, p)
        last = np.full((len(own), 2), -1, dtype=np.int64)
        order = np.argsort(h.depth, kind="stable")
        for level in np.split(order, np.flatnonzero(np.diff(h.depth[order])) + 1)[1:]:
            before = h.parent[level]
            mine = own[level] >= 0
            last[level] = np.where(mine[:, None], np.stack([h.words[before, p], own[level]], 1), last[before])
        turn = np.flatnonzero(h.actor == p)
        past = joint(last[turn, 0], last[turn, 1])
        k = _split(h.words[turn, p], past)
        if k is not None:
            word = _short(h.vocabulary[h.words[turn[k], p]])
            raise GameError(f"{h.name} lacks perfect recall: infostate {word!r} of player {p} has several own pasts")


def _split(word: Array, other: Array) -> int | None:
    """A place whose word occurs with two values of `other`; None where each has one."""
    order = np.lexsort((other, word))
    again = (np.diff(word[order]) == 0) & (np.diff(other[order]) != 0)
    return int(order[1:][again][0]) if again.any() else None


def _private_turn(h: OpenSpielHistories) -> GameError:
    """Why no way fits: somebody does not know who acts, or how many moves have been made."""
    for p in (0, 1):
        turn = np.flatnonzero(h.actor == p)
        k = _split(h.words[turn, p], h.depth[turn]) if h.recalls else None
        if k is not None:
            word = _short(h.vocabulary[h.words[turn[k], p]])
            return GameError(
                f"{h.name} has private turns: at infostate {word!r} player {p} does not know how many moves were made"
            )
    return GameError(f"{h.name} has private turns: a player who does not act cannot tell who does")


def _short(word: str) -> str:
    """The word on one line, cut where it is long."""
    line = " ".join(word.split())
    return line if len(line) <= 60 else line[:57] + "..."
