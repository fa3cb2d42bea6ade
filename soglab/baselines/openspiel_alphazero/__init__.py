"""Trains OpenSpiel's own AlphaZero for a given processor time."""
