"""Continual re-solving on public information: one chain of searches per player.

CFR-D; DeepStack; SoG, "Modified continual re-solving"; PoG, B.1. A chain belongs to one player, the
resolver, and has only public information, no hidden infostate. After a chance event that no
search opens the subgame is rooted at its outcome, with estimated values (sampled_chance.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sog.arrays import Array, Float64
from sog.play.sampled_chance import Estimate, carried, carried_along, first_after
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.search import SearchLog, search
from sog.searches.gtcfr.settings import PAPER, POG, Budget, SearchSettings
from sog.searches.leaves.evaluator import SearchGenerator
from sog.searches.resolving.gadget import Gadget
from sog.searches.tree.players import Players
from sog.searches.tree.public_tree import PublicTree

__all__ = [
    "ResolveSettings",
    "Resolving",
    "Solved",
    "derive_generator",
    "paper_settings",
    "pog_settings",
]


@dataclass(frozen=True)
class ResolveSettings:
    """How to re-solve.

    alpha: share of the gadget in the opponent's range; SoG 0.5, PoG 0.2, 1 is the gadget alone.
    complete: search with the whole remaining game as the tree (exact re-solving) instead of growing one.
    gadget: False solves from fixed ranges of both players: unsafe, for contrast.
    every_decision: in play a chain searches the opponent's decisions too (PoG, B.5: "the search tree is rebuilt also
    for the opponent's actions"); self-play, where Algorithm 2 searches once a move, does not.
    purify: in play, an action less likely than this share of the likeliest one is not played: 0 plays the average
    policy, 1 the likeliest action alone (Ganzfried, Sandholm and Waugh, 2012). Beliefs follow the average policy.
    """

    budget: Budget
    search: SearchSettings = field(default_factory=SearchSettings)
    alpha: float = 0.5
    complete: bool = False
    gadget: bool = True
    every_decision: bool = False
    purify: float = 0.0


def paper_settings(budget: Budget) -> ResolveSettings:
    """As SoG plays: its rule and search, alpha 0.5, the opponent's decisions searched too."""
    return ResolveSettings(budget, PAPER, alpha=0.5, every_decision=True)


def pog_settings(budget: Budget) -> ResolveSettings:
    """As PoG plays: alpha 0.2, and selection follows the current policy."""
    return ResolveSettings(budget, POG, alpha=0.2, every_decision=True)


@dataclass(frozen=True, eq=False)
class Solved:
    """A finished search for `player` at public node `node`; its tree answers for every state in it.

    start: the lookahead node of `node`.  index: public node -> lookahead node, for the nodes swept.
    """

    player: int
    node: int
    start: int
    tree: Lookahead
    index: dict[int, int]

    def policy(self) -> Float64:
        """float64[A, I]: the average policy at the searched state."""
        return self.tree.policy(self.start).copy()

    def played(self, purify: float) -> Float64:
        """float64[A, I]: `policy` without the actions less likely than `purify` times the likeliest, rescaled."""
        policy = self.policy()
        if purify > 0.0:
            policy[policy < purify * policy.max(axis=0)] = 0.0
            policy /= np.maximum(policy.sum(axis=0), 1e-300)  # infostates that are impossible have no policy
        return policy

    def own_range(self, n: int) -> Float64:
        """float64[I]: the player's range at lookahead node n, by the average policies on the way."""
        return self.tree.ranges(n)[self.player].copy()

    def opponent_range(self, n: int) -> Float64:
        """float64[I]: the opponent's mean range at node n, scaled to a maximum of 1."""
        reach = self.tree.range_sums(n)[1 - self.player]
        top = reach.max()
        return reach / top if top > 0 else np.ones_like(reach)

    def opponent_values(self, n: int) -> Float64:
        """float64[I]: the opponent's mean values at node n, conditional on the infostate (`Lookahead.values`)."""
        return self.tree.values(n)[1 - self.player]

    def root_values(self) -> tuple[Float64, Float64]:
        """Both players' values at the searched state, conditional on the infostate: float64[I0], float64[I1]."""
        return self.tree.values(self.start)


