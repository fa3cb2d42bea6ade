"""Compare a game with OpenSpiel's of the same name, history by history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sog.errors import GameError, check_whole
from sog.games.base import NATURE, TERMINAL, Game, State
from sog.games.blame import code_of
from sog.games.checks.public_states import Visit, walk
from sog.games.openspiel.loading import load_in_turns

SpielState: TypeAlias = Any  # pyspiel has no types

_RELATIVE = 1e-9


@dataclass(frozen=True)
class Comparison:
    """What `compare_with_openspiel` saw.

    pairs: pairs with weight at decision and terminal states.  histories: OpenSpiel's histories of
    these pairs.  infostates: the actors' infostates.  openspiel_infostates: OpenSpiel's of the whole game;
    more than `infostates` only where the game merges some.  complete: whether all of it was compared; if
    not, `openspiel_infostates` is 0.
    """

    game: str
    pairs: int
    histories: int
    infostates: int
    openspiel_infostates: int
    complete: bool


def compare_with_openspiel(game: Game, max_states: int = 100_000, seed: int = 0, merges: bool = False) -> Comparison:
    """Replay a history of every pair in OpenSpiel; simultaneous games in their turn-based form.

    At every pair with weight: who acts, the legal actions, the utility, and that the weight is the
    chance probability of a whole number of OpenSpiel's histories. No OpenSpiel infostate may be split
    between two of ours. Where the whole game was walked, the histories counted must be all that
    OpenSpiel has, and the weight of every pair of OpenSpiel's infostates must be theirs; this last is
    left out for a game that `merges` some of them. Raises GameError on the first difference, in one line.
    """
    if not isinstance(game, Game):
        raise GameError(f"compare_with_openspiel takes an object of a class derived from sog.Game, not {game!r}")
    check_whole("max_states", max_states, 1)
    check_whole("seed", seed, 0)
    with code_of(f"{type(game).__name__}'s code", GameError):
        return _compared(game, max_states, seed, merges)


def _compared(game: Game, max_states: int, seed: int, merges: bool) -> Comparison:
    spiel = load_in_turns(game.name)
    owners: dict[str, tuple[State, int]] = {}
    weights: defaultdict[str, float] = defaultdict(float)
    pairs = histories = waiting = 0
    for visit in walk(game, max_states, seed):
        s, waiting = visit.state, visit.waiting
        if game.actor(s) == NATURE:
            continue
        w = game.weights(s).dense()
        for i0, i1 in np.argwhere(w > 0).tolist():
            state, chance = _replay(game, spiel, s, i0, i1)
            histories += _whole(game, s, (i0, i1), float(w[i0, i1]) / chance)
            weights[_joint(state)] += float(w[i0, i1])
            pairs += 1
            if game.actor(s) == TERMINAL:
                _compare_utility(game, s, (i0, i1), state)
            else:
                _compare_decision(game, visit, (i0, i1), state, owners)
    ours = len(set(owners.values()))
    if waiting:
        return Comparison(game.name, pairs, histories, ours, 0, False)
    theirs = _whole_game(spiel.new_initial_state())
    if histories != theirs.histories:
        raise GameError(f"{game.name}: has {histories} histories, OpenSpiel has {theirs.histories}")
    if not merges:
        _compare_weights(game, weights, theirs.weights)
    return Comparison(game.name, pairs, histories, ours, len(theirs.infostates), True)


def _fault(game: Game, s: State, pair: tuple[int, int], fault: str) -> GameError:
    return GameError(f"{game.name} at {game.state_name(s)!r}, pair {pair}: {fault}")


def _replay(game: Game, spiel: Any, s: State, i0: int, i1: int) -> tuple[SpielState, float]:
    """OpenSpiel's state after the pair's history, and the probability of its chance."""
    actions = game.history(s, i0, i1)
    if actions is None:
        raise _fault(game, s, (i0, i1), "no history for OpenSpiel")
    state, chance = spiel.new_initial_state(), 1.0
    for action in actions:
        if action not in state.legal_actions():
            raise _fault(game, s, (i0, i1), f"OpenSpiel does not allow {action} in {actions}")
        if state.is_chance_node():
            chance *= dict(state.chance_outcomes())[action]
        state.apply_action(action)
    return state, chance


def _whole(game: Game, s: State, pair: tuple[int, int], ratio: float) -> int:
    """How many of OpenSpiel's histories the pair has, all of one chance probability."""
    count = round(ratio)
    if count < 1 or abs(ratio - count) > _RELATIVE * count:
        wrong = f"the weight is {ratio:.6g} times OpenSpiel's chance of one history, which is no whole number"
        raise _fault(game, s, pair, f"{wrong}; histories of unequal chance in one pair cannot be compared")
    return count


