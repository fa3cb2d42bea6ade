"""Lines of play in players' words, such as "check, bet 0.5, call, 5h, check"."""

from __future__ import annotations

from typing import Final

from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.holdem.bets import ALL_IN, Fractions, amount_of
from sog.games.holdem.betting import CALL, FOLD
from sog.games.holdem.cards import CARDS, parse_cards
from sog.games.holdem.game import Holdem, HoldemState

ANY: Final = "any"  # of every card that may come
_MOST_DIGITS: Final = 12


def follow(game: Holdem, line: str) -> HoldemState:
    """The public state after a line from the root; GameError names the first word that does not fit.

    Between commas are fold, check, call, board cards, and bet, raise or raise to with a size: one of the
    game's (0.5, allin) or the chips of this betting round.
    """
    return states_along(game, line)[-1]


def states_along(game: Holdem, line: str) -> list[HoldemState]:
    """The public states along a line as `follow` reads it, the root's first; GameError as there."""
    states = [game.root()]
    for word in (w.strip().lower() for w in line.split(",")):
        if word:
            states.append(_step(game, states[-1], word))
    return states


def follow_all(game: Holdem, line: str) -> list[HoldemState]:
    """The public states after a line as `follow` reads it, in which "any" is every card that may come next.

    GameError as of `follow`, and where several cards come at once.
    """
    states = [game.root()]
    for word in (w.strip().lower() for w in line.split(",")):
        if word == ANY and game.actor(states[0]) == NATURE and game.cards_to_deal(states[0]) == 1:
            states = [game.deal(s, (c,)) for s in states for c in range(CARDS) if c not in s.board]
        elif word:
            states = [_step(game, s, word) for s in states]
    return states


def action_place(game: Holdem, s: HoldemState, word: str) -> int:
    """The place among a decision's actions of one: its name, or words that `follow` takes; GameError for others."""
    names = [game.action_name(s, int(a)) for a in game.actions(s)]
    if word in names:
        return names.index(word)
    taken = _step(game, s, word.strip().lower()).line[-1]
    return [game.after(s, int(a)).line[-1] for a in game.actions(s)].index(taken)


def _step(game: Holdem, s: HoldemState, word: str) -> HoldemState:
    actor = game.actor(s)
    if actor == TERMINAL:
        raise GameError(f"the hand is over before {word[:80]!r}: {game.state_name(s)}")
    if actor == NATURE:
        return _deal(game, s, word)
    if word == "fold" and s.betting.facing:
        return game.after(s, FOLD)
    if word == ("call" if s.betting.facing else "check"):
        return game.after(s, CALL)
    size = word.removeprefix("raise to").removeprefix("raise").removeprefix("bet").strip()
    for action, amount in game.raises(s):
        if amount in _amounts(game, s, size):
            return game.after(s, action)
    known = ", ".join(game.action_name(s, int(a)) for a in game.actions(s))
    raise GameError(f"no action {word[:80]!r} at {game.state_name(s)}; there are: {known}")


def _amounts(game: Holdem, s: HoldemState, size: str) -> list[int]:
    """The totals to raise to that a size may mean: all-in, chips of this round, or a fraction of the game's."""
    if size == ALL_IN:
        return [s.betting.raise_limits[1]]
    amounts = [int(size) + s.betting.before] if size.isdecimal() and len(size) <= _MOST_DIGITS else []
    if isinstance(game.sizes, Fractions):
        fractions = game.sizes.later if s.betting.raises else game.sizes.first
        amounts += [amount_of(f, s.betting, game.spot.pot) for f in fractions if size in (f"{f:g}", f"{f:.1f}", str(f))]
    return amounts


def _deal(game: Holdem, s: HoldemState, word: str) -> HoldemState:
    cards = parse_cards(word)
    count = game.cards_to_deal(s)
    if len(cards) != count or any(c in s.board for c in cards):
        expected = "a new board card comes" if count == 1 else f"{count} new board cards come"
        raise GameError(f"{expected} next, not {word[:80]!r}: {game.state_name(s)}")
    return game.deal(s, cards)