class Resolving:
    """One search of a chain: drive `steps()`, then call `solved()`."""

    def __init__(
        self,
        public: PublicTree,
        player: int,
        node: int,
        previous: Solved | None,
        settings: ResolveSettings,
        seed: int,
        log: SearchLog | None = None,
    ) -> None:
        """Search at public node `node` for `player` after that player's search `previous` (None: the first).

        seed: the search's generator is derived from (seed, player, node), so that draws are the same on public trees
        that were listed in the same order.
        """
        self.player, self.node, self.settings, self.log = player, node, settings, log
        self.rng = derive_generator(seed, player, node)
        path = public.path(node)
        # The subgame begins at the state nearest to the current one that the last search's tree holds (PoG, B.1).
        root = 0
        if previous is not None:
            root = next(k for k in range(len(path) - 1, -1, -1) if path[k] in previous.index)
        ranges, self.gadget = _root(public, player, path[root], previous, settings)
        self.estimate: Estimate | None = None
        drawn = first_after(public, path, settings.search.chance_leaves)
        if drawn > root:  # the last tree ends at a chance event that no search opens, or above it
            ranges = carried_along(public, path[root:drawn], ranges)
            # What the opponent was promised below the event is not known: it is estimated before the search.
            if self.gadget is not None and previous is not None:
                stored = previous.opponent_values(previous.index[path[root]]) if drawn - 1 == root else None
                self.estimate = Estimate(public, path[drawn - 1], path[drawn], 1 - player, ranges, stored, self.rng)
            ranges, self.gadget = _cross(public, path[drawn - 1], path[drawn], ranges, self.gadget)
            root = drawn
        # The player's range at the root, from which `solved` sends its average policies down.
        self.own = ranges[player]
        self.tree = Lookahead(public, path[root], ranges)
        # The tree is grown below the current state; the branch to it and its siblings are in the tree (PoG, B.1).
        self.start = _open_path(self.tree, path[root + 1 :])

    def steps(self, stopped: Callable[[], bool] | None = None) -> SearchGenerator:
        """The search, as a generator of leaf beliefs.  stopped: called after each round; true ends it."""
        if self.estimate is not None and self.gadget is not None:
            yield from self.estimate.steps()
            self.gadget.leave = self.estimate.values
        if self.settings.complete:
            self.tree.expand_all()
        budget, settings = self.settings.budget, self.settings.search
        yield from search(self.tree, self.start, budget, settings, self.rng, self.gadget, self.log, stopped)

    def solved(self) -> Solved:
        """The finished search."""
        tree = self.tree
        tree.update_average_policy()
        # The player's ranges for the next search: by its average policies, from its range at the root.
        tree.ranges(0)[self.player][:] = self.own
        tree.play_average(players=Players(1 << self.player))
        return Solved(self.player, self.node, self.start, tree, tree.by_public_node())


def _root(
    public: PublicTree, player: int, s: int, previous: Solved | None, settings: ResolveSettings
) -> tuple[tuple[Float64, Float64], Gadget | None]:
    """Ranges at the subgame's root s, and the gadget above it."""
    if previous is None:
        return public.game.root_ranges(), None
    n = previous.index[s]
    own, other = previous.own_range(n), previous.opponent_range(n)
    if not own.any():  # play came by a move that the player's policy never makes: each infostate may have made it
        own = np.ones_like(own)
    own = np.ldexp(own, -int(np.frexp(own.max())[1]))  # a long chain's would vanish; a power of two rounds nothing
    ranges = (own, other) if player == 0 else (other, own)
    if not settings.gadget:
        return ranges, None
    # leave[i] = v[i] * mass[i]: the counterfactual values that the last search gave the opponent, by the player's
    # range.
    mass = public.masses(s, *ranges)[1 - player]
    leave = previous.opponent_values(n) * mass
    return ranges, Gadget(1 - player, leave, other, settings.alpha, mass > 0)


def _cross(
    public: PublicTree, chance: int, child: int, ranges: tuple[Float64, Float64], gadget: Gadget | None
) -> tuple[tuple[Float64, Float64], Gadget | None]:
    """Ranges and gadget after an unopened chance event, from those before it; the values of Terminate come later."""
    ranges = carried(public, chance, child, ranges)
    if gadget is None:
        return ranges, None
    other = ranges[gadget.opponent]
    # The gadget's previous range has a maximum of 1; 1e-300 where nothing of it is left.
    other = other / max(other.max(), 1e-300)
    possible = public.masses(child, *ranges)[gadget.opponent] > 0
    return ranges, Gadget(gadget.opponent, np.zeros_like(other), other, gadget.alpha, possible)


def _open_path(tree: Lookahead, path: list[int]) -> int:
    """Open the branch of public nodes `path` below the root, siblings as leaves; the last one's lookahead node."""
    n = 0
    for s in path:
        tree.expand(n)
        n = next(child for child in tree.children(n) if tree.public_node(child) == s)
    return n


def derive_generator(seed: int, player: int, node: int) -> Array:
    """uint64[1]: the state of a search's own generator."""
    return np.random.SeedSequence((seed, player, node)).generate_state(1, np.uint64)
