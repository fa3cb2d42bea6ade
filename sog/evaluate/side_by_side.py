"""Games between players of perfect-information games, many at once; it knows no rating, no file and no clock.

The searches of all games that wait for the same network are answered in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sog.errors import SettingError
from sog.games.base import TERMINAL, Game, State
from sog.play.player import Player
from sog.search.leaves.drive import drive
from sog.search.leaves.evaluator import Beliefs, Evaluations, Evaluator, SearchGenerator

__all__ = ["MakePlayer", "Seating", "after", "openings", "play_games"]

__all__ = ["MakePlayer", "Seating", "after", "openings", "play_games"]

# Makes a player for one game; players of games at once must not be the same object.
MakePlayer = Callable[[], Player]


@dataclass(frozen=True)
class Seating:
    """One game to be played.  players: who plays player 0 and who player 1.  opening: moves made before they begin."""

    players: tuple[MakePlayer, MakePlayer]
    opening: tuple[int, ...] = ()


@dataclass
class _Table:
    """A game under way.  result: player 0's utility as a share of the largest, once the game is over."""

    moves: list[int]
    result: float = 0.0


def play_games(game: Game, seatings: Sequence[Seating], width: int = 64, moves_max: int = 0) -> list[float]:
    """Play every game and give player 0's result of each, in [-1, 1].

    width: how many games at once.  moves_max: a game still going on after so many moves is a draw; 0 for never.
    """
    router = _Router()
    tables = [_Table(list(seating.opening)) for seating in seatings]

    def jobs() -> Iterator[tuple[None, SearchGenerator]]:
        for seating, table in zip(seatings, tables, strict=True):
            yield None, _play(game, seating, table, router, moves_max)

    for _ in drive(jobs(), router, width):
        pass
    return [table.result for table in tables]


def openings(game: Game, count: int, plies: int, seed: int) -> list[tuple[int, ...]]:
    """`count` different positions, each after `plies` random moves, where the game still goes on; the same for a seed.

    Raises SettingError where no more are found.
    """
    rng, found = np.random.default_rng(seed), dict[tuple[int, ...], None]()
    for _ in range(100 * count):
        if len(found) == count:
            break
        state, moves = game.root(), list[int]()
        while len(moves) < plies and game.actor(state) != TERMINAL:
            moves.append(int(rng.choice(game.actions(state))))
            state = after(game, state, moves[-1])
        if game.actor(state) != TERMINAL:
            found[tuple(moves)] = None
    if len(found) < count:
        raise SettingError(f"{game.name} has fewer than {count} openings of {plies} moves")
    return list(found)


def after(game: Game, state: State, action: int) -> State:
    """The public state after an action of a game of perfect information."""
    fan, column = game.fan(state), game.actions(state).tolist().index(action)
    assert fan.moves is not None
    return fan.children[int(fan.moves.edge[0, column])]


def _play(game: Game, seating: Seating, table: _Table, router: _Router, moves_max: int) -> SearchGenerator:
    """One game, as a generator of its searches' leaf beliefs."""
    players = seating.players[0](), seating.players[1]()
    for player in players:
        player.new_game(game)
    state = game.root()
    for action in table.moves:
        state = after(game, state, action)
    while game.actor(state) != TERMINAL:
        if moves_max and len(table.moves) >= moves_max:
            return
        player = players[game.actor(state)]
        search = player.search(table.moves)
        yield from router.routed(search.steps(lambda: False), player.evaluator)
        table.moves.append(search.thought().action)
        state = after(game, state, table.moves[-1])
    table.result = game.payoff(state).scale * float(game.payoff(state).operator.matrix[0, 0]) / game.u_max


class _Router:
    """An evaluator that hands each search's beliefs to the evaluator of the player who asks."""

    def __init__(self) -> None:
        self.askers: dict[int, Evaluator] = {}  # by the asked beliefs' identity, while they wait

    def routed(self, steps: SearchGenerator, evaluator: Evaluator) -> Generator[Beliefs, Evaluations, None]:
        """The same search; what it asks will go to `evaluator`."""
        try:
            beliefs = next(steps)
            while True:
                self.askers[id(beliefs)] = evaluator
                beliefs = steps.send((yield beliefs))
        except StopIteration:
            return

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        askers = [self.askers.pop(id(beliefs)) for beliefs in requests]
        answers: dict[int, Evaluations] = {}
        for evaluator in {id(asker): asker for asker in askers}.values():
            own = [k for k, asker in enumerate(askers) if asker is evaluator]
            answers.update(zip(own, evaluator([requests[k] for k in own]), strict=True))
        return [answers[k] for k in range(len(requests))]
