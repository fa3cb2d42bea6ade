"""The game interface: rules described by public states.

At a public state s each player p has infostates 0..I_p(s)-1. A range r_p is a vector over them (the player's own reach
only). The weight of a pair is W_s[i0, i1] * r_0[i0] * r_1[i1]: W_s holds chance and card removal, so W_root sums to 1
over all pairs under the root ranges. A world is (s, i0, i1), so search and referee share one set of rules; in a
compiled game (sog/games/compiled) a world may stand for several histories.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sog.arrays import Array, Float32, Float64, Int32
from sog.errors import GameError
from sog.games.cells import CellRules
from sog.games.game_records import GameRecord, plain_record
from sog.games.legal_pairs import LegalPairs
from sog.games.symmetries import Symmetry

__all__ = [
    "DENSE",
    "NATURE",
    "SPARSE",
    "TERMINAL",
    "Carry",
    "Fan",
    "Game",
    "Links",
    "Moves",
    "Operator",
    "Scaled",
    "State",
    "Unit",
    "carried_down",
    "carried_up",
    "followers",
    "forward_links",
    "plain_moves",
    "refuse_finished",
    "step",
]

State = Hashable
NATURE: Final = 2
"""Who acts where chance does."""
TERMINAL: Final = 3
"""Who acts where the game is over."""

# Kinds of operators; a game's own kinds are numbers above 0.
DENSE: Final = 0  # its matrix
SPARSE: Final = -1  # those entries that are not 0 (sog/games/compiled/sparse.py)


@dataclass(frozen=True, eq=False)
class Operator:
    """A pair operator shared by many public states; compared by identity, so a game keeps and reuses it.

    matrix: float64[I0, I1], entry (i0, i1) of W_s or of player 0's utility with W included.
    A game too wide for matrices has operators of a kind of its own, which kernels know how to apply from what
    `packed` gives them (sog/games/holdem/operator.py); then `matrix` is written out for checks only.
    """

    matrix: Float64

    @property
    def kind(self) -> int:
        return DENSE

    @property
    def shape(self) -> tuple[int, int]:
        """(I0, I1)."""
        return self.matrix.shape[0], self.matrix.shape[1]

    def packed(self) -> Float64:
        """float64[*]: what kernels read; for a dense operator, its entries row by row."""
        return self.matrix.ravel()

    def entry(self, i0: int, i1: int) -> float:
        """The matrix at (i0, i1)."""
        return float(self.matrix[i0, i1])


@dataclass(frozen=True)
class Scaled:
    """An operator times a number: W_s, or player 0's utility at a terminal with W included."""

    operator: Operator
    scale: float = 1.0

    def dense(self) -> Float64:
        """float64[I0, I1]: the scaled matrix itself."""
        return self.scale * self.operator.matrix

    def entry(self, i0: int, i1: int) -> float:
        """The scaled matrix at (i0, i1)."""
        return self.scale * self.operator.entry(i0, i1)


@dataclass(frozen=True, eq=False)
class Links:
    """Which infostate of the parent becomes which of the child; one may be dropped, several may merge, one may split.

    source: int32[P], infostate at the parent.  target: int32[P], infostate at the child.
    """

    source: Int32
    target: Int32


Carry = Links | None  # None: every infostate keeps its index


@dataclass(frozen=True, eq=False)
class Moves:
    """Where the actor's moves lead.

    edge: int32[I, A], the public edge that (infostate, action) takes; -1 where the action is illegal.
    target: int32[I, A], the actor's infostate at that edge's child; None: the index stays the same.
    """

    edge: Int32
    target: Int32 | None = None


@dataclass(frozen=True, eq=False)
class Fan:
    """Every public edge leaving a public state (E edges).

    children: one state per public observation [E]; may be a lazy sequence.  moves: the actor's; None at a NATURE state.
    carry: what both players' infostates become by each edge, `[E][2]`; the actor's is not read. None: none changes.
    """

    children: Sequence[State]
    moves: Moves | None = None
    carry: Sequence[tuple[Carry, Carry]] | None = None


@dataclass(frozen=True)
class Unit:
    """How a game's utility is reported: `name` (such as "mbb/h") and how many of them one utility is.

    Raises GameError unless that is a finite number above 0.
    """

    name: str = "utility"
    per_utility: float = 1.0

    def __post_init__(self) -> None:
        number = isinstance(self.per_utility, int | float | np.number) and not isinstance(self.per_utility, bool)
        if not (isinstance(self.name, str) and number and 0 < self.per_utility < np.inf):
            given = f"Unit({self.name!r}, {self.per_utility!r})"
            raise GameError(f"a unit is a name and a finite number above 0, not {given}")

    def amount(self, utility: float) -> str:
        """What a hand wins, for people: chips where reports are in mbb/h, otherwise in this unit."""
        name, times = ("chips", 1.0) if self.name == "mbb/h" else (self.name, self.per_utility)
        number, one = f"{utility * times:g}", abs(utility * times) == 1.0
        return number if name == "utility" else f"{number} {name.removesuffix('s') if one else name}"


