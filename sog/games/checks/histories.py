"""A conformance check for any game by histories: its promises, and its public face where it has one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sog.arrays import Array, Float64, Int32
from sog.errors import GameError, check_whole
from sog.games.base import NATURE, TERMINAL, Game, State, Unit
from sog.games.blame import code_of
from sog.games.checks.public_states import walk
from sog.games.histories.base import (
    HistoryGame,
    TooManyHistories,
    beginnings_of,
    deal,
    drawn,
    replay,
    uniform_weights,
)
from sog.games.histories.listing import histories_of
from sog.games.strings import OPENSPIEL

__all__ = ["HistoryReport", "check_history_game"]

_CLOSE = 1e-9  # what rounding may do to a probability, as a share of it, or to a utility, as a share of u_max


@dataclass(frozen=True)
class HistoryReport:
    """What `check_history_game` saw: games played, their moves, infostates met, and pairs of the public face."""

    game: str
    games: int
    moves: int
    infostates: int
    pairs: int


def check_history_game(
    game: HistoryGame, public: Game | None = None, games: int = 200, max_states: int = 500, seed: int = 0
) -> HistoryReport:
    """Play random games, all at once and one by one, and check every promise of `HistoryGame`.

    Attributes; shapes and dtypes; actions for whoever acts and for nobody else; chances that sum to 1; public rows
    that begin with those of the histories before and say who acts; infostates that decide the legal actions, the
    network's input and the player's own past (perfect recall); batches that play as games alone do; utilities within
    u_max; the longest history.
    public: the same game by public states, with `history`. Then each pair of infostates of up to `max_states` of its
    public states is replayed: who acts, legal actions, utilities and infostates must be the same, the replayed
    history not more likely by chance than the pair, and, where few histories lead to the public state, all of them
    together as likely as its pairs.
    Raises GameError on the first violation, or where the game's own code raises, in one line; SettingError for no
    number of games or states, or a negative seed.
    """
    if not isinstance(game, HistoryGame):
        given = f"the class {game.__name__}" if isinstance(game, type) else repr(game)
        raise GameError(f"check_history_game takes an object of a class derived from sog.HistoryGame, not {given}")
    if public is not None and not isinstance(public, Game):
        given = f"the class {public.__name__}" if isinstance(public, type) else repr(public)
        raise GameError(f"the public face is an object of a class derived from sog.Game, not {given}")
    check_whole("games", games, 1)
    check_whole("max_states", max_states, 1)
    check_whole("seed", seed, 0)
    with code_of(f"{type(game).__name__}'s code", GameError):
        _check_attributes(game)
        played = _Played(game)
        moves = played.play(games, np.random.default_rng(seed))
        played.compare()
        _check_alone(game, np.random.default_rng(seed))
        pairs = 0 if public is None else _check_faces(game, public, max_states, seed)
    return HistoryReport(game.name, games, moves, len(played.infostates), pairs)


def _require(holds: bool | np.bool_, game: HistoryGame, fault: str) -> None:
    if not holds:
        raise GameError(f"{game.name}: {fault}")


def _check_attributes(game: HistoryGame) -> None:
    if not isinstance(getattr(game, "name", None), str):
        raise GameError(f"{type(game).__name__}: the attribute name is not set; see help(sog.HistoryGame)")
    if not game.name.strip() or not game.name.isprintable():
        raise GameError(f"{type(game).__name__}: the attribute name is {game.name!r}, no game string")
    _require(isinstance(game.unit, Unit), game, f"the attribute unit is {game.unit!r}, not a sog.Unit")
    u_max = getattr(game, "u_max", None)
    fits = isinstance(u_max, int | float | np.number) and 0 < u_max < np.inf
    _require(fits, game, f"the attribute u_max is {u_max!r}, no finite number above 0")
    for name, least in {"num_actions": 1, "num_outcomes": 0, "longest": 1, "num_inputs": 1, "num_private": 0}.items():
        value = getattr(game, name, None)
        whole = isinstance(value, int | np.integer) and value >= least
        _require(whole, game, f"the attribute {name} is {value!r}, not a whole number of at least {least}")
    for name in ("num_actions", "num_outcomes"):
        largest = np.iinfo(np.int16).max  # histories are int16
        _require(getattr(game, name) <= largest, game, f"the attribute {name} is above {largest:,}")
    _require(game.num_private <= game.num_inputs, game, "num_private is more than num_inputs, of which it is a part")


class _Played:
    """Random games of a batch, each move checked.

    infostates: by player, both rows and whether it acts, what was seen there first: legal actions, input and own past.
    acting: by public row, who acts.  open: by public row and viewer, what an input holds before its private part.
    told: of a player's decisions, the legal actions by the inputs.  private: by player and public row, the inputs of
    each infostate.
    """

    def __init__(self, game: HistoryGame) -> None:
        self.game = game
        self.infostates: dict[tuple[bytes, bool], tuple[bytes, ...]] = {}
        self.acting: dict[bytes, int] = {}
        self.legal_by_inputs: dict[tuple[int, bytes], bytes] = {}
        self.private: dict[tuple[int, bytes], dict[bytes, bytes]] = {}
        self.open: dict[tuple[bytes, int], bytes] = {}

    def play(self, count: int, rng: np.random.Generator) -> int:
        """How many moves were made in this many games."""
        game = self.game
        states, moves, length = game.begin(count), 0, 0
        pasts: list[list[bytes]] = [[b"", b""] for _ in range(count)]
        shown = game.public(states)
        while True:
            weights, actors = _weights(game, states)
            self._look(states, actors, pasts)
            going = actors != TERMINAL
            if not going.any():
                break
            actions = np.where(going, drawn(np.where(going[:, None], weights, 1.0), rng.random(count)), -1)
            for b in np.flatnonzero(actors < NATURE).tolist():
                pasts[b][actors[b]] += b"%d %d," % (hash(_key(game, states[b], actors[b])), actions[b])
            before = states.copy()
            game.step(states, actions)
            still = going & (states == before).all(axis=1)
            _require(not still.any(), game, "step leaves a state as it was; it writes the action into `states` itself")
            moves, length = moves + int(going.sum()), length + 1
            _require(length <= game.longest, game, f"a history has more than longest = {game.longest} actions")
            now = game.public(states)
            holes = (now[:, 1:] >= 0) & (now[:, :-1] < 0)
            _require(not holes.any(), game, "a public row continues after a -1, which only stands at its end")
            grown = all(beginnings_of(shown[b : b + 1], now[b]).all() for b in range(count))
            _require(grown, game, "a public row does not begin with that of the history before")
            shown = now
        return moves

    def compare(self) -> None:
        """Somewhere inputs differ by what a player alone knows, where there is such a thing."""
        secret = [inputs for inputs in self.private.values() if len(inputs) > 1]
        tells = any(len(set(inputs.values())) > 1 for inputs in secret)
        fault = "inputs never differ by the private row: a network cannot know what a player knows"
        _require(tells or not secret, self.game, fault)

    def _look(self, states: Int32, actors: Int32, pasts: list[list[bytes]]) -> None:
        """Both players' infostates: the same rows must mean the same."""
        game = self.game
        legal, public = game.legal(states), _public(game, states)
        for p in (0, 1):
            viewers = np.full(len(states), p, dtype=np.int32)
            inputs, keys = game.inputs(states, viewers), _keys(game, states, viewers)
            _require_array(game, inputs, np.float32, (len(states), game.num_inputs), "inputs")
            _require(np.isfinite(inputs).all(), game, "inputs are not finite")
            for b in range(len(states)):
                acts = bool(actors[b] == p)
                opened = inputs[b, : game.num_inputs - game.num_private].tobytes()
                same = self.open.setdefault((public[b].tobytes(), p), opened) == opened
                fault = "two inputs of one viewer and one public row differ before their last num_private entries"
                _require(same or (public[b] < 0).all(), game, fault)
                seen = (legal[b].tobytes() if acts else b"", inputs[b].tobytes(), pasts[b][p])
                alone = keys[b] == _key(game, states[b], p)
                _require(alone, game, "public or private rows of a batch are others than alone")
                first = self.infostates.setdefault((keys[b], acts), seen)
                for one, two, part in zip(first, seen, _SEEN, strict=True):
                    fault = f"two histories of one infostate of player {p} (public and private rows) have other {part}"
                    _require(one == two, game, fault)
                if acts:
                    fault = f"two infostates of player {p} have the same inputs and other legal actions"
                    _require(self.legal_by_inputs.setdefault((p, seen[1]), seen[0]) == seen[0], game, fault)
                    self.private.setdefault((p, public[b].tobytes()), {})[keys[b]] = seen[1]
        for row, actor in zip(public, actors.tolist(), strict=True):
            same = self.acting.setdefault(row.tobytes(), actor) == actor
            _require(same or (row < 0).all(), game, "two histories with one public row have other players to act")
        critic = game.critic_inputs(states)
        _require_array(game, critic, np.float32, (len(states), game.num_critic_inputs), "critic_inputs")
        _require(np.isfinite(critic).all(), game, "critic_inputs are not finite")


