"""A game's whole public tree, listed once a process, with progress for the user."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from sog.games.catalog import make_game
from sog.progress import OpenBar
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import whole_tree

__all__ = ["listed", "listed_with_bar"]


def listed(game: str, limit_gb: float | None = None, report: Callable[[int], None] | None = None) -> PublicTree:
    """The game's whole public tree, listed once a process.

    limit_gb, report and errors: as of `whole_tree`. With limit_gb it is listed anew, within that limit.
    """
    trees = _trees(game)
    if limit_gb is not None:
        trees.clear()
    if not trees:
        trees.append(whole_tree(make_game(game), limit_gb=limit_gb, report=report))
    return trees[0]


def listed_with_bar(game: str, limit_gb: float | None, bar: OpenBar) -> PublicTree:
    """As `listed`, with a progress bar and within the memory that was chosen."""
    with bar("listing public states", None, "states") as report:
        return listed(game, limit_gb, lambda count: report(count, ""))


@lru_cache(maxsize=4)
def _trees(game: str) -> list[PublicTree]:
    """Where a game's tree is kept; empty until it is listed."""
    return []
