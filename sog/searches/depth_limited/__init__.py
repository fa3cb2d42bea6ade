"""Depth-limited solving: many subgames at once whose leaves an evaluator values (ReBeL, sections 5 and 8).

Read in this order:
- settings.py: the solvers and what can be set.
- subgames.py, batching.py: the subgames, side by side in one tree.
- solve.py: the solve, a generator that yields the beliefs at the leaves and is sent their values.
- plan.py, turns.py: in which turns leaves are evaluated, and the kernels between two evaluations.
- warm_start.py: how a solve begins with a network's policies.
"""
