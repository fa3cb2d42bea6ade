"""Re-solving a subgame from summary information, safely and unsafely (CFR-D, "Subgame Strategy Re-Solving").

What is kept of a subgame's strategy is each player's range at its root and each player's counterfactual values
there. Safe re-solving finds one player's strategy in a game where the opponent may, at every infostate, take that
value instead of playing the subgame; unsafe re-solving takes both ranges as given. Given the values of best responses
to a strategy that need not be an equilibrium, safe re-solving can only improve it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sog.arrays import Float64
from sog.games.base import State
from sog.searches.cfr import exact
from sog.searches.cfr.exact import Policy
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import Rule
from sog.searches.resolving.gadget import Gadget
from sog.searches.tree.players import Players
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry


@dataclass(frozen=True, eq=False)
class Summary:
    """What is kept of a subgame rooted at a public state.

    ranges: float64[I0], float64[I1], each player's reach of the root by its own strategy above.
    values: float64[I0], float64[I1], each player's counterfactual values at the root against the opponent's strategy,
    in utilities.
    """

    ranges: tuple[Float64, Float64]
    values: tuple[Float64, Float64]


def summarise(public: PublicTree, policy: Policy, roots: Iterable[int]) -> dict[int, Summary]:
    """Summaries of the subgames at the public nodes `roots` of a listed game: values of best responses to a policy."""
    tree, roots = exact.full_tree(public), list(roots)
    exact.set_policy(tree, policy)
    # Best responses, not the policy's own values: with them, safe re-solving makes no infostate of the opponent better
    # off (CFR-D, "Subgame Strategy Re-Solving").
    tree.evaluate(Entry.AVERAGE_POLICY, best=Players.BOTH)
    at, summaries = tree.by_public_node(), {}
    for s in roots:
        (r0, r1), (v0, v1) = tree.ranges(at[s]), tree.cfvs(at[s])
        summaries[s] = Summary((r0.copy(), r1.copy()), (v0.copy(), v1.copy()))
    return summaries


class SubgameSolver(Protocol):
    """A subgame being solved again."""

    def iterate(self, rule: Rule, count: int) -> None:
        """`count` more iterations."""

    def policy(self) -> Policy:
        """The average policy of the player or players that it solves for, by public node."""


class Safe:
    """Re-solving for one player with the gadget: the opponent's best response values at the root do not rise."""

    def __init__(self, public: PublicTree, root: int, summary: Summary, player: int) -> None:
        """For `player` in the subgame at the public node `root`; `public` need not list it yet."""
        opponent = 1 - player
        self.player = player
        leave = summary.values[opponent]
        self._tree = Lookahead(public, root, summary.ranges).expand_all()
        # alpha = 1: the plain gadget of CFR-D; mixing in an earlier range is DeepStack's and PoG's.
        self._gadget = Gadget(opponent, leave, np.zeros_like(leave), alpha=1.0)

    def iterate(self, rule: Rule, count: int) -> None:
        """`count` more iterations of a rule, the gadget's regrets included."""
        self._tree.iterate(rule, count, self._gadget.choice)

    def policy(self) -> Policy:
        """The player's average policy, by public node."""
        self._tree.update_average_policy()
        # The opponent's policy in the gadget game is not in the result.
        actor = self._tree.public.nodes.actor
        return {s: table for s, table in exact.policy_of(self._tree).items() if actor[s] == self.player}


class Unsafe:
    """Re-solving for both players with both ranges as given: nothing binds the opponent's values at the root."""

    def __init__(self, public: PublicTree, root: int, summary: Summary) -> None:
        """For the subgame at the public node `root`; `public` need not list it yet."""
        self._tree = Lookahead(public, root, summary.ranges).expand_all()

    def iterate(self, rule: Rule, count: int) -> None:
        """`count` more iterations of a rule."""
        self._tree.iterate(rule, count)

    def policy(self) -> Policy:
        """Both players' average policies, by public node."""
        self._tree.update_average_policy()
        return exact.policy_of(self._tree)


def safely(public: PublicTree, summaries: dict[int, Summary]) -> list[SubgameSolver]:
    """Safe re-solving of every subgame, for each player by itself."""
    return [Safe(public, root, summary, p) for root, summary in summaries.items() for p in (0, 1)]


def unsafely(public: PublicTree, summaries: dict[int, Summary]) -> list[SubgameSolver]:
    """Unsafe re-solving of every subgame."""
    return [Unsafe(public, root, summary) for root, summary in summaries.items()]


def combined(policy: Policy, resolved: Iterable[SubgameSolver]) -> Policy:
    """A policy for the whole game with what re-solving found in its subgames."""
    out = dict(policy)
    # Subgames are disjoint, and so are the players of safe solvers: no entry is written twice.
    for resolving in resolved:
        out |= resolving.policy()
    return out


def nodes_of(public: PublicTree, states: Iterable[State]) -> list[int]:
    """The nodes of public states that a tree lists."""
    at = {s: n for n, s in enumerate(public.states)}
    return [at[s] for s in states]
