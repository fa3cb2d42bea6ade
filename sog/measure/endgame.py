"""Exact exploitability in turn spots of hold'em: a turn policy, rivers solved anew, and best responses to the whole.

A turn policy is a policy at each decision of the turn's betting (28 in ReBeL's turn endgame). Every river
below it is then solved by the spot solver from what the turn policy brings there, and the spot solver's best responses
answer the whole, every hand and every river card. What is measured is one fixed policy of each player: exact up to
float32's rounding.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeGuard

from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.base import NATURE, TERMINAL
from sog.games.holdem.betting import TURN
from sog.games.holdem.game import Holdem, HoldemState
from sog.play.agent import Agent, SearchAgent
from sog.play.turn_chain import TurnChain, public_state
from sog.searches.holdem.exact_values import believe, below_turn, fixed_values
from sog.searches.holdem.resolving import SpotBounds, resolve
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.tree.public_tree import PublicTree

__all__ = [
    "RIVERS",
    "SAFE",
    "SEARCHED",
    "UNSAFE",
    "EndgameMeasure",
    "EndgamePolicy",
    "TurnPolicy",
    "is_turn_spot",
    "played_by",
    "searched_turn",
    "solved_turn",
    "turn_tree",
]

SAFE: Final = "safe"  # the opponent's values bound each re-solved river: the gadget, as in play
UNSAFE: Final = "unsafe"  # from both players' ranges as they are
SEARCHED: Final = "search"  # by the agent's own searches
RIVERS: Final = (SAFE, UNSAFE, SEARCHED)

# float64[A, 1326] at each public state where a player decides.
Policies = Mapping[HoldemState, Float64]


@dataclass(frozen=True)
class TurnPolicy:
    """What both players play on the turn.

    policies: at every decision of the turn.  bounds: what each player's last search says of the states where the river
    card comes, in the order of `Program.cuts`; None where there are no searches to continue.
    """

    policies: Policies
    bounds: tuple[SpotBounds, SpotBounds] | None = None


@dataclass(frozen=True)
class EndgameMeasure:
    """Chips a hand.

    value: of player 0 under the measured policies.  best: what each player's best response earns; the game's own value
    lies between -best[1] and best[0].  pot: at the root.  seconds: of solving rivers and of the best responses.
    """

    value: float
    best: tuple[float, float]
    pot: int
    seconds: tuple[float, float]

    @property
    def exploitability(self) -> float:
        """(best response of 0 + best response of 1) / 2."""
        return (self.best[0] + self.best[1]) / 2

    @property
    def of_pot(self) -> float:
        return self.exploitability / self.pot


def is_turn_spot(game: object) -> TypeGuard[Holdem]:
    """Whether what remains of a game is hold'em's turn and river."""
    return isinstance(game, Holdem) and game.street == TURN


def turn_tree(game: Holdem) -> PublicTree:
    """The public states of the turn alone; rivers are listed by those who search there."""
    public, node = PublicTree(game), 0
    while node < public.size:
        if public.actor(node) not in (NATURE, TERMINAL):
            public.list_fan(node)
            for edge in range(public.num_edges(node)):
                public.child(node, edge)
        node += 1
    return public


def searched_turn(game: Holdem, make: Callable[[PublicTree, int], SearchAgent]) -> TurnPolicy:
    """What search agents play on the turn, and where their searches leave each player at its end.

    make: the agent of a seat for a tree of public states.
    """
    ends = HoldemSolver(game, states=[game.root()]).program.cut_states()
    chains = [TurnChain(make(turn_tree(game), player), ends) for player in (0, 1)]
    for chain in chains:
        chain.run()
    return TurnPolicy({**chains[0].policies, **chains[1].policies}, (chains[0].bounds, chains[1].bounds))


def solved_turn(solver: HoldemSolver) -> TurnPolicy:
    """The turn of a solve of the whole game, bounded by what its average policies are worth where the turn ends."""
    public = turn_tree(solver.game)
    states = [public_state(public, node) for node in public.decisions()]
    solver.evaluate()
    ranges, below = solver.cut_ranges(), below_turn(solver)
    believe(below, list(zip(*ranges, strict=True)))
    values = fixed_values(below)
    zero, one = (SpotBounds(ranges[p], ranges[1 - p], values[:, 1 - p]) for p in (0, 1))
    return TurnPolicy({state: solver.policy(state) for state in states}, (zero, one))


def played_by(agents: Iterable[Agent]) -> Policies:
    """What agents play wherever they act in their trees of public states, in listed ones the whole game."""
    return {public_state(agent.public, node): policy for agent in agents for node, policy in agent.policies()}


class EndgamePolicy:
    """The whole policy of both players, to be filled and measured.

    solver: the game with every river card by itself; its averages are the policies.
    """

    def __init__(self, game: Holdem, threads: int = 1) -> None:
        """GameError as of `make_program`."""
        self.game, self.threads = game, threads
        self.solver = HoldemSolver(game, threads, states=[game.root()])
        self.river_seconds = 0.0

    def play(self, policies: Policies) -> None:
        """Take what is played at these decisions, on the turn or on the river."""
        for state, policy in policies.items():
            self.solver.set_policy(state, policy)

    def ranges_at_turn_ends(self) -> Float64:
        """float64[2, C, 1326]: both players' ranges where the river card comes, by what is played on the turn."""
        self.solver.evaluate()
        return self.solver.cut_ranges()

    def solve_rivers(self, turn: TurnPolicy, method: str, iterations: int, alpha: float = 0.5) -> None:
        """Take the turn's policies, and for every river those of a solve of `iterations` from the turn's end.

        method: SAFE, a solve for each player from its own search, the gadget at the state where the river card comes,
        all river cards at once; or UNSAFE, one solve for both from the ranges that the turn policies give.
        """
        started = time.perf_counter()
        self.play(turn.policies)
        states = self.solver.program.cut_states()
        below = HoldemSolver(self.game, self.threads, states=states)
        if method == UNSAFE:
            ranges = self.ranges_at_turn_ends()
            believe(below, list(zip(*ranges, strict=True)))
            below.iterate(iterations)
            for player in (0, 1):
                self._take(below, player)
        elif turn.bounds is None:
            raise SettingError(f"rivers are solved {SAFE} from an agent's searches of the turn, and there are none")
        else:
            for player in (0, 1):
                resolve(below, player, turn.bounds[player], iterations, alpha)
                self._take(below, player)
        self.river_seconds = time.perf_counter() - started

    def _take(self, below: HoldemSolver, player: int) -> None:
        """Copy a player's river policies from a solve of the rivers alone, whose vectors lie in the same order."""
        width = below.program.width
        mine = below.program.decided_by(player)
        whole = self.solver.averages[-below.program.entries :].reshape(-1, width)
        whole[mine] = below.averages.reshape(-1, width)[mine]

    def measure(self) -> EndgameMeasure:
        """Value and best responses."""
        started = time.perf_counter()
        solver = self.solver
        solver.evaluate()
        value = solver.chips(0)
        best = solver.best_responses()
        seconds = (self.river_seconds, time.perf_counter() - started)
        return EndgameMeasure(value, best, self.game.spot.pot, seconds)
