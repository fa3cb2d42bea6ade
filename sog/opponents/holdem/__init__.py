"""Simple opponents of poker games: always-call, always-fold, and one that goes by the equity of its hand."""
