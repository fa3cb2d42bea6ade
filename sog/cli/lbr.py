"""`sog lbr`: what Local Best Response, which knows an agent's strategy, wins from it at poker."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from sog.cli.frame import JsonOption, count_preflop, print_json, progress_bar, say, stdout
from sog.cli.options import (
    AlgorithmOption,
    PaperOption,
    PerUpdateOption,
    SimulationsOption,
    count,
    searching,
    seed_of,
    word,
)
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.algorithms.base import Algorithm
    from sog.measure.lbr import LbrFigure

__all__ = ["lbr"]

_MBB = "mbb/h"


def lbr(
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT",
            help="A run's folder, a game, a file of `sog solve ... --out` (a policy's with --game), MODULE:CLASS of an "
            "agent of your own, or always-fold, always-call, random, equity.",
        ),
    ],
    game: Annotated[
        str | None, word("The game to play; by default the checkpoint's, and whole hold'em for simple ones.", "--game")
    ] = None,
    bets: Annotated[
        str,
        word("fold-call, fold-call-pot-allin, 56, offered (what the game offers), or fractions such as 0.5;1;allin."),
    ] = "fold-call",
    call_streets: Annotated[
        int, typer.Option(min=0, max=4, help="On how many streets from the first LBR must check or call.")
    ] = 0,
    hands: Annotated[int, count("Hands; each deal is played from both seats.")] = 1000,
    raw: Annotated[
        bool, typer.Option("--raw", help="Score hands as dealt, not by their mean over the agent's range and boards.")
    ] = False,
    simulations: SimulationsOption = None,
    per_update: PerUpdateOption = None,
    algorithm: AlgorithmOption = None,
    paper: PaperOption = False,
    seed: Annotated[int, seed_of("Seed of the deals and of the agent.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure an agent of hold'em, Leduc or Kuhn poker by Local Best Response (Lisy and Bowling, 2017).

    LBR sees the agent's whole strategy, keeps its exact range, and decides as if both players checked or called to the
    end after its own action. What it wins is a lower bound of what a best response wins; a negative figure means that
    LBR loses. A figure says nothing without its bets and the streets on which LBR must call, so both are printed.

    Bets that the agent's tree has not are put into it, and the agent answers them. With bets a searching agent searches
    once for each bet that LBR considers; with fold-call it does not. ReBeL draws its iterations: LBR sees them, which
    is more than an opponent knows.

    Before the flop LBR needs a table of all pairs of hands. It is counted once, in about 20 seconds, and kept.
    """
    from sog.agents.poker import open_agent
    from sog.algorithms.table import player_of
    from sog.measure.lbr import LbrSettings, local_best_response

    searchers: list[Algorithm] = []

    def plays() -> Algorithm:
        searchers.append(searching(player_of(agent, algorithm), simulations, per_update, paper))
        return searchers[0]

    opened = open_agent(agent, game, plays, seed)
    if not searchers and (algorithm is not None or simulations is not None or per_update is not None or paper):
        raise SettingError(f"{agent} has no search: --algorithm, -s, -c and --paper change nothing")
    if not opened.trained:
        say(f"sog: no checkpoint of {opened.game.name} is here: this network is untrained")
    settings = LbrSettings(bets, call_streets, raw, seed)
    count_preflop(opened.game)
    started = time.monotonic()
    with progress_bar(f"lbr {opened.game.name}", hands, "hands") as report:
        figure = local_best_response(opened.game, opened.seats, hands, settings, report)
    _print(agent, figure, time.monotonic() - started, as_json)


def _print(agent: str, figure: LbrFigure, seconds: float, as_json: bool) -> None:
    game, half = figure.game, figure.half
    unit, settings = game.unit, figure.settings
    mean = figure.mean * unit.per_utility
    spread = None if half is None else round(half * unit.per_utility, 9)  # rounding has no interval
    if as_json:
        answer: dict[str, Any] = {"game": game.name, "agent": agent}
        if unit.name == _MBB:
            answer["mbb_per_hand"] = mean
        answer |= {
            "interval95": None if spread is None else [mean - spread, mean + spread],
            "unit": unit.name,
            "chips_per_hand": figure.mean,
            "hands": figure.hands,
            "bets": settings.bets,
            "call_streets": settings.call_streets,
            "scoring": "raw" if settings.raw else "expectation",
            "seed": settings.seed,
            "seconds": seconds,
        }
        print_json(answer)
        return
    from sog.measure.intervals import plus_minus

    must_call = "free on all streets"
    if settings.call_streets:
        must_call = f"calling on the first {settings.call_streets} street{'s' * (settings.call_streets > 1)}"
    before = f"{game.name}, {agent}: LBR wins "
    conditions = f"bets {settings.bets}, {must_call}, {figure.hands:,} hands, {figure.hands / seconds:,.0f}/s"
    chips = "" if unit.per_utility == 1.0 else f", {figure.mean:.4g} chips"
    after = f" {unit.name}{chips} ({conditions})"
    stdout().print(Text.assemble(before, (plus_minus(mean, spread), "bold"), after), soft_wrap=True)
