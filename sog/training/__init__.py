"""Self-play, queries, replay, learner and loop; a folder for each learning algorithm.

`sog.train(...)` is also a function, the front door's: it learns a game by self-play.

    sog.train("kuhn_poker", "runs/kuhn", minutes=1)

See `sog.api.train` for its arguments.
"""
