"""OpenSpiel's games, listed history by history and compiled into public states."""
