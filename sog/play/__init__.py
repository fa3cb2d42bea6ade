"""Play: agents, players, re-solving, and the referee of a game.

An agent (agent.py) plays hidden information: it gives a policy at a public state. A player (player.py) plays perfect
information: it names a move. An algorithm has one of them, or both.

Read in this order:
- agent.py, resolver.py: the agent that searches, and the chain of its searches.  sampled_chance.py: re-solving after a
  chance event that no search opens, such as the flop.
- player.py, position.py, move_tree.py: players and how they search.  proofs.py: wins that a tree forces.
- referee.py, selfplay.py: one game of self-play.  tally.py: how far a round is.
- match.py, side_by_side.py, hand.py: games between two.  hand_record.py, hand_match.py: the record of a hand, and a
  match that is kept and continued.
- openspiel_states.py, turn_chain.py: policies in OpenSpiel's form, and hold'em's turn.
"""
