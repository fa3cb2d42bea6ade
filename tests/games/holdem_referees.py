"""Random hold'em hands played by this project's rules and by OpenSpiel's or PokerKit's, compared action by action."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyspiel

from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.holdem.bets import EveryAmount
from sog.games.holdem.betting import CALL, FOLD
from sog.games.holdem.cards import CARDS, card_name, hand_number
from sog.games.holdem.game import Holdem, HoldemSpot, HoldemState
from sog.games.holdem.strength import ranks_of

HANDS_PER_TABLE = 10
_SPENT = re.compile(r"Spent: \[P0: (\d+) +P1: (\d+)")


def tables(hands: int, seed: int, short: bool) -> Iterator[tuple[Holdem, int, np.random.Generator]]:
    """(game, how many hands, generator): random stacks and blinds, odd numbers too, unequal stacks in half the games.

    short: whether some stacks are smaller than a blind.
    """
    rng = np.random.default_rng(seed)
    while hands > 0:
        small = int(rng.integers(1, 60))
        big = int(rng.integers(small + 1, 2 * small + 5))
        stacks = [int(rng.integers(1 if short else big + 1, big * int(rng.choice([2, 4, 20, 100])) + 2))] * 2
        if rng.random() < 0.5:
            stacks[1] = int(rng.integers(1 if short else big + 1, max(stacks[0], big + 1) + 1))
        count = min(hands, HANDS_PER_TABLE)
        hands -= count
        yield Holdem(HoldemSpot((stacks[0], stacks[1]), (small, big)), EveryAmount()), count, rng


def choose(game: Holdem, s: HoldemState, rng: np.random.Generator) -> int:
    """A random action: rarely a fold, often the smallest raise or all-in."""
    facing, (smallest, largest) = s.betting.facing, s.betting.raise_limits
    u = rng.random()
    if facing and u < 0.08:
        return FOLD
    if not largest or u < 0.5:
        return CALL
    if u < 0.62:
        return smallest
    return largest if u < 0.68 else int(rng.integers(smallest, min(largest, 4 * smallest) + 1))


def utility(s: HoldemState, hands: tuple[int, int]) -> float:
    """Player 0's chips at the end of a hand from the start of the game."""
    if s.betting.folded >= 0:
        return float(s.betting.matched * (1 if s.betting.folded == 1 else -1))
    ranks = ranks_of(s.board, np.array(hands, dtype=np.int32))
    return float(s.betting.matched * np.sign(int(ranks[1]) - int(ranks[0])))


def next_state(game: Holdem, s: HoldemState, deck: list[int], rng: np.random.Generator) -> HoldemState:
    """The state after a random action, or after the next cards of the deck."""
    if not s.betting.closed:
        return game.after(s, choose(game, s, rng))
    cards = deck[4 + len(s.board) : 4 + len(s.board) + game.cards_to_deal(s)]
    return game.deal(s, tuple(cards))


def legal(game: Holdem, s: HoldemState) -> tuple[bool, int, int]:
    """Whether folding is legal, the smallest raise and the largest one (0 and 0 where no raise is legal)."""
    return (s.betting.facing, *s.betting.raise_limits)


def _count(seen: Counter[str], game: Holdem, s: HoldemState) -> None:
    spot = game.spot
    seen["all-in"] += s.betting.all_in
    seen["with an odd number of chips in"] += sum(s.betting.paid) % 2
    seen["unequal stacks"] += spot.stacks[0] != spot.stacks[1]
    seen["a stack below its blind"] += spot.stacks[0] < spot.blinds[1] or spot.stacks[1] < spot.blinds[0]
    seen["to the river"] += len(s.board) == 5


def against_openspiel(hands: int, seed: int) -> Counter[str]:
    """Play this many hands by both rules and count what occurred; GameError at the first difference.

    Compared are who acts, the legal actions, the pots and the payoffs. A raise above the other player's stack is legal
    in OpenSpiel and the same as all-in for that stack here.
    """
    seen: Counter[str] = Counter()
    for game, count, rng in tables(hands, seed, short=False):
        spot = game.spot
        spiel = pyspiel.load_game(
            "universal_poker(betting=nolimit,numPlayers=2,numRounds=4,numSuits=4,numRanks=13,numHoleCards=2,"
            f"numBoardCards=0 3 1 1,firstPlayer=2 1 1 1,blind={spot.blinds[1]} {spot.blinds[0]},"
            f"stack={spot.stacks[0]} {spot.stacks[1]},bettingAbstraction=fullgame)"
        )
        for _ in range(count):
            _one_openspiel(game, spiel, rng, seen)
    return seen


