"""Connect four solved exactly from any position, and fixed sets of solved positions.

Read bitboards.py, alpha_beta.py (the search's kernel), solver.py (the score of every move), positions.py (the sets).
"""
