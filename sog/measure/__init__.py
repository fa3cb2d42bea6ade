"""Measures: exploitability, best responses, Elo ratings, intervals, and policies in OpenSpiel's form."""
