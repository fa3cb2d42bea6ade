"""Student of Games: growing-tree CFR search with a counterfactual value-and-policy network.

What most programs need is here; each function and class has a docstring.

    import sog

    solution = sog.solve("leduc_poker", algorithm="dcfr", iterations=1000)
    print(solution.value, solution.exploitability)           # in the game's utilities: chips a hand
    agent = sog.load_agent("leduc_poker")                    # the shipped checkpoint
    print(sog.exploitability(agent))

Names are imported when they are first used, so `import sog` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sog.version import VERSION

__version__ = VERSION

__all__ = [
    "NATURE",
    "TERMINAL",
    "Agent",
    "Beliefs",
    "Budget",
    "CheckpointError",
    "Evaluations",
    "Fan",
    "Game",
    "GameError",
    "HistoryGame",
    "Links",
    "Moves",
    "Operator",
    "Referee",
    "Rooted",
    "Rule",
    "Run",
    "Scaled",
    "SettingError",
    "SogError",
    "UniformAgent",
    "Unit",
    "aec_env",
    "check_game",
    "check_history_game",
    "compare_with_openspiel",
    "exploitability",
    "known_games",
    "load_agent",
    "load_run",
    "make_game",
    "match",
    "openspiel_bot",
    "search",
    "solve",
    "to_tabular_policy",
    "train",
]

if TYPE_CHECKING:
    from sog.agents.hands import match
    from sog.agents.loaded import load_agent
    from sog.agents.openspiel_bot import openspiel_bot
    from sog.agents.uniform import UniformAgent
    from sog.api import aec_env, exploitability, search, solve, train
    from sog.errors import CheckpointError, GameError, SettingError, SogError
    from sog.games.base import NATURE, TERMINAL, Fan, Game, Links, Moves, Operator, Scaled, Unit
    from sog.games.catalog import known_games, make_game
    from sog.games.checks.histories import check_history_game
    from sog.games.checks.openspiel import compare_with_openspiel
    from sog.games.checks.public_states import check_game
    from sog.games.histories.base import HistoryGame
    from sog.games.rooted import Rooted
    from sog.measure.openspiel_export import to_tabular_policy
    from sog.play.agent import Agent
    from sog.play.referee import Referee
    from sog.searches.cfr.rules import Rule
    from sog.searches.gtcfr.settings import Budget
    from sog.searches.leaves.evaluator import Beliefs, Evaluations
    from sog.training.recorded import load_run
    from sog.training.run import Run

# Where each name is defined.
_HOMES = {
    "sog.api": ("aec_env", "exploitability", "search", "solve", "train"),
    "sog.agents.hands": ("match",),
    "sog.agents.loaded": ("load_agent",),
    "sog.agents.openspiel_bot": ("openspiel_bot",),
    "sog.agents.uniform": ("UniformAgent",),
    "sog.errors": ("CheckpointError", "GameError", "SettingError", "SogError"),
    "sog.games.base": ("NATURE", "TERMINAL", "Fan", "Game", "Links", "Moves", "Operator", "Scaled", "Unit"),
    "sog.games.catalog": ("known_games", "make_game"),
    "sog.games.checks.public_states": ("check_game",),
    "sog.games.checks.openspiel": ("compare_with_openspiel",),
    "sog.games.histories.base": ("HistoryGame",),
    "sog.games.checks.histories": ("check_history_game",),
    "sog.games.rooted": ("Rooted",),
    "sog.measure.openspiel_export": ("to_tabular_policy",),
    "sog.play.agent": ("Agent",),
    "sog.play.referee": ("Referee",),
    "sog.searches.cfr.rules": ("Rule",),
    "sog.searches.gtcfr.search": ("Budget",),
    "sog.searches.leaves.evaluator": ("Beliefs", "Evaluations"),
    "sog.training.recorded": ("load_run",),
    "sog.training.run": ("Run",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            attribute = getattr(importlib.import_module(home), name)
            globals()[name] = attribute
            return attribute
    raise AttributeError(f"module 'sog' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
