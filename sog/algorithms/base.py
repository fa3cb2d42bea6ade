"""What an entry in the table of learning algorithms is made of; it imports no algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, TypeAlias

from sog.errors import SettingError
from sog.progress import OpenBar
from sog.training.settings import DEFAULT

if TYPE_CHECKING:
    from sog.games.base import Game
    from sog.games.histories.base import HistoryGame
    from sog.nets.cvpn import CVPN
    from sog.play.agent import Agent
    from sog.play.player import Player
    from sog.searches.leaves.evaluator import Evaluator
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.curve import Point
    from sog.training.opened import Opened
    from sog.training.settings import RunSettings, Variant

__all__ = [
    "SOG",
    "Choices",
    "Learner",
    "MakeAgent",
    "Measured",
    "Measuring",
    "Play",
    "PlayBoard",
    "Rules",
    "Settings",
    "Training",
]

# Student of Games, which trains and plays where nobody names another algorithm.
SOG: Final = DEFAULT


# Makes the agent of a seat: (player, seed) -> agent.
MakeAgent: TypeAlias = "Callable[[int, int], Agent]"

# A game as an algorithm learns it: by public states, or by histories.
Rules: TypeAlias = "Game | HistoryGame"

# What decides a run of an algorithm.
Settings: TypeAlias = "RunSettings"


def _by_public_states(name: str) -> Game:
    from sog.games.catalog import make_game

    return make_game(name)


@dataclass(frozen=True)
class Choices:
    """What a person chose of how an algorithm trains, plays or is measured; None leaves it to the algorithm.

    simulations, per_update: a search budget (s, c).
    updates, solver, warm, recycle: of depth-limited solving (SolveSettings).
    paper: to search as SoG ("sog") or as PoG ("pog") does.  alpha: the gadget's share.  leaves: network, exact or zero.
    seeds: how many whole policies are measured.  playthroughs: how many sampled policies are averaged.
    workers: processes.
    Of SePoT: transformations, step, policy: how it trains (SepotSettings).  depth: actions of each player that a search
    looks ahead, 0 for no limit.  histories: that a searched subgame may have.  gadget: where its values come from.
    best_response: how a policy network's exploitability is found: listed, streamed or learned.
    cluster: where they run (sog.cluster.where).  limit_gb: memory for listing a game (sog.searches.tree.whole).
    """

    simulations: int | None = None
    per_update: float | None = None
    updates: int | None = None
    solver: str | None = None
    warm: int | None = None
    recycle: float | None = None
    paper: str | None = None
    alpha: float | None = None
    leaves: str | None = None
    seeds: int | None = None
    playthroughs: int | None = None
    workers: int | None = None
    transformations: str | None = None
    step: float | None = None
    policy: str | None = None
    depth: int | None = None
    histories: int | None = None
    gadget: str | None = None
    best_response: str | None = None
    cluster: str | None = None
    limit_gb: float | None = None

    def given(self) -> tuple[str, ...]:
        """The names of what was chosen."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) is not None)


@dataclass(frozen=True)
class Training:
    """How an algorithm learns.

    preset: its settings for a game: demo (minutes on two cores), full or paper, and what else `presets` names.
    takes: the choices that change a preset, kept in a run's Variant.  vary: the preset so changed.
    chosen: a run's variant with a person's choices in it; SettingError for values that it cannot take.
    measure: exploitability, in utilities, of a network's play on a listed game while it trains by a variant and preset.
    measured: what that is, in words.  solver: the name of a variant's solver of subgames, where there is one.
    rules: the game as it learns it, from a game string.  alone: its own training loop, in one process, with the
    arguments of `sog.training.loop.train`; None for the rounds of workers that the others share.
    """

    preset: Callable[[Rules, str], Settings]
    measure: Callable[[PublicTree, CVPN, Variant, str], float]
    measured: str
    takes: tuple[str, ...] = ()
    vary: Callable[[Settings, Variant], Settings] = lambda settings, variant: settings
    chosen: Callable[[Variant, Choices], Variant] = lambda variant, choices: variant
    solver: Callable[[Variant], str] = lambda variant: ""
    rules: Callable[[str], Rules] = _by_public_states
    alone: Callable[..., Point] | None = None
    presets: tuple[str, ...] = ("demo", "full", "paper")


@dataclass(frozen=True)
class Play:
    """How an algorithm plays games with hidden information.

    make: takes a listed tree, what was opened, and choices.  takes: which choices.
    """

    make: Callable[[PublicTree, Opened, Choices], MakeAgent]
    takes: tuple[str, ...]


@dataclass(frozen=True)
class PlayBoard:
    """How an algorithm plays games of perfect information.

    make: takes the network's evaluator, choices and a seed.  takes: which choices.  label: a player's name with these.
    """

    make: Callable[[Evaluator, Choices, int], Player]
    takes: tuple[str, ...]
    label: Callable[[Choices], str]


@dataclass(frozen=True)
class Measured:
    """Exact exploitability, in the game's reporting unit.

    values: one for each whole policy.  how: the play that was measured, in words.  settings, found: entries for
    machines, before and after the exploitability.  of_what, spread, further: words for people around the mean.
    """

    game: str
    unit: str
    values: tuple[float, ...]
    how: str
    settings: Mapping[str, str | int | float]
    found: Mapping[str, str | int | float]
    of_what: str = ""
    spread: str = ""
    further: str = ""

    @property
    def mean(self) -> float:
        return sum(self.values) / len(self.values)


@dataclass(frozen=True)
class Measuring:
    """`sog exploit` of an algorithm's play: `run` takes a checkpoint or game, the choices and a progress bar."""

    run: Callable[[str, Choices, OpenBar], Measured]
    takes: tuple[str, ...]


@dataclass(frozen=True)
class Learner:
    """An entry of the table: one learning algorithm. What it cannot do is None.

    Its functions import what they run inside, so that reading the table needs neither Numba nor PyTorch.
    name: as options and checkpoints have it.  title: for people.
    """

    name: str
    title: str
    training: Training
    play: Play | None = None
    board: PlayBoard | None = None
    measuring: Measuring | None = None


def count_of(name: str, chosen: int | None, default: int) -> int:
    """A chosen number of at least 1, or the default; SettingError below."""
    value = default if chosen is None else chosen
    if value < 1:
        raise SettingError(f"--{name} must be at least 1, not {value}")
    return value
