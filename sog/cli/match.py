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
    count_preflop,
    facts_table,
    print_json,
    progress_bar,
    say,
    small_tree,
    stdout,
)
from sog.cli.options import PerUpdateOption, SimulationsOption, count, plain_file, seed_of, word
from sog.cli.stopping import stop_notice
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.games.base import Game, Unit

__all__ = ["by_seat", "decided", "earned", "match", "unit_of_means", "words"]

_WHO = (
    "A run's folder, a game (its shipped network, or an untrained one), a file of `sog solve --out`, one of random, "
    "always-call, always-fold (poker), equity (hold'em), 'pimbot(simulations=1000)', 'is-mcts(simulations=1000)', "
    "shortest-path (Scotland Yard), or MODULE:NAME: a class derived from sog.Agent, or a function (game, player, seed) "
    "that makes a pyspiel.Bot."
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
    simulations: SimulationsOption = None,
    per_update: PerUpdateOption = None,
    algorithm_a: Annotated[
        str | None, word("A's algorithm string, such as 'sog(simulations=20)'; by default what trained its network.")
    ] = None,
    algorithm_b: Annotated[str | None, word("B's algorithm string.")] = None,
    limit_gb: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play hands of two agents: what A wins a hand on average, in utilities (at poker chips), with a 95% interval.

    Each deal is played twice with the seats swapped, and chance draws the same both times; the 95% interval is that of
    the pairs. A new agent is made for every hand and is given public states and its own infostate only. Games
    too large to list are played, too: each agent's public tree grows during the hand. -s and -c are of both agents,
    --algorithm-a and --algorithm-b of one. The same command with the same --records continues a match that was stopped.
    Games without chance and hidden information: `sog tournament`.
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
    count_preflop(rules)
    first = open_entrant("A", a, rules, algorithm_a, budget)
    second = open_entrant("B", b, rules, algorithm_b, budget)
    for setting, value in budget.items():
        if value is not None and setting not in (*first.takes, *second.takes):
            raise SettingError(f"neither A nor B searches: --{setting.replace('_', '-')} changes nothing")
    for entrant in (first, second):
        if entrant.note:
            say(f"sog: {entrant.name}: {entrant.note}")
    played = HandMatch(rules, (first, second), seed, small_tree(rules, limit_gb), policies)
    notice = "" if records is None else f"finished hands are kept in {records}: the same command continues from there"

    with stop_notice(lambda: notice):
        won = play_match(played, hands, records, partial(progress_bar, f"match {rules.name}", hands, "hands"))
    answer = {"game": rules.name, "a": a, "b": b, **earned(won), **unit_of_means(rules), **by_seat(won, rules)}
    if as_json:
        print_json(answer)
    else:
        facts = {"game": rules.name, "hands": f"{hands:,}", "A wins a hand": _winnings_text(won, rules, 2)}
        facts |= {f"as {name}": _winnings_text(won[p::2], rules, 1) for p, name in enumerate(rules.player_names)}
        stdout().print(facts_table(facts))


def earned(won: Sequence[float], together: int = 2) -> dict[str, Any]:
    """What an agent won a hand: the mean in utilities, its 95% interval (None for one deal), and the hands.

    together: how many neighbours are one deal's hands, which count as one observation.
    """
    mean, half = _mean(won, together)
    return {"mean": mean, "interval95": None if half is None else [mean - half, mean + half], "hands": len(won)}


def unit_of_means(game: Game) -> dict[str, str]:
    """What `earned` counts in: utilities, which are chips at poker, and not the unit that other commands report in."""
    return {"unit": game.unit.name if game.unit.per_utility == 1.0 else "utility"}


def by_seat(won: Sequence[float], game: Game) -> dict[str, Any]:
    """What A won as either player; the share of hands that A won, too, where hands are won, drawn or lost.

    A draw counts as half. Intervals are by deals.
    """
    overall: dict[str, Any] = {}
    seats: list[dict[str, Any]] = [{"player": p, "name": game.player_names[p], **earned(won[p::2], 1)} for p in (0, 1)]
    if decided(won, game):
        shares = [(utility / game.u_max + 1) / 2 for utility in won]
        overall["wins"] = _share(shares, 2)
        for player, seat in enumerate(seats):
            seat["wins"] = _share(shares[player::2], 1)
    return {**overall, "seats": seats}


def decided(won: Sequence[float], game: Game) -> bool:
    """Whether each hand was won, drawn or lost, and nothing else; unknown, and so no, where all were drawn."""
    return {1.0} <= {round(abs(one) / game.u_max, 9) for one in won} <= {0.0, 1.0}


def _share(shares: Sequence[float], together: int) -> dict[str, Any]:
    """A share of hands and its interval, by deals of one or two of them."""
    from sog.measure.intervals import share_interval

    deals = [(sum(shares[k : k + together]), together) for k in range(0, len(shares), together)]
    return {"share": sum(shares) / len(shares), "interval95": list(share_interval(deals))}


def _winnings_text(won: Sequence[float], game: Game, together: int) -> str:
    """What was won a hand, and how many of the hands where they are won or lost."""
    winnings = words(won, game.unit, together)
    if not decided(won, game):
        return winnings
    wins = _share([(utility / game.u_max + 1) / 2 for utility in won], together)
    low, high = wins["interval95"]
    return f"{winnings}, {100 * wins['share']:.3g}% [{100 * low:.3g}, {100 * high:.3g}] of the hands"


def _mean(values: Sequence[float], together: int) -> tuple[float, float | None]:
    """The mean and half of its interval, by deals of one or two values."""
    from sog.measure.intervals import mean_interval, mean_of_pairs

    return mean_of_pairs(values) if together == 2 else mean_interval(values)


def words(won: Sequence[float], unit: Unit, together: int = 2) -> str:
    """The same for people, in utilities and in the game's unit of reports where that is another."""
    from sog.measure.intervals import plus_minus

    mean, half = _mean(won, together)
    times = unit.per_utility
    own = "" if times == 1.0 else f" ({plus_minus(times * mean, half and times * half)} {unit.name})"
    return f"{plus_minus(mean, half)}{own}"
