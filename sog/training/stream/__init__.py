"""Training without rounds: actors, replay window and learner in processes of their own, any of which may die.

Read loop.py (a run), parts.py (the three kinds of process), supervisor.py (which starts them, and starts them again).
"""
