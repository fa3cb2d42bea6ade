"""OpenSpiel's games, listed history by history and compiled into public states.

Read loading.py (a game by its string), first_look.py (strings that would end the program), histories.py (all of its
histories), partition.py (which of them are one infostate or one public state), game.py (the game that
sog/games/compiled makes of these).
"""
