"""The CFR family as one rule: how instant regrets are discounted, averaged and predicted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError, check_whole

_TABULATED: Final = 1024  # iterations whose weights are kept
_LARGEST_GAMMA: Final = 20.0  # t^gamma and its sums stay finite for as many iterations as anybody makes


@dataclass(frozen=True)
class Rule:
    """One member of the family. At iteration t = 1, 2, ... after adding the instant regret,

    positive regrets are multiplied by t^alpha / (t^alpha + 1), negative ones by the same with beta
    (infinity: kept whole; minus infinity: dropped, which is regret matching+), policies enter the average
    with weight (t - delay)^gamma times the player's own reach, those up to `delay` with none, and
    `predictive` rules choose the next policy as if the last instant regret came once more. alternating:
    players update in turn, each seeing the other's latest policy. (DCFR: Brown & Sandholm 2019; PCFR+:
    Farina et al. 2021; CFR+: Tammelin 2014.) SettingError for what is no name, number, yes or no.
    """

    name: str
    alpha: float = math.inf
    beta: float = math.inf
    gamma: float = 0.0
    predictive: bool = False
    alternating: bool = True
    delay: int = 0

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise SettingError(f"a rule's name is a word, not {self.name!r}")
        for field, largest in (("alpha", math.inf), ("beta", math.inf), ("gamma", _LARGEST_GAMMA)):
            value = getattr(self, field)
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not (number and -largest <= value <= largest):
                wanted = "a number" if math.isinf(largest) else f"a number from {-largest:g} to {largest:g}"
                raise SettingError(f"{field} of the rule {self.name} is {wanted}, not {value!r}")
        for field in ("predictive", "alternating"):
            if not isinstance(getattr(self, field), bool):
                raise SettingError(f"{field} of the rule {self.name} is True or False, not {getattr(self, field)!r}")
        check_whole(f"delay of the rule {self.name}", self.delay, 0)

    def steps(self, first: int, count: int) -> Float64:
        """float64[count, 4]: weights (positive, negative, average, prediction) of iterations first.. ."""
        t = np.arange(first, first + count, dtype=np.float64)
        out = np.empty((count, 4))
        # In the order in which regret_step and matching.update read them.
        out[:, 0] = _discount(t, self.alpha)
        out[:, 1] = _discount(t, self.beta)
        out[:, 2] = np.where(t > self.delay, _power(np.maximum(t - self.delay, 1.0), self.gamma), 0.0)
        out[:, 3] = float(self.predictive)
        return out


@lru_cache(maxsize=32)
def steps_to(last: int, rule: Rule) -> Float64:
    """float64[last, 4]: `Rule.steps` of the iterations up to `last`, the same array each time: nobody writes on it."""
    return rule.steps(1, last)


def cached_steps(rule: Rule, first: int, count: int) -> Float64:
    """float64[count, 4]: `Rule.steps`; of early iterations rows of one array, for searches that end in small trees."""
    last = first + count - 1
    return steps_to(_TABULATED, rule)[first - 1 : last] if last <= _TABULATED else rule.steps(first, count)


def _discount(t: Float64, power: float) -> Float64:
    # The limits of t^power / (t^power + 1) for t > 1.
    if math.isinf(power):
        return np.full_like(t, 1.0 if power > 0 else 0.0)
    raised = _power(t, power)
    # 1 where the power is too large for a number.
    return 1.0 - 1.0 / (raised + 1.0) if np.isinf(raised).any() else raised / (raised + 1.0)


def _power(t: Float64, power: float) -> Float64:
    """t ** power, with the same bits on every processor where power is half of 0, 1, 2, ... .

    NumPy's and the C library's own powers round differently from one processor to the next; roots and products do not.
    """
    halves = 2.0 * power
    if halves < 0.0 or halves != math.floor(halves) or power > _LARGEST_GAMMA:
        with np.errstate(over="ignore"):
            return t**power
    out = np.sqrt(t) if halves % 2.0 else np.ones_like(t)
    for _ in range(int(power)):
        out = out * t
    return out


CFR = Rule("cfr")
CFR_PLUS = Rule("cfr+", beta=-math.inf, gamma=1.0)
LINEAR_CFR = Rule("lcfr", alpha=1.0, beta=1.0, gamma=1.0)
DCFR = Rule("dcfr", alpha=1.5, beta=0.0, gamma=2.0)
PCFR_PLUS = Rule("pcfr+", beta=-math.inf, gamma=2.0, predictive=True)
SOG = Rule("sog", beta=-math.inf, gamma=1.0, alternating=False)  # SoG: simultaneous RM+, linear averaging

RULES = (CFR, CFR_PLUS, LINEAR_CFR, DCFR, PCFR_PLUS, SOG)
