"""What SePoT's experiments share: their runs, other algorithms' runs beside them, snapshots, and untrained runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from sog.algorithms.sepot.agent import search_of
from sog.algorithms.sepot.critic import profiles
from sog.algorithms.sepot.search import PAPERS_ALPHA, SepotSearch, SepotSearchSettings
from sog.algorithms.sepot.trained_critic import HistoryCritic, critic_from
from sog.algorithms.table import trained_by
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_history_game
from sog.games.histories.base import HistoryGame
from sog.measure.listed import listed
from sog.nets.cvpn import CVPN
from sog.nets.network import Network
from sog.nets.perceptron import Perceptron
from sog.nets.shape import policy_shape
from sog.training.checkpoint import Meta, load_meta, load_network, load_with_critic
from sog.training.settings import preset_of
from soglab.runs import check_unchanged, checkpoint_of, training_minutes
from soglab.study import Key, Options

UNTRAINED: Final = "untrained"  # the folder of a fresh network of a game
DISTILLED: Final = "distilled"  # what a checkpoint's settings call what it was distilled from


@dataclass(frozen=True, eq=False)
class PolicyAndCritic:
    """A policy network of a game, and its critic."""

    game: HistoryGame
    network: Network
    critic: HistoryCritic

    def search(self, settings: SepotSearchSettings) -> SepotSearch:
        """The search on the two."""
        return search_of(self.game, self.network, self.critic, settings)


def quick_runs(options: Options, known: tuple[Path, ...], games: tuple[str, ...], critics: bool = True) -> list[Key]:
    """The runs of an experiment as {game, folder, network}: those named or there, or untrained ones if quick.

    critics: whether each must have a critic to search with; otherwise a run of any algorithm will do.
    """
    runs = options.runs or tuple(run for run in known if run.is_dir())
    if runs:
        meta_of = run_of if critics else meta_of_run
        metas = {run: meta_of(run) for run in runs}
        return [{"game": m.game, "folder": str(run), "network": m.network_id} for run, m in metas.items()]
    if not options.quick:
        command = "`sog train GAME --algorithm sepot`, then name it with --run"
        raise SettingError(f"no training run in {known[0]}: {command}")
    return [{"game": game, "folder": UNTRAINED, "network": ""} for game in games]


def search_effort(options: Options) -> Key:
    """How SePoT's experiments search: iterations, and the weight of the gadget's range."""
    return {"iterations": 20 if options.quick else 800, "alpha": alpha_of(options)}


def alpha_of(options: Options) -> float:
    """The weight of the gadget's range: ours, or with --paper the paper's, which has the gadget alone."""
    return PAPERS_ALPHA if options.paper else SepotSearchSettings().alpha


def meta_of_run(folder: Path) -> Meta:
    """What a run of any algorithm says of itself."""
    return load_meta(checkpoint_of(folder))


def run_of(folder: Path) -> Meta:
    """What a run of SePoT says of itself; CheckpointError for another algorithm's."""
    meta = meta_of_run(folder)
    if "critic" not in meta.files:
        raise CheckpointError(f"{folder} was trained by {meta.algorithm}, so it has no critic; train by sepot")
    return meta


def short_name(game: str) -> str:
    """A game's name without its parameters."""
    return game.split("(")[0]


def unit_of(game: str) -> str:
    """The name of the unit in which exploitability in a game is given."""
    return make_history_game(game).unit.name


def own_title(meta: Meta) -> str:
    """The algorithm that trained a checkpoint, and by which play `own_measure` measures it, in words."""
    algorithm = trained_by(meta)
    return f"{algorithm.title}: {algorithm.measure_is}"


def own_measure(folder: Path) -> float:
    """Exploitability of a checkpoint in the game's unit, by the measure that its algorithm is watched by in training.

    GameError for a game too large to list.
    """
    game, network, meta = load_network(checkpoint_of(folder))
    public = listed(game)
    exploitability = trained_by(meta).measure(public, network, preset_of(meta.settings))
    return exploitability * public.game.unit.per_utility


def minutes_of(meta: Meta) -> float:
    """Of training, see `training_minutes`, 0 if unsaid; with those of the run that it was distilled from."""
    before = meta.settings.get(DISTILLED)
    own = training_minutes(meta)
    return round((0.0 if math.isnan(own) else own) + (float(before["minutes"]) if before else 0.0), 2)


@lru_cache(maxsize=4)
def opened(folder: str, game: str, network_id: str = "") -> PolicyAndCritic:
    """The network and critic of a checkpoint's or run's folder, or untrained ones.

    CheckpointError where it holds another network than the one named, if one is.
    """
    rules = make_history_game(game)
    if folder == UNTRAINED:
        pairs = profiles(3)
        critic = HistoryCritic(rules, Perceptron((rules.num_critic_inputs, 16, len(pairs)), 0, 0.1), pairs)
        return PolicyAndCritic(rules, CVPN(policy_shape(rules, 16, 1)), critic)
    path = checkpoint_of(Path(folder))
    if network_id:
        check_unchanged(path, network_id)
    saved = load_with_critic(path)
    if saved.game != game:
        raise CheckpointError(f"{folder}: a checkpoint of {saved.game}, not of {game}")
    return PolicyAndCritic(rules, saved.network, critic_from(rules, saved.critic))