_SEEN: Final = ("legal actions", "inputs", "pasts of that player (perfect recall)")


def _weights(game: HistoryGame, states: Int32) -> tuple[Array, Int32]:
    """float64[B, *], the weight of each action or outcome, and int32[B], who acts; both checked."""
    count = len(states)
    _require(isinstance(states, np.ndarray) and states.ndim == 2, game, "states are not int32[B, K]")
    _require_array(game, states, np.int32, (count, states.shape[1]), "states")
    actors = game.actors(states)
    _require_array(game, actors, np.int32, (count,), "actors")
    _require(np.isin(actors, (0, 1, NATURE, TERMINAL)).all(), game, "an actor is not 0, 1, NATURE or TERMINAL")
    legal, chances, utilities = game.legal(states), game.chances(states), game.utilities(states)
    _require_array(game, legal, np.bool_, (count, game.num_actions), "legal")
    _require_array(game, chances, np.float64, (count, game.num_outcomes), "chances")
    _require_array(game, utilities, np.float64, (count,), "utilities")
    some = legal.any(axis=1)
    _require((some == (actors < NATURE)).all(), game, "legal actions where no player acts, or none where one does")
    sums = chances.sum(axis=1)
    _require((chances >= 0).all(), game, "a chance is below 0")
    fits = np.abs(sums - (actors == NATURE)).max(initial=0.0) < _CLOSE
    _require(fits, game, "chances do not sum to 1 where NATURE acts, or to 0 elsewhere")
    _require((utilities[actors != TERMINAL] == 0).all(), game, "a utility before the game is over")
    most = np.abs(utilities).max(initial=0.0)
    _require(most <= game.u_max * (1 + _CLOSE), game, f"a utility of {most:g}, above u_max = {game.u_max:g}")
    return uniform_weights(game, states, actors), actors


