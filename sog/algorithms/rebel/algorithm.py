"""ReBeL as an entry in the table of learning algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from sog.algorithms.base import Choices, Learner, MakeAgent, Measured, Measuring, Play, Training, count_of
from sog.progress import OpenBar

if TYPE_CHECKING:
    from sog.algorithms.base import Rules, Settings
    from sog.algorithms.rebel.agent import RebelSettings
    from sog.games.base import Game
    from sog.nets.cvpn import CVPN
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.opened import Opened
    from sog.training.settings import TrainSettings, Variant

__all__ = ["ENTRY", "REBEL"]

REBEL: Final = "rebel"
_UPDATES: Final = 1024  # of one player in a subgame (ReBeL, Table 2)


def _preset(game: Rules, name: str) -> TrainSettings:
    from sog.algorithms.rebel.presets import rebel_preset

    return rebel_preset(cast("Game", game), name)


def _vary(settings: Settings, variant: Variant) -> Settings:
    from sog.algorithms.rebel.presets import rebel_variant

    varied = variant.solver or variant.warm or variant.recycle
    return rebel_variant(cast("TrainSettings", settings), variant) if varied else settings


def _chosen(variant: Variant, choices: Choices) -> Variant:
    from sog.algorithms.rebel.presets import changed

    return changed(variant, choices.solver, choices.warm, choices.recycle)


def _solver(variant: Variant) -> str:
    from sog.algorithms.rebel.presets import solver_of

    return solver_of(variant).name


def _measure(public: PublicTree, network: CVPN, variant: Variant, preset: str) -> float:
    from sog.algorithms.rebel.playthroughs import mean_exploitability
    from sog.nets.values import value_evaluator

    settings = _settings(variant, preset, Choices())
    evaluator = value_evaluator(network, settings.solve.warm > 0, settings.solve.pairs)
    return mean_exploitability(public, settings, evaluator)


def _agents(public: PublicTree, opened: Opened, choices: Choices) -> MakeAgent:
    """With the solver that the network was trained with, unless another is chosen."""
    from sog.algorithms.rebel.agent import RebelAgent
    from sog.nets.values import value_evaluator

    settings = _settings(opened.variant, opened.preset, choices)
    evaluator = value_evaluator(opened.network, settings.solve.warm > 0, settings.solve.pairs)
    return lambda player, seed: RebelAgent(public, player, settings, evaluator, seed)


def _settings(variant: Variant, preset: str, choices: Choices) -> RebelSettings:
    from sog.algorithms.rebel.agent import RebelSettings
    from sog.algorithms.rebel.presets import playing

    return RebelSettings(playing(_chosen(variant, choices), preset, count_of("updates", choices.updates, _UPDATES)))


def _exploit(checkpoint: str, choices: Choices, bar: OpenBar) -> Measured:
    """The average of sampled playthroughs, by default 1,024, and the mean policy beside it."""
    from sog.algorithms.rebel.measure import measure_rebel
    from sog.games.catalog import make_game
    from sog.measure.listed import listed_with_bar
    from sog.training.checkpoint import load_meta
    from sog.training.settings import preset_of, variant_of
    from sog.training.shipped import find_checkpoint

    playthroughs = count_of("playthroughs", choices.playthroughs, 1024)
    folder = find_checkpoint(checkpoint, REBEL)
    meta = load_meta(folder)
    settings = _settings(variant_of(meta.settings), preset_of(meta.settings), choices)
    solve = settings.solve
    listed_with_bar(make_game(meta.game).name, choices.limit_gb, bar)
    with bar(f"exploit {checkpoint}", playthroughs, "playthroughs") as report:
        found = measure_rebel(folder, settings, playthroughs, 0, lambda done: report(done, ""))
    unit = make_game(found.game).unit.name
    return Measured(
        found.game,
        unit,
        (found.sampled,),
        f"ReBeL with {solve.solver.name}, {solve.updates} updates, depth {solve.depth}",
        {
            "algorithm": REBEL,
            "solver": solve.solver.name,
            "depth": solve.depth,
            "warm": solve.warm,
            "recycle": solve.recycle,
            "updates": solve.updates,
            "playthroughs": playthroughs,
        },
        {"mean_policy": found.mean, "solves": found.solves},
        of_what=f" of {playthroughs} playthroughs",
        further=f"; of the mean policy (unsafe) {found.mean:.4g}",
    )


_SOLVING: Final = ("solver", "warm", "recycle")

ENTRY: Final = Learner(
    REBEL,
    "ReBeL",
    Training(_preset, _measure, "ReBeL's mean policy", _SOLVING, _vary, _chosen, _solver),
    play=Play(_agents, ("updates", *_SOLVING)),
    measuring=Measuring(_exploit, ("playthroughs", "updates", *_SOLVING, "limit_gb")),
)
