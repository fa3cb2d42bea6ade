"""Every history of an OpenSpiel game as arrays: who acts, what each player observes, how likely chance makes it."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyspiel

from sog.arrays import Float64, Int32
from sog.errors import GameError, first_line
from sog.games.base import TERMINAL
from sog.games.openspiel.first_look import limit_this_process
from sog.games.openspiel.loading import as_openspiel_says, in_turns, load_as_it_is, load_untried, quiet
from sog.games.strings import OPENSPIEL

LIMIT: Final = 1_000_000
_PLAYOUTS = 32
_LONGEST_PLAYOUT = 5_000
_HOPELESS = 100  # an estimate this many times above the limit is believed without counting
_LONGER = 4  # OpenSpiel's max_game_length is not always kept; a game this many times longer may be endless
_ZERO_SUM = 1e-9
_NO_MEMORY: Final = "a few games of it take more memory than a first look may"


@dataclass(frozen=True)
class OpenSpielHistories:
    """The decision and terminal histories (moments) of a game, each after its parent.

    Chance is folded: a moment's parent is the last decision before it, -1 at the start.
    game: OpenSpiel's, in turns.  parent: int32[M].  depth: int32[M], decisions before it.
    action: int32[M], taken at the parent, -1 at the start.  steps: all actions since the parent, chance
    included.  chance: float64[M], the probability of all chance on the way.  actor: int32[M], 0, 1 or
    TERMINAL.  utility: float64[M], player 0's, 0 unless terminal.
    words: int32[M, 2], what each player observes, as places in `vocabulary`; 0 is nothing.
    public: int32[M], what OpenSpiel's public observer shows, likewise; None without such an observer.
    recalls: whether the words are OpenSpiel's infostates; if not, they are its observations.
    """

    name: str
    game: Any
    parent: Int32
    depth: Int32
    action: Int32
    steps: list[tuple[int, ...]]
    chance: Float64
    actor: Int32
    utility: Float64
    words: Int32
    public: Int32 | None
    vocabulary: list[str]
    recalls: bool


def list_histories(name: str, limit: int = LIMIT) -> OpenSpielHistories:
    """Every history of the OpenSpiel game that the game string names, simultaneous moves in turns.

    Raises GameError, in one line, where the game does not load, is not a two-player zero-sum game, draws
    its chance by sampling, shows its players nothing, or has more than `limit` histories.
    """
    game = load(name)
    estimate = estimated_histories(name, game)
    if estimate > _HOPELESS * limit:
        raise _too_large(name, estimate, limit)
    return _Walk(name, game, limit, estimate).histories()


def load(name: str) -> Any:
    """The OpenSpiel game in turns; GameError for one that is not two-player with explicit chance."""
    if not name:
        raise GameError("openspiel: needs a game string of OpenSpiel's, such as openspiel:kuhn_poker")
    original = load_as_it_is(name)
    kind = original.get_type()
    if original.num_players() != 2:
        raise GameError(f"{name} is not a two-player game: it has {original.num_players()} players")
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise GameError(f"{name} is a mean-field game, not a two-player one")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise GameError(f"{name} cannot be enumerated: OpenSpiel only samples its chance")
    if kind.utility == pyspiel.GameType.Utility.IDENTICAL:
        raise GameError(f"{name} is not zero-sum: both players get the same{_made_so(original)}")
    return in_turns(original)


def trial() -> str:
    """Load and play out the game whose string is on the standard input, in a process that this may end.

    What is wrong with it; "" where nothing is, or where OpenSpiel or the estimate says it: that is safe to do again.
    """
    limit_this_process()
    name = sys.stdin.read()
    try:
        _estimate(name, in_turns(load_untried(name)))
    except (GameError, pyspiel.SpielError) as error:
        return _NO_MEMORY if isinstance(error.__cause__, MemoryError) else ""
    except (MemoryError, TypeError):  # a list of actions that cannot be made is a TypeError
        return _NO_MEMORY
    except RuntimeError as error:
        return _NO_MEMORY if "allocate" in str(error) else first_line(error)
    return ""


def estimated_histories(name: str, game: Any) -> int:
    """About how many histories an OpenSpiel game has; GameError where OpenSpiel cannot play it, or is not zero-sum."""
    try:
        with quiet():
            return _estimate(name, game)
    except pyspiel.SpielError as error:  # of a game that loads and cannot begin
        raise GameError(f"OpenSpiel does not play {name}: {as_openspiel_says(error)}") from error


def _too_large(name: str, estimate: int, limit: int) -> GameError:
    size = f"about 10^{math.log10(estimate):.0f}" if estimate > 10 * limit else f"more than {limit:,}"
    return GameError(f"{name} is too large to enumerate: {size} histories, the limit is {limit:,}")


def _estimate(name: str, game: Any) -> int:
    """The number of histories, estimated without bias from random playouts (Knuth 1975)."""
    rng = np.random.default_rng(0)
    total = 0  # of any size: chess has more histories than a float can count
    for _ in range(_PLAYOUTS):
        state, width = game.new_initial_state(), 1
        for _ in range(_LONGEST_PLAYOUT):
            if state.is_terminal():
                _check_zero_sum(name, state)
                break
            total += 0 if state.is_chance_node() else width
            actions = state.legal_actions()
            if not actions:
                raise GameError(f"OpenSpiel does not play {name}: it has a position without a legal action")
            width *= len(actions)
            state.apply_action(actions[int(rng.integers(len(actions)))])
        total += width
    return total // _PLAYOUTS


def _check_zero_sum(name: str, state: Any) -> None:
    won = state.returns()
    if abs(won[0] + won[1]) > _ZERO_SUM * max(1.0, abs(won[0])):
        ends = f"a game ends with {won[0]:g} and {won[1]:g}"
        raise GameError(f"{name} is not zero-sum: {ends}{_made_so(state.get_game())}")


def _made_so(game: Any) -> str:
    """How to say the game that OpenSpiel makes zero-sum of this one, by taking half of the sum from each player."""
    return f"; {OPENSPIEL}zerosum(game={game}) takes half of the sum from each"


def public_observer(game: Any) -> Any | None:
    """OpenSpiel's observer of public information, with perfect recall if it has it; None without one."""
    inner = game.new_initial_state()
    watched = inner.simultaneous_game_state().get_game() if _in_turns(inner) else game
    for recall in (True, False):
        kind = pyspiel.IIGObservationType(
            public_info=True, perfect_recall=recall, private_info=pyspiel.PrivateInfoType.NONE
        )
        try:
            with quiet():
                made = watched.make_observer(kind, {})
                if made is None:
                    continue
                observer = pyspiel._Observation(watched, made)
                observe(observer, _first_decision(game))
        except RuntimeError:
            continue
        return observer
    return None


