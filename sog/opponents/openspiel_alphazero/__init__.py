"""OpenSpiel's own AlphaZero as an opponent; soglab.baselines.openspiel_alphazero trains it."""
