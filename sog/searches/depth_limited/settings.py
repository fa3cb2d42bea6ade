"""How depth-limited subgames are solved: the solvers of ReBeL's appendices D and E, and their settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError, check_not_negative
from sog.searches.cfr.fictitious import FLOP, FP, FictitiousPlay
from sog.searches.cfr.rules import LINEAR_CFR, Rule
from sog.searches.leaves.kernels import Weighing


@dataclass(frozen=True)
class Solver:
    """An iterative algorithm with its way of valuing leaves (ReBeL, appendices D and E).

    rule: how it iterates.  average: leaves are evaluated at the average policies' ranges, not the current ones. Where
    players alternate, player 0's ranges there are one update ahead of its average: each has the weight of the one
    before, and the uniform first one is left out.
    leaf: how answers become counterfactual values: PLAIN, DIFFERENCES or PAIRS (leaves.weighing.weigh). A PAIRS solver
    needs an evaluator whose values are player 0's utilities by pair of slots, float64[B, S0 * S1].
    """

    name: str
    rule: Rule | FictitiousPlay = LINEAR_CFR
    average: bool = False
    leaf: Weighing = Weighing.PLAIN


CFR_D: Final = Solver("cfr-d")
CFR_AVE: Final = Solver("cfr-ave", average=True, leaf=Weighing.PAIRS)
MODIFIED_CFR_AVE: Final = Solver("modified-cfr-ave", average=True, leaf=Weighing.DIFFERENCES)
REBEL_FP: Final = Solver("fp", FP, average=True)
REBEL_FLOP: Final = Solver("flop", FLOP, average=True)

SOLVERS: Final = (CFR_D, CFR_AVE, MODIFIED_CFR_AVE, REBEL_FP, REBEL_FLOP)


@dataclass(frozen=True)
class SolveSettings:
    """How a depth-limited subgame is solved.

    solver: the iterative algorithm, with its way of valuing leaves.
    depth: actions of players from its root to its leaves; 0 for the rest of the game.
    to_chance: states where chance is to move (the end of a betting round) are leaves too, except the subgame's root.
    updates: policy updates of one player, as ReBeL's program counts iterations; both players share them evenly.
    simultaneous: both players update after one evaluation of the leaves, which halves the network's work; otherwise
    the players update in turn.
    recycle: leaves are evaluated again once the iteration's number has grown by more than this share; 0: always.
    prune: leaves whose values would be multiplied by 0 are not evaluated; the result is the same.
    remember: leaves whose beliefs are as when they were last evaluated are not evaluated; the result is the same.
    correct: players' values at a leaf (DeepStack) and at the root are made to sum to zero.
    warm: how many first iterations count as played with the evaluator's policies (appendix J); for PLAIN leaves.
    hold: regrets that keep CFR at the warm start's policies, in value units for each of its iterations; 0 in the paper.
    """

    solver: Solver = CFR_D
    depth: int = 2
    to_chance: bool = False
    updates: int = 1024
    simultaneous: bool = False
    recycle: float = 0.0
    prune: bool = True
    remember: bool = True
    correct: bool = True
    warm: int = 0
    hold: float = 1.0

    def __post_init__(self) -> None:
        if self.updates < 2 or self.updates % 2:
            raise SettingError(f"updates must be a positive even number, not {self.updates}")
        if not self.simultaneous and not self.solver.rule.alternating:
            raise SettingError(f"{self.solver.name}'s rule updates both players at once: set simultaneous")
        if self.depth < 0:
            raise SettingError(f"depth must not be negative, but is {self.depth}")
        if not 0 <= self.recycle <= 1:
            raise SettingError(f"recycle must lie in [0, 1], but is {self.recycle}")
        if not 0 <= self.warm < self.iterations:
            raise SettingError(f"a warm start must be shorter than {self.iterations} iterations, not {self.warm}")
        check_not_negative("hold", self.hold)
        if self.warm and self.solver.leaf != Weighing.PLAIN:
            raise SettingError(f"{self.solver.name} cannot be started warm")

    @property
    def iterations(self) -> int:
        """Iterations, each an update of both players."""
        return self.updates // 2

    @property
    def pairs(self) -> bool:
        """Whether its leaves are evaluated by pair of infostates."""
        return self.solver.leaf == Weighing.PAIRS

    @property
    def weights(self) -> Float64:
        """float64[T]: the share of each iteration's policies in the averages, those of a warm start left out."""
        rule, t = self.solver.rule, np.arange(1, self.iterations + 1, dtype=np.float64)
        if isinstance(rule, Rule):
            weight = rule.steps(1, self.iterations)[:, 2]
        else:
            weight = t if rule.linear else np.ones_like(t)
        weight[: self.warm] = 0.0
        share: Float64 = weight / weight.sum()
        return share
