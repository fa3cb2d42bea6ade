"""`sog aivat`: what agent A won a hand in a match's records, with most of the luck taken out."""

from __future__ import annotations

import time
from collections.abc import Sequence
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
    small_tree,
    stdout,
)
from sog.cli.match import unit_of_means, words
from sog.cli.options import plain_file, word
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.games.base import Game
    from sog.measure.aivat_values import Values
    from sog.searches.tree.public_tree import PublicTree

__all__ = ["aivat"]

_EQUITY, _EXACT = "equity", "exact"
_WHO = "With --values exact: who {} is taken to play like, as `sog match` names agents, such as a file of `sog solve`."


def aivat(
    records: Annotated[
        Path,
        typer.Argument(metavar="RECORDS", callback=plain_file, help="File of `sog match --records FILE --policies`."),
    ],
    values: Annotated[
        str, word("equity (poker), or exact: of the policies of --a and --b, in games that are listed.")
    ] = _EQUITY,
    a: Annotated[str | None, word(_WHO.format("A"), "--a")] = None,
    b: Annotated[str | None, word(_WHO.format("B"), "--b")] = None,
    own_draws: Annotated[
        bool, typer.Option("--own-draws", help="Actions need not be what the policies draw from the match's seed.")
    ] = False,
    limit_gb: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what A won a hand with most of the luck taken out: AIVAT (Burch et al., 2018), as played beside corrected.

    For the deal, for every chance event and for every decision of an agent whose policies are in the records, the
    value of what happened is taken off and the mean over what could have happened is put in its place; the end is a
    mean over all hands that such an agent might have had. The corrected mean is unbiased whatever the values are; the
    better they are, the narrower is its interval. Choose them before you look at the records.

    Values are equity, what both players would win if they checked or called to the end; or exact, what each pair of
    infostates wins under two fixed policies. Intervals are those of the pairs of hands, as in `sog match`.
    """
    from sog.games.catalog import make_game
    from sog.measure.aivat import AivatSettings
    from sog.measure.aivat import aivat as corrected_figure
    from sog.play.hand_match import read_match, read_records

    match = read_match(records)
    game, seed = match.get("game"), match.get("seed")
    if not isinstance(game, str) or not isinstance(seed, int) or seed < 0:
        raise SettingError(f"{records} does not say its match's game and seed")
    if not match.get("policies"):
        raise SettingError(f"{records} has no policies: `sog match --records FILE --policies` writes them")
    rules = make_game(game)
    listed = small_tree(rules, limit_gb)
    chosen = _values(rules, listed, values, (a, b))
    started = time.monotonic()
    with progress_bar(f"aivat {rules.name}", None, "hands") as report:
        settings = AivatSettings(chosen, seed, own_draws)
        figure = corrected_figure(
            rules, listed, lambda: read_records(records), settings, lambda hands: report(hands, "")
        )
    raw, corrected = _figures(figure.raw), _figures(figure.corrected)
    before, after = raw["standard_error"], corrected["standard_error"]
    less = 1.0 - after / before if before else None
    answer = {
        "game": rules.name,
        "hands": len(figure.raw),
        "known": list(figure.known),
        "values": chosen[0].name,
        "raw": raw,
        "corrected": corrected,
        "deviation_reduction": less,
        **unit_of_means(rules),
        "seconds": time.monotonic() - started,
    }
    if as_json:
        print_json(answer)
        return
    facts = {
        "game": rules.name,
        "hands": f"{len(figure.raw):,}",
        "policies known": " and ".join(each.upper() for each in figure.known) or "nobody's",
        "values": chosen[0].name,
        "A wins a hand": words(figure.raw, rules.unit),
        "corrected": words(figure.corrected, rules.unit),
        "deviation": "" if less is None else f"{100 * less:.1f}% less",
    }
    stdout().print(facts_table(facts))


def _values(
    game: Game, listed: PublicTree | None, values: str, who: tuple[str | None, str | None]
) -> tuple[Values, Values]:
    """The values where A is player 0, and where it is player 1; SettingError where they cannot be made."""
    from sog.agents.entrants import open_entrant
    from sog.games.holdem.game import Holdem
    from sog.measure.aivat_values import HoldemEquity, ListedValues, call_policy
    from sog.measure.exploitability import composed_policy

    if values not in (_EQUITY, _EXACT):
        raise SettingError(f"--values is {_EQUITY} or {_EXACT}, not {values}")
    if values == _EQUITY and any(who):
        raise SettingError("--a and --b are for --values exact")
    if isinstance(game, Holdem):
        if values == _EXACT:
            raise SettingError(f"{game.name} has too many pairs of hands for exact values; take --values equity")
        count_preflop(game)
        return HoldemEquity(), HoldemEquity()
    if listed is None:
        raise SettingError(f"{game.name} has too many public states to list, which these values need")
    if values == _EQUITY:
        called = ListedValues(listed, call_policy(listed), _EQUITY)
        return called, called
    if who[0] is None or who[1] is None:
        raise SettingError("exact values need both players' policies: name them with --a and --b")
    a, b = (open_entrant(name, text, game, None, {}) for name, text in zip("AB", who, strict=True) if text)
    name = f"exact, of {a.plays} against {b.plays}"
    make_a, make_b = a.seats(listed), b.seats(listed)
    policies = (make_a(0, 0), make_b(1, 0)), (make_b(0, 0), make_a(1, 0))
    first, second = (ListedValues(listed, composed_policy(agents), name) for agents in policies)
    return first, second


def _figures(won: Sequence[float]) -> dict[str, Any]:
    """The mean of pairs of hands, its standard error and its 95% interval; None for a single pair."""
    import numpy as np

    from sog.measure.intervals import mean_of_pairs

    mean, half = mean_of_pairs(won)
    pairs = np.reshape(won, (-1, 2)).mean(axis=1)
    error = None if half is None else float(pairs.std(ddof=1)) / len(pairs) ** 0.5
    return {"mean": mean, "standard_error": error, "interval95": None if half is None else [mean - half, mean + half]}
