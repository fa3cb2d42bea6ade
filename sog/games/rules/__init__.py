"""The small games by public states: Kuhn, Leduc, Liar's Dice, Goofspiel, Battleship and rock-paper-scissors.

kuhn.py is the one to read first: a complete game in 73 lines.
"""
