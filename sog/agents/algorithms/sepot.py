"""SePoT as an entry in the table of learning algorithms: R-NaD, a critic of transformations, and search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from sog.agents.algorithms.base import (
    Choices,
    Learner,
    MakeAgent,
    Measured,
    Measuring,
    OpenBar,
    Play,
    Training,
    count_of,
)
from sog.agents.algorithms.policy_gradient import by_histories, history_rules, measure_policy, train_alone
from sog.errors import CheckpointError

if TYPE_CHECKING:
    from sog.agents.algorithms.base import Rules, Settings
    from sog.agents.opened import Opened
    from sog.search.sepot.search import SepotSearchSettings
    from sog.search.tree.public_tree import PublicTree
    from sog.train.policy_gradient.settings import PolicySettings
    from sog.train.settings import Variant

__all__ = ["ENTRY", "SEPOT"]

SEPOT: Final = "sepot"
_TAKES: Final = ("updates", "depth", "histories", "gadget", "alpha")


def _preset(game: Rules, name: str) -> PolicySettings:
    from sog.train.sepot.presets import sepot_preset

    return sepot_preset(history_rules(game), name)


def _vary(settings: Settings, variant: Variant) -> Settings:
    from sog.train.sepot.presets import sepot_variant

    return sepot_variant(cast("PolicySettings", settings), variant)


def _chosen(variant: Variant, choices: Choices) -> Variant:
    from dataclasses import replace

    transformations = choices.transformations or variant.transformations
    step, policy = float(choices.step or variant.step), choices.policy or variant.policy
    return replace(variant, transformations=transformations, step=step, policy=policy)


def _search_settings(choices: Choices) -> SepotSearchSettings:
    from sog.search.sepot.below import DepthLimit
    from sog.search.sepot.search import SepotSearchSettings

    plain = SepotSearchSettings()
    return SepotSearchSettings(
        iterations=count_of("updates", choices.updates, plain.iterations),
        limit=plain.limit if choices.depth is None else DepthLimit(choices.depth),
        most=count_of("histories", choices.histories, plain.most),
        gadget=choices.gadget or plain.gadget,
        alpha=plain.alpha if choices.alpha is None else choices.alpha,
    )


def _agents(public: PublicTree, opened: Opened, choices: Choices) -> MakeAgent:
    from sog.agents.sepot import SepotAgent, searching
    from sog.train.checkpoint import load_with_critic

    if opened.folder is None:
        raise CheckpointError(f"no checkpoint of {opened.game.name} by sepot is shipped; train one")
    search = searching(load_with_critic(opened.folder), _search_settings(choices))
    return lambda player, seed: SepotAgent(public, player, search, seed)


def _exploit(checkpoint: str, choices: Choices, bar: OpenBar) -> Measured:
    """`sog exploit`: every public state is searched as in play; the search draws nothing, so there are no seeds."""
    from sog.agents.exploit_seeds import listed_with_bar
    from sog.agents.exploitability import decision_count
    from sog.agents.sepot import search_exploitability, searching
    from sog.agents.shipped import find_checkpoint
    from sog.train.checkpoint import load_with_critic

    kept = load_with_critic(find_checkpoint(checkpoint, SEPOT))
    game, settings = kept.game, _search_settings(choices)
    search = searching(kept, settings)
    public = listed_with_bar(game, choices, bar)
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
