"""Depth-limited solving: many subgames at once, their leaves valued by an evaluator (ReBeL, sections 5.1 and 8).

A solve is a generator like GT-CFR's search: it yields the beliefs at its leaves and is sent their evaluations. All
its subgames lie side by side in one lookahead and go through the same iterations together, so that a sweep is one
call for all of them and so is the network. It knows no network and no rules, and draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sog.arrays import Float64, Int32
from sog.errors import SettingError
from sog.games.base import DENSE
from sog.search.cfr import fictitious
from sog.search.cfr import sweeps as kernels
from sog.search.cfr.fictitious import FLOP, FP, FictitiousPlay
from sog.search.cfr.rules import LINEAR_CFR, Rule
from sog.search.depth_limited import kernels as depth_kernels
from sog.search.depth_limited import leaves as depth_leaves
from sog.search.depth_limited import warm_start
from sog.search.depth_limited.interleaved import Interleaved, worth_interleaving
from sog.search.depth_limited.leaves import DIFFERENCES, PAIRS, PLAIN
from sog.search.depth_limited.planting import FIRST_NODE, Layouts, plant, straight
from sog.search.gtcfr.search import SearchGenerator
from sog.search.leaves.evaluator import Beliefs, Evaluations
from sog.search.leaves.memory import LeafMemory
from sog.search.simd.f64x8 import LANES
from sog.search.tree import columns as f
from sog.search.tree import growth
from sog.search.tree.public_tree import PublicTree
from sog.search.tree.slots import node_mass, ranges_by_slot

# Told the number of each iteration, 1, 2, ..., when the tree holds that iteration's policies and ranges.
Visit = Callable[[int], None]

# The subgames that are looked at in an iteration, for those in which any is; None for all in each.
Told = Mapping[int, Sequence[int]] | None


@dataclass(frozen=True)
class Solver:
    """An iterative algorithm with its way of valuing leaves (ReBeL, appendices D and E).

    rule: how it iterates.  average: leaves are asked about with the ranges of the average policies, not of today's.
    leaf: how answers become counterfactual values: PLAIN, DIFFERENCES or PAIRS (depth_kernels.weigh). A PAIRS solver
    needs an evaluator whose values are player 0's utilities by pair of slots, float64[B, S0 * S1].
    """

    name: str
    rule: Rule | FictitiousPlay = LINEAR_CFR
    average: bool = False
    leaf: int = PLAIN


CFR_D: Final = Solver("cfr-d")
CFR_AVE: Final = Solver("cfr-ave", average=True, leaf=PAIRS)
MODIFIED_CFR_AVE: Final = Solver("modified-cfr-ave", average=True, leaf=DIFFERENCES)
REBEL_FP: Final = Solver("fp", FP, average=True)
REBEL_FLOP: Final = Solver("flop", FLOP, average=True)

_NO_LANES: Final = np.zeros(0, dtype=np.int32)
SOLVERS: Final = (CFR_D, CFR_AVE, MODIFIED_CFR_AVE, REBEL_FP, REBEL_FLOP)


@dataclass(frozen=True)
class SolveSettings:
    """How a depth-limited subgame is solved.

    depth: actions of players from its root to its leaves; 0 for the rest of the game.  to_chance: leaves are, besides,
    where chance is to move (the end of a betting round); a chance event at the root is always opened.
    updates: policy updates of one player, as ReBeL's program counts iterations; both players share them evenly.
    simultaneous: both update on one look at the leaves, which halves the network's work; otherwise in turn.
    shared: in turn, but the second player's turn reweighs what the leaves answered in the first.
    recycle: leaves are asked again once the iteration's number has grown by more than this share; 0 for every time.
    prune: leaves whose values would be multiplied by 0 are not asked about; the result is the same.
    remember: nor are those whose beliefs are as when they were asked last; the result is the same.
    correct: players' values at a leaf (DeepStack) and at the root are made to sum to zero.
    warm: the evaluator's policies stand for the first so many iterations (appendix J); for solvers with PLAIN leaves.
    hold: regrets that keep CFR at those policies, in value units an iteration of the warm start; 0 in the paper.
    """

    solver: Solver = CFR_D
    depth: int = 2
    to_chance: bool = False
    updates: int = 1024
    simultaneous: bool = False
    shared: bool = False
    recycle: float = 0.0
    prune: bool = True
    remember: bool = True
    correct: bool = True
    warm: int = 0
    hold: float = 1.0

    def __post_init__(self) -> None:
        if self.updates < 2 or self.updates % 2:
            raise SettingError(f"updates must be a positive even number, not {self.updates}")
        if self.depth < 0:
            raise SettingError(f"depth must not be negative, but is {self.depth}")
        if self.recycle < 0:
            raise SettingError(f"recycle must not be negative, but is {self.recycle}")
        if not 0 <= self.warm < self.iterations:
            raise SettingError(f"a warm start must be shorter than {self.iterations} iterations, not {self.warm}")
        if self.warm and self.solver.leaf != PLAIN:
            raise SettingError(f"{self.solver.name} cannot be started warm")

    @property
    def iterations(self) -> int:
        """Iterations, each an update of both players."""
        return self.updates // 2

    @property
    def weights(self) -> Float64:
        """float64[T]: the share of each iteration's policies in the averages, those of a warm start left out."""
        rule, t = self.solver.rule, np.arange(1, self.iterations + 1, dtype=np.float64)
        if isinstance(rule, Rule):
            weight = rule.steps(1, self.iterations)[:, 2]
        else:
            weight = t if rule.linear else np.ones_like(t)
        weight[: self.warm] = 0.0
        share: Float64 = weight / weight.sum()
        return share


