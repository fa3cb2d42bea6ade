"""ReBeL at test time: depth-limited subgames in a chain, beliefs of a random iteration passed down (section 6).

Only public information enters, no hidden infostate. The iteration is the agent's secret.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sog.arrays import Array, Float64
from sog.errors import GameError
from sog.games.base import NATURE
from sog.play.agent import Agent
from sog.searches.depth_limited.batching import Layouts
from sog.searches.depth_limited.settings import SolveSettings
from sog.searches.depth_limited.solve import solve
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Evaluator, SearchGenerator
from sog.searches.tree.public_tree import PublicTree

__all__ = [
    "Profile",
    "ProfileSolve",
    "PublicBelief",
    "RebelAgent",
    "RebelSettings",
    "sample_iterations",
    "start_position",
]


@dataclass(frozen=True)
class RebelSettings:
    """How to play.  safe: by policies and beliefs of a random iteration; False: by the averages, which is unsafe."""

    solve: SolveSettings = field(default_factory=SolveSettings)
    safe: bool = True


@dataclass(frozen=True, eq=False)
class Profile:
    """What is played in one subgame.

    policies: float64[A, I] by public node.  beliefs: ranges by slot, float64[S0 + S1], at the public nodes where it
    ends and the game continues.  held: there, whether each player's own policy may have led there from the root.
    """

    policies: dict[int, Float64]
    beliefs: dict[int, Float64]
    held: dict[int, tuple[bool, bool]]


@dataclass(frozen=True, eq=False)
class PublicBelief:
    """A public belief, the root of a subgame to be played: a public node and ranges by slot, float64[S0 + S1]."""

    node: int
    ranges: Float64


def start_position(public: PublicTree) -> PublicBelief:
    """The beginning of the game."""
    return PublicBelief(0, public.ranges_by_slot(0, public.game.root_ranges()))


def sample_iterations(settings: SolveSettings, count: int, rng: np.random.Generator) -> Array:
    """int64[count]: iterations drawn by their weights in the average policy."""
    # In proportion to the weights, playing a random iteration is playing the average in expectation (ReBeL, Section 6).
    return rng.choice(settings.iterations, size=count, p=settings.weights) + 1


class ProfileSolve:
    """Subgames side by side, each with the profiles to be played in it: drive `steps()`, then read `profiles`.

    profiles: [K] one for each of a subgame's iterations; a single one, of the average policies, where play is unsafe.
    """

    def __init__(
        self,
        public: PublicTree,
        positions: list[PublicBelief],
        iterations: list[Array],
        settings: RebelSettings,
        layouts: Layouts | None = None,
    ) -> None:
        """iterations: [K] which iterations of each subgame are played; not read where play is unsafe.

        layouts: see Subgames.
        """
        solving = settings.solve
        roots = [(position.node, position.ranges) for position in positions]
        self.games = Subgames(public, roots, solving.depth, solving.to_chance, layouts)
        self.settings, self.iterations = settings, iterations
        self.profiles: list[list[Profile]] = [[] for _ in positions]
        self._nodes: list[list[int]] = [[] for _ in positions]
        # Nodes by subgame: `owner` says whose each is.
        for n, k in enumerate(self.games.owner):
            self._nodes[k].append(n)
        self._wanted: dict[int, list[int]] = {}
        for k, chosen in enumerate(iterations if settings.safe else ()):
            for t in chosen:
                self._wanted.setdefault(int(t), []).append(k)
        self._iteration_profiles: dict[tuple[int, int], Profile] = {}

    def steps(self) -> SearchGenerator:
        """The solve, as a generator of leaf beliefs."""
        yield from solve(self.games, self.settings.solve, self._visit, self._wanted)
        if self.settings.safe:
            for k, chosen in enumerate(self.iterations):
                self.profiles[k] = [self._iteration_profiles[k, int(t)] for t in chosen]
        else:
            tree = self.games.tree
            tree.play_average()
            self.profiles = [[self._profile(k, tree.policy, mean=False)] for k in range(len(self.games))]

    def _visit(self, t: int) -> None:
        for k in dict.fromkeys(self._wanted.get(t, ())):
            mean = self.settings.solve.solver.average
            self._iteration_profiles[k, t] = self._profile(k, self.games.tree.current_policy, mean)

    def _profile(self, k: int, policy: Callable[[int], Float64], mean: bool) -> Profile:
        """Subgame k by this policy of each of its nodes.  mean: beliefs are those of mean ranges."""
        tree, games = self.games.tree, self.games
        policies, beliefs, held = {}, {}, {}
        for n in self._nodes[k]:
            s = tree.public_node(n)
            # Where it ends and the game continues: the belief that the next subgame begins with.
            if tree.is_leaf(n):
                beliefs[s] = games.reaches(n, mean)
                ranges = tree.range_sums(n) if mean else tree.ranges(n)
                held[s] = bool(ranges[0].any()), bool(ranges[1].any())
            elif tree.is_open(n) and tree.actor(n) < NATURE:
                policies[s] = policy(n).copy()
        return Profile(policies, beliefs, held)


class RebelAgent(Agent):
    """Plays the profiles of a chain of subgames; `new_game` forgets the chain.

    The iteration of a subgame is drawn by (seed, player, how many games were begun, the subgame's root), so that
    whatever else the agent is used for, one game is one playthrough.
    """

    def __init__(
        self, public: PublicTree, player: int, settings: RebelSettings, evaluator: Evaluator, seed: int = 0
    ) -> None:
        super().__init__(public, player, seed)
        self.settings, self.evaluator, self.games = settings, evaluator, 0
        self.profile: Profile | None = None

    def new_game(self) -> None:
        super().new_game()
        self.profile, self.games = None, self.games + 1

    def policy(self, node: int) -> Float64:
        """float64[A, I]: what this subgame's profile plays at a public node; new subgames are solved on the way."""
        run(self.steps(node), self.evaluator)
        return self._profile.policies[node].copy()

    def steps(self, node: int) -> SearchGenerator:
        """The solves of the subgames on the way to a node, as a generator of leaf beliefs; GameError on another way."""
        if self.profile is None:
            yield from self._solve(start_position(self.public))
        # Down the line of play, one subgame after another; each begins where the last one ended.
        for s in self.public.path(node):
            if s in self._profile.beliefs and s not in self._profile.policies:
                yield from self._solve(PublicBelief(s, self._profile.beliefs[s]))
        if node not in self._profile.policies:
            state_name = self.game.state_name(self.state(node))
            raise GameError(f"the last subgame is on another line of play than {state_name}; call new_game first")

    @property
    def _profile(self) -> Profile:
        assert self.profile is not None
        return self.profile

    def _solve(self, position: PublicBelief) -> SearchGenerator:
        rng = np.random.default_rng((self.seed, self.player, self.games, position.node))
        chosen = sample_iterations(self.settings.solve, 1, rng)
        playing = ProfileSolve(self.public, [position], [chosen], self.settings)
        yield from playing.steps()
        self.profile = playing.profiles[0][0]
