"""`sog match`: what one agent wins a hand against another, in a game of hidden information or chance."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sog.cli.frame import (
    JsonOption,
    LimitOption,
    facts_table,
    print_json,
    progress_bar,
    say,
    small_tree,
    stdout,
)
from sog.cli.options import count, plain_file, positive, seed_of, word
from sog.cli.stopping import say_kept
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.games.base import Unit

__all__ = ["earned", "match", "words"]

_WHO = (
    "A run's folder, a game (its shipped network, or an untrained one), a file of `sog solve --out`, one of random, "
    "always-call, always-fold, equity (poker), pimbot, shortest-path (Scotland Yard), or MODULE:NAME: a class derived "
    "from sog.Agent, or a function (game, player, seed) that makes a pyspiel.Bot."
)


def match(
    a: Annotated[str, typer.Argument(metavar="A", help=_WHO)],
    b: Annotated[str, typer.Argument(metavar="B", help="The other agent, likewise.")],
    game: Annotated[str, word("The game that they play.", "--game")],
    hands: Annotated[int, count("How many hands, an even number: each deal is played both ways round.")],
    seed: Annotated[int, seed_of("Seed of the deals and of the agents.")] = 0,
    records: Annotated[
        Path | None,
        typer.Option(callback=plain_file, help="File that gets each hand, a line of JSON; a match continues from it."),
    ] = None,
    policies: Annotated[
        bool, typer.Option("--policies", help="The records have the policies that actions were drawn from.")
    ] = False,
    simulations: Annotated[
        int | None, count("s: expansions per search, of both agents; by default 100.", "--simulations", "-s")
    ] = None,
    per_update: Annotated[
        float | None, positive("c: expansions per regret update, of both agents; by default 0.1.", "--per-update", "-c")
    ] = None,
    algorithm_a: Annotated[
        str | None, word("A's algorithm string, such as 'sog(simulations=20)'; by default what trained its network.")
    ] = None,
    algorithm_b: Annotated[str | None, word("B's algorithm string.")] = None,
    limit_gb: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play hands of two agents: what A wins a hand on average, in utilities (at poker chips), with a 95% interval.

    Each deal is played twice with the seats swapped, and chance draws the same both times; the 95% interval is that of
    the pairs. Each agent is made anew for every hand and is given public states and its own infostate only. Games that
    are too large to list are played, too: each agent's public tree grows along the hand. The same command with the same
    --records continues a match that was stopped. Games without chance and hidden information: `sog tournament`.
    """
    from sog.agents.entrants import open_entrant
    from sog.games.base import refuse_finished
    from sog.games.catalog import make_game
    from sog.play.hand import HandMatch
    from sog.play.hand_match import play_match

    if hands % 2:
        raise SettingError(f"--hands is an even number, not {hands}: each deal is played both ways round")
    if policies and records is None:
        raise SettingError("--policies adds to the records: name a file with --records")
    rules = make_game(game)
    refuse_finished(rules)
    if rules.deterministic:
        raise SettingError(f"{rules.name} has no chance and nothing hidden: `sog tournament` plays it from openings")
    budget = {"simulations": simulations, "per_update": per_update}
    first = open_entrant("A", a, rules, algorithm_a, budget)
    second = open_entrant("B", b, rules, algorithm_b, budget)
    for setting, value in budget.items():
        if value is not None and setting not in (*first.takes, *second.takes):
            raise SettingError(f"neither A nor B searches: --{setting.replace('_', '-')} changes nothing")
    for entrant in (first, second):
        if entrant.note:
            say(f"sog: {entrant.name}: {entrant.note}")
    played = HandMatch(rules, (first, second), seed, small_tree(rules, limit_gb), policies)
    kept = "" if records is None else f"finished hands are kept in {records}: the same command continues from there"

    with say_kept(lambda: kept):
        won = play_match(played, hands, records, partial(progress_bar, f"match {rules.name}", hands, "hands"))
    answer = {"game": rules.name, "a": a, "b": b, **earned(won), "unit": rules.unit.name}
    if as_json:
        print_json(answer)
    else:
        stdout().print(
            facts_table({"game": rules.name, "hands": f"{hands:,}", "A wins a hand": words(won, rules.unit)})
        )


def earned(won: Sequence[float]) -> dict[str, Any]:
    """What an agent won a hand: the mean in utilities, its 95% interval by the pairs, None of one pair, the hands."""
    from sog.measure.intervals import mean_of_pairs

    mean, half = mean_of_pairs(won)
    return {"mean": mean, "interval95": None if half is None else [mean - half, mean + half], "hands": len(won)}


def words(won: Sequence[float], unit: Unit) -> str:
    """The same for people, in utilities and in the game's unit of reports where that is another."""
    from sog.measure.intervals import mean_of_pairs, plus_minus

    mean, half = mean_of_pairs(won)
    times = unit.per_utility
    own = "" if times == 1.0 else f" ({plus_minus(times * mean, half and times * half)} {unit.name})"
    return f"{plus_minus(mean, half)}{own}"
