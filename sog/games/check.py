"""A conformance check for any game: does it keep the promises of the interface?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from sog.arrays import Array, Bool, Float64, Int32
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Carry, Fan, Game, Links, Moves, Operator, Scaled, State
from sog.games.blame import code_of
from sog.games.check_symmetries import check_symmetries

_RELATIVE = 1e-9  # what rounding may do to a weight or a payoff


@dataclass(frozen=True)
class Report:
    """What `check_game` saw.

    decisions, chances, terminals: public states by kind.  pairs: pairs of infostates with weight.
    complete: whether this was the whole game and not a sample.
    largest_value: the largest |utility| below any state over its `value_unit`; up to 1 it is a bound.
    """

    game: str
    decisions: int
    chances: int
    terminals: int
    pairs: int
    complete: bool
    largest_value: float


@dataclass(frozen=True)
class Visit:
    """A public state of a walk.

    fan: None at a terminal and where it is not listable.  smallest_unit: the smallest value unit on the
    way here, this state's included.  waiting: how many states are known and not yet visited.
    """

    state: State
    fan: Fan | None
    smallest_unit: float
    waiting: int


def check_game(game: Game, max_states: int = 20_000, seed: int = 0) -> Report:
    """Walk the public tree, or a seeded sample of `max_states` states, and check every promise of `Game`.

    Attributes; types, shapes, dtypes, actions, slots and features; the pair weights of the children against the
    parent's; payoffs against u_max and the weights; draws of chance; no state leads back to itself; the symmetries that
    the game names. Raises GameError on the first violation, or where the game's own code raises, in one line that names
    the game and the public state.

    `largest_value` of the report is the largest utility (|payoff| / W) over the smallest `value_unit` on the way to
    it: with the default unit, u_max, the share of u_max that is really won; above 1, network values leave [-1, 1] (as
    in Leduc poker, whose unit is half the pot). A payoff that lacks the factor W is found where the utility exceeds
    u_max * W: always, if u_max is the largest utility and W < 1 there; a u_max much too large can hide it.
    """
    if not isinstance(game, Game):
        what = f"the class {game.__name__}" if isinstance(game, type) else repr(game)
        raise GameError(f"check_game takes an object of a class derived from sog.Game, not {what}")
    with code_of(f"{type(game).__name__}'s code", GameError):
        return _checked(game, max_states, seed)


def _checked(game: Game, max_states: int, seed: int) -> Report:
    _check_attributes(game)
    _check_root(game)
    numbers: dict[State, int] = {}
    edges: list[tuple[int, int]] = []
    rng = np.random.default_rng(seed)
    chances = terminals = decisions = pairs = 0
    complete, largest = True, 0.0
    for visit in walk(game, max_states, seed):
        s = visit.state
        w = _check_state(game, s)
        pairs += int(np.count_nonzero(w))
        _check_shared(game, s, game.weights, "weights")
        if game.actor(s) == TERMINAL:
            terminals += 1
            largest = max(largest, _check_payoff(game, s, w) / visit.smallest_unit)
            _check_shared(game, s, game.payoff, "payoffs")
            continue
        if visit.fan is None:
            complete = False
        else:
            _check_fan(game, s, visit.fan, w)
            here = numbers.setdefault(s, len(numbers))
            edges += [(here, numbers.setdefault(child, len(numbers))) for child in visit.fan.children]
        if game.actor(s) == NATURE:
            chances += 1
            _check_draw(game, s, w, rng)
        else:
            decisions += 1
    _check_no_cycle(game, list(numbers), edges)
    check_symmetries(game, seed)
    complete = complete and visit.waiting == 0
    return Report(game.name, decisions, chances, terminals, pairs, complete, largest)


def walk(game: Game, max_states: int, seed: int = 0) -> Iterator[Visit]:
    """Up to `max_states` different public states: down to a terminal, then on from a random waiting state.

    Below a chance state that cannot be listed it follows one drawn child.
    """
    rng = np.random.default_rng(seed)
    _check_hashable(game, game.root(), game.root())
    waiting: list[tuple[State, float]] = [(game.root(), np.inf)]
    seen = {game.root()}
    for _ in range(max_states):
        if not waiting:
            return
        s, above = waiting.pop()
        unit = min(above, _value_unit(game, s))
        over = game.actor(s) == TERMINAL
        fan = game.fan(s) if not over and game.listable(s) else None
        for child in () if over else _children(game, s, fan, rng):
            _check_hashable(game, s, child)
            if child not in seen:
                seen.add(child)
                waiting.append((child, unit))
        yield Visit(s, fan, unit, len(waiting))
        if over and waiting:
            early = int(len(waiting) * rng.random() ** 2)  # early ones are few and nearer the root
            waiting.append(waiting.pop(early))


def _children(game: Game, s: State, fan: Fan | None, rng: np.random.Generator) -> list[State]:
    """The listed children in random order, or one drawn child."""
    if fan is not None:
        _require(isinstance(fan, Fan), game, s, f"fan is {_kind(fan)}, not a Fan")
        return [fan.children[e] for e in rng.permutation(len(fan.children))]
    if game.actor(s) != NATURE:
        return []
    i0, i1 = _some_pair(_weights(game, s), rng)
    return [game.sample_chance(s, i0, i1, rng)[0]]


def _some_pair(w: Float64, rng: np.random.Generator) -> tuple[int, int]:
    """A pair with weight, all alike likely."""
    i0, i1 = np.nonzero(w > 0)
    k = int(rng.integers(len(i0)))
    return int(i0[k]), int(i1[k])


def _require(holds: bool | np.bool_, game: Game, s: State, fault: str) -> None:
    if not holds:
        raise GameError(f"{game.name} at {game.state_name(s)!r}: {fault}")


def _is_array(x: object, dtype: type, shape: tuple[int, ...]) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == dtype and x.shape == shape


def _kind(x: object) -> str:
    """What something is, in a word: of an array its dtype and shape, such as float32[3, 2]; else its type."""
    if isinstance(x, np.ndarray):
        return f"{x.dtype}{list(x.shape)}"
    return "None" if x is None else f"a value of type {type(x).__name__}"


# --- the game as a whole ---


def _check_attributes(game: Game) -> None:
    """The attributes that every game sets are there, each of its type."""
    kinds: tuple[tuple[str, type | tuple[type, ...]], ...] = (
        ("name", str),
        ("u_max", (int, float, np.number)),
        ("num_actions", (int, np.integer)),
        ("num_slots", tuple),
        ("num_features", (int, np.integer)),
    )
    for name, kind in kinds:
        found = getattr(game, name, None)
        if not isinstance(found, kind):
            state = "not set" if found is None else f"{_kind(found)}"
            raise GameError(f"{type(game).__name__}: the attribute {name} is {state}; see help(sog.Game)")


def _check_hashable(game: Game, s: State, child: State) -> None:
    """A state reached from s (or s itself) can be a key of a dictionary."""
    try:
        hash(child)
    except TypeError:
        fault = f"a state is {_kind(child)}, which cannot be hashed; make it a tuple, a string or a frozen dataclass"
        raise GameError(f"{game.name} at {game.state_name(s)!r}: {fault}") from None


def _check_no_cycle(game: Game, states: list[Hashable], edges: list[tuple[int, int]]) -> None:
    """No walk over these edges (pairs of indices into `states`) returns to where it was."""
    after: list[list[int]] = [[] for _ in states]
    before: list[list[int]] = [[] for _ in states]
    for s, child in edges:
        after[s].append(child)
        before[child].append(s)
    open_edges = [len(children) for children in after]
    ending = [s for s, count in enumerate(open_edges) if count == 0]
    while ending:  # take away states from which every walk ends, until only cycles and what leads to them are left
        for s in before[ending.pop()]:
            open_edges[s] -= 1
            if open_edges[s] == 0:
                ending.append(s)
    s = next((k for k, count in enumerate(open_edges) if count > 0), -1)
    if s < 0:
        return
    path: dict[int, int] = {}
    while s not in path:
        path[s] = len(path)
        s = next(child for child in after[s] if open_edges[child] > 0)
    fault = f"{len(path) - path[s]} edges later the same state comes again; a state must tell what happened before it"
    raise GameError(f"{game.name} at {game.state_name(states[s])!r}: {fault}")


# --- one public state ---


def _check_root(game: Game) -> None:
    """Ranges in [0, 1] under which all pair weights sum to 1."""
    s = game.root()
    sizes = _sizes(game, s)
    ranges = game.root_ranges()
    for p, r in enumerate(ranges):
        fits = _is_array(r, np.float64, (sizes[p],))
        _require(fits, game, s, f"root range {p} is not float64[{sizes[p]}] but {_kind(r)}")
        _require(np.all((r >= 0) & (r <= 1)), game, s, f"root range {p} leaves [0, 1]")
    total = float(ranges[0] @ _dense(game, s, game.weights(s), "weights") @ ranges[1])
    _require(abs(total - 1) < _RELATIVE, game, s, f"root weights sum to {total}, not 1")


def _dense(game: Game, s: State, scaled: Scaled, what: str) -> Float64:
    """float64[I0, I1] of an operator, its shape and entries checked."""
    shape = _sizes(game, s)
    _require(isinstance(scaled, Scaled), game, s, f"{what} are {_kind(scaled)}, not a Scaled")
    operator = scaled.operator
    _require(isinstance(operator, Operator), game, s, f"{what} are a Scaled of {_kind(operator)}, not of an Operator")
    matrix = scaled.dense()
    fits = _is_array(matrix, np.float64, shape)
    _require(fits, game, s, f"{what} are not float64{list(shape)} but {_kind(matrix)}")
    _require(np.isfinite(matrix).all(), game, s, f"{what} are not finite")
    return matrix


def _check_shared(game: Game, s: State, of: Callable[[State], Scaled], what: str) -> None:
    """Trees compare operators by identity, so one that is made anew each time is held once for every state."""
    shared = of(s).operator is of(s).operator
    _require(shared, game, s, f"{what} come with a new Operator at each call; make operators once and share them")


def _weights(game: Game, s: State) -> Float64:
    """W_s, float64[I0, I1], checked."""
    w = _dense(game, s, game.weights(s), "weights")
    _require((w >= 0).all() and (w > 0).any(), game, s, "weights are negative or all zero")
    return w


def _sizes(game: Game, s: State) -> tuple[int, int]:
    """(I_0, I_1), checked."""
    sizes = game.num_infostates(s)
    counts = isinstance(sizes, tuple) and len(sizes) == 2 and all(isinstance(n, int | np.integer) for n in sizes)
    _require(counts and min(sizes) > 0, game, s, f"num_infostates is {sizes!r}, not two counts of at least 1")
    return sizes


def _check_state(game: Game, s: State) -> Float64:
    """What holds at every public state; returns W_s, float64[I0, I1]."""
    actor, sizes = game.actor(s), _sizes(game, s)
    _require(actor in (0, 1, NATURE, TERMINAL), game, s, f"actor {actor} is not 0, 1, NATURE or TERMINAL")
    w = _weights(game, s)
    if game.perfect_information:
        _require(sizes == (1, 1), game, s, f"perfect information, and yet {sizes} infostates")
    if game.deterministic:
        _check_deterministic(game, s)
    for p in (0, 1):
        slots, most = game.slot(s, p), game.num_slots[p]
        fits = _is_array(slots, np.int32, (sizes[p],))
        _require(fits, game, s, f"slots {p} are not int32[{sizes[p]}] but {_kind(slots)}")
        _require(len(set(slots.tolist())) == sizes[p], game, s, f"slots of player {p} repeat")
        _require(np.all((slots >= 0) & (slots < most)), game, s, f"slots of player {p} leave 0..{most - 1}")
    actions = game.actions(s)
    fits = _is_array(actions, np.int32, np.shape(actions)[:1])
    _require(fits, game, s, f"actions are not int32[A] but {_kind(actions)}")
    _require((len(actions) > 0) == (actor in (0, 1)), game, s, f"{len(actions)} actions for actor {actor}")
    _require((np.diff(actions) > 0).all(), game, s, "actions do not ascend")
    inside = np.all((actions >= 0) & (actions < game.num_actions))
    _require(inside, game, s, f"actions leave 0..{game.num_actions - 1}")
    x = game.features(s)
    fits = _is_array(x, np.float32, (game.num_features,))
    _require(fits, game, s, f"no float32[{game.num_features}] features but {_kind(x)}")
    _require(np.isfinite(x).all(), game, s, "features are not finite")
    _value_unit(game, s)
    return w


def _value_unit(game: Game, s: State) -> float:
    """The state's value unit, checked."""
    unit = game.value_unit(s)
    number = isinstance(unit, int | float | np.number)
    _require(number and 0 < unit < np.inf, game, s, f"value unit {unit} is not a positive number")
    return unit


