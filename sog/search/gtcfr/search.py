"""Growing-tree CFR (SoG, "Growing-tree counterfactual regret minimization"; PoG, Algorithm 1).

A search is a generator: it yields the beliefs at its tree's leaves and is sent their evaluations, so that
a driver can join the batches of many searches. It knows no network and no rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

import numpy as np

from sog.arrays import Array, Float64
from sog.errors import SettingError
from sog.games.base import NATURE
from sog.search.cfr.rules import DCFR, SOG, Rule
from sog.search.gtcfr import phases
from sog.search.gtcfr import trajectories as simulate
from sog.search.leaves.evaluator import Beliefs, Evaluations
from sog.search.resolving.gadget import Gadget
from sog.search.tree import columns as f
from sog.search.tree.lookahead import Lookahead

SearchGenerator = Generator[Beliefs, Evaluations, None]


@dataclass(frozen=True)
class Budget:
    """(s, c): s expansions in all, ceil(c) a round, ceil(1/c) regret updates before each round.

    So (100, 0.1) is 100 expansions and 1,000 updates, (1000, 10) 1,000 expansions and 100 updates.
    """

    simulations: int
    per_update: float = 1.0

    def __post_init__(self) -> None:
        if self.simulations <= 0:
            raise SettingError(f"simulations must be positive, not {self.simulations}")
        if not (self.per_update > 0 and math.isfinite(self.per_update)):
            raise SettingError(f"simulations per update must be positive, not {self.per_update}")

    @property
    def expansions(self) -> int:
        """Expansions in a round."""
        return math.ceil(self.per_update)

    @property
    def updates(self) -> int:
        """Regret updates in a round."""
        return max(1, math.ceil(1.0 / self.per_update - 1e-9))

    @property
    def rounds(self) -> int:
        return math.ceil(self.simulations / self.expansions)

    def __str__(self) -> str:
        return f"({self.simulations},{self.per_update:g})"


@dataclass(frozen=True)
class SearchSettings:
    """How GT-CFR searches, apart from its budget.

    rule: the regret rule; an alternating one updates both players in turn on one evaluation of the leaves.
    c_puct, prior_temperature: PUCT's exploration and the softmax temperature of priors.
    select_average: the CFR half of the selection policy is the average policy (SoG), not the current (PoG).
    correct: apply the zero-sum correction to evaluations.
    warm_start: an opened node begins at its prior, with regrets worth this many value units (0: at uniform play).
    fill: a trajectory that ends where the game ends opens the oldest leaf instead, and where k = 1 the oldest node that
    lacks a child, so that s expansions happen while there is anything to open. Both are ours; the papers' search has
    neither (PoG, "Complexity": "If a terminal state is hit at the end of the traversal, there is no expansion").
    """

    rule: Rule = DCFR
    c_puct: float = 1.25
    prior_temperature: float = 1.0
    select_average: bool = True
    correct: bool = True
    warm_start: float = 1.0
    fill: bool = True


PAPER = SearchSettings(rule=SOG, warm_start=0.0, fill=False)


@dataclass
class QueryLog:
    """Leaf beliefs picked from a search, for training: at most one from each chosen iteration.

    iterations: which iterations to pick from.  picked: (public node, float64[S0 + S1] ranges by slot).
    """

    iterations: frozenset[int] = frozenset()
    picked: list[tuple[int, Float64]] = field(default_factory=list)


def search(
    tree: Lookahead,
    start: int,
    budget: Budget,
    settings: SearchSettings,
    rng: Array,
    gadget: Gadget | None = None,
    log: QueryLog | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> SearchGenerator:
    """Run GT-CFR on `tree`, growing it below node `start`; policies and sums stay in the tree.

    rng: uint64[1], the search's own generator.  gadget: the opponent's choice at the root, when re-solving.
    log: leaf beliefs it asks for are added to it.  stopped: asked after each round whether to leave it at that.
    A tree that was searched before, at this node or at one above it, is searched on.
    """
    run = _Run(tree, start, settings, rng, gadget, log or QueryLog())
    yield from run.first_look()
    rounds, updates, expansions = budget.rounds, budget.updates, budget.expansions
    for k in range(rounds):
        for _ in range(updates):
            yield from run.update()
            if run.complete:
                run.finish(rounds * updates)
                return
        if stopped():
            return
        if k < rounds - 1:
            run.grow(expansions)


_NO_GADGET = Gadget(-1, np.zeros(0), np.zeros(0), 1.0)


class _Run:
    """One search's working state; the steps of `search`."""

    def __init__(
        self,
        tree: Lookahead,
        start: int,
        settings: SearchSettings,
        rng: Array,
        gadget: Gadget | None,
        log: QueryLog,
    ) -> None:
        game = tree.public.game
        self.tree, self.start, self.settings = tree, start, settings
        self.rng, self.gadget, self.log = rng, gadget, log
        self.single = game.perfect_information
        self.slots0 = game.num_slots[0]
        self.width = sum(game.num_slots)
        self.pair = np.zeros(2, dtype=np.int64)
        self.path = np.zeros(4096, dtype=np.int64)
        self.found = np.zeros(2, dtype=np.int64)
        self.mass = np.zeros((2, 16))
        self.sums = np.zeros((2, 0))
        self.asked = np.zeros((2, 0), dtype=np.int32)
        self.awaited = np.zeros((2, 0), dtype=np.int32)
        self.ranges = np.zeros((0, self.width))
        self.steps = settings.rule.steps(1, 64)
        self.complete = False  # whether the last sweep met no leaf, so that nothing is left to ask or to grow
        self.no_answer = Evaluations(np.zeros((0, self.width)), np.zeros((0, 1, 1)))

    def first_look(self) -> SearchGenerator:
        """Evaluate the leaves once without an update, so that `start` has its prior, and open it."""
        yield from self._iterate(0)
        if self.tree.nodes[self.start, f.KIND] == f.LEAF:
            self._expand(self.start, simulate.ALL)

    def update(self) -> SearchGenerator:
        """One iteration of the regret update phase."""
        t = self.tree.iterations
        if t >= len(self.steps):
            self.steps = self.settings.rule.steps(1, 2 * (t + 1))
        if not self.settings.rule.alternating:
            yield from self._iterate(3)
            self._update_gadget(self.steps[t], 3)
        elif self.gadget is None:
            yield from self._iterate(1, second_turn=True)
        else:
            yield from self._iterate(1)
            self._update_gadget(self.steps[t], 1)
            self._second_turn(self.steps[t])
            self._update_gadget(self.steps[t], 2)
        self.tree.iterations += 1

    def _update_gadget(self, step: Float64, updates: int) -> None:
        if self.gadget is not None and (updates >> self.gadget.opponent) & 1:
            self.gadget.update(self.tree, step)

    def _second_turn(self, step: Float64) -> None:
        """Player 1's update of an alternating rule, on the leaf values that player 0's update was given."""
        tree, public = self.tree, self.tree.public
        if self.gadget is not None:
            self.gadget.enter(tree)
        phases.turn(
            *public.tables, public.slots, *tree.arrays, tree.ends, self.by_node, self.settings.correct, self.mass,
            self.sums, 2, step,
        )  # fmt: skip

    def finish(self, iterations: int) -> None:
        """The iterations that are left, up to `iterations` in all, on a tree without leaves."""
        tree, public, gadget, rule = self.tree, self.tree.public, self.gadget or _NO_GADGET, self.settings.rule
        phases.finish(
            *public.tables, *tree.arrays, tree.ends,
            rule.alternating, rule.steps(tree.iterations + 1, iterations - tree.iterations),
            gadget.opponent, gadget.alpha, gadget.regret, gadget.follow, gadget.leave, gadget.previous,
        )  # fmt: skip
        tree.iterations = iterations

    def grow(self, expansions: int) -> None:
        """The expansion phase: so many trajectories, each adding to the tree where it ends."""
        if self.tree.public.game.deterministic:
            self._grow_positions(expansions)
            return
        tree, public, settings = self.tree, self.tree.public, self.settings
        which = f.AVERAGE if settings.select_average else f.POLICY
        while expansions > 0:
            expansions -= phases.grow(
                *public.tables, *tree.arrays, tree.ends, self.start, expansions, settings.c_puct, which,
                public.game.u_max, self.single, settings.warm_start, settings.fill and not self.single,
                self.rng, self.pair, self.path, self.found,
            )  # fmt: skip
            if self.found[0] >= 0 and not self._expand(int(self.found[0]), int(self.found[1])):
                expansions += 1  # a trajectory that met a chance event too large to list walks again
        simulate.settle(tree.entries, self.path)

    def _grow_positions(self, expansions: int) -> None:
        """`grow` in a deterministic game: all trajectories first, then the positions that they have reached."""
        tree, public, settings = self.tree, self.tree.public, self.settings
        which = f.AVERAGE if settings.select_average else f.POLICY
        if self.awaited.shape[1] < expansions:
            self.awaited = np.zeros((2, expansions), dtype=np.int32)
        while expansions > 0:
            done = phases.grow_positions(
                *public.tables, *tree.arrays, self.start, expansions, settings.c_puct, which, public.game.u_max,
                public.widest_fan, settings.fill, self.rng, self.pair, self.path, self.found, self.awaited,
            )  # fmt: skip
            tree.name_new(self.awaited, self.found.item(0))
            if done < expansions:
                tree.make_room()
            expansions -= done

    @property
    def by_node(self) -> bool:
        """Whether the sweeps of single.py serve."""
        return self.single and self.tree.public.all_plain

    def _iterate(self, updates: int, second_turn: bool = False) -> SearchGenerator:
        """Ranges down, leaf beliefs out, evaluations in, values up; with the second player's turn after it."""
        tree, public = self.tree, self.tree.public
        if self.gadget is not None:
            self.gadget.enter(tree)
        if len(self.ranges) < tree.size:
            self.asked = np.zeros((2, 2 * tree.size), dtype=np.int32)
            self.ranges = np.zeros((2 * tree.size, self.width))
            self.sums = np.zeros((2, 2 * tree.size))
        if self.mass.shape[1] < public.widest:
            self.mass = np.zeros((2, public.widest))
        kinds = (self.single, self.by_node, self.slots0)
        found = phases.descend(
            *public.tables, public.slots, *tree.arrays, tree.ends, *kinds, self.asked, self.ranges
        )
        answer = self.no_answer
        self.complete = not found and not self.single
        if found:
            if tree.iterations in self.log.iterations and updates:
                k = int(simulate.random(self.rng) * found)
                self.log.picked.append((int(self.asked[1, k]), self.ranges[k].copy()))
            answer = yield Beliefs(public, self.asked[1, :found], self.ranges[:found])
        arrays = (*public.tables, public.slots, *tree.arrays)  # the evaluator may have listed more
        answers = (self.asked, found, *answer, self.settings.prior_temperature)
        scratch = (self.settings.correct, self.mass, self.sums)
        step = self.steps[min(tree.iterations, len(self.steps) - 1)]
        if second_turn:
            phases.both_turns(*arrays, tree.ends, *kinds, *answers, *scratch, step)
        else:
            phases.ascend(*arrays, *kinds, *answers, *scratch, updates, step)

    def _expand(self, n: int, edge: int) -> bool:
        """Add all children of a leaf (k = all), or one: the next best by the prior (k = 1).

        False where it stays a leaf, a chance event too large to list.
        """
        tree = self.tree
        if edge == simulate.ALL and not tree.list_children(n, edge if not self.single else 0):
            tree.nodes[n, f.EVALUATED] = 2  # no trajectory opens it again
            return False
        if self.single and edge == simulate.ALL and tree.nodes[n, f.N_ACTOR] < NATURE:
            edge = simulate.best_prior(*tree.game[1:], tree.nodes, tree.entries, n, 0)
        tree.expand(n, edge)
        if self.single and tree.nodes[n, f.N_ACTOR] < NATURE:
            simulate.first_guess(tree.public.nodes, tree.nodes, tree.slots, tree.entries, n, edge)
        if self.settings.warm_start > 0 and not self.single and tree.nodes[n, f.N_ACTOR] < NATURE:
            public = tree.public
            simulate.warm_start(
                public.nodes, public.scales, public.operators, public.operator_values, *tree.game[1:],
                tree.nodes, tree.child, tree.slots, tree.entries, n, self.settings.warm_start,
            )  # fmt: skip
        return True
