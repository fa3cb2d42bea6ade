"""Every game of `sog games` and others that the page offers, for tests of all; test_every_game.py compares the list."""

from __future__ import annotations

from typing import Final

RIVER: Final = "holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;1;allin)"
TURN: Final = "holdem(board=turn,pot=2000,stacks=5000:50000,bets=0.5;1;allin,raises=0.75;allin,noise=0.1)"
BATTLESHIP: Final = (
    "battleship(board_width=3,board_height=3,ship_sizes=[2;2],num_shots=9,allow_repeated_shots=False,"
    "returns_type=win_loss)"
)
LONDON: Final = "scotland_yard(map=london)"

# What the command line names besides.
NAMED: Final = ("openspiel:kuhn_poker", "openspiel:othello", "openspiel:pig(winscore=20)")
# docs/extending.md's game with chance, from a module that SOG_GAMES names.
OWN: Final = "die_bluff"

ROWS: Final = {
    "kuhn": "kuhn_poker",
    "leduc": "leduc_poker",
    "dice 1x6": "liars_dice(numdice=1,dice_sides=6)",
    "dice 1x4": "liars_dice(numdice=1,dice_sides=4)",
    "dice 1x5": "liars_dice(numdice=1,dice_sides=5)",
    "dice 2x3": "liars_dice(numdice=2,dice_sides=3)",
    "river": RIVER,
    "turn": TURN,
    "holdem": "holdem(bets=random)",
    "goofspiel": "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    "battleship": BATTLESHIP,
    "rps": "rps",
    "glasses": "scotland_yard(map=glasses)",
    "london": LONDON,
    "tic-tac-toe": "tic_tac_toe",
    "connect four": "connect_four",
    "chess": "chess",
    "go 9x9": "go(board_size=9,komi=7.5)",
    "go 9x9, komi 7": "go(board_size=9,komi=7.0)",
    "go 7x7": "go(board_size=7,komi=9.0)",
    "oshi-zumo": "openspiel:oshi_zumo(coins=4,size=1,horizon=4)",
    "openspiel": NAMED[0],
    "othello": NAMED[1],
    "pig": NAMED[2],
    "own": OWN,
}
