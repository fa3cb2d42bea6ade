"""SePoT as an entry in the table of learning algorithms: R-NaD, a critic of transformations, and search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from sog.algorithms.base import Choices, Learner, MakeAgent, Measured, Measuring, Play, Training, count_of
from sog.algorithms.policy.algorithm import by_histories, history_rules, measure_policy, train_alone
from sog.errors import CheckpointError
from sog.progress import OpenBar

if TYPE_CHECKING:
    from sog.algorithms.base import Rules, Settings
    from sog.algorithms.policy.presets import PolicySettings
    from sog.algorithms.sepot.search import SepotSearchSettings
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.opened import Opened
    from sog.training.settings import Variant

__all__ = ["ENTRY", "SEPOT"]

SEPOT: Final = "sepot"
_TAKES: Final = ("updates", "depth", "histories", "gadget", "alpha")


def _preset(game: Rules, name: str) -> PolicySettings:
    from sog.algorithms.sepot.presets import sepot_preset

    return sepot_preset(history_rules(game), name)


def _vary(settings: Settings, variant: Variant) -> Settings:
    from sog.algorithms.sepot.presets import sepot_variant

    return sepot_variant(cast("PolicySettings", settings), variant)


def _chosen(variant: Variant, choices: Choices) -> Variant:
    from dataclasses import replace

    transformations = choices.transformations or variant.transformations
    step, policy = float(choices.step or variant.step), choices.policy or variant.policy
    return replace(variant, transformations=transformations, step=step, policy=policy)


def _search_settings(choices: Choices) -> SepotSearchSettings:
    from sog.algorithms.sepot.below import DepthLimit
    from sog.algorithms.sepot.search import SepotSearchSettings

    plain = SepotSearchSettings()
    return SepotSearchSettings(
        iterations=count_of("updates", choices.updates, plain.iterations),
        limit=plain.limit if choices.depth is None else DepthLimit(choices.depth),
        most=count_of("histories", choices.histories, plain.most),
        gadget=choices.gadget or plain.gadget,
        alpha=plain.alpha if choices.alpha is None else choices.alpha,
    )


def _agents(public: PublicTree, opened: Opened, choices: Choices) -> MakeAgent:
    from sog.algorithms.sepot.agent import SepotAgent, searching
    from sog.training.checkpoint import load_with_critic

    if opened.folder is None:
        raise CheckpointError(f"no checkpoint of {opened.game.name} by sepot is shipped; train one")
    search = searching(load_with_critic(opened.folder), _search_settings(choices))
    return lambda player, seed: SepotAgent(public, player, search, seed)


def _exploit(checkpoint: str, choices: Choices, bar: OpenBar) -> Measured:
    """`sog exploit`: every public state is searched as in play; the search draws nothing, so there are no seeds."""
    from sog.algorithms.sepot.agent import search_exploitability, searching
    from sog.measure.exploitability import decision_count
    from sog.measure.listed import listed_with_bar
    from sog.training.checkpoint import load_with_critic
    from sog.training.shipped import find_checkpoint

    kept = load_with_critic(find_checkpoint(checkpoint, SEPOT))
    game, settings = kept.game, _search_settings(choices)
    search = searching(kept, settings)
    public = listed_with_bar(game, choices.limit_gb, bar)
    with bar(f"exploit {game}", decision_count(public), "public states") as report:
        found = search_exploitability(public, search, lambda done: report(done, ""))
    unit = public.game.unit
    entries: dict[str, str | int | float] = {
        "algorithm": SEPOT,
        "steps": kept.meta.step,
        "updates": settings.iterations,
        "depth": settings.limit.depth,
        "fitted": settings.limit.fitted,
        "histories": settings.most,
        "gadget": settings.gadget,
        "alpha": settings.alpha,
    }
    where = f"{search.searched} of {decision_count(public)} public states"
    how = f"SePoT's search at {where} on the policy after {kept.meta.step:,} steps"
    return Measured(game, unit.name, (found * unit.per_utility,), how, entries, {"searched": search.searched})


ENTRY: Final = Learner(
    SEPOT,
    "SePoT",
    Training(
        _preset,
        measure_policy,
        "the network's policy, without search",
        takes=("transformations", "step", "policy"),
        vary=_vary,
        chosen=_chosen,
        rules=by_histories,
        alone=train_alone,
    ),
    play=Play(_agents, _TAKES),
    measuring=Measuring(_exploit, (*_TAKES, "limit_gb")),
)