def _compare_utility(game: Game, s: State, pair: tuple[int, int], state: SpielState) -> None:
    if not state.is_terminal():
        raise _fault(game, s, pair, "over, but not in OpenSpiel")
    payoff, w = game.payoff(s), game.weights(s)
    utility = payoff.scale * payoff.operator.matrix[pair] / (w.scale * w.operator.matrix[pair])
    if abs(utility - state.returns()[0]) > _RELATIVE * game.u_max:
        raise _fault(game, s, pair, f"utility {utility:.6g}, OpenSpiel's is {state.returns()[0]:.6g}")


def _compare_decision(
    game: Game, visit: Visit, pair: tuple[int, int], state: SpielState, owners: dict[str, tuple[State, int]]
) -> None:
    """Actor, legal actions, and whose infostate OpenSpiel's belongs to."""
    s, actor = visit.state, game.actor(visit.state)
    if state.current_player() != actor:
        raise _fault(game, s, pair, f"actor {actor}, OpenSpiel's is {state.current_player()}")
    assert visit.fan is not None and visit.fan.moves is not None
    legal = game.actions(s)[visit.fan.moves.edge[pair[actor]] >= 0].tolist()
    if legal != state.legal_actions():
        raise _fault(game, s, pair, f"actions {legal}, OpenSpiel's are {state.legal_actions()}")
    key = f"{actor} {state.information_state_string(actor)}"
    if owners.setdefault(key, (s, pair[actor])) != (s, pair[actor]):
        raise _fault(game, s, pair, f"OpenSpiel's infostate {key!r} also occurs elsewhere")


def _joint(state: SpielState) -> str:
    """OpenSpiel's infostates of both players and who acts."""
    both = " | ".join(state.information_state_string(p) for p in (0, 1))
    return f"{state.current_player()}: {both}"


def _compare_weights(game: Game, ours: Mapping[str, float], theirs: Mapping[str, float]) -> None:
    for key in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(key, 0.0), theirs.get(key, 0.0)
        if abs(mine - other) > _RELATIVE * max(mine, other):
            raise GameError(f"{game.name}: weight {mine:.6g}, OpenSpiel's is {other:.6g} at {key!r}")


@dataclass(frozen=True)
class _ComparedGame:
    """Of all decision and terminal histories: how many, the actors' infostates, chance by joint infostate."""

    histories: int
    infostates: set[str]
    weights: Mapping[str, float]


def _whole_game(root: SpielState) -> _ComparedGame:
    waiting, histories = [(root, 1.0)], 0
    infostates: set[str] = set()
    weights: defaultdict[str, float] = defaultdict(float)
    while waiting:
        state, chance = waiting.pop()
        if state.is_chance_node():
            waiting.extend((state.child(action), chance * p) for action, p in state.chance_outcomes())
            continue
        histories += 1
        weights[_joint(state)] += chance
        if not state.is_terminal():
            infostates.add(f"{state.current_player()} {state.information_state_string()}")
            waiting.extend((state.child(action), chance) for action in state.legal_actions())
    return _ComparedGame(histories, infostates, weights)