class Game(ABC):
    """Immutable rules of a two-player zero-sum game, described by its public states.

    name: the game string that makes this game again (OpenSpiel's where OpenSpiel has the game).
    u_max: the largest utility anyone can win.
    unit: how utilities are reported.
    num_actions: action identities are 0..num_actions-1 (OpenSpiel's numbers where it has the game).
    num_slots: the network's slots for infostates of players 0 and 1; at least max I_p(s).
    num_features: length of `features`.
    perfect_information: each player has one infostate everywhere.
    deterministic: perfect information and no chance. Then W_s is the same everywhere, values are in units of u_max,
    there is one network slot a player, and action a takes edge a.
    crossed: the features that decide what a range means (a board card), for networks that multiply the two.
    planes: (C, H, W) where the features are C planes of H x W, made flat, from the mover's side; the last one is ones
    where player 0 acts, zeros otherwise. Training keeps rows small: each plane is 0 or one value everywhere.
    policy_planes: P where action (h * W + w) * P + k is cell (h, w) of the k-th policy plane; actions from H * W * P
    on have no cell.
    ownership: whether a finished game says who owns each cell of its planes (`owners`).
    legal_pairs: the (slot, action) pairs that can ever be legal, if they are few; None where a game names none.
    symmetries: the same positions seen other ways, the identity among them; none where a game names none.
    longest: moves after which the papers' self-play cuts a game short (PoG, Table 3); 0 where games end by themselves.
    drawn_out: whether games between weak players rarely end by themselves, so that self-play must cut them short.
    draws: whether games of self-play are drawn from the family, such as Go at several komi (`drawn`).
    has_baseline: whether a network's values are added to others that need no learning (`baseline`).
    player_names: what people call players 0 and 1.
    record_suffix: how the name of a finished game's file ends, see `write_record`.
    """

    name: str
    u_max: float
    num_actions: int
    num_slots: tuple[int, int]
    num_features: int
    perfect_information: bool = False
    deterministic: bool = False
    unit: Unit = Unit()
    crossed: tuple[int, ...] = ()
    planes: tuple[int, int, int] | None = None
    policy_planes: int = 0
    ownership: bool = False
    legal_pairs: LegalPairs | None = None
    symmetries: tuple[Symmetry, ...] = ()
    longest: int = 0
    drawn_out: bool = False
    draws: bool = False
    has_baseline: bool = False
    player_names: tuple[str, str] = ("player 0", "player 1")
    record_suffix: str = ".txt"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.name}>"

    @property
    def family(self) -> str:
        """Games of the same family are played by one network, whose input says which of them it is."""
        return self.name

    def drawn(self, rng: np.random.Generator) -> Game:
        """The game of the family that a game of self-play is played by; this one unless it `draws`."""
        return self

    def random_start(self, rng: np.random.Generator) -> Game | None:
        """A drawn position that self-play may begin with, as a game of the family; None where the game names none."""
        return None

    def owners(self, s: State) -> Float32 | None:
        """float32[H * W]: who owns each cell where the game has ended at s, 1 player 0, -1 player 1, 0 neither.

        None where ownership did not decide the game.
        """
        return None

    @abstractmethod
    def root(self) -> State:
        """The first public state."""

    @abstractmethod
    def actor(self, s: State) -> int:
        """0, 1, NATURE or TERMINAL; public by definition."""

    @abstractmethod
    def num_infostates(self, s: State) -> tuple[int, int]:
        """(I_0(s), I_1(s))."""

    @abstractmethod
    def actions(self, s: State) -> Int32:
        """int32[A]: identities of the actor's actions at s, ascending; empty at NATURE and TERMINAL."""

    @abstractmethod
    def fan(self, s: State) -> Fan:
        """Every public edge leaving s. Not called where `listable(s)` is false or s is terminal."""

    def child(self, s: State, edge: int) -> State:
        """The state at the end of one public edge leaving s; GameError where there is no such edge."""
        children = self.fan(s).children
        if not 0 <= edge < len(children):
            place = f"{self.name} at {self.state_name(s)}"
            raise GameError(f"{place}: of its {len(children)} edges, from 0 on, none is {edge}")
        return children[edge]

    @abstractmethod
    def weights(self, s: State) -> Scaled:
        """W_s: chance and card removal of each pair of infostates."""

    @abstractmethod
    def payoff(self, s: State) -> Scaled:
        """Player 0's utility for each pair at a terminal state, W_s included."""

    @abstractmethod
    def features(self, s: State) -> Float32:
        """float32[num_features]: what the network sees of s besides the ranges."""

    def root_ranges(self) -> tuple[Float64, Float64]:
        """float64[I0], float64[I1]: ranges at the root, ones unless the game is given others."""
        i0, i1 = self.num_infostates(self.root())
        return np.ones(i0), np.ones(i1)

    def slot(self, s: State, p: int) -> Int32:
        """int32[I_p(s)]: the network slot of each infostate, all different."""
        return np.arange(self.num_infostates(s)[p], dtype=np.int32)

    def baseline(self, states: Sequence[State], ranges: Float64) -> Float64 | None:
        """float64[B, S0 + S1]: values, by slot in value units, to which the network's are added; None without.

        states: [B].  ranges: float64[B, S0 + S1], by slot.  Asked only where `has_baseline`.
        """
        return None

    def value_unit(self, s: State) -> float:
        """The utility that a network value of 1 means at s: in poker, about the pot."""
        return self.u_max

    def listable(self, s: State) -> bool:
        """Whether the fan of s is small enough to list; if not, search leaves s a leaf."""
        return True

    def chance_carry(self, s: State, child: State) -> tuple[Carry, Carry]:
        """What the infostates of players 0 and 1 at the NATURE state s, whose fan is not listed, become at a child."""
        return None, None

    def sample_chance(self, s: State, i0: int, i1: int, rng: np.random.Generator) -> tuple[State, int, int]:
        """One child of the NATURE state s for the pair (i0, i1), with the pair's infostates there."""
        fan = self.fan(s)
        options, chances = list[tuple[State, int, int]](), list[float]()
        for e, child in enumerate(fan.children):
            for j0 in followers(fan, e, 0, i0):
                for j1 in followers(fan, e, 1, i1):
                    options.append((child, j0, j1))
                    chances.append(self.weights(child).entry(j0, j1))
        p = np.array(chances)
        return options[int(rng.choice(len(p), p=p / p.sum()))]

    def cell_rules(self, s: State) -> CellRules | None:
        """A deterministic game's rules as kernels play them from s on; None where it has none."""
        return None

    # --- words for people, and the way to OpenSpiel ---

    def state_name(self, s: State) -> str:
        """The public state in a few words."""
        return str(s)

    def picture(self, s: State) -> str:
        """The public state as a person at the terminal wants to see it, of one or more lines."""
        return self.state_name(s)

    def action_name(self, s: State, action: int) -> str:
        """The action with this identity, as a person would say it."""
        return str(action)

    def infostate_name(self, s: State, p: int, i: int) -> str:
        """What player p knows at infostate i and the opponent does not."""
        return str(i)

    def write_record(self, record: GameRecord) -> str:
        """A finished game of perfect information in the format that programs of this game read."""
        return plain_record(self, record)

    def history(self, s: State, i0: int, i1: int) -> list[int] | None:
        """OpenSpiel's actions, chance included, of one history of the pair; None where OpenSpiel lacks the game."""
        return None


