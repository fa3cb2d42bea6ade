"""A match of hands from Python, as `sog match` plays it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sog.agents.entrants import Budget, class_entrant, loaded_entrant, open_entrant, solution_entrant
from sog.agents.loaded import LoadedAgent
from sog.agents.solved import Solution
from sog.arrays import Float64
from sog.errors import SettingError, check_whole
from sog.games.base import Game, refuse_finished
from sog.games.checks.own import checked_game
from sog.measure.intervals import mean_of_pairs
from sog.play.agent import Agent
from sog.play.hand import Entrant, HandMatch
from sog.play.hand_match import play_match
from sog.searches.tree.whole import listed_tree

__all__ = ["MatchFigures", "Side", "match"]

# Who plays: an agent of load_agent, a solution, a class, or what `sog match` calls it.
Side: TypeAlias = str | Path | LoadedAgent | Solution | type[Agent]


@dataclass(frozen=True, eq=False)
class MatchFigures:
    """What A won in a match, in utilities.

    won: float64[hands]; hands 2k and 2k + 1 are the same deal, with A as player 0 and as player 1.  mean: per hand.
    interval95: the 95% interval of the mean, taken over deals; None for one deal.
    """

    game: str
    won: Float64
    mean: float
    interval95: tuple[float, float] | None

    def __repr__(self) -> str:
        interval = "" if self.interval95 is None else ", [{:.4g}, {:.4g}]".format(*self.interval95)
        return f"MatchFigures({self.game!r}, {self.mean:.4g} a hand{interval}, {len(self.won):,} hands)"


def match(
    a: Side,
    b: Side,
    game: Game | str,
    hands: int = 1000,
    seed: int = 0,
    simulations: int | None = None,
    per_update: float | None = None,
) -> MatchFigures:
    """What agent A wins a hand against B in a game of hidden information or chance, as `sog match` measures it.

    a, b: an agent of `load_agent`, what `solve` found, a class derived from sog.Agent, or the text that `sog match`
    takes: a run's folder, a game (its shipped network), "random", "always-call".  hands: an even number; each deal is
    played both ways round.
    seed: of the deals and the agents.  simulations, per_update: the budget (s, c) of those that texts name.
    Raises SettingError for what cannot play, GameError for an illegal policy, TooLarge for a game that an agent would
    have to list.

        print(sog.match("leduc_poker", "random", "leduc_poker", hands=100))
    """
    check_whole("hands", hands, 2)
    check_whole("seed", seed, 0)
    if hands % 2:
        raise SettingError(f"hands is an even number, not {hands}: each deal is played both ways round")
    rules = checked_game(game)
    refuse_finished(rules)
    if rules.deterministic:
        raise SettingError(f"{rules.name} has no chance and nothing hidden: `sog tournament` plays it from openings")
    budget: Budget = {"simulations": simulations, "per_update": per_update}
    first, second = _entrant("A", a, rules, budget), _entrant("B", b, rules, budget)
    for setting, value in budget.items():
        if value is not None and setting not in (*first.takes, *second.takes):
            raise SettingError(f"neither A nor B is a text whose agent takes {setting}")
    played = HandMatch(rules, (first, second), seed, listed_tree(rules))
    won = play_match(played, hands, None, lambda begun: nullcontext(lambda done, text: None))
    mean, half = mean_of_pairs(won)
    return MatchFigures(rules.name, np.array(won), mean, None if half is None else (mean - half, mean + half))


def _entrant(name: str, who: Side, game: Game, budget: Budget) -> Entrant:
    """Whoever is to play; SettingError for anything else."""
    if isinstance(who, LoadedAgent):
        return loaded_entrant(name, who, game)
    if isinstance(who, Solution):
        return solution_entrant(name, who, game)
    if isinstance(who, str | Path):
        return open_entrant(name, str(who), game, None, budget)
    if isinstance(who, type) and issubclass(who, Agent):
        return class_entrant(name, who)
    kind = f"the class {who.__name__}" if isinstance(who, type) else f"a value of type {type(who).__name__}"
    raise SettingError(
        f"{name} is an agent of load_agent, what solve found, a class derived from sog.Agent or a text, not {kind}"
    )