class Subgames:
    """Depth-limited subgames of one game side by side, and how far each one's numbers are solved.

    tree: all of them.  roots: int32[K], their first nodes.  leaves: int32[L], nodes beyond which nothing is opened.
    owner: int32[M], which subgame a node belongs to.  blocks: int32[K + 1, 3], where each starts (planting.py).
    planted: [K] their layouts.
    """

    def __init__(
        self,
        public: PublicTree,
        roots: Sequence[tuple[int, Float64]],
        depth: int = 2,
        to_chance: bool = False,
        layouts: Layouts | None = None,
    ) -> None:
        """roots: public nodes where the game goes on, with ranges by slot, float64[S0 + S1], each summing to 1.

        layouts: those of this public tree, depth and to_chance, kept from other subgames.
        """
        self.public, self.ranges = public, [ranges for _, ranges in roots]
        layouts = layouts or Layouts(public, depth, to_chance)
        self.planted = [layouts(node) for node, _ in roots]
        self.tree, self.blocks, self.leaves = plant(public, self.planted, self.ranges)
        self.roots: Int32 = self.blocks[:-1, FIRST_NODE].copy()
        self.owner: Int32 = np.repeat(np.arange(len(roots), dtype=np.int32), np.diff(self.blocks[:, FIRST_NODE]))

    def __len__(self) -> int:
        return len(self.roots)

    def public_node(self, n: int) -> int:
        """The public node of a node of the tree."""
        return int(self.tree.nodes[n, f.PUBLIC])

    def reaches(self, n: int, row: int = f.REACH) -> Float64:
        """float64[S0 + S1]: both ranges at node n from a row of reaches, by slot, each summing to 1."""
        tree = self.tree
        pair = tree.slots[row, tree.span(n, 0)], tree.slots[row, tree.span(n, 1)]
        return ranges_by_slot(self.public, self.public_node(n), pair)

    def balance(self, k: int) -> None:
        """Make the players' values at the root of subgame k sum to zero in the mean over pairs.

        Players who update in turn are each told values of a moment when the opponent has just answered them, so that
        both means over iterations lie too low; what they miss together is taken half from each.
        """
        tree, spans = self.tree, [self.tree.span(int(self.roots[k]), p) for p in (0, 1)]
        ranges = tree.slots[f.REACH, spans[0]], tree.slots[f.REACH, spans[1]]
        mass = node_mass(self.public, self.public_node(int(self.roots[k])), *ranges)
        total = float(mass[0] @ ranges[0])
        if total > 0:
            surplus = sum(float(tree.slots[f.CFV_SUM, spans[p]] @ ranges[p]) for p in (0, 1)) / total
            for p in (0, 1):
                tree.slots[f.CFV_SUM, spans[p]] -= 0.5 * surplus * mass[p]

    def root_values(self, k: int) -> tuple[Float64, Float64]:
        """Both players' values at the root of solved subgame k, conditional on the infostate: float64[I0], float64[I1].

        0 for an infostate that no infostate of the opponent's range goes with.
        """
        tree, root = self.tree, int(self.roots[k])
        ranges = tree.slots[f.REACH, tree.span(root, 0)], tree.slots[f.REACH, tree.span(root, 1)]
        mass = node_mass(self.public, self.public_node(root), *ranges)
        cfv = tree.slots[f.CFV_SUM, tree.span(root, 0)], tree.slots[f.CFV_SUM, tree.span(root, 1)]
        zero, one = (np.divide(c, m, out=np.zeros_like(c), where=m > 0) for c, m in zip(cfv, mass, strict=True))
        return zero, one


