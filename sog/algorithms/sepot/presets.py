"""SePoT's settings for a game: demo, full and paper, and what may be varied of them; it runs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from sog.algorithms.policy.presets import PolicySettings, mmd_preset, nashpg_preset, rnad_preset
from sog.algorithms.policy.rnad import RnadSettings
from sog.algorithms.sepot.learner import SepotSettings
from sog.errors import SettingError
from sog.games.catalog import make_history_game
from sog.games.histories.base import HistoryGame
from sog.nets.shape import policy_shape

__all__ = ["POLICIES", "sepot_preset", "with_policy"]

# What may learn the policy in place of Table 2's R-NaD, as each does where it learns alone.
POLICIES: Final[Mapping[str, Callable[[HistoryGame, str], PolicySettings]]] = {
    "rnad": rnad_preset,
    "mmd": mmd_preset,
    "nashpg": nashpg_preset,
}


def sepot_preset(game: HistoryGame, name: str) -> PolicySettings:
    """R-NaD with ten transformations and their critic beside it; `paper` is Table 2, the others are smaller.

    The others' critic learns from games of its own, wider than the policy's, and the one that is kept follows it
    slowly: without either, search to depth 1 makes a good policy worse on Goofspiel 5 (docs/notes.md). Its ratios are
    clipped at 3: on Leduc a thousandth of the targets, up to 19 times the largest utility, held a sixth of its loss.
    Raises SettingError for a game without public observations, which cannot be searched.
    """
    if not game.has_public:
        raise SettingError(f"sepot cannot search {game.name}, whose public observations are unknown: train by rnad")
    paper = rnad_preset(game, "paper")
    assert isinstance(paper.learning, RnadSettings)
    sepot = replace(paper, learning=SepotSettings(game.name, paper.learning, critic_rho=paper.learning.rho))
    if name == "paper":
        return sepot
    learning = SepotSettings(game.name, paper.learning, critic_rho=3.0, exploring=True, critic_target_rate=0.001)
    shape = policy_shape(game, 256, 2)
    return replace(sepot, learning=learning, shape=shape, rounds=1_500 if name == "demo" else 15_000)


def with_policy(settings: PolicySettings, name: str) -> PolicySettings:
    """The settings with this learner's `full` preset for the policy: as many games a step, and as many in all."""
    if name not in POLICIES:
        raise SettingError(f"no policy learner is called {name}; known: {', '.join(POLICIES)}")
    learning = settings.learning
    assert isinstance(learning, SepotSettings)
    alone = POLICIES[name](make_history_game(learning.game), "full")
    rounds = settings.rounds * settings.games * settings.steps // (alone.games * alone.steps)
    sized = replace(settings, games=alone.games, steps=alone.steps, rounds=max(1, rounds))
    return replace(sized, learning=replace(learning, policy=alone.learning))
