"""SePoT's settings, and those for a game: demo, full and paper; it runs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from sog.algorithms.policy.presets import PolicySettings, mmd_preset, nashpg_preset, rnad_preset
from sog.algorithms.policy.settings import LearnsPolicy, RnadSettings
from sog.errors import SettingError
from sog.games.catalog import make_history_game
from sog.games.histories.base import HistoryGame
from sog.nets.shape import policy_shape

__all__ = ["POLICIES", "TRANSFORMATIONS", "SepotSettings", "sepot_preset", "with_policy"]

TRANSFORMATIONS: Final = ("learned", "predefined", "identity")


@dataclass(frozen=True)
class SepotSettings:
    """SePoT's, with Table 2's values as defaults; `policy` is that of the policy learner.

    game: the game string.  transformations: learned, predefined (Goofspiel's 22) or the identity alone.
    count: F, how many transformations are learned, the identity included.
    step: k, how far a transformation moves a policy; the paper does not say.  critic_rate: the critic's learning rate.
    critic_rho, critic_c: the largest importance weights of the critic's V-trace.
    exploring: the critic learns from as many games of its own in place of the policy's (ours): the kept policy plays
    them, but a share of each game's moves is uniform, and that share is drawn uniformly for each game. A search
    deviates from the policy, so its leaves are histories that the policy hardly plays.
    critic_target_rate: how far the kept critic moves towards the learning one at each step (ours); 1 keeps the latter.
    """

    game: str
    policy: LearnsPolicy = field(default_factory=RnadSettings)
    transformations: str = "learned"
    count: int = 10
    step: float = 0.5
    critic_rate: float = 3e-4
    critic_rho: float = float("inf")
    critic_c: float = 1.0
    exploring: bool = False
    critic_target_rate: float = 1.0

    @property
    def networks_beside(self) -> int:
        """The critic and the transformations."""
        return 2

    def __post_init__(self) -> None:
        if self.transformations not in TRANSFORMATIONS:
            known = ", ".join(TRANSFORMATIONS)
            raise SettingError(f"no transformations are called {self.transformations}; known: {known}")
        if self.count < 2 or not self.step > 0 or not self.critic_rate > 0:
            raise SettingError("SePoT needs two transformations or more, and a step and learning rate above 0")
        if not 0.0 < self.critic_target_rate <= 1.0:
            raise SettingError(f"critic_target_rate is a share above 0, not {self.critic_target_rate}")


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
