"""Leduc poker: six cards, two rounds, one board card (PoG, C.1). Value -0.0856 chips for player 0."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sog.arrays import Float32, Float64, Int32
from sog.games.base import NATURE, TERMINAL, Carry, Fan, Game, Operator, Scaled, State, Unit, forward_links, plain_moves

FOLD, CALL, RAISE = 0, 1, 2
_LETTERS = "fcr"
_CARDS = 6
_ANTE = 1.0
_BETS = (2.0, 4.0)
_MAX_RAISES = 2
_LINE = 4  # the longest line of one round: call, raise, raise, call


@dataclass(frozen=True)
class LeducState:
    """A public state: each round's line of the letters f, c, r, and the board card (-1 before it)."""

    first: str = ""
    board: int = -1
    second: str = ""

    @property
    def line(self) -> str:
        """The line of the round being played."""
        return self.second if self.board >= 0 else self.first


def _round_over(line: str) -> bool:
    return len(line) >= 2 and line[-1] == "c"


def _facing_raise(line: str) -> bool:
    return line.endswith("r")


@lru_cache(maxsize=1024)
def _commitments(first: str, second: str) -> tuple[float, float]:
    """Chips that players 0 and 1 have put in by the lines of the two rounds."""
    chips = [_ANTE, _ANTE]
    for line, bet in zip((first, second), _BETS, strict=True):
        for k, letter in enumerate(line):
            me = k % 2
            if letter != "f":
                chips[me] = chips[1 - me] + (bet if letter == "r" else 0.0)
    return chips[0], chips[1]


def _deal(board: int) -> Float64:
    """float64[6, 6]: probability of each pair of private cards (and of the board card where there is one)."""
    pairs = np.where(np.eye(_CARDS, dtype=bool), 0.0, 1.0 / 30.0)
    if board >= 0:
        pairs[board, :] = pairs[:, board] = 0.0
        pairs /= 4.0
    return pairs


