"""Depth-limited solving: many subgames at once, their leaves valued by an evaluator (ReBeL, sections 5.1 and 8).

A solve is a generator like GT-CFR's search: it yields the beliefs at its leaves and is sent their evaluations. All
its subgames lie side by side in one lookahead and go through the same iterations together, so that a sweep is one
call for all of them and so is the network. It uses neither the network nor the rules directly, and draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError
from sog.searches.cfr import fictitious, sweeps
from sog.searches.cfr.fictitious import FictitiousPlay
from sog.searches.cfr.rules import Rule
from sog.searches.depth_limited import turns, warm_start
from sog.searches.depth_limited.batching import aligned
from sog.searches.depth_limited.plan import TurnPlan, Visited, evaluated, plan_turns
from sog.searches.depth_limited.settings import SolveSettings
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.depth_limited.turns import Answered, Games, Mix, Schedule, Stretch, Turns
from sog.searches.leaves import kernels
from sog.searches.leaves.evaluator import Beliefs, Evaluations, SearchGenerator, refuse_infinite
from sog.searches.leaves.kernels import Leaves, Look, Request, Weighing
from sog.searches.leaves.memory import LeafMemory
from sog.searches.tree.players import Players
from sog.searches.tree.records import Entry, Infostate

# Called with the number of each iteration, 1, 2, ..., when the tree holds that iteration's policies and ranges.
Visit = Callable[[int], None]


def solve(
    games: Subgames,
    settings: SolveSettings,
    visit: Visit | None = None,
    visited: Visited = None,
) -> SearchGenerator:
    """Solve fresh subgames; afterwards the tree has the average policies and `games.root_values` the root's values.

    visit: called with the number of each iteration when the tree holds the policies that it adds to the averages and
    their ranges at leaves; in fictitious play policy_sum and range_sums then hold the averages with this iteration, and
    ranges at leaves are what the last turn answered.
    visited: the iterations after which the tree is read, None for all; those between may be passed over.
    """
    visit, visited = visit or (lambda t: None), () if visit is None else visited
    run = _SolveRun(games, settings)
    if isinstance(settings.solver.rule, FictitiousPlay):
        yield from run.play_fictitiously(settings.solver.rule, visit)
    else:
        yield from run.minimise_regret(settings.solver.rule, visit, visited)
    games.tree.update_average_policy()
    if isinstance(settings.solver.rule, FictitiousPlay):
        yield from run.value_average()


class _SolveRun:
    """The working state of one solve.

    leaves: of the subgames, and how they are weighed.  request: the last.  next_request: the next, which is written
    while the answers to the last are read; both share their ranges.
    """

    def __init__(self, games: Subgames, settings: SolveSettings) -> None:
        game, count = games.public.game, len(games.leaves)
        self.games, self.settings, self.tree = games, settings, games.tree
        width, kind = sum(game.num_slots), settings.solver.leaf
        # PAIRS multiplies matrices of W and utilities entry by entry.
        if kind == Weighing.PAIRS and not games.public.all_dense:
            raise SettingError(f"{settings.solver.name} needs a game whose pairs of infostates can be listed")
        self.leaves = Leaves(
            nodes=games.leaves,
            tables=np.zeros((count, game.num_slots[0] * game.num_slots[1]) if kind == Weighing.PAIRS else (0, 0)),
            mass=np.zeros((2, games.public.widest)),
            slots0=game.num_slots[0],
            aligned=aligned(games.public, games.tree.nodes.public[games.leaves]),
            kind=int(kind),
            correct=settings.correct,
        )
        ranges = np.zeros((count, width))
        self.request = Request(np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int32), ranges)
        self.next_request = Request(np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int32), ranges)
        self.nothing = np.zeros((0, self.leaves.tables.shape[1] if kind == Weighing.PAIRS else width))
        self.memory = LeafMemory(count, width)
        # DIFFERENCES need every leaf's answer in every turn, and recycled answers may be read when the opponent comes
        # there.
        self.prune = settings.prune and kind != Weighing.DIFFERENCES and settings.recycle == 0
        # ReBeL: CFR-D evaluates at the current policies' ranges; CFR-AVE and fictitious play at the average ones'.
        self.row = int(Infostate.REACH_SUM if settings.solver.average else Infostate.REACH)
        self.keep_both = settings.correct or settings.recycle > 0  # answers are used in later turns, too

    def ask(self, num_beliefs: int) -> Generator[Beliefs, Evaluations, Float64]:
        """Have the beliefs in the last request evaluated, those that are new: the values of all."""
        if not num_beliefs:
            return self.nothing
        nodes, ranges = self.request.nodes[:num_beliefs], self.request.ranges[:num_beliefs]
        if not self.settings.remember:
            answer = yield Beliefs(self.games.public, nodes, ranges)
            return np.ascontiguousarray(self._checked(answer.values), dtype=np.float64)  # read from where they start
        places = self.request.places[:num_beliefs]
        new = self.memory.changed(places, ranges)
        if len(new):
            answer = yield Beliefs(self.games.public, nodes[new], ranges[new])
            self.memory.answer(places, new, self._checked(answer.values))
        return self.memory.latest(places)

    def _checked(self, values: Float64) -> Float64:
        """Finite values of an evaluator that gives as many a leaf as the solver reads; SettingError otherwise."""
        if values.shape[1] != self.nothing.shape[1]:
            raise SettingError(
                f"{self.settings.solver.name} reads {self.nothing.shape[1]} values a leaf, not {values.shape[1]}"
            )
        refuse_infinite("values", values)
        return values

    def minimise_regret(self, rule: Rule, visit: Visit, visited: Visited) -> SearchGenerator:
        """The iterations of a rule of the CFR family: from one evaluation of the leaves to the next."""
        settings, games, steps = self.settings, self.games, rule.steps(1, self.settings.iterations)
        # t_warm iterations count as played.
        if settings.warm:
            yield from self.begin_warm(steps[: settings.warm])
        plan = plan_turns(settings, visited)
        schedule = Schedule(steps, settings.simultaneous, plan.origin, settings.solver.average)
        now, answered, advance = plan.origin - 1, self.answers_for(0, self.nothing, Players.BOTH), turns.advance.ready()
        public, tree, lie = games.public.arrays, games.tree.arrays, Games(games.blocks, self.leaves)
        # One call of the kernel from one evaluation to the next; several turns where values are recycled or nothing is
        # read.
        for turn in plan.stops:
            stretch = Stretch(now, turn, self.look(plan, now, turn))
            num_beliefs = advance(public, tree, lie, Turns(schedule, stretch, answered))
            if (t := plan.begins(turn)) is not None:
                visit(t)
            # Two requests in turn: the kernel reads the answered one while it writes the next.
            self.request, self.next_request, now = self.next_request, self.request, turn
            values = yield from self.ask(num_beliefs)
            answered = self.answers_for(num_beliefs, values, plan.users_at(now))
        # v(beta_r) = sum over t of weight(t) * v^t / sum of weights (ReBeL, Algorithm 1).
        self.average_root_values(float(steps[:, 2].sum()))

    def answers_for(self, num_beliefs: int, values: Float64, users: Players) -> Answered:
        """The last request's answers, and whose values are kept."""
        return Answered(self.request, num_beliefs, values, int(Players.BOTH if self.keep_both else users))

    def look(self, plan: TurnPlan, now: int, turn: int) -> Look:
        """What is collected before turn `turn`, when the last request was made before turn `now`."""
        # Ranges of the player who has not moved since the last request are in it still, unless the last request had
        # other leaves.
        fresh = self.prune or now < plan.origin or now < turn - 1 or not plan.users[now]
        other = Players.FIRST if turn % 2 else Players.SECOND
        changed = Players.BOTH if fresh or self.settings.simultaneous else other
        return Look(self.row, int(plan.users_at(turn)), int(changed), self.prune, False, self.next_request)

    def average_root_values(self, weight: float) -> None:
        """From sums over iterations to means at the roots; `weight`: the sum of the iterations' weights."""
        for k, root in enumerate(self.games.roots):
            for sums in self.tree.cfv_sums(int(root)):
                sums[:] /= weight
            if self.settings.correct:
                self.games.balance(k)

    def begin_warm(self, steps: Float64) -> SearchGenerator:
        """As if the evaluator's policies had been played in the iterations of these steps, float64[W, 4]."""
        tree, public, weight = self.tree, self.games.public, float(steps[:, 2].sum())
        yield from warm_start.play_priors(self.games)
        # One evaluation of the priors' game gives the values of all W iterations: times their weights.
        yield from self.value_average()
        for root in self.games.roots:
            for sums in tree.cfv_sums(int(root)):
                sums[:] *= weight
        # The average ranges at leaves, as if W iterations had added the same.
        if self.settings.solver.average:
            tree.infostates[Infostate.REACH_SUM] = weight * tree.infostates[Infostate.REACH]
        # Appendix J: "an exact best response to the policy profile is computed", whose regrets are scaled to W
        # iterations.
        sweeps.evaluate(public.arrays, tree.arrays, Entry.AVERAGE_POLICY, Players.BOTH)
        gained, lost = warm_start.played_before(steps)
        warm_start.begin(public.arrays, tree.arrays, warm_start.Past(gained, lost, weight, self.settings.hold))

    def play_fictitiously(self, rule: FictitiousPlay, visit: Visit) -> SearchGenerator:
        """The iterations of fictitious play; the first one's policies are uniform."""
        settings, tree, games = self.settings, self.tree, self.games
        public, leaves = games.public.arrays, self.leaves._replace(correct=False)  # responses are to values as given
        bottom = np.concatenate([tree.ends[: tree.counts.ends], games.leaves])
        tree.forward()
        # As if the priors had been played in the first iterations, with their weights.
        if settings.warm:
            yield from warm_start.play_priors(games)
            tree.entries[Entry.POLICY] = tree.entries[Entry.AVERAGE_POLICY]
            past = np.arange(1.0, settings.warm + 1.0) if rule.linear else np.ones(settings.warm)
            fictitious.record(tree.arrays, bottom, Players.BOTH, float(past.sum()))
        fresh = evaluated(settings, max(2, settings.warm + 1))
        for t in range(settings.warm + 1, settings.iterations + 1):
            for players in (Players.BOTH,) if settings.simultaneous else (Players.FIRST, Players.SECOND):
                # Iteration 1 has no average to answer: its uniform policies are recorded.
                if t > 1:
                    last = t if players == Players.SECOND else t - 1  # iterations in the average that is answered
                    # The weights 1 .. last, or `last` ones; FLOP mixes the last policy in with 2 / (last + 3), as in
                    # cfr/fictitious.py.
                    total = 0.5 * last * (last + 1) if rule.linear else float(last)
                    look = Look(int(Infostate.REACH_SUM), int(players), int(Players.BOTH), False, False, self.request)
                    mix = Mix(bottom, total, 2.0 / (last + 3.0) if rule.optimistic else 0.0, look)
                    num_beliefs = turns.look_at_average(public, tree.arrays, leaves, int(players), mix, t in fresh)
                    values = yield from self.ask(num_beliefs)
                    answered = Answered(self.request, num_beliefs, values, int(Players.BOTH))
                    turns.respond(public, tree.arrays, leaves, int(players), answered)
                weight = float(t) if rule.linear else 1.0
                fictitious.record(tree.arrays, bottom, players, weight)
            visit(t)

    def value_average(self) -> SearchGenerator:
        """The values of the average policies at the roots, leaves evaluated once more."""
        tree, public = self.tree, self.games.public
        tree.forward(Entry.AVERAGE_POLICY)
        tree.payoffs()
        # Nothing pruned: both players' values are wanted at every leaf.
        everything = Look(int(Infostate.REACH), int(Players.BOTH), int(Players.BOTH), False, False, self.request)
        num_beliefs = kernels.collect(public.arrays, tree.arrays, self.leaves, 0, len(self.games.leaves), 0, everything)
        answered = Answered(self.request, num_beliefs, (yield from self.ask(num_beliefs)), int(Players.BOTH))
        turns.value_average(public.arrays, tree.arrays, self.leaves, answered)
        for root in self.games.roots:
            for sums, cfvs in zip(tree.cfv_sums(int(root)), tree.cfvs(int(root)), strict=True):
                sums[:] = cfvs
