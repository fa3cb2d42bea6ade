"""ACPC 2.0.0 as text: game files, match states and a hand's betting, parsed and written; no sockets.

The protocol of the Annual Computer Poker Competition for two players of Texas hold'em. Chips and cards are by position:
in the usual files position 0 is the big blind, and position 1 acts first before the flop.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np

from sog.errors import GameError, SettingError
from sog.games.holdem.betting import BOARD_CARDS, PREFLOP, RIVER, Betting
from sog.games.holdem.cards import CARDS, cards_name, hand_number, parse_cards
from sog.games.holdem.strength import ranks_of
from sog.protocols.words import shown

__all__ = ["REVERSE_BLINDS", "VERSION", "AcpcGame", "AcpcHand", "Dealt", "MatchState", "read_game", "read_match_state"]

VERSION: Final = "VERSION:2.0.0"
_ROUNDS: Final = 4
_MOST_CHIPS: Final = 2**31 - 1  # a stack that a game file does not name
_MOST_RAISES: Final = 255
# What a game file must say for the game to be Texas hold'em of two players.
_TEXAS: Final = {
    "numplayers": (2,),
    "numrounds": (_ROUNDS,),
    "numsuits": (4,),
    "numranks": (13,),
    "numholecards": (2,),
    "numboardcards": (0, 3, 1, 1),
}
_LISTS: Final = {"stack": 2, "blind": 2, "firstplayer": _ROUNDS, "raisesize": _ROUNDS, "maxraises": _ROUNDS}
_NUMBERS: Final = re.compile(r"[0-9]{1,10}(\s+[0-9]{1,10})*")
_ACTION: Final = re.compile(r"f|c|r([0-9]{0,30})")
_STATE: Final = re.compile(r"MATCHSTATE:([01]):([0-9]{1,12}):([^:]*):([^:]*)")

# Cards of both positions; none where they are hidden.
Holes: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class AcpcGame:
    """A game file of two-player Texas hold'em.  stacks, blinds: chips by position.  first: who acts first, by round.

    raise_sizes: of a limit game, chips by round; none at no-limit.  max_raises: by round.
    """

    stacks: tuple[int, int] = (20_000, 20_000)
    blinds: tuple[int, int] = (100, 50)
    first: tuple[int, ...] = (1, 0, 0, 0)
    raise_sizes: tuple[int, ...] = ()
    max_raises: tuple[int, ...] = (_MOST_RAISES,) * _ROUNDS

    def __post_init__(self) -> None:
        """SettingError for a game that cannot be played."""
        if max(self.blinds) < 1:
            raise SettingError("a game file names blinds: at least one of them is 1 chip or more")
        if min(self.stacks) <= max(self.blinds):
            raise SettingError("each stack of a game file is larger than the larger blind")
        if any(player not in (0, 1) for player in self.first):
            raise SettingError("firstPlayer of a game file is 1 or 2 in every round")
        if self.raise_sizes and min(self.raise_sizes) < 1:
            raise SettingError("raiseSize of a limit game is at least 1 chip in every round")

    @property
    def limit(self) -> bool:
        """Whether raises have fixed sizes."""
        return bool(self.raise_sizes)

    def big_blind(self) -> int:
        """The position of the big blind; SettingError where the order of play is not hold'em's for two players."""
        last = self.blinds.index(max(self.blinds))
        if min(self.blinds) == 0 or self.first != (1 - last, last, last, last):
            raise SettingError("in hold'em for two the small blind acts first before the flop, and last after it")
        return last

    def text(self) -> str:
        """The game file."""
        lines = ["GAMEDEF", "limit" if self.limit else "nolimit", "numPlayers = 2", f"numRounds = {_ROUNDS}"]
        if self.stacks != (_MOST_CHIPS, _MOST_CHIPS):
            lines.append(f"stack = {_spaced(self.stacks)}")
        lines.append(f"blind = {_spaced(self.blinds)}")
        if self.limit:
            lines.append(f"raiseSize = {_spaced(self.raise_sizes)}")
        lines.append(f"firstPlayer = {_spaced([player + 1 for player in self.first])}")
        if self.max_raises != (_MOST_RAISES,) * _ROUNDS:
            lines.append(f"maxRaises = {_spaced(self.max_raises)}")
        lines += ["numSuits = 4", "numRanks = 13", "numHoleCards = 2", "numBoardCards = 0 3 1 1", "END GAMEDEF"]
        return "\n".join(lines) + "\n"


# The usual no-limit game: 200 big blinds, the dealer is position 1 and posts the small blind.
REVERSE_BLINDS: Final = AcpcGame()


def read_game(text: str) -> AcpcGame:
    """The game of a game file; SettingError says in one line what is wrong with it."""
    fields: dict[str, tuple[int, ...]] = {}
    limit: bool | None = None
    for line in _inside(text):
        if line in ("limit", "nolimit"):
            limit = line == "limit"
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals or key not in (*_TEXAS, *_LISTS) or not _NUMBERS.fullmatch(value):
            raise SettingError(f"not a line of a game file of hold'em: {shown(line)}")
        fields[key] = tuple(int(word) for word in value.split())
    if limit is None:
        raise SettingError("a game file says limit or nolimit")
    for key, wanted in _TEXAS.items():
        if fields.get(key) != wanted:
            raise SettingError(f"a game file of two-player Texas hold'em has {key} = {_spaced(wanted)}")
    for key, count in _LISTS.items():
        if key in fields and len(fields[key]) != count:
            raise SettingError(f"{key} of this game file has {count} numbers, not {len(fields[key])}")
    if "blind" not in fields or ("raisesize" in fields) != limit:
        raise SettingError("a game file names blinds, and raiseSize where the game is limit")
    stacks, blinds = fields.get("stack", (_MOST_CHIPS, _MOST_CHIPS)), fields["blind"]
    return AcpcGame(
        (min(stacks[0], _MOST_CHIPS), min(stacks[1], _MOST_CHIPS)),
        (blinds[0], blinds[1]),
        tuple(player - 1 for player in fields.get("firstplayer", (1,) * _ROUNDS)),
        fields.get("raisesize", ()),
        fields.get("maxraises", (_MOST_RAISES,) * _ROUNDS),
    )


def _inside(text: str) -> list[str]:
    """The lines between GAMEDEF and END GAMEDEF, in lower case, without comments."""
    lines = [line.partition("#")[0].strip().lower() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if lines[:1] != ["gamedef"] or "end gamedef" not in lines:
        raise SettingError("a game file begins with GAMEDEF and ends with END GAMEDEF")
    return lines[1 : lines.index("end gamedef")]


def _spaced(numbers: Sequence[int]) -> str:
    return " ".join(str(number) for number in numbers)


@dataclass(frozen=True)
class AcpcHand:
    """A hand's betting.  betting: of our rules, players by position.  text: as match states have it.

    Of a raise, rN names the chips that the player has then paid in the whole hand; in a limit game it is r alone.
    """

    game: AcpcGame
    betting: Betting
    text: str = ""

    @classmethod
    def begun(cls, game: AcpcGame) -> AcpcHand:
        """With the blinds posted."""
        return cls(game, Betting(PREFLOP, game.blinds, game.stacks, max(game.blinds), game.first[0]))

    @property
    def over(self) -> bool:
        """Whether nobody acts any more."""
        return self.betting.closed

    @property
    def shown_down(self) -> bool:
        """Whether it ended with nobody folding, so that both players' cards are seen."""
        return self.over and self.betting.folded < 0

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest total to raise to; (0, 0) where there is no raise.

        At no-limit up to the own stack, also where the other's is shorter.
        """
        betting, top = self.betting, max(self.betting.paid)
        own = betting.stacks[betting.actor]
        if self.over or betting.all_in or own <= top or betting.raises >= self.game.max_raises[betting.street]:
            return 0, 0
        if self.game.limit:
            amount = min(top + self.game.raise_sizes[betting.street], own)
            return amount, amount
        return min(top + betting.raised, own), own

    def written(self, amount: int) -> str:
        """A raise to a total, as a client says it."""
        return "r" if self.game.limit else f"r{amount}"

    def admitted(self, action: str) -> tuple[str, str]:
        """The action that the reference server takes this for, and why where it is another; the player may act.

        A word that is not an action, a raise where none is legal, and a fold with nothing to call are calls; a raise
        is brought within the limits.
        """
        match, (smallest, largest) = _ACTION.fullmatch(action), self.limits
        if match is None or (action[0] == "r" and bool(match[1]) == self.game.limit):
            return "c", f"{shown(action)!r} is no action: a call"
        if action == "f" and not self.betting.facing:
            return "c", "a fold with nothing to call: a call"
        if action[0] != "r":
            return action, ""
        if not largest:
            return "c", "nobody may raise: a call"
        amount = smallest if self.game.limit else min(max(int(match[1]), smallest), largest)
        taken = self.written(amount)
        return taken, "" if taken == action else f"raises are from {smallest} to {largest}: {taken}"

    def after(self, action: str) -> AcpcHand:
        """The hand after an action; ValueError where it is not possible."""
        if self.over or self.admitted(action) != (action, ""):
            raise ValueError(f"{shown(action)!r} cannot follow {self.text!r}")
        if action == "f":
            return replace(self, betting=self.betting.fold(), text=f"{self.text}f")
        if action == "c":
            betting = self.betting.call()
        else:
            betting = self.betting.raise_to(int(action[1:]) if action[1:] else self.limits[0])
        text = self.text + action
        # With a player all-in the rounds that are left have no actions.
        while betting.closed and betting.street < RIVER:
            betting, text = betting.next_round(max(self.game.blinds)), f"{text}/"
            betting = replace(betting, actor=self.game.first[betting.street])
        return AcpcHand(self.game, betting, text)

    def following(self, text: str) -> list[str]:
        """The actions that lead from here to a later betting string; ValueError where none do."""
        if not text.startswith(self.text):
            raise ValueError(f"{shown(text)!r} does not follow {self.text!r}")
        hand, actions = self, []
        while hand.text != text:
            match = _ACTION.match(text, len(hand.text))
            if match is None:
                raise ValueError(f"{shown(text)!r} is no betting")
            hand = hand.after(match[0])
            actions.append(match[0])
            if not text.startswith(hand.text):
                raise ValueError(f"{shown(text)!r} has its rounds elsewhere")
        return actions

    def played(self, text: str) -> AcpcHand:
        """The hand at a later betting string; ValueError as of `following`."""
        hand = self
        for action in self.following(text):
            hand = hand.after(action)
        return hand


@dataclass(frozen=True)
class Dealt:
    """The cards of a hand.  holes: two cards for each position, none where they are hidden.  board: up to five."""

    holes: Holes
    board: tuple[int, ...]

    @classmethod
    def of(cls, seed: int, hand: int) -> Dealt:
        """The cards of a hand of a match, by its seed and number alone; they are not those of the reference server."""
        cards = [int(card) for card in np.random.default_rng((seed, hand)).permutation(CARDS)[:9]]
        return cls(((cards[0], cards[1]), (cards[2], cards[3])), tuple(cards[4:]))

    def seen(self, street: int, position: int | None = None) -> Dealt:
        """With the board of a street alone, and one position's hole cards or, by default, both."""
        holes = tuple(cards if position in (None, p) else () for p, cards in enumerate(self.holes))
        return Dealt((holes[0], holes[1]), self.board[: BOARD_CARDS[street]])

    def text(self) -> str:
        """Such as AsKh|/7c8d9h."""
        board = [self.board[a:b] for a, b in pairwise(BOARD_CARDS) if len(self.board) >= b]
        return "/".join(["|".join(cards_name(cards) for cards in self.holes), *(cards_name(part) for part in board)])

    def won(self, end: Betting) -> tuple[int, int]:
        """What each player wins in a hand that is over, in chips; ValueError where a showdown's cards are hidden."""
        chips, folded = end.matched, end.folded
        if folded >= 0:
            sign = 1 if folded == 1 else -1
        elif not all(self.holes):
            raise ValueError(f"{self.text()} has not both players' cards")
        else:
            ranks = ranks_of(self.board, np.array([hand_number(*cards) for cards in self.holes], dtype=np.int32))
            sign = int(np.sign(int(ranks[1]) - int(ranks[0])))
        return sign * chips, -sign * chips


