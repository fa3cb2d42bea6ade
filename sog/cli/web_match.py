"""What `sog slumbot` and `sog gtowizard` share: hands of an agent at a web server, once a person has agreed to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Protocol, TypeAlias

import typer

from sog.cli.acpc import own_game
from sog.cli.frame import ask, count_preflop, facts_table, print_json, progress_bar, say, stdout
from sog.cli.match import earned, words
from sog.cli.options import count, plain_file, word
from sog.cli.stopping import stop_notice
from sog.errors import SettingError
from sog.files import append_line, bounded_json, open_regular, read_bounded

if TYPE_CHECKING:
    from sog.protocols.web_api import WebApi
    from sog.protocols.web_hands import WebHand, WebSeat

__all__ = [
    "AgentArgument",
    "GameOption",
    "HandsOption",
    "RecordsOption",
    "WebMatch",
    "WebPlayer",
    "WebServer",
    "YesOption",
    "play_at",
]

AgentArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="AGENT", help="As of `sog acpc`: a run's folder, always-call, ...")
]
HandsOption: TypeAlias = Annotated[int, count("How many hands, with those that --records has.")]
RecordsOption: TypeAlias = Annotated[
    Path, typer.Option(callback=plain_file, help="File for the hands; the same command continues from it.")
]
YesOption: TypeAlias = Annotated[bool, typer.Option("--yes", help="Contact the server without asking first.")]
GameOption: TypeAlias = Annotated[str | None, word("The agent's game, such as 'holdem(bets=allin)': its bets.")]

_PATIENCE: Final = 60.0  # seconds for each part of an answer
_LONGEST: Final = 10**9  # bytes of records


class WebPlayer(Protocol):
    """Plays hands from a number on."""

    def play(self, first: int) -> Iterator[WebHand]: ...


@dataclass(frozen=True)
class WebServer:
    """A server.  name: as records and progress have it.  beside: the field of hands that it says beside what was won,
    and what that is.
    """

    name: str
    url: str
    beside: tuple[str, str]
    client: Callable[[WebSeat, WebApi], WebPlayer]
    headers: Mapping[str, str]


@dataclass(frozen=True)
class WebMatch:
    """What a person asks for, as the commands have it."""

    agent: str
    hands: int
    records: Path
    yes: bool
    game: str | None
    algorithm: str | None
    seed: int
    as_json: bool


def play_at(server: WebServer, match: WebMatch) -> None:
    """Play the hands that the records lack, after asking, and print the figures of all."""
    from sog.agents.entrants import open_entrant
    from sog.protocols.acpc_client import table_of
    from sog.protocols.acpc_states import REVERSE_BLINDS
    from sog.protocols.web_api import WebApi
    from sog.protocols.web_hands import WebSeat

    api = WebApi(server.url, _PATIENCE, headers=server.headers)
    table = table_of(own_game(match.agent, match.game, match.algorithm), REVERSE_BLINDS)
    entrant = open_entrant(match.agent, match.agent, table.game, match.algorithm, {})
    if entrant.note:
        say(f"sog: {entrant.note}")
    plays = {"agent": entrant.plays, "game": table.game.name, "seed": match.seed}
    header, records, hands = json.dumps({server.name: 1, "url": server.url, **plays}), match.records, match.hands
    played = _read(records, header) if records.exists() else []
    if len(played) < hands:
        if not match.yes:
            _ask_first(f"{hands - len(played):,} hands of {match.agent} are to be played at {server.url}")
        if not records.exists():
            append_line(records, header)
        count_preflop(table.game)
        notice = f"finished hands are kept in {records}: the same command continues from there"
        title = f"{server.name} {match.agent}"
        client = server.client(WebSeat(entrant, table, match.seed), api)
        with stop_notice(lambda: notice), progress_bar(title, hands, "hands", begun=len(played)) as report:
            for hand in client.play(len(played)):
                append_line(records, json.dumps(asdict(hand)))
                played.append(hand)
                report(len(played), hand.lost)
                if len(played) >= hands:
                    break
    _print(server, table.game.name, played, match.as_json)


def _ask_first(plan: str) -> None:
    """SettingError unless a person agrees."""
    say(f"{plan}: contact this server now? [y/N]")
    if (ask("") or "").lower() not in ("y", "yes"):
        raise SettingError("nothing was sent, since nobody agreed; --yes does")


def _read(path: Path, header: str) -> list[WebHand]:
    """The hands of a records file; SettingError where it is of another match."""
    from sog.protocols.web_hands import WebHand

    with open_regular(path, _LONGEST) as (file, size):
        first, *lines = read_bounded(file, size).split(b"\n")
    if first != header.encode():
        raise SettingError(f"{path} is of another match; name another file")
    hands = []
    for line in lines:
        with suppress(ValueError, TypeError):  # of a line that a kill cut short
            hands.append(WebHand(**bounded_json(line)))
    if [hand.number for hand in hands] != list(range(len(hands))) or not all(type(hand.won) is int for hand in hands):
        raise SettingError(f"{path} is damaged; name another file")
    return hands


def _print(server: WebServer, game: str, played: list[WebHand], as_json: bool) -> None:
    from sog.games.base import Unit

    whole = [hand for hand in played if not hand.lost]
    if not whole:
        raise SettingError(f"no hand was played to its end: {played[-1].lost}")
    won, lost, unit = [float(hand.won) for hand in whole], len(played) - len(whole), Unit("mbb/h", 10.0)
    field, title = server.beside
    beside = [value for hand in whole if (value := getattr(hand, field)) is not None]
    if as_json:
        besides = earned(beside, 1) if beside else None
        print_json({"game": game, **earned(won, 1), "lost": lost, field: besides, "unit": "chips"})
        return
    facts = {"game": game, "hands": f"{len(won):,}, and {lost:,} that were lost", "wins a hand": words(won, unit, 1)}
    stdout().print(facts_table(facts | ({title: words(beside, unit, 1)} if beside else {})))
