"""Agents for games with hidden information: one seat's policy at public states, and the agent that searches.

An agent is given public nodes and its own infostate, never the opponent's.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Self

import numpy as np

from sog.arrays import Bool, Float64
from sog.errors import GameError
from sog.games.base import Game, State
from sog.play.resolver import ResolveSettings, Resolving, Solved
from sog.searches.leaves.drive import drive, run
from sog.searches.leaves.evaluator import Evaluator, SearchGenerator, zero_evaluator
from sog.searches.tree.public_tree import PublicTree

__all__ = ["Agent", "SearchAgent", "own_followers"]


class Agent(ABC):
    """Plays `player` in one game after another. A new agent is one class with `policy`; the rest has defaults.

    public: the game's tree of public states; nodes are its numbers.  drawn_from: float64[A, I], the policy that `act`
    last drew from, None before that and for agents that have none.  evaluator: answers what `steps` asks.

    Example, an agent that plays each legal action with the same probability:

        class Uniform(sog.Agent):
            def policy(self, node):
                legal = self.legal(node)
                return legal / legal.sum(axis=0)
    """

    def __init__(self, public: PublicTree, player: int, seed: int = 0) -> None:
        """seed: decides what the agent draws besides its actions; agents with the same seed play alike."""
        self.public, self.player, self.seed = public, player, seed
        self.drawn_from: Float64 | None = None
        self.evaluator: Evaluator = zero_evaluator

    @abstractmethod
    def policy(self, node: int) -> Float64:
        """float64[A, I]: the probability of each action (rows) with each of its infostates (columns) at a public node.

        The node is one where this player acts. In a game the nodes follow one another, so that an agent may keep what
        it found; it replaces what it keeps and changes nothing in place, or overrides `fork`.
        """

    def steps(self, node: int) -> SearchGenerator:
        """What `policy` needs evaluated at a node, as a generator of leaf beliefs, so that several games share a call.

        After these steps `policy` answers at once; without them it does the same work alone. By default there are none.
        """
        yield from ()

    def act(self, node: int, infostate: int, rng: np.random.Generator) -> int:
        """The column of the action that it plays with this infostate."""
        self.drawn_from = self.policy(node)
        row = self.drawn_from[:, infostate]
        return int(rng.choice(len(row), p=row / row.sum()))

    def new_game(self) -> None:
        """Forget the last game."""
        self.drawn_from = None

    def belief(self, infostate: int) -> Float64 | None:
        """float64[I]: the opponent's infostates at the last node, as the agent with this one believes; or None."""
        return None

    def values(self) -> tuple[Float64, Float64] | None:
        """float64[I0], float64[I1]: both players' values by infostate at the last node, in utilities; or None."""
        return None

    def fork(self) -> Self:
        """An agent in this one's position, to follow one line of play while this one waits."""
        return copy.copy(self)

    def policies(self) -> Iterator[tuple[int, Float64]]:
        """Its policy at every public node of a listed game where it acts, each after its own earlier ones."""
        followers = own_followers(self.public, self.player)
        # Each line of play has a copy of the agent of its own, so that a search continues from the player's own last
        # one.
        waiting: list[tuple[int, Agent]] = [(s, self) for s in followers[-1]]
        while waiting:
            node, before = waiting.pop()
            agent = before.fork()
            yield node, agent.policy(node)
            waiting.extend((s, agent) for s in followers.get(node, ()))

    # --- what a policy may read ---

    @property
    def game(self) -> Game:
        """The rules."""
        return self.public.game

    def state(self, node: int) -> State:
        """The public state of a node, as the game's methods take it."""
        return self.public.states[node]

    def legal(self, node: int) -> Bool:
        """bool[A, I]: which actions are legal with each infostate of the player who acts at a node."""
        self.public.list_fan(node)
        legal: Bool = self.public.legal(node) > 0
        return legal


