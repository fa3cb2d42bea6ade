"""Games compiled from their histories into public states, as arrays.

Read tree.py (the public tree of a partition of histories), game.py (it as a game), sparse.py (operators of few
entries). sog/games/openspiel/ and the subgames of SePoT are compiled in this way.
"""
