"""`sog gtowizard`: hands of an agent at GTO Wizard's benchmark, once a person has agreed to contact it."""

from __future__ import annotations

import os
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
from sog.errors import SettingError
from sog.version import VERSION

__all__ = ["gtowizard"]

_URL: Final = "https://researcher.gtowizard.com"
_KEY: Final = "GTOW_API_KEY"


def gtowizard(
    agent: AgentArgument,
    hands: HandsOption,
    records: RecordsOption,
    yes: YesOption = False,
    url: Annotated[str | None, word("The address of the API; by default researcher.gtowizard.com's.")] = None,
    game: GameOption = None,
    algorithm: AlgorithmOption = None,
    seed: Annotated[int, seed_of("Seed of the agent.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Play hands against GTO Wizard's program of heads-up no-limit hold'em, at its public benchmark (arXiv:2603.23660).

    The environment variable GTOW_API_KEY holds your key (https://benchmark.gtowizard.com). Nothing is sent before a
    person agrees, or --yes does. One hand is played at a time. After a request without an answer the server's list of
    open hands says whether it was served. Hands that an earlier run left open are played on first and left out. Prints
    what the agent won a hand, in chips of a big blind of 100, with a 95% interval, and the same by the server's AIVAT.
    """
    from sog.protocols.gtowizard import GtoWizardClient

    key = os.environ.get(_KEY, "").strip()
    if not key.isascii() or not key.isprintable() or not key:
        raise SettingError(f"the environment variable {_KEY} has to hold your key: https://benchmark.gtowizard.com")
    # Without a name of its own a client is turned away before the server.
    headers = {"X-API-Key": key, "User-Agent": f"sog/{VERSION}"}
    server = WebServer("gtowizard", url or _URL, ("aivat", "by its AIVAT"), GtoWizardClient, headers)
    play_at(server, WebMatch(agent, hands, records, yes, game, algorithm, seed, as_json))
