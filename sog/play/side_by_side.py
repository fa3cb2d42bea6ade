"""Games side by side, those of perfect information here and hands of hidden information in hand.py.

The searches of all games that wait for the same network are evaluated in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from sog.errors import SettingError
from sog.games.base import Game
from sog.play.move_tree import MoveTree
from sog.play.player import Player
from sog.searches.leaves.drive import drive
from sog.searches.leaves.evaluator import Beliefs, Evaluations, Evaluator, SearchGenerator

__all__ = ["MakePlayer", "Router", "Seating", "openings", "play_games"]

# Makes a player for one game; players of games at once must not be the same object.
MakePlayer = Callable[[], Player]


@dataclass(frozen=True)
class Seating:
    """One game to be played.  players: who plays player 0 and who player 1.  opening: moves made before they begin."""

    players: tuple[MakePlayer, MakePlayer]
    opening: tuple[int, ...] = ()


def play_games(game: Game, seatings: Sequence[Seating], width: int = 64, moves_max: int = 0) -> list[float]:
    """Play every game and give player 0's result of each, in [-1, 1].

    width: how many games at once.  moves_max: a game that has not ended after this many moves is a draw; 0 for never.
    """
    router = Router()
    tables = [_Table(game, seating, router, moves_max) for seating in seatings]
    for _ in drive(tables, router, width):
        pass
    return [table.result for table in tables]


def openings(game: Game, count: int, plies: int, seed: int) -> list[tuple[int, ...]]:
    """`count` different sequences of `plies` random moves after which the game still continues; the same for a seed.

    Two of them can lead to one position: of 200 on connect four with 4 moves each, 190 positions are different.
    Raises SettingError where no more are found.
    """
    rng, tree, sequences = np.random.default_rng(seed), MoveTree(game), dict[tuple[int, ...], None]()
    for _ in range(100 * count):
        if len(sequences) == count:
            break
        moves = list[int]()
        while len(moves) < plies and tree.result(tree.node_after(moves)) is None:
            moves.append(int(rng.choice(tree.actions(tree.node_after(moves)))))
        if tree.result(tree.node_after(moves)) is None:
            sequences[tuple(moves)] = None
    if len(sequences) < count:
        raise SettingError(f"{game.name} has fewer than {count} openings of {plies} moves")
    return list(sequences)


class _Table:
    """A game to be played: drive `steps()`, then read `result`.

    result: player 0's utility as a share of the largest; 0 for a game cut short.
    """

    def __init__(self, game: Game, seating: Seating, router: Router, moves_max: int) -> None:
        self.game, self.seating, self.router, self.moves_max = game, seating, router, moves_max
        self.result = 0.0

    def steps(self) -> SearchGenerator:
        """The game, as a generator of its searches' leaf beliefs."""
        tree, moves = MoveTree(self.game), list(self.seating.opening)
        players = self.seating.players[0](), self.seating.players[1]()
        for player in players:
            player.new_game(self.game)
        while (result := tree.result(tree.node_after(moves))) is None:
            if self.moves_max and len(moves) >= self.moves_max:
                return
            player = players[tree.actor(tree.decision_after(moves))]
            search = player.search(moves)
            yield from self.router.routed(search.steps(), player.evaluator)
            moves.append(search.thought().action)
        self.result = result


class Router:
    """An evaluator that hands each search's beliefs to its player's evaluator."""

    def __init__(self) -> None:
        self.evaluators: dict[int, Evaluator] = {}  # by the beliefs' identity, while they wait

    def routed(self, steps: SearchGenerator, evaluator: Evaluator) -> Generator[Beliefs, Evaluations, None]:
        """The same search; its beliefs will go to `evaluator`."""
        try:
            beliefs = next(steps)
            while True:
                # By identity: the driver joins requests of both players, and each belongs to one network.
                self.evaluators[id(beliefs)] = evaluator
                beliefs = steps.send((yield beliefs))
        except StopIteration:
            return

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        evaluators = [self.evaluators.pop(id(beliefs)) for beliefs in requests]
        answers: dict[int, Evaluations] = {}
        for evaluator in {id(one): one for one in evaluators}.values():
            own = [k for k, one in enumerate(evaluators) if one is evaluator]
            answers.update(zip(own, evaluator([requests[k] for k in own]), strict=True))
        return [answers[k] for k in range(len(requests))]