def _require_array(game: HistoryGame, array: Any, dtype: type, shape: tuple[int, ...], name: str) -> None:
    fits = isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape
    kind = f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else f"of type {type(array).__name__}"
    _require(fits, game, f"{name} are {kind}, not {np.dtype(dtype)}{list(shape)}")


def _public(game: HistoryGame, states: Int32) -> Int32:
    """int32[B, P]: the public rows, checked."""
    rows = game.public(states)
    _require_array(game, rows, np.int32, (len(states), *np.shape(rows)[1:2]), "public rows")
    return rows


def _keys(game: HistoryGame, states: Int32, viewers: Int32) -> list[bytes]:
    """The infostate of each state's viewer as one bytes: the player, the public and the private row, checked."""
    private = game.private(states, viewers)
    _require_array(game, private, np.int32, (len(states), *np.shape(private)[1:2]), "private rows")
    rows = np.concatenate((viewers[:, None], _public(game, states), private), axis=1)
    return [row.tobytes() for row in rows]


def _key(game: HistoryGame, state: Int32, player: int) -> bytes:
    """A player's infostate at a state, int32[K], alone."""
    return _keys(game, state[None], np.array([player], dtype=np.int32))[0]


def _check_alone(game: HistoryGame, rng: np.random.Generator, count: int = 8) -> None:
    """Games played at once reach the same states as when each is replayed alone; -1 leaves a row as it is."""
    taken: list[Int32] = []
    states = game.begin(count)
    while (actors := deal(game, states, rng, taken)).min() < TERMINAL:
        legal = np.where((actors < NATURE)[:, None], game.legal(states), True)
        actions = np.where(actors < NATURE, drawn(legal.astype(np.float64), rng.random(count)), -1)
        game.step(states, actions)
        taken.append(actions.astype(np.int32))
    for b in range(count):
        own = np.array([column[b] for column in taken if column[b] >= 0], dtype=np.int16)
        alone = replay(game, own[None])
        _require(np.array_equal(alone[0], states[b]), game, "a game in a batch comes to another state than alone")
    before = states.copy()
    game.step(states, np.full(count, -1, dtype=np.int32))
    _require(np.array_equal(before, states), game, "action -1 changes a state")


