"""Exploitability of a checkpoint's policy network, by the best response that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from sog.algorithms.base import Asked, Measured, count_of
from sog.algorithms.policy.agent import refuse_no_policy
from sog.algorithms.policy.responses import LEARNED, LISTED, RESPONSES
from sog.algorithms.policy.settings import ResponseSettings
from sog.errors import GameError, SettingError
from sog.games.catalog import make_history_game
from sog.games.histories.base import HistoryGame
from sog.games.strings import parse_game
from sog.measure.listed import listed_with_bar
from sog.progress import OpenBar
from sog.training.checkpoint import load_network
from sog.training.meta import Meta

__all__ = ["measure_network"]


def measure_network(folder: Path, asked: Asked, bar: OpenBar) -> Measured:
    """There is one policy, so there are no seeds."""
    method, learning = _response(asked)
    game, network, meta = load_network(folder)
    rules = make_history_game(game)
    refuse_no_policy(rules, network)
    if method == LISTED:
        _list_with_bar(rules.name, asked, bar)
    with bar(f"exploit {game}", RESPONSES[method].total(learning), RESPONSES[method].of) as report:
        value, figures = RESPONSES[method].run(rules, network, report, learning)
    settings: dict[str, str | int | float] = {"algorithm": meta.algorithm, "steps": meta.step, "best_response": method}
    settings |= {"updates": learning.steps} if method == LEARNED else {}
    return _measured(rules, value, figures, meta, settings)


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
    method, settings = parse_game(asked.best_response or LISTED)
    if method not in RESPONSES:
        raise SettingError(f"no best response is called {method}; known: {', '.join(RESPONSES)}")
    if asked.limit_gb is not None and method != LISTED:
        raise SettingError(f"--limit-gb is for listing public states; {method} best responses list none")
    for name in settings:
        if method != LEARNED or name != _STEPS:
            raise SettingError(f"{method} best responses have no setting {name}; write {LEARNED}({_STEPS}=1000)")
    plain = ResponseSettings()
    steps = settings.get(_STEPS, plain.steps)
    if isinstance(steps, bool) or not isinstance(steps, int):
        raise SettingError(f"{_STEPS} is a whole number, not {steps}")
    return method, replace(plain, steps=count_of(_STEPS, steps, plain.steps))


def _measured(
    rules: HistoryGame, value: float, figures: Mapping[str, float], meta: Meta, settings: dict[str, str | int | float]
) -> Measured:
    """value: in utilities, as the interval in `figures` where there is one."""
    scale, further = rules.unit.per_utility, ""
    if "interval" in figures:
        figures = {**figures, "interval": scale * figures["interval"]}
        further = f" ± {figures['interval']:.2g} at least, by a learned best response"
    description = f"the policy network by {meta.algorithm} after {meta.step:,} steps"
    return Measured(rules.name, rules.unit.name, (value * scale,), description, settings, figures, further=further)
