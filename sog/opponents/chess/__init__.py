"""Chess with an exact answer: endgames of three pieces by retrograde analysis, and mates found by exhaustive search."""
