"""What `check_game` requires of one public state: types, shapes, weights, payoffs, draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sog.arrays import Bool, Float32, Float64, Int32
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Game, Operator, Scaled, State, followers

RELATIVE: Final = 1e-9  # what rounding may do to a weight or a payoff


def require(holds: bool | np.bool_, game: Game, s: State, fault: str) -> None:
    """GameError that names the game and the public state, unless it holds."""
    if not holds:
        raise GameError(f"{game.name} at {game.state_name(s)!r}: {fault}")


def is_array(x: object, dtype: type, shape: tuple[int, ...]) -> bool:
    """Whether it is an array of exactly this dtype and shape."""
    return isinstance(x, np.ndarray) and x.dtype == dtype and x.shape == shape


def kind_of(x: object) -> str:
    """What something is, in a word: of an array its dtype and shape, such as float32[3, 2]; else its type."""
    if isinstance(x, np.ndarray):
        return f"{x.dtype}{list(x.shape)}"
    return "None" if x is None else f"a value of type {type(x).__name__}"


def refuse(mask: Bool, game: Game, s: State, fault: str) -> None:
    """GameError that names the first index where the array is true, if there is one."""
    if mask.any():
        raise GameError(f"{game.name} at {game.state_name(s)!r}: {fault} {first_index(mask)}")


def first_index(mask: Bool) -> tuple[int, ...]:
    """The first index where an array is true."""
    return tuple(int(k) for k in np.argwhere(mask)[0])


def some_pair(w: Float64, rng: np.random.Generator) -> tuple[int, int]:
    """A pair with weight, all alike likely."""
    i0, i1 = np.nonzero(w > 0)
    k = int(rng.integers(len(i0)))
    return int(i0[k]), int(i1[k])


def check_root(game: Game) -> None:
    """Ranges in [0, 1] under which all pair weights sum to 1."""
    s = game.root()
    sizes = sizes_of(game, s)
    ranges = game.root_ranges()
    for p, r in enumerate(ranges):
        fits = is_array(r, np.float64, (sizes[p],))
        require(fits, game, s, f"root range {p} is not float64[{sizes[p]}] but {kind_of(r)}")
        require(np.all((r >= 0) & (r <= 1)), game, s, f"root range {p} leaves [0, 1]")
    total = float(ranges[0] @ dense(game, s, game.weights(s), "weights") @ ranges[1])
    require(abs(total - 1) < RELATIVE, game, s, f"root weights sum to {total}, not 1")


def dense(game: Game, s: State, scaled: Scaled, name: str) -> Float64:
    """float64[I0, I1] of an operator, its shape and entries checked."""
    shape = sizes_of(game, s)
    require(isinstance(scaled, Scaled), game, s, f"{name} are {kind_of(scaled)}, not a Scaled")
    operator = scaled.operator
    require(isinstance(operator, Operator), game, s, f"{name} are a Scaled of {kind_of(operator)}, not of an Operator")
    if type(operator) is Operator:  # others write their matrix out when asked for it
        given: object = operator.matrix
        require(isinstance(given, np.ndarray), game, s, f"{name} are an Operator of {kind_of(given)}, not of an array")
    matrix = scaled.dense()
    fits = is_array(matrix, np.float64, shape)
    require(fits, game, s, f"{name} are not float64{list(shape)} but {kind_of(matrix)}")
    require(np.isfinite(matrix).all(), game, s, f"{name} are not finite")
    return matrix


def check_shared(game: Game, s: State, of: Callable[[State], Scaled], name: str) -> None:
    """Trees compare operators by identity, so one that is made anew each time is held once for every state."""
    shared = of(s).operator is of(s).operator
    require(shared, game, s, f"{name} come with a new Operator at each call; make operators once and share them")


def weights_of(game: Game, s: State) -> Float64:
    """W_s, float64[I0, I1], checked."""
    w = dense(game, s, game.weights(s), "weights")
    require((w >= 0).all() and (w > 0).any(), game, s, "weights are negative or all zero")
    return w


def sizes_of(game: Game, s: State) -> tuple[int, int]:
    """(I_0, I_1), checked."""
    sizes = game.num_infostates(s)
    counts = isinstance(sizes, tuple) and len(sizes) == 2 and all(isinstance(n, int | np.integer) for n in sizes)
    require(counts and min(sizes) > 0, game, s, f"num_infostates is {sizes!r}, not two counts of at least 1")
    return sizes


def check_state(game: Game, s: State) -> Float64:
    """What holds at every public state; returns W_s, float64[I0, I1]."""
    actor, sizes = game.actor(s), sizes_of(game, s)
    known = isinstance(actor, int | np.integer) and actor in (0, 1, NATURE, TERMINAL)
    require(known, game, s, f"actor {actor!r} is not the whole number 0, 1, NATURE or TERMINAL")
    w = weights_of(game, s)
    if game.perfect_information:
        require(sizes == (1, 1), game, s, f"perfect information, and yet {sizes} infostates")
    if game.deterministic:
        _check_deterministic(game, s)
    for p in (0, 1):
        slots, most = game.slot(s, p), game.num_slots[p]
        fits = is_array(slots, np.int32, (sizes[p],))
        require(fits, game, s, f"slots {p} are not int32[{sizes[p]}] but {kind_of(slots)}")
        require(len(set(slots.tolist())) == sizes[p], game, s, f"slots of player {p} repeat")
        require(np.all((slots >= 0) & (slots < most)), game, s, f"slots of player {p} leave 0..{most - 1}")
    actions = game.actions(s)
    fits = is_array(actions, np.int32, np.shape(actions)[:1])
    require(fits, game, s, f"actions are not int32[A] but {kind_of(actions)}")
    require((len(actions) > 0) == (actor in (0, 1)), game, s, f"{len(actions)} actions for actor {actor}")
    require((np.diff(actions) > 0).all(), game, s, "actions do not ascend")
    inside = np.all((actions >= 0) & (actions < game.num_actions))
    require(inside, game, s, f"actions leave 0..{game.num_actions - 1}")
    if game.legal_pairs is not None and actor in (0, 1) and game.listable(s):
        _check_pairs(game, s, game.legal_pairs.index[actor])
    x = game.features(s)
    fits = is_array(x, np.float32, (game.num_features,))
    require(fits, game, s, f"no float32[{game.num_features}] features but {kind_of(x)}")
    require(np.isfinite(x).all(), game, s, "features are not finite")
    if game.planes is not None:
        _check_planes(game, s, x)
    _check_names(game, s, sizes, actions)
    unit_of(game, s)
    return w


def _check_pairs(game: Game, s: State, index: Int32) -> None:
    """Every legal (infostate, action) is among the game's pairs; index: int32[S, A], the actor's."""
    moves = game.fan(s).moves
    assert moves is not None
    named = index[game.slot(s, game.actor(s))][:, game.actions(s)] >= 0
    require(bool((named | (moves.edge < 0)).all()), game, s, "a legal action is not among the game's legal pairs")


def _check_names(game: Game, s: State, sizes: tuple[int, int], actions: Int32) -> None:
    """What people read is text, and no two actions of a state have the same name; of infostates the first and last."""
    named = [game.action_name(s, int(action)) for action in actions]
    held = [game.infostate_name(s, p, i) for p in (0, 1) for i in (0, sizes[p] - 1)]
    for subject, name in (("a picture", game.picture(s)), *(("an infostate's name", name) for name in held)):
        require(isinstance(name, str), game, s, f"{subject} is {kind_of(name)}, not text")
    for name in named:
        require(isinstance(name, str) and name != "", game, s, f"an action is called {name!r}")
    if len(set(named)) < len(named):
        twice = next(name for k, name in enumerate(named) if name in named[:k])
        require(False, game, s, f"two actions are called {twice!r}")


def unit_of(game: Game, s: State) -> float:
    """The state's value unit, checked."""
    unit = game.value_unit(s)
    number = isinstance(unit, int | float | np.number)
    require(number and 0 < unit < np.inf, game, s, f"value unit {unit} is not a positive number")
    return unit


