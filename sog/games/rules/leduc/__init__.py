"""Leduc poker: the game (game.py), any number of ranks (ranks.py), and a board seen in part (abstract.py)."""
