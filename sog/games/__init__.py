"""Games: rules by public states (base.py) or by histories (histories/), and the table of all games (catalog.py).

A game string such as `leduc_poker` or `go(board_size=9)` is read by strings.py; catalog.py has an entry for each game
of this program, with its parameters (parameters.py) and its rules; own.py adds the games of a user's own modules.
rules/ has the small games, boards/ those of perfect information, holdem/ and scotland_yard/ the large ones, openspiel/
any game of OpenSpiel's that can be listed, and checks/ what a game must keep. policy_picture.py draws a policy.
"""