def _check_deterministic(game: Game, s: State) -> None:
    """What a deterministic game promises, and a tree of its positions takes for granted (Game.deterministic)."""
    require(game.perfect_information and game.num_slots == (1, 1), game, s, "deterministic, with more infostates")
    require(game.actor(s) != NATURE, game, s, "deterministic, and yet NATURE acts")
    w, root = game.weights(s), game.weights(game.root())
    require(w.operator is root.operator and w.scale == root.scale, game, s, "deterministic, with weights of its own")
    if game.actor(s) == TERMINAL:
        return
    require(game.value_unit(s) == game.u_max, game, s, "deterministic, with a value unit that is not u_max")
    fan, count = game.fan(s), len(game.actions(s))
    plain = fan.moves is not None and fan.moves.target is None and fan.carry is None
    plain = plain and fan.moves is not None and fan.moves.edge.tolist() == [list(range(count))]
    require(plain and len(fan.children) == count, game, s, "deterministic, and action a does not take edge a")


def check_payoff(game: Game, s: State, w: Float64) -> float:
    """|payoff| <= u_max * W entry by entry; returns the largest |utility|."""
    payoff = np.abs(dense(game, s, game.payoff(s), "payoffs"))
    wrong = payoff > game.u_max * w * (1 + RELATIVE)
    if wrong.any():
        pair = first_index(wrong)
        bound = f"{payoff[pair]:.6g} > {game.u_max:.6g} * {w[pair]:.6g} = {game.u_max * w[pair]:.6g}"
        location = f"{game.name} at {game.state_name(s)!r}"
        meaning = "a payoff is the utility times the pair's weight W"
        raise GameError(f"{location}: payoff above u_max * W, pair {pair}: {bound}; {meaning}")
    return float(np.max(payoff[w > 0] / w[w > 0]))


