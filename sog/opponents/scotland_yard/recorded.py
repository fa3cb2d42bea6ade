"""A recorded chase: the board after any of its moves, and the belief over where Mr X is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.base import Fan
from sog.games.scotland_yard.game import Chase, ScotlandYard
from sog.play.hand_record import HandDecision, HandRecord, replay
from sog.play.referee import Referee
from sog.searches.tree.public_tree import PublicTree

__all__ = ["RecordedChase", "recorded_chase"]


@dataclass(frozen=True, eq=False)
class RecordedChase:
    """A chase after some of its moves.

    state: what all see.  station: where Mr X is, an index.  moves: how many were made, double cards counted.
    belief: float64[I], the chance of each of `state.hidden`.  exact: whether the belief is Bayes' of the recorded
    policies of Mr X; otherwise all possible stations are alike in it.
    """

    game: ScotlandYard
    state: Chase
    station: int
    moves: int
    belief: Float64
    exact: bool


def recorded_chase(game: ScotlandYard, record: HandRecord, seed: int, moves: int | None = None) -> RecordedChase:
    """The chase of a hand's record after this many moves of either side, None for all of them.

    seed: the match's. SettingError where the hand has fewer moves, or is of another seed or other rules.
    """
    decisions = [at for at, taken in enumerate(record.steps) if isinstance(taken, HandDecision)]
    count = len(decisions) if moves is None else moves
    if not 0 <= count <= len(decisions):
        raise SettingError(f"hand {record.number} has {len(decisions)} moves, not {count}")
    end = decisions[count] if count < len(decisions) else len(record.steps)
    referee = Referee(PublicTree(game))
    worlds = replay(referee, record, seed)
    world = next(worlds)
    belief: Float64 | None = np.ones(game.num_infostates(game.root())[0])
    for taken in record.steps[:end]:
        fan, world = game.fan(referee.public.states[world.node]), next(worlds)
        if belief is not None:
            edge = referee.edge_into[world.node]
            width = game.num_infostates(referee.public.states[world.node])[0]
            by_x = isinstance(taken, HandDecision) and taken.player == 0
            policy = taken.policy if isinstance(taken, HandDecision) else None
            belief = _after(fan, edge, belief, width, policy, by_x)
    state = referee.public.states[world.node]
    assert isinstance(state, Chase)
    exact = belief is not None and bool(belief.sum() > 0)
    weights = belief if belief is not None and exact else np.ones(len(state.hidden))
    return RecordedChase(game, state, state.hidden[world.pair[0]], count, weights / weights.sum(), exact)


def _after(fan: Fan, edge: int, belief: Float64, width: int, policy: Float64 | None, by_x: bool) -> Float64 | None:
    """The belief after an edge; None where it is Mr X's and his policy is not recorded."""
    out = np.zeros(width)
    if by_x:
        if policy is None:
            return None
        assert fan.moves is not None
        for infostate, column in np.argwhere(fan.moves.edge == edge).tolist():
            target = infostate if fan.moves.target is None else int(fan.moves.target[infostate, column])
            # P(there) sums P(here) times the policy's chance of the action that leads from here to there.
            out[target] += belief[infostate] * policy[column, infostate]
        return out
    links = None if fan.carry is None else fan.carry[edge][0]
    if links is None:
        return belief
    out[links.target] = belief[links.source]
    return out