def _check_deterministic(game: Game, s: State) -> None:
    """What a deterministic game promises, and a tree of its positions takes for granted (Game.deterministic)."""
    _require(game.perfect_information and game.num_slots == (1, 1), game, s, "deterministic, with more infostates")
    _require(game.actor(s) != NATURE, game, s, "deterministic, and yet NATURE acts")
    w, root = game.weights(s), game.weights(game.root())
    _require(w.operator is root.operator and w.scale == root.scale, game, s, "deterministic, with weights of its own")
    if game.actor(s) == TERMINAL:
        return
    _require(game.value_unit(s) == game.u_max, game, s, "deterministic, with a value unit that is not u_max")
    fan, count = game.fan(s), len(game.actions(s))
    plain = fan.moves is not None and fan.moves.target is None and fan.carry is None
    plain = plain and fan.moves is not None and fan.moves.edge.tolist() == [list(range(count))]
    _require(plain and len(fan.children) == count, game, s, "deterministic, and action a does not take edge a")


def _check_payoff(game: Game, s: State, w: Float64) -> float:
    """|payoff| <= u_max * W entry by entry; returns the largest |utility|."""
    payoff = np.abs(_dense(game, s, game.payoff(s), "payoffs"))
    wrong = payoff > game.u_max * w * (1 + _RELATIVE)
    if wrong.any():
        pair = _first(wrong)
        bound = f"{payoff[pair]:.6g} > {game.u_max:.6g} * {w[pair]:.6g} = {game.u_max * w[pair]:.6g}"
        where = f"{game.name} at {game.state_name(s)!r}"
        meaning = "a payoff is the utility times the pair's weight W"
        raise GameError(f"{where}: payoff above u_max * W, pair {pair}: {bound}; {meaning}")
    return float(np.max(payoff[w > 0] / w[w > 0]))


