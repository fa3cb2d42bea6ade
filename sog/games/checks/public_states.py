"""A conformance check for any game: does it keep the promises of the interface?"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np

from sog.arrays import Float64
from sog.errors import GameError, SogError, check_whole
from sog.games.base import NATURE, TERMINAL, Fan, Game, State, Unit
from sog.games.blame import code_of
from sog.games.checks.edges import check_fan
from sog.games.checks.repeats import check_repeats
from sog.games.checks.state import (
    check_draw,
    check_payoff,
    check_root,
    check_shared,
    check_state,
    kind_of,
    require,
    some_pair,
    unit_of,
    weights_of,
)
from sog.games.checks.symmetries import check_symmetries

_ENDLESS: Final = 2_000  # public states down one line; a longer game is taken for one without an end
_REPEATED: Final = 1_000  # public states, of which every answer is compared with that of a second call


@dataclass(frozen=True)
class GameReport:
    """What `check_game` saw.

    decisions, chances, terminals: public states by kind.  pairs: pairs of infostates with weight.
    complete: whether this was the whole game and not a sample.  listed: public states as solvers list them, where one
    that several lines lead to counts once for each; 0 unless complete.
    largest_value: the largest |utility| below any state over its `value_unit`; up to 1 it is a bound.
    """

    game: str
    decisions: int
    chances: int
    terminals: int
    pairs: int
    complete: bool
    largest_value: float
    listed: int


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


def check_game(game: Game, max_states: int = 20_000, seed: int = 0) -> GameReport:
    """Walk the public tree, or a seeded sample of `max_states` states, and check every promise of `Game`.

    Attributes; types, shapes, dtypes, actions, slots, features and names; the pair weights of the children against the
    parent's; payoffs against u_max and the weights; features that differ where other actions are possible; draws of
    chance; the same answers when called again (at 1,000 states); no state leads back to itself; games end; the
    symmetries that the game names. Raises GameError on the first violation, or where the game's own code raises, in one
    line that names the game and the public state; SettingError for `max_states` below 1 or a negative seed.

    `largest_value` of the report is the largest utility (|payoff| / W) over the smallest `value_unit` on the way to
    it: with the default unit, u_max, the share of u_max that is really won; above 1, network values leave [-1, 1] (as
    in Leduc poker, whose unit is half the pot). A payoff that lacks the factor W is found where the utility exceeds
    u_max * W: always, if u_max is the largest utility and W < 1 there; a u_max much too large can hide it.
    """
    if not isinstance(game, Game):
        given = f"the class {game.__name__}" if isinstance(game, type) else repr(game)
        raise GameError(f"check_game takes an object of a class derived from sog.Game, not {given}")
    check_whole("max_states", max_states, 1)
    check_whole("seed", seed, 0)
    with code_of(f"{type(game).__name__}'s code", GameError):
        return _checked(game, max_states, seed)


def _checked(game: Game, max_states: int, seed: int) -> GameReport:
    _check_attributes(game)
    check_root(game)
    numbers: dict[State, int] = {}
    edges: list[tuple[int, int]] = []
    rng = np.random.default_rng(seed)
    chances = terminals = decisions = pairs = 0
    complete, largest = True, 0.0
    alike: dict[bytes, State] = {}
    for visit in walk(game, max_states, seed):
        s = visit.state
        with _code_at(game, s):
            w = check_state(game, s)
            check_shared(game, s, game.weights, "weights")
            actor = game.actor(s)
        pairs += int(np.count_nonzero(w))
        if actor == TERMINAL:
            terminals += 1
            with _code_at(game, s):
                largest = max(largest, check_payoff(game, s, w) / visit.smallest_unit)
                check_shared(game, s, game.payoff, "payoffs")
            continue
        if visit.fan is None:
            complete = False
        else:
            with _code_at(game, s):
                check_fan(game, s, visit.fan, w)
            here = numbers.setdefault(s, len(numbers))
            edges += [(here, numbers.setdefault(child, len(numbers))) for child in visit.fan.children]
        with _code_at(game, s):
            if actor == NATURE:
                chances += 1
                check_draw(game, s, w, rng)
            else:
                decisions += 1
                _check_distinguished(game, s, alike)
    _check_no_cycle(game, list(numbers), edges)
    if not terminals and decisions + chances >= _ENDLESS:
        raise GameError(f"{game.name}: a line of {decisions + chances:,} public states does not end")
    for s in list(numbers)[: min(_REPEATED, max_states)]:
        with _code_at(game, s):
            check_repeats(game, s)
    check_symmetries(game, seed)
    complete = complete and visit.waiting == 0
    listed = _listed(len(numbers), edges) if complete and numbers else int(complete)
    return GameReport(game.name, decisions, chances, terminals, pairs, complete, largest, listed)


@contextmanager
def _code_at(game: Game, s: State) -> Iterator[None]:
    """What the game's own code raises in the block becomes a GameError that names the public state, too."""
    try:
        yield
    except SogError:
        raise
    except Exception:
        try:
            place = f"{game.name} at {game.state_name(s)!r}"
        except Exception:  # of the user's, too
            place = f"{game.name} at {s!r}"
        with code_of(f"{place}: {type(game).__name__}'s code", GameError):
            raise