def observe(observer: Any, state: Any) -> str:
    """What a public observer shows at a state of the game in turns."""
    text: str = observer.string_from(_watched(state), 0)
    return text


def observed_tensor(observer: Any, state: Any) -> Float64:
    """float64[*]: a public observer's tensor at a state of the game in turns, empty without one."""
    if not observer.has_tensor():
        return np.zeros(0)
    observer.set_from(_watched(state), 0)
    return np.frombuffer(observer, np.float32).astype(np.float64)


def _in_turns(state: Any) -> bool:
    return hasattr(state, "simultaneous_game_state")


def _watched(state: Any) -> Any:
    """The state that a public observer looks at: in the middle of simultaneous moves, the one before them."""
    return state.simultaneous_game_state() if _in_turns(state) else state


def _first_decision(game: Any) -> Any:
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    return state


class _Walk:
    """The lists that a walk over all histories fills."""

    def __init__(self, name: str, game: Any, limit: int, estimate: int) -> None:
        self.name, self.game, self.limit, self.estimate = name, game, limit, estimate
        kind = game.get_type()
        self.recalls = bool(kind.provides_information_state_string)
        if not self.recalls and not kind.provides_observation_string:
            raise GameError(f"{name} shows its players nothing: OpenSpiel has neither infostates nor observations")
        self.observer = public_observer(game)
        self.parent: list[int] = []
        self.depth: list[int] = []
        self.action: list[int] = []
        self.steps: list[tuple[int, ...]] = []
        self.chance: list[float] = []
        self.actor: list[int] = []
        self.utility: list[float] = []
        self.words: list[tuple[int, int]] = []
        self.public: list[int] = []
        self.places: dict[str, int] = {"": 0}
        self.same_steps: dict[tuple[int, ...], tuple[int, ...]] = {}

    def histories(self) -> OpenSpielHistories:
        """Walk depth first, children in OpenSpiel's order."""
        waiting: list[tuple[Any, int, tuple[int, ...], float]] = [(self.game.new_initial_state(), -1, (), 1.0)]
        while waiting:
            state, parent, steps, chance = waiting.pop()
            player = state.current_player()
            if player == pyspiel.PlayerId.CHANCE:
                outcomes = state.chance_outcomes()
                self._refuse_many(len(waiting) + len(outcomes))
                waiting.extend(
                    (state.child(a), parent, (*steps, a), chance * p) for a, p in reversed(outcomes) if p > 0
                )
                continue
            moment = self._add(state, player, parent, steps, chance)
            if player >= 0:
                actions = state.legal_actions()
                self._refuse_many(len(waiting) + len(actions))
                waiting.extend((state.child(a), moment, (a,), chance) for a in reversed(actions))
        return self._arrays()

    def _refuse_many(self, waiting: int) -> None:
        """GameError where this many states that wait would be too many: each is a history, or leads to one."""
        if len(self.parent) + waiting > self.limit:
            raise _too_large(self.name, self.estimate, self.limit)

    def _add(self, state: Any, player: int, parent: int, steps: tuple[int, ...], chance: float) -> int:
        moment = len(self.parent)
        depth = 0 if parent < 0 else self.depth[parent] + 1
        if depth > _LONGER * self.game.max_game_length():
            raise GameError(f"{self.name} is too large to enumerate: a history has more than {depth - 1:,} moves")
        if moment >= self.limit:
            raise _too_large(self.name, self.estimate, self.limit)
        self.parent.append(parent)
        self.depth.append(depth)
        self.action.append(steps[0] if parent >= 0 else -1)
        self.steps.append(self.same_steps.setdefault(steps, steps))
        self.chance.append(chance)
        if player < 0:
            _check_zero_sum(self.name, state)
            self.actor.append(TERMINAL)
            self.utility.append(state.returns()[0])
            self.words.append((0, 0))
            self.public.append(0)
        else:
            self.actor.append(player)
            self.utility.append(0.0)
            self.words.append((self._word(state, 0), self._word(state, 1)))
            if self.observer is not None:
                self.public.append(self._place(observe(self.observer, state)))
        return moment

    def _word(self, state: Any, p: int) -> int:
        """What player p observes: an infostate or an observation; 0 where OpenSpiel does not say it."""
        try:
            return self._place(state.information_state_string(p) if self.recalls else state.observation_string(p))
        except RuntimeError:
            if state.current_player() == p:
                raise GameError(f"{self.name} does not say what player {p} knows at their own move") from None
            return 0

    def _place(self, word: str) -> int:
        # Letters keep an empty word apart from no word at all.
        return self.places.setdefault("=" + word, len(self.places))

    def _arrays(self) -> OpenSpielHistories:
        return OpenSpielHistories(
            name=self.name,
            game=self.game,
            parent=np.array(self.parent, dtype=np.int32),
            depth=np.array(self.depth, dtype=np.int32),
            action=np.array(self.action, dtype=np.int32),
            steps=self.steps,
            chance=np.array(self.chance),
            actor=np.array(self.actor, dtype=np.int32),
            utility=np.array(self.utility),
            words=np.array(self.words, dtype=np.int32).reshape(-1, 2),
            public=None if self.observer is None else np.array(self.public, dtype=np.int32),
            vocabulary=[word[1:] for word in self.places],
            recalls=self.recalls,
        )
