"""The learning algorithms by name, and algorithm strings such as `rebel(solver=fp,warm=15)` read as algorithms.

To add one: a folder beside this file with a subclass of `Algorithm` in it, its import and an entry below, and the
folder's name in the contract of pyproject.toml on algorithms.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sog.algorithms.alphazero.algorithm import AlphaZero
from sog.algorithms.base import SOG, Algorithm, Asked, Rules
from sog.algorithms.policy.algorithm import Mmd, NashPg, Rnad
from sog.algorithms.rebel.algorithm import Rebel
from sog.algorithms.sepot.algorithm import Sepot
from sog.algorithms.student.algorithm import Student
from sog.errors import CheckpointError, GameError, SettingError
from sog.games.base import Game
from sog.games.checks.own import check_own
from sog.games.strings import parse_game
from sog.training.checkpoint import load_meta
from sog.training.memory import check_memory
from sog.training.shipped import named_checkpoint

if TYPE_CHECKING:
    from sog.training.meta import Meta
    from sog.training.run import Run
    from sog.training.settings import RunSettings

__all__ = [
    "ALGORITHMS",
    "checked_settings",
    "find",
    "player_of",
    "playing",
    "read",
    "refuse_unfit",
    "settings_of",
    "trained_by",
]

ALGORITHMS: Final[tuple[type[Algorithm], ...]] = (Student, AlphaZero, Rebel, Rnad, Mmd, NashPg, Sepot)


def find(name: str) -> type[Algorithm]:
    """The algorithm with this name; SettingError for an unknown name."""
    for kind in ALGORITHMS:
        if kind.name == name:
            return kind
    raise SettingError(f"no learning algorithm is called {name}; known: {', '.join(a.name for a in ALGORITHMS)}")


def read(text: str) -> Algorithm:
    """The algorithm of an algorithm string; SettingError where it is malformed, unknown or has unknown settings."""
    try:
        name, parameters = parse_game(text)
    except GameError as error:
        says = str(error).replace("a game string", "an algorithm string").replace("game string", "algorithm string")
        raise SettingError(says.replace("liars_dice(numdice=1,dice_sides=4)", "rebel(solver=fp,warm=15)")) from error
    return find(name).of(parameters)


def trained_by(meta: Meta) -> Algorithm:
    """The algorithm that trained a checkpoint, as it was set; CheckpointError for an unknown one."""
    try:
        return read(meta.algorithm_text)
    except SettingError as error:
        raise CheckpointError(f"the checkpoint's algorithm is not one that this program knows: {error}") from error


def player_of(checkpoint: str | Path, wanted: str | None = None, open_dice: bool = False) -> Algorithm:
    """The algorithm that plays with what the user calls a checkpoint or game: see `playing`.

    open_dice: of games of chance with nothing hidden, which algorithms of both kinds play; otherwise of hidden ones.
    CheckpointError for a folder without a checkpoint or a damaged one, GameError for any other text but a game.
    """
    chosen = None if wanted is None else read(wanted)
    folder = named_checkpoint(str(checkpoint), SOG if chosen is None else chosen.name)
    trained = None if folder is None else trained_by(load_meta(folder))
    return playing(trained, chosen, boards=open_dice and trained is not None and trained.plays_boards)


def says_who_plays(checkpoint: str | Path, plays: Algorithm) -> str:
    """One line where a checkpoint is measured by another algorithm's search than the one that trained it; else ""."""
    # A game string names the network that the algorithm itself trained, where one ships.
    folder = named_checkpoint(str(checkpoint), plays.name)
    trained = None if folder is None else trained_by(load_meta(folder))
    if trained is None or trained.name == plays.name:
        return ""
    this = f"this is {plays.name}'s search with its network"
    if trained.plays_hidden:
        return f"{trained.name} trained it and searches otherwise: {this}"
    return f"sog exploit has no search of {trained.name}'s: {this}"


def playing(trained: Algorithm | None, chosen: Algorithm | None, boards: bool = False) -> Algorithm:
    """The algorithm that plays with a network: the chosen one, or the one that trained it, or Student of Games.

    trained: the algorithm that trained the network, None for a fresh one. It plays where it can play games of this
    kind, and settings that are carried over from training are its.
    boards: games of perfect information; otherwise hidden information.
    SettingError where search is wanted with a policy network, which values no leaves.
    """
    if trained is None:
        return chosen or Student()
    if chosen is not None:
        if trained.alone and not chosen.alone:
            raise SettingError(f"{chosen.name} cannot search with a policy network, which {trained.name} trained")
        return chosen.as_trained(trained)
    if trained.plays_boards if boards else trained.plays_hidden:
        return type(trained)().as_trained(trained)
    if trained.alone:
        raise SettingError(f"a policy network by {trained.name} plays no boards: there it has no search of its own")
    return Student()


def settings_of(game: Rules, preset: str, algorithm: str = SOG) -> RunSettings:
    """The settings of an algorithm string's preset for a game; SettingError as of `read` and `Algorithm.settings`."""
    return read(algorithm).settings(game, preset)


def checked_settings(rules: Rules, run: Run) -> RunSettings:
    """The run's settings for its game; GameError for a game that is wrong, SettingError for more memory than there is.

    SettingError, too, as of `settings_of`.
    """
    if isinstance(rules, Game):  # one by histories is checked where it is trained on
        check_own(rules)
    settings = settings_of(rules, run.preset, run.algorithm)
    check_memory(settings.needed_memory(), run.game)
    return settings


def refuse_unfit(algorithm: Algorithm, asked: Asked) -> None:
    """SettingError, which names whose it is, for what `sog exploit` cannot be asked of this algorithm."""
    if not algorithm.measured_with:
        known = " or ".join(kind.name for kind in ALGORITHMS if kind.measured_with)
        raise SettingError(f"--algorithm is {known}, not {algorithm.name}")
    algorithm.refuse_training()
    for name in asked.given():
        if name not in algorithm.measured_with:
            owners = " or ".join(kind.name for kind in ALGORITHMS if name in kind.measured_with)
            raise SettingError(f"--{name.replace('_', '-')} is for --algorithm {owners}, not {algorithm.name}")
