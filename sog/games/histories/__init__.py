"""Games given history by history, many at once: the form that policy learners and SePoT need.

Read base.py (the interface), kuhn.py (the smallest game); listing.py finds every history of a small game;
aec.py makes a PettingZoo environment of a game.
"""
