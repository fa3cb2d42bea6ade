"""The agent of a checkpoint or a game, for both seats, with a policy at any public state."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

from sog.agents.opening import make_player, open_network
from sog.algorithms.base import Algorithm, MakeAgent
from sog.algorithms.student.algorithm import Student
from sog.algorithms.student.budgets import usual_budget
from sog.algorithms.table import player_of
from sog.arrays import Float64
from sog.errors import GameError, SettingError, check_whole, check_words
from sog.games.base import NATURE, Game
from sog.lru import LruCache
from sog.play.agent import Agent
from sog.play.player import Limits, Thought, think
from sog.searches.gtcfr.settings import Budget
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import whole_tree
from sog.training.opened import Opened, refuse_other

__all__ = ["LoadedAgent", "Recalled", "load_agent"]


class LoadedAgent:
    """Plays both seats of its game with one network. Its policy at a state does not depend on the calls before.

    game: the rules.  trained: whether there was a checkpoint; otherwise the network is a fresh one.
    Where information is hidden it re-solves, and answers with policies at the nodes of `public`, the game's tree of
    public states. On a board (`game.deterministic`) it thinks about the position after a list of moves.
    """

    def __init__(self, opened: Opened, algorithm: Algorithm, budget: Mapping[str, int | float], seed: int) -> None:
        """budget: simulations and per_update, each set where the algorithm has it."""
        self.game, self.trained = opened.game, opened.trained
        self._opened, self._algorithm, self._budget, self._seed = opened, algorithm, budget, seed

    @cached_property
    def public(self) -> PublicTree:
        """The game's whole public tree; TooLarge where there are too many public states."""
        return whole_tree(self.game)

    def __repr__(self) -> str:
        budget = "".join(f", {name}={value}" for name, value in self._budget.items())
        network = "" if self.trained else ", no trained network"
        return f"LoadedAgent({self.game.name!r}, {self._algorithm}{budget}, seed={self._seed}{network})"

    def by_seed(self, count: int) -> Iterator[LoadedAgent]:
        """Agents with the same network and budget, whose seeds are this one's, the next one's, and so on."""
        for seed in range(self._seed, self._seed + count):
            agent = LoadedAgent(self._opened, self._algorithm, self._budget, seed)
            agent.public = self.public
            yield agent

    def seat(self, player: int) -> Agent:
        """A new agent for player 0 or 1, to play games with: `new_game`, `act`, `policy`. SettingError for another."""
        if player not in (0, 1):
            raise SettingError(f"a seat is player 0's or 1's, not {player!r}'s")
        return self.agents(self.public)(player, self._seed)

    def agents(self, public: PublicTree) -> MakeAgent:
        """What makes agents on a public tree: (player, seed) -> agent."""
        return self._within(self._algorithm).agents(public, self._opened)

    @property
    def plays_unlisted(self) -> bool:
        """Whether its agents play, too, where the public tree grows along the hand."""
        return self._algorithm.plays_unlisted

    def refuse_other(self, game: Game) -> None:
        """SettingError where its network does not fit another game's rules."""
        refuse_other(self._opened.network.shape, self.game, game)

    def policy(self, node: int) -> Float64:
        """float64[A, I]: the policy of whoever acts at a public node, by action and infostate.

        GameError where no player acts, or the tree lacks the node.
        """
        check_whole("a public node", node, 0)
        if node >= self.public.size:
            raise GameError(f"{self.game.name} has the public nodes 0 to {self.public.size - 1:,}, not {node:,}")
        actor = self.game.actor(self.public.states[node])
        if actor >= NATURE:
            raise GameError(f"no player is to move in {self.game.state_name(self.public.states[node])}")
        return self._seats[actor].policy(node).copy()

    def policies(self) -> Iterator[tuple[int, Float64]]:
        """The policy at every public node where a player acts."""
        for player in (0, 1):
            yield from self.seat(player).policies()

    def think(self, moves: Sequence[int]) -> Thought:
        """What it thinks of the position after these actions, best move first; of games on a board.

        Raises GameError where a move is illegal, the game is over or information is hidden.
        """
        if self._algorithm.alone:
            raise SettingError(f"a policy network by {self._algorithm.name} plays no boards: it has no search there")
        algorithm = self._algorithm if self._algorithm.plays_boards else Student()
        player = make_player(self._opened, self._within(algorithm), self._seed)
        player.new_game(self.game)
        return think(player, moves, Limits())

    def _within(self, algorithm: Algorithm) -> Algorithm:
        """With the budget, as far as the algorithm has one."""
        return algorithm.varied(**{name: value for name, value in self._budget.items() if name in algorithm.own()})

    @cached_property
    def _seats(self) -> tuple[Recalled, Recalled]:
        return Recalled(self.seat(0)), Recalled(self.seat(1))