# --- the public face ---


def _check_faces(game: HistoryGame, public: Game, max_states: int, seed: int) -> int:
    """How many pairs of infostates were replayed, all the same in both forms."""
    same = game.name.removeprefix(OPENSPIEL) == public.name.removeprefix(OPENSPIEL)
    _require(same, game, f"its public face is another game, {public.name}; both forms have the same game string")
    for name in ("unit", "u_max", "num_actions"):
        mine, face = getattr(game, name), getattr(public, name)
        _require(mine == face, game, f"the attribute {name} is {mine!r}, of its public face {face!r}")
    infostates: dict[bytes, tuple[object, int, int]] = {}
    shown: dict[bytes, object] = {}
    pairs = covered = 0
    for visit in walk(public, max_states, seed):
        s, actor = visit.state, public.actor(visit.state)
        if actor == NATURE:
            continue
        location = f"at {public.state_name(s)!r} of the public face"
        w = public.weights(s).dense()
        places = np.argwhere(w > 0)
        histories = _histories(game, public, s, places)
        states = replay(game, histories)
        chances = _chances_of(game, histories)
        # A pair's weight sums the chances of all its histories, so that one of them can only be less likely.
        more = chances / w[tuple(places.T)]
        k = int(more.argmax())
        likely = f"{location} a pair has weight {w[tuple(places[k])]:g}, by histories {chances[k]:g}"
        _require(more[k] < 1 + _CLOSE, game, likely)
        if covered < _COVERED and actor != TERMINAL:  # a last move may show more by histories
            covered += _check_covered(game, states, w[tuple(places.T)], location)
        pairs += len(places)
        _require((game.actors(states) == actor).all(), game, f"{location} another player acts")
        if actor == TERMINAL:
            utility = public.payoff(s).dense()[tuple(places.T)] / w[tuple(places.T)]
            utilities = game.utilities(states)
            k = int(np.abs(utilities - utility).argmax())
            same = abs(utilities[k] - utility[k]) < _CLOSE * game.u_max
            _require(same, game, f"{location} a pair's utility is {utility[k]:g}, by histories {utilities[k]:g}")
            continue
        assert visit.fan is not None and visit.fan.moves is not None
        legal = np.zeros((len(states), game.num_actions), dtype=np.bool_)
        legal[:, public.actions(s)] = visit.fan.moves.edge[places[:, actor]] >= 0
        _require(np.array_equal(game.legal(states), legal), game, f"{location} other actions are legal")
        for row in game.public(states):
            same = (row < 0).all() or shown.setdefault(row.tobytes(), s) == s  # a row that shows nothing promises none
            _require(same, game, f"{location} a public row is that of another state")
        for state, place in zip(states, places.tolist(), strict=True):
            for p in (0, 1):
                own = (s, p, place[p])
                first = infostates.setdefault(_key(game, state, p), own)
                _require(first == own, game, f"{location} an infostate of player {p} is also another one")
    whole = len(infostates) == len(set(infostates.values()))
    _require(whole, game, "an infostate of the public face is several by histories")
    return pairs