def read_cards(text: str) -> Dealt:
    """The cards of a match state or of a log; ValueError for a malformed text."""
    holes, *board = text.split("/")
    try:
        hidden = [parse_cards(part) for part in holes.split("|")]
        parts = [parse_cards(part) for part in board]
        everything = parse_cards("".join(text.split("/")).replace("|", ""))
    except GameError as error:
        raise ValueError(str(error)) from error
    if len(hidden) != 2 or any(len(cards) not in (0, 2) for cards in hidden) or " " in text:
        raise ValueError(f"{shown(holes)!r} are not two players' cards")
    if [len(part) for part in parts] != [3, 1, 1][: len(parts)] or len(parts) > 3 or not everything:
        raise ValueError(f"{shown(text)!r} has no board of hold'em")
    return Dealt((hidden[0], hidden[1]), tuple(card for part in parts for card in part))


@dataclass(frozen=True)
class MatchState:
    """What a player is sent after every action.  position: the player's.  hand: its number.  betting: as text."""

    position: int
    hand: int
    betting: str
    cards: Dealt = field(repr=False)

    def line(self) -> str:
        """Without its end."""
        return f"MATCHSTATE:{self.position}:{self.hand}:{self.betting}:{self.cards.text()}"


def read_match_state(line: str) -> MatchState:
    """The match state of a line; ValueError for a malformed line."""
    match = _STATE.fullmatch(line)
    if match is None:
        raise ValueError(f"{shown(line)!r} is no match state")
    return MatchState(int(match[1]), int(match[2]), match[3], read_cards(match[4]))
