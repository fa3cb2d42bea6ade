"""Goofspiel with hidden bids history by history, up to 13 cards (SePoT, B.2): bids are never shown, ties discard."""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.arrays import Array, Bool, Float32, Float64, Int32
from sog.errors import GameError
from sog.games.histories.base import HistoryGame, TooManyHistories
from sog.games.kernels import kernel
from sog.games.rules.goofspiel import ORDERS, GoofspielParameters

__all__ = ["GoofspielHistories"]

MOST_CARDS: Final = 13
_DEAD_ENDS: Final = 64  # bids that are tried for each history allowed, before a public state counts as too large

_NATURE: Final = 2
_TERMINAL: Final = 3
_TIED: Final = 2

# A state: how many point cards are shown and how many bids each player has made; then n entries each: the point cards,
# player 0's bids, player 1's bids, and who won each settled round (0, 1 or 2 for a tie). -1 where nothing is yet.
_SHOWN: Final = 0
_BIDS: Final = 1
_CARDS: Final = 3


class GoofspielHistories(HistoryGame):
    """Imperfect-information Goofspiel on OpenSpiel's rules and numbers, bids made in turns.

    The last round has no choice and is played with player 1's bid of the round before. Utilities are OpenSpiel's:
    `win_loss` pays 1 to whoever has more points, `point_difference` half the difference of points.
    `inputs`, from the viewer's side: for each round but the last its point card [n] and whether it was won, lost or
    tied [3]; the cards not shown [n]; the lead in points over all points [1]; then the viewer's bids [n - 1][n], its
    cards [n] and seat [2].
    """

    def __init__(self, num_cards: int, points_order: str = "random", returns_type: str = "win_loss") -> None:
        """Rules with `num_cards` cards, 2 to 13; GameError for others or an unknown order or returns."""
        n = num_cards
        if not 2 <= n <= MOST_CARDS:
            raise GameError(f"goofspiel by histories is played with 2 to {MOST_CARDS} cards, not num_cards={n}")
        chosen = GoofspielParameters(n, points_order, returns_type)
        self.name, self.u_max, self.unit = chosen.name, chosen.u_max, chosen.unit
        self.num_cards, self.points_order, self.points = n, points_order, chosen.points
        self.num_actions = n
        self.num_outcomes = n if points_order == "random" else 0
        self.longest = (3 if points_order == "random" else 2) * (n - 1)
        self.num_private = (n - 1) * n + n + 2
        self.num_inputs = (n - 1) * (n + 3) + n + 1 + self.num_private
        self._order = ORDERS.index(points_order)

    def begin(self, count: int) -> Int32:
        n = self.num_cards
        states = np.full((count, _CARDS + 4 * n), -1, dtype=np.int32)
        states[:, :_CARDS] = 0
        if self.points_order != "random":
            states[:, _SHOWN] = 1
            states[:, _CARDS] = 0 if self.points_order == "ascending" else n - 1
        return states

    def actors(self, states: Int32) -> Int32:
        out = np.empty(len(states), dtype=np.int32)
        _actors(self.num_cards, states, out)
        return out

    def legal(self, states: Int32) -> Bool:
        out = np.zeros((len(states), self.num_cards), dtype=np.bool_)
        _legal(self.num_cards, states, out)
        return out

    def chances(self, states: Int32) -> Float64:
        out = np.zeros((len(states), self.num_outcomes))
        _chances(self.num_cards, states, out)
        return out

    def step(self, states: Int32, actions: Array) -> None:
        _step(self.num_cards, self._order, states, actions)

    def utilities(self, states: Int32) -> Float64:
        out = np.zeros(len(states))
        _utilities(self.num_cards, self.points, states, out)
        return out

    def inputs(self, states: Int32, viewers: Int32) -> Float32:
        out = np.zeros((len(states), self.num_inputs), dtype=np.float32)
        _inputs(self.num_cards, states, viewers, out)
        return out

    def public(self, states: Int32) -> Int32:
        """Of each round the point card c, then n for each bid that lies face down, then n + 1 + who won."""
        out = np.full((len(states), 4 * self.num_cards), -1, dtype=np.int32)
        _public(self.num_cards, states, out)
        return out

    def consistent(self, public: Int32, most: int) -> Array | None:
        """Every pair of bids that explains who won each round, found depth first (SePoT, 4.2)."""
        n, first = self.num_cards, 0 if self.points_order != "random" else 1
        cards, results = public[(public >= 0) & (public < n)], public[public > n] - n - 1
        bids = min(2 * (n - 1), int((public == n).sum()))
        sequences = np.full((most, bids), -1, dtype=np.int16)
        count = _bids(n, results, sequences, _DEAD_ENDS * most)
        if count < 0:
            raise TooManyHistories(f"{self.name}: more than {most:,} histories lead to this public state, or rare ones")
        out = np.full((count, self.longest), -1, dtype=np.int16)
        for k in range(bids):
            out[:, k + first * (1 + k // 2)] = sequences[:count, k]
        if first:
            shown = cards[: n - 1]
            out[:, 3 * np.arange(len(shown))] = shown
        return out

    def private(self, states: Int32, viewers: Int32) -> Int32:
        columns = _CARDS + self.num_cards * (1 + viewers[:, None]) + np.arange(self.num_cards)
        return np.take_along_axis(states, columns, axis=1)


@kernel
def _actor(n: int, row: Array) -> int:
    if row[_BIDS + 1] == n:
        return _TERMINAL
    if row[_SHOWN] == row[_BIDS + 1]:
        return _NATURE
    return int(row[_BIDS] - row[_BIDS + 1])


@kernel
def _actors(n: int, states: Array, out: Array) -> None:
    for b in range(len(states)):
        out[b] = _actor(n, states[b])


@kernel
def _holds(n: int, row: Array, pile: int, count: int, card: int) -> bool:
    """Whether a card is not among the first `count` of a pile: 0 the point cards, 1 and 2 the players' bids."""
    gone = False
    for k in range(count):
        gone |= row[_CARDS + n * pile + k] == card
    return not gone


@kernel
def _legal(n: int, states: Array, out: Array) -> None:
    for b in range(len(states)):
        row = states[b]
        actor = _actor(n, row)
        if actor < _NATURE:
            for card in range(n):
                out[b, card] = _holds(n, row, 1 + actor, row[_BIDS + actor], card)


@kernel
def _chances(n: int, states: Array, out: Array) -> None:
    for b in range(len(states)):
        row = states[b]
        if _actor(n, row) == _NATURE:
            for card in range(n):
                if _holds(n, row, 0, row[_SHOWN], card):
                    out[b, card] = 1.0 / (n - row[_SHOWN])


@kernel
def _settle(n: int, row: Array) -> None:
    """Say who won the round whose second bid has been made."""
    k = row[_BIDS + 1] - 1
    ahead = row[_CARDS + n + k] - row[_CARDS + 2 * n + k]
    row[_CARDS + 3 * n + k] = 0 if ahead > 0 else 1 if ahead < 0 else _TIED


@kernel
def _show(n: int, order: int, row: Array) -> None:
    """Turn over the next point card where the order is fixed."""
    if order > 0:
        row[_CARDS + row[_SHOWN]] = n - 1 - row[_SHOWN] if order == 1 else row[_SHOWN]
        row[_SHOWN] += 1


@kernel
def _play_last(n: int, row: Array) -> None:
    """The last round, in which nobody has a choice."""
    for pile in range(3):
        if row[pile] < n:
            for card in range(n):
                if _holds(n, row, pile, n - 1, card):
                    row[_CARDS + n * pile + n - 1] = card
            row[pile] = n
    _settle(n, row)


@kernel
def _step(n: int, order: int, states: Array, actions: Array) -> None:
    for b in range(len(states)):
        row, action = states[b], actions[b]
        if action < 0:
            continue
        pile = (_actor(n, row) + 1) % 3
        row[_CARDS + n * pile + row[pile]] = action
        row[pile] += 1
        if pile == 2:
            _settle(n, row)
            if row[_BIDS + 1] == n - 1:
                _play_last(n, row)
            else:
                _show(n, order, row)


@kernel
def _lead(n: int, row: Array) -> int:
    """Player 0's points less player 1's."""
    lead = 0
    for k in range(row[_BIDS + 1]):
        result = row[_CARDS + 3 * n + k]
        if result != _TIED:
            lead += (row[_CARDS + k] + 1) * (1 - 2 * result)
    return lead


@kernel
def _utilities(n: int, points: bool, states: Array, out: Array) -> None:
    for b in range(len(states)):
        if _actor(n, states[b]) == _TERMINAL:
            lead = _lead(n, states[b])
            out[b] = lead / 2.0 if points else float((lead > 0) - (lead < 0))


@kernel
def _inputs(n: int, states: Array, viewers: Array, out: Array) -> None:
    private = (n - 1) * (n + 3) + n + 1
    for b in range(len(states)):
        row, viewer, x = states[b], viewers[b], out[b]
        for k in range(min(n - 1, row[_SHOWN])):
            x[(n + 3) * k + row[_CARDS + k]] = 1.0
        for k in range(min(n - 1, row[_BIDS + 1])):
            result = row[_CARDS + 3 * n + k]
            x[(n + 3) * k + n + (_TIED if result == _TIED else int(result != viewer))] = 1.0
        for card in range(n):
            x[(n - 1) * (n + 3) + card] = 1.0 if _holds(n, row, 0, row[_SHOWN], card) else 0.0
            x[private + (n - 1) * n + card] = 1.0 if _holds(n, row, 1 + viewer, row[_BIDS + viewer], card) else 0.0
        x[private - 1] = 2.0 * _lead(n, row) * (1 - 2 * viewer) / (n * (n + 1))
        for k in range(min(n - 1, row[_BIDS + viewer])):
            x[private + n * k + row[_CARDS + n * (1 + viewer) + k]] = 1.0
        x[len(x) - 2 + viewer] = 1.0


@kernel
def _public(n: int, states: Array, out: Array) -> None:
    for b in range(len(states)):
        row, seen, at = states[b], out[b], 0
        for k in range(row[_SHOWN]):
            seen[at] = row[_CARDS + k]
            at += 1
            for p in range(2):
                if row[_BIDS + p] > k:
                    seen[at] = n
                    at += 1
            if row[_BIDS + 1] > k:
                seen[at] = n + 1 + row[_CARDS + 3 * n + k]
                at += 1


@kernel
def _explained(mine: int, theirs: int, result: int) -> bool:
    """Whether these bids of players 0 and 1 end a round so."""
    if result == _TIED:
        return mine == theirs
    return mine > theirs if result == 0 else mine < theirs


@kernel
def _bids(n: int, results: Array, out: Array, tries: int) -> int:
    """Both players' bids in turn, int16[H, T] in lexicographic order, that explain who won the rounds; H.

    -1 where there are more than `out` has rows, or more than this many tries would be needed.
    """
    count, length = 0, out.shape[1]
    bids, held = np.full(length + 1, -1), np.full(2, (1 << n) - 1)
    k = 0
    while k >= 0:
        tries -= 1
        if tries < 0:
            return -1
        if k == length:  # a whole history; the last round is played with the cards that are left
            if len(results) < n or _explained(held[0], held[1], results[n - 1]):
                if count == len(out):
                    return -1
                out[count] = bids[:length]
                count += 1
            k -= 1
            continue
        p, card = k % 2, bids[k]
        if card >= 0:
            held[p] |= 1 << card
        card += 1
        settled = p == 1 and k // 2 < len(results)
        while card < n and (
            (held[p] >> card) & 1 == 0 or (settled and not _explained(bids[k - 1], card, results[k // 2]))
        ):
            card += 1
        if card == n:
            bids[k] = -1
            k -= 1
        else:
            bids[k] = card
            held[p] ^= 1 << card
            k += 1
    return count
