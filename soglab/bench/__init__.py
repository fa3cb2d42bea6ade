"""Benchmarks: our speed beside other programs, and where our own time goes."""
