"""The table of learning algorithms: what `--algorithm` names, and what each of them takes.

To add one: a folder in sog/train with its actor and presets, an entry in a file beside this one, and a line below.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from sog.agents.algorithms import alphazero, policy_gradient, rebel, sepot, sog
from sog.agents.algorithms.base import SOG, Choices, Learner, Measuring, Play, PlayBoard, Rules, Settings
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.cluster.where import Where
    from sog.nets.shape import NetworkShape
    from sog.train.curve import Point
    from sog.train.run import Run
    from sog.train.settings import Variant

__all__ = [
    "LEARNERS",
    "agents_of",
    "board_player_of",
    "boards_of",
    "checked_settings",
    "learner",
    "measuring_of",
    "network_size",
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

_SIZE: Final = re.compile(r"([0-9]{1,9})x([0-9]{1,9})")
_DEEPEST: Final = 1_000  # hidden layers
_WIDEST: Final = 1_000_000  # units a layer


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
    from sog.agents.shipped import named_checkpoint
    from sog.train.checkpoint import load_meta

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
    """The algorithm's training loop, with the arguments of `sog.train.loop.train` but `where`.

    where: its workers play, if it has any; by default processes of this machine.
    """
    from sog.train.loop import train

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
        settings = replace(settings, shape=_sized(settings.shape, variant.network))
    names = ("solver", "warm", "recycle", "transformations", "step", "policy")
    varied = {name: getattr(variant, name) or None for name in names}
    _check_taken(Choices(**varied), algorithm, _trained_with)
    return training.vary(settings, variant)


def checked_settings(rules: Rules, run: Run) -> Settings:
    """The run's settings for its game; GameError for a game that is wrong, SettingError for more memory than there is.

    SettingError, too, as of `preset`.
    """
    from sog.games.base import Game
    from sog.games.checked import check_own
    from sog.train.needs import check_memory

    if isinstance(rules, Game):  # one by histories is checked where it is trained on
        check_own(rules)
    settings = preset(rules, run.preset, run.algorithm, run.variant)
    check_memory(settings, run.game)
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


def _sized(shape: NetworkShape, size: str) -> NetworkShape:
    """A network's shape with other hidden layers; SettingError as of `network_size`."""
    depth, width = network_size(size)
    return replace(shape, depth=depth, width=width)


def network_size(size: str) -> tuple[int, int]:
    """How many hidden layers and their width; SettingError unless `size` reads like 2x256."""
    read = _SIZE.fullmatch(size)
    if read is None or int(read[1]) > _DEEPEST or int(read[2]) > _WIDEST:
        most = f"at most {_DEEPEST:,} x {_WIDEST:,}"
        raise SettingError(f"a network's size is hidden layers x width, such as 2x256, {most}, not {size}")
    return int(read[1]), int(read[2])
