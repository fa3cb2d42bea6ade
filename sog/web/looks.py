"""Looks of public states: the boards, cards, chips and maps that pages draw, each with what its viewer may know."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sog.games.base import Game, State
from sog.games.boards.go import Go
from sog.games.holdem.bets import EveryAmount
from sog.games.holdem.betting import PREFLOP
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.rules.battleship import Battle, Battleship
from sog.games.rules.liars_dice import LiarsDice
from sog.games.scotland_yard.game import Chase, ScotlandYard
from sog.games.scotland_yard.map import CityMap
from sog.games.scotland_yard.rules import TICKETS

__all__ = [
    "BoardSeen",
    "ChaseSeen",
    "ChipsSeen",
    "ShownCard",
    "board_of",
    "cards_of",
    "chase_of",
    "chips_of",
    "limits_of",
    "roles_of",
    "seas_of",
    "text_of",
]

_CARD: Final = r"(?:[2-9TJQKA][shdc])"
_CARDS: Final = re.compile(f"{_CARD}+")
_BOARD_CARDS: Final = re.compile(rf"\bboard ({_CARD}+)")
_POKER: Final = ("kuhn_poker", "leduc_poker", "holdem")
_ROLES: Final = {
    "chess": ("Black", "White"),
    "go": ("Black", "White"),
    "connect_four": ("Yellow", "Red"),
    "tic_tac_toe": ("x", "o"),
}
_SIDES: Final = range(2, 20)  # cells of a board's side, as the style sheet has them
_BLANKS: Final = {str(k): "." * k for k in range(1, 9)}


@dataclass(frozen=True)
class BoardSeen:
    """A board.  rows: a letter a cell, the top row first.  marked: (row, column) of the last move's cells."""

    kind: str
    rows: tuple[str, ...]
    marked: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class ShownCard:
    """A card or a die.  owner: 0, 1 or -1 for the table.  face: "" where it is hidden.  kind: public, own or hidden."""

    owner: int
    face: str
    kind: str
    die: bool = False


@dataclass(frozen=True)
class ChipsSeen:
    """Chips at hold'em.  pot: in the middle.  bets: of each player in this round.  stacks: what each has left."""

    pot: int
    bets: tuple[int, int]
    stacks: tuple[int, int]


@dataclass(frozen=True)
class ChaseSeen:
    """Scotland Yard's map with who is on it; stations are indices of the map.

    detectives: where they are.  possible: where Mr X can be.  here: where he is, None where the viewer may not know.
    belief: the chance of each possible station, () where none may be shown.  tickets: left to each detective, then to
    Mr X.  travel: (ticket, number of the station where he showed himself, or "") of his moves.
    turn: the detective who moves, from 1; 0 for Mr X.
    """

    city: CityMap
    detectives: tuple[int, ...]
    possible: tuple[int, ...]
    here: int | None
    belief: tuple[float, ...]
    tickets: tuple[tuple[int, ...], ...]
    travel: tuple[tuple[str, str], ...]
    turn: int


def roles_of(game: Game) -> tuple[str, str]:
    """What people call players 0 and 1."""
    return _ROLES.get(game.name.partition("(")[0], game.player_names)


def board_of(game: Game, state: State, before: State | None = None) -> BoardSeen | None:
    """The board of a public state, with the cells that the move from the state before changed; None without a board."""
    rows = _rows(game, state)
    if rows is None:
        return None
    kind = game.name.partition("(")[0]
    old = rows if before is None else _rows(game, before) or rows
    changed = tuple(
        (r, c)
        for r, row in enumerate(rows)
        for c, letter in enumerate(row)
        if letter != old[r][c] and (letter != "." or kind == "chess")
    )
    return BoardSeen(kind, rows, changed)


def _rows(game: Game, state: State) -> tuple[str, ...] | None:
    """The cells of a board, the top row first."""
    kind = game.name.partition("(")[0]
    if kind == "tic_tac_toe":
        return tuple(game.state_name(state).split("/"))
    if kind == "connect_four":
        return tuple(row.replace(" ", "") for row in game.picture(state).split("\n")[:-1])
    if kind == "go" and isinstance(game, Go):
        return tuple("".join(".XO"[stone] for stone in row) for row in game.board(state)[::-1])
    if kind == "chess":
        ranks = game.state_name(state).split(" ")[0].split("/")
        return tuple("".join(_BLANKS.get(letter, letter) for letter in rank) for rank in ranks)
    return None


