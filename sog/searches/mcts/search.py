"""Monte Carlo tree search with PUCT, as AlphaZero's (Science 2018): the search SoG is compared with.

Like GT-CFR's, a search is a generator that yields leaf beliefs and is sent their evaluations, so that a driver can
join the batches of many searches. It uses neither the network nor the rules directly.
It is for games of perfect information.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from sog.arrays import Float64, Int32
from sog.errors import SettingError
from sog.games.base import NATURE, TERMINAL
from sog.searches.leaves.evaluator import Beliefs, Evaluations, SearchGenerator, checked, in_shape, infinite
from sog.searches.mcts import kernels
from sog.searches.mcts.kernels import Stat
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.tables import grown


@dataclass(frozen=True)
class PuctSettings:
    """How MCTS searches, apart from its simulations (AlphaZero, pseudocode, AlphaZeroConfig).

    c_init, c_base: PUCT's exploration is log((N + c_base + 1) / c_base) + c_init.
    first_play_loses: an action not tried yet counts as a loss (AlphaZero's pseudocode) instead of as its node's mean.
    leaves: how many leaves are evaluated at once, kept apart by virtual losses.
    noise: the share of Dirichlet noise in the root's priors.
    concentration: that of the Dirichlet noise; 0: 10 / legal actions.
    """

    c_init: float = 1.25
    c_base: float = 19_652.0
    first_play_loses: bool = False
    leaves: int = 1
    noise: float = 0.0
    concentration: float = 0.0

    def __post_init__(self) -> None:
        if self.leaves < 1:
            raise SettingError(f"a search evaluates at least one leaf at once, not {self.leaves}")
        if not (0.0 <= self.noise <= 1.0 and self.concentration >= 0.0):
            raise SettingError(f"root noise {self.noise} with concentration {self.concentration} is out of range")
        if not (self.c_init >= 0.0 and self.c_base > 0.0):
            raise SettingError(f"PUCT needs c_init of at least 0 and c_base above 0, not {self.c_init}, {self.c_base}")


class PuctTree:
    """The nodes that MCTS has visited below one public state, with their statistics; node 0 is the root.

    nodes: a row per node.  values: float64[M], each node's own evaluation, player 0's, as a share of u_max.
    child: int32[C] and stats: float64[len(Stat), C], a column for each action of each node (see mcts/kernels.py).
    """

    def __init__(self, public: PublicTree, root: int = 0, room: int = 64) -> None:
        """A tree still empty, for a search at the public node `root`; SettingError where nobody acts there."""
        if not (public.game.perfect_information and public.game.num_slots == (1, 1)):
            raise SettingError(f"MCTS plays games of perfect information only, not {public.game.name}")
        # Visits at the root are a policy, which chance and ends do not have.
        if public.actor(root) >= NATURE:
            raise SettingError("MCTS searches only where a player acts")
        self.public, self.state = public, root
        self.nodes = kernels.PuctNodes.zeros(room)
        self.values: Float64 = np.zeros(room)
        self.child: Int32 = np.zeros(8 * room, dtype=np.int32)
        self.stats: Float64 = np.zeros((len(Stat), 8 * room))
        self.counts = kernels.PuctCounts.zeros(1)
        self._gather()

    def _gather(self) -> None:
        """Put the arrays together for kernels."""
        self.arrays = kernels.Statistics(self.nodes, self.values, self.child, self.stats, self.counts)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(self.counts.nodes[0])

    def columns(self, n: int = 0) -> slice:
        """Where the actions of node n lie in `child` and `stats`."""
        first = int(self.nodes.first.item(n))
        return slice(first, first + int(self.nodes.columns.item(n)))

    def public_node(self, n: int) -> int:
        """The public node of node n."""
        return int(self.nodes.public.item(n))

    def actor(self, n: int) -> int:
        """Who acts at node n: 0, 1, NATURE or TERMINAL."""
        return int(self.nodes.actor.item(n))

    def children(self, n: int = 0) -> list[int]:
        """The node that each action of node n leads to, -1 where it was not tried."""
        children: list[int] = self.child[self.columns(n)].tolist()
        return children

    def priors(self, n: int = 0) -> Float64:
        """float64[A]: the evaluator's policy at node n."""
        return self.stats[Stat.PRIOR, self.columns(n)].copy()

    def set_priors(self, priors: Float64) -> None:
        """Put other priors, float64[A], at the root."""
        self.stats[Stat.PRIOR, self.columns()] = priors

    def totals(self, n: int = 0) -> Float64:
        """float64[A]: the sum of player 0's values, as shares of u_max, over each action's tries at node n."""
        return self.stats[Stat.TOTAL, self.columns(n)].copy()

    def visits(self, n: int = 0) -> Float64:
        """float64[A]: how often each action of node n was tried."""
        return self.stats[Stat.VISITS, self.columns(n)].copy()

    def value(self, n: int = 0) -> float:
        """Player 0's utility at node n: the mean of its own evaluation and of all below it."""
        at = self.columns(n)
        # The node's own evaluation counts as one try, as in PUCT's N.
        tried = 1.0 + self.stats[Stat.VISITS, at].sum()
        return float(self.public.game.u_max * (self.values[n] + self.stats[Stat.TOTAL, at].sum()) / tried)

    def line(self, n: int = 0) -> list[int]:
        """The columns of the most visited actions from node n on, as far as they were tried."""
        out: list[int] = []
        while self.nodes.columns[n] > 0:
            column = int(self.visits(n).argmax())
            # Without a visit there is no child to continue from.
            if self.stats[Stat.VISITS, self.nodes.first[n] + column] <= 0:
                break
            out.append(column)
            n = int(self.child[self.nodes.first[n] + column])
        return out

    def advance(self, state: int) -> None:
        """Make the public node `state`, a descendant of the root, the root, and keep the tree below it."""
        path, n = self.public.path(state), 0
        # Down the branch that was played; -1 once a move on it was never tried.
        for s in path[path.index(self.state) + 1 :]:
            below = self.child[self.columns(n)] if n >= 0 and self.size else np.empty(0, dtype=np.int32)
            held = below[below >= 0]
            matching = held[self.nodes.public[held] == s]
            n = int(matching[0]) if len(matching) else -1
        self.state = state
        if n < 0 or not self.size:
            self.counts = kernels.PuctCounts.zeros(1)
            self._gather()
            return
        place = np.zeros(self.size, dtype=np.int32)
        kernels.keep(self.arrays, n, place)

    def make_room(self) -> None:
        """Double every array."""
        self.nodes = grown(self.nodes, 2 * len(self.nodes), axis=0)
        self.values = grown(self.values, 2 * len(self.values), axis=0)
        self.child = grown(self.child, 2 * len(self.child), axis=0)
        self.stats = grown(self.stats, len(self.child), axis=1)
        self._gather()


_AT_ONCE: Final = 1_000  # simulations between two looks at the clock, where all of them end at terminals


def search(
    tree: PuctTree,
    simulations: int,
    settings: PuctSettings,
    rng: np.random.Generator,
    stopped: Callable[[int], bool] = lambda done: False,
    root: Callable[[int], int] | None = None,
) -> SearchGenerator:
    """Run `simulations` more simulations from the tree's root; counts and values stay in the tree.

    rng draws the root's noise, which is gone afterwards.  stopped: called after each batch with the number done;
    true ends the search.  root: called with how many are done; returns the root's column that the next simulation
    begins with. None: PUCT chooses it. The generator may also be closed at any yield: leaves it has requested are then
    forgotten.
    """
    run = _PuctRun(tree, settings)
    if tree.size == 0:
        run.plant((yield run.root()))
    # Noise is this search's only: a tree that is kept must show the evaluator's priors.
    clean = tree.stats[Stat.PRIOR, tree.columns()].copy()
    _add_noise(tree, settings, rng)
    done = 0
    try:
        while done < simulations:
            done += run.step(min(simulations - done, _AT_ONCE)) if root is None else run.step_from(root, done)
            if run.asked:
                beliefs = run.beliefs()
                run.answer = in_shape((yield beliefs), beliefs)  # the kernel checks that they are finite
            run.answered = run.leaves
            if stopped(done):
                break
        # The last batch's values go up before anyone reads the visits.
        run.step(0)
    except BaseException:  # the generator is closed at a yield, or `stopped` raises once answers are there
        if run.answered < run.leaves:
            run.give_up()
        else:
            run.step(0)
        raise
    finally:
        tree.stats[Stat.PRIOR, tree.columns()] = clean


def _add_noise(tree: PuctTree, settings: PuctSettings, rng: np.random.Generator) -> None:
    """Mix Dirichlet noise into the root's priors (AlphaZero, pseudocode, add_exploration_noise)."""
    if settings.noise == 0.0:
        return
    prior = tree.stats[Stat.PRIOR, tree.columns()]
    # AlphaZero's alpha is about 10 over the number of legal moves (0.03 in Go, 0.3 in chess).
    concentration = settings.concentration or 10.0 / len(prior)
    prior *= 1.0 - settings.noise
    prior += settings.noise * rng.dirichlet(np.full(len(prior), concentration))


class _PuctRun:
    """One search's working state; the steps of `search`.

    leaves: how many leaves the last step found.  answered: how many of them have their answers.
    """

    def __init__(self, tree: PuctTree, settings: PuctSettings) -> None:
        self.tree, self.settings = tree, settings
        unit, leaves = float(tree.public.game.u_max), int(settings.leaves)
        c_init, c_base = float(settings.c_init), float(settings.c_base)
        rules = kernels.Rules(c_init, c_base, bool(settings.first_play_loses), unit, leaves, -1)
        nodes = np.zeros(leaves, dtype=np.int32)
        self.batch = kernels.Batch(rules, kernels.BatchLeaves.zeros(leaves), nodes, kernels.DoneRow.zeros(1))
        self.ranges: Float64 = np.ones((settings.leaves, 2))
        self.nothing = self.answer = Evaluations(np.zeros((0, 2)), np.zeros((0, 1, 1)))
        self.leaves = self.asked = self.answered = 0
        self.requests: dict[int, Beliefs] = {}

    def root(self) -> Beliefs:
        """What to evaluate first, where the tree is empty."""
        return Beliefs(self.tree.public, np.array([self.tree.state], dtype=np.int32), self.ranges[:1])

    def plant(self, answer: Evaluations) -> None:
        """Put the root into the tree."""
        self.batch.leaves[0] = -1, -1, -1, -1, self.tree.state
        self.answer, self.answered = checked(answer, self.root()), 1
        self.step(0)

    def step(self, simulations: int) -> int:
        """Take up the answers, and simulate until enough leaves are found or all is done; how many were done."""
        tree, public = self.tree, self.tree.public
        answered, answer = self.answered, self.answer
        while True:
            tables = *public.tables, tree.arrays
            code = kernels.step(*tables, self.batch, answered, answer, simulations)
            if code == kernels.DONE or code == kernels.TO_LIST:
                break
            if code == kernels.REFUSED:
                self.answered = 0
                raise infinite(answer)
            tree.make_room()
        self.answered, self.answer = 0, self.nothing
        # Known before they are listed, where the rules may raise: then these are the leaves that are given up.
        self.leaves = self.batch.done.leaves.item()
        if code == kernels.TO_LIST:
            self._list_leaves()
        ended: int
        ((_, self.asked, ended),) = self.batch.done.tolist()
        return self.leaves + ended

    def step_from(self, root: Callable[[int], int], done: int) -> int:
        """`step` of one simulation that begins with the column of the root that `root` names once all is taken up."""
        # `root` decides by values: all answers go up first.
        self.step(0)
        self.batch = self.batch._replace(rules=self.batch.rules._replace(root=root(done)))
        return self.step(1)

    def _list_leaves(self) -> None:
        """List the leaves found that are not listed yet, and put those where the game continues in Batch.nodes."""
        public, batch, asked = self.tree.public, self.batch, 0
        states, above, columns = batch.leaves.state, batch.leaves.above, batch.leaves.column
        for b in range(batch.done.leaves.item()):
            s = states.item(b)
            if s < 0:
                s = states[b] = child_of(public, above.item(b), columns.item(b))
            actor = public.nodes.actor.item(s)
            # Its chances are read when it becomes a node: all children must be listed by then.
            if actor == NATURE:
                _list_chances(public, s)
            if actor != TERMINAL:
                batch.nodes[asked] = s
                asked += 1
        batch.done.asked[0] = asked

    def beliefs(self) -> Beliefs:
        """The leaves found where the game continues, in arrays that the next step writes anew."""
        asked = self.asked
        if asked not in self.requests:
            self.requests[asked] = Beliefs(self.tree.public, self.batch.nodes[:asked], self.ranges[:asked])
        return self.requests[asked]

    def give_up(self) -> None:
        """Forget the leaves that were requested and not evaluated."""
        kernels.give_up(self.tree.arrays, self.batch, self.leaves - self.answered)


def child_of(public: PublicTree, node: int, column: int) -> int:
    """The public node that a column leads to: an action's, or a chance outcome's at a NATURE node."""
    # Column and edge are one: the position can be listed without the whole fan.
    if public.game.deterministic:
        return public.child(node, column)
    public.list_fan(node)
    if public.actor(node) == NATURE:
        return public.child(node, column)
    return public.child(node, public.edge_of(node, column))


def _list_chances(public: PublicTree, node: int) -> None:
    """Have all children of a NATURE node listed; where its fan is too large, it stays without any."""
    if public.list_fan(node):
        for edge in range(public.num_edges(node)):
            public.child(node, edge)
