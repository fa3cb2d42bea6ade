"""The platform of training, which names no algorithm: one loop, the learner, the replay window, checkpoints, curves.

Read in this order:
- loop.py: the loop over rounds, until a run is over.
- self_play.py: `train`, and one round of self-play beside learning.
- workers.py: where self-play runs; it calls the algorithm's actor, which is in `sog.algorithms`.
- rows.py, packing.py, replay.py: training rows, rows as bytes, and the window that batches are drawn from.
- learner.py: gradient steps.
- run.py, settings.py, checkpoint.py, curve.py: what decides a run, and what is kept of it.
- stream/: training without rounds, in processes any of which may die.
"""
