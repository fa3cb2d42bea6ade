"""Opponents of poker games: always-call, always-fold, one that goes by its equity, and blueprints of whole hold'em.

Read simple.py; then buckets.py (which hands are one), monte_carlo.py (MCCFR over buckets), blueprint.py (who plays it).
"""
