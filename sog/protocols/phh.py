"""PHH hand histories of two-player no-limit hold'em by PokerKit: written, read, replayed.

PokerKit (the extra `poker`) replays every hand by its own rules, written or read; what it pays must be what ours pay.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sog.errors import SettingError
from sog.games.base import NATURE, TERMINAL
from sog.games.holdem.bets import EveryAmount
from sog.games.holdem.betting import BOARD_CARDS, CALL, FOLD
from sog.games.holdem.cards import cards_name, parse_cards
from sog.games.holdem.game import Holdem, HoldemSpot, HoldemState
from sog.protocols.acpc_states import Dealt
from sog.protocols.words import shown

__all__ = ["PlayedHand", "read_phh", "written_phh"]


@dataclass(frozen=True)
class PlayedHand:
    """A finished hand of whole no-limit hold'em.  stacks, holes, players: of the big blind, then the small blind.

    blinds: small and big.  holes: two cards each, none where they are not known.  line: every action as a HoldemState
    has it.  won: chips that the big blind wins.
    """

    number: int
    stacks: tuple[int, int]
    blinds: tuple[int, int]
    holes: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]
    line: tuple[int, ...]
    players: tuple[str, str]
    won: int

    @property
    def game(self) -> Holdem:
        """Its game, with every amount to raise to."""
        return Holdem(HoldemSpot(self.stacks, self.blinds), EveryAmount())

    def states(self) -> Iterator[HoldemState]:
        """Its public states by our rules, from the root to the end; SettingError where an action is not legal.

        Board cards are dealt as far as there are any.
        """
        game, left = self.game, list(self.line)
        s = game.root()
        yield s
        while (actor := game.actor(s)) != TERMINAL:
            if actor == NATURE:
                cards = self.board[len(s.board) : BOARD_CARDS[s.betting.street + 1]]
                if len(cards) != game.cards_to_deal(s):
                    break
                s = game.deal(s, cards)
            elif left:
                s = self._after(s, left.pop(0))
            else:
                break
            yield s
        if left or game.actor(s) != TERMINAL:
            raise SettingError(f"hand {self.number} has not all of its actions and board cards: {game.state_name(s)}")

    def check(self) -> PlayedHand:
        """The hand; SettingError where a card is dealt twice, or our rules pay other chips than it says."""
        cards = (*self.holes[0], *self.holes[1], *self.board)
        if len(set(cards)) < len(cards):
            raise SettingError(f"hand {self.number} has a card twice: {cards_name(cards)}")
        *_, end = self.states()
        if end.betting.folded < 0 and not all(self.holes):
            return self  # what a showdown pays is not known without the cards
        paid = Dealt(self.holes, self.board).won(end.betting)[0]
        if paid != self.won:
            raise SettingError(f"hand {self.number}: the big blind wins {self.won} chips, by our rules {paid}")
        return self

    def _after(self, s: HoldemState, action: int) -> HoldemState:
        smallest, largest = s.betting.raise_limits
        legal = smallest <= abs(action) <= largest if action not in (FOLD, CALL) else action == CALL or s.betting.facing
        if not legal:
            raise SettingError(f"hand {self.number} has an illegal action after {self.game.state_name(s)}")
        if action in (FOLD, CALL):
            return self.game.after(s, action)
        return HoldemState(s.board, (*s.line, action), (), s.betting.raise_to(abs(action)))


def written_phh(hands: Iterable[PlayedHand]) -> str:
    """The text of a .phhs file; SettingError where PokerKit refuses a hand or pays other chips."""
    history = _pokerkit().HandHistory
    text: str = history.dumps_all([_history(hand) for hand in hands])
    return text + "\n"


def read_phh(text: str) -> list[PlayedHand]:
    """The hands of a .phh or .phhs file; SettingError where one is not of two players at no-limit, or is not over."""
    pokerkit, hands = _pokerkit(), []
    many = re.search(r"^\s*\[[0-9]+\]\s*$", text, re.MULTILINE) is not None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of unusual fields and cards: what matters is checked
            load = pokerkit.HandHistory
            for place, history in enumerate(load.loads_all(text) if many else [load.loads(text)]):
                *_, end = history
                hands.append(_played(history, end, place))
    except SettingError:
        raise
    except Exception as error:  # PokerKit raises what the text leads it to
        raise SettingError(f"PokerKit cannot replay this: {shown(str(error), 200)}") from error
    return [hand.check() for hand in hands]


def _pokerkit() -> Any:
    try:
        import pokerkit
    except ImportError as error:
        raise SettingError("hand histories need PokerKit: pip install 'sog[poker]'") from error
    return pokerkit


def _history(hand: PlayedHand) -> Any:
    """PokerKit's hand history, made by its rules, of which every action but dealing is automatic."""
    pokerkit = _pokerkit()
    kinds = pokerkit.Automation
    automatic = tuple(
        kind for kind in kinds if kind not in (kinds.CARD_BURNING, kinds.HOLE_DEALING, kinds.BOARD_DEALING)
    )
    game = pokerkit.NoLimitTexasHoldem(automatic, True, 0, hand.blinds, hand.blinds[1], mode=pokerkit.Mode.CASH_GAME)
    try:
        theirs = game(hand.stacks, 2)
        for cards in hand.holes:
            theirs.deal_hole(cards_name(cards) or "????")
        before: HoldemState | None = None
        for s in hand.states():
            if before is not None:
                _apply(theirs, before, s)
            before = s
    except ValueError as error:
        raise SettingError(f"hand {hand.number}: PokerKit refuses it: {error}") from error
    if theirs.status or theirs.payoffs[0] != hand.won:
        raise SettingError(f"hand {hand.number}: PokerKit pays {theirs.payoffs[0]} chips, and not {hand.won}")
    named = {"hand": hand.number, "players": list(hand.players), "finishing_stacks": list(theirs.stacks)}
    return pokerkit.HandHistory.from_game_state(game, theirs, **named)


