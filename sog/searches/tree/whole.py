"""A game's whole public tree, refused in a moment where it is far too large to list, and in time where memory ends.

The estimate is Knuth's (Mathematics of Computation 29, 1975): down a random line the product of the fan-outs is, on
average, the number of states. By Markov's inequality a line says K times too much with a chance of at most 1/K, so
most of PROBES lines say so with a chance of at most C(11, 6) / 100**6, about 5e-10, whatever the game.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from sog.errors import TooLarge
from sog.games.base import TERMINAL, Game
from sog.memory import available_bytes, gigabytes, held_bytes
from sog.searches.tree.public_tree import LIMIT, PublicTree

__all__ = ["LISTED", "PROBES", "check_listable", "is_large", "listed_tree", "whole_tree"]

# Games with at most this many public states are listed once and shared by all searches of a process.
LISTED = 200_000

PROBES: Final = 11
_FAR: Final = 100.0  # this many times the limit is far above it
_SHARE: Final = 0.8  # of the memory that is free when listing begins
_LONGEST: Final = 10_000  # public states down one line; a longer game is taken for one without an end
_EVERY: Final = 1024  # nodes between two looks at the memory


def whole_tree(
    game: Game, limit: int = LIMIT, limit_gb: float | None = None, report: Callable[[int], None] | None = None
) -> PublicTree:
    """Every public state of a game, listed.

    limit: public states at most.  limit_gb: 10**9 bytes that the process may hold at most; by default it may take four
    fifths of what is free.  report: takes the number of states whose children are listed, now and then.
    Raises TooLarge where the game has more states, or a chance event too large to list, or a line that does not end, or
    where memory ends.
    """
    check_listable(game, limit)
    most = held_bytes() + _SHARE * available_bytes() if limit_gb is None else 1e9 * limit_gb

    def watch(listed: int) -> None:
        # The system is asked rarely: the question costs more than listing a node.
        if listed % _EVERY:
            return
        if held_bytes() > most:
            size = f"more than {gigabytes(most)} of memory for its first {listed:,} public states"
            raise TooLarge(f"{game.name} is too large to list: {size}")
        if len(tree.path(listed)) > _LONGEST:  # most random lines of such a game may end soon
            raise _endless(game)
        if report is not None:
            report(listed)

    tree = PublicTree(game, limit)
    return tree.list_all(watch)


def listed_tree(
    game: Game, limit_gb: float | None = None, report: Callable[[int], None] | None = None
) -> PublicTree | None:
    """The whole public tree of a small game; None for a large one, as every game of planes, or one that `draws`.

    limit_gb, report: of `whole_tree`; with limit_gb a game that does not fit is a TooLarge.
    """
    if limit_gb is None and (game.planes is not None or game.draws):
        return None
    try:
        return whole_tree(game, LISTED, limit_gb, report)
    except TooLarge:
        if limit_gb is not None:
            raise
        return None


def check_listable(game: Game, limit: int = LIMIT) -> None:
    """TooLarge where random lines show that a game has far more public states than `limit`; it takes a moment."""
    # The same lines each time: a game is refused always or never.
    chance = random.Random(0)
    above = 0
    for probe in range(PROBES):
        above += _is_far(game, _FAR * limit, chance)
        # Decided as soon as more than half of PROBES lines are far, or more than half are not.
        if above > PROBES // 2:
            raise TooLarge(
                f"{game.name} is too large to list: far more than {limit:,} public states, as random lines show"
            )
        if probe - above >= PROBES // 2:
            return


def is_large(game: Game) -> bool:
    """Whether the game has far more public states than are listed, or is one that `draws`; it takes a moment."""
    if game.planes is not None or game.draws:
        return True
    try:
        check_listable(game, LISTED)
    except TooLarge:
        return True
    return False


def _is_far(game: Game, far: float, chance: random.Random) -> bool:
    """Whether the fan-outs down one random line multiply to more than `far`; TooLarge where a fan cannot be listed."""
    s, product = game.root(), 1.0
    for _ in range(_LONGEST):
        if game.actor(s) == TERMINAL:
            return False
        if not game.listable(s):
            raise TooLarge(f"{game.name} has a chance event too large to list")
        count = len(game.fan(s).children)
        product *= count
        # Knuth's estimate of the number of states at this depth; it only grows on the way down.
        if product > far:
            return True
        # Every child with the same chance: the product is then right on average.
        s = game.child(s, chance.randrange(count))
    raise _endless(game)


def _endless(game: Game) -> TooLarge:
    return TooLarge(f"{game.name} is too large to list: a line of {_LONGEST:,} public states does not end")
