"""Hands of two-player no-limit hold'em from a match's records and from ACPC logs, to be written as hand histories."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sog.errors import SettingError
from sog.files import shown as shown_path
from sog.games.catalog import make_game
from sog.games.holdem.betting import CALL, FOLD, PREFLOP
from sog.games.holdem.cards import HIGH, LOW
from sog.games.holdem.game import Holdem, HoldemState
from sog.play.hand_match import read_match, read_records
from sog.play.hand_record import replay
from sog.play.referee import Referee
from sog.protocols.acpc_states import AcpcGame, AcpcHand, read_cards
from sog.protocols.phh import PlayedHand
from sog.protocols.words import shown
from sog.searches.tree.public_tree import PublicTree

__all__ = ["hands_of_log", "hands_of_records"]

_STATE: Final = re.compile(r"STATE:([0-9]{1,12}):([^:]*):([^:]*):(-?[0-9]{1,12})\|(-?[0-9]{1,12}):([^:|]*)\|([^:|]*)")


def hands_of_records(path: Path) -> Iterator[PlayedHand]:
    """The hands of `sog match`'s records, with players A and B; SettingError for records of another game."""
    header = read_match(path)
    try:
        game, seed = make_game(str(header["game"])), int(header["seed"])
    except (KeyError, TypeError, ValueError) as error:
        raise SettingError(f"{shown_path(path)} is no file of a match's hands") from error
    if not isinstance(game, Holdem) or game.street != PREFLOP or game.spot.pot:
        raise SettingError(f"PHH has whole hands of hold'em, and these are of {game.name}")
    for record in read_records(path):
        referee = Referee(PublicTree(game))
        *_, world = replay(referee, record, seed)
        end = referee.public.states[world.node]
        assert isinstance(end, HoldemState)
        holes = [(int(HIGH[hand]), int(LOW[hand])) for hand in record.pair]
        won = round(record.won if record.a == 0 else -record.won)
        players = ("A", "B") if record.a == 0 else ("B", "A")
        spot = game.spot
        hand = PlayedHand(
            record.number, spot.stacks, spot.blinds, (holes[0], holes[1]), end.board, end.line, players, won
        )
        yield hand.check()


def hands_of_log(text: str, game: AcpcGame) -> Iterator[PlayedHand]:
    """The hands of an ACPC log; SettingError for a line that is not a hand of this game."""
    if game.limit:
        raise SettingError("hand histories are written of no-limit games")
    big = game.big_blind()
    order = (big, 1 - big)
    for line in text.splitlines():
        if not line.startswith("STATE:"):
            continue
        match = _STATE.fullmatch(line)
        try:
            if match is None:
                raise ValueError("it has not six parts")
            begun, cards = AcpcHand.begun(game), read_cards(match[3])
            tokens = [_token(action, min(game.stacks)) for action in begun.following(match[2])]
        except ValueError as error:
            raise SettingError(f"not a hand of this game: {shown(line)}: {error}") from error
        won, names = (int(match[4]), int(match[5])), (match[6], match[7])
        stacks, holes, players = (
            (game.stacks[order[0]], game.stacks[order[1]]),
            (cards.holes[order[0]], cards.holes[order[1]]),
            (names[order[0]], names[order[1]]),
        )
        blinds = game.blinds[1 - big], game.blinds[big]
        yield PlayedHand(
            int(match[1]), stacks, blinds, holes, cards.board, tuple(tokens), players, won[order[0]]
        ).check()


def _token(action: str, shorter: int) -> int:
    """How a line of play has an action; more than the shorter stack is the same as all of it."""
    return {"f": FOLD, "c": CALL}[action] if action in "fc" else min(int(action[1:]), shorter)
