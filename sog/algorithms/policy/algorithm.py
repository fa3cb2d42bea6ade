"""The policy learners R-NaD, MMD and NashPG as learning algorithms: their network's policy is played without search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from sog.algorithms.base import Algorithm, Asked, MakeAgent, Measured, Rules, count_of
from sog.algorithms.policy.action_critic import ActionCriticSettings
from sog.algorithms.policy.agent import PolicyAgent, policy_exploitability, refuse_no_policy
from sog.algorithms.policy.best_response import ResponseSettings
from sog.algorithms.policy.loop import train_policy
from sog.algorithms.policy.ppo import PpoSettings
from sog.algorithms.policy.presets import PolicySettings, mmd_preset, nashpg_preset, rnad_preset
from sog.algorithms.policy.responses import LEARNED, LISTED, RESPONSES
from sog.algorithms.policy.rnad import RnadSettings
from sog.errors import GameError, SettingError
from sog.games.catalog import make_history_game
from sog.games.checks.own import check_own
from sog.games.histories.base import HistoryGame
from sog.games.strings import parse_game
from sog.measure.listed import listed_with_bar
from sog.nets.cvpn import module_of
from sog.progress import OpenBar
from sog.training.checkpoint import load_network
from sog.training.shipped import find_checkpoint

if TYPE_CHECKING:
    from sog.cluster.where import Where
    from sog.nets.network import Network
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.curve import Point
    from sog.training.meta import Meta
    from sog.training.opened import Opened
    from sog.training.run import Run

__all__ = ["Mmd", "NashPg", "PolicyAlgorithm", "Rnad", "history_rules"]


def history_rules(game: Rules) -> HistoryGame:
    """The game by histories, whichever of its two forms is given."""
    return game if isinstance(game, HistoryGame) else make_history_game(game.name)


@dataclass(frozen=True, kw_only=True)
class PolicyAlgorithm(Algorithm):
    """What the policy learners share: they learn games by histories in one process, and play what the network says."""

    measure_is: ClassVar[str] = "the network's policy"
    measured_with: ClassVar[tuple[str, ...]] = ("best_response", "limit_gb")
    plays_hidden: ClassVar[bool] = True
    alone: ClassVar[bool] = True

    def rules(self, game: str) -> HistoryGame:
        return make_history_game(game)

    def loop(self, where: Where | None = None) -> Callable[..., Point]:
        """Training without workers; a user-defined game is checked before, in both of its forms where it has two."""
        return _train_checked

    def measure(self, public: PublicTree, network: Network, preset: str) -> float:
        """Exploitability of the policy that the network itself plays."""
        return policy_exploitability(public, module_of(network))

    def agents(self, public: PublicTree, opened: Opened) -> MakeAgent:
        network = module_of(opened.network)
        return lambda player, seed: PolicyAgent(public, player, network, seed)

    def exploit(self, checkpoint: str | Path, asked: Asked, bar: OpenBar) -> Measured:
        """Exploitability of a checkpoint's policy network; there is one policy, so there are no seeds."""
        how, learning = _response(asked)
        game, kept, meta = load_network(find_checkpoint(str(checkpoint), self.name))
        rules, network = make_history_game(game), module_of(kept)
        refuse_no_policy(rules, network)
        if how == LISTED:
            _list_with_bar(rules.name, asked, bar)
        with bar(f"exploit {game}", RESPONSES[how].total(learning), RESPONSES[how].of) as report:
            value, figures = RESPONSES[how].run(rules, network, report, learning)
        settings: dict[str, str | int | float] = {"algorithm": meta.algorithm, "steps": meta.step, "best_response": how}
        settings |= {"updates": learning.steps} if how == LEARNED else {}
        return _measured(rules, value, figures, meta, settings)


@dataclass(frozen=True, kw_only=True)
class Rnad(PolicyAlgorithm):
    """R-NaD: regularised Nash dynamics with neural replicator dynamics (DeepNash, Science 2022; SePoT, Table 2)."""

    name: ClassVar[str] = "rnad"
    title: ClassVar[str] = "R-NaD"
    learns_with: ClassVar[tuple[type, ...]] = (PolicySettings, RnadSettings, ActionCriticSettings)

    def preset(self, game: Rules, name: str) -> PolicySettings:
        return rnad_preset(history_rules(game), name)


@dataclass(frozen=True, kw_only=True)
class Mmd(PolicyAlgorithm):
    """MMD: PPO pulled towards a uniform magnet (Sokota et al., ICLR 2023; arXiv 2502.08938)."""

    name: ClassVar[str] = "mmd"
    title: ClassVar[str] = "MMD"
    learns_with: ClassVar[tuple[type, ...]] = (PolicySettings, PpoSettings)

    def preset(self, game: Rules, name: str) -> PolicySettings:
        return mmd_preset(history_rules(game), name)


@dataclass(frozen=True, kw_only=True)
class NashPg(PolicyAlgorithm):
    """NashPG: PPO pulled towards a magnet that is copied from the policy now and then (arXiv 2510.18183)."""

    name: ClassVar[str] = "nashpg"
    title: ClassVar[str] = "NashPG"
    learns_with: ClassVar[tuple[type, ...]] = (PolicySettings, PpoSettings)

    def preset(self, game: Rules, name: str) -> PolicySettings:
        return nashpg_preset(history_rules(game), name)


def _train_checked(run: Run, *arguments: Any) -> Point:
    check_own(make_history_game(run.game))
    return train_policy(run, *arguments)


def _list_with_bar(name: str, asked: Asked, bar: OpenBar) -> None:
    """List the game's public states; the error where it cannot be names the best responses that need none."""
    try:
        listed_with_bar(name, asked.limit_gb, bar)
    except GameError as error:
        others = "--best-response streamed (exact) and learned (a lower bound) list no public states"
        raise GameError(f"{error}; {others}") from error


_STEPS: Final = "updates"


def _response(asked: Asked) -> tuple[str, ResponseSettings]:
    """Which best response was asked for, and how one is learned; SettingError for settings that it does not take."""
    how, settings = parse_game(asked.best_response or LISTED)
    if how not in RESPONSES:
        raise SettingError(f"no best response is called {how}; known: {', '.join(RESPONSES)}")
    if asked.limit_gb is not None and how != LISTED:
        raise SettingError(f"--limit-gb is for listing public states; {how} best responses list none")
    for name in settings:
        if how != LEARNED or name != _STEPS:
            raise SettingError(f"{how} best responses have no setting {name}; write {LEARNED}({_STEPS}=1000)")
    plain = ResponseSettings()
    steps = settings.get(_STEPS, plain.steps)
    if isinstance(steps, bool) or not isinstance(steps, int):
        raise SettingError(f"{_STEPS} is a whole number, not {steps}")
    return how, replace(plain, steps=count_of(_STEPS, steps, plain.steps))


def _measured(
    rules: HistoryGame, value: float, figures: Mapping[str, float], meta: Meta, settings: dict[str, str | int | float]
) -> Measured:
    """value: in utilities, as the interval in `figures` where there is one."""
    scale, further = rules.unit.per_utility, ""
    if "interval" in figures:
        figures = {**figures, "interval": scale * figures["interval"]}
        further = f" ± {figures['interval']:.2g} at least, by a learned best response"
    what = f"the policy network by {meta.algorithm} after {meta.step:,} steps"
    return Measured(rules.name, rules.unit.name, (value * scale,), what, settings, figures, further=further)
