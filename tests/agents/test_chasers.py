"""Scotland Yard's detectives answer with the same bits whichever of Mr X's hidden ways led to what all have seen."""

from __future__ import annotations

import numpy as np
import pytest

from sog.agents.entrants import open_entrant
from sog.agents.uniform import UniformAgent
from sog.arrays import Float64
from sog.games.base import step
from sog.games.catalog import make_game
from sog.games.scotland_yard.game import ScotlandYard
from sog.play.agent import Agent
from sog.play.hand import Entrant, HandMatch
from sog.play.hand_record import HandDecision, HandRecord
from sog.searches.tree.public_tree import PublicTree

GAME = "scotland_yard(map=london,start=100;13;26;29,rounds=4,reveals=none)"


def entrant(kind: type[Agent]) -> Entrant:
    return Entrant(kind.__name__, kind.__name__, lambda tree: lambda player, seed: kind(tree, player, seed), True)


def another_way(game: ScotlandYard, record: HandRecord, rng: np.random.Generator) -> list[int]:
    """Actions of Mr X on another of the ways that all see alike, drawn at random."""
    edges = [s.edge for s in record.steps]
    ways: list[tuple[int, list[int]]] = [(0, [])]
    state = game.root()
    for taken, edge in zip(record.steps, edges, strict=True):
        fan = game.fan(state)
        assert edge is not None
        if isinstance(taken, HandDecision) and taken.player == 0:
            assert fan.moves is not None
            found: dict[int, list[tuple[int, list[int]]]] = {}
            for infostate, actions in ways:
                for column in np.flatnonzero(fan.moves.edge[infostate] == edge).tolist():
                    _, (after, _) = step(fan, 0, (infostate, 0), column)
                    found.setdefault(after, []).append((after, [*actions, int(game.actions(state)[column])]))
            ways = [own[int(rng.integers(len(own)))] for own in found.values()]
        elif fan.carry is not None:
            links = fan.carry[edge][0]
            assert links is not None
            kept = dict(zip(links.source.tolist(), links.target.tolist(), strict=True))
            ways = [(kept[infostate], actions) for infostate, actions in ways if infostate in kept]
        state = fan.children[edge]
    own = [s.action for s in record.steps if isinstance(s, HandDecision) and s.player == 0]
    others = [actions for _, actions in ways if actions != own]
    return others[int(rng.integers(len(others)))]


@pytest.mark.parametrize("who", ["pimbot(simulations=100)", "is-mcts(simulations=60)", "shortest-path", "random", GAME])
def test_detectives_answer_the_same_whatever_is_hidden(who: str) -> None:
    game, rng = make_game(GAME), np.random.default_rng(0)
    assert isinstance(game, ScotlandYard)
    detectives = open_entrant("B", who, game, None, {"simulations": 3, "per_update": 1.0})
    for seed in range(3):
        first = next(HandMatch(game, (entrant(UniformAgent), detectives), seed, None, True).play(0, 1, _quiet))[0]
        way = another_way(game, first, rng)

        class Scripted(Agent):
            """Mr X on the other way."""

            def __init__(self, public: PublicTree, player: int, seed: int, way: tuple[int, ...] = tuple(way)) -> None:
                super().__init__(public, player, seed)
                self.left = list(way)

            def policy(self, node: int) -> Float64:
                raise AssertionError

            def act(self, node: int, infostate: int, rng: np.random.Generator) -> int:
                return int(np.searchsorted(self.public.actions(node), self.left.pop(0)))

        second = next(HandMatch(game, (entrant(Scripted), detectives), seed, None, True).play(0, 1, _quiet))[0]
        assert [s.edge for s in first.steps] == [s.edge for s in second.steps]
        answers = [
            [s.written() for s in one.steps if isinstance(s, HandDecision) and s.player] for one in (first, second)
        ]
        assert answers[0] and answers[0] == answers[1]


def _quiet(done: int, note: str) -> None:
    pass
