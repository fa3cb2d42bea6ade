"""Monte Carlo tree search with PUCT, and its form for infostates (IS-MCTS).

Read search.py (PUCT's tree and search), kernels.py (its simulations), ismcts.py.
"""