def _strength(board: int) -> Float64:
    """float64[6]: a pair beats every high card; suits do not matter."""
    rank = np.arange(_CARDS) // 2
    return np.where(rank == board // 2, 10.0, rank.astype(float))


class Leduc(Game):
    """Leduc poker on OpenSpiel's rules (fold 0, call 1, raise 2).

    A public state is a `LeducState`: `first` and `second` are the betting lines of the two rounds in letters (f fold,
    c check or call, r bet or raise; player 0 begins both), `board` is the board card or -1 before it.
    Every public state has the same six infostates a player, the private cards 0..5: two jacks, two queens, two
    kings, so that card // 2 is the rank (0, 1, 2) of a private card and of the board card alike. The infostate that is
    the board card remains, with weight 0.

    Utilities are chips (at most 13); reported in mbb/h, where a big blind is one chip. The network's
    slots exchange the suits after the board card, so that the board card's suit is always the first.
    """

    def __init__(self) -> None:
        self.name = "leduc_poker"
        self.u_max = 13.0
        self.num_actions = 3
        self.num_slots = (_CARDS, _CARDS)
        self.num_features = 3 + 3 + 2 + 2 * 2 * _LINE
        self.unit = Unit("mbb/h", 1000.0)
        self.crossed = (0, 1, 2)
        self._deals = {b: Operator(_deal(b)) for b in range(-1, _CARDS)}
        self._showdowns = {}
        for b in range(_CARDS):
            rank = _strength(b)
            self._showdowns[b] = Operator(_deal(b) * np.sign(rank[:, None] - rank[None, :]))

    def root(self) -> State:
        return LeducState()

    def actor(self, s: State) -> int:
        assert isinstance(s, LeducState)
        if s.line.endswith("f") or _round_over(s.second):
            return TERMINAL
        if s.board < 0 and _round_over(s.first):
            return NATURE
        return len(s.line) % 2

    def num_infostates(self, s: State) -> tuple[int, int]:
        return _CARDS, _CARDS

    def actions(self, s: State) -> Int32:
        assert isinstance(s, LeducState)
        if self.actor(s) in (NATURE, TERMINAL):
            return np.empty(0, dtype=np.int32)
        can_raise = s.line.count("r") < _MAX_RAISES
        legal = [FOLD] * _facing_raise(s.line) + [CALL] + [RAISE] * can_raise
        return np.array(legal, dtype=np.int32)

    def fan(self, s: State) -> Fan:
        assert isinstance(s, LeducState)
        if self.actor(s) == NATURE:
            boards = range(_CARDS)
            carry: list[tuple[Carry, Carry]] = []
            for b in boards:
                links = forward_links(np.where(np.arange(_CARDS) == b, -1, np.arange(_CARDS)))
                carry.append((links, links))
            return Fan([LeducState(s.first, b) for b in boards], carry=carry)
        children = [self._after(s, _LETTERS[a]) for a in self.actions(s)]
        return Fan(children, plain_moves(_CARDS, len(children)))

    def _after(self, s: LeducState, letter: str) -> LeducState:
        if s.board < 0:
            return LeducState(s.first + letter)
        return LeducState(s.first, s.board, s.second + letter)

    def weights(self, s: State) -> Scaled:
        assert isinstance(s, LeducState)
        return Scaled(self._deals[s.board])

    def payoff(self, s: State) -> Scaled:
        assert isinstance(s, LeducState)
        chips = _commitments(s.first, s.second)
        if s.line.endswith("f"):
            folder = (len(s.line) - 1) % 2
            return Scaled(self._deals[s.board], -chips[0] if folder == 0 else chips[1])
        return Scaled(self._showdowns[s.board], chips[0])

    def features(self, s: State) -> Float32:
        """Board rank (3), who acts next with nature (3), commitments / 13 (2), the betting line (16).

        The line is there because commitments alone confuse a capped double raise with a check-raise.
        """
        assert isinstance(s, LeducState)
        x = np.zeros(self.num_features, dtype=np.float32)
        if s.board >= 0:
            x[s.board // 2] = 1.0
        x[3 + min(self.actor(s), NATURE)] = 1.0
        x[6:8] = np.array(_commitments(s.first, s.second)) / self.u_max
        for r, line in enumerate((s.first, s.second)):
            for k, letter in enumerate(line):
                x[8 + 2 * (_LINE * r + k) + (letter == "r")] = 1.0
        return x

    def slot(self, s: State, p: int) -> Int32:
        assert isinstance(s, LeducState)
        cards = np.arange(_CARDS, dtype=np.int32)
        return cards if s.board < 0 else cards ^ np.int32(s.board & 1)

    def value_unit(self, s: State) -> float:
        """Half the pot as it is, chips."""
        assert isinstance(s, LeducState)
        return max(_commitments(s.first, s.second))

    def state_name(self, s: State) -> str:
        assert isinstance(s, LeducState)
        words = {"f": "fold", "c": "call", "r": "raise"}
        line = " ".join(words[a] for a in s.first) or "start"
        if s.board >= 0:
            line += f" | board {_card(s.board)} " + " ".join(words[a] for a in s.second)
        return line.strip()

    def action_name(self, s: State, action: int) -> str:
        assert isinstance(s, LeducState)
        if action == CALL and not _facing_raise(s.line):
            return "check"
        return ("fold", "call", "raise")[action]

    def infostate_name(self, s: State, p: int, i: int) -> str:
        return _card(i)

    def history(self, s: State, i0: int, i1: int) -> list[int]:
        assert isinstance(s, LeducState)
        line = [_LETTERS.index(a) for a in s.first]
        if s.board >= 0:
            line += [s.board, *(_LETTERS.index(a) for a in s.second)]
        return [i0, i1, *line]


def _card(c: int) -> str:
    return "JQK"[c // 2] + "sh"[c % 2]