def _check_distinguished(game: Game, s: State, alike: dict[bytes, State]) -> None:
    """States that a network sees alike have the same player to act, the same actions and the same pairs of infostates.

    It sees features, and in the ranges which slots there are.  alike: the first decision with these, by their bytes.
    """
    seen = (game.features(s), *(game.slot(s, p) for p in (0, 1)))
    first = alike.setdefault(b"".join(np.ascontiguousarray(part).tobytes() for part in seen), s)
    if first is s:
        return
    if game.actor(first) != game.actor(s) or not np.array_equal(game.actions(first), game.actions(s)):
        fault = "others act or act otherwise"
    elif not np.allclose(_chances(game, first), _chances(game, s), rtol=0.0, atol=1e-6):
        fault = "other pairs of infostates are likely"
    else:
        return
    reason = f"the same features as {game.state_name(first)!r}, where {fault}: a network cannot know"
    raise GameError(f"{game.name} at {game.state_name(s)!r}: {reason}")


def _chances(game: Game, s: State) -> Float64:
    """float64[I0, I1]: how likely chance makes each pair of infostates here."""
    w = weights_of(game, s)
    likely: Float64 = w / w.sum()
    return likely


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
        with _code_at(game, s):
            unit = min(above, unit_of(game, s))
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
        require(isinstance(fan, Fan), game, s, f"fan is {kind_of(fan)}, not a Fan")
        return [fan.children[e] for e in rng.permutation(len(fan.children))]
    if game.actor(s) != NATURE:
        return []
    i0, i1 = some_pair(weights_of(game, s), rng)
    return [game.sample_chance(s, i0, i1, rng)[0]]


def _check_attributes(game: Game) -> None:
    """The attributes that every game sets are there, each of its type."""
    kinds: tuple[tuple[str, type | tuple[type, ...]], ...] = (
        ("name", str),
        ("u_max", (int, float, np.number)),
        ("num_actions", (int, np.integer)),
        ("num_slots", tuple),
        ("num_features", (int, np.integer)),
        ("unit", Unit),
        ("crossed", tuple),
        ("longest", (int, np.integer)),
    )
    for name, kind in kinds:
        value = getattr(game, name, None)
        if not isinstance(value, kind):
            state = "not set" if value is None else f"{kind_of(value)}"
            raise GameError(f"{type(game).__name__}: the attribute {name} is {state}; see help(sog.Game)")
    if not (game.u_max > 0 and np.isfinite(game.u_max)):
        raise GameError(f"{type(game).__name__}: the attribute u_max is {game.u_max}, no finite number above 0")
    if not game.name.strip() or not game.name.isprintable():
        raise GameError(f"{type(game).__name__}: the attribute name is {game.name!r}, no game string")
    if game.longest < 0:
        raise GameError(f"{type(game).__name__}: the attribute longest is {game.longest}, below 0")
    if not all(0 <= feature < game.num_features for feature in game.crossed):
        raise GameError(f"{type(game).__name__}: crossed features {game.crossed} leave 0..{game.num_features - 1}")
    if not (len(game.num_slots) == 2 and all(map(_is_count, game.num_slots))):
        promise = "num_slots are two whole numbers of at least 1"
        raise GameError(f"{type(game).__name__}: {promise}, not {game.num_slots}")
    pairs = game.legal_pairs
    if pairs is not None and (pairs.slots, pairs.actions) != (tuple(game.num_slots), game.num_actions):
        raise GameError(f"{type(game).__name__}: legal_pairs are of {pairs.slots} slots and {pairs.actions} actions")
    if game.planes is not None:
        _check_planes(game, game.planes)


def _is_count(value: object) -> bool:
    return isinstance(value, int | np.integer) and bool(value >= 1)


def _check_planes(game: Game, planes: tuple[int, int, int]) -> None:
    """What a residual network's shape is made of."""
    whole = isinstance(planes, tuple) and len(planes) == 3 and all(map(_is_count, planes))
    if not (whole and game.perfect_information and np.prod(planes) == game.num_features):
        promise = "planes are the features of a game of perfect information, (C, H, W) with C * H * W = num_features"
        raise GameError(f"{type(game).__name__}: {promise}, not {planes}")
    count, cells = game.policy_planes, planes[1] * planes[2]
    if not (isinstance(count, int | np.integer) and 0 <= count * cells <= game.num_actions):
        promise = f"policy_planes is a whole number, of {cells} actions each and {game.num_actions} in all"
        raise GameError(f"{type(game).__name__}: {promise}, not {count}")


def _check_hashable(game: Game, s: State, child: State) -> None:
    """A state reached from s (or s itself) can be a key of a dictionary."""
    try:
        hash(child)
    except TypeError:
        fault = f"a state is {kind_of(child)}, which cannot be hashed; make it a tuple, a string or a frozen dataclass"
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


def _listed(states: int, edges: list[tuple[int, int]]) -> int:
    """Nodes of the tree that a graph without cycles unfolds to; state 0 is its root, edges are pairs of indices."""
    after: list[list[int]] = [[] for _ in range(states)]
    entering = [0] * states
    for s, child in edges:
        after[s].append(child)
        entering[child] += 1
    lines = [1] + [0] * (states - 1)  # that lead from the root to each state
    ready = [0]
    while ready:
        s = ready.pop()
        for child in after[s]:
            lines[child] += lines[s]
            entering[child] -= 1
            if entering[child] == 0:
                ready.append(child)
    return sum(lines)