def _check_draw(game: Game, s: State, w: Float64, rng: np.random.Generator) -> None:
    """A draw of chance leads to a pair with weight."""
    i0, i1 = _some_pair(w, rng)
    child, j0, j1 = game.sample_chance(s, i0, i1, rng)
    sizes = game.num_infostates(child)
    inside = 0 <= j0 < sizes[0] and 0 <= j1 < sizes[1]
    _require(inside, game, s, f"sample_chance leads pair ({i0}, {i1}) to no infostate ({j0}, {j1})")
    drawn = game.weights(child).dense()[j0, j1]
    _require(drawn > 0, game, s, f"sample_chance leads pair ({i0}, {i1}) to a pair without weight")


def _refuse(where: Bool, game: Game, s: State, fault: str) -> None:
    """GameError that names the first index where the array is true, if there is one."""
    if where.any():
        raise GameError(f"{game.name} at {game.state_name(s)!r}: {fault} {_first(where)}")


def _first(where: Bool) -> tuple[int, ...]:
    """The first index where an array is true."""
    return tuple(int(k) for k in np.argwhere(where)[0])


# --- the edges that leave a state ---


def _check_fan(game: Game, s: State, fan: Fan, w: Float64) -> None:
    actor, edges = game.actor(s), len(fan.children)
    _require(edges > 0, game, s, "a fan without children")
    for e, child in enumerate(fan.children):
        _require(child != s, game, s, f"edge {e} leads back to this same state")
    _require(fan.carry is None or len(fan.carry) == edges, game, s, f"no carry for each of {edges} edges")
    if actor == NATURE:
        _require(fan.moves is None, game, s, "NATURE has moves")
        _check_chance(game, s, fan, w)
        return
    if fan.moves is None:
        raise GameError(f"{game.name} at {game.state_name(s)!r}: a player acts and the fan has no moves")
    _require(isinstance(fan.moves, Moves), game, s, f"the fan's moves are {_kind(fan.moves)}, not Moves")
    own = w if actor == 0 else w.T  # rows: the actor's infostates
    _check_moves(game, s, fan.moves, own, edges)
    for e in range(edges):
        _check_edge(game, s, fan, fan.moves, own, e)