def followers(fan: Fan, edge: int, p: int, i: int) -> Array:
    """int32[*]: the infostates that player p's infostate i becomes over a public edge where p does not act."""
    carry = None if fan.carry is None else fan.carry[edge][p]
    if carry is None:
        return np.array([i], dtype=np.int32)
    infostates: Array = carry.target[carry.source == i]
    return infostates


def step(fan: Fan, actor: int, pair: tuple[int, int], column: int) -> tuple[int, tuple[int, int]]:
    """The edge and the pair's infostates after the actor takes the action in `column` of the fan's moves."""
    assert fan.moves is not None
    i = pair[actor]
    edge = int(fan.moves.edge[i, column])
    own = i if fan.moves.target is None else int(fan.moves.target[i, column])
    (other,) = followers(fan, edge, 1 - actor, pair[1 - actor])
    return edge, (own, int(other)) if actor == 0 else (int(other), own)


def carried_down(carry: Carry, reach: Float64, width: int) -> Float64:
    """float64[width]: a player's range at the end of an edge, from that before it."""
    if carry is None:
        return reach.copy()
    out = np.zeros(width)
    np.add.at(out, carry.target, reach[carry.source])
    return out


def carried_up(carry: Carry, values: Float64, total: Float64) -> None:
    """Add counterfactual values at the end of an edge, float64[I], to those before it."""
    if carry is None:
        total += values
    else:
        np.add.at(total, carry.source, values[carry.target])


def refuse_finished(game: Game) -> None:
    """GameError for a game that is over where it begins, such as chess from a position of mate."""
    if game.actor(game.root()) == TERMINAL:
        raise GameError(f"{game.name} is over where it begins: there is nothing to play")


def forward_links(target: Array) -> Links:
    """Links from int[I] giving each infostate's index at the child, -1 where it ends."""
    source = np.flatnonzero(np.asarray(target) >= 0)
    return Links(source.astype(np.int32), np.asarray(target)[source].astype(np.int32))


def plain_moves(num_infostates: int, num_actions: int) -> Moves:
    """Moves of a game whose actions are public: action a takes edge a for every infostate."""
    row = np.arange(num_actions, dtype=np.int32)
    return Moves(np.broadcast_to(row, (num_infostates, num_actions)))
