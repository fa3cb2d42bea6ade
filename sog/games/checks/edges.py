"""What `check_game` requires of the edges that leave a public state: moves, links, and weights that are kept."""

from __future__ import annotations

import numpy as np

from sog.arrays import Array, Bool, Float64, Int32
from sog.errors import GameError
from sog.games.base import NATURE, Carry, Fan, Game, Links, Moves, State
from sog.games.checks.repeats import same_state
from sog.games.checks.state import RELATIVE, dense, first_index, is_array, kind_of, refuse, require


def check_fan(game: Game, s: State, fan: Fan, w: Float64) -> None:
    actor, edges = game.actor(s), len(fan.children)
    require(edges > 0, game, s, "a fan without children")
    for e, child in enumerate(fan.children):
        require(child != s, game, s, f"edge {e} leads back to this same state")
        if type(game).child is not Game.child:
            require(same_state(game, game.child(s, e), child), game, s, f"child({e}) is another state than the fan's")
    require(fan.carry is None or len(fan.carry) == edges, game, s, f"no carry for each of {edges} edges")
    for e, pair in enumerate(fan.carry or ()):
        fits = isinstance(pair, tuple | list) and len(pair) == 2
        require(fits, game, s, f"carry over edge {e} is {kind_of(pair)}, not a pair: player 0's, player 1's")
    if actor == NATURE:
        require(fan.moves is None, game, s, "NATURE has moves")
        _check_chance(game, s, fan, w)
        return
    if fan.moves is None:
        raise GameError(f"{game.name} at {game.state_name(s)!r}: a player acts and the fan has no moves")
    require(isinstance(fan.moves, Moves), game, s, f"the fan's moves are {kind_of(fan.moves)}, not Moves")
    own = w if actor == 0 else w.T  # rows: the actor's infostates
    _check_moves(game, s, fan.moves, own, edges)
    for e in range(edges):
        _check_edge(game, s, fan, fan.moves, own, e)


def _check_moves(game: Game, s: State, moves: Moves, own: Float64, edges: int) -> None:
    """Shapes and indices of the moves; every infostate with weight has one."""
    shape = (len(own), len(game.actions(s)))
    for name, table in (("edges", moves.edge), ("targets", moves.target)):
        fits = is_array(table, np.int32, shape) or (table is None and name == "targets")
        require(fits, game, s, f"the moves' {name} are not int32{list(shape)} but {kind_of(table)}")
    inside = np.all((moves.edge >= -1) & (moves.edge < edges))
    require(inside, game, s, f"the moves' edges leave -1..{edges - 1}")
    refuse(~np.isin(np.arange(edges), moves.edge), game, s, "no move takes edge")
    stuck = (own.sum(axis=1) > 0) & ~(moves.edge >= 0).any(axis=1)
    refuse(stuck, game, s, "no legal action, infostate")


def _check_edge(game: Game, s: State, fan: Fan, moves: Moves, own: Float64, e: int) -> None:
    """After a legal move a pair has the weight that it had: W holds chance only."""
    actor, child = game.actor(s), fan.children[e]
    w = dense(game, child, game.weights(child), "weights")
    after = w if actor == 0 else w.T
    source, target = _links(game, s, fan, e, 1 - actor, own.shape[1])
    infostate, column = np.nonzero(moves.edge == e)
    if moves.target is None:
        require(len(after) == len(own), game, s, f"edge {e} changes the actor's infostates without targets")
    lands = infostate if moves.target is None else moves.target[infostate, column]
    inside = np.all((lands >= 0) & (lands < len(after)))
    require(inside, game, s, f"targets over edge {e} leave 0..{len(after) - 1}")
    followers = np.bincount(source, minlength=own.shape[1])
    lost = (own[infostate] > 0) & (followers != 1)
    if lost.any():
        raise _weight_fault(game, s, e, infostate, lost, "has not one follower")
    carried = np.zeros((len(after), own.shape[1]))
    np.add.at(carried.T, source, after[:, target].T)
    wrong = ~np.isclose(carried[lands], own[infostate], rtol=RELATIVE, atol=RELATIVE * own.max())
    if wrong.any():
        raise _weight_fault(game, s, e, infostate, wrong, "changes its weight")


def _weight_fault(game: Game, s: State, e: int, infostate: Array, mask: Bool, fault: str) -> GameError:
    k, other = first_index(mask)
    pair = (int(infostate[k]), other) if game.actor(s) == 0 else (other, int(infostate[k]))
    return GameError(f"{game.name} at {game.state_name(s)!r}: pair {pair} {fault} over edge {e}")


def _check_chance(game: Game, s: State, fan: Fan, w: Float64) -> None:
    """Over the edges of NATURE the weights of a pair's followers sum to its own weight."""
    total = np.zeros_like(w)
    for e, child in enumerate(fan.children):
        after = dense(game, child, game.weights(child), "weights")
        s0, t0 = _links(game, s, fan, e, 0, w.shape[0])
        s1, t1 = _links(game, s, fan, e, 1, w.shape[1])
        np.add.at(total, np.ix_(s0, s1), after[np.ix_(t0, t1)])
    wrong = ~np.isclose(total, w, rtol=RELATIVE, atol=RELATIVE * w.max())
    if wrong.any():
        pair = first_index(wrong)
        sums = f"{total[pair]:.6g} over the edges of NATURE, not {w[pair]:.6g}"
        raise GameError(f"{game.name} at {game.state_name(s)!r}: the weights of pair {pair} sum to {sums}")


def _links(game: Game, s: State, fan: Fan, e: int, p: int, size: int) -> tuple[Int32, Int32]:
    """int32[P], int32[P]: where player p's infostates go over an edge as a non-actor, checked."""
    after = game.num_infostates(fan.children[e])[p]
    carry: Carry = None if fan.carry is None else fan.carry[e][p]
    if carry is None:
        require(after == size, game, s, f"edge {e} changes player {p}'s infostates without links")
        same = np.arange(size, dtype=np.int32)
        return same, same
    require(isinstance(carry, Links), game, s, f"player {p}'s carry over edge {e} is {kind_of(carry)}, not Links")
    for name, end, bound in (("source", carry.source, size), ("target", carry.target, after)):
        fits = is_array(end, np.int32, np.shape(carry.source)[:1])
        require(fits, game, s, f"link {name}s of player {p} over edge {e} are not int32[P] but {kind_of(end)}")
        inside = np.all((end >= 0) & (end < bound))
        require(inside, game, s, f"link {name}s of player {p} over edge {e} leave 0..{bound - 1}")
    return carry.source, carry.target