def _check_moves(game: Game, s: State, moves: Moves, own: Float64, edges: int) -> None:
    """Shapes and indices of the moves; every infostate with weight has one."""
    shape = (len(own), len(game.actions(s)))
    for name, table in (("edges", moves.edge), ("targets", moves.target)):
        fits = _is_array(table, np.int32, shape) or (table is None and name == "targets")
        _require(fits, game, s, f"the moves' {name} are not int32{list(shape)} but {_kind(table)}")
    inside = np.all((moves.edge >= -1) & (moves.edge < edges))
    _require(inside, game, s, f"the moves' edges leave -1..{edges - 1}")
    stuck = (own.sum(axis=1) > 0) & ~(moves.edge >= 0).any(axis=1)
    _refuse(stuck, game, s, "no legal action, infostate")


def _check_edge(game: Game, s: State, fan: Fan, moves: Moves, own: Float64, e: int) -> None:
    """After a legal move a pair has the weight that it had: W holds chance only."""
    actor, child = game.actor(s), fan.children[e]
    w = _dense(game, child, game.weights(child), "weights")
    after = w if actor == 0 else w.T
    source, target = _links(game, s, fan, e, 1 - actor, own.shape[1])
    infostate, column = np.nonzero(moves.edge == e)
    if moves.target is None:
        _require(len(after) == len(own), game, s, f"edge {e} changes the actor's infostates without targets")
    lands = infostate if moves.target is None else moves.target[infostate, column]
    inside = np.all((lands >= 0) & (lands < len(after)))
    _require(inside, game, s, f"targets over edge {e} leave 0..{len(after) - 1}")
    followers = np.bincount(source, minlength=own.shape[1])
    lost = (own[infostate] > 0) & (followers != 1)
    if lost.any():
        raise _weight_fault(game, s, e, infostate, lost, "has not one follower")
    carried = np.zeros((len(after), own.shape[1]))
    np.add.at(carried.T, source, after[:, target].T)
    wrong = ~np.isclose(carried[lands], own[infostate], rtol=_RELATIVE, atol=_RELATIVE * own.max())
    if wrong.any():
        raise _weight_fault(game, s, e, infostate, wrong, "changes its weight")