def load_agent(
    checkpoint_or_game: str | Path,
    simulations: int | None = None,
    per_update: float | None = None,
    seed: int = 0,
    algorithm: str | None = None,
) -> LoadedAgent:
    """The agent of a checkpoint: a run's folder, or a game, whose shipped network it takes, or else a fresh one.

    simulations, per_update: the search budget (s, c), by default that of `sog play`: (400, 1), on boards (400, 10),
    with exceptions such as hold'em's; SettingError for one that the algorithm lacks.  seed: of the searches' draws.
    algorithm: an algorithm string, such as sog(alpha=0.2); by default the one that trained the network, where it plays
    hidden information, else Student of Games.
    Raises CheckpointError, GameError or SettingError, each with a message of one line.
    Where no network is trained, a UserWarning says so, since every leaf is then worth 0.

        agent = sog.load_agent("leduc_poker", simulations=50)
        agent.policy(0)                    # float64[A, I]: at the first decision, by action and card
        sog.load_agent("connect_four").think([3, 3]).action       # the move after 4 4
    """
    if not isinstance(checkpoint_or_game, str | Path):
        raise SettingError(f"an agent is opened by a folder or a game string, not {type(checkpoint_or_game).__name__}")
    check_whole("seed", seed, 0)
    if algorithm is not None:
        check_words("an algorithm", algorithm)
    Budget(100 if simulations is None else simulations, 1.0 if per_update is None else per_update)  # or refuses it
    text = str(checkpoint_or_game)
    plays = player_of(text, algorithm)
    plays.refuse_training()
    asked = {"simulations": simulations, "per_update": per_update}
    given = {name: value for name, value in asked.items() if value is not None}
    opened = open_network(text, plays.name)
    searches = Student() if opened.game.deterministic and not plays.plays_boards else plays
    for name in (name for name in given if name not in searches.own()):
        raise SettingError(
            f"{searches.name} has no {name} to be chosen; sog algorithms {searches.name} lists what it has"
        )
    if not opened.trained:
        warnings.warn(f"{opened.game.name} has no trained network here: sog.train learns one", stacklevel=2)
    searches.with_options(**given)  # refuses what the algorithm string says otherwise
    usual = asdict(usual_budget(opened.game)) if isinstance(searches, Student) else {}
    chosen = {name: value for name, value in usual.items() if name not in plays.given()}
    return LoadedAgent(opened, plays, chosen | given, seed)


class Recalled:
    """Policies of an agent that only knows how to play games from their start to their end.

    The policy at a node depends on the node alone. Policies are kept; of agents that are in mid-game, the
    `capacity` latest.
    """

    def __init__(self, agent: Agent, capacity: int = 256) -> None:
        """agent: in its state at the start of a game; only forks of it are played."""
        self.agent = agent
        self._policies: dict[int, Float64] = {}
        self._standing: LruCache[int, Agent] = LruCache(capacity)

    def policy(self, node: int) -> Float64:
        """float64[A, I]: what the agent plays at a public node where it acts."""
        if node not in self._policies:
            self._after(node)
        return self._policies[node]

    def _after(self, node: int) -> Agent:
        """The agent in its state after it has acted at `node`."""
        if node in self._standing:
            return self._standing[node]
        public, player = self.agent.public, self.agent.player
        own = [s for s in public.path(node)[:-1] if public.game.actor(public.states[s]) == player]
        agent = (self._after(own[-1]) if own else self.agent).fork()
        self._policies[node] = agent.policy(node)
        self._standing[node] = agent
        return agent
