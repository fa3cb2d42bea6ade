"""CFR-D: CFR in a trunk, its subgames solved one at a time and discarded (CFR-D, "Generating a Trunk Strategy").

Between iterations only the trunk's regrets and averages and the counterfactual values at the subgames' roots are
kept, so memory holds the trunk and one subgame. The strategy in a subgame is found again when it is needed, from the
summary of its root (see subgame.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.base import NATURE, TERMINAL, Game, State, carried_down, carried_up
from sog.games.rooted import Rooted
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import CFR, Rule
from sog.searches.resolving.subgame import Summary
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Infostate

# Whether a subgame begins at this public state.
BeginsSubgame = Callable[[State], bool]

TRUNK_RULE = replace(CFR, alternating=False)


class Decomposition:
    """A trunk and the public states where its subgames begin.

    trunk: the public states above the cut, with the roots of subgames as leaves.  roots: those leaves' nodes.
    """

    def __init__(
        self,
        game: Game,
        cut: BeginsSubgame,
        iterations: int,
        rule: Rule = CFR,
        trunk_rule: Rule = TRUNK_RULE,
        *,
        keep_trees: bool = False,
    ) -> None:
        """Solve each subgame with `iterations` of `rule` at every iteration of the trunk's rule.

        keep_trees: list each subgame once, for speed; its numbers are discarded all the same. SettingError where the
        trunk's rule is alternating (one solution of the subgames serves both players) or the cut leaves no trunk.
        """
        if trunk_rule.alternating:
            raise SettingError(f"a trunk's rule updates both players at once, which {trunk_rule.name} here does not")
        self.game, self.iterations, self.rule, self.trunk_rule = game, iterations, rule, trunk_rule
        self.trunk, self.roots = _trunk(game, cut)
        self.weight = 0.0  # the sum of the weights in the trunk's sums of values and ranges
        self.largest = 0  # bytes of the numbers in the largest subgame met
        self._trees: dict[State, Lookahead] | None = {} if keep_trees else None

    def iterate(self, count: int) -> None:
        """`count` more iterations of the trunk."""
        trunk = self.trunk
        # CFR-D: one iteration of CFR in the trunk, whose leaves have the values of subgames solved at the current
        # ranges.
        for step in self.trunk_rule.steps(trunk.iterations + 1, count):
            trunk.forward()
            trunk.payoffs()
            for n in self.roots:
                self._solve_below(n)
            trunk.backward(step)
            # The sum of averaging weights, by which `summaries` divides.
            self.weight += float(step[2])

    def policy(self) -> dict[State, Float64]:
        """The trunk's average policy, float64[A, I] at each of its decision states."""
        self.trunk.update_average_policy()
        states = self.trunk.public.states
        return {states[s]: table for s, table in exact.policy_of(self.trunk).items()}

    def summaries(self) -> dict[State, Summary]:
        """Average ranges and counterfactual values at the subgames' roots; ranges are those of the average policy."""
        if not self.weight:
            raise SettingError("there are no averages before the first iteration")
        trunk = self.trunk
        trunk.update_average_policy()
        # Ranges are the average policy's; values are means over the trunk's iterations.
        trunk.forward(Entry.AVERAGE_POLICY)
        return {
            self._state(n): Summary(
                (trunk.ranges(n)[0].copy(), trunk.ranges(n)[1].copy()),
                (trunk.cfv_sums(n)[0] / self.weight, trunk.cfv_sums(n)[1] / self.weight),
            )
            for n in self.roots
        }

    def _state(self, n: int) -> State:
        return self.trunk.public.states[self.trunk.public_node(n)]

    def _solve_below(self, n: int) -> None:
        """Put the values of the solved subgame at the trunk's leaf n.

        With ranges given, the outcomes of a chance event are games apart, so they too are solved one at a time.
        """
        trunk, game, s = self.trunk, self.game, self._state(n)
        r0, r1 = (trunk.infostates[Infostate.REACH, trunk.span(n, p)] for p in (0, 1))
        if game.actor(s) != NATURE:
            v0, v1 = self._solve(s, (r0, r1))
        else:
            v0, v1 = np.zeros_like(r0), np.zeros_like(r1)
            fan = game.fan(s)
            for e, child in enumerate(fan.children):
                first, second = (None, None) if fan.carry is None else fan.carry[e]
                # Ranges down over the outcome's links, values back up, summed over outcomes: chance's part is in W
                # below.
                i0, i1 = game.num_infostates(child)
                u0, u1 = self._solve(child, (carried_down(first, r0, i0), carried_down(second, r1, i1)))
                carried_up(first, u0, v0)
                carried_up(second, u1, v1)
        trunk.infostates[Infostate.CFV, trunk.span(n, 0)], trunk.infostates[Infostate.CFV, trunk.span(n, 1)] = v0, v1

    def _solve(self, s: State, ranges: tuple[Float64, Float64]) -> tuple[Float64, Float64]:
        """Both players' counterfactual values, float64[I0], float64[I1], under the solution of the subgame at s."""
        tree = None if self._trees is None else self._trees.get(s)
        # The subgame as a game of its own, whose root is s; nothing of it stays in memory without keep_trees.
        if tree is None:
            public = PublicTree(Rooted(self.game, s)).list_all()
            tree = Lookahead(public, 0, ranges, room=public.size).expand_all()
            self.largest = max(self.largest, tree.num_bytes)
            if self._trees is not None:
                self._trees[s] = tree
        else:
            tree.restart(ranges)
        # An outcome of chance may end the game: it has a value, and nothing to solve.
        if tree.actor(0) != TERMINAL:
            tree.iterate(self.rule, self.iterations)
            tree.update_average_policy()
        return tree.evaluate()


def _trunk(game: Game, cut: BeginsSubgame) -> tuple[Lookahead, list[int]]:
    """The trunk's tree and its leaves; the public tree lists nothing below the cut."""
    public = PublicTree(game)
    if cut(public.states[0]):
        raise SettingError(f"cutting {game.name} at its root leaves no trunk")
    tree = Lookahead(public, 0, game.root_ranges(), room=16)
    roots, n = [], 0
    # Children are appended: one pass meets every node above the cut.
    while n < tree.size:
        if tree.is_leaf(n):
            if cut(public.states[tree.public_node(n)]):
                roots.append(n)
            else:
                tree.expand(n)
        n += 1
    return tree, roots
