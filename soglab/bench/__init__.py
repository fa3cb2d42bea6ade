"""Benchmarks: our speed beside other programs, and where our own time goes.

Read form.py (rows and their table), stopwatch.py and evaluators.py (how time is taken), then one benchmark, such as
cfr.py. `sog bench` lists them all.
"""
