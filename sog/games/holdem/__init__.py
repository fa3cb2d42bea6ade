"""No-limit Texas hold'em for two players: cards, betting, ranges of hands, and the game by public states.

Read cards.py, betting.py, bets.py, game.py (the game by public states), operator.py (payoffs without matrices), then
equity.py, scores.py and strength.py (who wins), inputs.py and hand_inputs.py (what networks see), strings.py,
ranges.py and lines.py (what people write).
"""
