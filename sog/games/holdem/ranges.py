"""Ranges of hold'em hands in players' notation, such as "22+,A2s-A5s,AKo,T9s:0.5,QhJh"."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from sog.arrays import Float64
from sog.errors import GameError
from sog.games.holdem.cards import HANDS, HIGH, LOW, RANKS, hand_number, parse_cards

_CLASS = re.compile(r"([2-9TJQKA])([2-9TJQKA])([so]?)(\+?)", re.IGNORECASE)
_SPAN = re.compile(r"([2-9TJQKA])([2-9TJQKA])([so]?)-([2-9TJQKA])([2-9TJQKA])([so]?)", re.IGNORECASE)
_COMBO = re.compile(r"([2-9TJQKA][cdhs]){2}", re.IGNORECASE)
_WEIGHT = re.compile(r"[0-9]*\.?[0-9]+([eE]-?[0-9]+)?")
# An entry: [50] before it, its hands, :0.5 or @50, [/50] behind it.
_ENTRY = re.compile(r"(?:\[([^][/]*)\])?([^][:@]*)(?:([:@])([^][:@]*))?(?:\[/([^][/]*)\])?")
_LEAST = 1e-6  # of a weight above 0: products of smaller ones leave single precision
_SHOWN = 80  # characters of a text in an error

FULL = "full"  # every hand
EVERY_HAND = (FULL, "random")  # the second one in other programs


def parse_range(text: str) -> Float64:
    """float64[1326]: the weight, 0 to 1, of every hand in a range; a later entry replaces an earlier one.

    Entries are separated by commas: AA, AKs, AKo, AK, 22+, A2s+, A2s-A5s, T9s-65s, QhJh, full or random. An entry has a
    weight with ":0.5" or, in percent, "@50" behind it; entries between [50] and [/50] have that many percent.
    GameError names the first entry of another form.
    """
    weights = np.zeros(HANDS)
    for name, value in _weighed(text):
        for hand in _hands(name, text):
            weights[hand] = value
    return weights


def class_grid(reach: Float64, policy: Float64) -> tuple[Float64, Float64]:
    """float64[13, 13], the mean weight of each class's hands; float64[A, 13, 13], how often it takes each action.

    Both axes run from A to 2; suited hands are above the diagonal of pairs.  reach: float64[1326], the hands' weights.
    policy: float64[A, 1326].
    """
    top, bottom = len(RANKS) - 1 - HIGH // 4, len(RANKS) - 1 - LOW // 4
    suited = HIGH % 4 == LOW % 4
    # Suited hands: row of the higher card. Offsuit hands: column of the higher card. Pairs: both are the same.
    cell = np.where(suited, top, bottom), np.where(suited, bottom, top)
    size = (len(RANKS), len(RANKS))
    count, weight, taken = np.zeros(size), np.zeros(size), np.zeros((len(policy), *size))
    np.add.at(count, cell, 1.0)
    np.add.at(weight, cell, reach)
    for a in range(len(policy)):
        np.add.at(taken[a], cell, reach * policy[a])
    # taken[a] = (sum over the class of reach * policy[a]) / (sum of reach).
    return weight / count, taken / np.maximum(weight, 1e-30)


def _weighed(text: str) -> Iterator[tuple[str, float]]:
    """Each entry of a range without its weight, and the weight."""
    block: str | None = None  # the percent of the brackets around an entry
    for entry in map(str.strip, text.split(",")):
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise _unknown(entry, text)
        opens, name, sign, weight, closes = match.groups()
        if opens is not None:
            if block is not None:
                raise GameError(f"brackets do not close before {_quoted(entry)}; write [50]AA,KK[/50]")
            block = opens.strip()
        if sign and block is not None:
            raise GameError(f"{_quoted(entry)} has a weight of its own between brackets")
        if sign or block is not None:
            yield name.strip(), _weight((weight if sign else block or "").strip(), entry, sign != ":")
        else:
            yield name.strip(), 1.0
        if closes is not None:
            if closes.strip() != block:
                raise GameError(f"{_quoted(entry)} closes other brackets; write [50]AA,KK[/50]")
            block = None
    if block is not None:
        raise GameError(f"brackets do not close in the range {_quoted(text)}; write [50]AA,KK[/50]")


def _weight(text: str, entry: str, percent: bool) -> float:
    largest = 100 if percent else 1
    if not _WEIGHT.fullmatch(text) or not (float(text) == 0 or largest * _LEAST <= float(text) <= largest):
        given = f"{_quoted(text)} in {_quoted(entry)}"
        kind = "weight in percent" if percent else "weight"
        raise GameError(f"a hand's {kind} is 0 or a number from {largest * _LEAST:g} to {largest}, not {given}")
    return float(text) / largest


def _unknown(name: str, text: str) -> GameError:
    known = "AA, AKs, 22+, A2s-A5s, QhJh, random; half of the time AA:0.5, AA@50 or [50]AA,KK[/50]"
    return GameError(f"no hands are called {_quoted(name)} in the range {_quoted(text)}; write {known}")


def _quoted(text: str) -> str:
    """A text in quotes, or its beginning where it is long."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _hands(name: str, text: str) -> Iterator[int]:
    """The hands of one entry without its weight."""
    if name.lower() in EVERY_HAND:
        yield from range(HANDS)
    elif _COMBO.fullmatch(name):
        yield hand_number(*parse_cards(name))
    elif match := _CLASS.fullmatch(name):
        high, low = RANKS.index(match[1].upper()), RANKS.index(match[2].upper())
        yield from _upwards(high, low, match[3].lower(), match[4] == "+", name)
    elif match := _SPAN.fullmatch(name):
        a, b, c, d = (RANKS.index(match[k].upper()) for k in (1, 2, 4, 5))
        if match[3].lower() != match[6].lower():
            raise GameError(f"the ends of a span are of one kind, not {name!r}")
        yield from _span((a, b), (c, d), match[3].lower(), name)
    else:
        raise _unknown(name, text)


def _upwards(high: int, low: int, kind: str, plus: bool, name: str) -> Iterator[int]:
    """One class, or with a plus also the better pairs or the better kickers."""
    if high == low:
        for rank in range(high, len(RANKS) if plus else high + 1):
            yield from _class(rank, rank, kind, name)
        return
    high, low = max(high, low), min(high, low)
    for kicker in range(low, high if plus else low + 1):
        yield from _class(high, kicker, kind, name)


def _span(first: tuple[int, int], last: tuple[int, int], kind: str, name: str) -> Iterator[int]:
    """From one class to another: pairs, kickers beside one high card, or hands of one gap."""
    a, b, c, d = max(first), min(first), max(last), min(last)
    step = (int(a != c), int(b != d))
    if (a == b) != (c == d) or (step == (1, 0)) or (step == (1, 1) and a - b != c - d):
        raise GameError(f"no span of hands: {name!r}; write 77-99, A2s-A5s or T9s-65s")
    for k in range(abs(b - d) + 1):
        up = k if d > b else -k
        yield from _class(a + up * step[0], b + up * step[1], kind, name)


def _class(high: int, low: int, kind: str, name: str) -> Iterator[int]:
    """The 4, 6, 12 or 16 hands of two ranks and a kind: suited, offsuit or both."""
    if high == low and kind:
        raise GameError(f"a pair is neither suited nor offsuit: {name!r}")
    for s in range(4):
        for t in range(4):
            if high == low:
                if s < t:
                    yield hand_number(4 * high + s, 4 * low + t)
            elif (s == t and kind != "o") or (s != t and kind != "s"):
                yield hand_number(4 * high + s, 4 * low + t)