def _weight_fault(game: Game, s: State, e: int, infostate: Array, where: Bool, what: str) -> GameError:
    k, other = _first(where)
    pair = (int(infostate[k]), other) if game.actor(s) == 0 else (other, int(infostate[k]))
    return GameError(f"{game.name} at {game.state_name(s)!r}: pair {pair} {what} over edge {e}")


def _check_chance(game: Game, s: State, fan: Fan, w: Float64) -> None:
    """Over the edges of NATURE the weights of a pair's followers sum to its own weight."""
    total = np.zeros_like(w)
    for e, child in enumerate(fan.children):
        after = _dense(game, child, game.weights(child), "weights")
        s0, t0 = _links(game, s, fan, e, 0, w.shape[0])
        s1, t1 = _links(game, s, fan, e, 1, w.shape[1])
        np.add.at(total, np.ix_(s0, s1), after[np.ix_(t0, t1)])
    wrong = ~np.isclose(total, w, rtol=_RELATIVE, atol=_RELATIVE * w.max())
    if wrong.any():
        pair = _first(wrong)
        sums = f"{total[pair]:.6g} over the edges of NATURE, not {w[pair]:.6g}"
        raise GameError(f"{game.name} at {game.state_name(s)!r}: the weights of pair {pair} sum to {sums}")


def _links(game: Game, s: State, fan: Fan, e: int, p: int, size: int) -> tuple[Int32, Int32]:
    """int32[P], int32[P]: where player p's infostates go over an edge as a non-actor, checked."""
    after = game.num_infostates(fan.children[e])[p]
    carry: Carry = None if fan.carry is None else fan.carry[e][p]
    if carry is None:
        _require(after == size, game, s, f"edge {e} changes player {p}'s infostates without links")
        same = np.arange(size, dtype=np.int32)
        return same, same
    _require(isinstance(carry, Links), game, s, f"player {p}'s carry over edge {e} is {_kind(carry)}, not Links")
    for name, end, bound in (("source", carry.source, size), ("target", carry.target, after)):
        fits = _is_array(end, np.int32, np.shape(carry.source)[:1])
        _require(fits, game, s, f"link {name}s of player {p} over edge {e} are not int32[P] but {_kind(end)}")
        inside = np.all((end >= 0) & (end < bound))
        _require(inside, game, s, f"link {name}s of player {p} over edge {e} leave 0..{bound - 1}")
    return carry.source, carry.target
