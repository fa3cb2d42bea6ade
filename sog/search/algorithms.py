"""Every iterative solver by name, with one way to run it: so many more iterations on a tree without leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from sog.errors import SettingError
from sog.search import fictitious
from sog.search.fictitious import FictitiousPlay
from sog.search.lookahead import Lookahead
from sog.search.regret import RULES, Rule


@dataclass(frozen=True)
class Algorithm:
    """A solver. Its whole state is in the tree; `tree.average_policy()` then shows what it has found.

    iterate: run so many more iterations on a tree without leaves that only this algorithm has run on.
    """

    name: str
    iterate: Callable[[Lookahead, int], None]


def of_rule(rule: Rule) -> Algorithm:
    """A member of the CFR family."""
    return Algorithm(rule.name, lambda tree, count: tree.iterate(rule, count))


def of_fictitious_play(variant: FictitiousPlay) -> Algorithm:
    """A variant of fictitious play."""
    return Algorithm(variant.name, variant.iterate)


_RULES: Final = {rule.name: rule for rule in RULES}
_FICTITIOUS: Final = {variant.name: variant for variant in fictitious.VARIANTS}

NAMES: Final = (*_RULES, *_FICTITIOUS)


def named(name: str, simultaneous: bool = False) -> Algorithm:
    """The algorithm with this name; SettingError where there is none.

    simultaneous: both players update at once; the name then says so. Otherwise in turn, except for "sog".
    """
    full_name = f"simultaneous {name}" if simultaneous else name
    if name in _RULES:
        rule = _RULES[name]
        return of_rule(replace(rule, name=full_name, alternating=False) if simultaneous else rule)
    if name in _FICTITIOUS:
        variant = _FICTITIOUS[name]
        return of_fictitious_play(replace(variant, name=full_name, alternating=False) if simultaneous else variant)
    raise SettingError(f"no algorithm is called {name}; known: {', '.join(NAMES)}")
