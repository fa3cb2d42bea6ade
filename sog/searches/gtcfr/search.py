"""Growing-tree CFR (SoG, "Growing-tree counterfactual regret minimization"; PoG, Algorithm 1).

A search is a generator: it yields the beliefs at its tree's leaves and is sent their evaluations, so that
a driver can join the batches of many searches. It uses neither the network nor the rules directly.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final

import numpy as np

from sog.arrays import Array
from sog.games.base import NATURE
from sog.searches.cfr.iterate import NO_CHOICE
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import steps_to
from sog.searches.gtcfr import phases, trajectories
from sog.searches.gtcfr.log import SearchLog
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.gtcfr.trajectories import ALL, Selection, Walks
from sog.searches.kernels.dispatch import same_types
from sog.searches.leaves import kernels
from sog.searches.leaves.evaluator import Beliefs, Evaluations, SearchGenerator, Wanted, checked, in_shape, infinite
from sog.searches.leaves.kernels import Leaves, Request, Weighing
from sog.searches.resolving.gadget import Gadget
from sog.searches.tree.arrays import Room
from sog.searches.tree.records import AwaitedNodes, Entry, Evaluated
from sog.searches.tree.room import priors_apart
from sog.searches.tree.tables import grown

__all__ = ["SearchLog", "search"]


# Entries that a trajectory's path may need, in the mean over a phase: each gets a visit and a virtual loss.
LONGEST_PATH: Final = 128

_policy_of_opened, _take_up = same_types(phases.policy_of_opened), same_types(phases.take_up)


# PoG, Algorithm 1 (SoG says the same in words), and where each line of it is:
#
#   GT-CFR(L, beta, s, c):                       search; L is `tree`, beta lies at its node `start`
#     for i = 0 .. ceil(s / c) - 1:              Budget.rounds
#       CFR(L, ceil(1 / c))                      Budget.updates times _GtcfrRun.update; phases.look and phases.take_up
#       L = GROW(L)                              _GtcfrRun.grow; phases.grow, phases.grow_positions
#     return v, p, nn_queries                    tree.values, tree.policy, SearchLog.picked
#
#   GROW(L, beta):                               phases.grow
#     for i = 0 .. ceil(c) - 1:                  Budget.expansions
#       path = SamplePathDownTheTree(L, beta)    trajectories.trajectory
#       AddTopKChildren(L, path, k)              growth.expand: k = 1 in perfect information, elsewhere all children
#       UpdateVisitCountsUp(L, path)             trajectories.settle
#
# Unlike Algorithm 1: there are ceil(s / ceil(c)) rounds, which for c < 1 follows the paper's text ("a new node every 10
# regret update phases"), and no expansion follows the last round, since no update would look at what it adds.
def search(
    tree: Lookahead,
    start: int,
    budget: Budget,
    settings: SearchSettings,
    rng: Array,
    gadget: Gadget | None = None,
    log: SearchLog | None = None,
    stopped: Callable[[], bool] | None = None,
) -> SearchGenerator:
    """Run GT-CFR on `tree`, growing it below node `start`; policies and sums stay in the tree.

    rng: uint64[1], the search's own generator.  gadget: the opponent's choice at the root, when re-solving.
    log: records what is kept of the search beside the tree.  stopped: called after each round; true ends the search.
    A tree that an earlier search left, at this node or at one above it, is continued. With `fill`, expansions that the
    last phases could not do, since all evaluated leaves were open, get rounds of their own.
    """
    # The initial tree L^0: `start` with its prior and its children (PoG, Section 3.2).
    run = _GtcfrRun(tree, start, settings, rng, gadget, log or SearchLog())
    rounds, updates, expansions = budget.rounds, budget.updates, budget.expansions
    run.ahead = (rounds - 1) * expansions
    yield from run.first_look()
    for k in range(rounds):
        for _ in range(updates):
            yield from run.update()
            # Without leaves there is nothing to evaluate or to grow: all iterations that are left are one call.
            if run.complete:
                run.finish(rounds * updates)
                run.note_growth()
                return
        if stopped is not None:
            run.take_up()
            if stopped():
                run.note_growth()
                return
        if k < rounds - 1:
            run.grow(expansions)
    # Expansions that had nothing to open: an update evaluates the newest leaves, which can then be opened.
    while run.owes and not run.complete:
        run.grow(0)
        yield from run.update()
    # The last answers are still to be taken up: the policy that is played includes them.
    run.take_up()
    run.note_growth()


class _GtcfrRun:
    """One search's working state; the steps of `search`.

    What an iteration does with its answers happens in the kernel's next call, with the growth that follows and the next
    look at the leaves; `take_up` does it at once.
    """

    search: phases.Search

    def __init__(
        self,
        tree: Lookahead,
        start: int,
        settings: SearchSettings,
        rng: Array,
        gadget: Gadget | None,
        log: SearchLog,
    ) -> None:
        game = tree.public.game
        self.tree, self.start, self.settings, self.rng, self.log = tree, start, settings, rng, log
        self.gadget, self.choice = gadget, NO_CHOICE if gadget is None else gadget.choice
        self.single, self.width = game.perfect_information, sum(game.num_slots)
        self.apart = priors_apart(game)
        self.pairs = np.zeros((0, 0, 0), dtype=np.int32) if game.legal_pairs is None else game.legal_pairs.index
        self.selection = Selection(
            start=int(start),
            c_puct=float(settings.c_puct),
            # SoG's pi_CFR is the average policy, PoG's the current one. Sums serve as averages: draws need no
            # normalising.
            row=int(Entry.POLICY_SUM if settings.select_average else Entry.POLICY),
            unit=float(game.u_max),
            rng=rng,
            fixed=settings.fixed_belief,
            beliefs=np.ones((2, sum(tree.public.num_infostates(tree.public_node(start))))),
            path=np.zeros(32 * LONGEST_PATH, dtype=np.int64),  # longer where a phase expands more: see `grow`
            walk=Walks.zeros(1),
        )
        # Weights of averages and discounts depend on t; a tree that is searched again continues to count.
        self.begun = tree.iterations  # by earlier searches of this tree
        self.state = phases.States.zeros(1)
        self.steps = steps_to(64, settings.rule)
        self.awaited = AwaitedNodes.zeros(0)
        self.touched = np.zeros(0, dtype=np.int32)
        self.answers = Evaluations(np.zeros((0, self.width)), np.zeros((0, 1, 1)))
        self.complete = False  # whether the last look met no leaf, so that nothing is left to evaluate or to grow
        self.keeps = bool(log.iterations or log.uniform)
        self.ahead = 0  # expansions after this phase
        self._make_room()

    def first_look(self) -> SearchGenerator:
        """Evaluate the leaves once without an update, so that `start` has its prior, and open it."""
        self.state.updates[0] = 0
        requested = self._advance()
        if requested < 0:
            requested = yield from self._go_on(requested)
        if requested:
            request = self.request
            # The first look counts for q_search as well: PoG picks of all queries of a search.
            if self.log.uniform:
                below = self.leaves.nodes[request.places[:requested]] != self.start  # the searched state is not a leaf
                self.log.note(-1, request.nodes[:requested][below], request.ranges[:requested][below], self.rng)
            beliefs = self._beliefs(requested)
            self.answers = in_shape((yield beliefs), beliefs)
        self.take_up()
        if self.tree.is_leaf(self.start):
            yield from self._open(self.start, ALL)
        # k = 1 opened only the child of the highest prior.
        if self.single and self.settings.whole_root:
            for edge, child in enumerate(self.tree.children(self.start)):
                if child < 0:
                    self._expand(self.start, edge)
        if self._outgrown():
            self._make_room()
        self.state.updates[0] = 1
        if not self.single and self.settings.fixed_belief:
            self._fix_belief()

    def _fix_belief(self) -> None:
        """Keep both ranges at the start as the search begins: the opponent's by the last search, not by the gadget."""
        tree, gadget = self.tree, self.gadget
        if gadget is not None:
            # The opponent's range at the root is otherwise the gadget's, alpha * follow + (1 - alpha) * previous, which
            # each update moves.
            before = tree.root_ranges
            ranges = (gadget.previous, before[1]) if gadget.opponent == 0 else (before[0], gadget.previous)
            tree.set_root_ranges(ranges)
            # `start` lies below the root: its ranges are the root's through the policies on the branch.
            if self.start > 0:
                tree.forward()
        self.selection.beliefs[0] = np.concatenate(tree.ranges(self.start))
        if gadget is not None:
            tree.set_root_ranges(before)

    def update(self) -> SearchGenerator:
        """One iteration of the regret update phase."""
        t = self.tree.iterations
        # Rows of weights are made ahead, twice as many each time: the kernel reads row t.
        if t >= len(self.steps):
            self.steps = steps_to(2 << t.bit_length(), self.settings.rule)
            self.search = self.search._replace(steps=self.steps)
        # The order is the kernel's: the answers to the last look, growth, and this look, whose answers the next call
        # takes up.
        requested = self._advance()
        if requested < 0:
            requested = yield from self._go_on(requested)
        # For k = 1 a tree without leaves may still lack children.
        self.complete = not self.single and not self.state.leaves[0]
        if self.keeps:  # iterations without beliefs count, too
            request = self.request
            self.log.note(t - self.begun, request.nodes[:requested], request.ranges[:requested], self.rng)
        if requested:
            beliefs = self._beliefs(requested)
            self.answers = in_shape((yield beliefs), beliefs)  # the kernel checks that they are finite
        self.state.iteration[0] = t
        self.tree.iterations = t + 1

    def finish(self, iterations: int) -> None:
        """The iterations that are left, up to `iterations` in this search, on a tree without leaves."""
        self.take_up()
        left = self.begun + iterations - self.tree.iterations
        self.tree.iterate(self.settings.rule, left, self.choice, track=True)

    @property
    def owes(self) -> bool:
        """Whether an expansion phase opened all there was and left expansions over: they get rounds of their own."""
        return bool(self.state.owed[0] > 0)

    def grow(self, expansions: int) -> None:
        """The expansion phase, which the next look begins with: trajectories that add to the tree where they end."""
        state = self.state
        due = expansions + state.owed.item()
        state.expansions[0], state.owed[0] = due, 0
        self.log.expansions += expansions
        self.ahead = max(self.ahead - expansions, 0)
        # Without room in its path, a trajectory would get no visits.
        if len(self.selection.path) < LONGEST_PATH * due:
            self.selection = self.selection._replace(path=grown(self.selection.path, LONGEST_PATH * due))
            self.search = self.search._replace(selection=self.selection)
        # Two paths a trajectory at most: its own, and that to the gap which is filled instead. The last phase's are
        # kept: the answers that the next look takes up are for their nodes.
        if self.search.by_path and len(self.touched) < 2 * LONGEST_PATH * due:
            self.touched = grown(self.touched, 2 * LONGEST_PATH * due)
            self.search = self.search._replace(touched=self.touched)
        if len(self.awaited) < due and self.tree.public.game.deterministic:
            self.awaited = AwaitedNodes.zeros(max(due, 2 * len(self.awaited)))
            self.search = self.search._replace(awaited=self.awaited)

    def note_growth(self) -> None:
        """Write into the log how far the search grew."""
        self.log.lost = int(self.state.lost[0] + self.state.owed[0])
        # Expansions that opened nothing do not count as lost where the whole subgame is in the tree.
        if self.log.lost:
            self.log.whole = self.complete or not self._has_gap()

    def _has_gap(self) -> bool:
        """Whether anything is left to open below the start."""
        if self.single:
            walk = self.selection.walk
            trajectories.oldest_gap(self.tree.public.arrays, self.tree.arrays, self.start, walk)
            return bool(walk[0].node >= 0)
        return bool(trajectories.oldest_leaf(self.tree.arrays, self.start) >= 0)

    def take_up(self) -> None:
        """Bring the last answers into the tree, if that has not been done."""
        if self.state.answered[0]:
            tree = self.tree
            if not _take_up(tree.public.arrays, tree.arrays, self.search, self.answers):
                raise infinite(self.answers)

    def _advance(self) -> int:
        """Take up the last answers, grow, send ranges down: how many leaves are to be evaluated, or see `_go_on`."""
        # Room first: kernels cannot allocate. What other searches list in the public tree counts.
        if not self.tree.public.lists_alone and self._outgrown():
            self._make_room()
        public = self.tree.public
        requested: int = phases.advance(*public.tables, self.tree.arrays, self.search, self.answers)
        return requested

    def _go_on(self, code: int) -> Generator[Beliefs, Evaluations, int]:
        """Do what the kernel cannot do, until `_advance` is done."""
        tree, state, walk = self.tree, self.state, self.selection.walk
        while code < 0:
            if code == phases.REFUSED:
                raise infinite(self.answers)
            # Deterministic games only: the rules are asked for all new positions at once.
            if code == phases.IDENTIFY:
                tree.identify_newest(self.awaited, int(state.awaited[0]), self.ahead)
                state.awaited[0] = 0
                # What one trajectory adds at most: see phases.grow_positions.
                if state.expansions[0] > 0:
                    tree.reserve(Room(1, tree.public.widest_fan, 2, 0), self.ahead + int(state.expansions[0]))
            # What the last trajectory chose.
            elif not (yield from self._open(walk.node.item(0), walk.edge.item(0))):
                state.expansions[0] += 1  # a chance event too large to list: the trajectory walks again
            if self._outgrown():
                self._make_room()
            code = self._advance()
        return code

    def _beliefs(self, count: int) -> Beliefs:
        """The first `count` beliefs of the request, whose arrays the kernel writes anew each time."""
        if count not in self.requests:
            request, wanted = self.request, Wanted.VALUES if self.apart else Wanted.BOTH
            self.requests[count] = Beliefs(self.tree.public, request.nodes[:count], request.ranges[:count], wanted)
        return self.requests[count]

    def _open(self, n: int, edge: int) -> Generator[Beliefs, Evaluations, bool]:
        """`_expand`, with the prior of a leaf that has none yet."""
        prior = None
        if self.apart and self.tree.actor(n) < NATURE:
            prior = yield from self._evaluate_prior(n)
        return self._expand(n, edge, prior)

    def _evaluate_prior(self, n: int) -> Generator[Beliefs, Evaluations, Evaluations]:
        """The policy at leaf n, at the belief of its values."""
        public, ranges = self.tree.public, np.zeros((1, self.width))
        kernels.recall(public.arrays, self.tree.arrays, n, public.game.num_slots[0], ranges[0])
        nodes = np.array([self.tree.public_node(n)], dtype=np.int32)
        beliefs = Beliefs(public, nodes, ranges, Wanted.POLICIES)
        return checked((yield beliefs), beliefs)

    def _outgrown(self) -> bool:
        """Whether the tree has outgrown the arrays that a look needs, or no longer is what they were made for."""
        public = self.tree.public
        return (
            len(self.leaves.nodes) < len(self.tree.nodes)
            or self.leaves.mass.shape[1] < public.widest
            or self.search.by_node != (self.single and public.all_plain)
            or self.search.widest_fan != public.widest_fan
        )

    def _make_room(self) -> None:
        """Arrays for the leaves of a tree of this size."""
        self.take_up()  # the last request's answers are read by its places
        tree, settings, game = self.tree, self.settings, self.tree.public.game
        # One request may hold every node of the tree as a leaf.
        room = len(tree.nodes)
        self.leaves = Leaves(
            nodes=np.zeros(room, dtype=np.int32),
            tables=np.zeros((0, 0)),
            mass=np.zeros((2, max(16, tree.public.widest))),
            slots0=game.num_slots[0],
            aligned=False,
            kind=int(Weighing.PLAIN),
            correct=settings.correct,
        )
        places, nodes = np.zeros((2, room), dtype=np.int32)
        self.request = Request(places, nodes, np.zeros((room, self.width)))
        self.requests: dict[int, Beliefs] = {}
        self.search = phases.Search(
            choice=self.choice,
            selection=self.selection,
            leaves=self.leaves,
            request=self.request,
            steps=self.steps,
            alternating=settings.rule.alternating,
            single=self.single,
            by_node=self.single and tree.public.all_plain,
            by_path=settings.paths and self.gadget is None and game.deterministic and tree.public.all_plain,
            deterministic=game.deterministic,
            temperature=float(settings.prior_temperature),
            warm=float(settings.warm_start),
            fill=settings.fill,
            tolerance=float(settings.tolerance),
            apart=self.apart,
            chance_leaves=settings.chance_leaves,
            pairs=self.pairs,
            widest_fan=tree.public.widest_fan,
            sums=np.zeros((2, room)),
            touched=self.touched,
            awaited=self.awaited,
            state=self.state,
        )

    def _expand(self, n: int, edge: int, prior: Evaluations | None = None) -> bool:
        """Add all children of a leaf (k = all), or one: the next best by the prior (k = 1).

        prior: the leaf's, where it has none yet.
        False where it stays a leaf, a chance event too large to list.
        """
        tree = self.tree
        # For k = 1 the children are listed one by one, and edge 0 only finds out whether the fan can be listed.
        if edge == ALL and not tree.list_children(n, edge if not self.single else 0):
            tree.nodes.evaluated[n] = Evaluated.CLOSED
            return False
        if self.single and edge == ALL and tree.actor(n) < NATURE:
            edge = trajectories.best_prior(tree.public.arrays, tree.arrays, n, 0)
        tree.expand(n, edge, self.ahead)
        # Only now has the leaf entries.
        if prior is not None:
            temperature = float(self.settings.prior_temperature)
            phases.take_prior(tree.public.arrays, tree.arrays, n, self.pairs, prior.logits, temperature)
        _policy_of_opened(tree.public.arrays, tree.arrays, n, edge, self.single, float(self.settings.warm_start))
        return True