def _one_openspiel(game: Holdem, spiel: Any, rng: np.random.Generator, seen: Counter[str]) -> None:
    deck = [int(c) for c in rng.permutation(CARDS)[:9]]
    theirs, s = spiel.new_initial_state(), game.root()
    for card in deck[:4]:
        theirs.apply_action(card)
    cap = min(game.spot.stacks)
    while game.actor(s) != TERMINAL:
        before = s
        s = next_state(game, s, deck, rng)
        seen["smallest raises"] += not before.betting.closed and s.line[-1] == before.betting.raise_limits[0] > 1
        if before.betting.closed:
            for card in s.board[len(before.board) :]:
                theirs.apply_action(card)
            continue
        actions = theirs.legal_actions()
        raises = sorted({min(x, cap) for x in actions if x > CALL}) if before.betting.raise_limits[1] else []
        first, last = (raises[0], raises[-1]) if raises else (0, 0)
        found = (actions[0] == FOLD, first, last)
        if theirs.current_player() != before.betting.actor or legal(game, before) != found:
            raise GameError(f"{game.name}, {before}: legal {legal(game, before)}, OpenSpiel has {found}")
        if len(raises) != max(0, last - first + 1) - (first == 0) or CALL not in actions:
            raise GameError(f"{game.name}, {before}: OpenSpiel's raises have gaps")
        spent = _SPENT.search(str(theirs))
        if spent is None or tuple(min(int(x), cap) for x in spent.groups()) != tuple(
            min(x, cap) for x in before.betting.paid
        ):
            raise GameError(f"{game.name}, {before}: OpenSpiel's pot is {spent and spent.groups()}")
        action = s.line[-1]
        theirs.apply_action(action if action in actions else min(x for x in actions if x >= action))
    hands = hand_number(*deck[:2]), hand_number(*deck[2:4])
    if not theirs.is_terminal() or theirs.returns()[0] != utility(s, hands):
        raise GameError(f"{game.name}, {s}: pays {utility(s, hands)}, OpenSpiel {theirs}")
    seen["hands"] += 1
    _count(seen, game, s)


def against_pokerkit(hands: int, seed: int) -> Counter[str]:
    """As `against_openspiel`, by PokerKit's rules, with stacks below a blind too."""
    seen: Counter[str] = Counter()
    for game, count, rng in tables(hands, seed, short=True):
        for _ in range(count):
            _one_pokerkit(game, rng, seen)
    return seen


def _one_pokerkit(game: Holdem, rng: np.random.Generator, seen: Counter[str]) -> None:
    deck = [int(c) for c in rng.permutation(CARDS)[:9]]
    theirs, s, cap = _pokerkit_table(game, deck), game.root(), min(game.spot.stacks)
    while game.actor(s) != TERMINAL:
        before = s
        s = next_state(game, s, deck, rng)
        seen["smallest raises"] += not before.betting.closed and s.line[-1] == before.betting.raise_limits[0] > 1
        if before.betting.closed:
            theirs.burn_card("??")
            theirs.deal_board("".join(card_name(c) for c in s.board[len(before.board) :]))
            continue
        raises = (
            theirs.min_completion_betting_or_raising_to_amount,
            theirs.max_completion_betting_or_raising_to_amount,
        )
        level = before.betting.before
        found = (
            bool(theirs.checking_or_calling_amount),
            *(0 if x is None else min(x + level, cap) for x in raises),
        )
        pot = sum(min(x + level, cap) for x in theirs.bets)
        if theirs.actor_index != before.betting.actor or legal(game, before) != found:
            raise GameError(f"{game.name}, {before}: legal {legal(game, before)}, PokerKit has {found}")
        if pot != sum(min(x, cap) for x in before.betting.paid):
            raise GameError(f"{game.name}, {before}: PokerKit's pot is {pot}")
        action = s.line[-1]
        if action == FOLD:
            theirs.fold()
        elif action == CALL:
            theirs.check_or_call()
        else:
            theirs.complete_bet_or_raise_to(max(action - level, raises[0] or 0))
    hands = hand_number(*deck[:2]), hand_number(*deck[2:4])
    if theirs.status or theirs.payoffs[0] != utility(s, hands):
        raise GameError(f"{game.name}, {s}: pays {utility(s, hands)}, PokerKit {theirs.payoffs}")
    seen["hands"] += 1
    _count(seen, game, s)


def _pokerkit_table(game: Holdem, deck: list[int]) -> Any:
    """PokerKit's state with hole cards dealt; everything but burning, dealing and acting is automatic."""
    from pokerkit import Automation, NoLimitTexasHoldem

    spot = game.spot
    automatic = (
        Automation.ANTE_POSTING,
        Automation.BET_COLLECTION,
        Automation.BLIND_OR_STRADDLE_POSTING,
        Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
        Automation.HAND_KILLING,
        Automation.CHIPS_PUSHING,
        Automation.CHIPS_PULLING,
    )
    # then: antes are uniform and 0, the blinds, the smallest bet, the stacks, two players
    theirs = NoLimitTexasHoldem.create_state(automatic, True, 0, spot.blinds, spot.blinds[1], spot.stacks, 2)
    names = [card_name(c) for c in deck]
    theirs.deal_hole(names[0] + names[1])
    theirs.deal_hole(names[2] + names[3])
    return theirs
