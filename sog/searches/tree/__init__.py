"""The public tree of a game as arrays, and the kernels that grow it and apply its operators.

Read in this order:
- public_tree.py: the public states listed so far.  arrays.py, records.py, players.py: what kernels are given.
- growth.py, room.py: a lookahead tree grows.
- pairs.py, sparse.py, cards.py: payoffs and masses by the kind of a game's operators; operators.py has them packed.
- draws.py: worlds, chance events and actions are drawn.
- listing.py, links.py, tables.py, features.py: how a state is written into the arrays.  whole.py: all states of a game.
- offered.py: further bets at a decision.  histories.py: a history that leads to an infostate.
"""
