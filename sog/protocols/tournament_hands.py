"""Tournaments of hidden information or chance: each pair plays deals both ways round, and what a hand earns counts.

An agent of such a file is one of these:

checkpoint = "leduc_poker"         a network, with simulations, per_update, paper and algorithm as on boards
policy = "leduc.json"              a policy of `sog solve --out`
code = "my_agents:BetsGoodHands"   a class derived from sog.Agent, or a function that makes bots of OpenSpiel's
opponent = "always-call"           one of sog.agents.entrants.OPPONENTS, such as "pimbot(simulations=1000)"
pimbot = 1000                      PimBot (Scotland Yard) with this number of simulations a move
is_mcts = 1000                     information set Monte Carlo tree search (Scotland Yard), likewise
random = true                      every legal action alike
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from sog.agents.entrants import code_entrant, network_entrant, opponent_entrant, policy_entrant
from sog.errors import SettingError
from sog.games.base import Game
from sog.play.hand import Entrant, HandMatch
from sog.play.hand_match import play_match
from sog.play.player import ENDLESS
from sog.progress import Report
from sog.protocols.words import Keys, number, refuse_unknown, switch, take, whole
from sog.searches.tree.public_tree import PublicTree

__all__ = ["Deals", "PairResult", "check_entrant", "entrant_of", "play_pairs"]


@dataclass(frozen=True)
class PairResult:
    """What agent `a` won of agent `b` in each hand, in utilities; hands 2k and 2k + 1 are one deal."""

    a: str
    b: str
    won: tuple[float, ...]


def _checkpoint(name: str, agent: Keys, game: Game) -> Entrant:
    budget = {
        "simulations": whole(agent, "simulations", 1, ENDLESS, None),
        "per_update": number(agent, "per_update", 1e-6, float(ENDLESS), None),
        "paper": take(agent, "paper", str, "") or None,
    }
    algorithm = take(agent, "algorithm", str, "") or None
    return network_entrant(name, take(agent, "checkpoint", str), game, algorithm, budget)


def _random(name: str, agent: Keys, game: Game) -> Entrant:
    switch(agent, "random")
    return opponent_entrant(name, "random", game, {})


def _opponent(name: str, agent: Keys, game: Game) -> Entrant:
    budget = {"simulations": whole(agent, "simulations", 1, ENDLESS, None)}
    return opponent_entrant(name, take(agent, "opponent", str), game, budget)


def _searching(key: str) -> Callable[[str, Keys, Game], Entrant]:
    """Makes an opponent whose key in the file is its number of simulations."""

    def made(name: str, agent: Keys, game: Game) -> Entrant:
        simulations = whole(agent, key, 1, ENDLESS, 1)
        return opponent_entrant(name, key.replace("_", "-"), game, {"simulations": simulations})

    return made


# By the key that says what an agent is: what makes it, and the further keys that it may have.
_KINDS: Final[Mapping[str, tuple[Callable[[str, Keys, Game], Entrant], frozenset[str]]]] = {
    "checkpoint": (_checkpoint, frozenset({"simulations", "per_update", "paper", "algorithm"})),
    "policy": (lambda name, agent, game: policy_entrant(name, take(agent, "policy", str), game), frozenset()),
    "code": (lambda name, agent, game: code_entrant(name, take(agent, "code", str), game), frozenset()),
    "opponent": (_opponent, frozenset({"simulations"})),
    "random": (_random, frozenset()),
    **{key: (_searching(key), frozenset()) for key in ("pimbot", "is_mcts")},
}


def check_entrant(name: str, agent: Any, game: Game) -> str:
    """The key that says what an agent is; SettingError unless it is exactly one, with keys of its own."""
    kinds = [kind for kind in _KINDS if isinstance(agent, dict) and kind in agent]
    if len(kinds) != 1:
        needs = f"it needs exactly one of {', '.join(_KINDS)}"
        raise SettingError(f"agent {name}: {game.name} has chance or hidden information, and {needs}")
    refuse_unknown(f"agent {name}", agent, {*_KINDS[kinds[0]][1], kinds[0]})
    return kinds[0]


def entrant_of(name: str, agent: Keys, game: Game) -> Entrant:
    """An agent of a tournament's file; SogError where it cannot be opened or does not play the game."""
    return _KINDS[check_entrant(name, agent, game)][0](name, agent, game)


@dataclass(frozen=True, eq=False)
class Deals:
    """What every pair plays: `count` deals by a seed.  listed: the game's whole public tree, or None."""

    game: Game
    listed: PublicTree | None
    count: int
    seed: int


# Opens a progress bar with a title, how many there are, of what, and how many of them are finished.
OpenBar: TypeAlias = Callable[[str, int, str, int], AbstractContextManager[Report]]


def play_pairs(
    entrants: Mapping[str, Entrant], pairs: Sequence[tuple[str, str]], deals: Deals, folder: Path, bar: OpenBar
) -> Iterator[PairResult]:
    """Each pair's hands, in order, which are kept in files of the folder and read from there."""
    for place, (a, b) in enumerate(pairs, start=1):
        match = HandMatch(deals.game, (entrants[a], entrants[b]), deals.seed, deals.listed)
        hands, records = 2 * deals.count, folder / f"pair-{place:03}.jsonl"
        opened = partial(bar, f"{a} - {b} ({place} of {len(pairs)})", hands, "hands")
        yield PairResult(a, b, tuple(play_match(match, hands, records, opened)))
