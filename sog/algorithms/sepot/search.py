"""SePoT's search (Algorithm 2): a policy for one public state, from a network's policy, a critic and the rules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np

from sog.algorithms.sepot.below import Below, DepthLimit, chance_of, grow
from sog.algorithms.sepot.ranges import infostate_reach
from sog.algorithms.sepot.subgame import LeafChoice, Subgame
from sog.arrays import Array, Float64, Int32
from sog.errors import GameError, SettingError
from sog.games.base import NATURE
from sog.games.histories.base import HistoryGame, TooManyHistories
from sog.games.histories.listing import Histories, children, histories_of
from sog.lru import LruCache
from sog.searches.cfr.iterate import NO_CHOICE
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import CFR_PLUS
from sog.searches.resolving.gadget import Gadget
from sog.searches.tree.public_tree import PublicTree

if TYPE_CHECKING:
    from sog.algorithms.policy.own_policy import OwnPolicy

__all__ = [
    "CHOOSERS",
    "GADGETS",
    "PAPERS",
    "PAPERS_ALPHA",
    "Critic",
    "SearchedPolicy",
    "SepotSearch",
    "SepotSearchSettings",
]

PAPERS_ALPHA: Final = 1.0  # the gadget alone
GADGETS: Final = ("critic", "previous")
CHOOSERS: Final = ("opponent", "nobody")
_MOST_BYTES: Final = 10**9  # bytes of what is kept, about
_ALONE: Final = 1_000  # of a public state without policy and values
_VALUE: Final = 300  # of a value, with the two rows that name it
_BREADTH: Final = 4  # on the way to a public state this many times more histories may be possible than in it


class Critic(Protocol):
    """What histories are worth: the values of policy transformations, the first of which is the identity."""

    def values(self, states: Int32, chooser: int) -> Float64:
        """float64[H, F]: player 0's utility where `chooser` plays each transformation, the other the policy itself."""
        ...


@dataclass(frozen=True)
class SepotSearchSettings:
    """How SePoT searches; limit, gadget and alpha are ours, in `PAPERS` the paper's.

    iterations: of CFR+.  limit: where the subgame ends.  most: histories that a subgame may have; public states with
    more are left to the network.  gadget: where the opponent's values come from, the critic or the search before; only
    the latter knows what a search deeper than one action of each relied on.
    alpha: the share of the opponent's range that the gadget decides; the rest is that of the network's policy (SoG,
    Modified continual re-solving).  With PAPERS_ALPHA, where the opponent would rather leave, nothing is learned.
    choosers: who chooses at leaves, the opponent; with nobody a leaf is worth what the policy gets, as in other
    depth-limited searches.
    A subgame begins before the other player's move that is made at the same time, unseen (Goofspiel's bids).
    """

    iterations: int = 800
    limit: DepthLimit = field(default_factory=lambda: DepthLimit(0, fitted=True))
    most: int = 25_000
    gadget: str = "previous"
    alpha: float = 0.9
    choosers: str = "opponent"

    def __post_init__(self) -> None:
        for name, value, known in (("gadget", self.gadget, GADGETS), ("choosers", self.choosers, CHOOSERS)):
            if value not in known:
                raise SettingError(f"no {name} is called {value}; known: {', '.join(known)}")
        if min(self.iterations, self.most) < 1:
            raise SettingError("a search needs at least one iteration and one history")
        if not 0.0 <= self.alpha <= 1.0:
            raise SettingError(f"alpha is a share of the opponent's range, not {self.alpha}")


# The paper's search where it names no depth, of a game without a rule of its own (5.2, C.1).
PAPERS: Final = SepotSearchSettings(limit=DepthLimit(1), gadget="critic", alpha=PAPERS_ALPHA)


@dataclass(frozen=True, eq=False)
class SearchedPolicy:
    """The policy at a public state: float64[I, A] by infostate and action identity.

    rows: an infostate's number by the bytes of its private row.  histories: of the subgame.
    values: what an infostate of the opponent is worth to it at later public states, by (public, private) bytes.
    """

    policy: Float64
    rows: dict[bytes, int]
    histories: int
    values: dict[tuple[bytes, bytes], float]

    def at(self, private: Int32) -> Float64:
        """float64[K, A]: the policies of infostates by their private rows, int32[K, Q]."""
        policies: Float64 = self.policy[[self.rows[row.tobytes()] for row in private]]
        return policies


def _size(solved: SearchedPolicy | None) -> int:
    """Bytes, about."""
    return _ALONE + (0 if solved is None else solved.policy.nbytes + _VALUE * (len(solved.rows) + len(solved.values)))


@dataclass(frozen=True, eq=False)
class _Root:
    """Where a subgame begins.  public: its row.  histories: those of it.  mover: who acts there.
    acted: whether each player has acted before.  before: the public row of the player's own turn before; None: none.
    """

    public: Int32
    histories: Histories
    acted: tuple[bool, bool]
    before: Int32 | None


class _Turn(NamedTuple):
    """A decision.  public: its row.  state: int32[1, K].  dealt: whether chance acted since the decision before."""

    public: Int32
    actor: int
    state: Int32
    dealt: bool


