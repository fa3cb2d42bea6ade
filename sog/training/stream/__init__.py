"""Training without rounds: actors, replay window and learner in processes of their own, any of which may die."""
