"""Scotland Yard's opponents by name, with settings in the form of an algorithm string: pimbot(simulations=1000)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, TypeAlias, get_type_hints

from sog.algorithms.settings import coerced
from sog.errors import GameError, SettingError
from sog.games.scotland_yard.game import ScotlandYard
from sog.games.strings import parse_game
from sog.opponents.scotland_yard.is_mcts import ISMCTSChase
from sog.opponents.scotland_yard.player import ChasePlayer, PimBot
from sog.opponents.scotland_yard.settings import PimBotSettings
from sog.opponents.scotland_yard.shortest_path import ShortestPath

__all__ = ["CHASERS", "Chaser", "chaser_of", "split_settings"]

# Makes a player of a game with a seed.
MakeChaser: TypeAlias = Callable[[ScotlandYard, int], ChasePlayer]


@dataclass(frozen=True, eq=False)
class Chaser:
    """plays: all that decides its play, in words.  make: its player.  takes: whether it took those simulations."""

    plays: str
    make: MakeChaser
    takes: bool = False


def _pimbot(given: Mapping[str, Any]) -> tuple[str, MakeChaser]:
    settings = PimBotSettings(**given)
    return f"pimbot {settings}", lambda game, seed: PimBot(game, settings, seed)


def _is_mcts(given: Mapping[str, Any]) -> tuple[str, MakeChaser]:
    simulations, exploration = given.get("simulations", 1_000), given.get("exploration", 0.5)
    plays = f"is-mcts simulations={simulations} exploration={exploration}"
    return plays, lambda game, seed: ISMCTSChase(game, simulations, exploration, seed)


def _shortest_path(given: Mapping[str, Any]) -> tuple[str, MakeChaser]:
    return "shortest-path", lambda game, seed: ShortestPath(game, seed=seed)


_FIVE: Final = tuple[float, float, float, float, float]
_OF_PIMBOT: Final[Mapping[str, Any]] = {
    f.name: _FIVE if f.name == "table" else get_type_hints(PimBotSettings)[f.name] for f in fields(PimBotSettings)
}
# By name: what makes it, and its settings with their types.
CHASERS: Final[Mapping[str, tuple[Callable[[Mapping[str, Any]], tuple[str, MakeChaser]], Mapping[str, Any]]]] = {
    "shortest-path": (_shortest_path, {}),
    "is-mcts": (_is_mcts, {"simulations": int, "exploration": float}),
    "pimbot": (_pimbot, _OF_PIMBOT),
}


def split_settings(text: str) -> tuple[str, Mapping[str, Any]]:
    """The name and the settings in brackets of an opponent's text; SettingError where they are malformed."""
    name, bracket, _ = text.partition("(")
    try:
        return name.strip(), parse_game(f"{name.strip().replace('-', '_')}{text[len(name) :]}")[1] if bracket else {}
    except GameError as error:
        raise SettingError(str(error)) from error


def chaser_of(text: str, simulations: int | None) -> Chaser:
    """One of CHASERS; SettingError for an unknown setting or a value that does not fit it.

    simulations: those of the match, for one that searches and says no other number itself.
    """
    name, given = split_settings(text)
    make, known = CHASERS[name]
    for key in given:
        if key not in known:
            raise SettingError(f"{name} has no setting {key}; {_known(known)}")
    settings = {key: coerced(key, value, known[key]) for key, value in given.items()}
    takes = simulations is not None and "simulations" in known and "simulations" not in settings
    if takes:
        settings["simulations"] = simulations
    plays, player = make(settings)
    return Chaser(plays, player, takes)


def _known(known: Mapping[str, Any]) -> str:
    return f"known: {', '.join(known)}" if known else "it takes none"
