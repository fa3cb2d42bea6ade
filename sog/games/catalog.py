"""The table of games, and the game of a game string: by public states, by histories, or both.

strings.py reads a game string; `GAMES` below has each game of this program with its parameters and its rules; own.py
adds a user's own games. To add a game of this program: one entry in `GAMES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, TypeVar, cast

from sog.errors import GameError, SettingError, UnknownGame, check_words
from sog.games.base import Game
from sog.games.boards import chess, connect_four, go
from sog.games.boards.chess import Chess
from sog.games.boards.connect_four import ConnectFour
from sog.games.boards.go import Go
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.histories.base import HistoryGame
from sog.games.histories.battleship import BattleshipHistories
from sog.games.histories.goofspiel import GoofspielHistories
from sog.games.histories.kuhn import KuhnHistories
from sog.games.histories.leduc import LeducHistories
from sog.games.histories.liars_dice import LiarsDiceHistories
from sog.games.histories.spiel import SpielHistories
from sog.games.holdem import strings as holdem
from sog.games.openspiel.board import large_board
from sog.games.openspiel.game import OpenSpielGame
from sog.games.openspiel.loading import registered
from sog.games.own import VARIABLE, is_own, make_own, own_games, refuse_class, refuse_taken
from sog.games.parameters import GameParameter, choice, number, numbers, read_parameters, text, truth, whole, wholes
from sog.games.rules.battleship import Battleship, one_shot_a_cell
from sog.games.rules.goofspiel import ORDERS, RETURNS, Goofspiel, hidden_bids
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.games.rules.liars_dice import LiarsDice
from sog.games.rules.rps import RockPaperScissors
from sog.games.scotland_yard import rules as scotland_yard_rules
from sog.games.scotland_yard.game import scotland_yard
from sog.games.strings import OPENSPIEL, parse_game

__all__ = ["GAMES", "as_game", "has_histories", "known_games", "make_game", "make_history_game", "public_face"]

_Made = TypeVar("_Made", Game, HistoryGame)


def _in_order(values: Mapping[str, Any]) -> Sequence[Any]:
    return tuple(values.values())


def _together(values: Mapping[str, Any]) -> Sequence[Any]:
    return (values,)


@dataclass(frozen=True)
class GameEntry:
    """A game of this program.

    example: a game string to copy.  description: one line on what it is.
    by_public_states, by_histories: what makes each form of it that there is.
    parameters: by name, what a game string may set.
    arguments: the arguments of both forms, made from the value of every parameter; by default the values in order.
    """

    example: str
    description: str
    by_public_states: Callable[..., Game]
    by_histories: Callable[..., HistoryGame] | None = None
    parameters: Mapping[str, GameParameter] = field(default_factory=dict)
    arguments: Callable[[Mapping[str, Any]], Sequence[Any]] = _in_order


_LISTED: Final = (
    GameEntry("kuhn_poker", "Kuhn poker: three cards, one bet", Kuhn, KuhnHistories),
    GameEntry("leduc_poker", "Leduc poker: six cards, two rounds, one board card", Leduc, LeducHistories),
    GameEntry(
        "liars_dice(numdice=1,dice_sides=6)",
        "Liar's Dice: numdice dice a player with dice_sides faces, the highest wild",
        LiarsDice,
        LiarsDiceHistories,
        {
            "numdice": whole("dice of each player; 1 to 1,000", 1, high=1_000),
            "dice_sides": whole("faces of a die; 1 to 1,000", 6, high=1_000),
        },
    ),
    GameEntry(
        "holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;1;allin)",
        "No-limit hold'em, two players, from any street; also blinds, raises, noise, seed, range0, range1",
        holdem.holdem_of,
        parameters=holdem.PARAMETERS,
        arguments=_together,
    ),
    GameEntry(
        "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
        "Goofspiel with hidden bids, 2 to 6 cards (policy learners: 13); points_order random, descending or ascending",
        Goofspiel,
        GoofspielHistories,
        {
            "imp_info": truth("whether bids are hidden; only True is played", False),
            "num_cards": whole("cards of each player; 2 to 6, by histories to 13", 13),
            "points_order": choice("the order of the point cards", ORDERS),
            "returns_type": choice("what counts at the end: more points, or half the difference", RETURNS),
        },
        hidden_bids,
    ),
    GameEntry(
        "battleship(board_width=3,board_height=3,ship_sizes=[2;2],num_shots=9,allow_repeated_shots=False,returns_type=win_loss)",
        "Battleship on small boards (policy learners: up to 62 cells); with ship_values and num_shots instead of "
        "returns_type, OpenSpiel's",
        Battleship,
        BattleshipHistories,
        {
            "board_width": whole("cells across; 1 to 100", 10, high=100),
            "board_height": whole("cells down; 1 to 100", 10, high=100),
            "ship_sizes": wholes("cells of each ship", (2, 3, 3, 4, 5)),
            "ship_values": numbers("what each sunk ship pays; by default 1 each", None, like="[1;1]"),
            "num_shots": whole("of each player; by default 50, with win_loss one a cell", None),
            "allow_repeated_shots": truth("whether a cell may be shot at twice; only False is played", True),
            "loss_multiplier": number("what a lost ship costs, in its values; only 1 is zero-sum", 1.0),
            "returns_type": choice("ships' values, or 1 for sinking the whole fleet", ("ship_values", "win_loss")),
        },
        one_shot_a_cell,
    ),
    GameEntry("rps", "Rock-paper-scissors where scissors count double: play (0.4, 0.4, 0.2)", RockPaperScissors),
    GameEntry(
        "scotland_yard(map=glasses)",
        "Scotland Yard on the glasses map, London, a part of London (map=london40) or any map file",
        scotland_yard,
        parameters=scotland_yard_rules.PARAMETERS,
        arguments=_together,
    ),
    GameEntry("tic_tac_toe", "Tic-tac-toe", TicTacToe),
    GameEntry(
        "connect_four",
        "Connect four on 6 x 7; from a position: connect_four(moves=4433)",
        ConnectFour,
        parameters={
            "moves": text("the columns played so far, 1 to 7", ""),
            "inputs": choice("what networks see, cells that complete four too or stones alone", connect_four.INPUTS),
        },
    ),
    GameEntry(
        "chess",
        "Chess; from another position: chess(fen=...)",
        Chess,
        parameters={
            "fen": text("the position that play begins from", chess.START),
            "inputs": choice("what networks see, attacks and material too or AlphaZero's planes", chess.INPUTS),
        },
    ),
    GameEntry(
        "go(board_size=9,komi=7.5)",
        "Go, board_size 2 to 19, area scoring",
        Go,
        parameters={
            "board_size": whole("points a side; 2 to 19", 19),
            "komi": number("points that White gets; -1000 to 1000", 7.5),
            "inputs": choice("what networks see, stones alone or chains with few liberties too", go.INPUTS),
        },
    ),
)
GAMES: Final = {entry.example.partition("(")[0]: entry for entry in _LISTED}


def make_game(name: str) -> Game:
    """The game that a game string such as `liars_dice(numdice=1,dice_sides=4)` names.

    After `openspiel:` it may be any game string of OpenSpiel's, of a game with hidden information where it can be
    enumerated; user-defined games are in modules that the environment variable SOG_GAMES names.
    Raises GameError for an unknown game or parameter; its message, one line, names the known ones. SettingError for
    what is no text.
    """
    check_words("a game string", name)
    if name.startswith(OPENSPIEL):
        spiel_name = name.removeprefix(OPENSPIEL).strip()
        return large_board(spiel_name) or OpenSpielGame(spiel_name)
    return _made(name, {short: entry.by_public_states for short, entry in GAMES.items()}, Game)


def make_history_game(name: str) -> HistoryGame:
    """The game by histories that a game string names; after `openspiel:` it may be any game string of OpenSpiel's.

    Raises GameError for an unknown game or parameter; its message, one line, names the known ones. SettingError for
    what is no text.
    """
    check_words("a game string", name)
    if name.startswith(OPENSPIEL):
        return SpielHistories(name.removeprefix(OPENSPIEL))
    return _made(name, {short: entry.by_histories for short, entry in GAMES.items() if entry.by_histories}, HistoryGame)


def has_histories(name: str) -> bool:
    """Whether a game string names a game that has rules by histories; the game is not made."""
    short = name.partition("(")[0]
    if name.startswith(OPENSPIEL) or short in GAMES:
        return name.startswith(OPENSPIEL) or GAMES[short].by_histories is not None
    return short in own_games("HISTORY_GAMES")


def public_face(game: Game | HistoryGame) -> Game | None:
    """The same game by public states; None where it is too large or has no such form."""
    if isinstance(game, Game):
        return game
    try:
        return make_game(game.name)
    except GameError:
        if is_own(game.name, "GAMES"):
            raise  # a faulty user-defined game is an error, not a missing game
        return None


def known_games() -> list[tuple[str, str]]:
    """Every game as (a game string to copy, one line on what it is)."""
    any_game = (
        "Any two-player zero-sum OpenSpiel game: with nothing hidden of any size, such as openspiel:othello; with "
        "hidden information where it can be enumerated (policy learners: others too)"
    )
    ours = [(entry.example, entry.description) for entry in GAMES.values()]
    return [*ours, (f"{OPENSPIEL}oshi_zumo(coins=4,size=1,horizon=4)", any_game)]


def _made(name: str, forms: Mapping[str, Callable[..., _Made]], kind: type[Any]) -> _Made:
    """The game of one form: what `forms` makes of it, or the user's own one of this kind."""
    refuse_class(name)
    short, given = parse_game(name)
    table = "GAMES" if kind is Game else "HISTORY_GAMES"
    if short in forms:
        refuse_taken(short, table)
        entry = GAMES[short]
        return forms[short](*entry.arguments(read_parameters(short, given, entry.parameters)))
    own: Mapping[str, Callable[..., Any]] = own_games(table)
    if short in own:
        return cast(_Made, make_own(short, own[short], given, kind))
    known = _known_names(short, (*forms, *own))
    if kind is HistoryGame:
        if short in GAMES or short in own_games("GAMES"):
            description = "a game by public states alone; policies learn games by histories"
            raise GameError(f"{short} is {description}, classes derived from sog.HistoryGame")
        raise GameError(f"no game by histories is called {short}; {known}")
    if short in own_games("HISTORY_GAMES"):
        description = "a game by histories alone (it is in HISTORY_GAMES, not in GAMES)"
        raise GameError(f"{short} is {description}: only rnad, mmd, nashpg and sepot take it")
    if short in registered():
        known = f"OpenSpiel's is {OPENSPIEL}{name}; {known}"
    raise UnknownGame(f"no game is called {short}; {known}")


def _known_names(short: str, names: Iterable[str]) -> str:
    """What a person who wrote `short` may have meant: the nearest name, or all of them."""
    if near := get_close_matches(short, names, 1):
        return f"did you mean {near[0]}?"
    return f"known: {', '.join(names)}, {OPENSPIEL}GAME_STRING, and games of your own, in modules that {VARIABLE} names"


def as_game(game: Game | str) -> Game:
    """The game that a game string names; a game is returned as it is. SettingError for anything else."""
    if isinstance(game, str):
        return make_game(game)
    if not isinstance(game, Game):
        given = f"the class {game.__name__}; make an object of it" if isinstance(game, type) else type(game).__name__
        raise SettingError(f"a game is a game string or an object of a class derived from sog.Game, not {given}")
    return game