def check_draw(game: Game, s: State, w: Float64, rng: np.random.Generator) -> None:
    """A draw of chance leads to a pair with weight."""
    i0, i1 = some_pair(w, rng)
    child, j0, j1 = game.sample_chance(s, i0, i1, rng)
    sizes = game.num_infostates(child)
    inside = 0 <= j0 < sizes[0] and 0 <= j1 < sizes[1]
    require(inside, game, s, f"sample_chance leads pair ({i0}, {i1}) to no infostate ({j0}, {j1})")
    drawn = game.weights(child).dense()[j0, j1]
    require(drawn > 0, game, s, f"sample_chance leads pair ({i0}, {i1}) to a pair without weight")
    for p, (i, j) in enumerate(((i0, j0), (i1, j1))):
        fault = f"sample_chance leads infostate {i} of player {p} to {j}, which it does not become there"
        require(j in _become(game, s, child, p, i), game, s, fault)


def _become(game: Game, s: State, child: State, p: int, i: int) -> set[int]:
    """What player p's infostate i may become between the NATURE state s and a child."""
    if not game.listable(s):
        carry = game.chance_carry(s, child)[p]
        return {i} if carry is None else set(carry.target[carry.source == i].tolist())
    fan = game.fan(s)
    edges = [e for e, other in enumerate(fan.children) if other == child]
    return {int(j) for e in edges for j in followers(fan, e, p, i)}


def _check_planes(game: Game, s: State, x: Float32) -> None:
    """What training's small rows of a game with planes rely on."""
    assert game.planes is not None
    planes = x.reshape(game.planes[0], -1)
    one = np.take_along_axis(planes, (planes != 0).argmax(axis=1)[:, None], axis=1)
    uneven = (planes != 0) & (planes != one)
    require(not uneven.any(), game, s, "a plane is not 0 or one value everywhere")
    actor = game.actor(s)
    if actor in (0, 1):
        last = x.reshape(game.planes[0], -1)[-1]
        fault = f"the last plane is not {int(actor == 0)} everywhere, as where player {actor} acts"
        require(bool((last == (actor == 0)).all()), game, s, fault)
    elif actor == TERMINAL and game.ownership and (owners := game.owners(s)) is not None:
        cells = game.planes[1] * game.planes[2]
        require(np.shape(owners) == (cells,), game, s, f"owners are not float32[{cells}] but {kind_of(owners)}")
