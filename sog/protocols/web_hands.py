"""Hands of hold'em at a web server: an answer that was checked by the rules, and an agent's play of one hand.

Blinds are 50 and 100, stacks 20,000 in each hand. Actions are k check, c call, f fold, bN a bet to N chips on this
street, and / between streets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

from sog.errors import SettingError
from sog.games.holdem.betting import BOARD_CARDS
from sog.play.hand import Entrant
from sog.protocols.acpc_client import ClientHand, ClientTable
from sog.protocols.acpc_states import REVERSE_BLINDS, AcpcHand, Dealt, MatchState
from sog.protocols.web_api import WAITS, WebFault, sensible
from sog.protocols.words import Keys, shown

__all__ = ["WebAnswer", "WebHand", "WebSeat", "hands_played", "read_betting", "spoken"]

_ACTION: Final = re.compile(r"[kcf]|b([0-9]{1,9})")
_MOST_FAULTS: Final = 5  # in a row


@dataclass(frozen=True)
class WebHand:
    """A hand that is over.  won: chips of the agent's.  lost: why it was not played to its end; "" where it was.

    baseline: what Slumbot says that a baseline would have won with the same cards, chips.
    aivat: what GTO Wizard says that the agent won with luck taken out, chips.
    seen: the last answer's actions and cards.
    """

    number: int
    won: int = 0
    baseline: float | None = None
    aivat: float | None = None
    lost: str = ""
    seen: Keys | None = None


def read_betting(action: str) -> AcpcHand:
    """The hand after an action string; ValueError where the rules do not lead there."""
    hand, text = AcpcHand.begun(REVERSE_BLINDS), ""
    for match in _ACTION.finditer(action[:1_000]):
        word, betting = match[0], hand.betting
        if word[0] == "b":
            hand = hand.after(f"r{betting.before + int(match[1])}")
        else:  # a check that should be a call, or a call with nothing to call, is no word of ACPC's
            hand = hand.after("c" if word == ("c" if betting.facing else "k") else "f" if word == "f" else action)
        text += word + "/" * (hand.betting.street - betting.street)
    # After an all-in the streets that have no actions may be left out.
    if text != action and not (hand.over and text.rstrip("/") == action.rstrip("/")):
        raise ValueError(f"{shown(action)!r} is no betting of hold'em")
    return hand


def spoken(hand: AcpcHand, action: str) -> str:
    """An action of ACPC's, of who acts in a hand, in the server's words."""
    if action[0] == "r":
        return f"b{int(action[1:]) - hand.betting.before}"
    return "k" if action == "c" and not hand.betting.facing else action


@dataclass(frozen=True)
class WebAnswer:
    """A hand as an answer has it.  position: the agent's, 0 for the big blind.  own, other: hole cards, where shown.

    winnings: chips of the agent's, None before the end.
    """

    number: int
    position: int
    hand: AcpcHand
    own: tuple[int, ...]
    board: tuple[int, ...]
    other: tuple[int, ...]
    winnings: object = None

    def __post_init__(self) -> None:
        """ValueError where the rules do not allow it."""
        own, board, other = self.own, self.board, self.other
        if len({*own, *board, *other}) < len(own) + len(board) + len(other):
            raise ValueError("a card occurs twice")
        over, dealt = self.hand.over, BOARD_CARDS[self.hand.betting.street]
        if len(own) != 2 or len(other) not in (0, 2) or len(board) not in (BOARD_CARDS if over else (dealt,)):
            raise ValueError("its cards do not fit its action")
        if over != (self.winnings is not None):
            raise ValueError("it has winnings before the end, or an end without")

    @property
    def dealt(self) -> Dealt:
        """The cards that it shows."""
        return Dealt((self.own, self.other) if self.position == 0 else (self.other, self.own), self.board)

    @property
    def state(self) -> MatchState:
        """As a dealer of ACPC would send it."""
        return MatchState(self.position, self.number, self.hand.text, self.dealt)

    def check_after(self, before: WebAnswer, action: str) -> None:
        """ValueError unless this is what comes after an action in an earlier answer."""
        same = self.position == before.position and self.own == before.own
        onward = self.hand.text.startswith(before.hand.after(action).text)
        if not same or not onward or self.board[: len(before.board)] != before.board:
            raise ValueError(f"it does not follow {spoken(before.hand, action)}")

    def won(self) -> int:
        """By the agent, chips; ValueError where what is paid is not what the rules pay."""
        won, betting = self.winnings, self.hand.betting
        known = not self.hand.shown_down or (self.other and len(self.board) == BOARD_CARDS[-1])
        right = self.dealt.won(betting)[self.position] if known else won
        # NaN is not equal to itself, and chips are whole.
        if not isinstance(won, (int, float)) or isinstance(won, bool) or won != right or won % 1:
            raise ValueError(f"it pays {shown(str(won))}, not {right}")
        if abs(won) > betting.matched:
            raise ValueError(f"it pays {shown(str(won))} of {betting.matched}")
        return int(won)


@dataclass(frozen=True)
class WebSeat:
    """An agent at a web server.  seed: of what it draws."""

    entrant: Entrant
    table: ClientTable
    seed: int

    def play(self, heard: WebAnswer, act: Callable[[WebAnswer, str], WebAnswer]) -> WebAnswer:
        """Play a hand to its end, whose answer is returned; WebFault where an answer makes no sense.

        act: sends an action of ACPC's in reply to an answer, and returns what comes.
        """
        playing: ClientHand | None = None
        while not heard.hand.over:
            with sensible():
                if heard.hand.betting.actor != heard.position:
                    raise ValueError("the server does not act where it is to act")
                playing = playing or ClientHand(self.entrant, self.table, heard.state, self.seed)
                playing.follow(heard.state)
            action = playing.act(heard.state)
            after = act(heard, action)
            with sensible():
                after.check_after(heard, action)
            heard = after
        return heard


def hands_played(
    play: Callable[[int], WebHand], first: int, wait: Callable[[float], None], after_fault: Callable[[], None]
) -> Iterator[WebHand]:
    """Hands from this number on, those that are lost included; SettingError after some of these in a row.

    after_fault: called before the next hand is begun.
    """
    faults = 0
    for number in count(first):
        try:
            hand, faults = play(number), 0
        except WebFault as fault:
            hand, faults = WebHand(number, lost=str(fault)), faults + 1
        yield hand
        if faults == _MOST_FAULTS:
            raise SettingError(f"{faults} hands in a row were not played to their end: {hand.lost}")
        if faults:
            wait(WAITS[faults])
            after_fault()
