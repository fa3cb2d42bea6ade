"""What each of two searchers does in a position, for the page: its policy of the whole game where that is small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sog.agents.line_seen import shares
from sog.algorithms.student.algorithm import Student
from sog.errors import SettingError
from sog.lru import LruCache
from sog.measure.exploitability import composed_policy, decision_count
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import DCFR
from sog.searches.tree.public_tree import PublicTree
from sog.training.opened import Opened
from sog.web.asked import SOLUTION_ITERATIONS, PositionAsked, SearchSnapshot, SideSeen

__all__ = ["WholePolicies", "side_of"]

_MOST_POLICIES: Final = 4  # whole policies
_SIMULATIONS: Final = 2_000_000  # of all searches of a whole policy: ten seconds, about


@dataclass(frozen=True, eq=False)
class WholePolicy:
    """A game's whole tree with a policy in it, both players' ranges and values at each node, and its exploitability."""

    tree: Lookahead
    exploitability: float


class WholePolicies:
    """Policies of whole games, those that were asked for last."""

    def __init__(self) -> None:
        self._policies = LruCache[tuple[str, str, int, float, int], WholePolicy](_MOST_POLICIES)

    @staticmethod
    def fits(public: PublicTree, asked: PositionAsked) -> bool:
        """Whether every public state of a listed game can be searched in seconds."""
        return decision_count(public) * asked.simulations <= _SIMULATIONS

    def solution(self, public: PublicTree, asked: PositionAsked) -> SideSeen:
        """The position in the game's solution by DCFR. SettingError where nobody is to move there."""
        key = asked.game, asked.agent, 0, 0.0, 0
        if key not in self._policies:
            self._policies[key] = _whole(exact.solve(public, DCFR, SOLUTION_ITERATIONS))
        return _seen(self._policies[key], asked, True)

    def played(self, public: PublicTree, opened: Opened, plays: Student, asked: PositionAsked) -> SideSeen:
        """The position in what an agent plays at every public state. SettingError where nobody is to move there."""
        key = asked.game, asked.agent, asked.simulations, asked.per_update, asked.seed
        if key not in self._policies:
            make = plays.agents(public, opened)
            zero, one = (make(player, asked.seed) for player in (0, 1))
            tree = exact.full_tree(public)
            exact.set_policy(tree, composed_policy((zero, one)))
            self._policies[key] = _whole(tree)
        return _seen(self._policies[key], asked, opened.trained)


def _whole(tree: Lookahead) -> WholePolicy:
    """The average policies of a whole tree, measured; then its ranges and values are theirs."""
    exploitability = exact.measure(tree).exploitability * tree.public.game.unit.per_utility
    tree.evaluate()
    return WholePolicy(tree, exploitability)


def _seen(whole: WholePolicy, asked: PositionAsked, trained: bool) -> SideSeen:
    tree, node = whole.tree, 0
    public = tree.public
    for edge in asked.line:
        node = public.child(node, edge)
    if public.actor(node) not in (0, 1):
        raise SettingError("no player is to move in this position")
    n = tree.node_of(node)
    ranges = tree.ranges(n)
    values = public.conditional(node, tree.cfvs(n), ranges)
    conditionals = shares(ranges[0]), shares(ranges[1])
    return SideSeen(tree.policy(n).copy(), conditionals, values, whole.exploitability, trained)


def side_of(snapshot: SearchSnapshot, trained: bool) -> SideSeen:
    """What a search of the position alone found."""
    return SideSeen(snapshot.policy, snapshot.ranges, snapshot.values, None, trained)
