"""GT-CFR's budget and settings, and the papers' own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from sog.errors import SettingError, check_whole
from sog.searches.cfr.rules import DCFR, SOG, Rule

__all__ = ["LEAST_PER_UPDATE", "PAPER", "POG", "Budget", "SearchSettings"]

LEAST_PER_UPDATE: Final = 1e-6  # a million regret updates between two expansions


@dataclass(frozen=True)
class Budget:
    """(s, c): ceil(s / ceil(c)) rounds of ceil(1/c) regret updates, and ceil(c) expansions between two rounds.

    No expansions follow the last round, since no update would use them: (100, 1) is 100 updates and 99 expansions,
    (100, 0.1) 1,000 updates and 99, (1000, 10) 100 updates and 990.

    simulations: s, expansions a search.  per_update: c, expansions per regret update.
    """

    simulations: int
    per_update: float = 1.0

    def __post_init__(self) -> None:
        check_whole("simulations", self.simulations, 1)
        c = self.per_update
        number = isinstance(c, int | float | np.number) and not isinstance(c, bool)
        if not (number and c > 0 and math.isfinite(c)):
            raise SettingError(f"simulations per update are a finite number above 0, not {c!r}")
        if c < LEAST_PER_UPDATE:
            raise SettingError(f"simulations per update are at least {LEAST_PER_UPDATE:g}, not {c:g}")

    @property
    def expansions(self) -> int:
        """Expansions between two rounds."""
        return math.ceil(self.per_update)

    @property
    def updates(self) -> int:
        """Regret updates in a round."""
        return max(1, math.ceil(1.0 / self.per_update - 1e-9))

    @property
    def rounds(self) -> int:
        return math.ceil(self.simulations / self.expansions)

    def __str__(self) -> str:
        return f"({self.simulations},{self.per_update:g})"


@dataclass(frozen=True)
class SearchSettings:
    """How GT-CFR searches, apart from its budget.

    rule: the regret rule; an alternating one updates both players in turn on one evaluation of the leaves.
    c_puct: PUCT's exploration constant.  prior_temperature: the softmax temperature of priors.
    select_average: the CFR half of the selection policy is the average policy (SoG), not the current (PoG).
    correct: apply the zero-sum correction to evaluations.
    warm_start: an opened node begins at its prior, with regrets worth this many value units (0: at uniform play).
    fill: if a simulation cannot expand anything (it reached the end of the game, or a leaf not evaluated yet), expand
    the oldest unexpanded leaf; where k = 1 also the oldest node that lacks a child. So s expansions happen while
    there is anything to expand. Both are ours; the papers' search has neither (PoG, "Complexity": "If a terminal state
    is hit at the end of the traversal, there is no expansion").
    fixed_belief: a trajectory's infostates at the searched state are drawn by the belief as the search begins, the
    opponent's range by the last search (SoG, "The expansion phase": "sampled from the beliefs in beta_root"; PoG,
    Algorithm 1 hands beta to GROW); otherwise by the last iteration's ranges, where a policy of 0 hides infostates.
    Where that gives no pair any probability, every possible pair is as likely as chance makes it.
    whole_root: the first tree holds all children of the searched state where k = 1 too (SoG: "an initial tree
    containing beta and all of its child public states"); otherwise the one that the prior likes best.
    tolerance: a leaf is evaluated anew once either range at it has moved by more than this since: the sum of absolute
    differences (2 at most) times the larger share of a player's range that comes there from the root. At 0 the search
    is what it is with every leaf evaluated in every iteration; 0.01 asks about a quarter of the beliefs of a search of
    (200, 1) on Liar's Dice and costs nothing that we can measure (docs/measured/speed.md).
    paths: in deterministic games of perfect information an iteration updates only the nodes that the last phase's
    trajectories passed (cfr/paths.py), and a round costs what its paths do and not what the tree does.
    chance_leaves: a leaf where chance is to move is never opened: the evaluator values it for all outcomes at once (as
    ReBeL, which solves to the end of a betting round; PoG's inputs name chance among who acts next).
    """

    rule: Rule = DCFR
    c_puct: float = 1.25
    prior_temperature: float = 1.0
    select_average: bool = True
    correct: bool = True
    warm_start: float = 1.0
    fill: bool = True
    fixed_belief: bool = True
    whole_root: bool = False
    tolerance: float = 0.0
    paths: bool = False
    chance_leaves: bool = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.tolerance <= 2.0:
            raise SettingError(f"the tolerance of ranges is from 0 to 2, not {self.tolerance}")
        if not (self.prior_temperature > 0 and math.isfinite(self.prior_temperature)):
            raise SettingError(f"the priors' temperature must be positive, not {self.prior_temperature}")
        for name, value in (("c_puct", self.c_puct), ("warm_start", self.warm_start)):
            if not (value >= 0 and math.isfinite(value)):
                raise SettingError(f"{name} must be 0 or more, not {value}")


# SoG's search, and PoG's, whose selection follows the current policy (PoG, 3.2.2).
PAPER = SearchSettings(rule=SOG, correct=False, warm_start=0.0, fill=False, whole_root=True)


POG = replace(PAPER, select_average=False)
