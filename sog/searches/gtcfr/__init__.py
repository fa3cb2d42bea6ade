"""Growing-tree CFR (SoG; PoG, Algorithm 1).

Read in this order:
- settings.py: the budget (s, c) and what can be set.
- search.py: the search, a generator that yields the beliefs at its leaves and is sent their evaluations.
- phases.py: everything between two evaluations: ranges down and beliefs out (`look`), values up (`take_up`), growth
  (`grow`).
- trajectories.py: one simulation: how it chooses its way to where the tree grows.
"""
