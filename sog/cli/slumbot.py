"""`sog slumbot`: hands of an agent against Slumbot, at its web API, once a person has agreed to contact it."""

from __future__ import annotations

from typing import Annotated, Final

from sog.cli.frame import JsonOption
from sog.cli.options import AlgorithmOption, seed_of, word
from sog.cli.web_match import (
    AgentArgument,
    GameOption,
    HandsOption,
    RecordsOption,
    WebMatch,
    WebServer,
    YesOption,
    play_at,
)

__all__ = ["slumbot"]

_URL: Final = "https://slumbot.com/slumbot/api"


def slumbot(
    agent: AgentArgument,
    hands: HandsOption,
    records: RecordsOption,
    yes: YesOption = False,
    url: Annotated[str | None, word("The address of the API; by default slumbot.com's.")] = None,
    game: GameOption = None,
    algorithm: AlgorithmOption = None,
    seed: Annotated[int, seed_of("Seed of the agent.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Play hands against Slumbot, a strong program of heads-up no-limit hold'em, at its author's public web API.

    Nothing is sent before a person agrees, or --yes does. One request at a time is under way, and none is sent
    again that may have been served: a hand whose answer is lost is recorded as lost and left out of the mean (Slumbot
    forfeits it after a day). Prints what the agent won a hand, in chips of a big blind of 100, with a 95% interval,
    and the same of the baseline that Slumbot reports with each hand.
    """
    from sog.protocols.slumbot import SlumbotClient

    server = WebServer("slumbot", url or _URL, ("baseline", "Slumbot's baseline"), SlumbotClient, {})
    play_at(server, WebMatch(agent, hands, records, yes, game, algorithm, seed, as_json))