def _apply(theirs: Any, before: HoldemState, after: HoldemState) -> None:
    """Have PokerKit's state do what led from one of our states to the next."""
    if len(after.board) > len(before.board):
        theirs.burn_card("??")
        theirs.deal_board(cards_name(after.board[len(before.board) :]))
        return
    action = after.line[-1]
    if action == FOLD:
        theirs.fold()
    elif action == CALL:
        theirs.check_or_call()
    else:
        # Where the other's stack is the shorter one, its all of it may be less than PokerKit's smallest raise.
        smallest = theirs.min_completion_betting_or_raising_to_amount or 0
        theirs.complete_bet_or_raise_to(max(abs(action) - before.betting.before, smallest))


def _played(history: Any, end: Any, place: int) -> PlayedHand:
    """Our hand of PokerKit's finished state."""
    if history.variant != "NT" or end.player_count != 2 or any(end.antes):
        raise SettingError("hand histories are read of no-limit hold'em with two players and no antes")
    if end.status:
        raise SettingError(f"hand {place + 1} of the file is not over")
    if history.finishing_stacks is not None and list(history.finishing_stacks) != list(end.stacks):
        ends = f"{list(map(str, end.stacks))}, by the file {list(map(str, history.finishing_stacks))}"
        raise SettingError(f"hand {place + 1} of the file ends with the stacks {ends}")
    big = 1 - int(np.argmax(end.blinds_or_straddles))  # PokerKit's first player of two posts the second blind
    order = (big, 1 - big)
    holes: list[list[int]] = [[], []]
    board: list[int] = []
    line: list[int] = []
    stacks = tuple(_chips(end.starting_stacks[p]) for p in order)
    blinds = _chips(end.blinds_or_straddles[big]), _chips(end.blinds_or_straddles[1 - big])
    betting = Holdem(HoldemSpot((stacks[0], stacks[1]), blinds), EveryAmount()).root().betting
    for done in end.operations:
        kind = type(done).__name__
        if kind in ("HoleDealing", "HoleCardsShowingOrMucking"):
            cards = done.cards if kind == "HoleDealing" else done.hole_cards
            known = [card for card in cards if not card.unknown_status]
            holes[order.index(done.player_index)] = _numbers(known) or holes[order.index(done.player_index)]
        elif kind == "BoardDealing":
            board += _numbers(done.cards)
            if betting.closed:
                betting = betting.next_round(blinds[1])
        elif kind in ("Folding", "CheckingOrCalling"):
            line.append(FOLD if kind == "Folding" else CALL)
            betting = betting.fold() if kind == "Folding" else betting.call()
        elif kind == "CompletionBettingOrRaisingTo":
            line.append(min(_chips(done.amount) + betting.before, min(stacks)))
            betting = betting.raise_to(line[-1])
    names = history.players or [f"p{p + 1}" for p in (0, 1)]
    number = history.hand if isinstance(history.hand, int) else place
    return PlayedHand(
        number,
        (stacks[0], stacks[1]),
        blinds,
        (tuple(holes[0]), tuple(holes[1])),
        tuple(board),
        tuple(line),
        (str(names[order[0]]), str(names[order[1]])),
        _chips(end.payoffs[big]),
    )


def _numbers(cards: Iterable[Any]) -> list[int]:
    return list(parse_cards("".join(repr(card) for card in cards)))


def _chips(amount: Any) -> int:
    """An amount of a file; SettingError for parts of chips, which are not played here."""
    if amount != int(amount):
        raise SettingError(f"hand histories are read with whole chips, not {amount}")
    return int(amount)
