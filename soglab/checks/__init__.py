"""Checks against other programs, exact values and fixed positions; and of the code itself (house.py, digests.py)."""
