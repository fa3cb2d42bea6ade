"""The policy learners as entries in the table of learning algorithms: R-NaD, MMD and NashPG."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from sog.algorithms.base import Choices, Learner, MakeAgent, Measured, Measuring, Play, Training, count_of
from sog.errors import GameError, SettingError
from sog.progress import OpenBar

if TYPE_CHECKING:
    from sog.algorithms.base import Rules
    from sog.algorithms.policy.best_response import ResponseSettings
    from sog.algorithms.policy.presets import PolicySettings
    from sog.games.histories.base import HistoryGame
    from sog.nets.cvpn import CVPN
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.curve import Point
    from sog.training.meta import Meta
    from sog.training.opened import Opened
    from sog.training.run import Run
    from sog.training.settings import Variant

__all__ = ["MMD", "NASHPG", "RNAD", "by_histories", "history_rules", "measure_policy", "train_alone"]


def _rnad(game: Rules, name: str) -> PolicySettings:
    from sog.algorithms.policy.presets import rnad_preset

    return rnad_preset(history_rules(game), name)


def _mmd(game: Rules, name: str) -> PolicySettings:
    from sog.algorithms.policy.presets import mmd_preset

    return mmd_preset(history_rules(game), name)


def _nashpg(game: Rules, name: str) -> PolicySettings:
    from sog.algorithms.policy.presets import nashpg_preset

    return nashpg_preset(history_rules(game), name)


def by_histories(name: str) -> HistoryGame:
    from sog.games.histories.catalog import make_history_game

    return make_history_game(name)


def history_rules(game: Rules) -> HistoryGame:
    from sog.games.histories.base import HistoryGame

    return game if isinstance(game, HistoryGame) else by_histories(game.name)


def train_alone(run: Run, *arguments: Any) -> Point:
    """Training without workers; a user-defined game is checked before, in both of its forms where it has two."""
    from sog.algorithms.policy.loop import train_policy
    from sog.games.checks.own import check_own

    check_own(by_histories(run.game))
    return train_policy(run, *arguments)


def _list_with_bar(name: str, choices: Choices, bar: OpenBar) -> None:
    """List the game's public states; the error where it cannot be names the best responses that need none."""
    from sog.measure.listed import listed_with_bar

    try:
        listed_with_bar(name, choices.limit_gb, bar)
    except GameError as error:
        others = "--best-response streamed (exact) and learned (a lower bound) list no public states"
        raise GameError(f"{error}; {others}") from error


def measure_policy(public: PublicTree, network: CVPN, variant: Variant, preset: str) -> float:
    """The exploitability of the policy that the network itself plays."""
    from sog.algorithms.policy.agent import policy_exploitability

    return policy_exploitability(public, network)


def _agents(public: PublicTree, opened: Opened, choices: Choices) -> MakeAgent:
    from sog.algorithms.policy.agent import PolicyAgent

    return lambda player, seed: PolicyAgent(public, player, opened.network, seed)


def _exploit(name: str) -> Callable[[str, Choices, OpenBar], Measured]:
    """`sog exploit` of a checkpoint's policy network, whoever trained it: the policy is one, so there are no seeds."""

    def run(checkpoint: str, choices: Choices, bar: OpenBar) -> Measured:
        from sog.algorithms.policy.agent import refuse_no_policy
        from sog.algorithms.policy.responses import LEARNED, RESPONSES
        from sog.training.checkpoint import load_network
        from sog.training.shipped import find_checkpoint

        how, learning = _response(choices)
        game, network, meta = load_network(find_checkpoint(checkpoint, name))
        rules = by_histories(game)
        refuse_no_policy(rules, network)
        if how == _LISTED:
            _list_with_bar(rules.name, choices, bar)
        with bar(f"exploit {game}", RESPONSES[how].total(learning), RESPONSES[how].of) as report:
            value, found = RESPONSES[how].run(rules, network, report, learning)
        settings: dict[str, str | int | float] = {"algorithm": meta.algorithm, "steps": meta.step, "best_response": how}
        settings |= {"updates": learning.steps} if how == LEARNED else {}
        return _measured(rules, value, found, meta, settings)

    return run


_LISTED: Final = "listed"


def _response(choices: Choices) -> tuple[str, ResponseSettings]:
    """Which best response was chosen, and how one is learned; SettingError for choices that it does not take."""
    from sog.algorithms.policy.best_response import ResponseSettings
    from sog.algorithms.policy.responses import LEARNED, RESPONSES

    how = choices.best_response or _LISTED
    if how not in RESPONSES:
        raise SettingError(f"no best response is called {how}; known: {', '.join(RESPONSES)}")
    if choices.limit_gb is not None and how != _LISTED:
        raise SettingError(f"--limit-gb is for listing public states; {how} best responses list none")
    if choices.updates is not None and how != LEARNED:
        raise SettingError(f"--updates is for a best response that is learned; {how} ones learn nothing")
    plain = ResponseSettings()
    return how, replace(plain, steps=count_of("updates", choices.updates, plain.steps))


def _measured(
    rules: HistoryGame, value: float, found: Mapping[str, float], meta: Meta, settings: dict[str, str | int | float]
) -> Measured:
    """value: in utilities, as the interval in `found` where there is one."""
    scale, further = rules.unit.per_utility, ""
    if "interval" in found:
        found = {**found, "interval": scale * found["interval"]}
        further = f" ± {found['interval']:.2g} at least, by a learned best response"
    what = f"the policy network by {meta.algorithm} after {meta.step:,} steps"
    return Measured(rules.name, rules.unit.name, (value * scale,), what, settings, found, further=further)


def _entry(name: str, title: str, preset: Callable[[Rules, str], PolicySettings]) -> Learner:
    return Learner(
        name,
        title,
        Training(preset, measure_policy, "the network's policy", rules=by_histories, alone=train_alone),
        play=Play(_agents, ()),
        measuring=Measuring(_exploit(name), ("best_response", "updates", "limit_gb")),
    )


RNAD: Final = _entry("rnad", "R-NaD", _rnad)
MMD: Final = _entry("mmd", "MMD", _mmd)
NASHPG: Final = _entry("nashpg", "NashPG", _nashpg)
