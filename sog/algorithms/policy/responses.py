"""The ways to find a policy network's exploitability: on listed public states, streamed, or by a learned response."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from sog.algorithms.policy.agent import policy_exploitability
from sog.algorithms.policy.best_response import learn_response
from sog.algorithms.policy.own_policy import NetworkPolicy
from sog.algorithms.policy.settings import ResponseSettings
from sog.games.histories.base import HistoryGame
from sog.measure.intervals import mean_interval
from sog.measure.listed import listed
from sog.measure.streamed_best_response import streamed_exploitability
from sog.nets.network import Network

__all__ = ["LEARNED", "LISTED", "RESPONSES", "Response"]

# Takes how much is done, and a note.
Report: TypeAlias = Callable[[int, str], None]
Answer: TypeAlias = tuple[float, Mapping[str, float]]

_SHARES: Final = 10_000
LISTED: Final = "listed"
LEARNED: Final = "learned"


@dataclass(frozen=True)
class Response:
    """run: exploitability in utilities, and further figures.  total, of: what its progress counts to.

    Both take the settings of a response that is learned, which the others leave aside.
    """

    run: Callable[[HistoryGame, Network, Report, ResponseSettings], Answer]
    total: Callable[[ResponseSettings], int]
    of: str


def _listed(game: HistoryGame, network: Network, report: Report, settings: ResponseSettings) -> Answer:
    return policy_exploitability(listed(game.name), network), {}


def _streamed(game: HistoryGame, network: Network, report: Report, settings: ResponseSettings) -> Answer:
    def progress(share: float, seen: int) -> None:
        report(round(_SHARES * share), f"{seen:,} histories")

    streamed = streamed_exploitability(game, NetworkPolicy(game, network), report=progress)
    return streamed.exploitability, {"visited": streamed.histories}


def _learned(game: HistoryGame, network: Network, report: Report, settings: ResponseSettings) -> Answer:
    """Half the sum of what a response to each player wins: a lower bound, up to the interval."""
    won = []
    for seat in (0, 1):
        before = seat * settings.steps

        def progress(step: int, before: int = before) -> None:
            report(before + step, "")

        mean, half = mean_interval(learn_response(game, network, seat, settings, report=progress))
        won.append((mean, math.inf if half is None else half))
    # Exploitability is the mean of both; independent errors add up in squares.
    (zero, half_zero), (one, half_one) = won
    return (zero + one) / 2, {"interval": math.hypot(half_zero, half_one) / 2}


RESPONSES: Final[Mapping[str, Response]] = {
    LISTED: Response(_listed, lambda settings: 1, "policies"),
    "streamed": Response(_streamed, lambda settings: _SHARES, "parts"),
    LEARNED: Response(_learned, lambda settings: 2 * settings.steps, "steps"),
}
