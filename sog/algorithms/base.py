"""What a learning algorithm is: settings that an algorithm string can give, and what is done with them.

A subclass for each algorithm is a frozen dataclass; its fields are its own settings. This file imports no algorithm.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeAlias

import numpy as np

from sog.algorithms.settings import Setting, all_settings, changed, coerced
from sog.errors import SettingError, needs_pytorch
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.games.histories.base import HistoryGame
from sog.games.strings import Parameter, write_game
from sog.progress import OpenBar
from sog.training.settings import DEFAULT, RunSettings

if TYPE_CHECKING:
    from sog.cluster.placement import Placement
    from sog.nets.network import Network
    from sog.play.agent import Agent
    from sog.play.player import Player
    from sog.searches.leaves.evaluator import Evaluator
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.curve import Point
    from sog.training.opened import Opened

__all__ = ["SOG", "Algorithm", "Asked", "MakeAgent", "Measured", "Rules", "count_of", "seeds_text"]

# Student of Games, which trains and plays where nobody names another algorithm.
SOG: Final = DEFAULT

# Makes the agent of a seat: (player, seed) -> agent.
MakeAgent: TypeAlias = "Callable[[int, int], Agent]"

# A game as an algorithm learns it: by public states, or by histories.
Rules: TypeAlias = Game | HistoryGame


@dataclass(frozen=True)
class Asked:
    """How exploitability is to be measured; None leaves it to the algorithm.

    seeds: how many whole policies are measured.  playthroughs: how many sampled policies are averaged.
    best_response: how a policy network's best response is found, such as listed or learned(updates=1000).
    river: how rivers are played where a turn spot of hold'em is measured, such as safe or safe(iterations=200).
    workers, cluster: the processes that measure (sog.cluster.placement).  limit_gb: memory for listing a game.
    game: what a checkpoint's network is to play, one of the family of the game that it was trained on.
    """

    seeds: int | None = None
    playthroughs: int | None = None
    best_response: str | None = None
    river: str | None = None
    workers: int | None = None
    cluster: str | None = None
    limit_gb: float | None = None
    game: str | None = None

    def given(self) -> tuple[str, ...]:
        """The names of what was asked."""
        return tuple(field.name for field in dataclasses.fields(self) if getattr(self, field.name) is not None)


@dataclass(frozen=True)
class Measured:
    """Exact exploitability, in the game's reporting unit.

    values: one for each whole policy.  description: the play that was measured, in words.  settings, figures: entries
    for machines, before and after the exploitability.  over, spread, further: words for people around the mean.
    """

    game: str
    unit: str
    values: tuple[float, ...]
    description: str
    settings: Mapping[str, str | int | float]
    figures: Mapping[str, str | int | float]
    over: str = ""
    spread: str = ""
    further: str = ""

    @property
    def mean(self) -> float:
        return sum(self.values) / len(self.values)

    @property
    def over_values(self) -> dict[str, float | tuple[float, ...]]:
        """Entries for machines: min, mean and max; of several also how far they are apart, and each of them.

        deviation: of one value.  standard_error: of the mean.
        """
        entries: dict[str, float | tuple[float, ...]] = {
            "min": min(self.values),
            "mean": self.mean,
            "max": max(self.values),
        }
        if len(self.values) > 1:
            deviation, error = _deviation(self.values)
            entries |= {"deviation": deviation, "standard_error": error, "by_seed": self.values}
        return entries


def seeds_text(values: Sequence[float]) -> str:
    """What `Measured.spread` says of seeds; the range grows with their number, deviation and standard error do not."""
    extremes = f"min {min(values):.4g}, max {max(values):.4g}"
    if len(values) == 1:
        return f"{extremes}, 1 seed, "
    deviation, error = _deviation(values)
    return f"{extremes}, deviation {deviation:.2g}, standard error {error:.2g}, {len(values)} seeds, "


def _deviation(values: Sequence[float]) -> tuple[float, float]:
    """The deviation of a value, estimated from a sample, and the standard error of the mean."""
    deviation = float(np.std(values, ddof=1))
    return deviation, deviation / len(values) ** 0.5


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """A learning algorithm with what was set of it; None and "" leave a setting to the preset or to the default.

    network: hidden layers x width, such as 2x256; of a residual network blocks x channels.
    training: further settings of its training by name; `settings_of_training` lists them all.

    Of each subclass: name: as strings and checkpoints have it.  title: for people.  presets: names of its settings.
    carried: settings that decide play too, and are as a network was trained unless they are set anew.
    learns_with: the dataclasses that its training's settings are made of.  of_play: names in these that training never
    reads.  measured_with: what `Asked` may hold.
    plays_hidden, plays_boards: the kinds of games that it plays.  plays_unlisted: hidden information, too, where the
    public tree grows along the game.  alone: it trains in one process, by its own loop.
    measure_is: what `measure` measures, in words.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    measure_is: ClassVar[str]
    learns_with: ClassVar[tuple[type, ...]]
    presets: ClassVar[tuple[str, ...]] = ("demo", "full", "paper")
    carried: ClassVar[tuple[str, ...]] = ()
    of_play: ClassVar[tuple[str, ...]] = ()
    measured_with: ClassVar[tuple[str, ...]] = ()
    plays_hidden: ClassVar[bool] = False
    plays_boards: ClassVar[bool] = False
    plays_unlisted: ClassVar[bool] = False
    alone: ClassVar[bool] = False

    network: str = ""
    training: tuple[tuple[str, Parameter], ...] = ()

    # --- the string ---

    def __str__(self) -> str:
        """The algorithm string, which `table.read` reads as this."""
        return write_game(self.name, dict(sorted(self.given().items())))

    @classmethod
    def own(cls) -> dict[str, dataclasses.Field[Any]]:
        """Its own settings by name."""
        return {field.name: field for field in dataclasses.fields(cls) if field.name != "training"}

    @classmethod
    def settings_of_training(cls) -> dict[str, Setting]:
        """Every setting of its training by name, for any game."""
        return all_settings(cls.learns_with)

    def given(self) -> dict[str, Parameter]:
        """What was set, by name."""
        own = {name: getattr(self, name) for name in self.own()}
        return {name: value for name, value in own.items() if value not in (None, "")} | dict(self.training)

    @classmethod
    def of(cls, parameters: Mapping[str, Parameter]) -> Self:
        """The algorithm with these settings; SettingError for unknown names and values of another kind."""
        own, known = cls.own(), cls.settings_of_training()
        mine: dict[str, Any] = {}
        further: dict[str, Parameter] = {}
        for name, value in parameters.items():
            # Own settings come first, then those of training, so that a name means one thing.
            if name == "network":
                mine[name] = str(value)  # which `sized` checks
            elif name in own:
                mine[name] = coerced(name, value, _KINDS[str(own[name].type).removesuffix(" | None")])
            elif name in known:
                coerced(name, value, known[name].kind)  # refuses a value of another kind
                further[name] = value.item() if isinstance(value, np.generic) else value
            else:
                raise SettingError(f"{cls.name} has no setting {name}; `sog algorithms {cls.name}` lists them")
        return cls(**mine, training=tuple(sorted(further.items())))

    def varied(self, **changes: Parameter | None) -> Self:
        """The algorithm with other settings, None to leave one as it is; SettingError as of `of`."""
        # What is given again replaces what was set before.
        return self.of(self.given() | {name: value for name, value in changes.items() if value is not None})

    def with_options(self, **options: Parameter | None) -> Self:
        """`varied`; SettingError where an option says something else than the algorithm string."""
        for name, value in options.items():
            if value is not None and (written := self.given().get(name, value)) != value:
                raise SettingError(f"{name} is given twice, as {written} in the algorithm string and as {value}")
        return self.varied(**options)

    def as_trained(self, trained: Algorithm) -> Self:
        """How a network is played that `trained` made: settings that are carried are its, unless they are set here."""
        # Only where the same algorithm trained it: settings of another mean nothing here.
        own = trained.given() if trained.name == self.name else {}
        return self.of({name: own[name] for name in self.carried if name in own} | self.given())

    def refuse_training(self) -> None:
        """SettingError for settings that only training has, where it plays or is measured."""
        for name, _ in self.training:
            raise SettingError(f"{name} is a setting of {self.name}'s training, and changes nothing of its play")
        if self.network:
            raise SettingError("network is a setting of training: a trained network keeps its size")

    # --- training ---

    def rules(self, game: str) -> Rules:
        """The game of a game string as the algorithm learns it."""
        return make_game(game)

    def preset(self, game: Rules, name: str) -> RunSettings:
        """Its settings for a game called `name`, one of `presets`, as they are without changes."""
        raise NotImplementedError

    def settings(self, game: Rules, preset: str) -> RunSettings:
        """The settings of a training run; SettingError for an unknown preset or setting."""
        if preset not in self.presets:
            raise SettingError(f"{self.name} has no preset called {preset}; known: {', '.join(self.presets)}")
        return self._changed(self.preset(game, preset), self._training_changes())

    def _training_changes(self) -> dict[str, Parameter]:
        """What was set of training by name; SettingError for settings of play alone."""
        known, changes = self.settings_of_training(), {}
        for name, value in self.given().items():
            if name in known and name not in self.of_play:
                changes[name] = value
            elif name != "network" and name not in self._trains_with():
                raise SettingError(f"{name} is a setting of how {self.name} plays, not of its training")
        return changes

    def _trains_with(self) -> tuple[str, ...]:
        """Own settings that decide training by rules of the algorithm, beside those that are fields of its settings."""
        return ()

    def _changed(self, settings: RunSettings, changes: Mapping[str, Parameter]) -> RunSettings:
        """A preset with changes."""
        sized = settings.with_network(self.network) if self.network else settings
        run_settings: RunSettings = changed(sized, changes)
        return run_settings

    @needs_pytorch("training")
    def loop(self, placement: Placement | None = None) -> Callable[..., Point]:
        """Its training loop, with the arguments of `sog.training.self_play.train` but `placement`.

        placement: where its workers play, if it has any; by default processes of this machine. SettingError where
        PyTorch, which is imported here, since only training needs it, is not installed.
        """
        from sog.training.self_play import train

        return partial(train, placement=placement)

    def measure(self, public: PublicTree, network: Network, preset: str) -> float:
        """Exploitability, in utilities, of a network's play on a listed game, as is measured while it trains."""
        raise NotImplementedError

    # --- play ---

    def agents(self, public: PublicTree, opened: Opened) -> MakeAgent:
        """What makes agents of an opened network for games of chance or hidden information.

        SettingError where it does not play the game.
        public: the whole game, listed; with `plays_unlisted` also a tree that grows.
        """
        raise NotImplementedError

    def player(self, evaluator: Evaluator, seed: int) -> Player:
        """A player of games of perfect information with a network; SettingError where it plays none."""
        raise SettingError(f"{self.name} plays no games of perfect information")

    @property
    def label(self) -> str:
        """A player's name with these settings."""
        return self.title

    def exploit(self, checkpoint: str | Path, asked: Asked, bar: OpenBar) -> Measured:
        """Exploitability of its play with a checkpoint's network."""
        raise SettingError(f"the play of {self.name} is not measured by itself")


# The kinds of algorithms' own settings, as their annotations are written.
_KINDS: Final[Mapping[str, type]] = {"int": int, "float": float, "str": str, "bool": bool}


def count_of(name: str, chosen: int | None, default: int) -> int:
    """A chosen number of at least 1, or the default; SettingError below."""
    value = default if chosen is None else chosen
    if value < 1:
        raise SettingError(f"{name} must be at least 1, not {value}")
    return value
