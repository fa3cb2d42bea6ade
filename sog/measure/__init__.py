"""Measures: exploitability, best responses, Elo ratings, intervals, and policies in OpenSpiel's form.

- exploitability.py, listed.py: exact exploitability of an agent, whose game is listed.  endgame.py: in turn spots.
- streamed_best_response.py: exact where states are too many to be kept.  lbr.py, lbr_hand.py, lbr_bets.py: a lower
  bound where there is no exact answer.
- aivat.py, aivat_values.py: what was won in a match, with less luck.
- elo.py, intervals.py: ratings and intervals.  openspiel_export.py, openspiel_table.py: the same by OpenSpiel.
"""