def solve(
    games: Subgames,
    settings: SolveSettings,
    visit: Visit | None = None,
    told: Told = None,
) -> SearchGenerator:
    """Solve fresh subgames; average policies are then in the FIXED row and root values in `games.root_values`.

    visit: told of each iteration when the POLICY row holds the policies that it adds to the averages and the REACH row
    their ranges (at leaves; of fictitious play, the averages before it are in AVERAGE and REACH_SUM).
    told: the iterations that matter and the subgames whose rows are read in them, where not all are: it costs time.
    """
    visit, told = visit or (lambda t: None), {} if visit is None else told
    run = _Run(games, settings)
    if isinstance(settings.solver.rule, FictitiousPlay):
        yield from run.play_fictitiously(settings.solver.rule, visit)
    else:
        yield from run.minimise_regret(settings.solver.rule, visit, told)
    games.tree.average_policy()
    if isinstance(settings.solver.rule, FictitiousPlay):
        yield from run.value_average()


class _Run:
    """The working state of one solve."""

    def __init__(self, games: Subgames, settings: SolveSettings) -> None:
        tree, game = games.tree, games.public.game
        self.games, self.settings, self.tree = games, settings, tree
        self.slots0, width, count = game.num_slots[0], sum(game.num_slots), len(games.leaves)
        self.asked: Int32 = np.zeros((2, count), dtype=np.int32)
        self.asking = self.asked.copy()  # the next question's, while the answers to the last one are absorbed
        self.ranges: Float64 = np.zeros((count, width))
        self.mass: Float64 = np.zeros((2, games.public.widest))
        paired = settings.solver.leaf == PAIRS
        if paired and (games.public.operators[:, f.OP_KIND] != DENSE).any():
            raise SettingError(f"{settings.solver.name} needs a game whose pairs of infostates can be listed")
        self.pairs: Float64 = np.zeros((count, game.num_slots[0] * game.num_slots[1]) if paired else (0, 0))
        self.straight = straight(games.public, games.tree.nodes[games.leaves, f.PUBLIC])
        self.nothing = np.zeros((0, self.pairs.shape[1] if paired else width))
        self.memory = LeafMemory(count, width)
        self.latest = 0  # the iteration that asked last

    @property
    def rules(self) -> tuple[Any, ...]:
        """The public tree's arrays, as the kernels take them."""
        public = self.games.public
        return public.nodes, public.scales, public.operators, public.operator_values, public.slots

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The lookahead's arrays, as the kernels take them."""
        return self.tree.nodes, self.tree.child, self.tree.slots, self.tree.entries

    @property
    def blocks(self) -> tuple[Any, ...]:
        """Those and the subgames' places in them, as `advance` takes them."""
        return *self.arrays, _NO_LANES, self.games.blocks, self.games.leaves, self.tree.ends

    def interleaved(self) -> Interleaved:
        """The subgames with their numbers so far in bundles, whose leaves' answers are kept and beliefs worked out."""
        bundles = Interleaved(self.tree, self.games.planted)
        bundles.take((f.REACH, f.REACH_SUM, f.CFV_SUM), (f.REGRET, f.AVERAGE, f.POLICY))
        self.mass = np.zeros((3, LANES * (self.games.public.widest + LANES)))
        self.pairs = self.pairs.reshape(-1)
        return bundles

    def asks(self, t: int) -> bool:
        """Whether iteration t asks about the leaves."""
        if self.latest and t != self.latest and t <= (1.0 + self.settings.recycle) * self.latest:
            return False
        self.latest = t
        return True

    def answered(self, found: int) -> Generator[Beliefs, Evaluations, Float64]:
        """Ask about those of the beliefs found that are new, if any, and return the values of all."""
        if not found:
            return self.nothing
        nodes, ranges = self.asked[1, :found], self.ranges[:found]
        if not self.settings.remember:
            answer = yield Beliefs(self.games.public, nodes, ranges)
            return np.ascontiguousarray(answer.values, dtype=np.float64)  # rows are read from where they start
        leaves, memory = self.asked[0, :found], self.memory
        new = memory.changed(leaves, ranges)
        if len(new):
            answer = yield Beliefs(self.games.public, nodes[new], ranges[new])
            memory.answer(leaves, new, answer.values)
        return memory.told(leaves)

    def minimise_regret(self, rule: Rule, visit: Visit, told: Told) -> SearchGenerator:
        """The iterations of a rule of the CFR family: from question to question about the leaves."""
        settings, solver, tree, games = self.settings, self.settings.solver, self.tree, self.games
        together, steps = settings.simultaneous, rule.steps(1, settings.iterations)
        users = self.users()
        again = settings.shared or settings.recycle > 0  # answers are used in later turns, too
        kept, once = 3 if settings.correct or again else 0, solver.leaf == PLAIN and not again
        prune = settings.prune and solver.leaf != DIFFERENCES and settings.recycle == 0
        if settings.warm:
            yield from self.begin_warm(steps[: settings.warm])
        origin = settings.warm if together else 2 * settings.warm
        now, found, values = origin - 1, 0, self.nothing
        bundles = self.interleaved() if worth_interleaving(games.planted) else None
        arrays = *self.rules, *tree.game, *(self.blocks if bundles is None else bundles.arrays)
        advance = depth_kernels.advance if bundles is None else depth_kernels.advance_interleaved
        for turn in self.stops(users, told, origin):
            fresh = prune or now < origin or now < turn - 1 or not users[now]
            found = advance(
                *arrays, steps, together, origin, now, turn, solver.average, solver.leaf, settings.correct,
                kept or users[now], once, users[turn] if turn < len(users) else 0,
                3 if fresh or together else 2 - turn % 2, prune, self.straight, self.slots0, self.asked, found, values,
                self.asking, self.ranges, self.pairs, self.mass,
            )  # fmt: skip
            t = turn + 1 if together else turn // 2 + 1
            if turn < len(users) and (together or turn % 2 == 0):
                if bundles is not None:
                    looked_at = range(len(games)) if told is None else told.get(t, ())
                    bundles.give_back(looked_at, (f.REACH, f.REACH_SUM), (f.POLICY,))
                visit(t)
            self.asked, self.asking, now = self.asking, self.asked, turn
            values = yield from self.answered(found)
        if bundles is not None:
            bundles.give_back(range(len(games)), (f.CFV_SUM,), (f.AVERAGE,))
        for k, root in enumerate(games.roots):
            for p in (0, 1):
                tree.slots[f.CFV_SUM, tree.span(int(root), p)] /= steps[:, 2].sum()
            if settings.correct:
                games.balance(k)

    def begin_warm(self, steps: Float64) -> SearchGenerator:
        """As if the evaluator's policies had been played in the iterations of these steps, float64[W, 4]."""
        tree, weight = self.tree, float(steps[:, 2].sum())
        yield from warm_start.play_priors(self.games)
        yield from self.value_average()
        for root in self.games.roots:
            for p in (0, 1):
                tree.slots[f.CFV_SUM, tree.span(int(root), p)] *= weight
        if self.settings.solver.average:
            tree.slots[f.REACH_SUM] = weight * tree.slots[f.REACH]
        kernels.evaluate(*tree.game, *tree.tree, f.FIXED, 3)
        gained, lost = warm_start.played_before(steps)
        public = self.games.public
        warm_start.begin(
            public.nodes, public.scales, public.operators, public.operator_values, tree.nodes, tree.size, tree.slots,
            tree.entries, gained, lost, weight, self.settings.hold,
        )  # fmt: skip

    def users(self) -> list[int]:
        """For each turn the players who will need what the leaves answer in it; 0: they are not asked."""
        settings, out = self.settings, []
        for t in range(1, settings.iterations + 1):
            fresh = t > settings.warm and self.asks(t)
            for turn in (3,) if settings.simultaneous else (1, 2):
                shared = settings.shared and turn != 3
                out.append((0 if turn == 2 else 3) if fresh and shared else turn if fresh else 0)
        return out

    def stops(self, users: list[int], told: Told, origin: int) -> list[int]:
        """The turns from `origin` on before which leaves are asked or an iteration is told of; the number of turns."""
        each = 1 if self.settings.simultaneous else 2  # turns an iteration
        visited = (n % each == 0 and (told is None or n // each + 1 in told) for n in range(len(users)))
        return [n for n, seen in enumerate(visited) if n >= origin and (seen or users[n])] + [len(users)]

    def play_fictitiously(self, rule: FictitiousPlay, visit: Visit) -> SearchGenerator:
        """The iterations of fictitious play; the first one's policies are uniform."""
        settings, tree, games = self.settings, self.tree, self.games
        ends = tree.ends[: tree.counts[growth.ENDS]]
        bottom = np.concatenate([ends, games.leaves])
        tree.forward()
        if settings.warm:
            yield from warm_start.play_priors(games)
            tree.entries[f.POLICY] = tree.entries[f.FIXED]
            past = np.arange(1.0, settings.warm + 1.0) if rule.linear else np.ones(settings.warm)
            fictitious.record(tree.nodes, tree.size, bottom, tree.slots, tree.entries, 3, float(past.sum()))
        for t in range(settings.warm + 1, settings.iterations + 1):
            fresh = t > 1 and self.asks(t)
            for turn in (3,) if settings.simultaneous else (1, 2):
                if t > 1:
                    last = t if turn == 2 else t - 1  # iterations in the average that is answered
                    total = 0.5 * last * (last + 1) if rule.linear else float(last)
                    found = depth_kernels.look_at_average(
                        *self.rules, tree.nodes, tree.slots, tree.counts, tree.ends, bottom, games.leaves, turn,
                        total, 2.0 / (last + 3.0) if rule.optimistic else 0.0,
                        fresh and not (settings.shared and turn == 2), self.straight, self.slots0, self.asked,
                        self.ranges,
                    )  # fmt: skip
                    values = yield from self.answered(found)
                    depth_kernels.respond(
                        *self.rules, *tree.game, *self.arrays, tree.counts, games.leaves, turn, self.straight,
                        self.slots0, self.asked, found, values, self.pairs, self.mass,
                    )  # fmt: skip
                weight = float(t) if rule.linear else 1.0
                fictitious.record(tree.nodes, tree.size, bottom, tree.slots, tree.entries, turn, weight)
            visit(t)

    def value_average(self) -> SearchGenerator:
        """The values of the average policies at the roots, leaves evaluated once more."""
        tree, games = self.tree, self.games
        tree.forward(f.FIXED)
        tree.payoffs()
        found = depth_leaves.collect(
            games.public.nodes, games.public.slots, tree.nodes, tree.slots, games.leaves, 0, len(games.leaves), f.REACH,
            3, 3, False, self.straight, self.slots0, 0, self.asked, self.ranges,
        )  # fmt: skip
        values = yield from self.answered(found)
        depth_kernels.value_average(
            *self.rules, *tree.game, *self.arrays, tree.counts, games.leaves, self.settings.correct, self.straight,
            self.slots0, self.asked, found, values, self.pairs, self.mass,
        )  # fmt: skip
        for root in games.roots:
            for p in (0, 1):
                span = tree.span(int(root), p)
                tree.slots[f.CFV_SUM, span] = tree.slots[f.CFV, span]
