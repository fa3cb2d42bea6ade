"""A subgame as a game of its own: the same rules from a later public state on."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

import numpy as np

from sog.arrays import Float32, Float64, Int32
from sog.errors import GameError
from sog.games.base import TERMINAL, Carry, Fan, Game, Scaled, State
from sog.games.cells import CellRules

_LOOKED_AT: Final = 1_000  # public states among which a start is looked for; a few milliseconds


class Rooted(Game):
    """`game` from the public state `start`, to be listed and solved from ranges that reach it.

    Its weights are the whole game's, so they need not sum to 1 and values stay the counterfactual ones. It is of the
    game's family, so that the game's network plays it, and draws no other games, starts or records.
    """

    def __init__(self, game: Game, start: State, ranges: tuple[Float64, Float64] | None = None) -> None:
        """ranges: float64[I0], float64[I1] at `start`; ones, or at the game's own root the game's, by default.

        Raises GameError where they are not given and the game's own root has others than ones: nobody but the caller
        knows which of them reach `start`; and for ranges that are none, or a start that is no state of the game's. In
        games of more than 1,000 public states, and on boards, a start counts as one where the rules answer for it.
        """
        if not isinstance(game, Game):
            raise GameError(f"Rooted takes a game, such as sog.make_game('leduc_poker'), not {game!r}")
        _refuse_unknown(game, start)
        if ranges is None and start == game.root():
            ranges = game.root_ranges()
        if ranges is None and any((own != 1.0).any() for own in game.root_ranges()):
            raise GameError(f"{game.name} begins with ranges of its own: give those at {game.state_name(start)}")
        _refuse_ranges(game, start, ranges)
        self.game, self.start, self.ranges = game, start, ranges
        self.name = f"{game.name} from {game.state_name(start)}"
        self.u_max, self.unit = game.u_max, game.unit
        self.perfect_information, self.deterministic = game.perfect_information, game.deterministic
        self.num_actions, self.num_slots = game.num_actions, game.num_slots
        self.num_features, self.crossed, self.legal_pairs = game.num_features, game.crossed, game.legal_pairs
        self.planes, self.policy_planes = game.planes, game.policy_planes
        self.symmetries = game.symmetries if start == game.root() else ()  # which a start of its own may not have
        self.ownership = game.ownership
        self.longest, self.drawn_out = game.longest, game.drawn_out
        self.has_baseline, self.player_names = game.has_baseline, game.player_names

    @property
    def family(self) -> str:
        return self.game.family

    def root(self) -> State:
        return self.start

    def root_ranges(self) -> tuple[Float64, Float64]:
        return super().root_ranges() if self.ranges is None else self.ranges

    def actor(self, s: State) -> int:
        return self.game.actor(s)

    def num_infostates(self, s: State) -> tuple[int, int]:
        return self.game.num_infostates(s)

    def actions(self, s: State) -> Int32:
        return self.game.actions(s)

    def fan(self, s: State) -> Fan:
        return self.game.fan(s)

    def child(self, s: State, edge: int) -> State:
        return self.game.child(s, edge)

    def weights(self, s: State) -> Scaled:
        return self.game.weights(s)

    def payoff(self, s: State) -> Scaled:
        return self.game.payoff(s)

    def features(self, s: State) -> Float32:
        return self.game.features(s)

    def cell_rules(self, s: State) -> CellRules | None:
        return self.game.cell_rules(s)

    def slot(self, s: State, p: int) -> Int32:
        return self.game.slot(s, p)

    def baseline(self, states: Sequence[State], ranges: Float64) -> Float64 | None:
        return self.game.baseline(states, ranges)

    def value_unit(self, s: State) -> float:
        return self.game.value_unit(s)

    def listable(self, s: State) -> bool:
        return self.game.listable(s)

    def chance_carry(self, s: State, child: State) -> tuple[Carry, Carry]:
        return self.game.chance_carry(s, child)

    def sample_chance(self, s: State, i0: int, i1: int, rng: np.random.Generator) -> tuple[State, int, int]:
        return self.game.sample_chance(s, i0, i1, rng)

    def owners(self, s: State) -> Float32 | None:
        return self.game.owners(s)

    def state_name(self, s: State) -> str:
        return self.game.state_name(s)

    def picture(self, s: State) -> str:
        return self.game.picture(s)

    def action_name(self, s: State, action: int) -> str:
        return self.game.action_name(s, action)

    def infostate_name(self, s: State, p: int, i: int) -> str:
        return self.game.infostate_name(s, p, i)

    def history(self, s: State, i0: int, i1: int) -> list[int] | None:
        return self.game.history(s, i0, i1)


def _refuse_unknown(game: Game, start: State) -> None:
    """GameError for a start that is no public state of the game's, as far as that is cheap to see."""
    unknown = GameError(f"{game.name} has no public state {start!r}")
    try:
        hash(start)
        sizes = game.num_infostates(start)
        answers = game.state_name(start), game.actions(start), game.weights(start)
    except Exception as error:  # rules raise what they like where they are asked about anything else
        raise unknown from error
    assert answers
    if min(sizes) < 1 or not (game.deterministic or _is_near_root(game, start)):
        raise unknown


def _is_near_root(game: Game, start: State) -> bool:
    """Whether it is among the first public states of the game, or these are not all."""
    waiting, seen = deque([game.root()]), {game.root()}
    while waiting and len(seen) < _LOOKED_AT and start not in seen:
        s = waiting.popleft()
        if game.actor(s) == TERMINAL:
            continue
        if not game.listable(s):
            return True
        new = [child for child in game.fan(s).children if child not in seen]
        seen.update(new)
        waiting.extend(new)
    return start in seen or len(seen) >= _LOOKED_AT


def _refuse_ranges(game: Game, start: State, ranges: tuple[Float64, Float64] | None) -> None:
    """GameError unless each player's range is one number of at least 0 for each infostate, and one is above 0."""
    if ranges is None:
        return
    sizes = game.num_infostates(start)
    for p, size in enumerate(sizes):
        if len(ranges) != 2 or np.shape(ranges[p]) != (size,):
            raise GameError(f"ranges at {game.state_name(start)} are float64[{sizes[0]}] and float64[{sizes[1]}]")
        if np.iscomplexobj(ranges[p]) or not (
            np.all(np.isfinite(ranges[p])) and np.all(np.greater_equal(ranges[p], 0)) and np.any(ranges[p])
        ):
            raise GameError(f"in player {p}'s range every number is finite and at least 0, and one is above 0")
