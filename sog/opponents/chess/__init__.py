"""Chess with an exact answer: endgames of three pieces by retrograde analysis, and mates found by exhaustive search.

Read tablebase.py (distances to mate), best_play.py (an opponent that plays by them), mates.py.
"""
