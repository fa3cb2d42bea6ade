"""OpenSpiel's own AlphaZero as an opponent; soglab.baselines.openspiel_alphazero trains it.

Read player.py, compiled.py (its network's answers, compiled by JAX), settings.py (what its training was set to).
"""
