"""Play: agents, players, re-solving, and the referee of a game.

An agent (agent.py) plays hidden information: it gives a policy at a public state. A player (player.py) plays perfect
information: it names a move. An algorithm has one of them, or both. Matches of agents are hand.py, the record of a
hand hand_record.py, and a match that is kept and continued hand_match.py.
"""
