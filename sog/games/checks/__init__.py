"""Checks that a game keeps its promises: by public states, by histories, beside OpenSpiel, and chess by perft.

Read in this order:
- public_states.py: `sog.check_game`, which goes through a game and calls state.py, edges.py, repeats.py, symmetries.py.
- histories.py: `sog.check_history_game`.  openspiel.py: `sog.compare_with_openspiel`.
- own.py: a user's game is checked before it is solved or learned.  perft.py: counts of chess moves.
"""
