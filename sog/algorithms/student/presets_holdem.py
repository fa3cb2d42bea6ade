"""Student of Games' presets for hold'em: small searches, exact queries, one network for every hand."""

from __future__ import annotations

from dataclasses import replace

from sog.algorithms.student.actor import SogActing
from sog.algorithms.student.queries import QuerySettings
from sog.algorithms.student.selfplay import SelfPlaySettings
from sog.games.holdem.betting import TURN
from sog.games.holdem.game import Holdem
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.training.settings import OVER_HANDS, TrainSettings

__all__ = ["holdem_preset"]


def holdem_preset(game: Holdem, name: str) -> TrainSettings:
    """The settings called demo or full."""
    full = _late(game) if game.street >= TURN else _whole(game)
    if name == "full":
        return full
    return replace(full, rounds=10, learner=replace(full.learner, decay_steps=150))


def _late(game: Holdem) -> TrainSettings:
    """From the turn on: of its 28 decisions a search opens as many as it can, and hands end where the river comes."""
    budget, search = Budget(30, 1.0), SearchSettings(chance_leaves=True)
    acting = SogActing(
        SelfPlaySettings(ResolveSettings(budget, search), queries=60.0, uniform_queries=True, uniform_mix=0.25),
        QuerySettings(budget, search, recursive=0.0, exact_iterations=32, searched=0.1),
        side_by_side=4,
    )
    return TrainSettings(acting, OVER_HANDS, shape_for(game, 64, 2, "hands"), games=0, rounds=600)


def _whole(game: Holdem) -> TrainSettings:
    """From the first or the second round on: a search ends with its round, and flops and turns are drawn."""
    budget, search = Budget(16, 1.0), SearchSettings(chance_leaves=True)
    acting = SogActing(
        SelfPlaySettings(ResolveSettings(budget, search), queries=8.0, uniform_queries=True, uniform_mix=0.25),
        QuerySettings(budget, search, recursive=0.0, exact_iterations=32, past_exact=True, outcomes=12, searched=0.25),
        side_by_side=4,
    )
    return TrainSettings(acting, OVER_HANDS, shape_for(game, 64, 2, "hands"), games=0, rounds=600)