class SepotSearch:
    """Searches public states of a game one by one, and remembers what it found.

    A search depends on its public state alone: where earlier public states of the player were searched, the player's
    range is that of the policies found there, elsewhere the network's.
    """

    def __init__(
        self, game: HistoryGame, policy: OwnPolicy, critic: Critic, settings: SepotSearchSettings | None = None
    ) -> None:
        """policy: the network's."""
        self.game, self.network, self.critic = game, policy, critic
        self.settings = settings or SepotSearchSettings()
        self._solutions: LruCache[tuple[int, bytes], SearchedPolicy | None] = LruCache(_MOST_BYTES, _size)

    def policy(self, states: Int32, player: int) -> Float64:
        """float64[K, A]: what the player plays at states of one public state where it acts: searched, or the network's.

        It is an `OwnPolicy`.
        """
        solved = self.search(self.game.public(states[:1])[0], player)
        if solved is None:
            return self.network(states, player)
        return solved.at(self.game.private(states, np.full(len(states), player, dtype=np.int32)))

    def search(self, public: Int32, player: int) -> SearchedPolicy | None:
        """The policy of a public state, int32[P], where the player acts; None where its subgame is too large."""
        key = player, public.tobytes()  # where neither player sees anything, both have this public row
        if key not in self._solutions:
            try:
                self._solutions[key] = self._searched(public, player)
            except TooManyHistories:
                self._solutions[key] = None
        return self._solutions[key]

    def forget(self, public: Int32 | None = None) -> None:
        """Search everything anew, or one public state, int32[P]."""
        for key in list(self._solutions):
            if public is None or key[1] == public.tobytes():
                self._solutions.drop(key)

    @property
    def searched(self) -> int:
        """How many of the public states that are remembered were searched."""
        return sum(solved is not None for solved in self._solutions.values())

    def _searched(self, public: Int32, player: int) -> SearchedPolicy:
        root = self._root(public, player)
        # Scaled so that the largest is 1: common factors change no policy, and products of small numbers vanish.
        states, chance = root.histories.states, chance_of(self.game, root.histories.actions)
        subgame = self._subgame(states, chance / chance.max(), player)
        # The player's range: by its policies at its earlier public states, which `self.policy` searches first.
        reach = infostate_reach(self.game, states, root.histories.actions, player, self.policy)
        reach = reach / reach.max() if reach.max() > 0.0 else np.ones(len(reach))
        return self._solved(subgame, root, player, reach, public)

    def _subgame(self, states: Int32, chance: Float64, player: int) -> Subgame:
        """Below root histories; TooManyHistories where it has too many, or too many pairs of infostates."""
        limit = self.settings.limit
        while True:
            below = grow(self.game, states, chance, limit, self.settings.most)
            try:
                return Subgame(self.game, below, self._choice(below, player))
            # Too many pairs of infostates, not histories: half as deep.
            except TooManyHistories:
                shorter = (int(below.depth.max()) - 1) // 2
                if not limit.fitted or shorter < 1:
                    raise
                limit = replace(limit, depth=shorter)

    def _solved(self, subgame: Subgame, root: _Root, player: int, reach: Float64, public: Int32) -> SearchedPolicy:
        """CFR+ on the subgame, with the gadget where the opponent has acted before."""
        other, count = 1 - player, len(reach)
        tree = PublicTree(subgame).list_all()
        place = subgame.tree.place[:count]
        # The opponent's range is 1 everywhere: with the gadget it is its own choice, and at the start nothing limits
        # it.
        ranges = [np.ones(n) for n in subgame.num_infostates(subgame.root())]
        ranges[player][place[:, player]] = reach
        lookahead = Lookahead(tree, 0, (ranges[0], ranges[1]), room=tree.size).expand_all()
        choice = NO_CHOICE
        if root.acted[other]:
            worth = self._worth(subgame, root, other, count)
            # Counterfactual: conditional worth times chance times the player's reach, summed over the infostate's
            # histories.
            leave = np.zeros(len(ranges[other]))
            np.add.at(leave, place[:, other], subgame.below.chance[:count] * reach * worth)
            believed = np.zeros_like(leave)
            believed[place[:, other]] = self._believed(root, other)
            choice = Gadget(other, leave, believed, self.settings.alpha).choice
        chained = self.settings.gadget == "previous"
        # track: the mean values that the next search's gadget pays.
        lookahead.iterate(CFR_PLUS, self.settings.iterations, choice, track=chained)
        lookahead.update_average_policy()
        values = self._later_values(subgame, lookahead, other) if chained else {}
        return self._read(subgame, lookahead, player, public, values)

    def _believed(self, root: _Root, other: int) -> Float64:
        """float64[H]: the opponent's reach of each root history by the network's policy, the largest 1; else 0."""
        states, actions = root.histories.states, root.histories.actions
        if self.settings.alpha == 1.0:
            return np.zeros(len(states))
        reach = infostate_reach(self.game, states, actions, other, self.network)
        return reach / reach.max() if reach.max() > 0.0 else reach

    def _worth(self, subgame: Subgame, root: _Root, other: int, count: int) -> Float64:
        """float64[H]: what each root history is worth to the opponent."""
        states = subgame.below.states[:count]
        side = 1.0 - 2.0 * other
        worth = side * self.critic.values(states, other)[:, 0]
        # What the search before promised the opponent here, where it reached this far; otherwise the critic's value.
        if self.settings.gadget == "previous" and root.before is not None:
            before = self.search(root.before, 1 - other)
            if before is not None:
                key = root.public.tobytes()
                private = self.game.private(states, np.full(count, other, dtype=np.int32))
                promised = [before.values.get((key, row.tobytes())) for row in private]
                worth = np.array([w if v is None else v for w, v in zip(worth, promised, strict=True)])
        return worth

    def _choice(self, below: Below, player: int) -> LeafChoice | None:
        """What the leaves are worth; None without leaves."""
        if not below.leaf.any():
            return None
        # Column 0 is the identity: without a chooser a leaf is worth what the policy gets.
        values = self.critic.values(below.states[below.leaf], 1 - player)
        return LeafChoice(1 - player, values if self.settings.choosers == "opponent" else values[:, :1])

    def _later_values(self, subgame: Subgame, tree: Lookahead, other: int) -> dict[tuple[bytes, bytes], float]:
        """See `SearchedPolicy.values`: the search's mean values, conditional on the infostate."""
        out: dict[tuple[bytes, bytes], float] = {}
        for n in range(1, tree.size):
            s = tree.public.states[tree.public_node(n)]
            m = subgame.own_moments(s)
            if tree.actor(n) > 1 or not len(m):
                continue
            key = self.game.public(subgame.below.states[m[:1]])[0].tobytes()
            for row, value in zip(subgame.private_rows(s, other), tree.values(n)[other].tolist(), strict=True):
                out[key, row.tobytes()] = value
        return out

    def _read(
        self,
        subgame: Subgame,
        tree: Lookahead,
        player: int,
        public: Int32,
        values: dict[tuple[bytes, bytes], float],
    ) -> SearchedPolicy:
        """The average policy at the public state with this row."""
        for n in tree.decisions():
            s = tree.public.states[tree.public_node(n)]
            m = subgame.own_moments(s)
            here = len(m) > 0 and subgame.below.actor[m[0]] == player and not subgame.below.leaf[m[0]]
            if here and np.array_equal(self.game.public(subgame.below.states[m[:1]])[0], public):
                rows = subgame.private_rows(s, player)
                policy = np.zeros((len(rows), self.game.num_actions))
                legal = tree.public.legal(tree.public_node(n)).T
                played = tree.policy(n).T * legal
                policy[:, tree.actions(n)] = played / played.sum(axis=1, keepdims=True)
                numbers = {row.tobytes(): k for k, row in enumerate(rows)}
                return SearchedPolicy(policy, numbers, len(subgame.below), values)
        raise GameError(f"{self.game.name}: the subgame does not hold the public state that was searched")

    # --- where the subgame begins ---

    def _root(self, public: Int32, player: int) -> _Root:
        """The public state's histories, or those of the state before the other player's simultaneous move."""
        histories = self._histories(public, player)
        if not len(histories):
            raise GameError(f"{self.game.name} has no history in which player {player} acts with this public row")
        turns = self._turns(histories.actions[0])
        first = self._first_turn(turns, player)
        row, before = turns[first].public, turns[:first]
        if first < len(turns) - 1:
            histories = self._histories(row, turns[first].actor)
        own = [turn.public for turn in before if turn.actor == player]
        acted = tuple(any(turn.actor == p for turn in before) for p in (0, 1))
        return _Root(row, histories, (acted[0], acted[1]), own[-1] if own else None)

    def _first_turn(self, turns: list[_Turn], player: int) -> int:
        """Which of the turns up to the searched one, the last, the subgame begins with."""
        first = len(turns) - 1
        if self.settings.limit.at_chance:
            while first > 0 and not turns[first].dealt:
                first -= 1
            return first
        # A simultaneous move: what the other player does at the same time is part of the subgame.
        beside = first > 0 and turns[first - 1].actor != player
        if beside and self._unseen(turns[first - 1].state, turns[first].public):
            return first - 1
        return first

    def _histories(self, public: Int32, mover: int) -> Histories:
        histories = histories_of(self.game, public, self.settings.most, _BREADTH)
        acting = self.game.actors(histories.states) == mover
        return Histories(histories.states[acting], histories.actions[acting])

    def _turns(self, history: Array) -> list[_Turn]:
        """The decisions on the way of a history, int[T] padded with -1, and the one that it leads to."""
        states, turns, dealt = self.game.begin(1), [], False
        for action in [*history[history >= 0].tolist(), None]:
            actor = int(self.game.actors(states)[0])
            if actor < NATURE:
                turns.append(_Turn(self.game.public(states)[0], actor, states.copy(), dealt))
            dealt = actor == NATURE
            if action is not None:
                self.game.step(states, np.array([action], dtype=np.int32))
        return turns

    def _unseen(self, state: Int32, public: Int32) -> bool:
        """Whether every action at a state leads to this public row."""
        return bool((self.game.public(children(self.game, state).states) == public).all())
