"""Self-play on boards, which Student of Games and AlphaZero share: the same games, rows and targets, another search.

Read in this order:
- game.py: one game of self-play.  searches.py: the two searches behind one interface.
- openings.py, caps.py, halving.py: how games begin, simulations a move, and how a root's simulations are shared out.
- targets.py, rows.py: policy targets, and training rows.  actor.py: many games side by side.
- presets.py: the settings for two cores.
"""
