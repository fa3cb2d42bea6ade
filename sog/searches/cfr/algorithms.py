"""Every iterative solver by name, with one way to run it: this many more iterations on a tree without leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from sog.errors import SettingError
from sog.searches.cfr import fictitious
from sog.searches.cfr import monte_carlo as mccfr
from sog.searches.cfr.fictitious import FictitiousPlay
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.monte_carlo import MonteCarlo
from sog.searches.cfr.rules import RULES, Rule


@dataclass(frozen=True)
class IterativeSolver:
    """A solver. Its whole state is in the tree; `tree.update_average_policy()` then shows what it has found.

    iterate: run this many more iterations on a tree without leaves that only this algorithm has run on.
    """

    name: str
    iterate: Callable[[Lookahead, int], None]


def of_rule(rule: Rule) -> IterativeSolver:
    """The solver that iterates this rule of the CFR family."""
    return IterativeSolver(rule.name, lambda tree, count: tree.iterate(rule, count))


def of_variant(variant: FictitiousPlay | MonteCarlo) -> IterativeSolver:
    """The solver that iterates this variant of fictitious play or of Monte Carlo CFR."""
    return IterativeSolver(variant.name, variant.iterate)


_RULES: Final = {rule.name: rule for rule in RULES}
_FICTITIOUS: Final = {variant.name: variant for variant in fictitious.VARIANTS}
_MONTE_CARLO: Final = {variant.name: variant for variant in mccfr.VARIANTS}

ABOUT: Final = {
    "cfr": "regret matching, uniform averaging",
    "cfr+": "regret matching+, linear averaging",
    "lcfr": "linear CFR: iteration t's regrets and policy count t times",
    "dcfr": "discounted CFR (3/2, 0, 2)",
    "pcfr+": "predictive CFR+, quadratic averaging",
    "sog": "the rule of Student of Games: CFR+ with both players at once",
    "fp": "fictitious play",
    "linear-fp": "fictitious play, linear averaging",
    "flop": "fictitious linear optimistic play (ReBeL, appendix D)",
    "external-mccfr": "Monte Carlo CFR by external sampling",
    "outcome-mccfr": "Monte Carlo CFR by outcome sampling",
}
NAMES: Final = (*_RULES, *_FICTITIOUS, *_MONTE_CARLO)
DRAWING: Final = tuple(_MONTE_CARLO)  # those that a seed decides


def named(name: str, simultaneous: bool = False, seed: int = 0) -> IterativeSolver:
    """The algorithm with this name; SettingError where the name is unknown or it has no simultaneous form.

    simultaneous: both players update at once; the name then says so. Otherwise in turn, except for "sog".
    seed: of an algorithm that draws.
    """
    full_name = f"simultaneous {name}" if simultaneous else name
    if name in _RULES:
        rule = _RULES[name]
        return of_rule(replace(rule, name=full_name, alternating=False) if simultaneous else rule)
    if name in _FICTITIOUS:
        variant = _FICTITIOUS[name]
        return of_variant(replace(variant, name=full_name, alternating=False) if simultaneous else variant)
    # The walks of the two players are apart: what the first changes, the second sees.
    if name in _MONTE_CARLO and simultaneous:
        raise SettingError(f"{name} walks the tree for one player at a time: it has no simultaneous form")
    if name in _MONTE_CARLO:
        return of_variant(replace(_MONTE_CARLO[name], seed=seed))
    raise SettingError(f"no algorithm is called {name}; known: {', '.join(NAMES)}")
