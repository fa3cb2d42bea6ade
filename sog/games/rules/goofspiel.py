"""Goofspiel with hidden bids: players bid in turn and in secret; NATURE announces who won the round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import factorial
from typing import Any, Final, NamedTuple, TypeAlias, cast

import numpy as np

from sog.arrays import Array, Float32, Int32
from sog.errors import GameError
from sog.games.base import (
    NATURE,
    TERMINAL,
    Carry,
    Fan,
    Game,
    Links,
    Moves,
    Operator,
    Scaled,
    State,
    Unit,
    forward_links,
)

TIED: Final = 2
MAX_CARDS: Final = 6  # 6! = 720 infostates a player; 7 cards would need matrices of 5040 x 5040

ORDERS: Final = ("random", "descending", "ascending")
RETURNS: Final = ("win_loss", "point_difference")

Bids: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class GoofspielParameters:
    """Goofspiel with hidden bids. GameError for an unknown order or returns; each form says how many cards it takes.

    returns_type: `win_loss` pays 1 to whoever has more points, `point_difference` half the difference of points.
    """

    num_cards: int
    points_order: str = "random"
    returns_type: str = "win_loss"

    def __post_init__(self) -> None:
        if self.points_order not in ORDERS:
            raise GameError(f"goofspiel has no points_order={self.points_order}; known: {', '.join(ORDERS)}")
        if self.returns_type not in RETURNS:
            raise GameError(f"goofspiel has no returns_type={self.returns_type}; known: {', '.join(RETURNS)}")

    @property
    def points(self) -> bool:
        """Whether the difference of points is what counts."""
        return self.returns_type == "point_difference"

    @property
    def name(self) -> str:
        """The game string."""
        returns = ",returns_type=point_difference" if self.points else ""
        return f"goofspiel(imp_info=True,num_cards={self.num_cards},points_order={self.points_order}{returns})"

    @property
    def u_max(self) -> float:
        """Both hold the same cards, so whoever wins a round loses another: at best the one-point card."""
        return (self.num_cards * (self.num_cards + 1) / 2 - 2) / 2 if self.points else 1.0

    @property
    def unit(self) -> Unit:
        return Unit("points", 2.0) if self.points else Unit()


def hidden_bids(given: Mapping[str, Any]) -> tuple[Any, ...]:
    """What both forms of the game are made from; GameError where bids would be open."""
    if not given["imp_info"]:
        raise GameError("goofspiel is played here with hidden bids only: add imp_info=True")
    return given["num_cards"], given["points_order"], given["returns_type"]


class GoofspielRounds(NamedTuple):
    """A public state: what both players have seen.

    cards: the point cards shown so far, 0 worth one point.
    results: who won each settled round, 0, 1 or TIED.
    hidden: how many bids of the current round lie face down, 0 to 2.
    """

    cards: tuple[int, ...]
    results: tuple[int, ...]
    hidden: int


@dataclass(frozen=True, eq=False)
class _Bidding:
    """Every order of bids that the results allow, and which pairs agree with them.

    bids: per player, the cards bid so far of each infostate, in lexicographic order.
    index: per player, the infostate of an order of bids.
    compatible: float64[I0, I1], 1 where the pair gives these results.
    """

    bids: tuple[list[Bids], list[Bids]]
    index: tuple[dict[Bids, int], dict[Bids, int]]
    compatible: Operator


def _bidding(bids0: list[Bids], bids1: list[Bids], compatible: Array) -> _Bidding:
    index = ({b: i for i, b in enumerate(bids0)}, {b: i for i, b in enumerate(bids1)})
    return _Bidding((bids0, bids1), index, Operator(np.ascontiguousarray(compatible, dtype=np.float64)))


class Goofspiel(Game):
    """Imperfect-information Goofspiel of two players on OpenSpiel's rules and numbers.

    Each round shows a point card; player 0 and then player 1 bid a card from 0..n-1 face down; the
    higher takes the points, a tie discards them, and only the winner is announced. Infostates are one's own
    bids in their order. The last round has no choice: it is settled in the payoff together with the
    last chosen bids, so the game ends with player 1's bid of round n-1. Utilities are OpenSpiel's:
    `win_loss` pays 1 to whoever has more points, `point_difference` half the difference of points.
    """

    def __init__(self, num_cards: int, points_order: str = "random", returns_type: str = "win_loss") -> None:
        """Rules with `num_cards` cards, 2 to 6; GameError for others or an unknown order or returns."""
        if not 2 <= num_cards <= MAX_CARDS:
            raise GameError(
                f"goofspiel is played with 2 to {MAX_CARDS} cards here, not num_cards={num_cards}; "
                "policy learners (--algorithm rnad, mmd, nashpg, sepot) take up to 13"
            )
        chosen = GoofspielParameters(num_cards, points_order, returns_type)
        self.name, self.u_max, self.unit = chosen.name, chosen.u_max, chosen.unit
        self.num_cards, self.points_order, self.points = num_cards, points_order, chosen.points
        self.num_actions = num_cards
        self.num_slots = (factorial(num_cards), factorial(num_cards))
        self.num_features = (num_cards - 1) * (num_cards + 3) + num_cards + 4
        self._biddings: dict[tuple[tuple[int, ...], int], _Bidding] = {}
        self._payoffs: dict[tuple[tuple[int, ...], tuple[float, ...]], Operator] = {}

    # --- which orders of bids are possible ---

    def _possible(self, results: tuple[int, ...], hidden: int) -> _Bidding:
        """The orders of bids after `results` with `hidden` bids of the next round on the table."""
        key = (results, hidden)
        if key not in self._biddings:
            self._biddings[key] = self._extended(results, hidden) if hidden else self._settled(results)
        return self._biddings[key]

    def _extended(self, results: tuple[int, ...], hidden: int) -> _Bidding:
        """One more card face down: player 0's when `hidden` is 1, player 1's when it is 2."""
        before = self._possible(results, hidden - 1)
        bidder = hidden - 1
        longer = [(*b, card) for b in before.bids[bidder] for card in self._hand(b)]
        source = [before.index[bidder][b[:-1]] for b in longer]
        compatible = np.take(before.compatible.matrix, source, axis=bidder)
        return _bidding(*((longer, before.bids[1]) if bidder == 0 else (before.bids[0], longer)), compatible)

    def _settled(self, results: tuple[int, ...]) -> _Bidding:
        """NATURE has announced the last result: the pairs that disagree with it are gone."""
        if not results:
            return _bidding([()], [()], np.ones((1, 1)))
        before = self._possible(results[:-1], 2)
        agrees = before.compatible.matrix * (_winner(before.bids) == results[-1])
        possible = [np.flatnonzero(agrees.any(axis=1 - p)) for p in (0, 1)]
        bids0, bids1 = ([before.bids[p][i] for i in possible[p]] for p in (0, 1))
        return _bidding(bids0, bids1, agrees[np.ix_(possible[0], possible[1])])

    def _hand(self, bids: Bids) -> list[int]:
        """The cards not yet bid, ascending."""
        return [card for card in range(self.num_cards) if card not in bids]

    def _at(self, s: State) -> _Bidding:
        rounds = cast(GoofspielRounds, s)
        return self._possible(rounds.results, rounds.hidden)

    # --- the interface ---

    def root(self) -> State:
        return GoofspielRounds(() if self.points_order == "random" else (self._fixed_card(0),), (), 0)

    def _fixed_card(self, k: int) -> int:
        """The point card of round k where the order is fixed."""
        return k if self.points_order == "ascending" else self.num_cards - 1 - k

    def actor(self, s: State) -> int:
        rounds = cast(GoofspielRounds, s)
        if not rounds.cards:
            return NATURE
        if rounds.hidden < 2:
            return rounds.hidden
        return TERMINAL if len(rounds.cards) == self.num_cards - 1 else NATURE

    def num_infostates(self, s: State) -> tuple[int, int]:
        bids0, bids1 = self._at(s).bids
        return len(bids0), len(bids1)

    def actions(self, s: State) -> Int32:
        """int32[A]: the cards; an infostate has those that it has not bid."""
        return np.arange(self.num_cards if self.actor(s) in (0, 1) else 0, dtype=np.int32)

    def fan(self, s: State) -> Fan:
        rounds = cast(GoofspielRounds, s)
        if self.actor(s) != NATURE:
            return self._bid(rounds)
        if not rounds.cards:
            return Fan([GoofspielRounds((card,), (), 0) for card in range(self.num_cards)])
        return self._announce(rounds)

    def _bid(self, rounds: GoofspielRounds) -> Fan:
        """One public edge, "a card lies face down"; the bidder's infostate grows by the card."""
        bidder = rounds.hidden
        child = rounds._replace(hidden=bidder + 1)
        index = self._at(child).index[bidder]
        bids = self._at(rounds).bids[bidder]
        target = np.array([[index.get((*b, card), -1) for card in range(self.num_cards)] for b in bids], dtype=np.int32)
        return Fan([child], Moves(np.where(target >= 0, np.int32(0), np.int32(-1)), target))

    def _announce(self, rounds: GoofspielRounds) -> Fan:
        """NATURE announces who won and shows the next point card: one edge for each combination."""
        children: list[State] = []
        carry: list[tuple[Carry, Carry]] = []
        shown = self._hand(rounds.cards)
        fixed = [self._fixed_card(len(rounds.cards))]
        for result in (0, 1, TIED):
            settled = self._possible((*rounds.results, result), 0)
            if not settled.bids[0]:
                continue  # no pair can give this result
            links = self._surviving(rounds, settled, 0), self._surviving(rounds, settled, 1)
            for card in shown if self.points_order == "random" else fixed:
                children.append(GoofspielRounds((*rounds.cards, card), (*rounds.results, result), 0))
                carry.append(links)
        return Fan(children, None, carry)

    def _surviving(self, rounds: GoofspielRounds, settled: _Bidding, p: int) -> Links:
        """Player p's infostates that the result leaves possible."""
        return forward_links(np.array([settled.index[p].get(b, -1) for b in self._at(rounds).bids[p]]))

    def weights(self, s: State) -> Scaled:
        return Scaled(self._at(s).compatible, self._chance(cast(GoofspielRounds, s)))

    def _chance(self, rounds: GoofspielRounds) -> float:
        """The probability of the point cards shown."""
        if self.points_order != "random":
            return 1.0
        return factorial(self.num_cards - len(rounds.cards)) / factorial(self.num_cards)

    def payoff(self, s: State) -> Scaled:
        """Utilities depend on the pair only through the results of its last two rounds."""
        rounds = cast(GoofspielRounds, s)
        (last_card,) = self._hand(rounds.cards)
        behind = sum(_score(r, card) for r, card in zip(rounds.results, rounds.cards, strict=False))
        table = tuple(
            self._utility(behind + _score(r, rounds.cards[-1]) + _score(q, last_card))
            for r in (0, 1, TIED)
            for q in (0, 1, TIED)
        )
        key = (rounds.results, table)
        if key not in self._payoffs:
            self._payoffs[key] = Operator(self._utilities(self._at(s), np.reshape(table, (3, 3))))
        return Scaled(self._payoffs[key], self._chance(rounds))

    def _utility(self, difference: int) -> float:
        return difference / 2 if self.points else float(np.sign(difference))

    def _utilities(self, bidding: _Bidding, table: Array) -> Array:
        """float64[I0, I1] from table[result of the last chosen bids, result of the last cards]."""
        full = tuple([(*b, *self._hand(b)) for b in bids] for bids in bidding.bids)
        return bidding.compatible.matrix * table[_winner(bidding.bids), _winner(full)]

    def features(self, s: State) -> Float32:
        """float32[(n-1)(n+3) + n + 4]: what has been seen, and where it leaves the game.

        Per round its point card [n] and its result [3]; then the cards not shown [n], who is to act
        [3] (NATURE last), and player 0's lead in points over the points of all cards [1].
        """
        rounds = cast(GoofspielRounds, s)
        n = self.num_cards
        seen = np.zeros((n - 1, n + 3), dtype=np.float32)
        seen[range(len(rounds.cards)), rounds.cards] = 1.0
        seen[range(len(rounds.results)), [n + result for result in rounds.results]] = 1.0
        rest = np.zeros(n + 4, dtype=np.float32)
        rest[self._hand(rounds.cards)] = 1.0
        if self.actor(s) != TERMINAL:
            rest[n + self.actor(s)] = 1.0
        lead = sum(_score(r, card) for r, card in zip(rounds.results, rounds.cards, strict=False))
        rest[n + 3] = 2.0 * lead / (n * (n + 1))
        return np.concatenate([seen.ravel(), rest])

    def slot(self, s: State, p: int) -> Int32:
        """The rank of an order of bids among all of its length, so that it keeps its slot in any state."""
        ranks = []
        for bids in self._at(s).bids[p]:
            rank = 0
            for k, card in enumerate(bids):
                rank = rank * (self.num_cards - k) + self._hand(bids[:k]).index(card)
            ranks.append(rank)
        return np.array(ranks, dtype=np.int32)

    def state_name(self, s: State) -> str:
        rounds = cast(GoofspielRounds, s)
        played = [f"{card + 1}:{'01='[r]}" for card, r in zip(rounds.cards, rounds.results, strict=False)]
        now = [f"{card + 1}:{'?' * rounds.hidden}" for card in rounds.cards[len(rounds.results) :]]
        return " ".join(played + now) or "start"

    def action_name(self, s: State, action: int) -> str:
        return str(action + 1)

    def infostate_name(self, s: State, p: int, i: int) -> str:
        return ",".join(str(card + 1) for card in self._at(s).bids[p][i]) or "nothing"

    def history(self, s: State, i0: int, i1: int) -> list[int]:
        rounds = cast(GoofspielRounds, s)
        bids0, bids1 = self._at(s).bids[0][i0], self._at(s).bids[1][i1]
        actions = []
        for k, card in enumerate(rounds.cards):
            dealt = (card,) if self.points_order == "random" else ()
            actions += [*dealt, *bids0[k : k + 1], *bids1[k : k + 1]]
        return actions


def _winner(bids: tuple[list[Bids], ...]) -> Int32:
    """int32[I0, I1]: who won the round of the latest bids, 0, 1 or TIED."""
    last0, last1 = (np.array([b[-1] for b in side], dtype=np.int32) for side in bids)
    won = np.where(last0[:, None] > last1[None, :], 0, 1)
    return np.where(last0[:, None] == last1[None, :], TIED, won).astype(np.int32)


def _score(result: int, card: int) -> int:
    """What a round adds to player 0's points less player 1's."""
    return 0 if result == TIED else (card + 1) * (1 - 2 * result)
