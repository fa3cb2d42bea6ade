"""Numba kernels at the leaves and ends of subgames that lie one behind the other in a lookahead.

interleaved/kernels.py has the same functions for interleaved subgames; turns.py is compiled with either. A turn's
players are a bit mask of those who update in it; 3 is both.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sog.arrays import Float64, Int32
from sog.search.leaves import kernels, weighing
from sog.search.leaves.kernels import Leaves, Look, Request
from sog.search.simd.jit import inlined
from sog.search.tree import pairs
from sog.search.tree.arrays import Public, Tree

# Columns of blocks, int32[K + 1, 3]: where subgame k starts; the last row is where all end.
FIRST_NODE, FIRST_LEAF, FIRST_END = range(3)

# Subgames go through a sweep so many at a time: few enough for the cache, and enough that the next sweep does not read
# at once what the last one has just written.
AT_ONCE: Final = 16


class SideBySide(NamedTuple):
    """Where subgames lie in a lookahead.  blocks: int32[K + 1, 3].  leaves: their leaves, in order."""

    blocks: Int32
    leaves: Leaves


class Answered(NamedTuple):
    """A request with its answers.

    request: as it was made.  found: how many beliefs it has.  values: float64[B, *], as leaves.kernels.absorb takes
    them.  players: those whose values are kept.  once: nobody needs an answer twice (PLAIN).
    """

    request: Request
    found: int
    values: Float64
    players: int
    once: bool


class Part(NamedTuple):
    """Leaves first .. last - 1 in a turn of `players`, whose iteration has this weight in the averages."""

    first: int
    last: int
    players: int
    weight: float


@inlined
def collect(
    public: Public, tree: Tree, games: SideBySide, first: int, last: int, request: Request, found: int, look: Look
) -> int:
    """leaves.kernels.collect."""
    return kernels.collect(public, tree, games.leaves, first, last, request, found, look)  # type: ignore[no-any-return]


@inlined
def absorb(public: Public, tree: Tree, games: SideBySide, answered: Answered, used: int, last: int) -> int:
    """Keep the answers from number `used` on that belong to leaves before `last`; the number of the next."""
    request = answered.request
    while used < answered.found and request.places[used] < last:
        kernels.absorb(public, tree, games.leaves, request, used, answered.values, answered.players)
        used += 1
    return used


@inlined
def weigh(public: Public, tree: Tree, games: SideBySide, answered: Answered, used: int, part: Part) -> int:
    """leaves.weighing.weigh; the number of the answer to begin with next."""
    weighing.weigh(public, tree, games.leaves, part.first, part.last, part.players, part.weight)
    return used


@inlined
def sum_reaches(tree: Tree, games: SideBySide, part: Part) -> None:
    """leaves.kernels.sum_reaches."""
    kernels.sum_reaches(tree, games.leaves, part.first, part.last, part.players, part.weight)


@inlined
def payoffs(public: Public, tree: Tree, games: SideBySide, first: int, last: int, players: int) -> None:
    """pairs.payoffs."""
    pairs.payoffs(public, tree, first, last, players)
