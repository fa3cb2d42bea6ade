"""The table of learning algorithms: what `--algorithm` names, and what each of them takes.

To add one: a folder in sog/training with its actor and presets, an entry in a file beside this one, and a line below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from sog.algorithms.alphazero import algorithm as alphazero
from sog.algorithms.base import SOG, Choices, Learner, Measuring, Play, PlayBoard, Rules, Settings
from sog.algorithms.policy import algorithm as policy_gradient
from sog.algorithms.rebel import algorithm as rebel
from sog.algorithms.sepot import algorithm as sepot
from sog.algorithms.student import algorithm as sog
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.cluster.where import Where
    from sog.training.curve import Point
    from sog.training.run import Run
    from sog.training.settings import Variant

__all__ = [
    "LEARNERS",
    "agents_of",
    "board_player_of",
    "boards_of",
    "checked_settings",
    "learner",
    "measuring_of",
    "player_of",
    "preset",
    "taken_by",
    "training_of",
    "variant_from",
]

LEARNERS: Final = (
    sog.ENTRY,
    alphazero.ENTRY,
    rebel.ENTRY,
    policy_gradient.RNAD,
    policy_gradient.MMD,
    policy_gradient.NASHPG,
    sepot.ENTRY,
)


def learner(name: str) -> Learner:
    """The algorithm with this name; SettingError where there is none."""
    for entry in LEARNERS:
        if entry.name == name:
            return entry
    raise SettingError(f"no learning algorithm is called {name}; known: {', '.join(e.name for e in LEARNERS)}")


def player_of(text: str, chosen: str | None = None) -> str:
    """The algorithm that plays what a person calls a checkpoint or game: the chosen one, or the one that trained it.

    Where that has no play of its own for hidden information, and where there is no checkpoint, Student of Games.
    A policy network is played as it is: SettingError where a search is chosen, since it cannot use one.
    CheckpointError for a folder without a checkpoint or a damaged one, GameError where the text is no game either.
    """
    from sog.training.checkpoint import load_meta
    from sog.training.shipped import named_checkpoint

    folder = named_checkpoint(text)
    if folder is None:
        return chosen or SOG
    trained = load_meta(folder).algorithm
    if learner(trained).training.alone and chosen is not None and not learner(chosen).training.alone:
        raise SettingError(f"{text} holds a policy network by {trained}; {chosen} cannot search with it")
    return chosen or (trained if learner(trained).play is not None else SOG)


def board_player_of(trained: str) -> str:
    """The algorithm that plays boards with a network of `trained`: itself, or Student of Games where it plays none.

    SettingError for a policy network, which Student of Games cannot search with either.
    """
    entry = learner(trained)
    if entry.board is None and entry.training.alone is not None:
        raise SettingError(f"a policy network by {trained} plays no boards: there it has no search of its own")
    return SOG if entry.board is None else trained


def training_of(algorithm: str, where: Where | None = None) -> Callable[..., Point]:
    """The algorithm's training loop, with the arguments of `sog.training.loop.train` but `where`.

    where: its workers play, if it has any; by default processes of this machine.
    """
    from sog.training.loop import train

    return learner(algorithm).training.alone or partial(train, where=where)


def preset(game: Rules, name: str, algorithm: str = SOG, variant: Variant | None = None) -> Settings:
    """The algorithm's settings called demo (minutes on two cores), full, paper or as `Training.presets` has it, varied.

    Raises SettingError for names and variants that there are none of.
    """
    training = learner(algorithm).training
    if name not in training.presets:
        raise SettingError(f"{algorithm} has no preset called {name}; known: {', '.join(training.presets)}")
    settings = training.preset(game, name)
    if variant is None:
        return settings
    if variant.network:
        settings = settings.with_network(variant.network)
    names = ("solver", "warm", "recycle", "transformations", "step", "policy")
    varied = {name: getattr(variant, name) or None for name in names}
    _check_taken(Choices(**varied), algorithm, _trained_with)
    return training.vary(settings, variant)


def checked_settings(rules: Rules, run: Run) -> Settings:
    """The run's settings for its game; GameError for a game that is wrong, SettingError for more memory than there is.

    SettingError, too, as of `preset`.
    """
    from sog.games.base import Game
    from sog.games.checks.own import check_own
    from sog.training.memory import check_memory

    if isinstance(rules, Game):  # one by histories is checked where it is trained on
        check_own(rules)
    settings = preset(rules, run.preset, run.algorithm, run.variant)
    check_memory(settings.needed_bytes(), run.game)
    return settings


def variant_from(variant: Variant, algorithm: str, choices: Choices) -> Variant:
    """A run's variant with a person's choices in it; SettingError for choices that are another algorithm's."""
    _check_taken(choices, algorithm, _trained_with)
    return learner(algorithm).training.chosen(variant, choices)


def agents_of(algorithm: str, choices: Choices) -> Play:
    """How the algorithm plays with hidden information; SettingError where it does not, or takes no such choice."""
    play = learner(algorithm).play
    if play is None:
        raise SettingError(f"{algorithm} plays games of perfect information only")
    _check_taken(choices, algorithm, _played_with)
    return play


def boards_of(algorithm: str, choices: Choices) -> PlayBoard:
    """How the algorithm plays games of perfect information; SettingError as of `agents_of`."""
    board = learner(algorithm).board
    if board is None:
        known = ", ".join(entry.name for entry in LEARNERS if entry.board is not None)
        raise SettingError(f"no player on a board is called {algorithm}; known: {known}")
    _check_taken(choices, algorithm, _played_on_boards_with)
    return board


def measuring_of(algorithm: str, choices: Choices) -> Measuring:
    """How `sog exploit` measures the algorithm's play; SettingError as of `agents_of`."""
    measuring = learner(algorithm).measuring
    if measuring is None:
        known = " or ".join(entry.name for entry in LEARNERS if entry.measuring is not None)
        raise SettingError(f"--algorithm is {known}, not {algorithm}")
    _check_taken(choices, algorithm, _measured_with)
    return measuring


def taken_by(algorithm: str, choices: Choices) -> Choices:
    """Those of the choices that the algorithm takes for play, on boards or with hidden information."""
    entry = learner(algorithm)
    taken = {*_played_with(entry), *_played_on_boards_with(entry)}
    return replace(choices, **{name: None for name in choices.given() if name not in taken})


def _trained_with(entry: Learner) -> tuple[str, ...]:
    return entry.training.takes


def _played_with(entry: Learner) -> tuple[str, ...]:
    return () if entry.play is None else entry.play.takes


def _played_on_boards_with(entry: Learner) -> tuple[str, ...]:
    return () if entry.board is None else entry.board.takes


def _measured_with(entry: Learner) -> tuple[str, ...]:
    return () if entry.measuring is None else entry.measuring.takes


_Takes: TypeAlias = Callable[[Learner], tuple[str, ...]]


def _check_taken(choices: Choices, algorithm: str, takes: _Takes) -> None:
    """SettingError, which names whose it is, for a choice that the algorithm does not take."""
    for name in choices.given():
        if name not in takes(learner(algorithm)):
            option = f"--{name.replace('_', '-')}"
            owners = [entry.name for entry in LEARNERS if name in takes(entry)]
            whose = f"{option} is for --algorithm {' or '.join(owners)}" if owners else f"{option} does not apply here"
            raise SettingError(f"{whose}, not {algorithm}" if owners else whose)
