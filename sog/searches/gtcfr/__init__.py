"""Growing-tree CFR (SoG; PoG, Algorithm 1): search.py first, then simulations and growth in its kernels."""
