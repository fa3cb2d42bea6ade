"""The solver for river and turn spots of hold'em: every hand at once, in float32 vectors of hands.

Read in this order:
- solver.py: what is solved and kept.
- trees.py, program.py, tables.py: betting trees, how a spot is divided among boards and threads, and both as arrays.
- sweeps.py, payoffs.py: one iteration, and what folds and showdowns pay.
- resolving.py, exact_values.py: rivers solved anew in play, and values that a network learns.
- view.py, hand_values.py, written.py: a decision for people to read, what its hands are worth, and both as text.
- saved.py, locks.py: a solver on disk, and decisions that a file fixes.
"""
