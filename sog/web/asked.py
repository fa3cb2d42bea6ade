"""What the server asks of the processes in which agents live, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.base import Game, State
from sog.games.holdem.game import HoldemState
from sog.games.strings import OPENSPIEL
from sog.pictures.icicle import TreeBlock
from sog.protocols.words import command_words
from sog.searches.gtcfr.settings import Budget

__all__ = [
    "MOST_SIMULATIONS",
    "MOST_WATCHED",
    "PERSON",
    "RANDOM",
    "SOLUTION",
    "SOLUTION_ITERATIONS",
    "Chair",
    "HintReply",
    "MoveAsked",
    "MoveReply",
    "NextCard",
    "PositionAsked",
    "SearchGrowth",
    "SearchSnapshot",
    "SideSeen",
    "SpotAsked",
    "SpotDecision",
    "SpotSeen",
    "Way",
    "check_budget",
    "most_watched",
]

PERSON: Final = "person"
RANDOM: Final = "random"
SOLUTION: Final = "solution"  # in place of an agent: the solution of a small game
SOLUTION_ITERATIONS: Final = 1_000  # of DCFR, which give that solution
_ENGINE: Final = "engine "
MOST_SIMULATIONS: Final = 20_000
MOST_WATCHED: Final = 200_000  # simulations of a board's search that is watched
_MOST_UPDATES: Final = 200_000

# From the root to a public state: edges, or the public state that a chance event led to where its fan is not listed.
Way: TypeAlias = tuple[int | State, ...]


@dataclass(frozen=True)
class Chair:
    """Who plays a seat.

    agent: PERSON, `of_engine`, or what `sog.agents.entrants.open_entrant` reads: a game, a run's folder, random,
    MODULE:CLASS.
    label: for people.  simulations, per_update: the search budget, None for the agent's own.
    """

    agent: str
    label: str
    simulations: int | None = None
    per_update: float | None = None

    @property
    def is_person(self) -> bool:
        return self.agent == PERSON

    @property
    def gives_hints(self) -> bool:
        """Whether it has a policy to show a person."""
        return self.agent not in (PERSON, RANDOM) and not self.is_engine

    @staticmethod
    def of_engine(command: str) -> str:
        """The agent that is another program, by its command line."""
        return f"{_ENGINE}{command}"

    @property
    def is_engine(self) -> bool:
        """Whether the agent is another program."""
        return self.agent.startswith(_ENGINE)

    @property
    def command(self) -> tuple[str, ...]:
        """The engine's program and its arguments. SettingError where they cannot be told apart."""
        return tuple(command_words("--engine", self.agent.removeprefix(_ENGINE)))

    @property
    def is_code(self) -> bool:
        """Whether the agent is MODULE:CLASS."""
        if self.is_engine:
            return False
        return ":" in self.agent.partition("(")[0] and "/" not in self.agent and not self.agent.startswith(OPENSPIEL)


@dataclass(frozen=True)
class MoveAsked:
    """A decision of an agent, with all that its player may know.

    table: the game's id.  seed: of the agent.  way: to the public state.  own: of each of its decisions, this one last,
    the length of the way there and its infostate.
    """

    table: str
    game: str
    chair: Chair
    player: int
    seed: int
    way: Way
    own: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class MoveReply:
    """An agent's action.

    column: its place among the actions.  belief: the opponent's likeliest infostates with their probabilities, as the
    agent with its own infostate believes; nobody but the agent may see it before the end.  words: what it thinks of the
    position, on a board.  note: what a person should know of the agent.
    """

    column: int
    belief: tuple[tuple[int, float], ...] = ()
    words: str = ""
    note: str = ""


@dataclass(frozen=True)
class HintReply:
    """What an agent would do in a person's place.  shares: places among the actions with their probabilities."""

    shares: tuple[tuple[int, float], ...]
    note: str = ""


@dataclass(frozen=True)
class PositionAsked:
    """A search of a public state.  agent: a game, whose shipped network is taken, or a run's folder.

    line: public edges from the root.  seed: of the search.
    """

    game: str
    line: tuple[int, ...]
    agent: str
    simulations: int
    per_update: float
    seed: int


