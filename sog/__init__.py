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
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sog.version import VERSION

__version__ = VERSION

__all__ = [
    "NATURE",
    "TERMINAL",
    "Agent",
    "Budget",
    "CheckpointError",
    "Fan",
    "Game",
    "GameError",
    "HistoryGame",
    "Links",
    "Moves",
    "Operator",
    "Rooted",
    "Run",
    "Scaled",
    "SettingError",
    "SogError",
    "UniformAgent",
    "Unit",
    "check_game",
    "check_history_game",
    "compare_with_openspiel",
    "exploitability",
    "known_games",
    "load_agent",
    "make_game",
    "openspiel_bot",
    "search",
    "solve",
    "train",
]

if TYPE_CHECKING:
    from pathlib import Path

    from sog.agents.front import Found, exploitability, search, solve, train
    from sog.agents.loaded import load_agent
    from sog.agents.openspiel_bot import openspiel_bot
    from sog.agents.uniform import UniformAgent
    from sog.errors import CheckpointError, GameError, SettingError, SogError
    from sog.games.base import NATURE, TERMINAL, Fan, Game, Links, Moves, Operator, Scaled, Unit
    from sog.games.catalog import known_games, make_game
    from sog.games.check import check_game
    from sog.games.compare import compare_with_openspiel
    from sog.games.histories.base import HistoryGame
    from sog.games.histories.check import check_history_game
    from sog.games.rooted import Rooted
    from sog.play.agent import Agent
    from sog.search.gtcfr.search import Budget
    from sog.search.leaves.evaluator import Evaluator
    from sog.train.curve import Point
    from sog.train.run import Hooks, Run

# Where each name is defined.
_HOMES = {
    "sog.agents.front": ("exploitability", "solve"),
    "sog.agents.loaded": ("load_agent",),
    "sog.agents.openspiel_bot": ("openspiel_bot",),
    "sog.agents.uniform": ("UniformAgent",),
    "sog.errors": ("CheckpointError", "GameError", "SettingError", "SogError"),
    "sog.games.base": ("NATURE", "TERMINAL", "Fan", "Game", "Links", "Moves", "Operator", "Scaled", "Unit"),
    "sog.games.catalog": ("known_games", "make_game"),
    "sog.games.check": ("check_game",),
    "sog.games.compare": ("compare_with_openspiel",),
    "sog.games.histories.base": ("HistoryGame",),
    "sog.games.histories.check": ("check_history_game",),
    "sog.games.rooted": ("Rooted",),
    "sog.play.agent": ("Agent",),
    "sog.search.gtcfr.search": ("Budget",),
    "sog.train.run": ("Run",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            found = getattr(importlib.import_module(home), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'sog' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _SearchRoom(ModuleType):
    """The folder sog.search, whose name is also a function's."""

    def __call__(
        self,
        game: Game | str,
        budget: Budget | None = None,
        leaves: Evaluator | Path | str | None = None,
        seed: int = 0,
    ) -> Found:
        """See `sog.agents.front.search`."""
        from sog.agents import front

        return front.search(game, budget, leaves, seed)


class _TrainRoom(ModuleType):
    """The folder sog.train, whose name is also a function's."""

    def __call__(
        self,
        run: Run | str,
        out: Path | str,
        minutes: float | None = None,
        rounds: int | None = None,
        resume: bool = False,
        hooks: Hooks | None = None,
        device: str = "cpu",
    ) -> Point:
        """See `sog.agents.front.train`."""
        from sog.agents import front

        return front.train(run, out, minutes, rounds, resume, hooks, device)


importlib.import_module("sog.search").__class__ = _SearchRoom
importlib.import_module("sog.train").__class__ = _TrainRoom
