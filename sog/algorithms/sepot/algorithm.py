"""SePoT as a learning algorithm: a policy learner, a critic of transformations, and search with both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from sog.algorithms.base import Asked, MakeAgent, Measured, Rules, count_of
from sog.algorithms.policy.algorithm import PolicyAlgorithm, history_rules
from sog.algorithms.policy.presets import PolicySettings
from sog.algorithms.policy.settings import ActionCriticSettings, PpoSettings, RnadSettings
from sog.algorithms.sepot.below import DepthLimit
from sog.algorithms.sepot.presets import SepotSettings, sepot_preset, with_policy
from sog.algorithms.sepot.search import SepotSearchSettings
from sog.errors import CheckpointError, SettingError, needs_pytorch
from sog.games.strings import Parameter
from sog.measure.exploitability import decision_count
from sog.measure.listed import listed_with_bar
from sog.progress import OpenBar
from sog.training.checkpoint import load_with_critic
from sog.training.settings import RunSettings
from sog.training.shipped import find_checkpoint

if TYPE_CHECKING:
    from sog.cluster.placement import Placement
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.curve import Point
    from sog.training.opened import Opened

__all__ = ["SEPOT", "Sepot"]

SEPOT: Final = "sepot"
_POLICY: Final = "policy"


@dataclass(frozen=True, kw_only=True)
class Sepot(PolicyAlgorithm):
    """SePoT: R-NaD, a critic of histories under transformed policies, and a search with multi-valued leaves.

    policy: what learns the policy in training: rnad, mmd or nashpg, as each does alone; by default R-NaD as in SePoT's
    Table 2.
    updates: CFR+ iterations of a search, by default 800.
    depth: actions of each player that a search looks ahead, 0 for no limit; by default as many as `histories` allows.
    histories: the most that a searched subgame may have, by default 25,000; elsewhere the network plays.
    gadget: where the gadget's values come from: critic, or previous (the last search; the default).
    alpha: the gadget's share of the opponent's range, in [0, 1]; by default 0.9, in the paper 1.
    """

    name: ClassVar[str] = SEPOT
    title: ClassVar[str] = "SePoT"
    measure_is: ClassVar[str] = "the network's policy, without search"
    learns_with: ClassVar[tuple[type, ...]] = (
        PolicySettings,
        SepotSettings,
        RnadSettings,
        PpoSettings,
        ActionCriticSettings,
    )
    measured_with: ClassVar[tuple[str, ...]] = ("limit_gb",)

    policy: str = ""
    updates: int | None = None
    depth: int | None = None
    histories: int | None = None
    gadget: str = ""
    alpha: float | None = None

    def __post_init__(self) -> None:
        self.search_settings()  # refuses values outside their range
        if self.alpha is not None and not 0.0 <= self.alpha <= 1.0:
            raise SettingError(f"alpha must lie in [0, 1], not {self.alpha}")

    def preset(self, game: Rules, name: str) -> PolicySettings:
        return sepot_preset(history_rules(game), name)

    def _trains_with(self) -> tuple[str, ...]:
        return (_POLICY,)

    def _changed(self, settings: RunSettings, changes: Mapping[str, Parameter]) -> RunSettings:
        """The learner of the policy first, whose settings may then be changed."""
        assert isinstance(settings, PolicySettings)
        return super()._changed(with_policy(settings, self.policy) if self.policy else settings, changes)

    def search_settings(self) -> SepotSearchSettings:
        """How it searches."""
        plain = SepotSearchSettings()
        return replace(
            plain,
            iterations=count_of("updates", self.updates, plain.iterations),
            limit=plain.limit if self.depth is None else DepthLimit(self.depth),
            most=count_of("histories", self.histories, plain.most),
            gadget=self.gadget or plain.gadget,
            alpha=plain.alpha if self.alpha is None else self.alpha,
        )

    @needs_pytorch("training")
    def loop(self, placement: Placement | None = None) -> Callable[..., Point]:
        from sog.algorithms.sepot.learner import train_sepot

        return train_sepot

    @needs_pytorch("a policy network")
    def agents(self, public: PublicTree, opened: Opened) -> MakeAgent:
        from sog.algorithms.sepot.agent import SepotAgent, searching

        if opened.folder is None:
            raise CheckpointError(f"no checkpoint of {opened.game.name} by sepot is shipped; train one")
        search = searching(load_with_critic(opened.folder), self.search_settings())
        return lambda player, seed: SepotAgent(public, player, search, seed)

    @needs_pytorch("a policy network")
    def exploit(self, checkpoint: str | Path, asked: Asked, bar: OpenBar) -> Measured:
        """Every public state is searched as in play; the search draws nothing, so there are no seeds."""
        from sog.algorithms.sepot.agent import search_exploitability, searching

        trained = load_with_critic(find_checkpoint(str(checkpoint), SEPOT))
        game, settings = trained.game, self.search_settings()
        search = searching(trained, settings)
        public = listed_with_bar(game, asked.limit_gb, bar)
        with bar(f"exploit {game}", decision_count(public), "public states") as report:
            value = search_exploitability(public, search, lambda done: report(done, ""))
        unit = public.game.unit
        entries: dict[str, str | int | float] = {
            "algorithm": SEPOT,
            "steps": trained.meta.step,
            "updates": settings.iterations,
            "depth": settings.limit.depth,
            "fitted": settings.limit.fitted,
            "histories": settings.most,
            "gadget": settings.gadget,
            "alpha": settings.alpha,
        }
        searched = f"{search.searched} of {decision_count(public)} public states"
        play = f"SePoT's search at {searched} on the policy after {trained.meta.step:,} steps"
        return Measured(game, unit.name, (value * unit.per_utility,), play, entries, {"searched": search.searched})
