"""Monte Carlo tree search with PUCT, as AlphaZero's (Science 2018): the search SoG is compared with.

Like GT-CFR's, a search is a generator that yields leaf beliefs and is sent their evaluations, so that a driver can
join the batches of many searches. It knows no network and no rules. For games of perfect information.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from sog.arrays import Float64, Int32, Int64
from sog.errors import SettingError
from sog.games.base import NATURE, TERMINAL
from sog.searches.leaves.evaluator import Beliefs, Evaluations, SearchGenerator, checked
from sog.searches.mcts import kernels
from sog.searches.tree import columns as f
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.tables import grown


@dataclass(frozen=True)
class PuctSettings:
    """How MCTS searches, apart from its simulations (AlphaZero, pseudocode, AlphaZeroConfig).

    c_init, c_base: PUCT's exploration is log((N + c_base + 1) / c_base) + c_init.
    first_play_loses: an action not tried yet counts as a loss (AlphaZero's pseudocode) instead of as its node's mean.
    leaves: how many are evaluated at once, kept apart by virtual losses.
    noise: the share of Dirichlet noise in the root's priors.  concentration: of the noise; 0: 10 / legal actions.
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

    nodes: int32[M, FIELDS].  values: float64[M], each node's own evaluation, player 0's, as a share of u_max.
    child: int32[C] and stats: float64[STAT_ROWS, C], a column for each action of each node (see mcts/kernels.py).
    """

    def __init__(self, public: PublicTree, root: int = 0, room: int = 64) -> None:
        """A tree still empty, for a search at the public node `root`; SettingError where nobody acts there."""
        if not (public.game.perfect_information and public.game.num_slots == (1, 1)):
            raise SettingError(f"MCTS plays games of perfect information only, not {public.game.name}")
        if public.nodes[root, f.ACTOR] >= NATURE:
            raise SettingError("MCTS searches only where a player acts")
        self.public, self.state = public, root
        self.nodes: Int32 = np.zeros((room, kernels.FIELDS), dtype=np.int32)
        self.values: Float64 = np.zeros(room)
        self.child: Int32 = np.zeros(8 * room, dtype=np.int32)
        self.stats: Float64 = np.zeros((kernels.STAT_ROWS, 8 * room))
        self.counts: Int64 = np.zeros(2, dtype=np.int64)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(self.counts[kernels.NODES])

    @property
    def arrays(self) -> kernels.Statistics:
        """All of it, as kernels take it."""
        return kernels.Statistics(self.nodes, self.values, self.child, self.stats, self.counts)

    def columns(self, n: int = 0) -> slice:
        """Where the actions of node n lie in `child` and `stats`."""
        first = int(self.nodes[n, kernels.FIRST])
        return slice(first, first + int(self.nodes[n, kernels.COLUMNS]))

    def public_node(self, n: int) -> int:
        """The public node of node n."""
        return int(self.nodes[n, kernels.PUBLIC])

    def actor(self, n: int) -> int:
        """Who acts at node n: 0, 1, NATURE or TERMINAL."""
        return int(self.nodes[n, kernels.ACTOR])

    def children(self, n: int = 0) -> list[int]:
        """The node that each action of node n leads to, -1 where it was not tried."""
        children: list[int] = self.child[self.columns(n)].tolist()
        return children

    def priors(self, n: int = 0) -> Float64:
        """float64[A]: the evaluator's policy at node n."""
        return self.stats[kernels.PRIOR, self.columns(n)].copy()

    def set_priors(self, priors: Float64) -> None:
        """Put other priors, float64[A], at the root."""
        self.stats[kernels.PRIOR, self.columns()] = priors

    def totals(self, n: int = 0) -> Float64:
        """float64[A]: the sum of player 0's values, as shares of u_max, over each action's tries at node n."""
        return self.stats[kernels.TOTAL, self.columns(n)].copy()

    def visits(self, n: int = 0) -> Float64:
        """float64[A]: how often each action of node n was tried."""
        return self.stats[kernels.VISITS, self.columns(n)].copy()

    def value(self, n: int = 0) -> float:
        """Player 0's utility at node n: the mean of its own evaluation and of all below it."""
        at = self.columns(n)
        tried = 1.0 + self.stats[kernels.VISITS, at].sum()
        return float(self.public.game.u_max * (self.values[n] + self.stats[kernels.TOTAL, at].sum()) / tried)

    def line(self, n: int = 0) -> list[int]:
        """The columns of the most visited actions from node n on, as far as they were tried."""
        out: list[int] = []
        while self.nodes[n, kernels.COLUMNS] > 0:
            column = int(self.visits(n).argmax())
            if self.stats[kernels.VISITS, self.nodes[n, kernels.FIRST] + column] <= 0:
                break
            out.append(column)
            n = int(self.child[self.nodes[n, kernels.FIRST] + column])
        return out

    def advance(self, state: int) -> None:
        """Go on from the public node `state`, a descendant of the root, keeping what was found below it."""
        path, n = self.public.path(state), 0
        for s in path[path.index(self.state) + 1 :]:
            below = self.child[self.columns(n)] if n >= 0 and self.size else np.empty(0, dtype=np.int32)
            held = below[below >= 0]
            found = held[self.nodes[held, kernels.PUBLIC] == s]
            n = int(found[0]) if len(found) else -1
        self.state = state
        if n < 0 or not self.size:
            self.counts[:] = 0
            return
        place = np.zeros(self.size, dtype=np.int32)
        kernels.keep(self.arrays, n, place)

    def make_room(self) -> None:
        """Double every array."""
        self.nodes = grown(self.nodes, 2 * len(self.nodes), axis=0)
        self.values = grown(self.values, 2 * len(self.values), axis=0)
        self.child = grown(self.child, 2 * len(self.child), axis=0)
        self.stats = grown(self.stats, len(self.child), axis=1)


_AT_ONCE: Final = 1_000  # simulations between two looks at the clock, where all of them end at terminals


def search(
    tree: PuctTree,
    simulations: int,
    settings: PuctSettings,
    rng: np.random.Generator,
    stopped: Callable[[int], bool] = lambda done: False,
    root: Callable[[int], int] | None = None,
) -> SearchGenerator:
    """`simulations` more simulations from the tree's root; counts and values stay in the tree.

    rng draws the root's noise, which is gone afterwards.  stopped: called after each batch with the number done;
    true ends the search.  root: called with how many are done, the root's column that the next simulation begins with;
    None for PUCT's choice. The generator may also be closed at any yield: leaves it has requested are then forgotten.
    """
    run = _Run(tree, settings)
    if tree.size == 0:
        run.plant((yield run.root()))
    clean = tree.stats[kernels.PRIOR, tree.columns()].copy()
    _add_noise(tree, settings, rng)
    done = 0
    try:
        while done < simulations:
            done += run.step(min(simulations - done, _AT_ONCE)) if root is None else run.step_from(root, done)
            beliefs = run.leaves()
            if beliefs is not None:
                run.answer = checked((yield beliefs), beliefs)
            run.answered = run.found_leaves
            if stopped(done):
                break
        run.step(0)
    except BaseException:  # the generator is closed at a yield, or `stopped` raises once answers are there
        if run.answered < run.found_leaves:
            run.give_up()
        else:
            run.step(0)
        raise
    finally:
        tree.stats[kernels.PRIOR, tree.columns()] = clean


def _add_noise(tree: PuctTree, settings: PuctSettings, rng: np.random.Generator) -> None:
    """Mix Dirichlet noise into the root's priors (AlphaZero, pseudocode, add_exploration_noise)."""
    if settings.noise == 0.0:
        return
    prior = tree.stats[kernels.PRIOR, tree.columns()]
    concentration = settings.concentration or 10.0 / len(prior)
    prior *= 1.0 - settings.noise
    prior += settings.noise * rng.dirichlet(np.full(len(prior), concentration))


class _Run:
    """One search's working state; the steps of `search`.

    found_leaves: how many leaves the last step found.  answered: how many of them have their answers.
    """

    def __init__(self, tree: PuctTree, settings: PuctSettings) -> None:
        self.tree, self.settings = tree, settings
        self.found = kernels.Found(
            np.full((kernels.FOUND_ROWS, settings.leaves), -1, dtype=np.int32), np.zeros(2, dtype=np.int64)
        )
        unit, leaves = float(tree.public.game.u_max), int(settings.leaves)
        c_init, c_base = float(settings.c_init), float(settings.c_base)
        self.rules = kernels.Rules(c_init, c_base, bool(settings.first_play_loses), unit, leaves, -1)
        self.ranges: Float64 = np.ones((settings.leaves, 2))
        self.nothing = self.answer = Evaluations(np.zeros((0, 2)), np.zeros((0, 1, 1)))
        self.found_leaves = self.answered = 0

    def root(self) -> Beliefs:
        """What to evaluate first, where the tree is empty."""
        return Beliefs(self.tree.public, np.array([self.tree.state], dtype=np.int32), self.ranges[:1])

    def plant(self, answer: Evaluations) -> None:
        """Put the root into the tree."""
        self.found.leaves[kernels.STATE, 0] = self.tree.state
        self.answer, self.answered = checked(answer, self.root()), 1
        self.step(0)

    def step(self, simulations: int) -> int:
        """Take up the answers, and simulate until enough leaves are found or all is done; how many were done."""
        tree, public = self.tree, self.tree.public
        while not kernels.step(
            public.arrays, tree.arrays, self.rules, self.found, self.answered, self.answer, simulations
        ):
            tree.make_room()
        self.answered, self.answer = 0, self.nothing
        ended: int
        self.found_leaves, ended = self.found.done.tolist()
        return self.found_leaves + ended

    def step_from(self, root: Callable[[int], int], done: int) -> int:
        """`step` of one simulation that begins with the column of the root that `root` names once all is taken up."""
        self.step(0)
        self.rules = self.rules._replace(root=root(done))
        return self.step(1)

    def leaves(self) -> Beliefs | None:
        """The leaves found where the game goes on, listed now where they were not; None where there are none."""
        public, nodes = self.tree.public, []
        for b in range(self.found_leaves):
            above, column, s = self.found.leaves[kernels.ABOVE : kernels.STATE + 1, b].tolist()
            if s < 0:
                s = child_of(public, above, column)
                self.found.leaves[kernels.STATE, b] = s
            actor = public.nodes.item(s, f.ACTOR)
            if actor == NATURE:
                _list_chances(public, s)
            if actor != TERMINAL:
                nodes.append(s)
        if not nodes:
            return None
        return Beliefs(public, np.array(nodes, dtype=np.int32), self.ranges[: len(nodes)])

    def give_up(self) -> None:
        """Forget the leaves that were requested and not evaluated."""
        kernels.give_up(self.tree.arrays, self.found, self.found_leaves - self.answered)


def child_of(public: PublicTree, node: int, column: int) -> int:
    """The public node that an action's column leads to, or a chance's at NATURE's nodes."""
    if public.game.deterministic:
        return public.child(node, column)
    public.list_fan(node)
    if public.nodes[node, f.ACTOR] == NATURE:
        return public.child(node, column)
    return public.child(node, public.edge_of(node, column))


def _list_chances(public: PublicTree, node: int) -> None:
    """Have all children of a NATURE node listed; where its fan is too large, it stays without any."""
    if public.list_fan(node):
        for edge in range(int(public.nodes[node, f.EDGES])):
            public.child(node, edge)