@dataclass(frozen=True, eq=False)
class SearchSnapshot:
    """What a search has found after a number of simulations.

    policy, prior: float64[A, I] of whoever acts.  values: both players', by infostate, utilities.  ranges: both
    players', each summing to 1.  blocks: the most visited nodes.  nodes: how many there are at and
    below the searched one.
    """

    simulations: int
    policy: Float64
    prior: Float64
    values: tuple[Float64, Float64]
    ranges: tuple[Float64, Float64]
    blocks: tuple[TreeBlock, ...]
    nodes: int


@dataclass(frozen=True, eq=False)
class SearchGrowth:
    """How a search grew.  trained: whether its network was.  finished: False where it is to be continued."""

    snapshots: tuple[SearchSnapshot, ...]
    trained: bool
    finished: bool = True


@dataclass(frozen=True, eq=False)
class SideSeen:
    """What one of two searchers does in a position.

    policy: float64[A, I] of whoever acts.  ranges: both players', each summing to 1.  values: both players', by
    infostate, utilities.  exploitability: of its policy in the whole game, in the game's unit; None where the position
    alone was searched.  trained: whether its network was.
    """

    policy: Float64
    ranges: tuple[Float64, Float64]
    values: tuple[Float64, Float64]
    exploitability: float | None
    trained: bool = True


@dataclass(frozen=True)
class SpotAsked:
    """A public state of a solved hold'em spot.

    file: of `sog solve --out`.  written: when, in nanoseconds, so that a new result is read anew.  line: as of `sog
    show --line`.  form: "csv" or "json" for the text of a file in place of what is drawn.
    """

    file: str
    written: int
    line: str
    form: str = ""


@dataclass(frozen=True, eq=False)
class SpotDecision:
    """What a player does at a decision, and what its hands are worth.

    actions: names.  policy: float64[A, 1326].  often: float64[A], of the whole range.  reach, ev, equity:
    float64[1326] as of `sog.searches.holdem.hand_values`, NaN of hands that meet none of the other player's.
    mean_ev, mean_equity: of the whole range, None where no hands of both come here.
    """

    actions: tuple[str, ...]
    policy: Float64
    often: Float64
    reach: Float64
    ev: Float64
    equity: Float64
    mean_ev: float | None
    mean_equity: float | None


@dataclass(frozen=True)
class NextCard:
    """A card that may come.  ev, often: of who acts first after it, and how often it takes each of its actions.

    ev: None where no hands of both players come there.
    """

    card: str
    ev: float | None
    often: tuple[tuple[str, float], ...]


@dataclass(frozen=True, eq=False)
class SpotSeen:
    """A public state of a solved spot.

    decision: None where a card comes or the hand is over.  cards: where one comes and somebody acts after it.
    pot: chips.  iterations, of_pot: how far it is solved, the exploitability as a share of the root's pot.
    locked: how many decisions of the spot have a fixed policy.
    """

    state: HoldemState
    pot: float
    decision: SpotDecision | None
    cards: tuple[NextCard, ...]
    iterations: int
    of_pot: float
    locked: int


def most_watched(game: Game, per_update: float) -> int:
    """How many simulations a search that is watched has at most, with this many for a regret update."""
    budget = Budget(1, per_update)
    most = MOST_WATCHED if game.deterministic else MOST_SIMULATIONS
    return max(1, min(most, _MOST_UPDATES // budget.updates * budget.expansions))


def check_budget(simulations: int, per_update: float, most_simulations: int = MOST_SIMULATIONS) -> None:
    """SettingError for numbers that are not a search budget, and for a budget that would take minutes."""
    budget = Budget(simulations, per_update)
    if simulations > most_simulations or budget.rounds * budget.updates > _MOST_UPDATES:
        most = f"{most_simulations:,} simulations and {_MOST_UPDATES:,} regret updates"
        raise SettingError(f"a search of this page has at most {most}, not those of {budget}")
