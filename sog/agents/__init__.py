"""Agents by what a user calls them: a checkpoint, a game, a class of the user's own; and agents as OpenSpiel's bots.

- loaded.py: `sog.load_agent`.  uniform.py: the smallest agent.  own.py: an agent of a user's own.
- opening.py, entrants.py, poker.py: who plays boards, matches of hands, and poker, by what a user calls it.
- hands.py: `sog.match`, a match of hands from Python.
- written_policy.py, chasers.py: solved policies, and Scotland Yard's opponents.
- openspiel_bot.py, bot.py: our agents as OpenSpiel's bots, and the other way round.
"""
