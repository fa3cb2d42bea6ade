"""CFR and its family on a tree: the sweeps, the regret rules, fictitious play, Monte Carlo CFR and exact values.

Read in this order:
- lookahead.py: the tree with its regrets, policies, ranges and values.
- sweeps.py, matching.py: one iteration: ranges down, values up, regret matching at a node. positions.py has the same
  for games of perfect information.
- rules.py, iterate.py: CFR, CFR+, DCFR and others as one rule, and the loop over iterations.
- exact.py: average policies, best responses and exploitability of a whole game.
- fictitious.py, monte_carlo.py: the other solvers.  algorithms.py: all solvers by name.
"""