def text_of(game: Game, state: State) -> str:
    """A board that no picture is drawn of, in letters; "" where the state's name says as much, or not all is public."""
    if not game.perfect_information or _rows(game, state) is not None:
        return ""
    text = game.picture(state)
    return "" if text == game.state_name(state) else text


def seas_of(game: Game, state: State, infostates: tuple[int | None, int | None]) -> tuple[BoardSeen, BoardSeen] | None:
    """Both players' boards at Battleship: - x # for shots that missed, hit and sank, s for other cells of ships.

    infostates: None where the viewer may not know it. None of another game.
    """
    if not isinstance(game, Battleship) or not isinstance(state, Battle):
        return None
    if game.width not in _SIDES or game.height not in _SIDES:
        return None
    return _sea(game, state, 0, infostates[0]), _sea(game, state, 1, infostates[1])


def _sea(game: Battleship, battle: Battle, p: int, infostate: int | None) -> BoardSeen:
    """One player's board; the last shot of the game is marked where it fell."""
    letters = ["."] * game.cells
    for cell in () if infostate is None else game.ships(battle, p, infostate):
        letters[cell] = "s"
    for cell, result in game.received(battle, p):
        letters[cell] = "-x#"[result]
    rows = tuple("".join(letters[k : k + game.width]) for k in range(0, game.cells, game.width))
    is_last = bool(battle.shots) and len(battle.shots) % 2 == p
    return BoardSeen("battleship", rows, (divmod(battle.shots[-1][0], game.width),) if is_last else ())


def cards_of(
    game: Game, state: State, hands: tuple[str | None, str | None], viewer: int | None
) -> tuple[ShownCard, ...]:
    """Cards and dice of the table and of both hands, the hidden ones face down."""
    kind = game.name.partition("(")[0]
    if kind in _POKER:
        match = _BOARD_CARDS.search(game.state_name(state))
        table = [] if match is None else re.findall(_CARD, match[1])
        count = 2 if kind == "holdem" else 1
        shown = [ShownCard(-1, face, "public") for face in table]
        for p in (0, 1):
            hand = hands[p]
            faces = [""] * count if hand is None else re.findall(_CARD, hand) if _CARDS.fullmatch(hand) else [hand]
            shown += [ShownCard(p, face, _kind(p, face, viewer)) for face in faces]
        return tuple(shown)
    if isinstance(game, LiarsDice):
        dice = []
        for p in (0, 1):
            hand = hands[p]
            faces = [""] * len(game.rolls[0]) if hand is None else hand.split(",") if game.num_faces > 9 else list(hand)
            dice += [ShownCard(p, face, _kind(p, face, viewer), True) for face in faces]
        return tuple(dice)
    return ()


def _kind(owner: int, face: str, viewer: int | None) -> str:
    """A card's class on the page."""
    return "hidden" if not face else "own" if owner == viewer else "shown"


def limits_of(game: Game) -> str:
    """What of a game cannot be played or looked at here, in a line; "" where all can."""
    if not isinstance(game, Holdem):
        return ""
    if isinstance(game.sizes, EveryAmount):
        return "Each whole amount is a bet here, which no agent searches in minutes: name sizes, as bets=0.5;1;allin."
    if game.street == PREFLOP:
        return "Flops are not listed: agents take up to half a minute a move, and no later position can be looked at."
    return ""


def chips_of(game: Game, state: State) -> ChipsSeen | None:
    """The chips of a public state of hold'em; None of another game. What nobody called is returned."""
    if not isinstance(game, Holdem) or not isinstance(state, HoldemState):
        return None
    betting = state.betting
    paid = (betting.matched, betting.matched) if betting.closed else betting.paid
    before = betting.matched if betting.closed else betting.before
    stacks = (game.spot.stacks[0] - paid[0], game.spot.stacks[1] - paid[1])
    return ChipsSeen(game.spot.pot + 2 * before, (paid[0] - before, paid[1] - before), stacks)


def chase_of(game: Game, state: State, x_infostate: int | None, belief: tuple[float, ...] = ()) -> ChaseSeen | None:
    """The map of a public state of Scotland Yard; None of another game.

    x_infostate: Mr X's, None where the viewer may not know it.
    """
    if not isinstance(game, ScotlandYard) or not isinstance(state, Chase):
        return None
    words = [word.partition("@") for word in state.log]
    travel = tuple((ticket, station) for ticket, _, station in words if ticket in TICKETS)
    here = None if x_infostate is None else state.hidden[x_infostate]
    tickets = (*state.tickets, state.x_tickets)
    return ChaseSeen(game.city, state.detectives, state.hidden, here, belief, tickets, travel, state.turn)
