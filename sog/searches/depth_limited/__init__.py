"""Depth-limited solving: many subgames at once whose leaves an evaluator values (ReBeL, sections 5 and 8)."""