_COVERED: Final = 50  # public states whose histories are all listed
_FEW: Final = 2_000  # histories of such a state


def _check_covered(game: HistoryGame, states: Int32, weights: Float64, location: str) -> bool:
    """Whether all histories of a public state were listed; their chances must sum to the weights of its pairs.

    states: int32[P, K], a history of each pair of the public face, with its weight, float64[P].
    """
    row = game.public(states[:1])[0]
    if (row < 0).all():  # it shows nothing, so that histories of other states have it too
        return False
    try:
        listed = histories_of(game, row, _FEW)
    except TooManyHistories:
        return False
    given = {_pair(game, state): weight for state, weight in zip(states, weights.tolist(), strict=True)}
    left = dict(given)
    acting = game.actors(listed.states) == game.actors(states[:1])[0]
    for state, chance in zip(listed.states[acting], _chances_of(game, listed.actions[acting]), strict=True):
        pair = _pair(game, state)
        _require(pair in left, game, f"{location} a pair that chance deals by histories is missing")
        left[pair] -= float(chance)
    for pair, rest in left.items():
        together = f"all its histories together {given[pair] - rest:g}"
        fault = f"{location} a pair has weight {given[pair]:g}, {together}"
        _require(abs(rest) < _CLOSE * given[pair], game, fault)
    return True


def _pair(game: HistoryGame, state: Int32) -> tuple[bytes, bytes]:
    """Both players' infostates at a state, int32[K]."""
    return _key(game, state, 0), _key(game, state, 1)


def _chances_of(game: HistoryGame, histories: Array) -> Float64:
    """float64[B]: the product of chance's probabilities along histories, int[B, T] padded with -1."""
    states, chances = game.begin(len(histories)), np.ones(len(histories))
    for column in histories.T:
        drew = np.flatnonzero((game.actors(states) == NATURE) & (column >= 0))
        chances[drew] *= game.chances(states)[drew, column[drew]]
        game.step(states, column.astype(np.int32))
    return chances


def _histories(game: HistoryGame, public: Game, s: State, places: Array) -> Array:
    """int16[P, longest]: the history that the public face gives of each pair; GameError where it gives none."""
    out = np.full((len(places), game.longest), -1, dtype=np.int16)
    for row, (i0, i1) in zip(out, places.tolist(), strict=True):
        history = public.history(s, i0, i1)
        if history is None:
            raise GameError(f"{public.name} has no `history`, so its two forms cannot be compared")
        location = f"{public.name} at {public.state_name(s)!r}: the history of pair ({i0}, {i1})"
        if not all(isinstance(action, int | np.integer) for action in history) or len(history) > len(row):
            raise GameError(f"{location} is {history!r}, not a list of at most longest = {len(row)} actions")
        row[: len(history)] = history
    _refuse_unplayable(game, public, s, places, out)
    return out


def _refuse_unplayable(game: HistoryGame, public: Game, s: State, places: Array, histories: Array) -> None:
    """GameError that names the first of these histories, int16[P, T], that the game by histories cannot play."""
    try:
        replay(game, histories)
    except GameError:
        for history, pair in zip(histories, places.tolist(), strict=True):
            try:
                replay(game, history[None])
            except GameError as error:
                fault = f"the history of pair {tuple(pair)} is {history[history >= 0].tolist()}"
                raise GameError(f"{public.name} at {public.state_name(s)!r}: {fault}: {error}") from error
