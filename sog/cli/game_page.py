"""`sog games GAME`: a game's page, with its parameters, its trained networks, and commands to copy."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

from rich.table import Table

from sog.cli.frame import print_json, print_table, stdout

if TYPE_CHECKING:
    from sog.games.base import Game
    from sog.games.histories.base import HistoryGame

__all__ = ["show_game"]

_LBR: Final = "sog lbr always-call --game GAME --bets offered --hands 1000"
# What only some games take, by short name; GAME is the game string.
_THEIR_OWN: Final = {
    "kuhn_poker": (_LBR,),
    "leduc_poker": (_LBR,),
    "holdem": ("sog solve GAME --out spot.npz", "sog show spot.npz"),
    "scotland_yard": (
        "sog match random random --game GAME --hands 2 --policies --records chase.jsonl",
        "sog show chase.jsonl --hand 0 --svg map.svg",
    ),
    "connect_four": ("sog solve 'connect_four(moves=444444333335555222222111111)'",),
    "chess": ("sog uci GAME", "sog perft GAME 4"),
    "go": ("sog gtp GAME",),
}


def show_game(name: str, row: dict[str, Any], as_json: bool) -> None:
    """Print the page of a game string, or of a short name, which means the game string to copy.

    row: of `sog games`.  GameError where there is no such game.
    """
    from sog.games.catalog import GAMES, make_game, make_history_game
    from sog.games.openspiel.board import large_board
    from sog.games.own import own_games
    from sog.games.strings import OPENSPIEL

    short = row["game"].partition("(")[0]
    game = row["game"] if name == short else name
    rules: Game | HistoryGame | None = None
    if game.startswith(OPENSPIEL):  # one that can be listed is compiled to be made, which may take long
        rules = large_board(game.removeprefix(OPENSPIEL))
    else:
        rules = make_game(game) if short in GAMES or short in own_games("GAMES") else make_history_game(game)
    # OpenSpiel's games have one row for all of them.
    trained = [one for one in row["checkpoints"] if one.partition("(")[0] == game.partition("(")[0]]
    known = game if rules is None else rules.name
    # A game string is taken at its word; the page of a short name plays with a network that ships.
    best = trained[0] if name == short and trained and known not in trained else game
    plays = best if best in trained or known in trained else "random"
    commands = list(_commands(game, best, plays, rules))
    commands += [f"sog train {quote(game)} --algorithm rnad"] * row["histories"]
    commands += [command.replace("GAME", quote(game)) for command in _THEIR_OWN.get(short, ())]
    if as_json:
        print_json({**row, "game": game, "checkpoints": trained, "commands": commands})
        return
    policies = "policy networks can learn it" if row["histories"] else "policy networks cannot learn it"
    networks = f"trained networks: {', '.join(trained) or 'none'}"
    for line in (game, row["description"], policies, networks):
        stdout().print(line, soft_wrap=True)  # game strings can be copied
    if row["parameters"]:
        table = Table("parameter", "default", "what it is", box=None, pad_edge=False)
        for key, parameter in GAMES[short].parameters.items():
            table.add_row(key, "" if parameter.default is None else str(parameter.default), parameter.meaning)
        stdout().print()
        print_table(table)
    stdout().print("\n" + "\n".join(commands), soft_wrap=True)


def _commands(game: str, best: str, plays: str, rules: Game | HistoryGame | None) -> Iterator[str]:
    """An example of each command that takes the game.

    best: the game of a trained network, or this game where there is none.  plays: who plays in a match, the network or
    random.  rules: None for a game of OpenSpiel's that can be listed.
    """
    from sog.games.catalog import make_game
    from sog.games.histories.base import HistoryGame
    from sog.searches.tree.whole import is_large

    if isinstance(rules, HistoryGame):
        return
    this, trained = quote(game), quote(best)
    yield f"sog play {trained}"
    if rules is None or not is_large(rules):
        yield f"sog solve {this} --iterations 1000"
        if plays == "random":
            yield f"sog exploit {this} --algorithm 'sog(leaves=zero)'"
        elif best == game or not is_large(make_game(best)):
            yield f"sog exploit {trained}"
    if rules is None or not rules.deterministic:
        yield f"sog match {quote(plays)} random --game {trained} --hands 100"
    yield f"sog train {this}"
