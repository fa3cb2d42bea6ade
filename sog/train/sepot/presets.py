"""SePoT's settings for a game: demo, full and paper, and what may be varied of them; it runs nothing."""

from __future__ import annotations

from dataclasses import replace

from sog.games.histories.base import HistoryGame
from sog.train.policy_gradient.networks import policy_shape
from sog.train.policy_gradient.settings import PolicySettings, rnad_preset
from sog.train.sepot.learner import SepotSettings
from sog.train.settings import Variant

__all__ = ["sepot_preset", "sepot_variant"]


def sepot_preset(game: HistoryGame, name: str) -> PolicySettings:
    """R-NaD with ten transformations and their critic beside it; `paper` is Table 2, the others have less of it."""
    paper = rnad_preset(game, "paper")
    sepot = replace(paper, learning=SepotSettings(game.name, paper.learning))
    if name == "paper":
        return sepot
    return replace(sepot, shape=policy_shape(game, 256, 2), rounds=1_500 if name == "demo" else 15_000)


def sepot_variant(settings: PolicySettings, variant: Variant) -> PolicySettings:
    """The settings with other transformations, or another step of those that are learned."""
    learning = settings.learning
    assert isinstance(learning, SepotSettings)
    transformations = variant.transformations or learning.transformations
    step = variant.step or learning.step
    return replace(settings, learning=replace(learning, transformations=transformations, step=step))
