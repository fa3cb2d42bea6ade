"""Monte Carlo tree search with PUCT, and its form for infostates (IS-MCTS)."""