class SearchAgent(Agent):
    """Re-solves with its own chain of searches and picks its own row of the policy; `new_game` forgets the chain.

    With ResolveSettings.every_decision the chain has a search at each decision of the opponent that was passed, too.
    """

    def __init__(
        self, public: PublicTree, player: int, settings: ResolveSettings, evaluator: Evaluator, seed: int = 0
    ) -> None:
        super().__init__(public, player, seed)
        self.settings, self.evaluator = settings, evaluator
        self.solved: Solved | None = None

    def new_game(self) -> None:
        super().new_game()
        self.solved = None

    def policy(self, node: int) -> Float64:
        """float64[A, I]: search at a public node where this player acts; the chain continues from there.

        GameError for a node that the last one did not lead to, before `new_game`.
        """
        run(self.steps(node), self.evaluator)
        assert self.solved is not None
        return self.solved.played(self.settings.purify)

    def steps(self, node: int) -> SearchGenerator:
        """The searches of a decision, as a generator of leaf beliefs; errors of `policy`."""
        if self.solved is not None and self.solved.node not in self.public.path(node):
            state_name = self.game.state_name(self.state(node))
            raise GameError(f"the last search was on another line of play than {state_name}; call new_game first")
        if self.solved is not None and self.solved.node == node:
            return
        # The chain's own searches of the opponent's decisions come first, in the order of play.
        for searched in [*self._passed(node), node]:
            resolving = Resolving(self.public, self.player, searched, self.solved, self.settings, self.seed)
            yield from resolving.steps()
            self.solved = resolving.solved()

    def _passed(self, node: int) -> list[int]:
        """The opponent's decisions on the way to `node` that are to be searched first."""
        if not self.settings.every_decision:
            return []
        path = self.public.path(node)[:-1]
        begin = 0 if self.solved is None else path.index(self.solved.node) + 1
        return [s for s in path[begin:] if self.public.actor(s) == 1 - self.player]

    def policies(self, width: int = 64) -> Iterator[tuple[int, Float64]]:
        """As for every agent, with `width` searches at once; the deepest state first, so that few trees are kept."""
        players = (0, 1) if self.settings.every_decision else (self.player,)
        followers = own_followers(self.public, *players)
        waiting: list[tuple[int, Solved | None]] = [(s, None) for s in followers[-1]]

        def searches() -> Iterator[Resolving]:
            while waiting:
                # The latest first: depth first, so that few trees wait.
                node, previous = waiting.pop()
                yield Resolving(self.public, self.player, node, previous, self.settings, self.seed)

        while waiting:
            for resolving in drive(searches(), self.evaluator, width):
                solved = resolving.solved()
                waiting.extend((s, solved) for s in followers.get(solved.node, ()))
                if self.public.actor(solved.node) == self.player:
                    yield solved.node, solved.played(self.settings.purify)

    def values(self) -> tuple[Float64, Float64] | None:
        """Of the last search, conditional on the infostate."""
        return None if self.solved is None else self.solved.root_values()

    def belief(self, infostate: int) -> Float64:
        """float64[I]: the opponent's infostates at the last searched node, as the agent with this infostate believes.

        The opponent's mean range in the search, times what chance says of the pair.
        """
        assert self.solved is not None
        sums, other = self.solved.tree.range_sums(self.solved.start), 1 - self.player
        own = np.zeros(len(sums[self.player]))
        own[infostate] = 1.0
        # W against the one infostate that the agent holds.
        pair = (own, sums[1]) if self.player == 0 else (sums[0], own)
        weight: Float64 = sums[other] * self.public.masses(self.solved.node, *pair)[other]
        belief: Float64 = weight / max(weight.sum(), 1e-300)
        return belief


def own_followers(public: PublicTree, *players: int) -> dict[int, list[int]]:
    """For each state where one of the players acts (-1: the start), the states where one of them acts next."""
    followers: dict[int, list[int]] = {-1: []}
    latest = {-1: -1}
    parents, actors = (column[: public.size].tolist() for column in (public.parent, public.nodes.actor))
    for s, (parent, actor) in enumerate(zip(parents, actors, strict=True)):
        # Parents are listed before their children: the parent's latest is known.
        above = latest[parent]
        if actor in players:
            followers.setdefault(above, []).append(s)
            above = s
        latest[s] = above
    return followers
