"""CFR and its family on a tree: the sweeps, the regret rules, fictitious play, Monte Carlo CFR and exact values."""
