"""The platform of training, which names no algorithm: one loop, the learner, the replay window, checkpoints, curves.

Read rounds.py (the loop), loop.py (self-play beside learning), learner.py, packing.py (rows as bytes), replay.py,
checkpoint.py. stream/ is training without rounds, in processes any of which may die.
Each algorithm's part is in `sog.algorithms`.
"""
