"""`sog slumbot`: hands of an agent against Slumbot, at its web API, once a person has agreed to contact it."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from sog.cli.acpc import own_game
from sog.cli.frame import JsonOption, ask, count_preflop, facts_table, print_json, progress_bar, say, stdout
from sog.cli.match import earned, words
from sog.cli.options import AlgorithmOption, count, plain_file, seed_of, word
from sog.cli.stopping import stop_notice
from sog.errors import SettingError
from sog.files import append_line, bounded_json, open_regular, read_bounded

if TYPE_CHECKING:
    from sog.protocols.slumbot import SlumbotHand

__all__ = ["slumbot"]

_URL: Final = "https://slumbot.com/slumbot/api"
_PATIENCE: Final = 60.0  # seconds for each part of an answer
_LONGEST: Final = 10**9  # bytes of records


def slumbot(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="As of `sog acpc`: a run's folder, always-call, ...")],
    hands: Annotated[int, count("How many hands, with those that --records has.")],
    records: Annotated[
        Path, typer.Option(callback=plain_file, help="File for the hands; the same command continues from it.")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Contact the server without asking first.")] = False,
    url: Annotated[str | None, word("The address of the API; by default slumbot.com's.")] = None,
    game: Annotated[str | None, word("The agent's game, such as 'holdem(bets=allin)': its bets.")] = None,
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
    from sog.agents.entrants import open_entrant
    from sog.protocols.acpc_client import table_of
    from sog.protocols.acpc_states import REVERSE_BLINDS
    from sog.protocols.slumbot import SlumbotClient, WebApi

    url = url or _URL
    api, table = WebApi(url, _PATIENCE), table_of(own_game(agent, game, algorithm), REVERSE_BLINDS)
    entrant = open_entrant(agent, agent, table.game, algorithm, {})
    if entrant.note:
        say(f"sog: {entrant.note}")
    plays = {"agent": entrant.plays, "game": table.game.name, "seed": seed}
    match = json.dumps({"slumbot": 1, "url": url, **plays})
    played = _read(records, match) if records.exists() else []
    if len(played) < hands:
        if not yes:
            _ask_first(f"{hands - len(played):,} hands of {agent} are to be played at {url}")
        if not records.exists():
            append_line(records, match)
        count_preflop(table.game)
        notice = f"finished hands are kept in {records}: the same command continues from there"
        with stop_notice(lambda: notice), progress_bar(f"slumbot {agent}", hands, "hands", begun=len(played)) as report:
            for hand in SlumbotClient(entrant, table, seed, api).play(len(played)):
                append_line(records, json.dumps(asdict(hand)))
                played.append(hand)
                report(len(played), hand.lost)
                if len(played) >= hands:
                    break
    _print(table.game.name, played, as_json)


def _ask_first(plan: str) -> None:
    """SettingError unless a person agrees."""
    say(f"{plan}: contact this server now? [y/N]")
    if (ask("") or "").lower() not in ("y", "yes"):
        raise SettingError("nothing was sent, since nobody agreed; --yes does")


def _read(path: Path, match: str) -> list[SlumbotHand]:
    """The hands of a records file; SettingError where it is of another match."""
    from sog.protocols.slumbot import SlumbotHand

    with open_regular(path, _LONGEST) as (file, size):
        first, *lines = read_bounded(file, size).split(b"\n")
    if first != match.encode():
        raise SettingError(f"{path} is of another match; name another file")
    hands = []
    for line in lines:
        with suppress(ValueError, TypeError):  # of a line that a kill cut short
            hands.append(SlumbotHand(**bounded_json(line)))
    if [hand.number for hand in hands] != list(range(len(hands))) or not all(type(hand.won) is int for hand in hands):
        raise SettingError(f"{path} is damaged; name another file")
    return hands


def _print(game: str, played: list[SlumbotHand], as_json: bool) -> None:
    from sog.games.base import Unit

    whole = [hand for hand in played if not hand.lost]
    if not whole:
        raise SettingError(f"no hand was played to its end: {played[-1].lost}")
    won, lost, unit = [float(hand.won) for hand in whole], len(played) - len(whole), Unit("mbb/h", 10.0)
    baseline = [hand.baseline for hand in whole if hand.baseline is not None]
    if as_json:
        baseline_winnings = earned(baseline, 1) if baseline else None
        print_json({"game": game, **earned(won, 1), "lost": lost, "baseline": baseline_winnings, "unit": "chips"})
        return
    facts = {"game": game, "hands": f"{len(won):,}, and {lost:,} that were lost", "wins a hand": words(won, unit, 1)}
    stdout().print(facts_table(facts | ({"Slumbot's baseline": words(baseline, unit, 1)} if baseline else {})))
