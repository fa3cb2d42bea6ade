"""The table of games: from a game string to the game."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from sog.errors import GameError, UnknownGame
from sog.games.base import Game
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.holdem.strings import holdem_from
from sog.games.own import VARIABLE, make_own, own_games, refuse_class, refuse_taken
from sog.games.parameters import BattleshipParameters, GoofspielParameters, dice_parameters
from sog.games.rules.battleship import Battleship
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.games.rules.liars_dice import LiarsDice
from sog.games.rules.rps import RockPaperScissors
from sog.games.scotland_yard.game import scotland_yard
from sog.games.strings import (
    OPENSPIEL,
    Parameters,
    parse_game,
    refuse_unknown,
)


def make_game(name: str) -> Game:
    """The game that a game string such as `liars_dice(numdice=1,dice_sides=4)` names.

    After `openspiel:` it may be any game string of OpenSpiel's; user-defined games are in modules that the
    environment variable SOG_GAMES names.
    Raises GameError, in one line that names what is known, for another game or parameter.
    """
    if name.startswith(OPENSPIEL):
        from sog.games.openspiel.game import OpenSpielGame

        return OpenSpielGame(name.removeprefix(OPENSPIEL))
    refuse_class(name)
    short, parameters = parse_game(name)
    if short in _GAMES:
        refuse_taken(short, "GAMES")
        return _GAMES[short].make(parameters)
    own = own_games("GAMES")
    if short not in own:
        if short in own_games("HISTORY_GAMES"):
            what = "a game by histories alone (it is in HISTORY_GAMES, not in GAMES)"
            raise GameError(f"{short} is {what}: only rnad, mmd, nashpg and sepot take it")
        raise UnknownGame(f"no game is called {short}; {known_names(short, (*_GAMES, *own))}")
    game: Game = make_own(short, own[short], parameters, Game)
    return game


def known_names(short: str, names: Iterable[str]) -> str:
    """What a person who wrote `short` may have meant: the nearest name, or all of them."""
    near = get_close_matches(short, names, 1)
    if near:
        return f"did you mean {near[0]}?"
    return f"known: {', '.join(names)}, {OPENSPIEL}GAME_STRING, and games of your own, in modules that {VARIABLE} names"


def known_games() -> list[tuple[str, str]]:
    """Every game as (a game string to copy, one line on what it is)."""
    ours = [(entry.example, entry.description) for entry in _GAMES.values()]
    any_game = "Any two-player zero-sum OpenSpiel game that can be enumerated (policy learners: others too)"
    return [*ours, (f"{OPENSPIEL}oshi_zumo(coins=4,size=1,horizon=4)", any_game)]


def _plain(short: str, make: Callable[[], Game]) -> Callable[[Parameters], Game]:
    """The constructor of a game without parameters."""

    def constructor(parameters: Parameters) -> Game:
        refuse_unknown(short, parameters, ())
        return make()

    return constructor


def _liars_dice(parameters: Parameters) -> Game:
    return LiarsDice(*dice_parameters(parameters))


def _goofspiel(parameters: Parameters) -> Game:
    found = GoofspielParameters.read(parameters)
    return Goofspiel(found.num_cards, found.points_order, found.returns_type)


def _battleship(parameters: Parameters) -> Game:
    found = BattleshipParameters.read(parameters)
    return Battleship(found.width, found.height, found.sizes, found.values, found.num_shots)


def _chess(parameters: Parameters) -> Game:
    from sog.games.boards.chess import chess_from

    return chess_from(parameters)


def _go(parameters: Parameters) -> Game:
    from sog.games.boards.go import go_from

    return go_from(parameters)


def _connect_four(parameters: Parameters) -> Game:
    from sog.games.boards.connect_four import connect_four_from

    return connect_four_from(parameters)


@dataclass(frozen=True)
class _Entry:
    """How a game is made from its parameters, and how `known_games` shows it."""

    make: Callable[[Parameters], Game]
    example: str
    description: str


_GAMES = {
    "kuhn_poker": _Entry(_plain("kuhn_poker", Kuhn), "kuhn_poker", "Kuhn poker: three cards, one bet"),
    "leduc_poker": _Entry(
        _plain("leduc_poker", Leduc), "leduc_poker", "Leduc poker: six cards, two rounds, one board card"
    ),
    "liars_dice": _Entry(
        _liars_dice,
        "liars_dice(numdice=1,dice_sides=6)",
        "Liar's Dice: numdice dice a player with dice_sides faces, the highest wild",
    ),
    "holdem": _Entry(
        holdem_from,
        "holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;1;allin)",
        "No-limit hold'em, two players, from any street; also blinds, raises, noise, seed, range0, range1",
    ),
    "goofspiel": _Entry(
        _goofspiel,
        "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
        "Goofspiel with hidden bids, 2 to 6 cards (policy learners: 13); points_order random, descending or ascending",
    ),
    "battleship": _Entry(
        _battleship,
        "battleship(board_width=3,board_height=3,ship_sizes=[2;2],num_shots=9,allow_repeated_shots=False,returns_type=win_loss)",
        "Battleship on small boards (policy learners: up to 62 cells); with ship_values and num_shots instead of "
        "returns_type, OpenSpiel's",
    ),
    "rps": _Entry(
        _plain("rps", RockPaperScissors),
        "rps",
        "Rock-paper-scissors where scissors count double: play (0.4, 0.4, 0.2)",
    ),
    "scotland_yard": _Entry(
        scotland_yard, "scotland_yard(map=glasses)", "Scotland Yard on the glasses map, London or any map file"
    ),
    "tic_tac_toe": _Entry(_plain("tic_tac_toe", TicTacToe), "tic_tac_toe", "Tic-tac-toe"),
    "connect_four": _Entry(
        _connect_four, "connect_four", "Connect four on 6 x 7; from a position: connect_four(moves=4433)"
    ),
    "chess": _Entry(_chess, "chess", "Chess; from another position: chess(fen=...)"),
    "go": _Entry(_go, "go(board_size=9,komi=7.5)", "Go, board_size 2 to 19, area scoring"),
}
