"""Checks that a game keeps its promises: by public states, by histories, beside OpenSpiel, and chess by perft."""
