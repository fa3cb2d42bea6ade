"""A solved spot's decisions as text: JSON, which `sog solve --lock` reads, and tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any, Final

from sog.arrays import Bool
from sog.games.holdem.game import Holdem
from sog.searches.holdem.hand_values import HandValues
from sog.searches.holdem.view import View

__all__ = ["decision", "hands_table", "json_file", "table_file"]

_DIGITS: Final = 9  # of probabilities in a file of all decisions


def decision(
    game: Holdem,
    seen: View,
    listed: Bool | None = None,
    values: HandValues | None = None,
    digits: int | None = None,
) -> dict[str, Any]:
    """A decision as --json prints it and `sog solve --lock` reads it.

    listed: bool[1326], the hands that it names, by default all.  values: what they are worth, left out where it is
    None.  digits: of probabilities, by default all.
    """
    rows: list[dict[str, Any]] = [
        {"hand": h, "weight": w, "policy": policy if digits is None else [round(x, digits) for x in policy]}
        for h, w, policy in seen.hands(listed)
    ]
    fields: dict[str, Any] = {
        "state": game.state_name(seen.state),
        "player": seen.actor,
        "actions": list(seen.actions),
    }
    if values is not None:
        means = values.means(seen) if values.comes(seen) else (None, None)
        fields["pot"], (fields["ev"], fields["equity"]) = values.pot, means
        for row, h in zip(rows, seen.numbers(listed), strict=True):
            if values.met[h] > 0:
                row["ev"], row["equity"] = float(values.ev[h]), float(values.equity[h])
            else:
                row["ev"] = row["equity"] = None
    return {**fields, "hands": rows}


def json_file(game: Holdem, every: Iterator[View]) -> Iterator[str]:
    """A file of decisions, one a line; those that no hand of the player comes to are left out."""
    begin = "[\n"
    for seen in every:
        if seen.reach.any():
            yield begin + json.dumps(decision(game, seen, digits=_DIGITS))
            begin = ",\n"
    yield "\n]\n"


def table_file(game: Holdem, every: Iterator[View]) -> Iterator[str]:
    """The same as a table: a line for each action of each hand."""
    yield "state,player,hand,weight,action,probability\n"
    for seen in every:
        text = io.StringIO()
        writer, name = csv.writer(text, lineterminator="\n"), game.state_name(seen.state)
        for hand, weight, policy in seen.hands():
            for action, x in zip(seen.actions, policy, strict=True):
                writer.writerow([name, seen.actor, hand, f"{weight:.6g}", action, f"{x:.6g}"])
        yield text.getvalue()


def hands_table(seen: View, values: HandValues) -> str:
    """The hands of one decision as a table, with what they are worth."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["hand", "weight", "ev", "equity", *seen.actions])
    for h, (hand, weight, policy) in zip(seen.numbers(), seen.hands(), strict=True):
        worth = [f"{x:.6g}" if values.met[h] > 0 else "" for x in (values.ev[h], values.equity[h])]
        writer.writerow([hand, f"{weight:.6g}", *worth, *(f"{x:.6g}" for x in policy)])
    return text.getvalue()
